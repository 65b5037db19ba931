"""Output files appear whole or not at all: full disks, odd names, killed processes."""

from __future__ import annotations

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.errors import StorageError
from kleene.io.source import Source
from kleene.system import atomic_file
from kleene.system.atomic_file import atomic_array, atomic_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks and signals")

GRAPH = kl.generate.uniform(60, 400, weights=(1, 9), seed=2)


def listed(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# ---- full disks ---------------------------------------------------------------------------------


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def unsupported(*_: object) -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_no_room_for_an_answer(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(StorageError, match=r"No space left.*needs 14.2 KiB, and .* are free") as e:
        kl.apsp(GRAPH, out=tmp_path / "d.npy", predecessors=False, device=device)
    assert e.value.filename == str(tmp_path / "d.npy")
    assert listed(tmp_path) == []


def test_file_systems_that_cannot_reserve_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.npy"
    monkeypatch.setattr(os, "posix_fallocate", unsupported, raising=False)
    monkeypatch.setattr(atomic_file, "_ZEROS", 1000)
    kl.apsp(GRAPH, out=path)
    assert path.stat().st_blocks * 512 >= 60 * 60 * 4  # no hole where the disk may have no room
    assert np.array_equal(np.load(path), kl.apsp(GRAPH).distances)
    monkeypatch.delattr(os, "posix_fallocate", raising=False)  # as on macOS
    path.unlink()
    kl.apsp(GRAPH, out=path)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageError, match="No space left"):
        kl.apsp(GRAPH, out=tmp_path / "e.npy")
    monkeypatch.undo()
    assert np.array_equal(np.load(path), kl.apsp(GRAPH).distances)
    assert listed(tmp_path) == ["d.npy"]


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no tmpfs")
def test_space_in_memory_is_compared_and_not_taken() -> None:
    free = shutil.disk_usage("/dev/shm").free
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        atomic_file.reserve_space(file.fileno(), 0, 10_000, "d.npy")
        found = os.fstat(file.fileno())
        assert (found.st_size, found.st_blocks) == (10_000, 0)
        with pytest.raises(StorageError, match="No space left"):
            atomic_file.reserve_space(file.fileno(), 0, 4 * free, "d.npy")
        atomic_file.reserve_space(file.fileno(), 0, 10_000, "d.npy", mapped=True)
        assert os.fstat(file.fileno()).st_blocks > 0


def test_answers_without_entries(tmp_path: Path) -> None:
    with atomic_array(tmp_path / "a.npy", (0, 3), np.dtype(np.int32)) as mapped:
        assert mapped.shape == (0, 3)
    assert np.load(tmp_path / "a.npy").shape == (0, 3)


_LIMITED = """
import resource
import kleene as kl
g = kl.generate.uniform(300, 4000, weights=(1, 9), seed=2)
r = kl.apsp(g)
writers = {name: lambda name=name: kl.write(g, name) for name in NAMES}
writers["d.npy"] = lambda: kl.apsp(g, out="d.npy")
writers["r.npz"] = lambda: r.save("r.npz")
writers["p.svg"] = lambda: kl.draw(kl.sssp(g, 0), "p.svg")
for name in writers:
    if name != "d.npy":  # out= takes no file that is there
        open(name, "w").write("what was there before")
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for name, write in writers.items():
    try:
        write()
    except kl.errors.StorageError as error:
        print(name, error.filename, error.strerror.partition(":")[0], sep="|")
"""


def test_limits_of_file_sizes(tmp_path: Path) -> None:
    """Every writer says which file was too large, and leaves the one that was there."""
    names = [f"g.{end}" for end in ("gr", "mtx", "txt.gz", "npz", "npy", "wsg", "parquet")]
    script = _LIMITED.replace("NAMES", repr(names))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    names += ["d.npy", "r.npz", "p.svg"]
    assert done.stdout.split("\n")[:-1] == [f"{name}|{name}|File too large" for name in names]
    names.remove("d.npy")
    assert listed(tmp_path) == sorted(names)
    for name in names:
        assert (tmp_path / name).read_text() == "what was there before"


# ---- inputs that others change ------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda source: source.data,
        lambda source: source.read(np.dtype(np.int64), 100_000, 8),
        lambda source: source.open().read(),
    ],
)
def test_an_input_that_becomes_shorter(tmp_path: Path, use: Callable[[Source], object]) -> None:
    path = tmp_path / "long"
    path.write_bytes(bytes(1_000_000))
    with Source(path) as source:
        os.truncate(path, 5000)
        with pytest.raises(kl.FormatError, match=r"long: the file became shorter"):
            use(source)


