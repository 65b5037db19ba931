"""How long copies and searches of one call take, on the clock of the device."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.device import Event, Stream

__all__ = ["Meter", "MeterOfThread", "metered"]


class Meter:
    """Pairs of events around each piece of work, by the part of the call that it belongs to."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[Event, Event]]] = {}

    def add(self, part: str, begun: Event, ended: Event) -> None:
        """Note one piece of work."""
        self._spans.setdefault(part, []).append((begun, ended))

    def seconds(self, part: str) -> float | None:
        """Return the time of all pieces of a part, once they are done; None if there were none."""
        spans = self._spans.get(part)
        if spans is None:
            return None
        return sum(ended.milliseconds_since(begun) for begun, ended in spans) / 1e3


class MeterOfThread(threading.local):
    """The meter that counts what this thread asks of a device, if anybody wants to know."""

    current: Meter | None = None
    _within = False

    @contextmanager
    def span(self, part: str, stream: Stream) -> Iterator[None]:
        """Count what is put into a stream, for a part of the call; "" is nobody's.

        A copy within a search, say of a flag, is part of the search.
        """
        meter = self.current
        if meter is None or not part or self._within:
            yield
            return
        begun, self._within = stream.record(), True
        try:
            yield
        finally:
            self._within = False
        meter.add(part, begun, stream.record())


@contextmanager
def metered(kind: str) -> Iterator[Meter]:
    """Count what one call does on a device; a call within a call is part of it."""
    from kleene.backends.cuda.runtime.device import open_device

    holder = open_device(kind).meter
    if holder.current is not None:
        yield holder.current
        return
    holder.current = Meter()
    try:
        yield holder.current
    finally:
        holder.current = None
