"""Searches of a placed graph wait for the next call: never shared, never spoiled, freed in need."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import kleene as kl
from kleene.backends.cuda.bfs.direction import BfsSearch
from kleene.backends.cuda.graph import free_idle, idle_bytes
from kleene.backends.cuda.rows import RowSearch
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.tuning import transfers


@pytest.fixture
def allocations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the arrays that were allocated on the emulated device."""
    names: list[str] = []
    empty = EmulatedDevice.empty

    def counted(self: EmulatedDevice, shape: Any, dtype: Any, name: str = "") -> Any:
        names.append(name)
        return empty(self, shape, dtype, name)

    monkeypatch.setattr(EmulatedDevice, "empty", counted)
    return names


@pytest.fixture(params=[0, 2**16], ids=["large", "small"])
def either_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that go straight to the answer, and rows that are staged."""
    monkeypatch.setattr(transfers, "PINNED_LEAST", request.param)
    monkeypatch.setattr(transfers, "OVERLAP_LEAST", request.param)


def placed() -> kl.Graph:
    return kl.generate.uniform(120, 600, seed=4, weights=(1, 9)).to("emulated")


@pytest.mark.parametrize("method", [m.name for m in kl.methods("bfs", "cuda")])
@pytest.mark.usefixtures("either_size")
def test_every_bfs_again_and_again(method: str) -> None:
    g = placed()
    for _ in range(2):
        for options in ({}, {"limit": 2}, {"predecessors": False}, {"targets": [5, 60]}):
            for v in (3, 99):
                found = kl.bfs(g, v, method=method, device="emulated", **options)  # type: ignore[arg-type]
                found.verify()


@pytest.mark.parametrize("method", [m.name for m in kl.methods("sssp", "cuda")])
@pytest.mark.usefixtures("either_size")
def test_every_sssp_again_and_again(method: str) -> None:
    g = placed()
    for _ in range(2):
        for options in ({}, {"limit": 7}, {"predecessors": False}, {"targets": [5, 60]}):
            for v in (3, 99):
                found = kl.sssp(g, v, method=method, device="emulated", **options)  # type: ignore[arg-type]
                found.verify()


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
def test_a_later_call_allocates_nothing(problem: str, allocations: list[str]) -> None:
    g, solve = placed(), getattr(kl, problem)
    solve(g, 0, device="emulated", predecessors=False)
    allocations.clear()
    for v in range(5):
        solve(g, v, device="emulated", predecessors=False)
        solve(g, v, limit=3, device="emulated", predecessors=False)
    assert allocations == []


def test_the_host_waits_once_for_a_small_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are filled together, and copied together; no events: the host's clock will do."""
    g = placed()
    kl.bfs(g, 0, device="emulated")
    device: Any = open_device("emulated")
    counts: dict[str, int] = {}

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            counts[name] = counts.get(name, 0) + 1
            return original(*args, **options)

        monkeypatch.setattr(owner, name, counted)

    count(type(device.main), "synchronize")
    count(type(device.main), "record")
    count(EmulatedDevice, "synchronize")
    count(type(next(iter(device.kernels("bfs_direction").values()))), "launch")
    count(EmulatedDevice, "copy")
    count(EmulatedDevice, "fill")
    kl.bfs(g, 0, device="emulated")
    assert counts == {"fill": 1, "launch": 2, "copy": 2, "synchronize": 1}


def test_calls_at_the_same_time_have_searches_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    g, seen, start = placed(), [], threading.Barrier(3)
    run = kl.backends.cuda.bfs.direction._Search.run

    def slow(self: BfsSearch, source: int, limit: int) -> Any:
        seen.append(self)
        start.wait(20)  # all three are searching
        with lock:  # the emulator runs one kernel at a time
            return run(self, source, limit)

    lock = threading.Lock()
    monkeypatch.setattr(kl.backends.cuda.bfs.direction._Search, "run", slow)
    found: dict[int, kl.Result] = {}

    def call(v: int) -> None:
        found[v] = kl.bfs(g, v, device="emulated")

    for _ in range(2):
        threads = [threading.Thread(target=call, args=(v,)) for v in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({id(search) for search in seen[:3]}) == 3
    assert {id(search) for search in seen[3:]} == {id(search) for search in seen[:3]}
    for result in found.values():
        result.verify()


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
@pytest.mark.parametrize("seed", ["0", "3"])
def test_an_interrupted_search_does_not_wait(
    problem: str, seed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    g, solve = placed(), getattr(kl, problem)
    device: Any = open_device("emulated")
    copied, left = EmulatedDevice.copy, [10**9]

    def interrupted(self: EmulatedDevice, to: Any, source: Any, stream: Any = None) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        copied(self, to, source, stream)

    monkeypatch.setattr(EmulatedDevice, "copy", interrupted)
    solve(g, 0, device="emulated")
    waiting = idle_bytes(device)
    for moment in range(1, 8):
        left[0] = moment
        try:
            solve(g, moment, device="emulated")
        except KeyboardInterrupt:
            assert idle_bytes(device) < waiting
        left[0] = 10**9
        solve(g, moment, device="emulated").verify()
        assert idle_bytes(device) == waiting


def test_incoming_arcs_that_come_later_are_used() -> None:
    g = placed()
    kl.bfs(g, 0, device="emulated")
    _ = g.csc
    kl.bfs(g, 0, device="emulated").verify()
    assert len(g.placed._idle) == 2
    for v in range(6):
        kl.sssp(g, v, dtype="float64", device="emulated", predecessors=v > 2)
        kl.sssp(g, v, device="emulated", predecessors=v > 2)
    assert len(g.placed._idle) == transfers.IDLE_KEYS


def test_searches_go_with_the_copies_of_their_graph() -> None:
    """Without a collection of reference cycles."""
    device: Any = open_device("emulated")
    gc.collect()
    before = device.allocated
    gc.disable()
    try:
        g = placed()
        for solve in (kl.bfs, kl.sssp):
            for predecessors in (True, False):
                solve(g, 0, device="emulated", predecessors=predecessors)
        searches = [weakref.ref(s) for waiting in g.placed._idle.values() for s in waiting]
        assert len(searches) == 4
        assert all(isinstance(search(), RowSearch) for search in searches)
        del g.__dict__["placed"]
        assert all(search() is None for search in searches)
        assert device.allocated == before
    finally:
        gc.enable()


def test_they_give_way_to_calls_that_need_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    device: Any = open_device("emulated")
    gc.collect()
    g = placed()
    kl.bfs(g, 0, device="emulated")
    kl.sssp(g, 0, device="emulated")
    waiting = idle_bytes(device)
    assert waiting > 10_000
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", str(device.allocated + 40_000))
    kl.apsp(g, method="naive", device="emulated", predecessors=False).verify()
    assert idle_bytes(device) == 0
    kl.bfs(g, 0, device="emulated").verify()
    assert 0 < idle_bytes(device) < waiting
    assert not free_idle("emulated", needed=1)
    assert free_idle("emulated")
    assert not free_idle("emulated")


def test_a_search_that_fails_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory is given back, and the next call is right."""
    g = placed()
    run = kl.backends.cuda.bfs.direction._Search.run

    def fail(self: BfsSearch, source: int, limit: int) -> Any:
        run(self, source, limit)
        raise RuntimeError("a mistake")

    with monkeypatch.context() as patch:
        patch.setattr(kl.backends.cuda.bfs.direction._Search, "run", fail)
        with pytest.raises(RuntimeError, match="a mistake"):
            kl.bfs(g, 0, device="emulated")
    assert g.placed.idle_bytes == 0
    kl.bfs(g, 0, device="emulated").verify()
