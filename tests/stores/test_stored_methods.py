"""The method that a store records: the same call resumes and opens it, on any device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster_graphs import CITY, SOCIAL

import kleene as kl
from kleene.clusters.dask import runner
from kleene.planning import plan
from kleene.planning.ask import Ask
from kleene.planning.machine import LiveMachine
from kleene.registry import find
from kleene.stores import sink
from kleene.stores.sink import resumed_ask
from kleene.stores.store import Store
from kleene.system.machine import this_machine

pytestmark = pytest.mark.skipif("emulated" not in this_machine().devices, reason="no emulator")

SOURCES = [1, 2, 3, 4]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "choose_block_rows", lambda rows, *_: 1)
    monkeypatch.setattr(runner, "RUN_SECONDS", 0.001)


def solve(problem: str, **keywords: Any) -> kl.Result:
    keywords = {"sources": SOURCES, "device": "emulated", **keywords}
    result: kl.Result = getattr(kl, problem)(SOCIAL, **keywords)
    chosen = result.plan
    assert find(chosen.problem, chosen.method, chosen.device) is not None, chosen
    return result


def begin(problem: str, **keywords: Any) -> Store:
    """Begin a store and stop after a block."""

    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done >= 2:
            raise Enough

    with pytest.raises(Enough):
        solve(problem, progress=stop, **keywords)
    store = Store.look(keywords["out"])
    assert store is not None
    assert store.done
    assert store.missing()
    return store


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_the_same_call_opens_what_workers_finished(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    problem: str,
    suffix: str,
) -> None:
    out = tmp_path / f"d.{suffix}"
    first = solve(problem, out=out, on=client)
    here = this_machine()
    bare = LiveMachine(here.cores, None, here.simd, ("cpu", "reference"), here.absent)
    for module in (plan, sink):
        monkeypatch.setattr(module, "live_machine", lambda: bare)
    for device in ("emulated", "cuda", "auto", "cpu"):
        for on in ("tcp://127.0.0.1:1", None):  # no worker is asked
            again = solve(problem, out=out, on=on, device=device)
            assert np.array_equal(again.distances, first.distances)
            assert again.plan.method == first.plan.method
    with pytest.raises(kl.RequestError, match="no device 'gpu'"):
        solve(problem, out=out, device="gpu")
    loaded = kl.Result.load(out, SOCIAL).plan
    assert find(problem, loaded.method, loaded.device) is not None


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
@pytest.mark.parametrize("device", ["emulated", "auto", "cpu"])
@pytest.mark.parametrize("cluster", [True, False])
def test_a_store_of_workers_is_resumed(
    client: Any,
    tmp_path: Path,
    problem: str,
    device: str,
    cluster: bool,
) -> None:
    out = tmp_path / "d.npy"
    begun = begin(problem, out=out, on=client)
    found = solve(problem, out=out, device=device, on=client if cluster else None)
    assert np.array_equal(found.distances, solve(problem, device="cpu").distances)
    store = Store.find(out)
    assert store.finished
    assert store.spec == begun.spec
    assert store.done.items() >= begun.done.items()


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
def test_a_store_of_the_cpu_is_resumed_on_a_device_without_its_method(
    tmp_path: Path, problem: str
) -> None:
    out = tmp_path / "d.npy"
    begun = begin(problem, out=out, device="cpu")
    assert find(problem, begun.spec.call["method"], "emulated") is None
    found = solve(problem, out=out)
    assert found.plan.device == "emulated"
    assert np.array_equal(found.distances, solve(problem, device="cpu").distances)
    assert Store.find(out).spec == begun.spec


def test_other_sums_are_not_mixed_with_those_of_searches() -> None:
    for method in ("prepared", "johnson", "tiled"):
        asked = Ask.of("apsp", device="reference" if method != "johnson" else "cuda")
        assert resumed_ask(asked, method, False).where.method == method
    asked = Ask.of("apsp", device="reference")
    assert resumed_ask(asked, "batched", False).where.method == "auto"


@pytest.mark.parametrize("problem", ["bfs", "sssp", "apsp"])
def test_plans_for_workers_name_a_method_of_their_device(
    client: Any,
    problem: str,
) -> None:
    for graph in (CITY, SOCIAL):
        for device in ("cuda", "emulated"):
            plan = kl.explain(graph, problem, sources=SOURCES, device=device, on=client)
            assert plan.device == device
            assert find(problem, plan.method, device) is not None
            assert plan.reasons[1].startswith(f"{plan.method}:")
    with pytest.raises(kl.RequestError, match="no method 'queue'"):
        kl.explain(CITY, "bfs", sources=SOURCES, method="queue", device="cuda", on=client)
