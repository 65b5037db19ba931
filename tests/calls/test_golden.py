"""Cases worked by hand from the documents that Kleene grew out of."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import graph

import kleene as kl

INF = float("inf")


def test_nine_vertex_graph_forms() -> None:
    """The textbook chapter's adjacency matrix, in all its forms."""
    g = graph("nine_vertices")
    assert g.offsets.tolist() == [0, 2, 4, 7, 9, 11, 12, 13, 15, 15]
    assert g.neighbors.tolist() == [1, 2, 3, 4, 5, 6, 7, 4, 8, 5, 8, 6, 8, 0, 6]
    assert g.csc.offsets.tolist() == [0, 1, 2, 3, 4, 6, 8, 11, 12, 15]
    assert g.csc.neighbors.tolist() == [7, 0, 0, 1, 1, 3, 2, 4, 2, 5, 7, 2, 3, 4, 6]
    assert g.coo.sources.tolist() == [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 7]
    assert g.ell.neighbors.tolist() == [
        [1, 2, -1], [3, 4, -1], [5, 6, 7], [4, 8, -1], [5, 8, -1],
        [6, -1, -1], [8, -1, -1], [0, 6, -1], [-1, -1, -1],
    ]  # fmt: skip
    adjacency = (g.dense == 1).astype(int)
    assert adjacency[2].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 0]
    assert adjacency.sum() == 15


def test_nine_vertex_graph_levels() -> None:
    r = kl.bfs(graph("nine_vertices"), 0)
    assert r.distances.tolist() == [0, 1, 1, 2, 2, 2, 2, 2, 3]
    assert len(r.path(8)) == 4
    back = kl.bfs(graph("nine_vertices"), 8)
    assert back.distances.tolist() == [-1] * 8 + [0]


def test_frontiers_of_the_course_project() -> None:
    """Frontiers {0}, {1, 3}, {2, 4}, {5, 7}, {6, 8}, as in the table of document 000."""
    arcs = {0: [1, 3], 1: [0, 2, 4], 3: [4], 2: [5], 4: [5, 7], 5: [6, 8], 7: [8]}
    s = [u for u, row in arcs.items() for _ in row]
    g = kl.Graph.from_edges(s, [v for row in arcs.values() for v in row])
    hops = kl.bfs(g, 0).distances
    frontiers = [set(np.flatnonzero(hops == d).tolist()) for d in range(5)]
    assert frontiers == [{0}, {1, 3}, {2, 4}, {5, 7}, {6, 8}]


def test_start_to_goal() -> None:
    """BFS from a start to a goal: the distance, or "not reachable" as -1."""
    g = kl.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 3])
    assert kl.bfs(g, 0, targets=[3]).distances.tolist() == [3]
    assert kl.bfs(g, 0, targets=[4]).distances.tolist() == [-1]


CLRS_WEIGHTS = [
    [0, 3, 8, INF, -4],
    [INF, 0, INF, 1, 7],
    [INF, 4, 0, INF, INF],
    [2, INF, -5, 0, INF],
    [INF, INF, INF, 6, 0],
]
CLRS_DISTANCES = [
    [0, 1, -3, 2, -4],
    [3, 0, -4, 1, -1],
    [7, 4, 0, 5, 3],
    [2, -1, -5, 0, -2],
    [8, 5, 1, 6, 0],
]


@pytest.mark.parametrize("method", ["floyd_warshall", "johnson"])
def test_the_textbook_example_of_all_pairs(method: str) -> None:
    """The five-vertex graph of Cormen et al., with its predecessors and next hops by hand."""
    r = kl.apsp(kl.Graph.from_dense(CLRS_WEIGHTS), method=method)
    assert r.distances.tolist() == CLRS_DISTANCES
    assert r.predecessors is not None
    assert r.predecessors.tolist() == [
        [-1, 2, 3, 4, 0],
        [3, -1, 3, 1, 0],
        [3, 2, -1, 1, 0],
        [3, 2, 3, -1, 0],
        [3, 2, 3, 4, -1],
    ]
    assert r.next_hops.tolist() == [
        [-1, 4, 4, 4, 4],
        [3, -1, 3, 3, 3],
        [1, 1, -1, 1, 1],
        [0, 2, 2, -1, 0],
        [3, 3, 3, 3, -1],
    ]
    assert r.path(0, 1) == [0, 4, 3, 2, 1]
    r.verify()


def test_closures_by_hand() -> None:
    g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [0.5, 0.75, 1.0, 0.5], n=5)
    reach = kl.closure(g, "boolean").values
    assert reach.astype(int).tolist() == [
        [1, 1, 1, 1, 0],
        [0, 1, 0, 1, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]
    assert kl.closure(g, "max_min").values[0].tolist() == [INF, 0.5, 0.75, 0.5, -INF]
    assert kl.closure(g, "max_times").values[0].tolist() == [1, 0.5, 0.75, 0.5, 0]
    assert kl.closure(g, "min_plus").values[0].tolist() == [0, 0.5, 0.75, 1.25, INF]


def test_negative_cycle_by_hand() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3, 1], [1, 2, 3, 1, 4], [9, 1, 2, -4, 1])
    for call in (lambda: kl.sssp(g, 0), lambda: kl.apsp(g), lambda: kl.closure(g, "min_plus")):
        with pytest.raises(kl.NegativeCycleError) as caught:
            call()
        cycle = caught.value.cycle
        start = cycle.index(1)
        assert cycle[start:] + cycle[:start] == [1, 2, 3]
