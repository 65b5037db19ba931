"""Rows for bounded searches with sparse answers."""

from __future__ import annotations

from kleene.registry.memory import bounded_workspace, elimination_labels_workspace, labels_workspace
from kleene.registry.method import Method, Size

__all__ = [
    "K_SHORTEST",
    "NEAREST",
    "WITHIN",
]

WITHIN = (
    Method(
        "within",
        "bounded_dijkstra",
        "cpu",
        "settles vertices in order of distance up to a limit or a count; one core a source",
        "Dijkstra 1959",
        "kleene.backends.cpu.near:bounded_dijkstra",
        bounded_workspace,
        negative=False,
        answer=lambda size: 0,  # it grows with what is reached, and is watched there
        makes=("sparse",),
    ),
)


# ---- Rows for the nearest facilities of every vertex --------------------------------------------

NEAREST = (
    Method(
        "nearest",
        "k_labels",
        "cpu",
        "one search from all facilities with k labels per vertex, in buckets on all cores",
        "Meyer and Sanders 2003",
        "kleene.backends.cpu.near:k_labels",
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


# ---- Rows for the k shortest paths between two vertices -----------------------------------------


def _workspace(size: Size) -> int:
    """Arc lengths, and for each pair at a time a search and the distances to its target."""
    return size.item * size.m + 64 * size.sources * size.n


K_SHORTEST = (
    Method(
        "k_shortest",
        "yen",
        "cpu",
        "detours from each path found, guided by the distances to the target; a core per pair",
        "Yen 1971, Lawler 1972",
        "kleene.backends.cpu.near:yen",
        _workspace,
        answer=lambda size: 0,  # it grows with the paths, not with the graph
        makes=("entries",),
    ),
)
