"""Betweenness by CUDA kernels: batches, hubs, counts, ties, cycles, memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import util
from typing import Any

import numpy as np
import pytest
from emulators import needs_emulator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cpu.betweenness import dijkstra
from kleene.backends.cpu.betweenness import lanes as cpu_lanes
from kleene.backends.cuda.betweenness import hops as betweenness
from kleene.backends.cuda.betweenness import weighted
from kleene.backends.cuda.betweenness.hops import lanes
from kleene.backends.cuda.betweenness.weighted import batched
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.sssp.batched import BatchedDistances
from kleene.backends.cuda.tuning import betweenness as tuning
from kleene.backends.cuda.tuning import sssp as sssp_tuning
from kleene.backends.reference.betweenness import brandes
from kleene.backends.task import BetweennessTask
from kleene.registry import Size

#: ``make gpu-check`` says which device. Calls go to the functions of the methods: where no GPU has
#: run the kernels yet, the registry offers them for the emulator only.
DEVICE = os.environ.get("KLEENE_TEST_DEVICE", "emulated")

TYPES = ["int32", "int64", "float32", "float64"]


def task_of(g: kl.Graph, **changes: Any) -> BetweennessTask:
    given = {
        "sources": np.arange(g.n, dtype=np.int32), "targets": None, "hops": g.weights is None,
        "limit": None, "endpoints": False, "arcs": True, "threads": 1, "device": DEVICE,
    }  # fmt: skip
    return BetweennessTask(g, **{**given, **changes})


def check(g: kl.Graph, **changes: Any) -> None:
    """Compare the sums of vertices and arcs with those of the plain method."""
    task = task_of(g, **changes)
    found = (lanes if task.hops else batched)(task)
    for ours, theirs in zip(found, brandes(task), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def ties(n: int, degree: int, weights: str | None = None, directed: bool = True) -> kl.Graph:
    """Return a graph with many equally short paths."""
    rng = np.random.default_rng([n, degree])
    tails, heads, lengths = rng.integers(0, n, (3, degree * n))
    chosen = None if weights is None else (lengths % 3 + 1).astype(weights)
    return kl.Graph.from_edges(tails, heads, chosen, n=n, directed=directed)


def star(leaves: int, weight: float | None = None) -> kl.Graph:
    """Return a graph where all but a few arcs begin or end at one vertex."""
    rim = np.arange(1, leaves + 1)
    tails = np.concatenate([np.zeros(leaves, int), rim, rim[:-1]])
    heads = np.concatenate([rim, np.zeros(leaves, int), rim[1:]])
    return kl.Graph.from_edges(
        tails, heads, None if weight is None else np.full(len(tails), weight)
    )


@pytest.fixture(params=["", "3", pytest.param("checked", id="checked")])
def schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in another order, and in another order while every access is watched."""
    if request.param == "checked":
        if util.find_spec("kleene._emulator_checked") is None:
            pytest.skip("built without the checked emulator")
        monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "5" if request.param == "checked" else request.param)


@pytest.fixture
def short_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LEVELS", 2)


@pytest.fixture
def small_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five arcs are a segment."""
    monkeypatch.setattr(tuning, "SEGMENT", 5)
    monkeypatch.setattr(sssp_tuning, "BATCHED_SEGMENT", 5)


@pytest.fixture
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """For graphs with many levels: threads that wait take most of the emulator's time."""
    monkeypatch.setattr(tuning, "WORK_PER_BLOCK", 2**30)
    monkeypatch.setattr(BatchedDistances, "_shape", lambda search, groups: (32, 1))


# ---- answers ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("schedule", "small_hubs", "short_launches")
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, "int32", "float64"])
def test_hubs_launches_and_orders(weights: str | None, directed: bool) -> None:
    """Everything at once: most vertices have several segments, and launches have two levels."""
    check(ties(40, 4, weights, directed), endpoints=True)


@pytest.mark.parametrize("weights", TYPES)
def test_types_limits_and_targets(weights: str) -> None:
    g = ties(40, 5, weights)
    some = {"sources": np.arange(3, 40, 2, dtype=np.int32), "targets": np.arange(0, 40, 3)}
    check(g, **some, endpoints=True)
    check(g, limit=3, endpoints=True)
    check(g, limit=0)


