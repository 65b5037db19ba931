"""Files of an earlier version open, prove right, and are resumed bit for bit: see kept_samples."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kept_samples as kept
import numpy as np
import pytest

import kleene as kl
from kleene.stores.store import Store
from kleene.system.machine import this_machine

EXPECTED = json.loads((kept.FOLDER / "expected.json").read_text())
STORED = EXPECTED["stores"]


def test_everything_is_there_and_small() -> None:
    files = [file for file in kept.FOLDER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 1.25 * 2**20
    for folder, names in (
        ("results", {f"{name}.npz" for name in kept.RESULTS}),
        ("tables", set(kept.TABLES)),
        ("prepared", set(kept.PREPARED)),
        ("stores", {f"{name}.tar.xz" for name in STORED}),
        ("graphs", {f"{name}.npz" for name in EXPECTED["graphs"]}),
    ):
        assert {file.name for file in files if file.parent.name == folder} == names


# ---- files that are read ------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPECTED["graphs"])
def test_graphs_are_read(name: str, tmp_path: Path) -> None:
    graph = kept.opened(name)
    assert kept.digest_of_graph(graph) == EXPECTED["graphs"][name]
    kl.write(graph, tmp_path / "again.npz")
    assert graph.equals(kl.read(tmp_path / "again.npz"))


def test_labels_rows_and_positions_are_read() -> None:
    graph = kept.opened("labels")
    assert [graph.label(v) for v in range(graph.n)] == list("abcde")
    assert graph.reweight(rows=[1, 2, 3, 4, 5, 6, 7]).weights.tolist() == [1, 2, 6, 4, 5, 7]
    assert graph.positions.tolist() == [[0, 0], [1, 2], [3, 4], [2, 2], [5, 1]]
    assert not kept.opened("friends").directed


@pytest.mark.parametrize("name", kept.RESULTS)
def test_results_are_proved_and_equal_a_fresh_answer(name: str, tmp_path: Path) -> None:
    source, call = kept.RESULTS[name]
    file = kept.FOLDER / "results" / f"{name}.npz"
    load = kl.PairsResult.load if name.startswith("pairs") else kl.Result.load
    found, fresh = load(file, kept.graph_of(name)), call(kept.opened(source))
    found.verify()
    require_same(found, fresh)
    for field in ("problem", "semiring", "dtype"):
        assert getattr(found.plan, field) == getattr(fresh.plan, field)
    found.save(tmp_path / "again.npz")
    require_same(load(tmp_path / "again.npz", kept.graph_of(name)), found)


def require_same(found: Any, fresh: Any) -> None:
    assert found.distances.dtype == fresh.distances.dtype
    assert np.array_equal(found.distances, fresh.distances)
    if isinstance(fresh, kl.PairsResult):
        return
    assert np.array_equal(found.sources, fresh.sources)
    assert (found.targets is None) == (fresh.targets is None)
    links = "next_hops" if found.reverse else "predecessors"
    assert (getattr(found, links) is None) == (getattr(fresh, links) is None)


@pytest.mark.parametrize("name", kept.TABLES)
def test_tables_are_written_as_they_were(name: str, tmp_path: Path) -> None:
    kept.TABLES[name](kept.opened("labels")).save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == (kept.FOLDER / "tables" / name).read_bytes()


@pytest.mark.parametrize("name", kept.PREPARED)
def test_prepared_graphs_answer(name: str, tmp_path: Path) -> None:
    sample = kept.PREPARED[name]
    graph, loaded = kept.opened(sample.graph), kept.opened(name)
    dtype = None if sample.semiring == "boolean" else loaded.dtype
    options: dict[str, Any] = {"dtype": dtype, "method": "tiled"}
    if sample.semiring == "min_plus":
        wanted = kl.apsp(graph, **options)
    else:
        wanted = kl.closure(graph, sample.semiring, **options)
    found = loaded.matrix(wanted.sources, wanted.sources)
    assert found.distances.dtype == wanted.distances.dtype
    np.testing.assert_allclose(found.distances, wanted.distances, rtol=1e-5)
    found.verify(sample=5)
    loaded.tree(wanted.sources[0]).verify()
    loaded.save(tmp_path / name)
    again = kl.load_prepared(tmp_path / name).matrix(wanted.sources, wanted.sources)
    assert np.array_equal(again.distances, found.distances)


# ---- stores -------------------------------------------------------------------------------------


def finished(name: str, folder: Path) -> Path:
    """Return a store that is whole, unpacked; skip where its rounds only were kept."""
    path = kept.unpack(name, folder) / "finished" / name
    if not path.exists():
        pytest.skip("of large ones, digests are kept")
    return path


def begun(name: str, folder: Path) -> Path:
    """Return the name of a store that is not whole, unpacked."""
    path = kept.unpack(name, folder) / "half" / name
    assert not path.exists()
    return path


def done_lines(path: Path) -> list[bytes]:
    """Return the lines of the ledger of a store; none where there is no ledger yet."""
    ledger = path.with_name(f"{path.name}.ledger")
    return ledger.read_bytes().splitlines() if ledger.exists() else []


def require_resumed(path: Path, before: list[bytes]) -> None:
    """Require the bytes of a call that was not ended, and of what was done that it stayed."""
    assert kept.content(path) == STORED[path.name]
    assert done_lines(path)[: len(before)] == before
    store = Store.find(path)
    assert store.finished
    store.verify()
    left = [file.name for file in path.parent.iterdir()]
    assert not [name for name in left if name.endswith((".rounds", ".partial")) or ".tiles" in name]


def require_device(sample: kept.StoreSample) -> None:
    if sample.device not in this_machine().devices:
        pytest.skip(f"no device {sample.device!r}")


@pytest.mark.parametrize("name", kept.STORE_NAMES)
def test_finished_stores_are_opened(name: str, tmp_path: Path) -> None:
    path = finished(name, tmp_path)
    assert kept.content(path) == STORED[name]
    store, sample = Store.find(path), kept.STORES[path.stem]
    assert store.finished
    assert store.verify() == len(store.spec.pieces) >= 3
    before = done_lines(path)
    source = kept.opened(sample.graph)
    again = sample.call(source, path)
    assert again.plan.reasons == (f"read from {name}",)
    assert done_lines(path) == before
    again.verify(sample=5)
    graph = kept.opened(kept.PREPARED[sample.graph].graph) if ".kp" in sample.graph else source
    loaded = kl.Result.load(path, graph)
    assert np.array_equal(loaded.distances, again.distances)


@pytest.mark.parametrize("name", kept.STORE_NAMES)
def test_half_finished_stores_are_resumed(name: str, tmp_path: Path) -> None:
    """By another call on this machine: threads, memory and the size of blocks are its own."""
    path = begun(name, tmp_path)
    sample, before = kept.STORES[path.stem], done_lines(path)
    require_device(sample)
    result = sample.call(kept.opened(sample.graph), path)
    require_resumed(path, before)
    result.verify(sample=5)
    if path.stem.startswith("rounds"):
        assert any(reason.startswith("resumed: ") for reason in result.plan.reasons)


@pytest.mark.parametrize("name", kept.STORE_NAMES)
def test_half_finished_stores_of_other_calls_are_refused(name: str, tmp_path: Path) -> None:
    path = begun(name, tmp_path)
    sample = kept.STORES[path.stem]
    require_device(sample)
    if ".kp" in sample.graph:
        pytest.skip("a prepared graph keeps its weights")
    files = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    graph = kept.opened(sample.graph)
    other = graph.subgraph(range(graph.n - 1)) if graph.n > 5 else graph.reweight(arcs=[1] * 6)
    with pytest.raises(kl.StoreError, match="belongs to other work"):
        sample.call(other, path)
    assert {f: f.read_bytes() for f in path.parent.rglob("*") if f.is_file()} == files


def test_a_store_of_ranks_is_finished_by_other_ranks(tmp_path: Path) -> None:
    from fake_communicator import run_ranks

    assert kept.content(finished(kept.RANKS, tmp_path / "whole")) == STORED[kept.RANKS]
    path = begun(kept.RANKS, tmp_path)
    before = done_lines(path)
    assert 1 < len(before) < 4
    run_ranks(2, kept.search_on_ranks(path))
    require_resumed(path, before)
    with pytest.raises(kl.StoreError, match="on MPI ranks"):
        kl.sssp(kept.opened("city"), sources=[0, 1], out=path)


# ---- clusters -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    dask = pytest.importorskip("dask.distributed")
    with (
        dask.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        dask.Client(cluster, set_as_default=False) as made,
    ):
        yield made


def test_tiles_are_resumed_from_their_checkpoint(client: Any, tmp_path: Path) -> None:
    path = begun(kept.TILES, tmp_path)
    copied = tmp_path / "alone"
    shutil.copytree(path.parent, copied)
    with pytest.raises(kl.StoreError, match="begun in tiles on a cluster"):
        kept.close_tiles(copied / path.name, None)
    assert path.with_name(f"{path.name}.tiles.ledger").exists()
    kept.close_tiles(path, client)
    assert "tile" in Store.find(path).spec.call
    require_resumed(path, [])
    whole = finished(kept.TILES, tmp_path / "whole")
    assert kept.content(whole) == STORED[kept.TILES]
    kept.close_tiles(whole, "tcp://127.0.0.1:1").verify(sample=5)  # finished: needs no cluster


def test_rows_of_workers_are_resumed_there_and_here(client: Any, tmp_path: Path) -> None:
    for number, on in enumerate((client, None)):
        path = begun(kept.ROWS, tmp_path / str(number))
        before = done_lines(path)
        kept.search_rows(path, on).verify(sample=5)
        require_resumed(path, before)
    whole = finished(kept.ROWS, tmp_path)
    kept.search_rows(whole, None).verify(sample=5)
