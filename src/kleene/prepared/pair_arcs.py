"""The arcs of a graph that the pairs of an elimination start from, found once for a structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.graph import Graph
from kleene.prepared.elimination import Elimination

__all__ = ["find_pair_arcs", "lengths"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class _PairArcs:
    """What was found for a graph, and for all that have the same arcs."""

    offsets: Array  # of the graph
    neighbors: Array
    found: _native.PairArcs

    def are_of(self, graph: Graph) -> bool:
        """Return whether the graph has these arcs, whatever its weights."""
        pairs = ((self.offsets, graph.offsets), (self.neighbors, graph.neighbors))
        return all(a is b or np.array_equal(a, b) for a, b in pairs)


def find_pair_arcs(elimination: Elimination, graph: Graph, threads: int) -> _native.PairArcs:
    """Return the arcs that pairs start from; the elimination keeps those of the last graph."""
    kept: _PairArcs | None = elimination.__dict__.get("_pair_arcs")
    if kept is not None and kept.are_of(graph):
        return kept.found
    if graph.n != elimination.n or graph.m > np.iinfo(np.int32).max:
        raise GraphError(
            f"the prepared graph has {elimination.n:,} vertices and at most 2^31 - 1 arcs, this "
            f"one {graph.n:,} and {graph.m:,}: prepare it by itself"
        )
    found = _native.prepared_find_arcs(
        graph.offsets, graph.neighbors, elimination.order, elimination.ranks,
        elimination.offsets, elimination.heads, elimination.parents, threads
    )  # fmt: skip
    if found.unknown >= 0:
        tail = int(np.searchsorted(graph.offsets, found.unknown, side="right")) - 1
        head = int(graph.neighbors[found.unknown])
        raise GraphError(
            f"the arc from {graph.label(tail)!r} to {graph.label(head)!r} is not in the prepared "
            "graph, which takes new weights for its own arcs: prepare the new graph"
        )
    elimination.__dict__["_pair_arcs"] = _PairArcs(graph.offsets, graph.neighbors, found)
    return found


def lengths(graph: Graph, dtype: np.dtype[Any]) -> Array | None:
    """Return the weights of a graph in a type of values; None where every arc counts one."""
    if graph.weights is None or dtype == np.uint8:
        return None
    return graph.weights.astype(dtype, copy=False)
