"""Incoming arcs that a graph gets by itself, once they pay.

A breadth-first search on all cores is some four times as fast with incoming arcs, but to make them
takes as long as several searches without. So a graph gets them in one of two ways:

- If every arc has its reverse arc of the same weight, they are the outgoing arcs. The first search
  finds that out by a pass over the arcs (``native/core/graph/symmetry.cpp``); on most other graphs
  that ends at once.
- Otherwise they are made when searches without them have taken as long as making them will.
  Whatever the number of searches, all together then take at most twice as long as the better of
  making them at once and never. Graphs of few arcs a vertex, such as roads, are left alone: there a
  search does not use them.

What happened is part of the plan of a search, and ``explain`` says what will.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kleene import _native
from kleene.graph.forms import CSC, adopt
from kleene.system.formatting import format_bytes
from kleene.system.machine import available_memory, threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["PULLING", "IncomingArcs"]

#: Arcs below which a search is over before it would pull.
_FEWEST_ARCS = 2**15

#: Arcs a vertex below which a search does not pull: grids and roads have fewer.
_FEWEST_PER_VERTEX = 6

#: Seconds to make the incoming arcs, an arc: R-MAT 18, one thread, 30 ms for 3.9 million.
SECONDS_AN_ARC = 7.6e-9

#: Of the free memory, what they may take.
_MEMORY_SHARE = 0.25

#: Methods of breadth-first search that use incoming arcs where a graph has them.
PULLING = ("direction_optimizing", "multi_source")

#: Decides which graph in 2^64 is taken for symmetric and is not: another one in each process.
_SEED = int.from_bytes(os.urandom(8), "little")


class IncomingArcs:
    """What a graph knows about its incoming arcs, while it has none.

    Several threads may search at once: the first one looks for symmetry, the first to find arcs due
    makes them, and the others search without. No lock is held, so that a fork is safe.
    """

    def __init__(self) -> None:
        self.searches = 0  # without incoming arcs
        self.seconds = 0.0  # that these took
        self.note = ""  # what happened, for the plans of searches

    @staticmethod
    def of(graph: Graph) -> IncomingArcs:
        """Return the object of a graph; it is not part of its value."""
        made: IncomingArcs = graph.__dict__.setdefault("_incoming", IncomingArcs())
        return made

    @staticmethod
    def matter(graph: Graph) -> bool:
        """Return whether searches would gain by incoming arcs that the graph lacks."""
        return not graph.has_csc and graph.m >= max(_FEWEST_ARCS, _FEWEST_PER_VERTEX * graph.n)

    @staticmethod
    def lacking(graph: Graph) -> IncomingArcs | None:
        """Return the object of a graph that lacks incoming arcs which searches would gain by."""
        return IncomingArcs.of(graph) if IncomingArcs.matter(graph) else None

    def prepare(self, graph: Graph) -> None:
        """Give the graph its incoming arcs, if they cost nothing or have been paid for."""
        self._once("_looked", self._look, graph)
        if not graph.has_csc and self.seconds >= _seconds_to_make(graph):
            self._once("_made", self._make, graph)

    def record(self, seconds: float) -> None:
        """Count a search without incoming arcs."""
        self.searches += 1
        self.seconds += seconds

    def outlook(self, graph: Graph) -> str:
        """Return what will become of the incoming arcs, for ``explain``."""
        if self.note or not self.matter(graph):
            return self.note
        due = f"made once searches without them have taken {_seconds_to_make(graph):.2g} s"
        if "_looked" not in self.__dict__:
            return f"incoming arcs: the outgoing ones if all arcs lead both ways, else {due}"
        return f"incoming arcs: {due} ({self.seconds:.2g} s so far)"

    def _once(self, name: str, work: Callable[[Graph], None], graph: Graph) -> None:
        """Do the work, unless it was done or another thread does it; Ctrl-C leaves it to do."""
        mine = object()
        if self.__dict__.setdefault(name, mine) is not mine:
            return
        try:
            work(graph)
        except BaseException:
            del self.__dict__[name]
            raise

    def _look(self, graph: Graph) -> None:
        threads = threads_for(graph.m)
        if _native.csr_seems_symmetric(*graph.csr, _SEED, threads):
            graph.__dict__.setdefault("csc", CSC(*graph.csr))
            self.note = "incoming arcs: they are the outgoing ones, all arcs lead both ways"

    def _make(self, graph: Graph) -> None:
        needed = 2 * sum(a.nbytes for a in graph.csr if a is not None)  # and while making them
        free = available_memory()
        if free is not None and needed > _MEMORY_SHARE * free:
            self.note = (
                f"incoming arcs: not made, they take {format_bytes(needed)} of the "
                f"{format_bytes(free)} that are free"
            )
            return
        began = time.perf_counter()
        try:
            arcs = _native.csr_transpose(*graph.csr, threads_for(graph.m))
        except MemoryError:
            self.note = "incoming arcs: not made, memory ran out"
            return
        graph.__dict__.setdefault("csc", CSC(*map(adopt, arcs)))
        took = time.perf_counter() - began
        self.note = (
            f"incoming arcs: made before search {self.searches + 1} in {took:.2g} s, after "
            f"{self.seconds:.2g} s of searches without"
        )


def _seconds_to_make(graph: Graph) -> float:
    return graph.m * SECONDS_AN_ARC
