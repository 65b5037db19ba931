"""Memory of the emulated device: arrays of NumPy, aligned as by CUDA."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.backends.cuda.runtime.interface import Array, HostArray
from kleene.errors import KernelError

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice

__all__ = [
    "EmulatedMemory",
    "EmulatedStream",
    "PinnedArray",
    "as_numpy",
]


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


# ---- Streams, events and captured graphs of the emulated device ---------------------------------

Work = Callable[[], None]


class _Event:
    def __init__(self, stream: EmulatedStream) -> None:
        self.stream = stream
        self.time: float | None = None  # when it was reached
        self.after: set[int] = set()  # the work it follows in a capture
        self.recording: _Recording | None = None

    def synchronize(self) -> None:
        self.stream.device.run_until(lambda: self.time is not None)

    def milliseconds_since(self, earlier: _Event) -> float:
        self.synchronize()
        earlier.synchronize()
        assert self.time is not None
        assert earlier.time is not None
        return (self.time - earlier.time) * 1e3


@dataclass
class _Recording:
    """Captured work and its dependencies."""

    origin: EmulatedStream
    work: list[tuple[Work, set[int]]] = field(default_factory=list)
    graph: _Graph | None = None

    def finish(self) -> None:
        joined, todo = set(), set(self.origin.after)
        while todo:
            joined.add(node := todo.pop())
            todo |= self.work[node][1] - joined
        if len(joined) < len(self.work):
            raise KernelError("a stream that joined a capture was not waited for before its end")
        self.graph = _Graph(self.origin.device, self.work)


class _Graph:
    def __init__(self, device: EmulatedDevice, work: list[tuple[Work, set[int]]]) -> None:
        self._device, self._work = device, work

    def launch(self, stream: EmulatedStream | None = None) -> None:
        self._device.in_stream(stream).put(self._run)

    def _run(self) -> None:
        """Run all work in an order that the dependencies allow."""
        done: set[int] = set()
        left = list(range(len(self._work)))
        while left:
            free = [node for node in left if self._work[node][1] <= done]
            node = self._device.pick(free)
            self._work[node][0]()
            done.add(node)
            left.remove(node)


class EmulatedStream:
    def __init__(self, device: EmulatedDevice) -> None:
        self.device = device
        self.queue: deque[tuple[_Event | None, Work]] = deque()  # (event to wait for, work)
        self.recording: _Recording | None = None
        self.after: set[int] = set()  # dependencies of the next captured work

    def put(self, work: Work, wait: _Event | None = None) -> None:
        if self.recording is not None:
            self.recording.work.append((work, self.after))
            self.after = {len(self.recording.work) - 1}
        elif self.device.seed == 0:
            work()
        else:
            self.queue.append((wait, work))

    def record(self) -> _Event:
        event = _Event(self)
        if self.recording is not None:
            event.recording, event.after = self.recording, set(self.after)
            return event

        def reach() -> None:
            event.time = time.perf_counter()

        self.put(reach)
        return event

    def wait(self, event: _Event) -> None:
        if event.recording is not None:
            if self.recording is None:
                self.recording, self.after = event.recording, set()
                self.device.joined.append(self)
            self.after |= event.after
        elif self.recording is not None:
            raise KernelError("a captured stream cannot wait for an event outside the capture")
        else:
            self.put(lambda: None, event)

    def synchronize(self) -> None:
        self.device.run_until(lambda: not self.queue)

    @contextmanager
    def capture(self) -> Iterator[_Recording]:
        recording = _Recording(self)
        self.recording, self.after = recording, set()
        self.device.joined = [self]
        try:
            yield recording
            recording.finish()
        finally:
            for stream in self.device.joined:
                stream.recording, stream.after = None, set()
            self.device.joined = []
