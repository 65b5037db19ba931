"""Calls with out="d.zarr" or "d.npy": the same answers, in blocks, resumed, refused, read back."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kleene as kl
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.stores import sink
from kleene.stores.load import StoredRows
from kleene.stores.sink import with_block_rows
from kleene.stores.store import Store, ledger_of
from kleene.system.machine import Machine

if TYPE_CHECKING:
    from fake_gpu import FakeGpu

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks and signals")

GRAPH = kl.generate.uniform(300, 2000, weights=(1, 9), seed=4)
ROADS = kl.generate.grid(18, 18, weights=(1, 9), seed=2)
CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "apsp": (kl.apsp, {}),
    "apsp, limit": (kl.apsp, {"limit": 7}),
    "apsp, reverse": (kl.apsp, {"reverse": True, "sources": range(250)}),
    "apsp, distances": (kl.apsp, {"predecessors": False, "method": "batched"}),
    "apsp, targets": (kl.apsp, {"targets": [7, 3, 7, 250]}),
    "apsp, deterministic": (kl.apsp, {"deterministic": True}),
    "bfs": (kl.bfs, {"sources": range(280)}),
    "bfs, targets, limit, reverse": (
        kl.bfs,
        {"sources": range(280), "targets": [9, 8], "limit": 3, "reverse": True},
    ),
    "sssp": (kl.sssp, {"sources": [5, 5, *range(200)], "dtype": "float32"}),
    "sssp, limit": (kl.sssp, {"sources": range(200), "limit": 4.5, "dtype": "float64"}),
}


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "choose_block_rows", lambda rows, *_: min(48, max(1, rows)))


@pytest.fixture(params=["npy", "zarr"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"d.{request.param}"


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_of_plain_calls(name: str, device: str, path: Path) -> None:
    call, options = CALLS[name]
    if device == "emulated":
        own = {"method": "batched"} if call is kl.apsp else {}
        options = {**options, **own, "sources": range(60)}
    graph = GRAPH if device == "cpu" else kl.generate.uniform(270, 900, weights=(1, 9), seed=4)
    plain = call(graph, device=device, **options)
    stored = call(graph, device=device, out=path, **options)
    found = Store.look(path)
    assert found is not None
    assert len(found.done) == -(-len(plain.sources) // 48) > 1
    assert np.array_equal(stored.distances, plain.distances)
    assert stored.distances.dtype == plain.distances.dtype
    assert stored.verify().rows == len(plain.sources)
    assert str(stored).split(", ")[1:3] == str(plain).split(", ")[1:3]
    far = options.get("targets", [7, 44, 250])
    for source in plain.sources.tolist()[::37]:
        for target in far:
            ends = (target, source) if plain.reverse else (source, target)
            if not options.get("predecessors", True):
                with pytest.raises(kl.RequestError, match="predecessors"):
                    stored.path(*ends)
                continue
            route = stored.route(*ends)
            assert len(stored.path(*ends)) == len(route.vertices)
            assert route.distance == plain.route(*ends).distance
    if "targets" not in options and not plain.reverse and plain.predecessors is not None:
        assert stored.predecessors.shape == plain.predecessors.shape
    again = kl.Result.load(path, graph)
    assert np.array_equal(again.distances, plain.distances)
    again.verify(sample=5)


@pytest.mark.parametrize("semiring", ["boolean", "max_min", "min_plus"])
def test_closures_by_rows(semiring: str, path: Path) -> None:
    for options in ({"method": "prepared"}, {"method": "prepared", "predecessors": True}):
        file = path.with_stem("".join(options))
        stored = kl.closure(ROADS, semiring, out=file, **options)
        assert np.array_equal(stored.values, kl.closure(ROADS, semiring).values)
        assert Store.look(file).spec.block_rows == 48  # type: ignore[union-attr]
        stored.verify()


def test_methods_on_matrices(tmp_path: Path) -> None:
    """They compute all rows at once: into a plain .npy, or into the blocks of a Zarr store."""
    dense = kl.Graph.from_dense(np.random.default_rng(1).random((150, 150)))
    wanted = kl.apsp(dense, method="tiled")
    stored = kl.apsp(dense, method="tiled", out=tmp_path / "d.zarr")
    assert np.array_equal(stored.distances, wanted.distances)
    assert len(Store.look(tmp_path / "d.zarr").done) == 4  # type: ignore[union-attr]
    stored.verify()
    kl.apsp(dense, method="tiled", out=tmp_path / "d.npy")
    assert not ledger_of(tmp_path / "d.npy").exists()
    assert np.array_equal(np.load(tmp_path / "d.npy"), wanted.distances)


def test_prepared_graphs(path: Path) -> None:
    prepared = kl.prepare(ROADS)
    stored = kl.apsp(prepared, out=path)
    assert np.array_equal(stored.distances, kl.apsp(ROADS).distances)
    assert stored.plan.method == "prepared"
    stored.verify()
    assert len(stored.path(0, 323)) > 1
    some, to = range(5, 105), [3, 300]
    matrix = prepared.matrix(some, to, out=path.with_stem("m"))
    assert np.array_equal(matrix.distances, prepared.matrix(some, to).distances)
    assert len(Store.look(path.with_stem("m")).done) == 3  # type: ignore[union-attr]
    matrix.verify()
    assert matrix.route(5, 300).distance == kl.sssp(ROADS, 5).route(300).distance
    small = prepared.matrix(range(9), to, out=path.with_name("small.npy"))  # plain, as ever
    assert np.array_equal(np.load(path.with_name("small.npy")), small.distances)
    assert not ledger_of(path.with_name("small.npy")).exists()
    widest = kl.prepare(ROADS, semiring="max_min")
    assert np.array_equal(
        widest.closure(out=path.with_stem("c")).values, kl.closure(ROADS, "max_min").values
    )
    with pytest.raises(kl.RequestError, match=r"\.npy file or a \.zarr directory"):
        prepared.matrix(some, to, out="m.csv")


def test_small_answers_are_plain_files(tmp_path: Path) -> None:
    path = tmp_path / "d.npy"
    for options in ({"sources": [3]}, {"source": 3}):
        kl.sssp(GRAPH, out=path, **options)
        assert os.listdir(tmp_path) == ["d.npy"]
        before = path.read_bytes()
        for graph in (GRAPH, GRAPH.transpose()):  # a plain file does not say whose it is
            with pytest.raises(kl.StoreError, match="already exists, but no ledger"):
                kl.sssp(graph, out=path, **options)
        assert path.read_bytes() == before
        path.unlink()
    path.touch()  # as tempfile makes them: nothing could be lost
    kl.sssp(GRAPH, 3, out=path)
    assert path.read_bytes() == before
    path.unlink()
    one = kl.bfs(GRAPH, 3, out=tmp_path / "e.zarr")
    assert one.distances.shape == (300,)
    assert one.path(3) == [3]
    one.verify()
    kl.apsp(GRAPH, out=path)
    with pytest.raises(kl.StoreError, match="store of several rows"):
        kl.sssp(GRAPH, 3, out=path)
    none = kl.apsp(GRAPH, sources=[], out=tmp_path / "f.zarr")
    assert none.distances.shape == (0, 300)


def test_links_lead_to_the_store(path: Path) -> None:
    (path.parent / "there").mkdir()
    path.symlink_to(Path("there", path.name))
    for _ in range(2):
        assert kl.apsp(GRAPH, out=path).distances.shape == (300, 300)
    assert path.is_symlink()
    assert ledger_of(path).parent.name == "there"
    assert os.listdir(path.parent) in ([path.name, "there"], ["there", path.name])
    os.mkfifo(path.with_name("pipe.npy"))
    with pytest.raises(kl.RequestError, match="not a regular file"):
        kl.apsp(GRAPH, out=path.with_name("pipe.npy"))


_LIMITED = """
import resource, sys
import kleene as kl
g = kl.generate.uniform(6000, 30_000, weights=(1, 9), seed=8)
kl.sssp(g, sources=range(8), threads=1)
pages = int(open("/proc/self/statm").read().split()[0])
room = pages * resource.getpagesize() + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (room, room))
try:
    r = kl.apsp(g, threads=1)
