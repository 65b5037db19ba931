"""The native searches at their borders: early ends, ties, rounding, full windows, first vertices.

Most of these were written for mutants of the core that no other test noticed.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

import kleene as kl
from kleene import _native
from kleene.errors import NegativeCycleError

INF = np.inf
NO_HOPS = -1
THREADS = [1, 2]


def native_sssp(
    g: kl.Graph,
    method: str,
    sources: list[int],
    targets: list[int] | None = None,
    limit: float | None = None,
    threads: int = 1,
) -> tuple[Any, Any, Any, list[int]]:
    """Return distances, predecessors, horizons and the negative cycle, as the core gives them.

    The rows begin with other than "no path", and a row behind the last one stays as it is.
    """
    assert g.weights is not None
    dtype, ids = g.weights.dtype, g.neighbors.dtype
    distances = np.full((len(sources) + 1, g.n), 77, dtype)
    predecessors = np.zeros((len(sources) + 1, g.n), ids)
    horizons = np.zeros(len(sources), dtype)
    no_limit = INF if dtype.kind == "f" else np.iinfo(dtype).max
    cycle = _native.sssp(
        method,
        g.offsets,
        g.neighbors,
        g.weights,
        None,
        g.csc.offsets,
        g.csc.neighbors,
        g.csc.weights,
        np.array(sources, ids),
        None if targets is None else np.array(targets, ids),
        no_limit if limit is None else limit,
        distances[:-1],
        predecessors[:-1],
        horizons,
        threads,
        None,
    )
    assert (distances[-1] == 77).all()
    assert not predecessors[-1].any()
    return distances[:-1], predecessors[:-1], horizons, cycle


def native_bfs(
    g: kl.Graph, method: str, sources: list[int], targets: list[int], threads: int
) -> tuple[Any, Any, Any]:
    ids = g.neighbors.dtype
    distances = np.empty((len(sources), g.n), ids)
    predecessors = np.empty((len(sources), g.n), ids)
    horizons = np.zeros(len(sources), ids)
    _native.bfs(
        method,
        g.offsets,
        g.neighbors,
        g.csc.offsets,
        g.csc.neighbors,
        g.coo.sources,
        np.array(sources, ids),
        np.array(targets, ids),
        int(np.iinfo(ids).max),
        NO_HOPS,
        distances,
        predecessors,
        horizons,
        threads,
        None,
    )
    return distances, predecessors, horizons


# ---- a search with targets does no more than it must --------------------------------------------


def chain(n: int, **options: Any) -> kl.Graph:
    at = np.arange(n - 1)
    return kl.Graph.from_edges(at, at + 1, n=n, **options)


BFS_METHODS = [method.name for method in _native.methods() if method.problem == "bfs"]


@pytest.mark.parametrize("method", BFS_METHODS)
@pytest.mark.parametrize("target", [0, 1, 3])
@pytest.mark.parametrize("threads", THREADS)
def test_hops_end_at_the_level_of_the_last_target(method: str, target: int, threads: int) -> None:
    g = chain(100)
    for targets in ([target], [target, 0], [0, target]):
        distances, _, horizons = native_bfs(g, method, [0], targets, threads)
        assert horizons.tolist() == [target]
        assert distances[0, : target + 1].tolist() == list(range(target + 1))
        assert (distances[0, target + 1 :] == NO_HOPS).all()


@pytest.mark.parametrize("threads", THREADS)
def test_searches_in_a_batch_end_once_all_have_the_targets(threads: int) -> None:
    g = chain(100, directed=False)
    distances, _, horizons = native_bfs(g, "multi_source", [10, 12], [11], threads)
    assert horizons.tolist() == [1, 1]
    assert np.count_nonzero(distances != NO_HOPS) == 6


@pytest.mark.parametrize("method", ["dijkstra", "delta_stepping"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("threads", THREADS)
def test_lengths_end_at_the_last_target(method: str, dtype: Any, threads: int) -> None:
    """Vertex 0 has a tentative distance when the search ends, and must lose it."""
    n = 5000
    at = np.arange(n - 1)
    s, t = np.append(at + 1, n - 1), np.append(at, 0)
    g = kl.Graph.from_edges(s, t, np.append(np.ones(n - 1), 50).astype(dtype), n=n)
    for target in (n - 1, n - 4):
        distances, predecessors, horizons, _ = native_sssp(
            g, method, [n - 1], [target], threads=threads
        )
        last = n - 1 - target
        assert horizons.tolist() == [last]
        assert distances[0, target:].tolist() == list(range(last, -1, -1))
        no_path = INF if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
        assert (distances[0, :target] == no_path).all()
        assert (predecessors[0, :target] == -1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_vertex_as_the_one_target(dtype: Any) -> None:
    """The first entry of a heap is the least: else a search ends at a target too early."""
    rng = np.random.default_rng(7)
    for _ in range(8):
        n = 70
        s, t = rng.integers(0, n, (2, 12 * n))
        first = np.arange(1, n)
        s, t = np.append(s, 0 * first), np.append(t, first)
        weights = np.append(rng.random(12 * n) * 0.2, 1 + rng.random(n - 1)).astype(dtype)
        g = kl.Graph.from_edges(s, t, weights, n=n)
        expected, *_ = native_sssp(g, "bellman_ford", [0])
        for target in range(n):
            found, _, horizons, _ = native_sssp(g, "dijkstra", [0], [target])
            assert found[0, target] == expected[0, target] == horizons[0]


# ---- rounding and negative cycles ---------------------------------------------------------------


@pytest.mark.parametrize("relabel", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 2, 3, 0, 4]])
@pytest.mark.parametrize("threads", THREADS)
def test_a_chain_that_rounding_closes_and_nothing_is_left(relabel: list[int], threads: int) -> None:
    """0.2 + 1 - 1 is below 0.2, and stays. Distances are exact sums along the tree, of all."""
    name = np.array(relabel)
    s, t = name[[0, 1, 2, 2, 1]], name[[1, 2, 1, 3, 4]]
    g = kl.Graph.from_edges(s, t, [0.2, 1.0, -1.0, 0.3, 0.1], n=50)
    source = int(name[0])
    distances, predecessors, _, cycle = native_sssp(g, "bellman_ford", [source], threads=threads)
    assert not cycle
    expected = [0, 0.2, 0.2 + 1.0, 0.2 + 1.0 + 0.3, 0.2 + 0.1]
    assert distances[0, name].tolist() == expected
    assert predecessors[0, name].tolist() == [-1, *name[[0, 1, 2, 1]].tolist()]
    assert np.isinf(distances[0, 5:]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cycle_at_the_margin_of_the_rule(dtype: Any) -> None:
    """Below zero by eps times its magnitudes counts as zero; by the next number, it is negative."""
    bits = np.finfo(dtype).nmant
    least = 2**bits - 1  # least and -(least + 2) sum to -2, which is eps times 2^(bits + 1)
    for more, negative in ((2, False), (3, True)):
        weights = np.array([1, least, -(least + more), 5], dtype)
        g = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3], weights, n=50)
        distances, predecessors, _, cycle = native_sssp(g, "bellman_ford", [0])
        assert sorted(cycle) == ([1, 2] if negative else [])
        if not negative:
            assert predecessors[0, :4].tolist() == [-1, 0, 1, 2]
            assert distances[0, 1:4].tolist() == [1, 1 + least, 6 + least]


def test_a_cycle_that_only_the_first_search_sees() -> None:
    """It is negative by the rule, but not where sums rise."""
    weights = [0.2, 1.0, -1.0 - 2.0**-50, 5.0]
    g = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3], weights, n=50)
    with pytest.raises(NegativeCycleError) as caught:
        kl.sssp(g, 0, method="bellman_ford", device="cpu")
    assert sorted(caught.value.cycle) == [1, 2]


def test_a_negative_cycle_of_integers_that_doubles_do_not_tell_from_zero() -> None:
    large = 2**57
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], [1, large + 1, -(large + 2)], n=3)
    *_, cycle = native_sssp(g, "bellman_ford", [0])
    assert sorted(cycle) == [1, 2]


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_a_negative_loop_at_the_first_vertex(dtype: Any) -> None:
    g = kl.Graph.from_edges([0], [0], np.array([-1], dtype), n=1)
    *_, cycle = native_sssp(g, "bellman_ford", [0])
    assert cycle == [0]


# ---- windows of buckets -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("count", [2, 4, 5, 16, 64])
@pytest.mark.parametrize("equal", [False, True])
def test_several_vertices_beyond_the_window(dtype: Any, count: int, equal: bool) -> None:
    """Vertex 0 leads to far vertices, these to one another; buckets are made for the many others.

    The width of buckets comes from a sample of arcs, which has none of the long ones: the first of
    every 70 arcs.
    """
    m = 70 * 1024
    steps = np.random.default_rng(count).permutation(count)
    far = 1_000_000 + (0 if equal else 50_000) * steps
    ends, near = np.arange(2, count + 2), np.arange(count + 2, m - count)
    s = np.concatenate([[0], 0 * ends, ends, 0 * near + 1])
    t = np.concatenate([[1], ends, np.roll(ends, 1), near])
    weights = np.concatenate([[1], far, np.full(count, 3), np.ones(len(near))]).astype(dtype)
    g = kl.Graph.from_edges(s, t, weights, n=m - count)
    expected = scipy_dijkstra(g.to_scipy(), indices=0)
    for threads in THREADS:
        for targets in (None, [int(ends[-1])], ends.tolist()):
            distances, *_ = native_sssp(g, "delta_stepping", [0], targets, threads=threads)
            wanted = slice(None) if targets is None else targets
            assert distances[0, wanted].tolist() == expected[wanted].tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_arcs_of_length_zero_at_the_limit_beyond_the_window(dtype: Any) -> None:
    far, m = 1_000_000, 4096
    at = np.arange(3, m)
    s, t = np.append([0, 1, 2], at), np.append([1, 2, 3], at + 1)
    weights = np.append([far, 0, 1], np.ones(len(at))).astype(dtype)
    g = kl.Graph.from_edges(s, t, weights, n=m + 1)
    sources = [0] * 20  # enough for a vector lane each
    for limit in (far, far + 1):
        distances, _, horizons, _ = native_sssp(g, "delta_stepping", sources, limit=limit)
        assert (horizons == limit).all()
        reached = [0, far, far, far + 1][: 3 + limit - far]
        assert distances[:, : len(reached)].tolist() == [reached] * 20
        assert (distances[:, len(reached) :] > far + 1).all()


# ---- equal ways ---------------------------------------------------------------------------------


def paths_of(g: kl.Graph, source: int, target: int, k: int) -> list[list[int]]:
    return list(kl.k_shortest(g, source, target, k).paths)


def test_of_equally_long_paths_the_first_found_stays() -> None:
    g = kl.Graph.from_edges([0, 1, 0, 2, 1, 3], [1, 4, 2, 4, 3, 4], [1.0, 1, 2, 1, 1, 1], n=5)
    assert paths_of(g, 0, 4, 1) == [[0, 1, 4]]
    assert paths_of(g, 0, 4, 2) == [[0, 1, 4], [0, 2, 4]]
    assert paths_of(g, 0, 4, 3) == [[0, 1, 4], [0, 2, 4], [0, 1, 3, 4]]


def test_paths_do_not_go_round_a_cycle_of_length_zero() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3], [0.0, 0, 0, 0], n=4)
    assert paths_of(g, 0, 3, 5) == [[0, 1, 2, 3]]


def test_of_parallel_arcs_equally_light_the_first_is_on_the_path() -> None:
    index = np.array([[0, 0, 0, 1, 1], [1, 1, 1, 2, 2]])
    lengths, paths = kl.distance_encodings(
        [index], n=[3], weighted=True, weights=[np.array([2.0, 1, 1, 4, 4])], path_arcs=2
    )
    assert lengths[0, 0].tolist() == [0, 1, 5]
    assert paths[0, 0].tolist() == [[-1, -1], [1, -1], [1, 3]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_path_cut_short_leaves_the_next_pair_alone(weighted: bool, most: int) -> None:
    at = np.arange(4)
    weights = [np.ones(4)] if weighted else None
    _, paths = kl.distance_encodings(
        [np.array([at, at + 1])], n=[5], path_arcs=most, weighted=weighted, weights=weights
    )
    for i, j in np.ndindex(5, 5):
        arcs = list(range(i, j))[:most]
        assert paths[0, i, j].tolist() == arcs + [-1] * (most - len(arcs))


@pytest.mark.parametrize("bad", [-1, 3, 4])
def test_an_order_of_visits_finds_heads_that_are_no_vertices(bad: int) -> None:
    for ids in (np.int32, np.int64):
        order, predecessors = np.full(8, -1, np.int32), np.full(8, -1, np.int32)
        offsets, neighbors = np.array([0, 1, 2, 2]), np.array([1, bad], ids)
        rows = offsets, neighbors, False
        assert _native.bfs_order(*rows, 0, -9999, order[:3], predecessors[:3]) == -1
        assert (order[3:] == -1).all()
        assert (predecessors[3:] == -1).all()


@pytest.mark.parametrize("offsets", [[0, 2, 1, 2], [0, 1, 9, 9], [-1, 1, 2, 2], [0, -1, 2, 2]])
@pytest.mark.parametrize("ids", [np.int32, np.int64])
@pytest.mark.parametrize("undirected", [False, True])
def test_offsets_that_lead_out_of_the_arrays_are_found(
    offsets: list[int], ids: Any, undirected: bool
) -> None:
    rows = np.array(offsets, ids), np.array([1, 0], np.int32)
    lengths, small = np.ones(2), np.full(3, -1, np.int32)
    order = _native.bfs_order(*rows, undirected, 0, -1, small.copy(), small.copy())
    tree = _native.tree_rows(*rows, lengths, small, *_empty_tree(3))
    source = np.zeros(1, np.int32)
    search = _native.search_stored_rows(
        *rows, lengths, undirected, source, False, False, np.inf, -1, np.empty(3), None, None
    )
    assert (order, tree, search, _native.checked_rows(*rows)) == (-1, -1, -1, None)


def _empty_tree(n: int) -> tuple[Any, Any, Any]:
    return np.empty(n + 1, np.int32), np.empty(n, np.int32), np.empty(n)


# ---- the order in which a textbook search settles -----------------------------------------------


def textbook(
    offsets: Any, heads: Any, weights: Any, sources: list[int]
) -> tuple[dict[int, Any], list[int], dict[int, int]]:
    """Return distances, order and tree arcs of Dijkstra's algorithm; the older of equals first."""
    distances: dict[int, Any] = {}
    order: list[int] = []
    tree: dict[int, int] = {}
    ages = itertools.count()
    heap = []
    seen: dict[int, Any] = {}
    for source in sources:
        if source not in seen:
            seen[source] = 0
            heapq.heappush(heap, (0, next(ages), source))
    while heap:
        distance, _, v = heapq.heappop(heap)
        if v in distances:
            continue
        distances[v] = distance
        order.append(v)
        for arc in range(offsets[v], offsets[v + 1]):
            u = int(heads[arc])
            through = distance + (1 if weights is None else weights[arc].item())
            if through < seen.get(u, INF) and u not in distances:
                seen[u] = through
                tree[u] = arc
                heapq.heappush(heap, (through, next(ages), u))
    return distances, order, tree