def test_large_files_are_read_by_several_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = np.random.default_rng(1).integers(0, 256, 1_000_003, np.uint8)
    content.tofile(tmp_path / "x")
    monkeypatch.setattr("kleene.io.source._PIECE", 1 << 12)
    for threads in (1, 3):
        with Source(tmp_path / "x", threads) as source:
            assert np.array_equal(source.data, content)
    monkeypatch.setattr("kleene.system.threads.start_new_thread", lambda *_: no_thread())
    with Source(tmp_path / "x", 3) as source:
        assert np.array_equal(source.data, content)


def no_thread() -> None:
    raise RuntimeError("can't start new thread")


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", ["x" * 251, "é" * 125])
def test_names_as_long_as_they_may_be(tmp_path: Path, stem: str) -> None:
    path = tmp_path / f"{stem}.npz"
    kl.write(GRAPH, path)
    assert kl.read(path).equals(GRAPH)
    kl.apsp(GRAPH, out=path.with_suffix(".npy"))
    kl.bfs(GRAPH, 0).save(path)
    with pytest.raises(OSError, match="File name too long") as caught:
        kl.write(GRAPH, tmp_path / f"{stem}xxx.npz")
    assert caught.value.filename == str(tmp_path / f"{stem}xxx.npz")


def test_long_suffixes(tmp_path: Path) -> None:
    kl.write(GRAPH, tmp_path / f"g.{'x' * 250}", "npz")
    assert listed(tmp_path) == [f"g.{'x' * 250}"]


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    loop = tmp_path / "loop.npz"
    loop.symlink_to(loop)
    with pytest.raises(kl.RequestError, match="a symbolic link that leads back to itself"):
        kl.write(GRAPH, loop)
    with pytest.raises(OSError, match="symbolic link"):
        kl.read(loop)
    with pytest.raises(kl.RequestError, match="NUL"):
        kl.write(GRAPH, "a\0b.npz")
    with pytest.raises(kl.RequestError, match="NUL"):
        kl.read("a\0b.npz")
    with pytest.raises(kl.RequestError, match="empty"):
        kl.read("")


def test_links_that_lead_to_a_file_to_be(tmp_path: Path) -> None:
    (tmp_path / "link.npz").symlink_to("target.npz")
    kl.write(GRAPH, tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert kl.read(tmp_path / "target.npz").equals(GRAPH)


def test_answers_are_not_mapped_to_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(kl.RequestError, match="not a regular file"):
        kl.apsp(GRAPH, out=tmp_path / "pipe.npy")


# ---- killed processes ---------------------------------------------------------------------------

_HANGING = """
import sys
from kleene.system.atomic_file import atomic_path
with atomic_path("g.npz") as beside:
    beside.write_text("a part")
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_files_of_killed_processes_are_removed(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / ".kleene-notes").touch()
    with subprocess.Popen(
        [sys.executable, "-c", _HANGING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        kl.write(GRAPH, tmp_path / "other.gr")
        assert len(listed(tmp_path)) == 3  # what a living process writes is not touched
        process.send_signal(how)
        process.wait(30)
    assert len(listed(tmp_path)) == 3
    kl.write(GRAPH, tmp_path / "other.gr")
    assert listed(tmp_path) == [".kleene-notes", "other.gr"]


def test_a_new_file_that_is_removed_before_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = atomic_file.fcntl.flock
    removed: list[str] = []

    def slowly(file: object, how: int) -> None:
        if not removed:
            removed.extend(listed(tmp_path))
            (tmp_path / removed[0]).unlink()
        lock(file, how)  # type: ignore[arg-type]

    monkeypatch.setattr(atomic_file.fcntl, "flock", slowly)
    with atomic_path(tmp_path / "x") as beside:
        beside.write_text("whole")
    assert len(removed) == 1
    assert (tmp_path / "x").read_text() == "whole"


# ---- Ctrl-C -------------------------------------------------------------------------------------


def test_ctrl_c_is_not_hidden_by_what_cleans_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive refuses to be closed while a part of it is open, by a ValueError."""
    result, prepared = kl.bfs(GRAPH, 0), kl.prepare(kl.generate.grid(4, 4))

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def refused(archive: Any) -> None:
        if archive.fp is not None:
            archive.fp = None
            raise ValueError("Can't close the ZIP file while there is an open writing handle")

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    monkeypatch.setattr(zipfile.ZipFile, "close", refused)
    writers: list[Callable[[], object]] = [
        lambda: kl.write(GRAPH, tmp_path / "g.npz"),
        lambda: kl.write(GRAPH, io.BytesIO(), "npz"),
        lambda: result.save(tmp_path / "r.npz"),
        lambda: prepared.save(tmp_path / "p.kp"),
    ]
    for write in writers:
        with pytest.raises(KeyboardInterrupt):
            write()
    assert listed(tmp_path) == []


def test_an_error_behind_an_interrupt_is_an_error(tmp_path: Path) -> None:
    def write() -> None:
        with atomic_path(tmp_path / "a") as beside:
            beside.write_text("half")
            raise ValueError("mine")

    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(ValueError, match="mine"):
            write()
    assert listed(tmp_path) == []
