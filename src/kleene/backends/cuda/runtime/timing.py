"""Device time of the copies and the computation of one call, measured with events."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.device import Event, Stream

__all__ = ["CallTimer", "ThreadTimer", "timed_call"]


class CallTimer:
    """Event pairs around the work of one call, grouped by part: copy_in, compute, copy_out."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[Event, Event]]] = {}

    def add(self, part: str, began: Event, ended: Event) -> None:
        """Add one interval."""
        self._spans.setdefault(part, []).append((began, ended))

    def seconds(self, part: str) -> float | None:
        """Return the total time of a part after waiting for it; None if it has no interval."""
        spans = self._spans.get(part)
        if spans is None:
            return None
        return sum(ended.milliseconds_since(began) for began, ended in spans) / 1e3


class ThreadTimer(threading.local):
    """The timer of the calling thread, if its call is timed."""

    current: CallTimer | None = None
    _within = False

    @contextmanager
    def span(self, part: str, stream: Stream) -> Iterator[None]:
        """Time the work put into a stream as a part of the call; "" is not timed.

        A copy within a computation, say of a flag, belongs to the computation.
        """
        timer = self.current
        if timer is None or not part or self._within:
            yield
            return
        began, self._within = stream.record(), True
        try:
            yield
        finally:
            self._within = False
        timer.add(part, began, stream.record())


@contextmanager
def timed_call(kind: str) -> Iterator[CallTimer]:
    """Time one call on a device; a nested call belongs to the outer one."""
    from kleene.backends.cuda.runtime.device import open_device

    holder = open_device(kind).timer
    if holder.current is not None:
        yield holder.current
        return
    holder.current = CallTimer()
    try:
        yield holder.current
    finally:
        holder.current = None
