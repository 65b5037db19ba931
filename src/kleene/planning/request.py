"""What a plan is made from: the facts about a graph, and what the user asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kleene.prepared.known import Known, known_of
from kleene.system.device_names import split_name

if TYPE_CHECKING:
    from kleene.graph import Graph

__all__ = ["Facts", "Request", "graph_facts"]

#: Keywords that advice on memory and types may name, of the calls named as these problems.
_ADVISED = {
    "bfs": ("sources", "out", "predecessors", "dtype"),
    "sssp": ("sources", "out", "predecessors", "dtype"),
    "apsp": ("sources", "out", "predecessors", "dtype"),
    "closure": ("sources", "out", "predecessors", "dtype"),
}


@dataclass(frozen=True)
class Facts:
    """What a plan needs to know of a graph."""

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


class Request(NamedTuple):
    """What the user asked for, without the data."""

    problem: str
    semiring: str = "min_plus"
    method: str = "auto"
    device: str = "auto"
    sources: int | None = None  # how many; None for all vertices
    predecessors: bool = True
    dtype: str | None = None
    limited: bool = False
    threads: int | None = None
    out: bool = False  # the caller brings the memory for the values
    options: tuple[tuple[str, int], ...] = ()  # settings of the method
    deterministic: bool = False
    pair_bytes: int = 0  # bytes of the answer for a pair, beside its value and predecessor
    keep: str = "host"  # where the answer stays: "host" or "device"
    block_rows: int = 0  # rows in memory at once, of an answer in a store; 0 for all
    rounds_begun: bool = False  # whether files of rounds are there
    arc_by_arc: bool = False  # floats are added from the source on, as searches do
    devices: tuple[str, ...] = ()  # names of those to run on; none: the plan chooses
    trips: int = 0  # of loads, whose sources are the roots of searches
    split: bool = False  # of loads: over all shortest paths
    because: str = ""  # why the call names the method, where the user did not
    keywords: tuple[str, ...] | None = None  # that advice may name; None: see _ADVISED
    by_rows: bool = False  # some rows are kept at a time: no method that fills a matrix

    def advises(self, keyword: str) -> bool:
        """Return whether the user's call has a keyword that advice may name."""
        own = self.keywords
        return keyword in (_ADVISED.get(self.problem, ()) if own is None else own)


#: The same facts are the same object, which makes plans quick to look up.
_shared_facts = lru_cache(maxsize=256)(Facts)


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
        None if dtype is None else str(dtype),
        stats.min_weight,
        stats.max_weight,
        stats.path_bound,
        graph.has_csc,
        device,
        known,
        placed,
    )
