"""Incoming arcs that a graph gets by itself: by symmetry, or once searches have paid for them."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene import _native
from kleene.graph import incoming
from kleene.graph.incoming import IncomingArcs

SYMMETRIC = "they are the outgoing ones"


def rmat(directed: bool, **options: Any) -> kl.Graph:
    """Return a graph that is large enough, stored as one that is directed."""
    made = kl.generate.rmat(12, 16, seed=5, directed=directed, **options)
    return kl.Graph.from_csr(made.offsets, made.neighbors, made.weights)


def hub(g: kl.Graph) -> int:
    return int(np.diff(g.offsets).argmax())


# ---- symmetry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, (1, 9), (0.25, 0.75)])
def test_the_first_search_sees_that_arcs_lead_both_ways(weights: Any) -> None:
    g = kl.Graph.from_scipy(rmat(False, weights=weights).to_scipy())
    before = repr(g)
    assert not g.has_csc
    assert "the outgoing ones if all arcs lead both ways" in str(kl.explain(g, "bfs"))
    first, second = kl.bfs(g, hub(g)), kl.bfs(g, hub(g))
    assert SYMMETRIC in str(first.plan)
    assert g.csc.neighbors is g.neighbors
    assert g.csc.weights is g.weights
    assert "looks at a small part of the arcs" in str(second.plan)
    assert SYMMETRIC in str(kl.explain(g, "bfs"))
    first.verify()
    second.verify()
    assert (g.directed, repr(g)) == (True, before)
    again = pickle.loads(pickle.dumps(g))
    assert again.equals(g)
    assert not again.has_csc


@pytest.mark.parametrize("spoil", ["an arc", "a weight"])
def test_one_arc_without_a_twin_is_seen(spoil: str) -> None:
    g = rmat(False, weights=(1, 9))
    sources, targets, weights = (array.copy() for array in g.coo)
    if spoil == "a weight":
        weights[12345] += 1
    else:
        sources, targets, weights = (np.delete(a, 12345) for a in (sources, targets, weights))
    odd = kl.Graph.from_edges(sources, targets, weights, n=g.n, keep_rows=False)
    result = kl.bfs(odd, hub(odd))
    assert not odd.has_csc
    assert SYMMETRIC not in str(result.plan)
    result.verify()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_pass_over_arcs_agrees_with_the_search_for_twins(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(-1, 2))
    arcs = data.draw(st.lists(ends, max_size=12))
    if data.draw(st.booleans()):
        arcs += [(v, u, w) for u, v, w in arcs]
    dtype = data.draw(st.sampled_from([np.float32, np.float64, np.int32, np.int64]))
    columns = np.array(arcs, dtype=np.int64).reshape(-1, 3).T
    weights = columns[2].astype(dtype) if data.draw(st.booleans()) else None
    g = kl.Graph.from_edges(columns[0], columns[1], weights, n=n)
    seed, threads = data.draw(st.integers(0, 2**64 - 1)), data.draw(st.integers(1, 3))
    for ids in (np.int32, np.int64):
        csr = g.offsets, g.neighbors.astype(ids), g.weights
        seems = _native.csr_seems_symmetric(*csr, seed, threads)
        assert seems == _native.csr_is_symmetric(*csr, threads)


def test_zeros_of_either_sign_are_the_same_weight() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 0], [0.0, -0.0])
    assert _native.csr_seems_symmetric(*g.csr, 1, 1)
    assert _native.csr_is_symmetric(*g.csr, 1)


# ---- searches that pay --------------------------------------------------------------------------


def test_they_are_made_once_searches_have_paid() -> None:
    g = rmat(True)
    kl.bfs(g, hub(g))
    account = IncomingArcs.of(g)
    assert (account.searches, g.has_csc) == (1, False)
    account.seconds = 0.0
    assert "(0 s so far)" in str(kl.explain(g, "bfs"))
    kl.bfs(g, hub(g))
    assert not g.has_csc
    account.record(60.0)
    paid = kl.bfs(g, hub(g))
    assert "made before search 4" in str(paid.plan)
    assert g.has_csc
    assert np.array_equal(g.csc.neighbors, g.transpose().neighbors)
    assert "made before search 4" in str(kl.explain(g, "bfs"))
    assert "made before" not in str(kl.bfs(g, hub(g)).plan)
    paid.verify()


def test_other_methods_and_thin_or_small_graphs_are_left_alone() -> None:
    g = rmat(False)
    kl.bfs(g, hub(g), method="frontier")
    assert not g.has_csc
    assert "incoming arcs:" not in str(kl.explain(g, "bfs", method="frontier"))
    grid = kl.generate.grid(200, 200)
    roads = kl.Graph.from_csr(grid.offsets, grid.neighbors)
    small = kl.Graph.from_edges([0, 1], [1, 0])
    for left in (roads, small):
        kl.bfs(left, 0)
        assert not left.has_csc
        assert "incoming arcs:" not in str(kl.explain(left, "bfs"))


def test_memory_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    g = rmat(True)
    kl.bfs(g, hub(g))
    IncomingArcs.of(g).record(60.0)
    monkeypatch.setattr(incoming, "available_memory", lambda: 2**20)
    assert "not made, they take" in str(kl.bfs(g, hub(g)).plan)
    assert not g.has_csc


def _core(**functions: Any) -> SimpleNamespace:
    """Return the native functions that incoming arcs need, some of them replaced."""
    names = ("csr_seems_symmetric", "csr_transpose")
    return SimpleNamespace(**{**{name: getattr(_native, name) for name in names}, **functions})


def test_a_search_goes_on_where_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    g = rmat(True)
    kl.bfs(g, hub(g))
    IncomingArcs.of(g).record(60.0)
    monkeypatch.setattr(incoming, "_native", _core(csr_transpose=fail))
    result = kl.bfs(g, hub(g))
    assert "memory ran out" in str(result.plan)
    result.verify()


@pytest.mark.parametrize("function", ["csr_seems_symmetric", "csr_transpose"])
def test_after_ctrl_c_the_next_search_tries_again(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    g = rmat(True)
    IncomingArcs.of(g).record(60.0)
    monkeypatch.setattr(incoming, "_native", _core(**{function: interrupt}))
    with pytest.raises(KeyboardInterrupt):
        kl.bfs(g, hub(g))
    assert not g.has_csc
    monkeypatch.setattr(incoming, "_native", _native)
    assert "made before search" in str(kl.bfs(g, hub(g)).plan)


def test_threads_that_search_at_once_make_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    started = threading.Barrier(4)

    def count(*arguments: Any) -> Any:
        made.append(1)
        return _native.csr_transpose(*arguments)

    monkeypatch.setattr(incoming, "_native", _core(csr_transpose=count))
    g = rmat(True)
    want = kl.bfs(g, hub(g), method="queue").distances
    IncomingArcs.of(g).record(60.0)
    wrong = []

    def search() -> None:
        started.wait()
        if not np.array_equal(kl.bfs(g, hub(g), threads=2).distances, want):
            wrong.append(1)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), wrong, g.has_csc) == (1, [], True)


# ---- graphs made from a graph -------------------------------------------------------------------


def test_a_transposed_graph_has_the_arcs_of_the_original() -> None:
    g = rmat(True)
    back = g.transpose()
    assert back.csc.neighbors is g.neighbors
    kl.bfs(g, hub(g), reverse=True).verify()


def test_a_copy_on_a_device_shares_arcs_and_not_the_account() -> None:
    g = rmat(False)
    kl.bfs(g, hub(g))
    placed = g.to("emulated")
    assert IncomingArcs.of(placed) is not IncomingArcs.of(g)
    assert placed.placed.csc is placed.placed.csr
    assert placed.placed.lengths(np.dtype(np.float32), incoming=True) is placed.placed.lengths(
        np.dtype(np.float32)
    )


# ---- stores -------------------------------------------------------------------------------------


def test_a_finished_store_is_read_without_incoming_arcs(tmp_path: Path) -> None:
    g, out = rmat(False), tmp_path / "d.zarr"
    begun = kl.bfs(g, sources=[0, 1, 2], out=out)
    assert SYMMETRIC in str(begun.plan)
    other = kl.Graph.from_csr(g.offsets, g.neighbors, g.weights)
    read = kl.bfs(other, sources=[0, 1, 2], out=out)
    assert "read from" in str(read.plan)
    assert SYMMETRIC not in str(read.plan)
    assert not other.has_csc
    assert np.array_equal(read.distances, begun.distances)


def test_methods_that_do_not_pull_leave_them_alone() -> None:
    g = rmat(False)
    plan = kl.bfs(g, hub(g), device="reference").plan
    assert "incoming arcs:" not in str(plan)
    assert not g.has_csc
