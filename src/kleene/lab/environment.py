"""Where experiments take place: devices, graphs that are made once, and how large they may be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import kleene as kl
from kleene.backends.cuda.runtime.device import Device, open_device
from kleene.errors import RequestError
from kleene.system.machine import available_memory, cores, this_machine

__all__ = ["Environment"]

T = TypeVar("T")

#: Graphs are kept as long as they are in this many bytes together, and one always is.
_KEPT = 2**31


class Environment:
    """What an experiment needs to know to plan its points."""

    def __init__(
        self, device: str = "auto", quick: bool = False, data: str | Path | None = None
    ) -> None:
        if device not in ("auto", "cpu", "cuda", "emulated"):
            raise RequestError(f"no device {device!r} here; auto, cpu, cuda or emulated")
        self.quick = quick  # tiny sizes, to try the program
        self.cores = cores()
        self.data = None if data is None else Path(data)
        if device == "auto":
            device = "cuda" if "cuda" in this_machine().devices else "cpu"
        #: "cuda" or "emulated"; None if experiments on a GPU do not take place.
        self.gpu = None if device == "cpu" else device
        self._graphs: OrderedDict[Hashable, kl.Graph] = OrderedDict()
        self._placed: tuple[kl.Graph, kl.Graph] | None = None
        self._last: dict[str, tuple[Hashable, Any]] = {}

    @cached_property
    def device(self) -> Device | None:
        """The GPU, opened."""
        return None if self.gpu is None else open_device(self.gpu)

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of threads that are worth a series: one, and all cores."""
        return tuple(dict.fromkeys((1, self.cores)))

    def sizes(self, usual: tuple[T, ...], quick: tuple[T, ...]) -> tuple[T, ...]:
        """Return the sizes to measure."""
        return quick if self.quick else usual

    def graph(self, key: Hashable, make: Callable[[], kl.Graph]) -> kl.Graph:
        """Return a graph that others may have asked for before."""
        if key not in self._graphs:
            self._graphs[key] = make()
        self._graphs.move_to_end(key)
        while len(self._graphs) > 1 and sum(map(_size, self._graphs.values())) > _KEPT:
            self._graphs.popitem(last=False)
        return self._graphs[key]

    def placed(self, graph: kl.Graph) -> kl.Graph:
        """Return the graph on the GPU; the last one stays there."""
        assert self.gpu is not None
        if self._placed is None or self._placed[0] is not graph:
            self.unplace()  # gives memory back first
            self._placed = (graph, graph.to(self.gpu))
        return self._placed[1]

    def unplace(self) -> None:
        """Give the GPU's memory back."""
        self._placed = None

    def last(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made last of a kind, if that has this key; else make it."""
        if kind not in self._last or self._last[kind][0] != key:
            self._last.pop(kind, None)  # gives memory back first
            self._last[kind] = (key, make())
        made: T = self._last[kind][1]
        return made

    def file(self, name: str) -> Path | None:
        """Return a file of the data folder, if it is there."""
        path = None if self.data is None else self.data / name
        return path if path is not None and path.exists() else None

    @property
    def memory(self) -> int:
        """Bytes that are free on the host; much, if that cannot be known."""
        return available_memory() or 2**40


def _size(graph: kl.Graph) -> int:
    return (
        graph.offsets.nbytes
        + graph.neighbors.nbytes
        + (0 if graph.weights is None else graph.weights.nbytes)
    )
