"""Memory of the emulated device: arrays of NumPy, aligned as by CUDA."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.backends.cuda.runtime.interface import Array, HostArray

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice

__all__ = ["EmulatedMemory", "PinnedArray", "as_numpy"]


def _smallest(dtype: np.dtype[Any]) -> int:
    """Return the bytes of the smallest number in a type: the checker tracks so many as one.

    >>> _smallest(np.dtype([("word", "u8"), ("counts", "i4", 3)]))
    4
    """
    if dtype.fields is None:
        return dtype.itemsize
    return min(_smallest(field[0].base) for field in dtype.fields.values())


class EmulatedMemory:
    """Emulated device memory, freed with the last reference."""

    address = 0  # also where Ctrl-C leaves an object half made

    def __init__(
        self, device: EmulatedDevice, nbytes: int, dtype: np.dtype[Any], name: str
    ) -> None:
        self.device, self.name = device, name
        # Aligned to 256 bytes, as in CUDA.
        self._memory = np.empty(nbytes + 256, np.uint8)
        self.address = -(-self._memory.ctypes.data // 256) * 256
        self.bytes = self._memory[self.address - self._memory.ctypes.data :][:nbytes]
        device.live[self.address] = nbytes
        device.peak = max(device.peak, device.allocated)
        if device.checked:
            with device.checking:
                device.native.register_array(self.address, nbytes, _smallest(dtype), name)

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not self.address or ending():  # modules are gone already
            return
        device = self.device
        if device.checked:
            with device.checking:
                device.native.forget_array(self.address)
        device.live.pop(self.address, None)


class PinnedArray(np.ndarray[Any, Any]):
    """Host memory from :meth:`EmulatedDevice.pinned`; copies from and to it are asynchronous."""


def as_numpy(array: Array | HostArray) -> HostArray:
    """Return a NumPy view of a device or host array."""
    if not isinstance(array, Array):
        return array
    memory = array.owner
    assert isinstance(memory, EmulatedMemory), "an array of another device"
    offset = array.address - memory.address
    return np.ndarray(array.shape, array.dtype, memory.bytes.data, offset, array.strides)