def check_settle_order(offsets: Any, heads: Any, weights: Any, rows: list[list[int]]) -> None:
    """Compare one call, with a row for each list of sources, with the textbook."""
    n = len(offsets) - 1
    dtype = np.dtype(np.int32) if weights is None else weights.dtype
    no_path = INF if dtype.kind == "f" else int(np.iinfo(dtype).max)
    found = [textbook(offsets, heads, weights, sources) for sources in rows]
    distances = np.full((len(rows), n), no_path, dtype)
    for row, (known, _, _) in enumerate(found):
        distances[row, list(known)] = list(known.values())
    order = np.full((len(rows), n), -1, np.int32)
    arcs = np.full((len(rows), n), -1, np.int64)
    counts = np.zeros(len(rows), np.int64)
    _native.settle_order(
        offsets, heads, weights, distances, no_path, np.array(rows, np.int32).ravel(),
        order, arcs, counts, 1,
    )  # fmt: skip
    for row, (_, expected, tree) in enumerate(found):
        assert counts[row] == len(expected)
        assert order[row, : counts[row]].tolist() == expected
        assert arcs[row].tolist() == [tree.get(v, -1) for v in range(n)]


@pytest.mark.parametrize("kind", ["hops", "int64", "float64"])
def test_settle_order_is_that_of_a_heap(kind: str) -> None:
    """Rows are not sorted, arcs come twice, weights tie, some vertices cannot be reached."""
    rng = np.random.default_rng(11)
    for n, m in ((1, 2), (2, 3), (12, 20), (40, 60), (40, 200)):
        s, t = np.sort(rng.integers(0, n, m)), rng.integers(0, n, m).astype(np.int32)
        offsets = np.concatenate([[0], np.bincount(s, minlength=n).cumsum()])
        weights = None if kind == "hops" else rng.integers(1, 4, m).astype(kind)
        check_settle_order(offsets, t, weights, [[v] for v in range(n)])
        check_settle_order(offsets, t, weights, rng.integers(0, n, (5, 3)).tolist())
        check_settle_order(offsets, t, weights, [[n - 1, n - 1, 0]])


@pytest.mark.parametrize("kind", ["hops", "int64", "float64"])
def test_the_arcs_of_a_row_end_where_the_next_begins(kind: str) -> None:
    """Vertex 1 is settled long before vertex 2, whose first arc follows its own."""
    offsets = np.array([0, 3, 4, 5, 6, 6, 6, 6])
    heads = np.array([1, 3, 2, 4, 5, 6], np.int32)  # 0 to 1, 3, 2; 1 to 4; 2 to 5; 3 to 6
    weights = None if kind == "hops" else np.ones(6, kind)
    check_settle_order(offsets, heads, weights, [[0]])


def test_an_arc_of_infinite_weight_leads_nowhere() -> None:
    offsets, heads = np.array([0, 2, 3, 3, 3]), np.array([1, 2, 3], np.int32)
    check_settle_order(offsets, heads, np.array([1.0, INF, 2.0]), [[0], [1], [2], [3]])