@pytest.mark.parametrize("count", [1, 31, 32, 33, 70])
@pytest.mark.parametrize("weights", [None, "int64"])
def test_any_number_of_sources(
    count: int, weights: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of one group and of several; the last one of each may be ragged."""
    g = ties(80, 3, weights)
    sources = np.random.default_rng(count).permutation(g.n)[:count].astype(np.int32)
    check(g, sources=sources, endpoints=True)
    monkeypatch.setattr(tuning, "BATCH_BYTES", 1)
    check(g, sources=sources, endpoints=True)


@given(st.data(), st.booleans(), st.booleans())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_graphs(data: Any, directed: bool, hops: bool) -> None:
    n = data.draw(st.integers(1, 12))
    ends = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(ends, ends, st.integers(1, 3)), max_size=24))
    tails, heads, lengths = np.array(arcs, dtype=int).reshape(-1, 3).T
    g = kl.Graph.from_edges(tails, heads, lengths, n=n, directed=directed)
    limit = data.draw(st.one_of(st.none(), st.integers(0, 5)))
    check(g, hops=hops, limit=limit, endpoints=data.draw(st.booleans()))


@pytest.mark.parametrize("weight", [None, 2.5])
def test_hubs_of_several_segments(weight: float | None) -> None:
    check(star(300, weight), sources=np.arange(40, dtype=np.int32), endpoints=True)
    rim, hub = np.arange(1, 301), np.zeros(300, int)
    for g in (kl.Graph.from_edges(rim, hub), kl.Graph.from_edges(hub, rim)):
        check(g if weight is None else g.reweight(weight), sources=np.arange(9, dtype=np.int32))


@pytest.mark.usefixtures("one_block")
@pytest.mark.parametrize("weight", [None, 3])
def test_long_paths(weight: int | None) -> None:
    g = kl.generate.path(300)
    sources = np.arange(0, 300, 37, dtype=np.int32)
    check(g if weight is None else g.reweight(weight), sources=sources)


def test_small_and_empty_graphs() -> None:
    for n in range(3):
        for weights in (None, []):
            g = kl.Graph.from_edges([], [], weights, n=n)
            through, along = batched(task_of(g, hops=weights is None))
            assert through.tolist() == [0.0] * n
            assert along is not None
            assert along.tolist() == []
    loop = kl.Graph.from_edges([0, 0, 1], [0, 1, 1], n=2)
    check(loop)
    assert lanes(task_of(loop, arcs=False))[1] is None


def test_every_schedule_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sum depends on the order in which blocks come."""
    for weights in (None, "float64"):
        task = task_of(ties(60, 6, weights))
        found = []
        for seed in ("", "1", "2"):
            monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
            found.append((lanes if task.hops else batched)(task))
        for through, along in found[1:]:
            assert np.array_equal(through, found[0][0])
            assert along is not None
            assert np.array_equal(along, found[0][1])


# ---- many blocks --------------------------------------------------------------------------------


@pytest.fixture
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many blocks as are resident, and whole ones, whatever the graph."""
    monkeypatch.setattr(tuning, "WORK_PER_BLOCK", 1)
    monkeypatch.setattr(tuning, "FEW_BLOCKS", 0)


@pytest.mark.usefixtures("many_blocks", "small_hubs")
@pytest.mark.parametrize("weights", [None, "int32", "float64"])
def test_as_many_blocks_as_are_resident(weights: str | None) -> None:
    check(ties(120, 4, weights), sources=np.arange(40, dtype=np.int32), endpoints=True)


#: Graphs with work for all of a GPU, smaller in the emulator: scale, sources, and how to make them.
WHOLE: dict[str, tuple[int, int, int, Callable[[int], kl.Graph]]] = {
    "R-MAT": (14, 6, 300, lambda k: kl.generate.rmat(k, 16, seed=1, directed=False)),
    "R-MAT, weights": (
        13, 6, 300, lambda k: kl.generate.rmat(k, 16, seed=1, directed=False, weights=(1, 9)),
    ),
    "grid": (600, 12, 1, lambda k: kl.generate.grid(k, k)),  # counts beyond doubles
    "grid, weights": (300, 10, 40, lambda k: kl.generate.grid(k, k, weights=(1, 3), seed=2)),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_graphs_that_fill_a_gpu(name: str) -> None:
    """Compare with the CPU; batches are of several groups, or several, and the last is ragged."""
    large, small, sources, make = WHOLE[name]
    g = make(small if DEVICE == "emulated" else large)
    chosen = np.arange(min(sources, g.n), dtype=np.int32)
    task = task_of(g, sources=chosen, endpoints=True)
    found = (lanes if task.hops else batched)(task)
    right = (cpu_lanes if task.hops else dijkstra)(replace(task, device="cpu"))
    for ours, theirs in zip(found, right, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


# ---- numbers of paths ---------------------------------------------------------------------------


def layers(count: int) -> kl.Graph:
    """Return layers of 8 vertices between two ends: the paths are 8 times as many with each."""
    last = 8 * count + 1
    row = np.arange(1, last).reshape(count, 8)
    tails = np.concatenate([np.zeros(8, int), np.repeat(row[:-1], 8, axis=1).ravel(), row[-1]])
    heads = np.concatenate([row[0], np.tile(row[1:], 8).ravel(), np.full(8, last)])
    return kl.Graph.from_edges(tails, heads)


@pytest.mark.usefixtures("one_block")
@pytest.mark.parametrize(("count", "weight"), [(339, None), (341, None), (350, None), (341, 3)])
def test_numbers_of_paths_may_overflow(
    count: int, weight: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts beyond 2^1020 have an exponent; an eighth of the paths leads through each vertex."""
    chosen = []
    use = betweenness.BetweennessBatch._use_kernels

    def watched(batch: Any, scaled: bool) -> None:
        chosen.append(scaled)
        use(batch, scaled)

    monkeypatch.setattr(betweenness.BetweennessBatch, "_use_kernels", watched)
    g = layers(count) if weight is None else layers(count).reweight(weight)
    ends = {"sources": np.array([0], np.int32), "targets": np.array([g.n - 1])}
    through, along = batched(task_of(g, **ends))
    np.testing.assert_allclose(through[1:-1], 1 / 8, rtol=1e-9)
    assert through[[0, -1]].tolist() == [0, 0]
    assert along is not None
    np.testing.assert_allclose(
        along, np.repeat([1 / 8, 1 / 64, 1 / 8], [8, g.m - 16, 8]), rtol=1e-9
    )
    assert chosen == ([False, True] if count > 340 else [False])


@pytest.mark.usefixtures("small_hubs")
@pytest.mark.parametrize("weights", [None, "int32"])
def test_counts_with_exponents_agree(weights: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    use = betweenness.BetweennessBatch._use_kernels
    monkeypatch.setattr(
        betweenness.BetweennessBatch, "_use_kernels", lambda batch, scaled: use(batch, True)
    )
    check(ties(40, 5, weights), endpoints=True)


# ---- ties, zeros, cycles ------------------------------------------------------------------------


def test_arcs_of_weight_zero() -> None:
    tails, heads = [0, 0, 1, 2, 3, 1, 4], [1, 2, 3, 3, 4, 2, 5]
    for kind in TYPES:
        check(kl.Graph.from_edges(tails, heads, np.array([0, 0, 1, 1, 0, 0, 2], kind)))


def test_floats_tie_if_their_sums_do() -> None:
    """0.1 + 0.2 is not 0.3 in float64, and 0.5 + 0.25 is 0.75."""
    tails, heads = [0, 1, 0, 2, 3, 2], [1, 2, 2, 3, 4, 4]
    check(kl.Graph.from_edges(tails, heads, [0.1, 0.2, 0.3, 0.5, 0.25, 0.75]))


def test_cycles_that_add_nothing_are_refused() -> None:
    for lengths in ([1e20, 1.0, 1.0, 1.0], [1, 0, 0, 0]):
        g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], lengths)
        task = task_of(g, sources=np.array([0], np.int32))
        for method in (batched, brandes):
            with pytest.raises(kl.RequestError, match="adds nothing to a distance"):
                method(task)
    circle = kl.Graph.from_edges([0, 1], [1, 0], [0, 0])  # through the source
    with pytest.raises(kl.RequestError, match="adds nothing to a distance"):
        batched(task_of(circle))


