"""Values of pairs: every semiring and type against plain elimination, on every level and thread."""

from __future__ import annotations

import pickle
from typing import Any

import graphs
import numpy as np
import prepared_reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prepared_values import assert_same, by_matrix, in_any_order, pairs_of, unpacked

import kleene as kl
from kleene import _native
from kleene.backends.semiring import SEMIRINGS
from kleene.prepared import customization as module
from kleene.prepared.customization import Customization, customize, find_pair_arcs, lengths
from kleene.prepared.elimination import Elimination, eliminate

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
CYCLES = graphs.WITH_NEGATIVE_CYCLE | {"negative_cycle_elsewhere"}
CASES = [
    (name, semiring)
    for name in graphs.names()
    for semiring in SEMIRINGS
    if not (semiring == "min_plus" and name in CYCLES)
    and not (semiring == "max_times" and name not in ("probabilities", "zero_weights"))
]


def answer_dtype(g: kl.Graph, semiring: str) -> np.dtype[Any]:
    return kl.explain(g, "closure", semiring=semiring).dtype


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "semiring"), CASES)
def test_named_graphs(name: str, semiring: str) -> None:
    g = graphs.graph(name)
    dtype = answer_dtype(g, semiring)
    for seed in range(2):
        e = eliminate(g, np.random.default_rng(seed).permutation(g.n))
        expected = by_matrix(g, e, semiring, dtype)
        for threads in (1, 2):
            found = customize(e, g, semiring, dtype=dtype, threads=threads)
            assert_same(found, expected)
        assert found.graph is g


def dense_enough(kind: str, directed: bool = True, n: int = 150) -> tuple[kl.Graph, Elimination]:
    """Return a graph whose elimination has large supernodes and small ones."""
    rng = np.random.default_rng(3)
    tails = np.concatenate([rng.integers(0, n, 3 * n), np.arange(40).repeat(40)])
    heads = np.concatenate([rng.integers(0, n, 3 * n), np.tile(np.arange(40), 40)])
    weights: Any = rng.integers(1, 1000, len(tails))
    if kind == "negative":
        height = rng.integers(0, 5000, n)
        weights = weights + height[tails] - height[heads]
    if kind == "float":
        weights = weights / 1024
    g = kl.Graph.from_edges(tails, heads, weights, n=n, directed=directed)
    order = np.concatenate([rng.permutation(np.arange(40, n)), rng.permutation(40)])
    return g, eliminate(g, order)


WIDE = [
    ("min_plus", "plain", np.int32),
    ("min_plus", "plain", np.int64),
    ("min_plus", "negative", np.int32),
    ("min_plus", "negative", np.int64),
    ("min_plus", "float", np.float32),
    ("min_plus", "float", np.float64),
    ("max_min", "plain", np.int32),
    ("max_min", "negative", np.int64),
    ("max_min", "float", np.float32),
    ("max_min", "float", np.float64),
    ("max_times", "float", np.float32),
    ("max_times", "float", np.float64),
    ("boolean", "plain", np.bool_),
]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("semiring", "kind", "dtype"), WIDE)
@pytest.mark.parametrize("level", range(len(_native.simd_levels())))
def test_every_level(level: int, semiring: str, kind: str, dtype: Any, directed: bool) -> None:
    if kind == "negative" and not directed and semiring == "min_plus":
        pytest.skip("every negative edge is a negative cycle")
    g, e = dense_enough(kind, directed)
    expected = by_matrix(g, e, semiring, dtype)
    arcs = find_pair_arcs(e, g, 1)
    weights = lengths(g, expected.up.dtype)
    for threads in (1, 3):
        up = np.empty_like(expected.up)
        down = np.empty_like(up) if directed else up
        middles = np.empty((2, e.arcs), dtype=np.int32)
        shared = (semiring, expected.negative, up, down)
        begin = (*module._arrays(e), module._supernodes(e), arcs, weights)
        _native.prepared_customize(*begin, *shared, threads, level=level)
        np.testing.assert_array_equal(up, expected.up)
        np.testing.assert_array_equal(down, expected.down)
        _native.prepared_find_middles(
            *begin, *shared, middles[0], middles[0 if not directed else 1], threads, level=level
        )
        made = Customization(semiring, np.dtype(dtype), expected.negative, up, down, g)
        np.testing.assert_array_equal(middles[: 1 + directed], made.middles(e)[: 1 + directed])
    if level == 0:
        assert_middles(g, e, made)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_do_not_matter(threads: int) -> None:
    g = kl.generate.grid(40, 40, weights=(0.5, 1.5), seed=1)
    e = eliminate(g)
    alone = customize(e, g, dtype=np.float64, threads=1)
    found = customize(e, g, dtype=np.float64, threads=threads)
    np.testing.assert_array_equal(found.up, alone.up)
    assert found.symmetric


