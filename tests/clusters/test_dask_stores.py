"""Rows that workers of a Dask cluster write to stores."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster_graphs import CITY, PLACES, SOCIAL
from test_dask import hidden  # noqa: F401

import kleene as kl
from kleene.clusters.dask import calls as dask_calls
from kleene.clusters.dask import runner
from kleene.engine import prepared as prepared_form
from kleene.planning import plan
from kleene.planning.machine import LiveMachine
from kleene.stores import sink
from kleene.stores.sink import BlockSize
from kleene.stores.store import Store
from kleene.system.formatting import format_bytes
from kleene.system.machine import this_machine

KLEENE = [sys.executable, "-m", "kleene.cli.main"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "BLOCKS", BlockSize(seconds=0.002, memory=2**24))
    monkeypatch.setattr(runner, "RUN_SECONDS", 0.02)
    monkeypatch.setattr(runner, "_LAST", 0.005)


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
@pytest.mark.parametrize(
    ("problem", "graph", "keywords"),
    [
        ("apsp", SOCIAL, {"predecessors": False}),
        ("apsp", CITY, {"deterministic": True}),  # sweeps of a prepared graph, but for these
        ("apsp", CITY, {"predecessors": False}),
        ("bfs", SOCIAL, {"sources": range(200), "limit": 3, "deterministic": True}),
        ("sssp", CITY, {"sources": range(300), "targets": [8, 3], "reverse": True}),
    ],
)
def test_a_store_holds_what_a_call_here_returns(
    client: Any,
    tmp_path: Path,
    suffix: str,
    problem: str,
    graph: kl.Graph,
    keywords: dict[str, Any],
) -> None:
    out, seen = tmp_path / f"d.{suffix}", []
    call = getattr(kl, problem)

    def progress(done: int, total: int) -> None:
        seen.append((done, total))

    there = call(graph, **keywords, out=out, on=client, progress=progress)
    here = call(graph, **keywords)
    assert np.array_equal(there.distances, here.distances)
    if keywords.get("deterministic"):
        assert np.array_equal(there.predecessors, here.predecessors)
    there.verify(sample=3)
    assert len(seen) > (problem == "apsp")
    assert seen[-1] == (len(there.sources),) * 2
    store = Store.look(out)
    assert store is not None
    assert store.finished
    assert store.verify() == len(store.spec.pieces) > (problem == "apsp")
    assert {file.name for file in tmp_path.iterdir()} >= {out.name, f"{out.name}.ledger"}
    assert not list(tmp_path.glob(".kleene*"))
    # The same call again computes nothing: it needs no cluster, and no worker.
    again = call(graph, **keywords, out=out, on="tcp://127.0.0.1:1")
    assert np.array_equal(again.distances, here.distances)


def test_a_store_is_resumed_here_and_there(client: Any, tmp_path: Path) -> None:
    out, computed = tmp_path / "d.npy", []

    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        computed.append(done)
        if len(computed) == 3:
            raise Enough

    with pytest.raises(Enough):
        kl.apsp(SOCIAL, predecessors=False, out=out, on=client, progress=stop)
    store = Store.look(out)
    assert store is not None
    done = len(store.done)
    assert 0 < done < len(store.spec.pieces)
    assert not out.exists()
    first: list[int] = []
    kl.apsp(SOCIAL, predecessors=False, out=out, progress=lambda a, b: first.append(a))
    assert first[0] >= sum(p.stop - p.first for p in store.spec.pieces if p.index in store.done)
    assert np.array_equal(np.load(out), kl.apsp(SOCIAL).distances)


@pytest.mark.parametrize(
    ("problem", "name"), [("apsp", "d.npy"), ("apsp", "d.zarr"), ("closure", "d.npy")]
)
def test_out_is_relative_to_the_folder_of_the_caller(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    problem: str,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)  # the workers stay where they were started
    there = getattr(kl, problem)(SOCIAL, predecessors=False, out=name, on=client)
    assert (tmp_path / name).exists()
    assert np.array_equal(there.values, getattr(kl, problem)(SOCIAL).values)


def test_a_store_of_another_call_is_not_touched(client: Any, tmp_path: Path) -> None:
    out = tmp_path / "d.npy"
    kl.apsp(CITY, sources=range(50), out=out, on=client)
    before = out.read_bytes()
    with pytest.raises(kl.StoreError, match="sources"):
        kl.apsp(CITY, sources=range(1, 51), out=out, on=client)
    assert out.read_bytes() == before


def test_a_matrix_of_a_prepared_graph_in_a_store(client: Any, tmp_path: Path) -> None:
    prepared = kl.prepare(CITY)
    there = prepared.matrix(range(200), range(90), out=tmp_path / "m.zarr", on=client)
    assert np.array_equal(there.distances, prepared.matrix(range(200), range(90)).distances)


def test_workers_that_do_not_see_the_store(
    client: Any,
    hidden: list[str],  # noqa: F811
    tmp_path: Path,
) -> None:
    with pytest.raises(kl.RequestError, match=r"every worker sees.* no /nowhere"):
        kl.apsp(CITY, out=tmp_path / "d.npy", on=client)
    assert not list(tmp_path.iterdir())
    assert len(hidden) == len(set(hidden))


def test_a_negative_cycle_is_named_by_label(client: Any, tmp_path: Path) -> None:
    cycle = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, -5, 1], labels=list("xyz"))
    with pytest.raises(kl.NegativeCycleError) as there:
        kl.apsp(cycle, out=tmp_path / "d.npy", on=client)
    assert sorted(there.value.cycle) == ["x", "y", "z"]
    assert kl.sssp(PLACES, sources=["a"], targets=["b"], on=client).distances.tolist() == [[2]]


def test_explain_tells_pieces_bytes_and_time(client: Any) -> None:
    text = str(kl.explain(SOCIAL, "apsp", on=client))
    assert "cluster: 2 workers with 2 threads; each has the graph once" in text
    assert "pieces: about " in text
    assert "bytes: workers write 3.0 MiB to the store" in text  # float64, and int32 predecessors
    assert "time: about " in text
    with pytest.raises(kl.RequestError, match="one source"):
        kl.explain(SOCIAL, "bfs", on=client)


def test_explain_is_the_plan_of_small_answers(client: Any, tmp_path: Path) -> None:
    """Of which workers write none; what the cluster did comes after it."""
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("sssp", (), {"pairs": [(0, 7), (9, 8)]}),
        ("apsp", (), {"sources": [0, 9], "targets": [7, 8]}),
        ("reduce_distances", (), {"sources": [0, 9]}),
        ("nearest", ([0, 9],), {"k": 2}),
    ]
    for name, given, options in calls:
        explained = kl.explain(CITY, name, *given, on=client, **options)
        made = getattr(kl, name)(CITY, *given, on=client, **options).plan
        own = replace(made, reasons=made.reasons[:-1], available=explained.available)
        assert explained == own, name
        assert made.reasons[-1].startswith("cluster: ")
    out = tmp_path / "d.zarr"
    with pytest.raises(kl.RequestError, match="leave out keep"):
        kl.explain(CITY, "apsp", keep="device", on=client)
    assert "pieces: about" in str(kl.explain(CITY, "apsp", sources=[0, 9], out=out, on=client))
    assert not out.exists()


def explained_rows(made: Any) -> Any:
    """Return a plan without what the cluster would make of it, or made."""
    notes = ("cluster: ", "pieces: ", "bytes: ", "time: ")
    return replace(made, reasons=tuple(why for why in made.reasons if not why.startswith(notes)))


@pytest.mark.parametrize(
    "asked",
    [{}, {"targets": [3, 5]}, {"predecessors": False, "limit": 9}, {"device": "cuda"}],
    ids=str,
)
def test_explain_is_the_plan_of_a_store_that_workers_write(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: dict[str, Any],
) -> None:
    plans: list[Any] = []

    def shown(work: Any, *_: Any) -> Any:
        plans.append(work.plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(dask_calls, "on_workers", shown)
    call: dict[str, Any] = {"sources": range(300), "out": tmp_path / "d.npy", **asked, "on": client}
    explained = kl.explain(CITY, "sssp", **call)
    with pytest.raises(KeyboardInterrupt):
        kl.sssp(CITY, **call)
    assert explained_rows(explained) == plans[0]
    width = 8 if "targets" in asked else (900 * (4 if "predecessors" in asked else 8))
    written = format_bytes(300 * width)
    assert f"bytes: workers write {written} to the store" in explained.reasons


def test_explain_of_a_store_that_workers_resume(
    client: Any,
    tmp_path: Path,
) -> None:
    out = tmp_path / "d.npy"
    call: dict[str, Any] = {"sources": range(300), "method": "dijkstra", "predecessors": False}
    kl.sssp(CITY, **call, out=out, on=client)
    ledger = out.with_name("d.npy.ledger")
    out.rename(tmp_path / "d.npy.partial")
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:-1]))  # a block is missing
    rows = Store.find(out).missing()[0]
    call["method"] = "auto"
    explained = kl.explain(CITY, "sssp", **call, out=out, on=client)
    assert explained.method == "dijkstra"
    assert "pieces: about 1 of" in str(explained)
    missing = format_bytes((rows.stop - rows.first) * 900 * 4)
    assert f"bytes: workers write {missing} to the store" in explained.reasons
    made = kl.sssp(CITY, **call, out=out, on=client).plan
    assert explained_rows(explained) == explained_rows(made)
    assert "read from" in str(kl.explain(CITY, "sssp", **call, out=out, on=client))
    with pytest.raises(kl.StoreError, match="limit"):
        kl.explain(CITY, "sssp", **call, limit=3, out=out, on=client)


def test_explain_of_no_rows(client: Any, tmp_path: Path) -> None:
    call: dict[str, Any] = {"sources": [], "out": tmp_path / "d.zarr", "on": client}
    explained = kl.explain(CITY, "apsp", **call)
    assert explained == kl.explain(CITY, "apsp", sources=[], on=client)
    assert explained == kl.apsp(CITY, **call).plan


@pytest.mark.skipif("emulated" not in this_machine().devices, reason="no emulator")
def test_workers_open_a_device_that_the_client_lacks(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = this_machine()
    devices = tuple(device for device in here.devices if device != "emulated")
    bare = LiveMachine(here.cores, None, here.simd, devices, here.absent)
    for module in (plan, prepared_form, sink):
        monkeypatch.setattr(module, "live_machine", lambda: bare)
    asked: dict[str, Any] = {"sources": [0, 9], "device": "emulated", "predecessors": False}
    with pytest.raises(kl.DeviceError):
        kl.sssp(CITY, **asked)
    wanted = kl.sssp(CITY, sources=[0, 9]).distances
    for method in ("auto", "near_far"):  # the CPU does not have the second
        found = kl.sssp(CITY, targets=[7, 8], method=method, on=client, **asked)
        assert found.plan.device == "emulated"
        assert np.array_equal(found.distances, wanted[:, 7:9])
    kept = kl.sssp(CITY, out=tmp_path / "d.npy", on=client, **asked)
    assert np.array_equal(kept.distances, wanted)
    prepared = kl.prepare(CITY)
    matrix = prepared.matrix([0, 9], [3, 5], device="emulated", on=client)
    assert (matrix.plan.method, matrix.plan.device) == ("prepared", "emulated")
    assert matrix.distances.tolist() == prepared.matrix([0, 9], [3, 5]).distances.tolist()
    if "cuda" not in here.devices:
        named = kl.explain(prepared, "sssp", sources=[0, 9], devices=[1], on=client)
        assert (named.method, named.where) == ("prepared", "cuda:1")
    sums = kl.reduce_distances(CITY, sources=[0, 9], device="emulated", on=client).sums
    assert np.array_equal(sums, wanted.sum(axis=1))
    assert "'emulated' on the workers" in str(
        kl.explain(CITY, "apsp", device="emulated", on=client)
    )


# ---- the command line ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("city") / "city.npz"
    kl.write(CITY, path)
    return path


def test_the_commands_take_a_cluster(client: Any, city: Path, tmp_path: Path) -> None:
    address = client.scheduler.address
    out = tmp_path / "d.npy"

    def run(*arguments: Any) -> Any:
        done = subprocess.run(
            [*KLEENE, *map(str, arguments), "--on", address, "--json"],
            capture_output=True,
            timeout=600,
        )
        assert (done.returncode, done.stderr) == (0, b""), done.stderr
        return json.loads(done.stdout)

    run("apsp", city, "--no-predecessors", "-o", out)
    assert np.array_equal(np.load(out), kl.apsp(CITY).distances)
    run("closure", city, "--semiring", "max_min", "-o", tmp_path / "w.npy")
    assert np.array_equal(np.load(tmp_path / "w.npy"), kl.closure(CITY, "max_min").values)
    assert (
        run("matrix", city, "-s", "1,2", "-t", "899,7")["distances"]
        == kl.sssp(CITY, sources=[1, 2], targets=[899, 7]).distances.tolist()
    )


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid and fields[0] != "Z":
                    found.append(int(entry.name))
            except (OSError, IndexError):
                pass
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_ctrl_c_ends_the_processes_of_a_command(tmp_path: Path) -> None:
    """As from a terminal: all processes of the group get the signal."""
    kl.write(kl.generate.rmat(scale=14, edge_factor=16, seed=1, weights=(1, 9)), tmp_path / "g.npz")
    command = [*KLEENE, "apsp", "g.npz", "-o", "d.npy", "--no-predecessors", "--workers", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    ) as process:
        ledger, end = tmp_path / "d.npy.ledger", time.monotonic() + 600
        while not ledger.exists() or ledger.read_bytes().count(b"\n") < 2:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)
        started = children(process.pid)
        assert len(started) >= 2
        os.killpg(process.pid, signal.SIGINT)
        said, complained = process.communicate(timeout=600)
    assert (process.returncode, said) == (130, b"")
    assert complained == b"kleene: interrupted\n"
    end = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in started) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    # A store without a finished block is removed; no file of the graph is left in any case.
    left = {f.name for f in tmp_path.iterdir()} - {"g.npz"}
    assert left in (set(), {"d.npy.partial", "d.npy.ledger"})
