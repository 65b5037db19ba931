"""Memory of a GPU and page-locked memory of the host: owners, and a pool of small pieces.

Freed arrays go back to CUDA, which synchronises the device, or into a pool. An allocation from the
pool synchronises too, so no running kernel sees its array freed or reused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cuda.core import EventOptions, StreamOptions

from kleene.backends.cuda.runtime import cuda_driver
from kleene.backends.cuda.runtime.interface import Array, HostArray
from kleene.errors import KernelError

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.cuda_device import CudaDevice

__all__ = [
    "CudaStream",
    "DeviceMemory",
    "PinnedMemory",
    "Pool",
    "as_rows",
    "copied_rows",
    "is_contiguous",
]


class DeviceMemory:
    """Device memory, freed with the last reference."""

    address = 0  # also where Ctrl-C leaves an object half made

    def __init__(self, device: CudaDevice, nbytes: int) -> None:
        self.device, self._nbytes = device, nbytes
        device.use_once()
        self.address = device.blocks.allocate(nbytes)
        with device.blocks.lock:
            device.allocated += nbytes
            device.peak = max(device.peak, device.allocated)

    def __del__(self) -> None:
        if self.address:
            device = self.device
            with device.blocks.lock:
                device.allocated -= self._nbytes
            device.free(device.blocks, self.address, self._nbytes)


class PinnedMemory:
    """Page-locked host memory, freed with the last reference."""

    address = 0  # also where Ctrl-C leaves an object half made

    def __init__(self, device: CudaDevice, nbytes: int) -> None:
        self._device, self._nbytes = device, nbytes
        device.use_once()
        self.address = device.pages.allocate(nbytes)

    def __del__(self) -> None:
        if self.address:
            self._device.free(self._device.pages, self.address, self._nbytes)


class Pool:
    """A pool for one kind of memory; freed allocations up to ``each`` bytes are reused."""

    def __init__(
        self,
        allocate: Callable[[int], int],
        free: Callable[[int], None],
        each: int,
        most: int,  # bytes kept, in all
        synchronize: Callable[[], None],  # waits for all work of the device
    ) -> None:
        self._allocate, self._free, self._each, self._most = allocate, free, each, most
        self._synchronize = synchronize
        self._idle: dict[int, list[int]] = {}
        self.kept = 0  # bytes
        self.lock = threading.RLock()  # again where an array is freed while it is held

    def allocate(self, nbytes: int) -> int:
        """Return the address of this many bytes; raise DriverError."""
        with self.lock:
            idle = self._idle.get(nbytes)
            address = idle.pop() if idle else None
            if address is not None:
                self.kept -= nbytes
        if address is not None:
            # Work of its former array may still be running in another stream.
            self._synchronize()
            return address
        try:
            return self._allocate(max(nbytes, 1))
        except cuda_driver.DriverError:
            if not self.kept:
                raise
        self.clear()
        return self._allocate(max(nbytes, 1))

    def free(self, address: int, nbytes: int) -> None:
        """Keep memory for later, or release it."""
        with self.lock:
            keep = nbytes <= self._each and self.kept + nbytes <= self._most
            if keep:
                self.kept += nbytes
                self._idle.setdefault(nbytes, []).append(address)
        if not keep:
            self._release(address)

    def clear(self) -> None:
        """Release all pooled memory."""
        with self.lock:
            idle, self._idle, self.kept = self._idle, {}, 0
        for addresses in idle.values():
            for address in addresses:
                self._release(address)

    def _release(self, address: int) -> None:
        with suppress(Exception):  # the process may be ending
            self._free(address)


def is_contiguous(array: Array | HostArray) -> bool:
    """Return whether there are no gaps in an array."""
    return array.contiguous if isinstance(array, Array) else bool(array.flags.c_contiguous)


def as_rows(array: Array | HostArray) -> tuple[int, int, int, int]:
    """Return (address, bytes of a row, rows, row pitch); a contiguous array is one row."""
    address = array.address if isinstance(array, Array) else array.ctypes.data
    item = array.dtype.itemsize
    if is_contiguous(array):
        return address, array.nbytes, 1, array.nbytes
    if len(array.shape) == 2 and array.strides[1] == item:
        return address, array.shape[1] * item, array.shape[0], array.strides[0]
    if len(array.shape) == 1:
        return address, item, array.shape[0], array.strides[0]
    where = "device" if isinstance(array, Array) else "host"
    raise TypeError(
        f"a {where} array of shape {array.shape} is not contiguous and cannot be copied in one call"
    )


_Rectangles = tuple[int, int, int, int, int, int]


def copied_rows(to: Array | HostArray, source: Array | HostArray) -> _Rectangles:
    """Return a copy as rectangles: (to, its pitch, source, its pitch, bytes of a row, rows)."""
    to_at, width, rows, to_pitch = as_rows(to)
    from_at, from_width, from_rows, from_pitch = as_rows(source)
    if rows == 1:  # the other array has gaps: use its rows
        width, rows, to_pitch = from_width, from_rows, from_width
    elif from_rows == 1:
        from_pitch = width
    return to_at, to_pitch, from_at, from_pitch, width, rows


# ---- Streams, events and captured graphs of a GPU, on ``cuda.core`` -----------------------------

_TIMED = EventOptions(timing_enabled=True)


class CudaEvent:
    """A point in a stream."""

    def __init__(self, device: CudaDevice, event: Any) -> None:
        self._device, self.event = device, event

    def synchronize(self) -> None:
        """Wait until the stream reaches the event."""
        with self._device.errors:
            self.event.sync()

    def milliseconds_since(self, earlier: CudaEvent) -> float:
        """Return the time between two recorded events, after waiting for both."""
        self.synchronize()
        return float(self.event - earlier.event)


class CudaGraph:
    """Captured work, and the arrays that it uses."""

    def __init__(self, device: CudaDevice, graph: Any, kept: list[object]) -> None:
        self._device, self._graph, self._kept = device, graph, kept
        graph.upload(device.main.stream)

    def launch(self, stream: CudaStream | None = None) -> None:
        """Launch all of it in a stream."""
        self._device.use_once()
        with self._device.errors:
            self._graph.launch(self._device.in_stream(stream).stream)


class _Captured:
    graph: CudaGraph | None = None


class CudaStream:
    """A stream that does not synchronise with the null stream."""

    def __init__(self, device: CudaDevice, urgent: bool = False) -> None:
        self._device = device
        with device.errors:
            priority = cuda_driver.highest_priority() if urgent else 0
            self.stream = device.core.create_stream(options=StreamOptions(priority=priority))
        self.handle = self.stream.handle  # for `cuda_driver`

    def record(self) -> CudaEvent:
        """Record an event after the work submitted so far."""
        self._device.use_once()
        return CudaEvent(self._device, self.stream.record(options=_TIMED))

    def wait(self, event: CudaEvent) -> None:
        """Make all later work wait for an event, of this device or another."""
        self._device.use_once()
        self.stream.wait(event.event)

    def synchronize(self) -> None:
        """Wait for all submitted work."""
        with self._device.errors:
            self.stream.sync()

    @contextmanager
    def capture(self) -> Iterator[_Captured]:
        """Capture work instead of running it."""
        device, captured = self._device, _Captured()
        device.use_once()
        with device.capturing:
            builder = self.stream.create_graph_builder().begin_building()
            kept: list[object] = []
            device.kept = kept
            try:
                yield captured
                try:
                    captured.graph = CudaGraph(device, builder.end_building().complete(), kept)
                except Exception as error:
                    raise KernelError(f"{device.name} did not capture a graph: {error}") from error
            finally:
                device.kept = None
                builder.close()
