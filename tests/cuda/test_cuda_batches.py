"""Searches from many sources on a device: batches, hubs, short launches, rows that leave."""

from __future__ import annotations

import threading
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda import rows as rows
from kleene.backends.cuda.bfs import multi
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.sssp import batched
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.cuda.tuning import sssp as sssp_tuning
from kleene.backends.cuda.tuning import transfers
from kleene.errors import MemoryBudgetError

KINDS = ["int32", "int64", "float32", "float64"]


def sample(n: int, degree: int = 4, weights: str | None = None, seed: int = 0) -> kl.Graph:
    rng = np.random.default_rng([n, degree, seed])
    source, target = rng.integers(0, n, (2, degree * n))
    lengths = None if weights is None else rng.integers(0, 50, degree * n).astype(weights)
    return kl.Graph.from_edges(source, target, lengths, n=n)


def star(n: int, weights: bool = False) -> kl.Graph:
    """Everybody leads to 0 and 1, and they lead to everybody."""
    rim = np.arange(2, n)
    hub = rim % 2
    s, t = np.concatenate([rim, hub, [0]]), np.concatenate([hub, rim, [1]])
    return kl.Graph.from_edges(s, t, (s * 7 + t * 3) % 11 if weights else None, n=n)


def bfs(g: kl.Graph, **options: Any) -> kl.Result:
    options = {"sources": range(g.n)} | options
    return kl.bfs(g, method="multi_source", device="emulated", **options)


def apsp(g: kl.Graph, **options: Any) -> kl.Result:
    return kl.apsp(g, method="batched", device="emulated", **options)


def assert_right(result: kl.Result) -> None:
    """As the CPU has it, and proven."""
    solve = kl.bfs if result.problem == "bfs" else kl.apsp
    options = {"device": "cpu", "predecessors": False, "dtype": result.distances.dtype}
    wanted = solve(result.graph, sources=result.sources, **options)
    np.testing.assert_array_equal(result.distances, wanted.distances)
    result.verify()


def sssp(g: kl.Graph, **options: Any) -> kl.Result:
    return kl.sssp(g, device="emulated", **{"sources": range(g.n)} | options)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty searches at once, or one group."""
    monkeypatch.setattr(tuning, "MOST_SEARCHES", 40)
    monkeypatch.setattr(sssp_tuning, "BATCHED_BYTES", 1)


@pytest.fixture
def small_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five arcs are a segment."""
    monkeypatch.setattr(tuning, "HUB_SEGMENT", 5)
    monkeypatch.setattr(sssp_tuning, "BATCHED_SEGMENT", 5)


@pytest.fixture
def short_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MULTI_LEVELS", 2)
    monkeypatch.setattr(sssp_tuning, "BATCHED_ROUNDS", 3)