except MemoryError:
    print("refused")
r = kl.apsp(g, out=sys.argv[1], threads=1)
print(r.verify(sample=8).rows, r.path(5, 77)[-1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_answer_larger_than_memory(tmp_path: Path) -> None:
    """288 MB of rows with 200 MB of address space: written, read and proved."""
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, tmp_path / "d.npy", "200"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.stdout == "refused\n8 77\n", done.stderr


def test_results_travel(path: Path) -> None:
    stored = kl.apsp(GRAPH, out=path)
    for other in (pickle.loads(pickle.dumps(stored)), copy.deepcopy(stored)):
        assert isinstance(other._answer.values, StoredRows)
        assert other.path(3, 77) == stored.path(3, 77)
    stored.save(path.with_name("r.npz"))
    kl.Result.load(path.with_name("r.npz"), GRAPH).verify()
    frame = stored.to_pandas()
    assert len(frame) == np.count_nonzero(stored.reached)


def test_tables_and_statistics_of_stores(path: Path) -> None:
    plain = kl.apsp(GRAPH)
    stored = kl.apsp(GRAPH, out=path)
    assert np.array_equal(stored.next_hops >= 0, plain.next_hops >= 0)
    assert stored._repr_html_().count("<tr") == plain._repr_html_().count("<tr")
    assert np.array_equal(stored.floats, plain.floats)


def test_too_large_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = kl.apsp(GRAPH, out=tmp_path / "d.zarr")
    monkeypatch.setattr("kleene.stores.zarr.available_memory", lambda: 300_000)
    with pytest.raises(kl.MemoryBudgetError, match=r"351\.6 KiB.*fit: zarr\.open_array\(.*\.npy"):
        _ = stored.distances
    assert stored.path(3, 77)[-1] == 77  # by rows
    assert "of 90,000 reached" in str(stored)
    stored.verify()
    assert isinstance(kl.apsp(GRAPH, out=tmp_path / "d.npy").distances, np.memmap)


# ---- plans --------------------------------------------------------------------------------------


def test_plans_know_that_rows_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the estimates decide
    monkeypatch.setattr("kleene.planning.machine.available_memory", lambda: 2**31)
    monkeypatch.setattr(sink, "total_memory", lambda: 2**34)  # most is in use
    large = kl.generate.uniform(100_000, 400_000, weights=(1, 9), seed=1)
    with pytest.raises(kl.MemoryBudgetError, match=r"out='distances\.npy'"):
        kl.explain(large, "apsp")
    for out in ("d.zarr", "d.npy"):
        plan = kl.explain(large, "apsp", out=out)
        assert plan.memory < 2**31
        note = plan.reasons[-1]
        rows = int(note.split(" blocks of ")[1].split()[0].replace(",", ""))
        assert note.startswith("store: ")
        assert 1 < rows * 100_000 * 8 <= 2**31 // 32
    with pytest.raises(kl.RequestError, match=r"\.npy file or a \.zarr directory, not 'd\.txt'"):
        kl.explain(large, "apsp", out="d.txt")


def test_a_matrix_that_does_not_fit_goes_in_rounds_or_by_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dense, most = kl.generate.uniform(3000, 2_000_000, weights=(1, 9), seed=1), range(2999)
    for sources in (None, most):
        plan = kl.explain(dense, "apsp", sources=sources, out="d.zarr")
        assert (plan.method, plan.rounds) == ("tiled", None)
    monkeypatch.setattr("kleene.planning.machine.available_memory", lambda: 2**26)
    monkeypatch.setattr("kleene.planning.plan._PLANS", {})
    plan = kl.explain(dense, "apsp", out="d.zarr")
    assert plan.method == "tiled"
    assert plan.rounds is not None
    assert kl.explain(dense, "apsp", sources=most, out="d.zarr").method == "batched"


def test_pieces_take_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    graph = kl.generate.uniform(20_000, 400_000, weights=(1, 9), seed=1)
    rows = []
    for seconds in ("", "0.3"):
        monkeypatch.setenv("KLEENE_PIECE_SECONDS", seconds)
        note = kl.explain(graph, "apsp", out="d.zarr", device="cpu", method="batched").reasons[-1]
        rows.append(int(note.split(" blocks of ")[1].split()[0].replace(",", "")))
    assert rows[0] > 4 * rows[1]
    for wrong in ("many", "-1", "nan", "inf", "0"):
        monkeypatch.setenv("KLEENE_PIECE_SECONDS", wrong)
        with pytest.raises(kl.RequestError, match="KLEENE_PIECE_SECONDS must be a number above 0"):
            kl.explain(graph, "apsp", out="d.zarr")


def test_pieces_of_a_gpu_have_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    here = Machine(2, 2**33, "avx2", ("cuda", "cpu"), gpu_memory=2**37)
    monkeypatch.setattr(sink, "live_machine", lambda: here)
    facts = Facts(20_000, 400_000, "int32", 1, 9, 180_000)
    rows = {
        device: with_block_rows(
            facts, Ask.of("apsp", device=device), Path("d.zarr")
        ).output.block_rows
        for device in ("auto", "cuda", "cpu")
    }
    assert rows["auto"] == rows["cuda"] > 2 * rows["cpu"]


def test_on_a_gpu(cuda: FakeGpu, gpu_machine: None, path: Path) -> None:
    stored = kl.apsp(GRAPH, sources=range(60), device="cuda", method="batched", out=path)
    assert len(Store.look(path).done) == 2  # type: ignore[union-attr]
    assert np.array_equal(stored.distances, kl.apsp(GRAPH, sources=range(60)).distances)
    stored.verify()
