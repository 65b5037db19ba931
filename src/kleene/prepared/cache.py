"""What a graph keeps of its preparation, so that later calls only climb and sweep.

Preparing goes in steps, and each tells more about what the next ones cost: a look at the graph, an
order of its vertices with a count of the pairs that it joins, the elimination itself, and the
weights on its pairs. A call plans again after each step, and may turn to another method.

The elimination depends on the arcs alone. Graphs that share their arrays (``Graph.reweight``,
``unlabelled``, ``with_positions``) share it whatever their weights, and so does the transposed
graph, which has the same pairs. It lives as long as one of these graphs, unless memory gets short.
Several threads may make it at once; one of them stays. No lock is held, so that a fork is safe.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import Progress
from kleene.errors import NegativeCycleError
from kleene.graph import Graph
from kleene.prepared.customization import Customization
from kleene.prepared.customization import customize as customize_on_host
from kleene.prepared.elimination import (
    Elimination,
    affordable_order,
    count_fill,
    eliminate,
    expect,
    is_small,
)
from kleene.prepared.known import BY_ARRAYS, Known
from kleene.prepared.order import elimination_order
from kleene.system.formatting import format_bytes
from kleene.system.live_set import LiveSet
from kleene.system.machine import available_memory

__all__ = ["Preparation", "bytes_of"]

Array = NDArray[Any]
Parts = tuple[Elimination, Customization]

#: Of the memory that is free or taken by preparations, what these may take.
_KEPT_SHARE = 0.25

#: For so many weights, semirings and types an elimination keeps the values of its pairs.
_MOST_CUSTOMIZED = 4

#: Preparations that keep something.
_ALL: LiveSet[Preparation] = LiveSet()
_CLOCK = itertools.count()


class _Values(NamedTuple):
    """Values of the pairs for the weights of a graph."""

    graph: ReferenceType[Graph]
    weights: Array | None
    customization: Customization


class Preparation:
    """The elimination of a graph, as far as it was made, and values of its pairs."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, int], tuple[Array, Array]] = {}  # by their ids
        self._known: Known | None = None
        self._order: Array | None = None
        self._elimination: Elimination | None = None
        self._values: tuple[_Values, ...] = ()
        self._used = next(_CLOCK)

    @staticmethod
    def of(graph: Graph) -> Preparation:
        """Return the preparation of a graph; graphs with the same arcs share it."""
        arrays = [graph.csr[:2]]
        if "csc" in graph.__dict__:  # of the transposed graph
            arrays.append(graph.csc[:2])
        by_ids = {
            (id(offsets), id(neighbors)): (offsets, neighbors) for offsets, neighbors in arrays
        }
        shared = (BY_ARRAYS.get(ids) for ids in by_ids)
        found = next((p for p in shared if p is not None), None) or Preparation()
        kept: Preparation = graph.__dict__.setdefault("_preparation", found)
        kept._arrays |= by_ids  # ids are theirs as long as they are kept
        for ids in by_ids:
            BY_ARRAYS[ids] = kept
        return kept

    def known(self, graph: Graph) -> Known | None:
        """Return what is known of the elimination, and for which types this graph has values."""
        known = self._known
        if known is None or not self._values:
            return known
        return known._replace(
            customized=frozenset(
                v.customization.key for v in self._values if v.weights is graph.weights
            )
        )

    @property
    def eliminated(self) -> bool:
        """Whether the elimination is kept."""
        return self._elimination is not None

    # ---- steps ----------------------------------------------------------------------------

    def look(self, graph: Graph) -> None:
        """Estimate the elimination, in a small part of the time that an order takes."""
        if is_small(graph):
            self.count(graph)
        elif self._known is None:
            fill = expect(graph).fill
            self._known = Known(fill.pairs, fill.triangles, "expected")

    def count(self, graph: Graph) -> None:
        """Order the vertices, and count the pairs that they are joined to."""
        if self._known is not None and self._known.step != "expected":
            return
        order = elimination_order(graph) if self._order is None else self._order
        fill = count_fill(graph, order)
        free = available_memory()
        short = free is not None and fill.bytes > _KEPT_SHARE * free
        refused = f"its {fill.pairs:,} pairs take {format_bytes(fill.bytes)}" if short else ""
        self._order = order
        self._known = Known(fill.pairs, fill.triangles, "counted", refused=refused)

    def order(self, graph: Graph, progress: Progress | None = None) -> tuple[Array, bool]:
        """Return the order of the vertices, and whether it was computed before.

        Raises for graphs that would join far too many pairs.
        """
        known = self._order
        if known is not None:
            return known, True
        self._order = order = affordable_order(graph, progress)
        return order, False

    def eliminate(
        self, graph: Graph, *, threads: int | None = None, progress: Progress | None = None
    ) -> Elimination:
        """Return the elimination; raises where it would take too much memory."""
        self._used = next(_CLOCK)
        made = self._elimination
        if made is None:
            made = eliminate(graph, self._order, threads=threads, progress=progress)
            self.keep(graph, made)
        return made

    def customize(
        self,
        graph: Graph,
        elimination: Elimination,
        semiring: str,
        dtype: np.dtype[Any],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        by: Callable[..., Customization] = customize_on_host,
    ) -> Customization:
        """Return the values of the pairs with the weights of this graph.

        ``by`` computes them, where they are not kept. They are kept with the elimination of the
        graph, and not with another. Raises NegativeCycleError for a negative
        cycle anywhere in the graph.
        """
        if elimination is self._elimination:
            for _, weights, kept in self._values:
                if kept.key == (semiring, str(dtype)) and weights is graph.weights:
                    return kept
        alone = Graph(graph.csr, graph.directed)  # values that kept the graph would keep themselves
        if "stats" in graph.__dict__:  # what is known of the weights is not computed again
            found = vars(graph.stats).copy()  # at once: another thread may find more meanwhile
            known = {k: v for k, v in found.items() if not k.startswith("_")}
            vars(alone.stats).update(known)
        made = by(elimination, alone, semiring, dtype=dtype, threads=threads, progress=progress)
        if elimination is self._elimination:  # others have an order that the caller chose
            self.keep(graph, elimination, made)
        return made

    def parts(
        self,
        graph: Graph,
        semiring: str,
        dtype: np.dtype[Any],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        by: Callable[..., Customization] = customize_on_host,
    ) -> Parts:
        """Return the elimination and the values of its pairs; ``progress`` is of the first.

        Raises NegativeCycleError for a negative cycle anywhere in the graph.
        """
        elimination = self.eliminate(graph, threads=threads, progress=progress)
        made = self.customize(graph, elimination, semiring, dtype, threads=threads, by=by)
        return elimination, made

    def sure_parts(self, graph: Graph, *args: Any, **options: Any) -> Parts | None:
        """Return the same, or None where a cycle is negative, if only by rounding.

        A search then decides whether a source leads to it.
        """
        try:
            elimination, made = self.parts(graph, *args, **options)
        except NegativeCycleError:
            return None
        return None if made.has_cycle_below_zero(elimination) else (elimination, made)

    # ---- memory ---------------------------------------------------------------------------

    def keep(
        self, graph: Graph, elimination: Elimination, customization: Customization | None = None
    ) -> None:
        """Keep an elimination and values of its pairs, if memory allows, instead of older ones."""
        if elimination is not self._elimination:
            self._elimination, self._order = elimination, elimination.order
            self._known, self._values = Known.of(elimination), ()
        if customization is not None:
            others = (v for v in self._values if v.graph() is not None)
            latest = _Values(ref(graph), graph.weights, customization)
            self._values = (latest, *others)[:_MOST_CUSTOMIZED]
        _forget_some(self)

    def forget(self) -> None:
        """Drop all but the order of the vertices."""
        self._elimination, self._values = None, ()
        if self._known is not None and self._known.step == "eliminated":
            self._known = self._known._replace(step="counted")

    @property
    def nbytes(self) -> int:
        """The bytes that are kept, with what was derived from them."""
        return bytes_of(self._elimination, *(v.customization for v in self._values))


def bytes_of(*parts: object) -> int:
    """Return the bytes of all arrays in eliminations and values, each counted once."""
    found: dict[int, int] = {}
    _count_bytes(parts, found)
    return sum(found.values())


def _count_bytes(part: object, found: dict[int, int]) -> None:
    """Collect the bytes of all arrays in eliminations and values, by id: some are shared."""
    if id(part) in found:
        return
    found[id(part)] = part.nbytes if isinstance(part, np.ndarray) else 0
    if isinstance(part, tuple) or is_dataclass(part):
        # A copy: another thread may keep something more meanwhile.
        for value in part if isinstance(part, tuple) else vars(part).copy().values():
            _count_bytes(value, found)


def _forget_some(latest: Preparation) -> None:
    """Drop what was not used for the longest time, while preparations take too much memory."""
    _ALL.add(latest)
    kept = {p: p.nbytes for p in _ALL}
    free = available_memory()
    if free is None:
        return
    total = sum(kept.values())
    most = _KEPT_SHARE * (free + total)
    for oldest in sorted(kept, key=lambda p: (p is latest, p._used)):
        if total <= most:
            break
        oldest.forget()
        total -= kept[oldest]