@pytest.fixture(params=["", "3", pytest.param("checked", id="checked")])
def schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in another order, and in another order while every access is watched."""
    if request.param == "checked":
        if util.find_spec("kleene._emulator_checked") is None:
            pytest.skip("built without the checked emulator")
        monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "5" if request.param == "checked" else request.param)


# ---- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("predecessors", [True, False])
@pytest.mark.usefixtures("schedule", "small_batches", "small_hubs", "short_launches")
def test_batches_hubs_and_launches(predecessors: bool) -> None:
    """Everything at once, on one graph with two hubs and some on the way to them."""
    g = star(45)
    assert_right(bfs(g, predecessors=predecessors))
    sources = [*range(45)] * 3
    assert_right(apsp(star(45, weights=True), predecessors=predecessors, sources=sources))
    far = kl.Graph.from_edges([*g.coo.sources, 3, 45, 46], [*g.coo.targets, 45, 46, 47], n=48)
    assert_right(bfs(far, predecessors=predecessors, sources=[3, 47, 3, 0, *range(38)]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_batches")
def test_types(kind: str) -> None:
    g = sample(70, 3, kind)
    assert_right(apsp(g))
    assert apsp(g.reweight(None), dtype=kind).distances.dtype == kind
    assert_right(apsp(g.reweight(None), dtype=kind))


@pytest.mark.usefixtures("small_batches")
def test_sources_may_repeat() -> None:
    sources = [5, 5, 3, 69, 5] * 30
    assert_right(bfs(sample(70), sources=sources))
    assert_right(apsp(sample(70, 4, "int32"), sources=sources))
    assert bfs(sample(70), sources=[]).distances.shape == (0, 70)
    assert apsp(sample(70, 4, "int32"), sources=[]).distances.shape == (0, 70)


@pytest.mark.parametrize("count", [1, 31, 33, 100, 130, 300, 520])
def test_rows_of_any_width(count: int) -> None:
    """From one word for 32 searches on to a word for each lane."""
    g = sample(40, 2)
    for predecessors in (True, False):
        assert_right(bfs(g, sources=np.arange(count) % 40, predecessors=predecessors))


@pytest.mark.usefixtures("short_launches")
def test_grid() -> None:
    g = kl.generate.grid(9, 11)
    assert_right(bfs(g, sources=range(0, 99, 7)))
    weights = np.random.default_rng(3).integers(0, 3, g.m).astype(np.int32)
    assert_right(apsp(g.reweight(arcs=weights), sources=range(0, 99, 7)))


@pytest.mark.usefixtures("small_batches")
def test_sssp_from_many_sources() -> None:
    """Batches are what auto takes; limits, targets, paths and negative weights as ever."""
    g = sample(300, 9, "int32")
    many = range(0, 300, 7)
    for options in ({}, {"limit": 60}, {"targets": [1, 2]}, {"predecessors": False}):
        result = sssp(g, sources=many, **options)
        assert result.plan.method == "batched"
        wanted = kl.sssp(g, sources=many, device="cpu", **options)
        np.testing.assert_array_equal(result.distances, wanted.distances)
        result.verify()
    assert sssp(g, sources=[4]).plan.method == "near_far"
    below = g.reweight(arcs=np.where(np.arange(g.m) % 40 == 0, -1, g.weights + 40))
    assert sssp(below, sources=many).plan.method == "bellman_ford"


def test_blocks_with_several_chunks() -> None:
    """More vertices than all blocks look after at once."""
    g = kl.generate.grid(8, 150)
    for predecessors in (True, False):
        assert_right(bfs(g, sources=[0, 600, 1199], predecessors=predecessors))
    assert_right(apsp(g.reweight(arcs=np.arange(g.m, dtype=np.int32) % 7), sources=[3, 600]))


@pytest.mark.parametrize("kind", KINDS)
def test_cycles_without_length(kind: str) -> None:
    """Predecessors lead to the source even where steps have no length, or too little to count."""
    ring = np.arange(12)
    s, t = np.concatenate([ring, ring, [11]]), np.concatenate([ring - 11, (ring + 5) % 12, [12]])
    lengths = np.zeros(25) if kind[0] == "i" else np.where(np.arange(25) % 3, 1e-30, 0)
    lengths[-1] = 1
    g = kl.Graph.from_edges(s % 13, t % 13, lengths.astype(kind), n=13)
    assert_right(apsp(g))
    result = apsp(g.reweight(arcs=np.zeros(25, kind)))
    assert_right(result)
    assert all(result.path(0, v)[-1] == v for v in range(13))


def test_thresholds_cross_wide_gaps() -> None:
    lengths = np.array([1, 1, 10**6, 1, 10**15, 1, 10**17], np.int64)
    g = kl.Graph.from_edges(np.arange(7), np.arange(1, 8), lengths)
    assert_right(apsp(g))
    many = np.arange(60)
    light = np.append(np.ones(59), 1e9)
    assert_right(apsp(kl.Graph.from_edges(many, many + 1, light), sources=[0, 30]))


@st.composite
def graphs(draw: st.DrawFn) -> kl.Graph:
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.integers(0, 3)), max_size=40))
    s, t, w = (np.array(column, int) for column in zip(*arcs, strict=True)) if arcs else ([],) * 3
    return kl.Graph.from_edges(s, t, np.array(w, draw(st.sampled_from(KINDS))), n=n)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(g=graphs(), limit=st.none() | st.integers(0, 5))
def test_as_the_reference_has_it(g: kl.Graph, limit: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "HUB_SEGMENT", 3)
        patch.setattr(sssp_tuning, "BATCHED_SEGMENT", 3)
        hops, lengths = bfs(g, limit=limit), apsp(g, limit=limit)
    reference = {"device": "reference", "limit": limit, "predecessors": False}
    wanted = kl.bfs(g, sources=range(g.n), **reference)
    assert hops.distances.tolist() == wanted.distances.tolist()
    assert lengths.distances.tolist() == kl.apsp(g, **reference).distances.tolist()
    hops.verify()
    lengths.verify()


def test_targets_stop_a_batch() -> None:
    chain = np.arange(200)
    g = kl.Graph.from_edges(chain, chain + 1, directed=False)
    result = bfs(g, sources=[100, 104], targets=[95, 110, 95])
    assert result.distances.tolist() == [[5, 10, 5], [9, 6, 9]]
    assert result._answer.horizons.tolist() == [10, 10]
    result.verify()


# ---- memory -------------------------------------------------------------------------------------


def test_memory_cuts_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less memory, smaller batches; the same answer."""
    for g, solve, module, little in (
        (sample(100), bfs, multi, "25K"),
        (sample(100, 4, "int32"), apsp, batched, "70K"),
    ):
        widths = []
        fill = rows.fill_rows

        def watched(*args: Any, _fill: Any = fill, _widths: list[int] = widths) -> Any:
            _widths.append(args[3])
            return _fill(*args)

        monkeypatch.setattr(module, "fill_rows", watched)
        for budget in ("100M", little):
            monkeypatch.setenv("KLEENE_DEVICE_MEMORY", budget)
            assert_right(solve(g, sources=range(50), predecessors=False))
        assert widths == sorted(widths, reverse=True)
        assert widths[0] == 50
        assert widths[-1] < 32
        monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "5K")
        with pytest.raises(MemoryBudgetError, match=r"on 100 vertices"):
            solve(g)
        monkeypatch.delenv("KLEENE_DEVICE_MEMORY")


