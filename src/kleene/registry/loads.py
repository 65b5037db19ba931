"""Rows for trips on their shortest paths."""

from __future__ import annotations

from kleene.registry.memory import elimination_workspace
from kleene.registry.method import Method, Size

__all__ = ["ROWS"]


def _answer(size: Size) -> int:
    """A float64 for each arc."""
    return 8 * size.m


def _search_workspace(size: Size) -> int:
    """Lengths, a transposed graph, and for each thread a search and sums of arcs."""
    threads = min(size.threads, size.sources)
    return (8 + 3 * size.item) * size.m + threads * (72 * size.n + 8 * size.m)


def _pair_workspace(size: Size) -> int:
    """Pairs and their values, their middles, and for each thread their flows both ways."""
    pairs = 5 * size.n
    return elimination_workspace(size._replace(predecessors=True)) + 16 * (1 + size.threads) * pairs


def _reference_workspace(size: Size) -> int:
    """Python objects for each vertex and arc."""
    return 400 * (size.n + size.m)


ROWS = (
    Method(
        "loads",
        "searches",
        "cpu",
        "a search for each origin, or each destination; volumes flow back along the tree",
        "Dijkstra 1959, Brandes 2001",
        "kleene.backends.cpu.loads:searches",
        _search_workspace,
        negative=False,
        answer=_answer,
        makes=("sums",),
    ),
    Method(
        "loads",
        "prepared",
        "cpu",
        "eliminates all vertices once, then ends climb; one pass moves flows of pairs to arcs",
        "Buchhold et al. 2019",
        "kleene.backends.cpu.loads:prepared",
        _pair_workspace,
        answer=_answer,
        makes=("sums",),
    ),
    Method(
        "loads",
        "plain",
        "reference",
        "a search from each origin, then every path is walked; shares are ratios of integers",
        "Dijkstra 1959",
        "kleene.backends.reference.loads:plain",
        _reference_workspace,
        answer=_answer,
        makes=("sums",),
    ),
)
