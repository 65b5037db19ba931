"""Predecessors of sweeps that are trees.

The predecessor of a vertex is the last but one on some best path to it, and the path to that one
may be another. With lengths above zero that is a tree. Where a cycle weighs nothing, or so little
that rounding hides it, two vertices may each become the predecessor of the other; so it is between
many pairs where paths are compared by their narrowest arc. Such rows are repaired as those of
closures are, by the tightest of the arcs that best paths consist of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.semiring import SEMIRINGS
from kleene.graph import Graph
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.cached_property import cached

__all__ = ["is_safe", "repair_trees"]

Array = NDArray[Any]


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