def test_estimates_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device memory in the registry is no less than what is allocated, and not much more."""
    device = open_device("emulated")
    allocated = 0

    def watch(done: int, total: int) -> None:
        nonlocal allocated
        allocated = max(allocated, device.allocated)  # type: ignore[attr-defined]

    for g, solve in ((sample(300), bfs), (sample(300, 4, "float64"), apsp)):
        before, allocated = device.allocated, 0  # type: ignore[attr-defined]
        result = solve(g, progress=watch, sources=range(100))
        row = next(r for r in kl.methods(result.problem, "cuda") if r.name == result.plan.method)
        size = kl.registry.Size(g.n, g.m, 100, result.distances.itemsize, True)
        assert row.device_memory is not None
        assert 0.5 * (allocated - before) < row.device_memory(size) < 3 * (allocated - before)


# ---- rows that leave ----------------------------------------------------------------------------


@pytest.mark.usefixtures("schedule", "small_batches")
def test_rows_go_by_slots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Large answers go through page-locked memory, some rows at a time, also to a file."""
    monkeypatch.setattr(transfers, "PINNED_MOST", 0)
    monkeypatch.setattr(transfers, "STAGED_LEAST", 1)
    monkeypatch.setattr(transfers, "SLOT_BYTES", 4 * 730)
    seen: list[tuple[int, int]] = []
    for g, solve, count in ((sample(100), bfs, 100), (sample(100, 4, "float32"), apsp, 300)):
        sources = np.arange(count) % 100
        assert_right(solve(g, sources=sources))
        seen.clear()
        solve(
            g,
            sources=sources,
            predecessors=False,
            out=tmp_path / f"{count}.npy",
            progress=lambda done, total: seen.append((done, total)),
        )
        wanted = (kl.bfs if solve is bfs else kl.apsp)(g, sources=sources)
        np.testing.assert_array_equal(np.load(tmp_path / f"{count}.npy"), wanted.distances)
        assert len(seen) == 3
        assert seen[-1] == (count, count)


@pytest.mark.usefixtures("small_batches")
def test_a_call_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads end, memory goes back."""
    monkeypatch.setattr(transfers, "PINNED_MOST", 0)
    monkeypatch.setattr(transfers, "STAGED_LEAST", 1)
    device = open_device("emulated")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for g, solve in ((sample(100), bfs), (sample(100, 4, "float32"), apsp)):
        before = device.allocated  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            solve(g, progress=stop)
        assert device.allocated == before  # type: ignore[attr-defined]
    assert not [t for t in threading.enumerate() if t.name.startswith("kleene-carrier")]
