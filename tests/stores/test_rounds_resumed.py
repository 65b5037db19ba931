"""Closures in rounds that were ended: the same call goes on, and gives the same bits."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import kleene
from rounds_samples import MEMORY, N, allow_on_device, graph, same

import kleene as kl
from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.tiles import Tile
from kleene.backends.cpu.closure import CpuRounds
from kleene.stores import matrix_files
from kleene.stores.matrix_files import MatrixFile, RoundFiles

posix = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Allow calls so little memory that N vertices take rounds of 96."""
    monkeypatch.setenv("KLEENE_MEMORY", MEMORY)
    return monkeypatch


# ---- killed -------------------------------------------------------------------------------------

#: Computes, and kills itself at the k-th fsync; tells which rows each round was asked for.
PROGRAM = """
import json, os, signal, sys
import numpy as np
import kleene as kl
from kleene.backends.cpu.closure import CpuRounds

folder, at, paths, n = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "paths", int(sys.argv[4])
sync, calls = os.fsync, 0

def fsync(descriptor):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(descriptor)

run = CpuRounds.run

def logged(self, vertices, source, target, missing, report):
    with open(os.path.join(folder, "log"), "a") as log:
        rows = [[r.start, r.stop] for r in missing]
        log.write(json.dumps([vertices.start, vertices.stop, rows]) + "\\n")
    return run(self, vertices, source, target, missing, report)

os.fsync, CpuRounds.run = fsync, logged
rng = np.random.default_rng(1)
g = kl.Graph.from_edges(*rng.integers(0, n, (2, 6 * n)), rng.random(6 * n).astype("f4"), n=n)
out = os.path.join(folder, "d.npy")
kl.apsp(g, method="tiled", device="cpu", threads=2, predecessors=paths, out=out)
print(calls)
"""


def attempt(folder: Path, at: int, paths: bool, memory: str = MEMORY, n: int = N) -> str | None:
    """Run the program; return what it printed, None if it was killed."""
    arguments = [str(folder), str(at), "paths" if paths else "values", str(n)]
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=os.environ | {"KLEENE_MEMORY": memory},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if made.returncode == -signal.SIGKILL:
        return None
    assert made.returncode == 0, made.stderr
    return made.stdout


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of the answer."""
    return {file.name: file.read_bytes() for file in folder.glob("*.npy")}


def recorded(folder: Path) -> list[tuple[list[int], range]]:
    """Return the vertices and rows that the ledger of the rounds has."""
    ledger = folder / "d.npy.rounds" / "ledger"
    if not ledger.exists():
        return []
    lines = [json.loads(line)["entry"] for line in ledger.read_text().splitlines()[1:] if line]
    return [(entry["vertices"], range(*entry["rows"])) for entry in lines if any(entry["rows"])]


@posix
@pytest.mark.parametrize("paths", [False, True])
def test_killed_at_chosen_points_it_goes_on_with_the_same_bits(paths: bool, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir(), folder.mkdir()
    printed = attempt(whole, 0, paths)
    assert printed is not None
    points = random.Random(5).sample(range(1, int(printed)), 4)
    done: list[tuple[list[int], range]] = []
    for point in [2, 4, *points]:
        (folder / "log").unlink(missing_ok=True)
        killed = attempt(folder, point, paths) is None
        runs = (
            [json.loads(line) for line in (folder / "log").read_text().splitlines()]
            if (folder / "log").exists()
            else []
        )
        for first, stop, missing in runs[:1]:  # what was done is not asked for again
            asked = {row for part in missing for row in range(*part)}
            assert not asked & {r for v, rows in done if v == [first, stop] for r in rows}
        finished = {tuple(v) for v, rows in done if _is_whole(done, v)}
        assert not finished & {(first, stop) for first, stop, _ in runs}
        if not killed:
            break
        assert not (folder / "d.npy").exists()
        done = recorded(folder) or done
    assert attempt(folder, 0, paths) is not None
    assert content(folder) == content(whole)
    assert not (folder / "d.npy.rounds").exists()


def _is_whole(done: list[tuple[list[int], range]], vertices: list[int]) -> bool:
    rows = [rows for v, rows in done if v == vertices]
    return not matrix_files.uncovered(N, rows)


@posix
def test_killed_at_random_moments_with_other_amounts_of_memory(tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir(), folder.mkdir()
    n = 400
    assert attempt(whole, 0, True, "1200K", n) is not None
    rng = random.Random(2)
    for _ in range(4):
        memory = rng.choice(["1200K", "1600K", "2M"])
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder), "0", "paths", str(n)],
            env=os.environ | {"KLEENE_MEMORY": memory},
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 600
        before = len(recorded(folder))
        while len(recorded(folder)) < before + 2 and child.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(rng.random() * 0.1)
        child.kill()
        child.wait()
    assert attempt(folder, 0, True, "1200K", n) is not None
    assert content(folder) == content(whole)


class Stopped(Exception):
    """What ends a call in the middle."""


def interrupt(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let calls end after so many bands were written."""
    write, count = matrix_files.MatrixFile.write, [0]

    def stopping(self: Any, first: int, rows: Any) -> None:
        count[0] += 1
        if count[0] > after:
            raise Stopped
        write(self, first, rows)

    monkeypatch.setattr(matrix_files.MatrixFile, "write", stopping)


