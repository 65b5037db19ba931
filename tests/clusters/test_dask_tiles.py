"""Closures in tiles on a Dask cluster: equal to one machine, whatever happens to workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_closure_tiles import CASES, graph

import kleene as kl
from kleene.clusters.dask import closure as dask_closure
from kleene.clusters.dask import graphs, tiles
from kleene.clusters.dask.graphs import SharedGraph
from kleene.stores.checkpoints import Checkpoints
from kleene.stores.tile_grid import TileGrid, choose_layout
from kleene.system.machine import this_machine

dask = pytest.importorskip("dask.distributed")
dask_config = pytest.importorskip("dask.config")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    # Dask closes the nanny of a worker that is gone 15 s after any loss of it: here, it may have
    # been back since then, and killed again.
    never = {"distributed.deploy.lost-worker-timeout": "1h"}
    with (
        dask_config.set(never),
        dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        dask.Client(cluster, set_as_default=False) as made,
    ):
        yield made


def choose_small(n: int, pair_bytes: float, cluster: Any, grid: TileGrid | None = None) -> Any:
    """Take tiles of side 64, where a matrix as small as that would be one tile."""
    return choose_layout(n, pair_bytes, cluster, grid or TileGrid(n, 64, 64))


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_closure, "choose_layout", choose_small)


@pytest.fixture
def checkpoint_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(tiles, "_CHECKPOINT_TIMES", 0.0)


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


# ---- answers ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, c)))
def test_equal_to_one_machine(client: Any, tmp_path: Path, case: tuple[str, str, bool]) -> None:
    semiring, dtype, paths = case
    g = graph(semiring, dtype, 200)
    asked: dict[str, Any] = {"predecessors": paths}
    if dtype != "bool":
        asked["dtype"] = dtype
    there = kl.closure(g, semiring, on=client, out=tmp_path / "d.npy", method="tiled", **asked)
    here = kl.closure(g, semiring, method="tiled", **asked)
    assert there.values.dtype == here.values.dtype
    if dtype.startswith("float"):
        assert np.allclose(there.values, here.values, rtol=1e-6)
    else:
        assert np.array_equal(there.values, here.values)
    there.verify()
    assert np.array_equal(np.load(tmp_path / "d.npy"), there.values)
    assert "tiles: 4 x 4 of side 64, 96 tasks in 4 rounds" in str(there.plan)
    paths_file = ["d.predecessors.npy"] if paths else []
    assert files(tmp_path) == ["d.npy", "d.npy.ledger", *paths_file]


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize(
    "asked",
    [
        {"predecessors": True},
        {"predecessors": False, "limit": 60},
        {"reverse": True},
        {"deterministic": True},
        {"targets": [5, 199, 5]},
    ],
    ids=lambda asked: "-".join(asked),
)
def test_all_pairs_of_a_matrix(client: Any, tmp_path: Path, asked: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    weights = np.where(rng.random((200, 200)) < 0.4, rng.integers(1, 300, (200, 200)), 2**31 - 1)
    g = kl.Graph.from_dense(weights.astype(np.int32))
    there = kl.apsp(g, on=client, out=tmp_path / "d.zarr", method="tiled", **asked)
    here = kl.apsp(g, method="tiled", **asked)
    assert np.array_equal(there.distances, here.distances)
    there.verify()
    if "deterministic" in asked:
        assert np.array_equal(there.predecessors, here.predecessors)
    again = kl.apsp(g, on=client, out=tmp_path / "d.zarr", method="tiled", **asked)
    assert np.array_equal(again.distances, here.distances)
    alone = kl.apsp(g, out=tmp_path / "d.zarr", method="tiled", **asked)  # finished: it is opened
    assert np.array_equal(alone.distances, here.distances)
    ledger = tmp_path / "d.zarr.ledger"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(kl.StoreError, match="give on= to resume it"):
        kl.apsp(g, out=tmp_path / "d.zarr", method="tiled", **asked)


@pytest.mark.parametrize("n", [1, 50, 300])
def test_a_matrix_smaller_than_a_tile(client: Any, tmp_path: Path, n: int) -> None:
    g = kl.generate.rmat(scale=10, edge_factor=8, seed=n).subgraph(range(n))
    seen: list[tuple[int, int]] = []
    there = kl.closure(
        g, on=client, out=tmp_path / "d.npy", method="tiled",
        progress=lambda *counts: seen.append(counts),
    )  # fmt: skip
    assert np.array_equal(there.values, kl.closure(g).values)
    assert seen == [(1, 1)]


@pytest.mark.usefixtures("small_tiles", "checkpoint_every_round")
def test_one_worker_with_two_threads(tmp_path: Path) -> None:
    g = graph("min_plus", "int32", 200)
    with (
        dask.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster,
        dask.Client(cluster, set_as_default=False) as client,
    ):
        there = kl.closure(g, "min_plus", on=client, out=tmp_path / "d.npy", method="tiled")
    assert np.array_equal(there.values, kl.closure(g, "min_plus").values)


@pytest.mark.skipif("emulated" not in this_machine().devices, reason="no emulator")
@pytest.mark.usefixtures("small_tiles")
def test_workers_use_the_device_that_is_asked_for(client: Any, tmp_path: Path) -> None:
    g = graph("max_min", "float64", 100)
    asked: dict[str, Any] = {"device": "emulated", "method": "tiled", "predecessors": True}
    there = kl.closure(g, "max_min", on=client, out=tmp_path / "d.npy", **asked)
    assert np.array_equal(there.values, kl.closure(g, "max_min").values)
    there.verify()
    assert there.plan.device == "emulated"


def test_explain_says_what_a_cluster_would_do(client: Any) -> None:
    plan = str(kl.explain(graph("min_plus", "int32"), "closure", on=client))
    assert "each worker's own choice" in plan
    assert "2 workers, 2 tasks at once" in plan
    assert "one tile" in plan


def test_a_plan_for_workers_says_once_where_they_run(client: Any) -> None:
    for device, why in (("auto", "each worker's own choice"), ("cpu", "'cpu' on the workers")):
        plan = kl.explain(graph("min_plus", "int32"), "closure", on=client, device=device)
        of_device = [reason for reason in plan.reasons if reason.startswith("device")]
        assert len(of_device) == 1
        assert of_device == [plan.reasons[0]]
        assert why in of_device[0]


@pytest.mark.usefixtures("small_tiles")
def test_what_tiles_do_not_do_is_refused(client: Any, tmp_path: Path) -> None:
    g = graph("min_plus", "int32")
    with pytest.raises(kl.RequestError, match="leave out sources"):
        kl.closure(g, sources=[1, 2], on=client, out=tmp_path / "d.npy", method="tiled")
    with pytest.raises(kl.RequestError, match="out="):
        kl.closure(g, targets=[1, 2], on=client, method="tiled")
    assert files(tmp_path) == []


def test_too_little_memory_is_refused(client: Any, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_closure, "choose_layout", lambda *_: None)
        with pytest.raises(kl.MemoryBudgetError, match="more workers"):
            kl.closure(
                graph("min_plus", "int32"), on=client, out=tmp_path / "d.npy", method="tiled"
            )
    assert files(tmp_path) == []


# ---- cycles and large sums ----------------------------------------------------------------------


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("reverse", [False, True])
def test_a_negative_cycle_is_reported_by_label(client: Any, tmp_path: Path, reverse: bool) -> None:
    n = 150
    ring = [f"v{i}" for i in range(n)]
    table = {"source": ring, "target": ring[1:] + ring[:1], "weight": [2] * n}
    table = {key: [*values, *more] for (key, values), more in zip(
        table.items(), (["v9", "v140"], ["v140", "v9"], [-900, 1]), strict=True
    )}  # fmt: skip
    g = kl.Graph.from_table(table, weight="weight")
    with pytest.raises(kl.NegativeCycleError) as found:
        kl.apsp(g, on=client, out=tmp_path / "d.npy", method="tiled", reverse=reverse)
    cycle = found.value.cycle
    arcs = set(zip(table["source"], table["target"], strict=True))
    assert all(arc in arcs for arc in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert "v9" in cycle
    assert "v140" in cycle
    assert files(tmp_path) == []
    other = graph("min_plus", "int32", 100)  # the name is free again
    kl.apsp(other, on=client, out=tmp_path / "d.npy", method="tiled").verify(sample=3)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("weights", [[0.3, -0.1, -0.2], [2**61, 2**59, -5]], ids=["round", "large"])
def test_what_no_matrix_can_close_is_searched_for(
    client: Any, tmp_path: Path, weights: list[float]
) -> None:
    n = 130
    tails = [*range(n - 1), 3, 100, 60]
    heads = [*range(1, n), 100, 60, 3]
    kind = np.float64 if isinstance(weights[0], float) else np.int64
    g = kl.Graph.from_edges(tails, heads, np.array([1] * (n - 1) + weights, kind), n=n)
    there = kl.apsp(g, on=client, out=tmp_path / "d.npy", method="tiled")
    assert np.allclose(there.distances, kl.apsp(g).distances)
    there.verify()


# ---- what happens to workers and clients --------------------------------------------------------


#: Runs a closure in a process of its own, which may be killed, and which may kill workers: their
#: ids and the numbers of tasks after which each is killed are arguments.
SCRIPT = """
    import os, signal, sys
    tests, scheduler, out, seconds, *kills = sys.argv[1:]
    sys.path.insert(0, tests)
    import kleene as kl
    from test_dask_tiles import TileGrid, choose_layout, graph, tiles, dask_closure

    dask_closure.choose_layout = lambda n, *asked: choose_layout(
        n, *asked[:2], TileGrid(n, 64, 64)
    )
    tiles.CHECKPOINT_SECONDS = tiles._CHECKPOINT_TIMES = float(seconds)

    def end(done, total):
        while kills and done >= int(kills[1]):
            os.kill(int(kills.pop(0)) or os.getpid(), signal.SIGKILL)
            del kills[0]

    g = graph("min_plus", "float64", 300)
    kl.closure(g, "min_plus", on=scheduler, out=out, progress=end, method="tiled",
               predecessors=True)
    assert not kills
