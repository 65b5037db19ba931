"""Rows for the nearest facilities of every vertex."""

from __future__ import annotations

from kleene.registry.memory import elimination_labels_workspace, labels_workspace
from kleene.registry.method import Method

__all__ = ["ROWS"]

ROWS = (
    Method(
        "nearest",
        "k_labels",
        "cpu",
        "one search from all facilities with k labels per vertex, in buckets on all cores",
        "Meyer and Sanders 2003",
        "kleene.backends.cpu.nearest:k_labels",
        labels_workspace,
        negative=False,
        makes=("value",),
        cuts="never",
    ),
    Method(
        "nearest",
        "prepared",
        "cpu",
        "eliminates all vertices once, then k labels per vertex climb and sweep; integer lengths",
        "ours; Dibbelt et al. 2016",
        "kleene.backends.cpu.prepared:nearest",
        elimination_labels_workspace,
        negative=False,
        makes=("value",),
        cuts="never",
    ),
)