def test_other_graphs_and_arguments_are_refused(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    out, g = tmp_path / "d.npy", graph()
    with small.context() as patch:
        interrupt(patch, 9)
        with pytest.raises(Stopped):
            kl.apsp(g, method="tiled", device="cpu", out=out)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    other = graph(seed=2)
    for call in (
        lambda: kl.apsp(other, method="tiled", device="cpu", out=out),
        lambda: kl.apsp(g, method="tiled", device="cpu", out=out, dtype="float64"),
        lambda: kl.apsp(g, method="tiled", device="cpu", out=out, predecessors=False),
        lambda: kl.apsp(g, method="tiled", device="cpu", out=out, reverse=True),
        lambda: kl.closure(g, "max_min", method="tiled", out=out, predecessors=True),
        lambda: kl.apsp(g, method="tiled", device="emulated", out=out),
    ):
        small.setenv("KLEENE_MEMORY", "1000K")
        with pytest.raises(kl.StoreError, match=r"belongs to other work: .* there"):
            call()
        assert {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == before
    with pytest.raises(kl.StoreError, match="a closure in rounds that is not finished"):
        kl.apsp(g, method="batched", device="cpu", out=out)
    small.setenv("KLEENE_MEMORY", "1G")  # enough for all of it: rounds that were begun go on
    r = kl.apsp(g, method="tiled", device="cpu", out=out)
    assert r.plan.rounds is not None
    small.delenv("KLEENE_MEMORY")
    same(r, kl.apsp(g, method="tiled", device="cpu"))


def test_finished_rounds_are_not_repeated(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    out, g = tmp_path / "d.npy", graph()
    with small.context() as patch:
        interrupt(patch, 40)
        with pytest.raises(Stopped):
            kl.apsp(g, method="tiled", device="cpu", out=out)
    asked: list[range] = []
    run = CpuRounds.run

    def counted(self: CpuRounds, vertices: range, *rest: Any) -> bool:
        asked.append(vertices)
        return run(self, vertices, *rest)

    small.setattr(CpuRounds, "run", counted)
    r = kl.apsp(g, method="tiled", device="cpu", out=out)
    every = [range(first, min(first + 96, N)) for first in range(0, N, 96)]
    assert asked == every[-len(asked) :]
    assert 0 < len(asked) < len(every)
    done = len(every) - len(asked)
    assert f"resumed: {done} of {len(every)} rounds were there" in r.plan.reasons
    again = kl.apsp(g, method="tiled", device="cpu", out=out)
    assert again.plan.reasons == ("read from d.npy",)
    same(again, r)


def test_the_command_line_resumes_when_asked_to(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    out, file = tmp_path / "d.npy", tmp_path / "g.npz"
    kl.write(graph(), file)
    command = ("apsp", file, "-o", out, "--method", "tiled", "--device", "cpu")
    with small.context() as patch:
        interrupt(patch, 30)
        assert isinstance(kleene(*command).exception, Stopped)
    refused = kleene(*command)
    assert refused.exit_code != 0
    assert "add --resume to continue it" in " ".join(refused.output.split())
    done = kleene(*command, "--resume")
    assert done.exit_code == 0, done.output
    assert kleene("store", "verify", out, "--graph", file).exit_code == 0


def test_gpu_rounds_resume_with_the_same_bits(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    g = graph(n=400)
    small.setenv("KLEENE_MEMORY", "900K")
    allow_on_device(small, 3 * 2**20)
    whole = kl.apsp(g, method="tiled", device="emulated", out=tmp_path / "whole.npy")
    out = tmp_path / "d.npy"
    with small.context() as patch:
        interrupt(patch, 3)
        with pytest.raises(Stopped):
            kl.apsp(g, method="tiled", device="emulated", out=out)
    allow_on_device(small, 2**20)
    with pytest.raises(kl.MemoryBudgetError, match="begun with more free memory"):
        kl.apsp(g, method="tiled", device="emulated", out=out)
    allow_on_device(small, 9 * 2**20)  # the bands that were begun with are kept
    r = kl.apsp(g, method="tiled", device="emulated", out=out)
    same(r, whole)


def _full_after(writes: int) -> Any:
    """Return a method that writes so many times."""
    write, left = matrix_files.MatrixFile.write, [writes]

    def limited(self: Any, first: int, rows: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise kl.StorageError(errno.ENOSPC, "No space left on device")
        write(self, first, rows)

    return limited


def test_a_full_disk_loses_nothing(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    out, g = tmp_path / "d.npy", graph()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with small.context() as patch:
        patch.setattr(matrix_files.os, "fsync", full)
        with pytest.raises(kl.StorageError, match="No space left"):
            kl.apsp(g, method="tiled", device="cpu", out=out)
    assert list(tmp_path.iterdir()) == []  # it was over before it began
    with small.context() as patch:
        patch.setattr(matrix_files.MatrixFile, "write", _full_after(20))
        with pytest.raises(kl.StorageError, match="No space left"):
            kl.apsp(g, method="tiled", device="cpu", out=out)
    assert recorded(tmp_path)
    r = kl.apsp(g, method="tiled", device="cpu", out=out)
    small.delenv("KLEENE_MEMORY")
    same(r, kl.apsp(g, method="tiled", device="cpu"))


def test_damaged_files_are_refused(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    out, g = tmp_path / "d.npy", graph()
    with small.context() as patch:
        interrupt(patch, 40)
        with pytest.raises(Stopped):
            kl.apsp(g, method="tiled", device="cpu", out=out)
    folder = RoundFiles.folder_of(out)
    values = folder / "even.values"
    kept = values.read_bytes()
    values.write_bytes(kept[:-4])
    with pytest.raises(kl.StoreError, match="a file is missing or of another size"):
        kl.apsp(g, method="tiled", device="cpu", out=out)
    values.write_bytes(kept)
    ledger = folder / "ledger"
    text = ledger.read_text()
    ledger.write_text(text.replace('"vertices": [0, 96]', '"vertices": [0, 97]', 1))
    with pytest.raises(kl.StoreError, match="damaged"):
        kl.apsp(g, method="tiled", device="cpu", out=out)


def test_a_copy_that_ends_too_early_is_refused_when_it_is_read(tmp_path: Path) -> None:
    form = MatrixForm("tiled", "min_plus", np.dtype(np.float32), np.inf)
    file = MatrixFile(tmp_path / "even", form, 5, paths=True)
    file.create()
    rows = Tile(np.full((2, 5), 7, np.float32), np.full((2, 5), 3, np.int32))
    file.write(3, rows)
    found = Tile.empty(form, 2, 5, paths=True)
    file.read(3, found)
    assert found.buffers == rows.buffers
    os.truncate(tmp_path / "even.predecessors", 4 * 5 * 5 - 1)
    with pytest.raises(kl.StoreError, match=r"even\.predecessors is too short"):
        file.read(3, found)
