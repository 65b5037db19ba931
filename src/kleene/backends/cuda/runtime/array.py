"""Device arrays: an address with a shape, which can be sliced and passed to kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kleene.system.cached_property import cached_property

__all__ = ["Array", "HostArray"]

HostArray = NDArray[Any]


@dataclass(frozen=True)
class Array:
    """A device array; in C order unless it is a slice of another."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]  # bytes
    owner: object = field(repr=False, compare=False)  # keeps the memory alive
    name: str = ""

    @cached_property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @cached_property
    def nbytes(self) -> int:
        """Bytes of the elements, without gaps."""
        return self.size * self.dtype.itemsize

    @cached_property
    def contiguous(self) -> bool:
        """Whether there are no gaps between rows."""
        return self.strides == _strides(self.shape, self.dtype)

    @property
    def pitch(self) -> int:
        """Elements from one row to the next; kernels call it the stride of a matrix."""
        return self.strides[0] // self.dtype.itemsize

    def __getitem__(self, key: int | slice | tuple[int | slice, ...]) -> Array:
        """Return a slice: rows, columns or a rectangle, without steps.

        >>> a = Array(1000, (4, 6), np.dtype(np.int32), (24, 4), None)
        >>> b = a[1:3, 2:]
        >>> b.address, b.shape, b.pitch
        (1032, (2, 4), 6)
        """
        keys = key if isinstance(key, tuple) else (key,)
        address, shape, strides = self.address, [], []
        for axis, (extent, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            part = keys[axis] if axis < len(keys) else slice(None)
            if isinstance(part, slice):
                begin, end, step = part.indices(extent)
                if step != 1:
                    raise IndexError("slices of device arrays have no step")
                shape.append(max(0, end - begin))
                strides.append(stride)
            else:
                begin = range(extent)[part]
            address += begin * stride
        return Array(address, tuple(shape), self.dtype, tuple(strides), self.owner, self.name)

    def reshape(self, *shape: int) -> Array:
        """Return a contiguous array in another shape."""
        if not self.contiguous or prod(shape) != self.size:
            raise ValueError(f"no shape {shape} for {self}")
        return self._as(shape, self.dtype)

    def view(self, dtype: DTypeLike) -> Array:
        """Return the bytes of a contiguous array as a vector of another type."""
        other = np.dtype(dtype)
        if not self.contiguous or self.nbytes % other.itemsize:
            raise ValueError(f"no view as {other} of {self}")
        return self._as((self.nbytes // other.itemsize,), other)

    def _as(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        strides = _strides(shape, dtype)
        return Array(self.address, shape, dtype, strides, self.owner, self.name)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None if self.contiguous else self.strides,
            "version": 3,
        }

    @staticmethod
    def new(
        address: int, shape: Sequence[int], dtype: DTypeLike, owner: object, name: str = ""
    ) -> Array:
        """Return a contiguous array."""
        kind, extents = np.dtype(dtype), tuple(shape)
        return Array(address, extents, kind, _strides(extents, kind), owner, name)

    @staticmethod
    def of(foreign: Any, device: Any = None) -> Array:
        """Wrap an array of CuPy, PyTorch or another library, on a device, without a copy."""
        interface = foreign.__cuda_array_interface__
        kind, extents = np.dtype(interface["typestr"]), tuple(interface["shape"])
        strides = interface.get("strides") or _strides(extents, kind)
        owner = ForeignMemory(device, foreign)
        return Array(interface["data"][0], extents, kind, tuple(strides), owner)


class ForeignMemory(NamedTuple):
    """Memory of another library: the device that it is on, and what keeps it alive."""

    device: Any
    array: Any


def _strides(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
    strides, step = [], dtype.itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
