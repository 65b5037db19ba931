"""Random shortest paths: each is as likely as any other between the same vertices.

Seeds are fixed and samples depend on nothing else, so that tests of chance cannot fail by chance.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest

import kleene as kl
from kleene import Graph, _native


def take(g: Graph, first: int, count: int, hops: bool = True, seed: int = 0) -> Any:
    """Return how many of some samples pass each vertex, ends included, and each arc."""
    counts = np.zeros(g.n + g.m, np.int64)
    forms = [(*form[:2], None if hops else form[2]) for form in (g.csr, g.csc)]
    ends = np.array([count], np.int64)
    taken, cycle = _native.sample_paths(
        *forms[0], *forms[1], True, True, not g.directed, seed, first, ends, ends, None, counts, 1,
        None,
    )  # fmt: skip
    assert cycle is None
    assert taken == count
    return counts[: g.n], counts[g.n :]


def path_of(g: Graph, vertices: Any, arcs: Any) -> tuple[int, ...]:
    """Return the vertices of a sampled path, from the smaller end if the graph is undirected."""
    steps = nx.DiGraph() if g.directed else nx.Graph()
    steps.add_edges_from((int(g.coo.sources[i]), int(g.coo.targets[i])) for i in arcs.nonzero()[0])
    assert vertices.max(initial=0) <= 1
    assert arcs.max(initial=0) <= 1
    assert set(steps) == set(vertices.nonzero()[0].tolist())
    if not g.directed:
        ends = sorted(v for v, degree in steps.degree if degree == 1)
        return tuple(nx.shortest_path(steps, *ends)) if ends else ()
    return tuple(nx.topological_sort(steps))


def lattice(directed: bool, weighted: bool) -> Graph:
    """Return two squares that share a corner, and more arcs, with many paths of the same length."""
    tails = [0, 0, 1, 2, 3, 3, 4, 5, 1, 2, 6]
    heads = [1, 2, 3, 3, 4, 5, 6, 6, 4, 5, 0]
    lengths = [1, 1, 2, 2, 1, 1, 3, 3, 3, 3, 2] if weighted else None
    return Graph.from_edges(tails, heads, lengths, n=8, directed=directed)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_every_shortest_path_is_as_likely(directed: bool, weighted: bool) -> None:
    g, count = lattice(directed, weighted), 12_000
    seen = Counter(path_of(g, *take(g, i, 1, not weighted, seed=3)) for i in range(count))
    right: dict[tuple[int, ...], float] = {}
    whole = g.to_networkx()
    for s, t in ((s, t) for s in range(g.n) for t in range(g.n) if s != t):
        paths = [()]
        if nx.has_path(whole, s, t):
            paths = [tuple(path) for path in nx.all_shortest_paths(whole, s, t, "weight")]
        for path in paths:
            key = path if directed or path[:1] <= path[-1:] else path[::-1]
            right[key] = right.get(key, 0) + count / (g.n * (g.n - 1) * len(paths))
    assert set(seen) == set(right)
    chi_square = sum((seen[path] - mean) ** 2 / mean for path, mean in right.items())
    freedom = len(right) - 1
    assert freedom > 25
    assert abs(chi_square - freedom) < 4 * np.sqrt(2 * freedom)


def diamonds(count: int, weighted: bool) -> tuple[Graph, Any]:
    """Return a chain of diamonds, with 2^count paths from end to end, and its betweenness."""
    joint = 3 * np.arange(count)
    tails = np.concatenate([joint, joint, joint + 1, joint + 2])
    heads = np.concatenate([joint + 1, joint + 2, joint + 3, joint + 3])
    g = Graph.from_edges(tails, heads, [1] * len(tails) if weighted else None, directed=False)
    left = 3 * np.arange(count + 1)
    joints = left * left[::-1] * 2 + 2
    joints[[0, -1]] = 1  # from one side of a diamond to the other
    sums = np.empty(g.n)
    sums[0::3] = joints
    sums[1::3] = sums[2::3] = (left[:-1] + 1) * (left[-2::-1] + 1)
    return g, sums / ((g.n - 1) * (g.n - 2))


def test_the_chain_of_diamonds_has_the_betweenness_that_is_said() -> None:
    g, right = diamonds(4, True)
    exact = nx.betweenness_centrality(g.to_networkx(), weight="weight")
    assert np.allclose(right, [exact[v] for v in range(g.n)])


@pytest.mark.parametrize(("weighted", "count"), [(False, 1400), (True, 1100)])
def test_more_paths_than_doubles_can_count(weighted: bool, count: int) -> None:
    g, right = diamonds(count, weighted)
    found = kl.betweenness(g, error=0.05, seed=1)
    assert found.paths is not None
    assert np.abs(found.values - right).max() <= 0.05
    vertices, arcs = take(g, 0, 60, not weighted)  # a path passes one side of a diamond
    assert vertices[1::3].sum() > 0.4 * vertices[3::3].sum()
    assert vertices[2::3].sum() > 0.4 * vertices[3::3].sum()
    assert abs(int(vertices.sum() - arcs.sum()) - 60) == 0


def test_weights_that_vanish_in_a_distance() -> None:
    """Both arcs of an edge are tight then: the number of shortest paths is not defined."""
    ends = ([0, 0, 1, 1, 2], [1, 2, 2, 3, 3])
    g = Graph.from_edges(*ends, [1.0, 1.0, 1e-30, 1.0, 1.0], directed=False)
    for threads in (1, 3):
        with pytest.raises(kl.RequestError, match="adds nothing to a distance"):
            kl.betweenness(g, error=0.1, threads=threads)
    one_way = Graph.from_edges(*ends, [1.0, 1.0, 1e-30, 1.0, 1.0])  # no cycle: three paths to 3
    found = kl.betweenness(one_way, error=0.02, edges=True)
    assert found.arcs is not None
    from_1_to_2 = (1 + 1 / 2 + 1 / 2 + 1 / 3) / 12  # all shortest paths, of all pairs
    assert abs(found.arcs[2] - from_1_to_2) <= 0.02
    assert found.verify().rows == 4
