"""Weighted betweenness on the CPU: every type, lanes and single searches, ties, zeros, counts."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import _native
from kleene.backends.cpu.betweenness import dijkstra
from kleene.backends.reference.betweenness import brandes
from kleene.backends.task import BetweennessTask

TYPES = [np.int32, np.int64, np.float32, np.float64]
LEVELS = range(len(_native.simd_levels()))


def task_of(g: kl.Graph, **changes: Any) -> BetweennessTask:
    given = {
        "sources": np.arange(g.n, dtype=g.id_dtype), "targets": None, "hops": False, "limit": None,
        "endpoints": False, "arcs": True, "threads": 2,
    }  # fmt: skip
    return BetweennessTask(g, **{**given, **changes})


def check(g: kl.Graph, **changes: Any) -> None:
    """Compare the sums of vertices and arcs with those of the plain method."""
    task = task_of(g, **changes)
    for found, wanted in zip(dijkstra(task), brandes(task), strict=True):
        assert found is not None
        assert wanted is not None
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def ties(dtype: Any, n: int = 60, m: int = 400, seed: int = 1, directed: bool = True) -> kl.Graph:
    """Return a graph with many equally short paths."""
    rng = np.random.default_rng(seed)
    s, t = rng.integers(0, n, (2, m))
    return kl.Graph.from_edges(s, t, rng.integers(1, 4, m).astype(dtype), n=n, directed=directed)


def is_countable(name: str) -> bool:
    g = graphs.graph(name)
    if g.weights is None or not g.m:
        return True
    return bool(g.stats.min_weight >= 0) and name not in ("zero_cycle", "probabilities")


@pytest.mark.parametrize("name", [*filter(is_countable, graphs.names())])
def test_graphs_of_the_zoo(name: str) -> None:
    g = graphs.graph(name)
    check(g)
    check(g, hops=True)
    check(g, endpoints=True, limit=7)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype: Any, directed: bool) -> None:
    g = ties(dtype, directed=directed)
    check(g)
    check(g, limit=4, endpoints=True)
    check(g, targets=np.arange(5, 40, 3))
    check(g, sources=np.arange(3, 33, 2, dtype=np.int32), targets=np.array([7]), endpoints=True)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("threads", [1, 3])
def test_any_number_of_sources(count: int, threads: int) -> None:
    g = ties(np.int32)
    sources = np.random.default_rng(count).permutation(g.n)[:count].astype(np.int32)
    check(g, sources=sources, threads=threads)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", TYPES)
def test_vector_instructions(dtype: Any, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    native = _native.weighted_brandes
    monkeypatch.setattr(_native, "weighted_brandes", lambda *given: native(*given, level=level))
    check(ties(dtype, m=900))


def test_ids_of_64_bits() -> None:
    g = ties(np.int64)
    wanted = dijkstra(task_of(g))
    for dtype in (np.int32, np.int64, np.float64):
        through, along = np.zeros(g.n), np.zeros(g.m)
        assert g.weights is not None
        _native.weighted_brandes(
            g.offsets, g.neighbors.astype(np.int64), g.weights.astype(dtype), np.arange(g.n),
            None, 10**6, False, through, along, 2, None,
        )  # fmt: skip
        np.testing.assert_allclose(through, wanted[0])
        np.testing.assert_allclose(along, wanted[1])


def test_sources_that_share_nothing_are_searched_singly() -> None:
    size = 40  # chains of a directed graph: no batch of sources meets
    at = np.arange(size * 100)
    s = at[at % 100 != 99]
    g = kl.Graph.from_edges(s, s + 1, (at[s] % 7 + 1).astype(np.int32), n=len(at))
    sources = np.arange(0, len(at), 50, dtype=np.int32)
    check(g, sources=sources)
    check(g, sources=sources, limit=9)


def test_lengths_that_need_64_bits() -> None:
    g = ties(np.int64)
    assert g.weights is not None
    heavy = g.reweight(arcs=g.weights * 2**34)
    for found, wanted in zip(dijkstra(task_of(heavy)), dijkstra(task_of(g)), strict=True):
        np.testing.assert_allclose(found, wanted)
    check(heavy, limit=5 * 2**34)


# ---- arcs of length zero ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [4, 40])
def test_zero_arcs_are_taken_in_topological_order(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    rank = rng.permutation(40)  # zero arcs lead up, so they form no cycle
    s, t = rng.integers(0, 40, (2, 300))
    weights = np.where((rank[s] < rank[t]) & (rng.random(300) < 0.6), 0, rng.integers(1, 3, 300))
    g = kl.Graph.from_edges(s, t, weights.astype(dtype), n=40)
    assert (g.weights == 0).sum() > 50
    check(g, sources=np.arange(count, dtype=np.int32))


@pytest.mark.parametrize("directed", [True, False])
def test_a_cycle_of_zeros_is_refused(directed: bool) -> None:
    if directed:
        g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [5, 0, 0, 0])
    else:
        g = kl.Graph.from_edges([0, 1], [1, 2], [5, 0], directed=False)
    with pytest.raises(kl.RequestError, match="weight zero and lies on a cycle"):
        kl.betweenness(g)
    assert kl.betweenness(g, hops=True).values.sum() > 0


@pytest.mark.parametrize("count", [2, 12])
def test_weights_that_sums_swallow(count: int) -> None:
    """1 + 1e-20 is 1: one arc of it is fine, a cycle of them has no number of paths."""
    chain = np.arange(11)
    weights = np.where(chain == 3, 1e-20, 1.0)
    directed = kl.Graph.from_edges(chain, chain + 1, weights)
    check(directed, sources=np.arange(count, dtype=np.int32))
    both = kl.Graph.from_edges(chain, chain + 1, weights, directed=False)
    with pytest.raises(kl.RequestError, match=r"the arc from (3 to 4|4 to 3) adds nothing"):
        dijkstra(task_of(both, sources=np.arange(count, dtype=np.int32)))


# ---- ties and counts ----------------------------------------------------------------------------


def test_floats_tie_by_their_sums_from_the_source() -> None:
    """0.1 + 0.2 is more than 0.3, so only one path is shortest; in tenths both are."""
    ends = [0, 1, 0], [1, 2, 2]
    floats = kl.betweenness(kl.Graph.from_edges(*ends, [0.1, 0.2, 0.3]), normalized=False)
    tenths = kl.betweenness(kl.Graph.from_edges(*ends, [1, 2, 3]), normalized=False)
    assert (floats[1], tenths[1]) == (0, 0.5)


def test_weights_in_float32_are_added_in_float64() -> None:
    weights = np.array([2**24, 1, 2**24], np.float32)  # 2^24 + 1 is no float32
    b = kl.betweenness(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], weights), normalized=False)
    assert b[1] == 0


def diamonds(count: int) -> kl.Graph:
    """Return a chain of diamonds: 2 to the power of ``count`` shortest paths from end to end."""
    first = 3 * np.arange(count)
    s = np.concatenate([first, first, first + 1, first + 2])
    t = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    return kl.Graph.from_edges(s, t, np.full(len(s), 2, np.int32), directed=False)


@pytest.mark.parametrize("count", [400, 899, 900, 901, 1300])
def test_counts_beyond_doubles(count: int) -> None:
    g = diamonds(count)
    sources = np.array([0, 3 * count], np.int32)
    check(g, sources=sources)
    through, _ = dijkstra(task_of(g, sources=sources[:1], targets=sources[1:]))
    np.testing.assert_allclose(through[1:-1:3], 0.5)
    np.testing.assert_allclose(through[3:-1:3], 1.0)


def test_agrees_with_networkx_on_rome() -> None:
    g = kl.datasets.rome()
    sources = g.label(np.arange(0, g.n, 400))
    ours = kl.betweenness(g, sources=sources, normalized=False, edges=True, method="dijkstra")
    theirs = nx.betweenness_centrality_subset(
        g.to_networkx(), sources.tolist(), g.label(np.arange(g.n)).tolist(), weight="weight"
    )
    np.testing.assert_allclose(ours.values, [theirs[v] for v in g.label(np.arange(g.n)).tolist()])
    ours.verify(sample=2)


@given(st.data())
def test_against_the_plain_method(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    ends = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(ends, ends, st.integers(0, 3)), max_size=40))
    s, t, w = (np.array([arc[i] for arc in arcs], int) for i in range(3))
    w = np.where(s < t, w, np.maximum(w, 1))  # zero arcs lead up: no cycle
    directed = data.draw(st.booleans())
    dtype = data.draw(st.sampled_from(TYPES))
    g = kl.Graph.from_edges(s, t, (w if directed else np.maximum(w, 1)).astype(dtype), n=n,
                            directed=directed)  # fmt: skip
    some = st.none() | st.lists(ends, unique=True, min_size=1).map(np.array)
    check(
        g, limit=data.draw(st.none() | st.integers(0, 6)), endpoints=data.draw(st.booleans()),
        threads=data.draw(st.integers(1, 3)), targets=data.draw(some),
        sources=np.arange(data.draw(st.integers(1, n)), dtype=np.int32),
    )  # fmt: skip


# ---- the call -----------------------------------------------------------------------------------


def test_negative_weights_are_refused() -> None:
    with pytest.raises(kl.RequestError, match="non-negative weights"):
        kl.betweenness(kl.Graph.from_edges([0, 1], [1, 2], [1, -1]))


def test_progress_counts_sources() -> None:
    g, seen = ties(np.int32), []
    kl.betweenness(g, method="dijkstra", progress=lambda *at: seen.append(at))
    assert seen[-1] == (g.n, g.n)


def test_a_progress_function_may_stop_it() -> None:
    def stop(*_: int) -> None:
        raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        kl.betweenness(ties(np.int32, 600, 4000), method="dijkstra", progress=stop)


def test_the_number_of_threads_makes_no_difference() -> None:
    g = ties(np.float64, 300, 2000)
    one, three = (kl.betweenness(g, method="dijkstra", threads=k, edges=True) for k in (1, 3))
    np.testing.assert_allclose(one.values, three.values, rtol=1e-12)
    np.testing.assert_allclose(one.arcs, three.arcs, rtol=1e-12)


def test_a_limit_bounds_the_work_of_a_source() -> None:
    """Whole searches from all 160,000 vertices would take many minutes; these take a second."""
    program = (
        "import kleene as kl\n"
        "g = kl.generate.grid(400, 400, weights=(1, 9), seed=1)\n"
        "print(kl.betweenness(g, limit=20, method='dijkstra', normalized=False).values.max() > 10)"
    )
    site = ["-S"] if sys.flags.no_site else []  # as the sanitizers start Python
    command = [sys.executable, *site, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout == "True\n"
