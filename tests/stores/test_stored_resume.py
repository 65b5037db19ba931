"""Calls with out= that end early go on where they were; other calls are refused."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_samples import content

import kleene as kl
from kleene.stores import sink
from kleene.stores.npy import NpyWriter
from kleene.stores.store import Store, StoreWriter
from kleene.system import threads

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks and signals")

GRAPH = kl.generate.uniform(300, 2000, weights=(1, 9), seed=4)


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "choose_block_rows", lambda rows, *_: min(48, max(1, rows)))


@pytest.fixture(params=["npy", "zarr"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"d.{request.param}"


class Counter:
    """Counts the rows that calls compute, and can stop them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[int] = []
        self.stop_after: int | None = None
        kept = sink.BlockWriter.narrow

        def counted(writer: Any, call: Any, pieces: Any, first: int) -> Any:
            if self.stop_after is not None and len(self.rows) >= self.stop_after:
                raise KeyboardInterrupt
            self.rows += [piece.index for piece in pieces]
            return kept(writer, call, pieces, first)

        monkeypatch.setattr(sink.BlockWriter, "narrow", counted)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_interrupted_calls_go_on(path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(monkeypatch)
    counter.stop_after = after
    with pytest.raises(KeyboardInterrupt):
        kl.apsp(GRAPH, out=path, threads=1)
    assert not path.exists()
    if after == 0:
        assert os.listdir(path.parent) == []  # nothing was done, nothing is left
    else:
        assert len(Store.look(path).done) == after  # type: ignore[union-attr]
    counter.stop_after = None
    reported: list[tuple[int, int]] = []
    kl.apsp(GRAPH, out=path, threads=1, progress=lambda *at: reported.append(at))
    assert counter.rows == list(range(7))
    assert reported == sorted(reported)
    assert reported[0][0] >= 48 * after
    assert all(total == 300 for _, total in reported)
    whole = path.parent / "whole" / path.name
    whole.parent.mkdir()
    kl.apsp(GRAPH, out=whole, threads=1)
    own = {k: v for k, v in content(path).items() if not k.startswith("whole")}
    assert own == content(whole)
    kl.apsp(GRAPH, out=path)
    assert counter.rows == [*range(7)] * 2  # the finished one was not computed again


def test_other_calls_and_graphs_are_refused(path: Path) -> None:
    kl.apsp(GRAPH, out=path, sources=range(200))
    before = content(path)
    other = GRAPH.reweight(arcs=GRAPH.weights + (GRAPH.weights == 3))
    for said, graph, options in (
        ("graph has other", other, {"sources": range(200)}),
        ("sources or targets are", GRAPH, {"sources": range(1, 201)}),
        ("shape is", GRAPH, {"sources": range(199)}),
        ("call limit is null there and 5 here", GRAPH, {"sources": range(200), "limit": 5}),
        ("call reverse is false", GRAPH, {"sources": range(200), "reverse": True}),
        ("call method is .* there and .*johnson", GRAPH,
         {"sources": range(200), "method": "johnson"}),
        ('dtype is "int32" there', GRAPH, {"sources": range(200), "dtype": "float64"}),
        ("predecessors is", GRAPH, {"sources": range(200), "predecessors": False}),
    ):  # fmt: skip
        with pytest.raises(kl.StoreError, match=rf"belongs to other work: .*{said}"):
            kl.apsp(graph, out=path, **options)
    with pytest.raises(kl.StoreError, match='call problem is "apsp" there and "sssp" here'):
        kl.sssp(GRAPH, out=path, sources=range(200))
    assert content(path) == before
    with pytest.raises(kl.GraphError, match="another graph"):
        kl.Result.load(path, other)


def test_no_files_after_errors(path: Path) -> None:
    cyclic = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 1, -3], n=100)
    with pytest.raises(kl.NegativeCycleError):
        kl.apsp(cyclic, out=path, method="johnson")
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("where", ["write", "record"])
def test_a_disk_that_fills_up(path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(monkeypatch)
    target, name = (Store, "record") if where == "record" else (StoreWriter, "write")
    kept, left = getattr(target, name), [3]

    def full(*args: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise kl.StorageError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return kept(*args)

    monkeypatch.setattr(target, name, full)
    with pytest.raises(kl.StorageError, match="No space left"):
        kl.apsp(GRAPH, out=path)
    monkeypatch.setattr(target, name, kept)
    assert len(Store.look(path).done) == 3  # type: ignore[union-attr]
    counter.rows.clear()
    assert np.array_equal(kl.apsp(GRAPH, out=path).distances, kl.apsp(GRAPH).distances)
    assert counter.rows == [3, 4, 5, 6]


def test_no_thread_for_writing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", none)
    assert np.array_equal(kl.apsp(GRAPH, out=path, threads=1).distances, kl.apsp(GRAPH).distances)


def test_lost_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept, left = tmp_path / "d.npy", NpyWriter._write, [5]

    def lost(*args: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        kept(*args)

    monkeypatch.setattr(NpyWriter, "_write", lost)
    with pytest.raises(kl.StorageError, match="Permission denied"):
        kl.apsp(GRAPH, out=path)
    monkeypatch.undo()
    assert len(Store.look(path).done) == 2  # type: ignore[union-attr]
    assert np.array_equal(kl.apsp(GRAPH, out=path).distances, kl.apsp(GRAPH).distances)


@pytest.mark.parametrize("name", ["source", "target"])
@pytest.mark.parametrize("after", [None, 1])
def test_a_list_of_vertices_that_is_gone_or_another(
    path: Path, name: str, after: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a finished store, and of one that is to be resumed."""
    asked: dict[str, Any] = {"sources": range(200), "targets": [9, 8], "out": path}
    counter = Counter(monkeypatch)
    counter.stop_after = after
    with nullcontext() if after is None else pytest.raises(KeyboardInterrupt):
        kl.apsp(GRAPH, **asked)
    counter.stop_after = None
    store = Store.find(path)
    assert store.finished == (after is None)
    if isinstance(store.writer(), NpyWriter):
        listed = store.writer().file(name)  # type: ignore[attr-defined]
    else:
        listed = path.with_name(path.name + ".partial" * (after is not None)) / name
    kept = listed.with_name("kept")
    listed.rename(kept)
    with pytest.raises(kl.StoreError, match=f"its list '{name}' is missing"):
        kl.apsp(GRAPH, **asked)
    if path.suffix == ".npy":
        with listed.open("wb") as file:
            np.save(file, np.arange(7))
        with pytest.raises(kl.StoreError, match=f"its list '{name}' is another one"):
            kl.apsp(GRAPH, **asked)
        listed.unlink()
    kept.rename(listed)
    assert kl.apsp(GRAPH, **asked).distances.shape == (200, 2)


_KILLED = """
import sys
import kleene as kl
g = kl.generate.uniform(900, 5000, weights=(1, 9), seed=8)
print("ready", flush=True)
kl.apsp(g, out=sys.argv[1], threads=1)
"""


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_kill_at_random_moments(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is done by processes that are killed, and then once more."""
    monkeypatch.undo()
    environment = {**os.environ, "KLEENE_PIECE_SECONDS": "0.0025"}
    paths = [tmp_path / name / f"d.{suffix}" for name in ("whole", "killed")]
    command = [sys.executable, "-c", _KILLED]
    for path in paths:
        path.parent.mkdir()
    subprocess.run([*command, paths[0]], env=environment, timeout=600, check=True)
    counts = []
    for _ in range(2):
        with subprocess.Popen(
            [*command, paths[1]], env=environment, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0, 0.25))
            process.send_signal(signal.SIGKILL)
        found = Store.look(paths[1])
        counts.append(0 if found is None else len(found.done))
    assert counts == sorted(counts)  # none is lost
    subprocess.run([*command, paths[1]], env=environment, timeout=600, check=True)
    assert len(Store.look(paths[1]).done) > 10  # type: ignore[union-attr]
    assert content(paths[0]) == content(paths[1])
