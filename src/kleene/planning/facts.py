"""What a plan needs to know about a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.graph.checks import holds
from kleene.prepared.known import Known, known_of
from kleene.system.devices import split_name

if TYPE_CHECKING:
    from kleene.graph import Graph

__all__ = ["Facts", "graph_facts", "searched_facts"]


@dataclass(frozen=True)
class Facts:
    """What a plan needs to know about a graph."""

    n: int
    m: int
    weight_dtype: str | None
    min_weight: int | float
    max_weight: int | float
    path_bound: int | float
    csc: bool = False  # are the incoming arcs made already?
    device: str = "cpu"  # where the arcs are, besides main memory
    prepared: Known | None = None  # what is known of its elimination
    placed: str = "cpu"  # the name of that device

    def of_square(self, side: int) -> Facts:
        """Return the facts of a square of the graph's matrix, which is in main memory."""
        return Facts(
            side, side * side, self.weight_dtype, self.min_weight, self.max_weight, self.path_bound
        )


#: The same facts are the same object, which makes plans quick to look up.
_shared_facts = lru_cache(maxsize=256)(Facts)


#: The name of a type; NumPy takes 2 us to make it.
_name_of: Callable[[np.dtype[Any]], str] = lru_cache(maxsize=64)(str)


def graph_facts(graph: Graph, hops: bool = False) -> Facts:
    """Collect what a plan needs to know of this graph; for hop counts, without its weights."""
    n, m = graph.n, graph.m
    known, placed = known_of(graph), graph.device
    device = "cpu" if placed == "cpu" else split_name(placed)[0]
    if hops:
        return _shared_facts(
            n, m, None, min(1, m), min(1, m), n, graph.has_csc, device, known, placed
        )
    stats, dtype = graph.stats, graph.weight_dtype
    return _shared_facts(
        n,
        m,
        None if dtype is None else _name_of(dtype),
        stats.min_weight,
        stats.max_weight,
        stats.path_bound,
        graph.has_csc,
        device,
        known,
        placed,
    )


def searched_facts(graph: Graph, dtype: np.dtype[Any], hops: bool) -> Facts:
    """Return the facts of a graph by which a type is judged, whichever way the call searched.

    A path is as long in both directions, and so the bound of either direction bounds both.
    """
    facts = graph_facts(graph, hops)
    if hops or dtype.kind not in "if" or holds(dtype, facts.path_bound):
        return facts
    other = graph.transpose().stats.path_bound
    return replace(facts, path_bound=min(facts.path_bound, other))