def test_a_symmetric_graph_has_one_array() -> None:
    g = graphs.graph("grid")
    e = in_any_order(g)
    found = customize(e, g, dtype=np.int32)
    assert found.symmetric
    assert found.up is found.down
    twins = kl.Graph.from_csr(g.offsets, g.neighbors, g.weights)  # not known to be symmetric
    assert twins.directed
    assert customize(e, twins, dtype=np.int32).symmetric
    one_way = g.reweight(arcs=np.append(g.weights[:-1], 1000))
    assert not customize(e, one_way, dtype=np.int32).symmetric
    expected = prepared_reference.customize(one_way, e, dtype=np.int32)
    assert_same(customize(e, one_way, dtype=np.int32), expected)


@given(st.data())
def test_triangle_inequality(data: Any) -> None:
    n = data.draw(st.integers(1, 12))
    arcs = data.draw(
        st.lists(st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(0, 9)), max_size=40)
    )
    tails, heads, weights = zip(*arcs, strict=True) if arcs else ((), (), ())
    g = kl.Graph.from_edges(tails, heads, np.array(weights, np.int64), n=n)
    e = in_any_order(g, data.draw(st.integers(0, 99)))
    found = customize(e, g, dtype=np.int64)
    value = {}
    for i, (low, high) in enumerate(pairs_of(e)):
        value[low, high], value[high, low] = int(found.up[i]), int(found.down[i])
    for u, w in value:
        for v in range(min(u, w)):
            if (u, v) in value and (v, w) in value:
                assert value[u, w] <= value[u, v] + value[v, w]
    assert_same(found, prepared_reference.customize(g, e, dtype=np.int64))


# ---- middles -------------------------------------------------------------------------------------


def assert_middles(g: kl.Graph, e: Elimination, made: Customization) -> None:
    """Check that every pair is the path that its middles unpack to, and its lowest middle."""
    algebra = SEMIRINGS[made.semiring]
    weights = np.ones(g.m) if g.weights is None or made.dtype.kind == "b" else g.weights
    arcs = dict(zip(graphs.arcs_of(g), weights.astype(made.up.dtype), strict=True))
    middles, last = made.middles(e), made.last_vertices(e)
    none = algebra.zero(made.up.dtype if made.dtype.kind == "i" else made.dtype)
    if made.semiring == "min_plus" and made.dtype.kind == "i":
        none //= 2
    for i, (low, high) in enumerate(pairs_of(e)):
        for side, (tail, head) in enumerate(((low, high), (high, low))):
            value = (made.up, made.down)[side][i]
            ends = (int(e.order[tail]), int(e.order[head]))
            if value == none:
                assert middles[side][i] == -1
                continue
            assert (middles[side][i] == -1) == (arcs.get(ends) == value)
            path = [int(e.order[v]) for v in unpacked(e, middles, tail, head)]
            assert last[side][i] == path[-2]
            if made.dtype.kind != "f":
                assert len(set(path)) == len(path)


@pytest.mark.parametrize(("name", "semiring"), CASES)
def test_middles(name: str, semiring: str) -> None:
    g = graphs.graph(name)
    e = in_any_order(g)
    made = customize(e, g, semiring, dtype=answer_dtype(g, semiring))
    assert_middles(g, e, made)
    assert made.middles(e) is made.middles(e)
    assert made.last_vertices(e) is made.last_vertices(e)


