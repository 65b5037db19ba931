"""Distributed results in stores: whole, checked, and never half written under their names."""

from __future__ import annotations

import errno
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_communicator import run_ranks
from mpi_samples import RANKS, SAMPLES

import kleene as kl
from kleene.clusters.mpi.arc_sums import graph_digest
from kleene.clusters.mpi.writing import _block_rows, find_stored, open_store
from kleene.distributed import bfs, read, sssp, verify, write
from kleene.stores.ledger import Ledger
from kleene.stores.npy import NpyWriter
from kleene.stores.store import Store, StoreSpec
from kleene.stores.zarr import ZarrWriter


def search_and_write(
    graph: Path, out: Path, source: int = 0, predecessors: bool = True, search: Any = sssp
) -> Any:
    """Return the work of a rank, which returns the class and text of its error, if any."""

    def work(comm: Any) -> Any:
        result = search(read(graph, comm=comm), source, predecessors=predecessors)
        try:
            write(result, out)
        except (kl.KleeneError, OSError) as error:
            return type(error), str(error)
        return result.distances, result.predecessors

    return work


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    kl.write(SAMPLES["rmat"](), tmp_path / "g.npz")
    return tmp_path / "g.npz"


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_what_is_written_is_the_result(
    suffix: str, ranks: int, sample: Path, tmp_path: Path
) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    out = tmp_path / f"d{suffix}"
    parts = run_ranks(ranks, search_and_write(sample, out))
    distances, links = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    assert distances.tolist() == kl.sssp(kl.read(sample), 0).distances.tolist()
    store = Store.look(out)
    assert store is not None
    assert store.finished
    assert store.verify() == ranks
    for name, array in (("distances", distances), ("predecessors", links)):
        stored = store.writer().read(name, 0, len(array))
        assert stored.dtype == array.dtype
        assert np.array_equal(stored, array)
    assert not list(tmp_path.glob("*.partial"))
    if suffix == ".npy":
        assert np.load(out).tolist() == distances.tolist()
        assert np.load(tmp_path / "d.predecessors.npy").tolist() == links.tolist()


@pytest.mark.parametrize("name", ["pair", "isolated", "no arcs"])
def test_more_ranks_than_vertices(name: str, tmp_path: Path) -> None:
    graph = SAMPLES[name]()
    kl.write(graph, tmp_path / "g.npz")
    run_ranks(7, search_and_write(tmp_path / "g.npz", tmp_path / "d.npy", search=bfs))
    assert np.load(tmp_path / "d.npy").tolist() == kl.bfs(graph, 0).distances.tolist()


@pytest.mark.parametrize(
    ("n", "ranks"), [(524_294, 2), (61_578_415, 4), (23_947_347, 3), (1_000_003, 3)]
)
def test_chunks_of_zarr_are_large(n: int, ranks: int, tmp_path: Path) -> None:
    """Also where the vertices of a rank are a number with few divisors."""
    rows = _block_rows(n, ranks)
    spec = StoreSpec({}, "", "", (n,), "int32", None, rows)
    writer = ZarrWriter(tmp_path / "d.zarr", spec)
    (chunk,), (shard,) = writer._chunks, writer._shards
    assert 2**16 <= chunk <= 2**18
    assert shard == rows
    assert rows % chunk == 0
    assert n / ranks <= rows < 1.25 * n / ranks


