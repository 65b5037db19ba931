"""Rows for bounded searches with sparse answers."""

from __future__ import annotations

from kleene.registry.memory import bounded_workspace
from kleene.registry.method import Method

__all__ = ["ROWS"]

ROWS = (
    Method(
        "within",
        "bounded_dijkstra",
        "cpu",
        "settles vertices in order of distance up to a limit or a count; one core a source",
        "Dijkstra 1959",
        "kleene.backends.cpu.within:bounded_dijkstra",
        bounded_workspace,
        negative=False,
        answer=lambda size: 0,  # it grows with what is reached, and is watched there
        makes=("sparse",),
    ),
)
