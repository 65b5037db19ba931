"""Rows for distances in many small graphs."""

from __future__ import annotations

from kleene.registry.memory import no_workspace
from kleene.registry.method import Method

__all__ = ["ROWS"]

ROWS = (
    Method(
        "distance_encodings",
        "batched",
        "cpu",
        "searches from every vertex, as many graphs at a time as there are cores",
        "Ying et al. 2021",
        "kleene.backends.cpu.distance_encodings:batched",
        no_workspace,
        negative=False,
        makes=("value",),
        cuts="never",
    ),
)
