"""Trees and matrices on an eliminated graph.

A tree is a climb from its source and a sweep over all vertices, from the roots down; a batch of
sources shares both, a vector lane each (``native/core/prepared/sweeps/sweep.hpp``). A matrix is one
of two things, whichever is less work: sweeps over the ancestors of its targets, or, where there are
many sources and targets, products of climbs from both (``sweep_products.cpp``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.semiring import SEMIRINGS
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.prepared import pairs
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.cached_property import cached
from kleene.system.machine import threads_for

__all__ = [
    "LANES",
    "PreparedRows",
    "is_safe",
    "matrix",
    "repair_trees",
    "reverse_values",
    "trees",
]

Array = NDArray[Any]
Progress = Callable[[int, int], object]

#: Bytes of a line, the values of one vertex for all sources of a batch; and sources, at 4 bytes.
_LINE, LANES = 64, 16

#: Bytes of lines that are kept for the next call: the system takes as long to give them again as a
#: sweep takes.
_MOST_KEPT = 2**30

#: Nanoseconds to relax a line in a climb, in a sweep and in a product, and to move a value from a
#: column to a row; on one core of a Zen 4 with AVX-512, in the caches.
_CLIMB, _SWEEP, _PRODUCT, _TURN = 2.5, 1.5, 0.3, 1.0


def trees(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    values: Array,
    predecessors: Array | None = None,
    *,
    reverse: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Fill a row of values (and predecessors) for each source, in the order of the vertices.

    Parameters
    ----------
    elimination, customization : Elimination, Customization
        The prepared graph.
    sources : array
        Positions of vertices.
    values : array
        One row for each source, of the customization's type.
    predecessors : array, optional
        As many of int32.
    reverse : bool
        Whether paths lead to the sources; then the predecessor of a vertex is the one after it.
    threads : int, optional
        All cores by default, one for small graphs.
    progress : function, optional
        Called with the number of sources that are done, and of all.
    """
    c = reverse_values(customization) if reverse else customization
    ranks = elimination.ranks[sources]
    threads = _threads(elimination, len(sources), threads)
    _sweep(elimination, c, ranks, None, values, predecessors, threads, progress)
    # In floats a cycle that weighs nothing may round to less.
    values[np.arange(len(sources)), sources] = SEMIRINGS[c.semiring].one(values.dtype)
    if predecessors is not None:
        predecessors[np.arange(len(sources)), sources] = -1
        repair_trees(elimination, c, sources, values, predecessors, threads)


