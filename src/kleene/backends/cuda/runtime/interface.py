"""The device interface, with two implementations: a GPU through cuda.core, and the emulator.

Host code is written once against ``Device``. Arrays are addresses with a shape: they can be sliced,
copied and passed to kernels, and nothing else. All work goes to streams and is asynchronous;
``download`` and ``synchronize`` wait for it. ``device.open_device`` opens one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kleene.backends.cuda.runtime.timing import ThreadTimer
from kleene.errors import Code, DeviceError, MemoryBudgetError, Text
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes
from kleene.system.machine import parse_bytes

__all__ = [
    "ON_THE_HOST",
    "Argument",
    "Array",
    "Device",
    "Event",
    "Graph",
    "HostArray",
    "Kernel",
    "Shape",
    "Stream",
    "ceil_div",
    "copy_between",
    "ctype",
    "memory_budget",
    "require_memory",
    "scalar",
]


# ---- Device arrays: an address with a shape, which can be sliced and passed to kernels ----------

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


# ---- the device ---------------------------------------------------------------------------------


class StructArgument(Protocol):
    """A struct that is passed by value; see ``structs.Struct``."""

    data: bytearray
    arrays: dict[str, Array]


Argument = Array | StructArgument | int | float | bool | np.generic | None
Shape = tuple[int, ...]


# ---- the protocol -------------------------------------------------------------------------------


class Event(Protocol):
    """A point in a stream."""

    def synchronize(self) -> None:
        """Wait until the stream reaches the event."""

    def milliseconds_since(self, earlier: Any) -> float:
        """Return the time between two recorded events, after waiting for both."""


class Graph(Protocol):
    """Captured work that can be launched repeatedly."""

    def launch(self, stream: Any = None) -> None:
        """Launch all of it in a stream."""


class Stream(Protocol):
    """A queue of work that runs in order; streams may overlap."""

    def record(self) -> Event:
        """Record an event after the work submitted so far."""

    def wait(self, event: Any) -> None:
        """Make all later work wait for an event."""

    def synchronize(self) -> None:
        """Wait for all submitted work."""

    def capture(self) -> AbstractContextManager[Any]:
        """Capture work instead of running it: ``with stream.capture() as captured``.

        Other streams join by waiting for an event of this one, and this one must wait for theirs
        before the end. ``captured.graph`` is the :class:`Graph`.
        """


class Kernel(Protocol):
    """One kernel of one variant."""

    name: str

    def launch(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[Argument],
        shared: int = 0,
        stream: Any = None,
        cooperative: bool = False,
    ) -> None:
        """Launch in a stream; scalars are converted to the types of the parameters."""

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        """Return how many blocks of this size are resident on the whole device at once."""


class Device(Protocol):
    """A GPU or the emulator."""

    kind: str  # "cuda" or "emulated"
    index: int  # among the devices of its kind: "cuda:1" has index 1
    ordinal: int  # of the GPU, as CUDA counts; 0 for the emulator, whose memory is the host's
    checked: bool  # does it watch every access to an allocation?
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    shared_memory: int  # bytes per block, with opt-in
    peak: int  # largest value of ``allocated``; callers reset it
    timer: ThreadTimer

    @property
    def allocated(self) -> int:
        """The bytes of all arrays."""

    def free_memory(self) -> int:
        """Return the bytes that can still be allocated, within the budget."""

    def empty(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        """Return an uninitialised array; it is freed with its last reference."""

    def zeros(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        """Return an array of zeros, filled in the main stream."""

    def pinned(self, shape: int | Shape, dtype: DTypeLike) -> HostArray:
        """Return page-locked host memory, for asynchronous copies."""

    def copy(self, to: Array | HostArray, source: Array | HostArray, stream: Any = None) -> None:
        """Copy between arrays on the device or the host; rectangles too."""

    def copy_from(self, to: Array, source: Array, stream: Any = None) -> None:
        """Copy an array of any device of this kind; see :func:`copy_between`."""

    def fill(self, array: Array, byte: int, stream: Any = None) -> None:
        """Set every byte of an array."""

    def upload(self, source: HostArray, name: str = "", stream: Any = None) -> Array:
        """Return a copy on the device."""

    def download(
        self, source: Array, out: HostArray | None = None, stream: Any = None
    ) -> HostArray:
        """Return a copy on the host, after waiting for the stream."""

    def stream(self, urgent: bool = False) -> Any:
        """Return a new stream; where a stream is expected, None is the main stream.

        An urgent stream has a higher priority: its work starts before waiting work of others.
        """

    @property
    def main(self) -> Any:
        """The main stream."""

    def kernels(self, file: str, **defines: str | int) -> Mapping[str, Kernel]:
        """Return the kernels of one variant of a file, by name."""

    def synchronize(self) -> None:
        """Wait for all streams."""


def copy_between(to: Array, source: Array, stream: Any = None) -> None:
    """Copy an array to another device of the same kind, in a stream of that device.

    GPUs copy peer to peer where the system allows it, and through the host elsewhere. The stream
    must wait for the work that fills the source: ``stream.wait(event)`` takes events of any device.
    """
    owner: Any = to.owner
    owner.device.copy_from(to, source, stream)


# ---- memory -------------------------------------------------------------------------------------


def memory_budget() -> int | None:
    """Return the bytes of device memory that KLEENE_DEVICE_MEMORY allows, None for all."""
    return parse_bytes("KLEENE_DEVICE_MEMORY", DeviceError)


#: What to do with work that does not fit into the memory of a device.
ON_THE_HOST = Text(Code("device='cpu'"), ", which uses the memory of the host")


def require_memory(device: Device, needed: int, what: str) -> None:
    """Raise a MemoryBudgetError if the device has less memory free than needed."""
    free = device.free_memory()
    if needed > free:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(needed)} on {device.name} and {format_bytes(free)} are "
            "free there",
            advice=[ON_THE_HOST],
            lead="; ",
            needed=needed,
            available=free,
        )


# ---- helpers ------------------------------------------------------------------------------------

_CTYPES = {
    "float32": "float",
    "float64": "double",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
}


def ctype(dtype: DTypeLike) -> str:
    """Return the CUDA name of a type.

    >>> ctype(np.int64)
    'long long'
    """
    return _CTYPES[np.dtype(dtype).name]


def scalar(dtype: np.dtype[Any], number: float) -> int | float:
    """Return a number as the argument of a parameter of this type."""
    return float(number) if dtype.kind == "f" else int(number)


def ceil_div(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return -(-a // b)
