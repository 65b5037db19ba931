"""Sums that no type holds are refused before anything is computed, by one rule for all methods."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs
from test_methods import ROWS, label, solve

import kleene as kl
from kleene import csgraph
from kleene.graph.checks import beyond, holds, safe_length
from kleene.registry import Method

ADDING = [row for row in ROWS if row.problem != "bfs" and "min_plus" in row.semirings]
TAKES_NEGATIVE = [row for row in ADDING if row.negative]
HUGE = 1e308


def chain(weights: Any, dtype: Any = np.float64) -> kl.Graph:
    count = len(weights)
    return kl.Graph.from_edges(range(count), range(1, count + 1), np.array(weights, dtype=dtype))


@pytest.mark.parametrize("row", ADDING, ids=label)
def test_sums_beyond_float64_are_refused(row: Method) -> None:
    signs = [(1, 1, 1), (1, 1, -1), (-1, -1, -1)] if row.negative else [(1, 1, 1)]
    for sign in signs:
        for dtype in (None, "float64"):
            with pytest.raises(kl.PathOverflowError, match=r"safe up to 4.49423e\+307.*no arc"):
                solve(row, chain([s * HUGE for s in sign]), "min_plus", dtype=dtype)
    with pytest.raises(kl.RequestError, match="too narrow: path values"):
        solve(row, chain([1e30, 1e38], np.float32), "min_plus", dtype="float32")


@pytest.mark.parametrize("row", ADDING, ids=label)
def test_float32_is_widened(row: Method) -> None:
    r = solve(row, chain([3e38, 3e38, 3e38], np.float32), "min_plus", predecessors=True)
    assert r.distances.dtype == np.float64
    assert r.distances[0].tolist() == pytest.approx([0, 3e38, 6e38, 9e38])
    r.verify()


@pytest.mark.parametrize("row", ADDING, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_that_is_taken(row: Method, dtype: Any) -> None:
    """What the rule lets through overflows nowhere: sums of two paths, potentials, rising sums."""
    most = float(np.finfo(dtype).max) / 4
    for n in (3, 6):
        each = most / n * 0.999
        weights = np.full(n - 1, each, dtype)
        ends = np.arange(n - 1), np.arange(1, n)
        g = kl.Graph.from_edges(*ends, weights, directed=False)
        r = solve(row, g, "min_plus", predecessors=True)
        assert r.distances.dtype == dtype
        assert r.reached.all()
        r.verify()
        if not row.negative:
            continue
        weights[n // 2] *= -1
        r = solve(row, kl.Graph.from_edges(*ends, weights), "min_plus", predecessors=True)
        assert (r.reached == np.triu(np.ones((n, n), bool))).all()
        r.verify()


@pytest.mark.parametrize("row", TAKES_NEGATIVE, ids=label)
def test_a_negative_cycle_of_huge_weights_is_found(row: Method) -> None:
    rng = np.random.default_rng(8)
    for n in (2, 5, 12):
        order = rng.permutation(n)
        weights = np.full(n, 1e307 / n)
        weights[1] = -2e307
        g = kl.Graph.from_edges(order, np.roll(order, -1), weights)
        with pytest.raises(kl.NegativeCycleError) as caught:
            solve(row, g, "min_plus")
        assert sorted(caught.value.cycle) == list(range(n))


def test_widths_and_hops_are_no_sums() -> None:
    g = chain([HUGE, 1.5e308, HUGE])
    for device in ("cpu", "reference"):
        widths = kl.closure(g, "max_min", device=device)
        assert widths.values[0].tolist() == [np.inf, HUGE, HUGE, HUGE]
        widths.verify()
        assert kl.bfs(g, 0, device=device).distances.tolist() == [0, 1, 2, 3]
        assert kl.closure(g, device=device).values[0].all()


def test_integers_say_the_same() -> None:
    g = chain([2**62] * 3, np.int64)
    with pytest.raises(kl.PathOverflowError, match=r"up to 4.61169e\+18; pass dtype='float64'"):
        kl.sssp(g, 0)
    assert kl.sssp(g, 0, dtype="float64").distances[-1] == 3 * 2.0**62


@pytest.mark.parametrize(
    "call",
    [
        kl.diameter, kl.closeness, kl.wiener_index, kl.distance_histogram, kl.reduce_distances,
        lambda g: kl.path_counts(g, 0), lambda g: kl.within(g, [0], 5),
        lambda g: kl.loads(g, [(0, 1)]),
    ],
)  # fmt: skip
def test_advice_names_what_the_call_takes(call: Any) -> None:
    g = chain([2**61] * 3, np.int64).symmetrise()
    with pytest.raises(kl.PathOverflowError, match="make the weights float64") as caught:
        call(g)
    assert "dtype" not in str(caught.value)
    assert "inf" not in str(caught.value)
    call(g.reweight(arcs=g.weights.astype(np.float64)))


def test_advice_of_products_speaks_of_entries() -> None:
    huge = np.array([[2**62]])
    with pytest.raises(kl.PathOverflowError, match="entries of A and B") as caught:
        kl.product(huge, huge)
    assert "arc" not in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "semiring", "message"),
    [
        (5 * 10**18, 0, "min_plus", "reach 5e+18, and int64 is safe up to 4.61169e+18;"),
        (-5 * 10**18, 0, "max_plus", "reach -5e+18, and int64 is safe down to -4.61169e+18;"),
        (-5 * 10**18, 0, "min_plus", "reach -5e+18, and int64 is safe down to -4.61169e+18;"),
        (2**62 - 1, 0, "min_plus", f"reach {2**62 - 1}, and int64 is safe up to {2**62 - 2};"),
        (1e308, 1e308, "min_plus", "exceed the range of float64, which is safe up to 1.79769e+308"),
        (-1e308, -1e308, "min_plus", "of float64, which is safe down to -1.79769e+308"),
    ],
)
def test_products_say_what_is_safe(a: Any, b: Any, semiring: Any, message: str) -> None:
    with pytest.raises(kl.PathOverflowError, match=re.escape(message)):
        kl.product(np.array([[a]]), np.array([[b]]), semiring)


def test_products_say_what_is_safe_beside_other_entries() -> None:
    a, b = np.array([[-4 * 10**18, 10**18]]), np.zeros((2, 1), np.int64)
    message = "reach 1e+18, and int64 is safe up to 6.11686e+17 beside entries of -4e+18"
    with pytest.raises(kl.PathOverflowError, match=re.escape(message)):
        kl.product(a, b)
    message = "reach -1e+18, and int64 is safe down to -6.11686e+17 beside entries of 4e+18"
    with pytest.raises(kl.PathOverflowError, match=re.escape(message)):
        kl.product(-a, b, "max_plus")
    a[0, 1] = 611686018427387902  # 2^62 - 2, less the lowest entry
    assert kl.product(a, b).item() == a[0, 0]
    a[0, 1] += 1
    with pytest.raises(kl.PathOverflowError, match="up to 611686018427387902 beside"):
        kl.product(a, b)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_the_length_that_messages_call_safe_is_the_limit(dtype: str) -> None:
    kind = np.dtype(dtype)
    safe = safe_length(kind)
    assert holds(kind, safe * 0.999999 if kind.kind == "f" else safe)
    above = np.nextafter(safe, np.inf) if kind.kind == "f" else safe + 1
    assert not holds(kind, above)
    assert f"{dtype} is safe up to {safe}" in beyond(kind, above)
    assert f"{dtype} is safe up to {safe:g}" in beyond(kind, 1.5 * safe)


@pytest.mark.parametrize("row", ADDING, ids=label)
@pytest.mark.parametrize("length", [2**30 - 2, 2**30 - 1, 2**30])
def test_integers_about_half_of_32_bits(row: Method, length: int) -> None:
    """Half of the largest value stands for "no path", also where 32-bit values are kept."""
    r = solve(row, chain([length - 5, 5], np.int32), "min_plus", predecessors=True)
    assert r.distances[0].tolist() == [0, length - 5, length]
    assert r.distances.dtype == (np.int32 if length < 2**30 - 1 else np.int64)
    r.verify()


@pytest.mark.parametrize("length", [2**30 - 2, 2**30 - 1, 2**30])
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_prepared_graphs_about_half_of_32_bits(length: int, dtype: str | None) -> None:
    p = kl.prepare(chain([length - 5, 5], np.int32), dtype=dtype)
    pairs = kl.sssp(p, pairs=[(0, 2), (2, 0), (0, 1)])
    assert pairs.floats.tolist() == [length, np.inf, length - 5]
    pairs.verify()
    assert p.trees([0, 2]).floats.tolist() == [[0, length - 5, length], [np.inf, np.inf, 0]]
    assert p.matrix([2, 0], [0, 2]).floats.tolist() == [[np.inf, 0], [0, length]]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("ends", [([2, 2, 0], [0, 1, 1]), ([1, 1, 3], [2, 0, 1])])
def test_a_search_against_the_arcs_keeps_the_type(
    k: int, ends: tuple[list[int], list[int]]
) -> None:
    """The bound on paths adds up what leaves each vertex: against the arcs it is another one."""
    g = kl.Graph.from_edges(*ends, np.array([2**29, 2**29, 1], np.int32), n=5)
    fits = [holds(np.dtype(np.int32), each.stats.path_bound) for each in (g, g.transpose())]
    near = kl.nearest(g, [1], k=k)
    assert fits == [near.distances.dtype == np.int32, near.distances.dtype != np.int32]
    assert str(near.distances.dtype) == near.plan.dtype
    no_path = np.iinfo(near.distances.dtype).max
    wanted = {0: 1, 1: 0, 2: 2**29} if ends[0][0] == 2 else {1: 0, 3: 1}
    assert near.distances.reshape(5, k)[:, 0].tolist() == [wanted.get(v, no_path) for v in range(5)]
    near.verify()


def test_plans_say_what_is_safe() -> None:
    g = chain([2**30, 2**29], np.int32)
    message = "path values may reach 1.61061e+09, and int32 is safe up to 1.07374e+09"
    assert message in str(kl.explain(g, "sssp"))
    with pytest.raises(kl.RequestError, match=re.escape(f"{message}; leave out dtype")):
        kl.sssp(g, 0, dtype="int32")
    g = chain([2**61, 2**61], np.int64)
    safe = f"reach {2**62}, and int64 is safe up to {2**62 - 1}"
    for call in (kl.closeness, kl.betweenness, lambda g: kl.sssp(g, 0), kl.prepare):
        with pytest.raises(kl.PathOverflowError, match=safe):
            call(g)
    assert kl.sssp(chain([2**61, 2**61 - 1], np.int64), 0).distances[-1] == 2**62 - 1


def test_widths_use_the_whole_range() -> None:
    """They are not added, so that only the ends of the type are not widths."""
    assert kl.closure(chain([2**63 - 2], np.int64), "max_min").values[0, 1] == 2**63 - 2
    for weight, safe in (
        (2**63 - 1, f"up to {2**63 - 2}"),
        (-(2**63), f"down to {-(2**63) + 2}"),
    ):
        with pytest.raises(kl.PathOverflowError, match=f"reach {weight}, and int64 is safe {safe}"):
            kl.closure(chain([weight], np.int64), "max_min")


def test_a_heavy_arc_that_no_path_repeats_is_taken() -> None:
    """The bound counts one arc out of every vertex, not n times the heaviest."""
    weights = np.ones(200)
    weights[7] = 4e307
    assert kl.sssp(chain(weights), 0).distances[-1] == 4e307


def test_an_infinite_weight_is_no_arc() -> None:
    g = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [1.0, 2.0, np.inf])
    assert kl.sssp(g, 0).distances.tolist() == [0, 1, 3]


def test_calls_that_use_searches_refuse_too() -> None:
    with pytest.raises(kl.PathOverflowError):
        kl.k_shortest(chain([HUGE] * 3), 0, 3, 2)
    with pytest.raises(kl.PathOverflowError):
        kl.explain(chain([HUGE] * 3), "apsp")
    matrix = np.full((3, 3), HUGE)
    kept = matrix.copy()
    with pytest.raises(kl.PathOverflowError):
        kl.close_distances(matrix)
    assert (matrix == kept).all()
    narrow = np.full((3, 3), 3e38, np.float32)
    with pytest.raises(kl.RequestError, match="too narrow: path values"):
        kl.close_distances(narrow)
    assert (narrow == np.float32(3e38)).all()
    apart = np.full((3, 3), HUGE)
    with pytest.raises(kl.PathOverflowError):
        kl.geodesic_distances(apart, n_neighbors=1, metric="precomputed")


def test_encodings_refuse_too() -> None:
    g = chain([HUGE] * 3)
    with pytest.raises(kl.PathOverflowError):
        kl.distance_encodings([g], weighted=True, dtype="float64")
    g = chain([2e38] * 3)
    with pytest.raises(kl.RequestError, match=r"up to 8.50706e\+37; pass dtype='float64'"):
        kl.distance_encodings([g], weighted=True)
    assert kl.distance_encodings([g], weighted=True, dtype="float64")[0, 0, 3] == 6e38
    near = kl.distance_encodings([g], weighted=True, max_distance=5)
    assert near[0, 0].tolist() == [0, 5, 5, 5]
    lost = kl.distance_encodings([[[0], [1]]], n=[2], weighted=True, weights=[[np.inf]])
    assert lost[0, 0].tolist() == [0, np.inf]


GRAPHS = {
    "sums": ([HUGE] * 3, [0, 1, 2], [1, 2, 3]),
    "back": ([HUGE, HUGE, -HUGE, 1.0], [0, 1, 2, 0], [1, 2, 3, 3]),
    "no_arcs": ([HUGE, 1.0, 1.0, HUGE], [0, 1, 2, 3], [3, 2, 3, 1]),
}


@pytest.mark.filterwarnings("ignore:Graph has negative weights")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("directed", [True, False])
def test_csgraph_answers_as_scipy_does(name: str, directed: bool) -> None:
    weights, tails, heads = GRAPHS[name]
    ends = np.array(tails, np.int32), np.array(heads, np.int32)
    graph = sp.csr_array((weights, ends), shape=(4, 4))
    calls = ["shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"]
    if min(weights) < 0 and not directed:  # a negative cycle
        return
    for call in calls:
        if (name, directed) == ("sums", False) and call in ("bellman_ford", "johnson"):
            continue  # SciPy reports a negative cycle there
        for given in (graph, graph.toarray()):
            ours, want = (
                getattr(module, call)(given, directed=directed, return_predecessors=True)
                for module in (csgraph, theirs)
            )
            for a, b in zip(ours, want, strict=True):
                np.testing.assert_array_equal(a, b)
        with pytest.raises(kl.KleeneError):
            getattr(csgraph, call)(graph, directed=directed, dtype="float32")
    if min(weights) > 0:
        near = [
            m.dijkstra(graph, indices=[0, 2], limit=9, min_only=True) for m in (csgraph, theirs)
        ]
        np.testing.assert_array_equal(*near)
        paths = [m.yen(graph, 0, 3, 3, directed=directed) for m in (csgraph, theirs)]
        np.testing.assert_array_equal(*paths)


def test_networkx_answers_itself() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, HUGE), (1, 2, HUGE)])
    with pytest.raises(NotImplementedError, match="kleene"):
        nx.single_source_dijkstra_path_length(graph, 0, backend="kleene")
    with nx.config(backend_priority=["kleene"]):
        assert nx.single_source_dijkstra_path_length(graph, 0) == {0: 0, 1: HUGE, 2: np.inf}