def matrix(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    targets: Array,
    values: Array,
    *,
    reverse: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Fill the values from each source (row) to each target (column).

    Parameters
    ----------
    elimination, customization : Elimination, Customization
        The prepared graph.
    sources, targets : array
        Positions of vertices.
    values : array
        One row for each source, one column for each target, of the customization's type.
    reverse : bool
        Whether paths lead from the targets to the sources.
    threads : int, optional
        All cores by default, one for small graphs.
    progress : function, optional
        Called with the number of rows that are done, and of all.
    """
    c = reverse_values(customization) if reverse else customization
    rows, columns = elimination.ranks[sources], elimination.ranks[targets]
    threads = _threads(elimination, max(len(sources), len(targets)), threads)
    way = _cheapest(elimination, c, rows, columns)
    if way == "sweep":
        _sweep(elimination, c, rows, columns, values, None, threads, progress)
    elif way == "sweep back":
        turned = np.empty(values.shape[::-1], dtype=values.dtype)
        _sweep(elimination, reverse_values(c), columns, rows, turned, None, threads, progress)
        values[...] = turned.T
    else:
        _native.prepared_multiply_climbs(
            *_tree(elimination), c.semiring, c.negative, c.up, c.down, rows, columns, values,
            threads, progress,
        )  # fmt: skip
    if c.negative and values.dtype.kind == "f":  # as in trees
        one = SEMIRINGS[c.semiring].one(values.dtype)
        for row in np.flatnonzero(np.isin(sources, targets)):
            values[row, targets == sources[row]] = one


def _cheapest(elimination: Elimination, c: Customization, sources: Array, targets: Array) -> str:
    """Return which way takes the least time: "sweep", "sweep back" or "multiply"."""
    lanes = _LINE // c.up.itemsize
    s, t = len(sources), len(targets)
    from_sources, from_targets, climb, common = _native.prepared_matrix_work(
        _tree(elimination)[0], sources, targets
    )
    batches = ceil(s / lanes), ceil(t / lanes)
    costs = {
        "sweep": batches[0] * from_targets * _SWEEP,
        "sweep back": batches[1] * from_sources * _SWEEP + s * t * _TURN,
        "multiply": sum(batches) * 2 * climb * _CLIMB + s * t * common / lanes * _PRODUCT,
    }
    signed = c.semiring == "min_plus" and c.negative and c.up.dtype.kind == "i"
    if signed or c.up.dtype == np.uint8:  # the kernel of products does not know their "no path"
        del costs["multiply"]
    return min(costs, key=costs.__getitem__)


def _sweep(
    elimination: Elimination,
    c: Customization,
    sources: Array,
    targets: Array | None,
    values: Array,
    predecessors: Array | None,
    threads: int,
    progress: Progress | None,
) -> None:
    paths = predecessors is not None
    up, down = c.up, c.down
    up_last, down_last = c.last_vertices(elimination) if paths else (None, None)
    if paths and up.dtype == np.uint8:  # predecessors need wider lanes
        up, down = up.astype(np.int32), down.astype(np.int32)
    workspace = _take_workspace(elimination, _LINE * (1 + elimination.n * (1 + paths)))
    _native.prepared_sweep(
        *_tree(elimination), c.semiring, c.negative, up, down, up_last, down_last, sources,
        targets, values, predecessors, workspace, threads, progress,
    )  # fmt: skip
    if len(workspace) <= _MOST_KEPT:
        elimination.__dict__["_sweep_workspace"] = workspace


def _threads(elimination: Elimination, sources: int, threads: int | None) -> int:
    return threads_for((elimination.n + elimination.arcs) * ceil(sources / LANES), threads)


def _tree(elimination: Elimination) -> tuple[tuple[Array, ...], int]:
    """Return what native sweeps read of the tree, and the number of depths; made once."""
    kept = elimination.__dict__.get("_sweep_tree")
    if kept is None:
        e, depths = elimination, elimination.depths
        arrays = (e.offsets, e.heads, e.parents, e.order, depths, e.sizes, depths[e.heads])
        kept = elimination.__dict__["_sweep_tree"] = arrays, int(depths.max(initial=-1)) + 1
    found: tuple[tuple[Array, ...], int] = kept
    return found


def _take_workspace(elimination: Elimination, size: int) -> Array:
    """Return memory that no other call uses: that of the last call, or new."""
    kept: Array | None = elimination.__dict__.pop("_sweep_workspace", None)
    return kept if kept is not None and len(kept) >= size else np.empty(size, dtype=np.uint8)


def reverse_values(customization: Customization) -> Customization:
    """Return the values of the graph with all arcs reversed; made once."""
    kept: Customization | None = customization.__dict__.get("_reversed")
    if kept is None:
        c = customization
        kept = c if c.symmetric else replace(c, up=c.down, down=c.up, graph=None)
        customization.__dict__["_reversed"] = kept
    return kept


# ---- Rows of a prepared graph: values, matrices and predecessors by sweeps, paths by pairs ------

#: Bytes of the values that are swept again, together, where their predecessors are asked for.
_BATCH = 2**27


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows from the sweeps of a prepared graph, paths from its pairs."""

    elimination: Elimination
    customization: Customization
    reverse: bool  # paths lead to the sources
    threads: int | None

    def values(self, sources: Array, out: Array | None = None, progress: Any = None) -> Array:
        """Return whole rows of values, or store them in ``out``."""
        shape = (len(sources), self.elimination.n)
        values = np.empty(shape, self.customization.dtype) if out is None else out
        self._sweep(sources, values, None, progress)
        return values

    def matrix(
        self, sources: Array, targets: Array, out: Array | None = None, progress: Any = None
    ) -> Array:
        """Return the values of some targets, or store them in ``out``."""
        shape = (len(sources), len(targets))
        values = np.empty(shape, self.customization.dtype) if out is None else out
        matrix(
            self.elimination, self.customization, sources, targets, values,
            reverse=self.reverse, threads=self.threads, progress=progress,
        )  # fmt: skip
        return values

    def rows(self, sources: Array) -> Answer:
        """Return the whole rows of some sources, with predecessors."""
        shape = (len(sources), self.elimination.n)
        item, link = self.customization.dtype.itemsize, self.elimination.order.itemsize
        _require_rows(shape, item + link)
        values = np.empty(shape, self.customization.dtype)
        predecessors = np.empty(shape, self.elimination.order.dtype)
        self._sweep(sources, values, predecessors)
        return Answer(values, predecessors)

    def predecessors(self, sources: Array) -> Array:
        """Return rows of predecessors; the values are swept once more, some rows at a time."""
        shape = (len(sources), self.elimination.n)
        row = max(1, shape[1] * self.customization.dtype.itemsize)
        step = max(LANES, _BATCH // row)
        _require_rows(shape, self.elimination.order.itemsize, row * min(step, shape[0]))
        found = np.empty(shape, self.elimination.order.dtype)
        values = np.empty((min(step, shape[0]), shape[1]), self.customization.dtype)
        for first in range(0, shape[0], step):
            some = sources[first : first + step]
            self._sweep(some, values[: len(some)], found[first : first + step])
        return found

    def walks(self, source: int, vertices: Array) -> tuple[Array, Array]:
        """Return the paths between a source and some vertices: positions and offsets."""
        return self.walks_between(np.full(len(vertices), source, np.int32), vertices)

    def walks_between(self, sources: Array, vertices: Array) -> tuple[Array, Array]:
        """Return the path between each source and a vertex: positions and offsets."""
        ends = sources, vertices.astype(np.int32, copy=False)
        origins, destinations = ends[::-1] if self.reverse else ends
        return pairs.paths(
            self.elimination, self.customization, origins, destinations, threads=self.threads
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedRows, (self.elimination, self.customization, self.reverse, self.threads)

    def _sweep(
        self, sources: Array, values: Array, predecessors: Array | None, progress: Any = None
    ) -> None:
        trees(
            self.elimination, self.customization, sources, values, predecessors,
            reverse=self.reverse, threads=self.threads, progress=progress,
        )  # fmt: skip


def _require_rows(shape: tuple[int, int], item: int, more: int = 0) -> None:
    """Raise unless there is memory for whole rows."""
    require_memory(
        shape[0] * shape[1] * item + more,
        f"whole rows of {shape[0]:,} sources and {shape[1]:,} vertices",
        "ask for fewer sources; the path of a pair takes no rows",
    )


# ---- Predecessors of sweeps that are trees ------------------------------------------------------
# The predecessor of a vertex is the last but one on some best path to it, and the path to that one
# may be another. With lengths above zero that is a tree. Where a cycle weighs nothing, or so little
# that rounding hides it, two vertices may each become the predecessor of the other; so it is
# between many pairs where paths are compared by their narrowest arc. Such rows are repaired as
# those of closures are, by the tightest of the arcs that best paths consist of.


def repair_trees(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    values: Array,
    predecessors: Array,
    threads: int,
) -> None:
    """Reattach the vertices whose predecessors do not lead to the source."""
    if is_safe(customization):
        return
    name = customization.semiring
    none = SEMIRINGS[name].zero(values.dtype)
    seen = values.view(np.uint8) if values.dtype == bool else values
    sources = sources.astype(np.int32)
    loose = _native.closure_find_detached(sources, seen, predecessors, none, threads)
    if loose is None:
        return
    g = _tight_arcs(elimination, customization)
    weights = [None if w is None else w.astype(values.dtype) for w in (g.weights, g.csc.weights)]
    _native.closure_reattach(
        name, sources, seen, predecessors, none, loose, g.offsets, g.neighbors, weights[0],
        g.csc.offsets, g.csc.neighbors, weights[1], threads,
    )  # fmt: skip


def is_safe(c: Customization) -> bool:
    """Return whether values rise along every arc, whatever the source; found out once."""
    if c.semiring != "min_plus" or c.up.dtype.kind != "i":
        return False
    return cached(c, "_rises", lambda: all(a.min(initial=1) > 0 for a in (c.up, c.down)))


def _tight_arcs(elimination: Elimination, c: Customization) -> Graph:
    """Return the arcs that the paths of all pairs consist of, as a graph; made once."""

    def make() -> Graph:
        low = np.repeat(elimination.order, np.diff(elimination.offsets))
        high = elimination.order[elimination.heads]
        none = _no_path(c)
        up, down = (
            (middles < 0) & (values != none)
            for middles, values in zip(c.middles(elimination), (c.up, c.down), strict=True)
        )
        tails, heads = (np.concatenate([a[up], b[down]]) for a, b in ((low, high), (high, low)))
        weights = np.concatenate([c.up[up], c.down[down]])
        return Graph.from_edges(
            tails, heads, None if c.dtype.kind == "b" else weights, n=elimination.n
        )

    return cached(c, "_tight_arcs", make)


def _no_path(c: Customization) -> Any:
    """Return what stands for "no path" among the values of pairs."""
    none = SEMIRINGS[c.semiring].zero(np.dtype(bool) if c.dtype.kind == "b" else c.up.dtype)
    return none // 2 if c.semiring == "min_plus" and c.up.dtype.kind == "i" else none
