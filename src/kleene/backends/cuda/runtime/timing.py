"""Device time of the copies and the computation of one call, measured with events."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.interface import Event, Stream

__all__ = ["CallTimer", "Share", "ThreadTimer", "timed_call"]

#: What is timed of a call.
_PARTS = ("copy_in", "compute", "copy_out")


class Share(NamedTuple):
    """What one of several devices did in a call."""

    device: str
    rows: int
    seconds: dict[str, float]  # of the parts that were timed


class CallTimer:
    """Event pairs around the work of one call, grouped by part: copy_in, compute, copy_out."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[Event, Event]]] = {}
        self._seconds: dict[str, float] = {}  # by the host's clock
        self.shares: list[Share] = []  # of several devices

    def add(self, part: str, began: Event, ended: Event) -> None:
        """Add one interval."""
        self._spans.setdefault(part, []).append((began, ended))

    def seconds(self, part: str) -> float | None:
        """Return the total time of a part after waiting for it; None if it has no interval."""
        spans, seconds = self._spans.get(part), self._seconds.get(part)
        if spans is None:
            return seconds
        return (seconds or 0) + sum(end.milliseconds_since(began) for began, end in spans) / 1e3

    def add_seconds(self, part: str, seconds: float) -> None:
        """Add an interval by the host's clock."""
        self._seconds[part] = self._seconds.get(part, 0.0) + seconds

    def share(self, device: str, rows: int) -> Share:
        """Return what was timed so far, as the share of a device."""
        timed = {part: self.seconds(part) for part in _PARTS}
        return Share(device, rows, {part: s for part, s in timed.items() if s is not None})

    def add_shares(self, shares: Sequence[Share]) -> None:
        """Add what devices did side by side: each part takes as long as the slowest of them."""
        self.shares += shares
        for part in _PARTS:
            timed = [share.seconds[part] for share in shares if part in share.seconds]
            if timed:
                self.add_seconds(part, max(timed))


class _Thread(threading.local):
    """What the calling thread times, on whatever device its call runs."""

    call: CallTimer | None = None
    within = False  # a part of the call


_THREAD = _Thread()


class ThreadTimer:
    """Times parts of the calling thread's call, if it is timed."""

    @property
    def current(self) -> CallTimer | None:
        """The timer of the calling thread's call."""
        return _THREAD.call

    def span(self, part: str, stream: Stream) -> AbstractContextManager[None]:
        """Time the work put into a stream as a part of the call; "" is not timed.

        A copy within a computation, say of a flag, belongs to the computation.
        """
        if _THREAD.call is None or not part or _THREAD.within:
            return _UNTIMED
        return _Span(_THREAD.call, part, stream)

    def host_span(self, part: str) -> AbstractContextManager[None]:
        """Time the block by the host's clock, as a part of the call; it must wait for its work."""
        if _THREAD.call is None or _THREAD.within:
            return _UNTIMED
        return _HostSpan(_THREAD.call, part)


_UNTIMED = nullcontext()


class _Span(AbstractContextManager[None]):
    """One interval; a class, since a generator takes longer than the events."""

    def __init__(self, call: CallTimer, part: str, stream: Stream) -> None:
        self._call, self._part, self._stream = call, part, stream

    def __enter__(self) -> None:
        self._began = self._stream.record()
        _THREAD.within = True

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _THREAD.within = False
        if error is None:
            self._call.add(self._part, self._began, self._stream.record())


class _HostSpan(AbstractContextManager[None]):
    def __init__(self, call: CallTimer, part: str) -> None:
        self._call, self._part = call, part

    def __enter__(self) -> None:
        self._began = time.perf_counter()
        _THREAD.within = True

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _THREAD.within = False
        self._call.add_seconds(self._part, time.perf_counter() - self._began)


class timed_call(AbstractContextManager[CallTimer]):  # noqa: N801  (used as a function)
    """Time one call: ``with timed_call() as timer``; a nested call belongs to the outer one."""

    def __enter__(self) -> CallTimer:
        self._outer = _THREAD.call
        if self._outer is None:
            _THREAD.call = CallTimer()
        assert _THREAD.call is not None
        return _THREAD.call

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _THREAD.call = self._outer