def test_another_number_of_ranks_completes_distances(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a store stay its own, whoever writes them."""
    out = tmp_path / "d.npy"
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "append", _append_twice_then_fail(Ledger.append))
        said = run_ranks(4, search_and_write(sample, out, predecessors=False))
    assert said == [(kl.StorageError, f"[Errno {errno.ENOSPC}] full: 'x'")] * 4
    assert not out.exists()
    store = Store.look(out)
    assert store is not None
    assert len(store.missing()) == 2
    before = (tmp_path / "d.npy.ledger").read_bytes()
    run_ranks(3, search_and_write(sample, out, predecessors=False))
    assert (tmp_path / "d.npy.ledger").read_bytes().startswith(before)
    assert np.load(out).tolist() == kl.sssp(kl.read(sample), 0).distances.tolist()


def _append_twice_then_fail(append: Any) -> Any:
    calls = []

    def failing(self: Any, entry: Any) -> None:
        calls.append(entry)
        if len(calls) > 2:
            raise kl.StorageError(errno.ENOSPC, "full", "x")
        append(self, entry)

    return failing


def test_a_rank_that_cannot_write(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "d.npy"
    original = NpyWriter._write

    def full(self: Any, name: str, piece: Any, block: Any) -> None:
        if piece.index == 1:
            raise OSError(errno.ENOSPC, "No space left on device", "d.npy.partial")
        original(self, name, piece, block)

    with monkeypatch.context() as patch:
        patch.setattr(NpyWriter, "_write", full)
        (said,) = set(run_ranks(3, search_and_write(sample, out)))
    assert said[0] is kl.StorageError
    assert "No space left" in said[1]
    assert not out.exists()
    run_ranks(3, search_and_write(sample, out))
    assert np.load(out).tolist() == kl.sssp(kl.read(sample), 0).distances.tolist()


def test_a_file_without_a_ledger_is_not_replaced(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.npy"
    out.write_bytes(b"old")
    (said,) = set(run_ranks(3, search_and_write(sample, out)))
    assert said[0] is kl.StoreError
    assert "already exists, but no ledger" in said[1]
    assert [path.name for path in tmp_path.iterdir() if path.suffix != sample.suffix] == ["d.npy"]
    assert out.read_bytes() == b"old"


def test_the_same_again_and_something_else(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.npy"
    run_ranks(2, search_and_write(sample, out))
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    run_ranks(2, search_and_write(sample, out))
    other_source = set(run_ranks(2, search_and_write(sample, out, source=1)))
    other_ranks = set(run_ranks(3, search_and_write(sample, out)))
    for said, words in (
        (other_source, "sources is"),
        (other_ranks, "call ranks is 2 there"),
    ):
        ((kind, message),) = said
        assert kind is kl.StoreError
        assert words in message
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files


def test_a_finished_search_is_found(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.npy"

    def find(comm: Any, source: int = 0, predecessors: bool = True, **options: Any) -> Any:
        graph = read(sample, comm=comm)
        found = find_stored(graph, "sssp", source, out, predecessors=predecessors, **options)
        if found is not None:
            assert verify(found).arcs == graph.m
        return None if found is None else found.distances.tolist()

    assert run_ranks(3, find) == [None] * 3
    parts = run_ranks(3, search_and_write(sample, out))
    assert run_ranks(3, find) == [part[0].tolist() for part in parts]
    for options in ({"source": 1}, {"predecessors": False}, {"dtype": "float64"}):
        assert run_ranks(3, lambda comm: find(comm, **options)) == [None] * 3  # noqa: B023
    whole = [value for part in parts for value in part[0].tolist()]
    assert [*chain(*run_ranks(2, find))] == whole  # whatever the number of ranks
    changed = bytearray(out.read_bytes())
    changed[-1] ^= 1
    out.write_bytes(changed)

    def refuse(comm: Any) -> str:
        with pytest.raises(kl.StoreError) as raised:
            find(comm)
        return str(raised.value)

    (message,) = set(run_ranks(3, refuse))
    assert "differ from those written; remove the store" in message


def test_a_store_is_opened_before_the_search(sample: Path, tmp_path: Path) -> None:
    """Names that cannot be used are refused then; a search that fails leaves nothing."""

    def work(name: str, source: int = 0, fail: bool = False) -> Any:
        def search(comm: Any) -> str:
            graph = read(sample, comm=comm)
            try:
                out = open_store(graph, "sssp", source, tmp_path / name, predecessors=True)
                with out as fill:
                    if fail:
                        sssp(graph, graph.n)
                    fill(sssp(graph, source))
            except (kl.KleeneError, OSError) as error:
                return f"{type(error).__name__}: {error}"
            return "written"

        (said,) = set(run_ranks(3, search))
        return said

    assert "there is no directory" in work("nowhere/d.npy", fail=True)
    assert "no vertex" in work("d.npy", fail=True)
    assert [path.name for path in tmp_path.iterdir()] == ["g.npz"]
    assert work("d.npy") == "written"
    assert np.load(tmp_path / "d.npy").tolist() == kl.sssp(kl.read(sample), 0).distances.tolist()
    assert "belongs to other work: sources" in work("d.npy", source=1, fail=True)


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_one_process_says_whose_store_it_is(suffix: str, sample: Path, tmp_path: Path) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    out, graph = tmp_path / f"d{suffix}", kl.read(sample)
    run_ranks(2, search_and_write(sample, out))
    cause = f"d{suffix} is the store of sssp on MPI ranks: resume or verify it under mpiexec"
    with pytest.raises(kl.StoreError, match=cause):
        kl.Result.load(out, graph)
    with pytest.raises(kl.StoreError, match=cause):
        kl.sssp(graph, 0, out=out)
    with pytest.raises(kl.StoreError, match=cause):
        kl.sssp(graph, sources=[0, 1], out=out)


def test_a_digest_is_that_of_the_graph(tmp_path: Path) -> None:
    """It depends on arcs and weights, not on ranks."""
    graphs = [
        kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3]),
        kl.Graph.from_edges([1, 2, 0], [0, 1, 2], [1, 2, 3]),
        kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 3, 2]),
        kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0]),
        kl.Graph.from_edges([0, 1, 2], [1, 2, 0]),
        kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], n=4),
    ]
    digests = []
    for graph in graphs:
        kl.write(graph, tmp_path / "g.npz")
        of = {
            digest
            for ranks in RANKS
            for digest in run_ranks(
                ranks, lambda comm: graph_digest(read(tmp_path / "g.npz", comm=comm))
            )
        }
        assert len(of) == 1
        digests += of
    assert len(set(digests)) == len(graphs)
