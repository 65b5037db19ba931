"""Rows for the k shortest paths between two vertices."""

from __future__ import annotations

from kleene.registry.method import Method, Size

__all__ = ["ROWS"]


def _workspace(size: Size) -> int:
    """Arc lengths, and for each pair at a time a search and the distances to its target."""
    return size.item * size.m + 64 * size.sources * size.n


ROWS = (
    Method(
        "k_shortest",
        "yen",
        "cpu",
        "detours from each path found, guided by the distances to the target; a core per pair",
        "Yen 1971, Lawler 1972",
        "kleene.backends.cpu.k_shortest:yen",
        _workspace,
        answer=lambda size: 0,  # it grows with the paths, not with the graph
        makes=("entries",),
    ),
)
