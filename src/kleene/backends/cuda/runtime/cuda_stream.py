"""Streams, events and captured graphs of a GPU, on ``cuda.core``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cuda.core import EventOptions, StreamOptions

from kleene.backends.cuda.runtime import cuda_driver
from kleene.errors import KernelError

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.cuda_device import CudaDevice

__all__ = ["CudaStream"]

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
