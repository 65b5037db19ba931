"""Sources split over several devices: every method gives what one device gives."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from split_devices import FOUR, SOURCES, all_take_a_piece, town

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.engine import devices as sharing
from kleene.engine import pieces
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
from kleene.registry import methods
from kleene.system.machine import Machine

if TYPE_CHECKING:
    from fake_gpu import FakeGpu

pytest.importorskip("kleene._emulator")

SPLIT = [
    row
    for row in methods(device="emulated")
    if row.splits == "sources" and row.problem != "betweenness"
]


@pytest.fixture(autouse=True)
def four_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "4")
    monkeypatch.setattr(pieces, "_LEAST", 2)  # several pieces for each device


def call(row: Any, g: kl.Graph, **options: Any) -> kl.Result:
    given: dict[str, Any] = {"sources": SOURCES, "method": row.name, **options}
    result: kl.Result = getattr(kl, row.problem)(g, **given)
    return result


# ---- every method -------------------------------------------------------------------------------


def test_which_methods_split() -> None:
    on_gpu = methods(device="cuda")
    assert all(row.splits == "sources" for row in on_gpu if row.problem in ("bfs", "sssp"))
    others = {(row.problem, row.name): row.splits for row in on_gpu if row.splits}
    assert {key: what for key, what in others.items() if key[0] not in ("bfs", "sssp")} == {
        ("apsp", "batched"): "sources",
        ("apsp", "prepared"): "sources",
        ("apsp", "tiled"): "rows",
        ("betweenness", "batched"): "sources",
        ("betweenness", "lanes"): "sources",
        ("closure", "prepared"): "sources",
        ("closure", "tiled"): "rows",
    }


@pytest.mark.parametrize("paths", [True, False], ids=["paths", "values"])
@pytest.mark.parametrize("row", SPLIT, ids=lambda row: f"{row.problem}-{row.name}")
def test_every_method_equals_one_device(row: Any, paths: bool) -> None:
    g = town(negative=row.negative and row.problem != "bfs")
    options: dict[str, Any] = {"predecessors": paths}
    if row.problem == "closure":
        g, options = town(), {**options, "semiring": "max_min"}
    one = call(row, g, device="emulated:0", **options)
    several = call(row, g, device="emulated", **options)
    assert several.plan.devices == tuple(FOUR)
    assert one.plan.devices == ("emulated:0",)
    assert several.distances.tolist() == one.distances.tolist()
    assert several.verify().rows == len(SOURCES)
    assert (several.predecessors is not None) == paths
    assert several.plan.reasons[-1].startswith("split: ")


@pytest.mark.parametrize("row", SPLIT, ids=lambda row: f"{row.problem}-{row.name}")
def test_targets_limits_and_memory_of_the_caller(row: Any, tmp_path: Path) -> None:
    g = town()
    both: dict[str, Any] = {"devices": ["emulated:2", "emulated:1"]}
    one: dict[str, Any] = {"device": "emulated"}
    if row.problem == "closure":
        both["semiring"] = one["semiring"] = "min_plus"
    else:
        for options in ({"limit": 6}, {"targets": [3, 38, 1]}, {"reverse": True}):
            found, wanted = call(row, g, **both, **options), call(row, g, **one, **options)
            assert found.distances.tolist() == wanted.distances.tolist()
            found.verify()
    wanted = call(row, g, **one)
    out = np.empty_like(wanted.distances)
    assert call(row, g, out=out, **both).distances.tolist() == wanted.distances.tolist()
    assert out.tolist() == wanted.distances.tolist()
    call(row, g, out=tmp_path / "rows.npy", **both)
    assert np.load(tmp_path / "rows.npy").tolist() == wanted.distances.tolist()
    trees = [
        call(row, g, deterministic=True, predecessors=True, **where).predecessors
        for where in (both, one)
    ]
    np.testing.assert_array_equal(*trees)


@pytest.mark.parametrize("seed", ["0", "7"])
@pytest.mark.parametrize("placed", ["cpu", "emulated", "emulated:2"])
def test_placed_graphs(placed: str, seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    g = town().to(placed)
    assert g.device == placed
    wanted = kl.sssp(town(), sources=SOURCES, device="cpu").distances
    for _ in range(2):
        found = kl.sssp(g, sources=SOURCES, method="near_far", device="emulated")
        assert found.distances.tolist() == wanted.tolist()
    if placed != "cpu":
        assert kl.sssp(g, 5, device="emulated").plan.devices == (placed,), "where the graph is"
        assert kl.spmv(g, np.ones(g.n)).tolist() == kl.spmv(town(), np.ones(g.n)).tolist()


def test_types_that_are_converted() -> None:
    """Hops as floats are searched in integers, and rows converted, on each device."""
    g = town(weighted=False)
    for kind in ("float64", "int64"):
        one = kl.sssp(g, sources=SOURCES, device="cpu", dtype=kind)
        several = kl.sssp(g, sources=SOURCES, method="batched", device="emulated", dtype=kind)
        assert several.distances.tolist() == one.distances.tolist()
        several.verify()


@pytest.mark.parametrize("reverse", [False, True])
def test_prepared_graphs(reverse: bool) -> None:
    p = kl.prepare(town())
    for devices in (FOUR, [1], None):
        options: dict[str, Any] = {"device": "emulated", "devices": devices}
        trees = p.trees(SOURCES, reverse=reverse, **options)
        assert trees.distances.tolist() == p.trees(SOURCES, reverse=reverse).distances.tolist()
        trees.verify()
        assert len(trees.plan.devices) == {4: 4, 1: 1}[len(devices or FOUR)]
        if not reverse:
            matrix = p.matrix(SOURCES, [3, 1, 38], **options)
            assert matrix.distances.tolist() == p.matrix(SOURCES, [3, 1, 38]).distances.tolist()
            assert matrix.path(5, 3) == p.tree(5).path(3) or matrix.verify()
    assert p.matrix([1], [2], devices=["emulated:3"]).plan.devices == ("emulated:3",)


def test_pairs() -> None:
    ends = [(s, t) for s in SOURCES for t in (3, 1, 38)]
    found = kl.apsp(town(), pairs=ends, device="emulated", method="batched")
    assert found.plan.devices == tuple(FOUR[:3]), "the rows are those of three destinations"
    assert found.distances.tolist() == kl.apsp(town(), pairs=ends, device="cpu").distances.tolist()


# ---- which devices ------------------------------------------------------------------------------


def test_devices_that_are_chosen() -> None:
    g = town()

    def used(**options: Any) -> tuple[str, ...]:
        return kl.bfs(g, **options).plan.devices

    assert used(sources=SOURCES, device="emulated", devices=[3, 1]) == ("emulated:3", "emulated:1")
    assert used(sources=SOURCES, devices=("emulated:2", "emulated")) == ("emulated:2", "emulated:0")
    assert used(sources=SOURCES, device="emulated", devices=np.array([2])) == ("emulated:2",)
    assert used(sources=[1, 2], device="emulated") == ("emulated:0", "emulated:1")
    assert used(sources=[1, 2], device="emulated", devices=[3, 2, 0]) == (
        "emulated:3",
        "emulated:2",
    )
    assert used(source=1, device="emulated") == ("emulated",)
    assert used(source=1, device="emulated:1") == ("emulated:1",)
    assert used(source=1, device="emulated", devices=[2, 1]) == ("emulated:2",)
    assert used(sources=[], device="emulated") == ("emulated",)
    assert used(sources=SOURCES, device="cpu") == ()
    assert kl.apsp(g, device="emulated", devices=[2, 1], method="naive").plan.devices == (
        "emulated:2",
    )


def test_devices_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    g = town()

    def fails(match: str, kind: type[Exception] = kl.RequestError, **options: Any) -> None:
        with pytest.raises(kind, match=match):
            kl.bfs(g, sources=SOURCES, **options)

    fails("devices is empty", devices=[])
    fails("devices names 'emulated:1' twice", device="emulated", devices=[1, "emulated:1"])
    fails("a list of numbers or names", devices="emulated:1")
    fails("a list of numbers or names", devices=2)
    fails("devices has -1", device="emulated", devices=[-1])
    fails("devices has True", device="emulated", devices=[True])
    fails("devices has 1.5", device="emulated", devices=[1.5])
    fails("devices has 'cpu'", devices=["cpu"])
    fails("no device 'emulated:x'", device="emulated:x")
    fails("cannot be combined", device="cpu", devices=[0])
    fails("cannot be combined", device="cuda", devices=["emulated:0"])
    fails("cannot be combined", devices=["cuda:0", "emulated:0"])
    fails("cannot be combined", device="emulated:1", devices=[2])
    fails("leaves the answer on one device", device="emulated", devices=[1, 2], keep="device")
    fails(r"device 'emulated:4' cannot be used.*'emulated:3'", kl.DeviceError, device="emulated:4")
    fails(r"device 'emulated:7' cannot be used", kl.DeviceError, device="emulated", devices=[0, 7])
    with pytest.raises(kl.DeviceError, match="no device 'emulated:5'"):
        g.to("emulated:5")


def test_answers_that_stay_there() -> None:
    found = kl.bfs(town(), sources=SOURCES, device="emulated", keep="device")
    assert found.plan.devices == ("emulated",)
    found = kl.bfs(town(), sources=SOURCES, device="emulated:3", keep="device")
    arrays = found.device_arrays
    assert arrays.distances.__dlpack_device__() == (1, 0)
    wanted = kl.bfs(town(), sources=SOURCES, device="cpu").distances
    assert np.from_dlpack(arrays.distances).tolist() == wanted.tolist()


def test_what_a_plan_says() -> None:
    plan = kl.explain(town(), "bfs", sources=SOURCES, device="emulated", devices=[0, 2])
    assert plan.devices == ("emulated:0", "emulated:2")
    assert "multi_source on emulated:0 and emulated:2, int32" in str(plan)
    assert "11 sources are split over emulated:0 and emulated:2" in str(plan)
    plan = kl.explain(town(), "sssp", sources=SOURCES, device="emulated")
    assert "on 4 devices, emulated:0 to emulated:3, int64" in str(plan)
    plan = kl.explain(town(), "sssp", device="emulated", devices=[1, 2])
    assert "one device: there is one source" in plan.reasons
    plan = kl.explain(town(), "apsp", device="emulated", devices=[1, 2], method="naive")
    assert "one device: naive works on the whole matrix" in plan.reasons


def test_gpus_are_used_where_it_pays() -> None:
    """By estimates alone, on a machine that is not here."""
    machine = Machine(16, 2**40, "", ("cuda", "cpu"), gpus=4)
    large = Facts(1_000_000, 16_000_000, "int32", 1, 9, 10**6)
    ask = Ask.of("sssp", sources=4096, device="cuda", given=True)

    def devices(facts: Facts, ask: Ask) -> int:
        plan = make_plan(facts, ask, machine)
        assert any("device" in reason for reason in plan.reasons[3:]) == (ask.what.sources != 1)
        return len(plan.devices)

    assert devices(large, ask) == 4
    assert devices(large, ask.but(device="auto")) == 4
    assert devices(large, ask.but(sources=1)) == 1
    assert devices(Facts(1000, 8000, "int32", 1, 9, 10**4), ask.but(sources=20)) == 1
    few = make_plan(large, ask.but(devices=("cuda:3", "cuda:1")), machine)
    assert few.devices == ("cuda:3", "cuda:1")
    assert few.device_memory > 0
    with pytest.raises(kl.DeviceError, match="device 'cuda:4' cannot be used"):
        make_plan(large, ask.but(devices=("cuda:4",)), machine)


# ---- GPUs of the driver that the tests provide --------------------------------------------------


@pytest.mark.parametrize("parts", ["1", "2"])
def test_gpus(
    cuda: FakeGpu, gpu_machine: None, parts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", parts)
    two = ["cuda:0", "cuda:2"] if parts == "1" else ["cuda:0", "cuda:1"]
    g = town()
    all_take_a_piece(2, monkeypatch)
    for problem, method in (("bfs", "multi_source"), ("sssp", "near_far"), ("apsp", "batched")):
        search = getattr(kl, problem)
        found = search(g, sources=SOURCES, method=method, devices=two)
        assert found.plan.devices == tuple(two)
        wanted = search(g, sources=SOURCES, device="cpu").distances
        assert found.distances.tolist() == wanted.tolist()
        found.verify()
    contexts = {64, 66} if parts == "1" else {64}
    assert set(cuda.context_of.values()) == contexts
    assert kl.bfs(g, sources=SOURCES, device="cuda").plan.devices == ("cuda",), "too little work"
    assert kl.bfs(g.to(two[1]), 3, device="cuda").plan.devices == (two[1],)
    with pytest.raises(kl.DeviceError, match="device 'cuda:7' cannot be used"):
        kl.bfs(g, sources=SOURCES, devices=[7])


def test_a_gpu_that_is_too_old(cuda: FakeGpu, gpu_machine: None) -> None:
    with pytest.raises(kl.DeviceError, match=r"device 'cuda:1' cannot be used.*'cuda:0', 'cuda:2'"):
        kl.bfs(town(), sources=SOURCES, devices=[0, 1])


# ---- sums ---------------------------------------------------------------------------------------

#: Thirds are not exact, and neither are their sums: another order gives other bits.
LENGTHS = kl.generate.rmat(scale=6, edge_factor=6, seed=2, weights=(1, 4))


@pytest.mark.parametrize("keywords", [{}, {"hops": True}, {"sources": range(3, 35), "limit": 9}])
def test_betweenness_on_several_devices(keywords: dict[str, Any]) -> None:
    g = LENGTHS
    found = kl.betweenness(g, edges=True, device="emulated", devices=[0, 2], **keywords)
    right = kl.betweenness(g, edges=True, device="cpu", **keywords)
    assert np.allclose(found.values, right.values, rtol=1e-12, atol=0)
    assert np.allclose(found.arcs, right.arcs, rtol=1e-12, atol=0)
    assert "are split over emulated:0 and emulated:2" in str(found.plan)
    assert found.plan.reasons[-1].startswith("split: ")
    assert 0 < found.stats.compute <= found.stats.total
    found.verify(sample=5)


def test_sums_do_not_depend_on_which_device_was_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    share = sharing.share_pieces
    found = [kl.betweenness(LENGTHS, device="emulated", devices=[0, 1]).values]
    for slow in (0, 1):

        def unfair(
            names: Any, pieces: Any, work: Any, report: Any, every: bool, slow: int = slow
        ) -> Any:
            def late(device: str, piece: Any, report: Any) -> None:
                time.sleep(0.05 if device == names[slow] else 0.0)
                work(device, piece, report)

            return share(names, pieces, late, report, every=every)

        with monkeypatch.context() as patched:
            patched.setattr(sharing, "share_pieces", unfair)
            found.append(kl.betweenness(LENGTHS, device="emulated", devices=[0, 1]).values)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_sums_on_a_device_without_memory() -> None:
    g = LENGTHS
    full = open_device("emulated:1")
    held = full.empty(full.free_memory(), np.uint8, "all of it")
    with pytest.raises(kl.MemoryBudgetError, match="emulated:1"):
        kl.betweenness(g, device="emulated", devices=[0, 1])
    found = kl.betweenness(g, device="emulated")  # others do its work
    assert np.allclose(found.values, kl.betweenness(g, device="cpu").values, rtol=1e-12)
    del held


def test_sums_of_no_source_and_of_one() -> None:
    empty = kl.Graph.from_edges([], [], n=0)
    assert len(kl.betweenness(empty, device="emulated", devices=[0, 1])) == 0
    one = kl.betweenness(LENGTHS, sources=[3], device="emulated", devices=[0, 1])
    assert "one device: there is one source" in str(one.plan)
