"""Memory of the emulated device: arrays of NumPy, aligned as by CUDA."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.backends.cuda.runtime.device import Array, HostArray

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

    def __init__(
        self, device: EmulatedDevice, nbytes: int, dtype: np.dtype[Any], name: str
    ) -> None:
        # Aligned to 256 bytes, as in CUDA.
        self._memory = np.empty(nbytes + 256, np.uint8)
        self.address = -(-self._memory.ctypes.data // 256) * 256
        self.bytes = self._memory[self.address - self._memory.ctypes.data :][:nbytes]
        device.allocated += nbytes
        device.peak = max(device.peak, device.allocated)
        if device.native.checked:
            device.native.register_array(self.address, nbytes, _smallest(dtype), name)
        weakref.finalize(self, _free, weakref.ref(device), device.native, self.address, nbytes)


def _free(device_ref: weakref.ref[EmulatedDevice], native: Any, address: int, nbytes: int) -> None:
    if native.checked:
        native.forget_array(address)
    device = device_ref()
    if device is not None:
        device.allocated -= nbytes


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