"""


def run_script(client: Any, out: Path, *arguments: float) -> int:
    """Run the script; return its exit status."""
    folder = str(Path(__file__).parent)
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), folder, client.scheduler.address, str(out),
         *map(str, arguments)],
        timeout=600, check=False,
    )  # fmt: skip
    return ended.returncode


def whole(client: Any, folder: Path) -> list[bytes]:
    """Return the files of a run that nothing disturbs."""
    g = graph("min_plus", "float64", 300)
    out = folder / "whole.npy"
    kl.closure(g, "min_plus", out=out, on=client, method="tiled", predecessors=True)
    return contents(out)


def contents(out: Path) -> list[bytes]:
    return [out.read_bytes(), out.with_suffix(".predecessors.npy").read_bytes()]


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("seconds", [1000, 0], ids=["lineage", "checkpoints"])
def test_killed_workers_change_no_byte(client: Any, tmp_path: Path, seconds: float) -> None:
    wanted, out = whole(client, tmp_path), tmp_path / "d.npy"
    first, second = client.run(os.getpid).values()
    assert run_script(client, out, seconds, first, 40, second, 90) == 0
    assert contents(out) == wanted
    client.wait_for_workers(2, timeout=60)


@pytest.mark.usefixtures("small_tiles", "checkpoint_every_round")
def test_a_killed_client_resumes_from_its_checkpoint(client: Any, tmp_path: Path) -> None:
    wanted, out = whole(client, tmp_path), tmp_path / "d.npy"
    assert run_script(client, out, 0, 0, 90) == -signal.SIGKILL
    assert "d.npy.tiles.ledger" in files(tmp_path)
    seen: list[int] = []
    kl.closure(
        graph("min_plus", "float64", 300), "min_plus", out=out, on=client, method="tiled",
        predecessors=True, progress=lambda done, _: seen.append(done),
    )  # fmt: skip
    assert min(seen) > 50  # two rounds of 25 tiles were done, or three
    assert seen[-1] == 125
    assert contents(out) == wanted
    assert not [name for name in files(tmp_path) if "tiles" in name]


def interrupt(client: Any, g: kl.Graph, out: Path) -> None:
    """Begin a closure, and end it by an error after some rounds."""

    def end(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kl.closure(g, "min_plus", on=client, out=out, progress=end, method="tiled")


@pytest.mark.usefixtures("small_tiles", "checkpoint_every_round")
def test_checkpoints_that_are_damaged_or_gone(client: Any, tmp_path: Path) -> None:
    g, out = graph("min_plus", "int32", 250), tmp_path / "d.npy"
    interrupt(client, g, out)
    (kept,) = tmp_path.glob("d.npy.tiles-*")
    content = bytearray(kept.read_bytes())
    content[5] ^= 1
    kept.write_bytes(content)
    with pytest.raises(kl.StoreError, match="tile 0,0 is damaged"):
        kl.closure(g, "min_plus", on=client, out=out, method="tiled")
    kept.unlink()
    there = kl.closure(g, "min_plus", on=client, out=out, method="tiled")
    assert np.array_equal(there.values, kl.closure(g, "min_plus").values)
    interrupt(client, g, tmp_path / "e.npy")
    other = graph("min_plus", "int32", 249)
    with pytest.raises(kl.StoreError, match="graph"):
        kl.closure(other, "min_plus", on=client, out=tmp_path / "e.npy", method="tiled")


def test_explain_of_tiles_that_were_begun(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    g, out = graph("min_plus", "int32", 250), tmp_path / "d.npy"
    with monkeypatch.context() as patch:
        patch.setattr(dask_closure, "choose_layout", choose_small)
        kl.closure(g, "min_plus", on=client, out=out, method="tiled")
    out.rename(tmp_path / "d.npy.partial")
    ledger = tmp_path / "d.npy.ledger"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:-1]))
    begun = files(tmp_path)
    text = str(kl.explain(g, "closure", "min_plus", on=client, out=out, method="tiled"))
    assert "tiles: 4 x 4 of side 64" in text
    with pytest.raises(kl.StoreError, match="graph"):
        kl.explain(graph("min_plus", "int32", 249), "closure", on=client, out=out, method="tiled")
    assert files(tmp_path) == begun


@pytest.mark.usefixtures("small_tiles", "checkpoint_every_round")
@pytest.mark.parametrize("again", ["there", "here"])
def test_what_a_killed_client_left_beside_a_finished_store_goes(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    g, out = graph("min_plus", "int32", 150), tmp_path / "d.npy"
    with monkeypatch.context() as patch:
        for name in ("remove", "discard"):  # as if it were killed before
            patch.setattr(Checkpoints, name, lambda _: None)
        kl.closure(g, "min_plus", on=client, out=out, method="tiled")
    (tmp_path / ".kleene-0123456789abcdef.part.kp").touch()
    assert len(files(tmp_path)) >= 5  # a checkpoint may be half written
    on = client if again == "there" else None
    kl.closure(g, "min_plus", on=on, out=out, method="tiled")
    assert files(tmp_path) == ["d.npy", "d.npy.ledger"]


@pytest.mark.usefixtures("small_tiles")
def test_workers_that_do_not_see_the_graph_get_it(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hidden(SharedGraph):
        def __reduce__(self) -> tuple[Any, ...]:
            return SharedGraph, (f"/nowhere/{self.name}", self.load)

    monkeypatch.setattr(graphs, "SharedGraph", Hidden)
    g = graph("min_plus", "int32", 150)
    there = kl.closure(g, "min_plus", on=client, out=tmp_path / "d.npy", method="tiled")
    assert np.array_equal(there.values, kl.closure(g, "min_plus").values)


@pytest.mark.usefixtures("small_tiles")
def test_tasks_have_names_that_people_understand(client: Any, tmp_path: Path) -> None:
    with dask.get_task_stream(client) as stream:
        kl.closure(
            graph("min_plus", "int32"), "min_plus", on=client, out=tmp_path / "d.npy",
            method="tiled",
        )  # fmt: skip
    names = {str(task["key"]).rpartition("-")[0] for task in stream.data}
    assert "closure column-round 2 tile 2,2" in names
    assert "closure panel-round 1 tile 1,0" in names
    assert "closure relax-round 0 tile 2,1" in names
    assert "closure rows-64-127" in names
