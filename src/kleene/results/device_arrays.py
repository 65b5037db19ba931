"""Arrays of a result that was left on the device it was computed on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native

__all__ = ["DeviceArray", "DeviceArrays"]

#: Of the DLPack standard: the memory of the emulator is that of the CPU.
_DEVICE_TYPES = {"cuda": 2, "emulated": 1}
_TYPE_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class DeviceArray:
    """An array in the memory of a GPU, or of the emulator, for other libraries to use.

    It has ``__dlpack__`` and, on a GPU, ``__cuda_array_interface__``: ``cupy.from_dlpack``,
    ``cupy.asarray``, ``torch.from_dlpack``, ``jax.dlpack.from_dlpack`` and others take it without a
    copy, and ``numpy.from_dlpack`` takes one of the emulator. The memory lives as long as any of
    them. All computation is complete, so no stream need wait. The result reads the same memory:
    change a copy.

    Attributes
    ----------
    shape : tuple of int
        The extent of each dimension; the last one is contiguous.
    dtype : numpy.dtype
        The type of the elements.
    device : str
        ``"cuda"`` or ``"emulated"``.

    Examples
    --------
    >>> import kleene as kl, numpy as np
    >>> g = kl.Graph.from_edges([0, 1], [1, 2])
    >>> r = kl.bfs(g, 0, device="emulated", keep="device")
    >>> r.device_arrays.distances
    DeviceArray(shape=(3,), dtype=int32, device='emulated')
    >>> np.from_dlpack(r.device_arrays.distances).tolist()
    [0, 1, 2]
    """

    def __init__(self, array: Any, device: Any) -> None:
        self._array, self._device = array, device  # of backends.cuda.runtime
        self.shape: tuple[int, ...] = array.shape
        self.dtype: np.dtype[Any] = array.dtype
        self.device: str = device.kind

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._array.size)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return int(self._array.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device!r})"

    def to_numpy(self) -> NDArray[Any]:
        """Return a copy in host memory.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2])
        >>> r = kl.bfs(g, 0, device="emulated", keep="device")
        >>> r.device_arrays.predecessors.to_numpy().tolist()
        [-1, 0, 1]
        """
        self._device.synchronize()
        host: NDArray[Any] = self._device.download(self._array)
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(
                "an array on a device must be copied to the host: copy=False is impossible"
            )
        return self.to_numpy().astype(dtype or self.dtype, copy=False)

    def __getattr__(self, name: str) -> Any:
        # On a GPU alone: libraries ask for it by hasattr.
        if name == "__cuda_array_interface__" and self.device == "cuda":
            return self._array.__cuda_array_interface__
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DEVICE_TYPES[self.device], self._device.ordinal

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule; see the array API standard. No stream has anything to wait for.

        The capsule is of the first version, which every consumer takes.
        """
        kind, index = self.__dlpack_device__()
        if copy or dl_device not in (None, (kind, index)):
            raise BufferError("arrays of a result are exported without a copy, on their own device")
        rows, columns = (1, *self.shape)[-2:]
        return _native.dlpack_capsule(
            self._array.address, (rows, columns), self.ndim, _TYPE_CODES[self.dtype.kind],
            8 * self.dtype.itemsize, kind, index, self._array,
        )  # fmt: skip


class DeviceArrays(NamedTuple):
    """The arrays of a result on its device."""

    distances: DeviceArray
    predecessors: DeviceArray | None