def test_middles_are_the_lowest() -> None:
    """On a graph of ties, the middle is the lowest vertex over which the path is as short."""
    g = kl.generate.grid(5, 5)
    e = in_any_order(g)
    made = customize(e, g, dtype=np.int32)
    place = {pair: i for i, pair in enumerate(pairs_of(e))}
    up, (middles, _) = made.up, made.middles(e)
    for (low, high), i in place.items():
        ways = [
            v
            for v in range(low)
            if {(v, low), (v, high)} <= place.keys()
            and up[place[v, low]] + up[place[v, high]] == up[i]
        ]
        direct = up[i] == 1
        assert middles[i] == (-1 if direct or not ways else ways[0])


def test_middles_without_the_graph() -> None:
    """Of values alone, an arc is where no triangle is as good."""
    g = graphs.graph("grid")
    e = in_any_order(g)
    made = customize(e, g, dtype=np.int32)
    alone = Customization(made.semiring, made.dtype, made.negative, made.up, made.down)
    for found, right in zip(alone.middles(e), made.middles(e), strict=True):
        differ = found != right
        assert (right[differ] == -1).all()
        for i in np.flatnonzero(differ):
            assert unpacked(e, alone.middles(e), *pairs_of(e)[i])


# ---- new weights ---------------------------------------------------------------------------------


def test_new_weights_use_the_same_arcs() -> None:
    g = graphs.graph("grid")
    e = in_any_order(g)
    customize(e, g, dtype=np.int32)
    kept = e.__dict__["_pair_arcs"]
    other = kl.Graph.from_csr(g.offsets.copy(), g.neighbors.copy(), g.weights[::-1])
    assert other.offsets is not g.offsets
    assert_same(
        customize(e, other, dtype=np.int32), prepared_reference.customize(other, e, dtype=np.int32)
    )
    unweighted = g.reweight()
    assert_same(
        customize(e, unweighted, dtype=np.int32), prepared_reference.customize(unweighted, e)
    )
    assert e.__dict__["_pair_arcs"] is kept


def test_arcs_may_be_missing() -> None:
    g = graphs.graph("grid")
    e = in_any_order(g)
    whole = customize(e, g, dtype=np.int32)
    tails, heads, weights = g.coo
    for kept in (slice(0, None, 2), slice(0, 0)):
        fewer = kl.Graph.from_edges(tails[kept], heads[kept], weights[kept], n=g.n)
        assert_same(
            customize(e, fewer, dtype=np.int32),
            prepared_reference.customize(fewer, e, dtype=np.int32),
        )
    assert_same(customize(e, g, dtype=np.int32), whole)


def test_arcs_that_were_not_there() -> None:
    g = graphs.graph("grid")
    e = eliminate(g, np.arange(g.n))
    labels = [f"v{i}" for i in range(g.n)]
    more = kl.Graph.from_edges([0], [g.n - 1], n=g.n, labels=labels)
    with pytest.raises(kl.GraphError, match=r"'v0' to 'v107'.*prepare"):
        customize(e, more, dtype=np.int32)
    with pytest.raises(kl.GraphError, match="108 vertices"):
        customize(e, graphs.graph("one_arc"), dtype=np.int32)


def test_pickles() -> None:
    g = graphs.graph("grid")
    e = in_any_order(g)
    made = customize(e, g, dtype=np.int32)
    made.last_vertices(e)
    same, again = pickle.loads(pickle.dumps((e, made)))
    assert again.symmetric
    np.testing.assert_array_equal(again.up, made.up)
    np.testing.assert_array_equal(again.middles(same)[0], made.middles(e)[0])


# ---- long runs -----------------------------------------------------------------------------------


def long_run() -> tuple[kl.Graph, Elimination]:
    """Return a graph of some hundred million triangles."""
    rng = np.random.default_rng(0)
    n = 1500
    g = kl.Graph.from_edges(rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), rng.random(4 * n))
    return g, eliminate(g, rng.permutation(g.n), most_bytes=2**32)


def test_progress_and_interruption() -> None:
    g, e = long_run()
    seen: list[tuple[int, int]] = []
    customize(e, g, dtype=np.float64, threads=2, progress=lambda *at: seen.append(at))
    assert seen == sorted(seen)
    assert seen[-1] == (e.arcs, e.arcs)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            customize(e, g, dtype=np.float64, threads=threads, progress=stop)
