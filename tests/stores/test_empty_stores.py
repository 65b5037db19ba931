"""Stores that were left before their first block was done: the next call begins them anew."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import kleene
from fake_communicator import run_ranks
from store_samples import SPEC, fill, rows

import kleene as kl
from kleene.clusters.mpi.writing import open_store
from kleene.distributed import read, sssp
from kleene.stores import ledger as ledgers
from kleene.stores.matrix_files import RoundFiles
from kleene.stores.resumable import find_resumable, is_empty
from kleene.stores.store import Store, ledger_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks")

GRAPH = kl.generate.uniform(40, 200, weights=(1, 9), seed=4)


@pytest.fixture(params=["npy", "zarr"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"d.{request.param}"


def leave(path: Path, blocks: int = 0) -> None:
    """Leave what a process leaves that is killed after some blocks."""
    store = Store.open(path, SPEC, {"source": np.arange(23)})
    for piece in store.missing()[:blocks]:
        store.record(piece, store.writer().write(piece, *rows(piece)))
    store.close()


def left(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def test_an_empty_store_is_removed(path: Path) -> None:
    leave(path)
    assert is_empty(Store.look(path))
    assert find_resumable(path) is None
    assert left(path) == []
    assert find_resumable(path) is None


def test_a_store_with_blocks_or_in_use_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path, SPEC) as held:
        with pytest.raises(kl.StoreError, match="another process is using"):
            find_resumable(path)
        assert not held.done
    monkeypatch.setattr(ledgers, "_lock", lambda *_: False)  # a file system without locks
    assert find_resumable(path) is not None
    monkeypatch.undo()
    RoundFiles.folder_of(path).mkdir()  # what its blocks are to be computed from
    assert find_resumable(path) is not None
    RoundFiles.folder_of(path).rmdir()
    leave(path, blocks=1)
    before = left(path)
    found = find_resumable(path)
    assert found is not None
    assert len(found.done) == 1
    assert left(path) == before


def test_a_finished_store_whose_lines_were_removed_is_kept(path: Path) -> None:
    fill(path)
    ledger = ledger_of(path)
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    assert find_resumable(path) is not None
    assert path.exists()


def test_another_call_begins_anew(path: Path) -> None:
    leave(path)
    found = kl.sssp(GRAPH, sources=[3, 4], targets=[7], out=path)
    assert np.array_equal(found.distances, kl.sssp(GRAPH, sources=[3, 4]).distances[:, [7]])
    assert not list(path.parent.glob("*.partial"))
    assert Store.find(path).finished


@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_commands_begin_anew(path: Path, resume: tuple[str, ...]) -> None:
    kl.write(GRAPH, path.parent / "g.npz")
    leave(path)
    done = kleene("bfs", path.parent / "g.npz", "3", "-o", path, *resume)
    assert done.exit_code == 0, done.output
    assert not list(path.parent.glob("*.partial"))
    leave(path.with_stem("e"), blocks=1)
    refused = kleene("bfs", path.parent / "g.npz", "3", "-o", path.with_stem("e"))
    assert refused.exit_code != 0
    assert "remove the ledger and all files of the store" in " ".join(refused.output.split())


def test_any_number_of_ranks_begins_anew(path: Path) -> None:
    """As after a job that was killed during the search."""
    kl.write(GRAPH, path.parent / "g.npz")
    killed = path.parent / "killed"
    killed.mkdir()

    def work(out: Path, keep: bool) -> Any:
        def search(comm: Any) -> None:
            graph = read(path.parent / "g.npz", comm=comm)
            with open_store(graph, "sssp", 3, out, predecessors=True) as fill:
                if keep and comm.rank == 0:
                    for file in out.parent.glob("d.*"):
                        copy = shutil.copytree if file.is_dir() else shutil.copy
                        copy(file, killed / file.name)
                fill(sssp(graph, 3))

        return search

    run_ranks(2, work(path, True))
    out = killed / path.name
    assert is_empty(Store.look(out))
    run_ranks(3, work(out, False))
    store = Store.find(out)
    assert store.finished
    assert store.spec.call["ranks"] == 3
    assert not list(killed.glob("*.partial"))
    assert np.array_equal(store.writer().whole("distances"), kl.sssp(GRAPH, 3).distances)
