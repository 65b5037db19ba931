"""Rows for the k shortest paths between two vertices."""

from __future__ import annotations

from kleene.registry.memory import lengths_workspace
from kleene.registry.method import Method

__all__ = ["ROWS"]

ROWS = (
    Method(
        "k_shortest",
        "yen",
        "cpu",
        "detours from each path found, guided by the distances to the target; a core per pair",
        "Yen 1971, Lawler 1972",
        "kleene.backends.cpu.k_shortest:yen",
        lengths_workspace,
        answer=lambda size: 0,  # it grows with the paths, not with the graph
    ),
)