# ---- calls --------------------------------------------------------------------------------------


@needs_emulator
def test_calls_choose_the_method_and_report() -> None:
    g = ties(70, 3, "int32")
    seen: list[tuple[int, int]] = []
    by_hops = kl.betweenness(
        g, hops=True, device="emulated", progress=lambda done, total: seen.append((done, total))
    )
    assert (by_hops.plan.method, seen[-1]) == ("lanes", (70, 70))
    by_weights = kl.betweenness(g, device="emulated")
    assert by_weights.plan.method == "batched"
    for b in (by_hops, by_weights):
        assert b.verify(sample=5).rows == 5
    placed = g.to("emulated")
    assert kl.betweenness(placed, device="emulated").plan.device == "emulated"
    assert kl.betweenness(placed).plan.device == "cpu"  # the emulator only on request
    assert kl.betweenness(placed, method="dijkstra").plan.device == "cpu"
    assert kl.betweenness(placed, error=0.2).plan.device == "cpu"


def test_memory_cuts_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less memory, smaller batches; the same answer."""
    for module, weights, little in (
        (betweenness, None, "250K"),
        (weighted, "int32", "450K"),
    ):
        widths: list[int] = []
        add = betweenness.add_batches

        def watched(*given: Any, _widths: list[int] = widths, _add: Any = add) -> Any:
            _widths.append(given[3])
            return _add(*given)

        monkeypatch.setattr(module, "add_batches", watched)
        g = ties(150, 3, weights)
        for budget in ("100M", little):
            monkeypatch.setenv("KLEENE_DEVICE_MEMORY", budget)
            check(g, sources=np.arange(100, dtype=np.int32))
        assert widths[0] == 100
        assert widths[1] <= 50
        monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "50K")
        with pytest.raises(kl.MemoryBudgetError, match=r"betweenness by \w+ on 150 vertices|graph"):
            check(g)
        monkeypatch.delenv("KLEENE_DEVICE_MEMORY")


@needs_emulator
@pytest.mark.parametrize("weights", [None, "int32", "float64"])
def test_estimates_hold(weights: str | None) -> None:
    """The memory in the registry is no less than what is allocated, and not much more."""
    device = open_device("emulated")
    g = ties(200, 8, weights)
    before, allocated = device.allocated, 0

    def watch(done: int, total: int) -> None:
        nonlocal allocated
        allocated = max(allocated, device.allocated - before)

    b = kl.betweenness(g, sources=range(100), edges=True, device="emulated", progress=watch)
    row = next(row for row in kl.methods("betweenness", "emulated") if row.name == b.plan.method)
    estimate = row.workspace(Size(g.n, g.m, 100, 8, True))
    assert allocated <= estimate <= 3 * allocated
