"""Results that were saved, of every kind: archives of rows or of pairs, and finished stores."""

from __future__ import annotations

from pathlib import Path

from kleene.graph import Graph
from kleene.results import saved
from kleene.results.pairs import PairsResult
from kleene.results.result import Result, Timings
from kleene.stores import STORE_SUFFIXES

__all__ = ["load_result"]


def load_result(path: str | Path, graph: Graph) -> Result:
    """Return the result in a file or store; ``graph`` must be the one that it was computed on."""
    if Path(path).suffix in STORE_SUFFIXES:
        from kleene.stores.load import load_stored  # archives need no store

        stored = load_stored(path, graph)
        return Result(
            graph, stored.plan, Timings(), stored.answer, stored.sources, stored.targets,
            stored.limit, False, stored.reverse,
        )  # fmt: skip
    read = saved.load(path, graph)
    if isinstance(read, saved.SavedPairs):
        return PairsResult(
            graph, read.plan, read.stats, read.pairs, read.values, read.walks, read.limit,
            read.by_target,
        )  # fmt: skip
    return Result(
        graph, read.plan, read.stats, read.answer, read.sources, read.targets, read.limit,
        read.single, read.reverse,
    )  # fmt: skip
