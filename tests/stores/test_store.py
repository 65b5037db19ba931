"""Stores: resumed after any end of the process, the same bytes, no block twice; others refused."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from store_samples import SPEC, content, fill, rows

from kleene.engine.pieces import Piece
from kleene.errors import KleeneError, RequestError, StorageError, StoreError
from kleene.stores.ledger import Ledger
from kleene.stores.store import Store, ledger_of
from kleene.stores.zarr import ZarrWriter

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks and signals")


@pytest.fixture(params=["npy", "zarr"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"d.{request.param}"


@pytest.fixture
def npy(tmp_path: Path) -> Path:
    return tmp_path / "d.npy"


def arrays(path: Path) -> tuple[Any, Any]:
    """Return the arrays of a finished store as other programs read them."""
    if path.suffix == ".npy":
        return np.load(path), np.load(path.with_name("d.predecessors.npy"))
    group = zarr.open_group(path, mode="r")
    return group["distances"][:], group["predecessors"][:]


def test_a_store_is_two_plain_arrays(path: Path) -> None:
    assert fill(path) == [0, 1, 2, 3, 4]
    for found, wanted in zip(arrays(path), rows(Piece(0, 0, SPEC.shape[0])), strict=True):
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
    links = ["d.predecessors.npy"] if path.suffix == ".npy" else []
    assert sorted(os.listdir(path.parent)) == [path.name, f"{path.name}.ledger", *links]
    assert fill(path) == []  # finished: nothing is computed again


def test_zarr_waits_on_threads_that_are_not_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C would leave its locks taken, and the next call would wait for ever."""
    callers, waits = [], zarr.core.sync.sync

    def watched(*args: Any, **options: Any) -> Any:
        callers.append(threading.current_thread())
        return waits(*args, **options)

    for module in [m for name, m in sys.modules.items() if name.startswith("zarr.")]:
        if getattr(module, "sync", None) is waits:
            monkeypatch.setattr(module, "sync", watched)
    path = tmp_path / "d.zarr"
    fill(path)
    store = Store.find(path)
    assert store.verify() > 0
    assert store.writer().whole("distances").shape == SPEC.shape
    assert len(callers) > 3
    assert threading.main_thread() not in callers


def test_zarr_says_what_it_holds(tmp_path: Path) -> None:
    fill(tmp_path / "d.zarr")
    group = zarr.open_group(tmp_path / "d.zarr", mode="r")
    assert group.attrs["kleene"]["call"] == SPEC.call
    assert group["distances"].metadata.dimension_names == ("source", "target")
    assert group["distances"].shards == (5, 7)  # one for each block
    assert group["predecessors"].attrs["no_path"] == -1
    assert group.metadata.zarr_format == 3


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (9,), (3, 200_003)])
@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_shapes(tmp_path: Path, suffix: str, shape: tuple[int, ...]) -> None:
    path = tmp_path / f"d.{suffix}"
    spec = SPEC._replace(shape=shape, block_rows=2, dtype="bool", predecessors=None)
    wanted = np.random.default_rng(1).integers(0, 2, shape).astype(bool)
    with Store.open(path, spec) as store:
        for piece in store.missing():
            block = wanted[piece.first : piece.stop]
            store.record(piece, store.writer().write(piece, block))
        store.finish()
        assert store.verify() == -(-shape[0] // 2)
    found = np.load(path) if suffix == "npy" else zarr.open_array(path / "distances", mode="r")[:]
    assert np.array_equal(found, wanted)


def test_blocks_of_other_processes(path: Path) -> None:
    with Store.open(path, SPEC) as store, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        writer = store.writer()
        assert pickle.loads(pickle.dumps(writer)) == writer
        pieces = store.missing()[::-1]
        written = [pool.submit(writer.write, piece, *rows(piece)) for piece in pieces]
        for piece, receipt in zip(pieces, written, strict=True):
            store.record(piece, receipt.result())
        store.finish()
        values, links = writer.rows(4, 11)
    assert np.array_equal(arrays(path)[0], rows(Piece(0, 0, SPEC.shape[0]))[0])
    assert np.array_equal(values, rows(Piece(0, 4, 11))[0])
    assert np.array_equal(links, rows(Piece(0, 4, 11))[1])


@pytest.mark.parametrize(
    "changed",
    [
        {"graph": "3 9 13"},
        {"sources": "abd"},
        {"dtype": "float64"},
        {"predecessors": None},
        {"call": {"problem": "apsp", "limit": 4}},
        {"shape": (23, 8)},
    ],
)
def test_another_call_is_refused(path: Path, changed: dict[str, Any]) -> None:
    fill(path)
    before = content(path)
    with pytest.raises(StoreError, match=f"belongs to other work: {next(iter(changed))}") as said:
        Store.open(path, SPEC._replace(**changed))
    assert "3 9 1" not in str(said.value)  # a digest
    assert "abc" not in str(said.value)
    assert content(path) == before
    with Store.open(path, SPEC._replace(block_rows=9)) as store:  # that of the store holds
        assert store.spec.block_rows == 5


@pytest.mark.parametrize("other", ["d.npy", "d.predecessors.npy"])
def test_a_file_without_a_ledger_is_not_replaced(npy: Path, other: str) -> None:
    """It may be of another graph."""
    file = npy.with_name(other)
    np.save(file, np.arange(3))
    with pytest.raises(StoreError, match="already exists, but no ledger"):
        fill(npy)
    assert os.listdir(npy.parent) == [other]
    assert np.load(file).tolist() == [0, 1, 2]
    file.unlink()
    fill(npy)
    assert np.load(npy).shape == SPEC.shape


def test_a_directory_without_a_ledger_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "d.zarr"
    (path / "mine").mkdir(parents=True)
    with pytest.raises(StoreError, match="already exists, but no ledger"):
        fill(path)
    assert (path / "mine").is_dir()
    path.rename(tmp_path / "e.zarr")
    assert fill(path) == [0, 1, 2, 3, 4]


def test_data_that_is_gone_or_another(path: Path) -> None:
    fill(path)
    inside = path.suffix == ".zarr"
    links = path / "predecessors/c/2/0" if inside else path.with_name("d.predecessors.npy")
    kept = links.read_bytes()
    links.unlink()
    what = "block 2 of predecessors" if inside else r"d\.predecessors\.npy"
    with pytest.raises(StoreError, match=rf"{what} is missing.*remove it and its ledger"):
        Store.open(path, SPEC)
    links.write_bytes(kept[:-1])
    with (
        pytest.raises(StoreError, match=r"another file|cannot be read"),
        Store.open(path, SPEC) as s,
    ):
        s.verify()
    links.write_bytes(kept)
    if inside:
        other = zarr.create_array(path / "distances", shape=(23, 7), dtype="f8", overwrite=True)
        assert other.shape == SPEC.shape
    else:
        np.save(path, np.zeros(SPEC.shape, "float64"))
    with pytest.raises(StoreError, match=r"another (file|array)"):
        Store.open(path, SPEC)
    for file in content(path):
        (path.parent / file).write_bytes(b"{}")
    with pytest.raises(StoreError, match=r"another file|cannot be read"):
        Store.open(path, SPEC)


def test_another_file_under_the_name_is_not_written_to(npy: Path) -> None:
    other = np.zeros((5, 5))
    with Store.open(npy, SPEC) as store:
        piece = store.missing()[0]
        np.save(npy, other)
        npy.with_name("d.npy.partial").unlink()
        with pytest.raises(StoreError, match=r"d\.npy was replaced by another file"):
            store.writer().write(piece, *rows(piece))
    assert np.array_equal(np.load(npy), other)


def test_damaged_blocks_are_found(path: Path) -> None:
    fill(path)
    looked = Store.look(path)
    assert looked is not None
    assert looked.finished
    assert looked.verify() == 5
    files = [path, path.with_name("d.predecessors.npy")]
    if path.suffix == ".zarr":
        files = [path / "distances/c/2/0", path / "predecessors/c/2/0"]
    for file in files:
        whole = bytearray(file.read_bytes())
        for at in range(len(whole) - 30, len(whole), 3):
            whole[at] ^= 1
            file.write_bytes(whole)
            with pytest.raises(StoreError, match=r"rows .* (differ|cannot be read)") as error:
                looked.verify()
            line = int(str(error.value).partition("remove line ")[2].split()[0])
            repaired = ledger_of(path).read_text().splitlines(keepends=True)
            ledger_of(path).write_text("".join(repaired[: line - 1] + repaired[line:]))
            assert len(fill(path)) == 1  # which puts the line at the end
            assert looked.verify() == 5
            looked = Store.look(path)
            assert looked is not None
            whole[at] ^= 1
        file.write_bytes(whole)


@pytest.mark.parametrize(
    "entry",
    [
        {"block": 5, "distances": 1, "predecessors": 1},
        {"block": -1, "distances": 1, "predecessors": 1},
        {"block": 0, "distances": 1, "predecessors": 1},
        {"block": True, "distances": 1, "predecessors": 1},
        {"block": 3, "distances": None, "predecessors": 1},
        {"block": 3, "distances": 1},
        {"block": "3", "distances": 1, "predecessors": 1},
        {"block": [3], "distances": 1, "predecessors": 1},
        {},
    ],
)
def test_lines_that_are_no_blocks(path: Path, entry: dict[str, Any]) -> None:
    with Store.open(path, SPEC) as store:
        piece = store.missing()[0]
        store.record(piece, store.writer().write(piece, *rows(piece)))
    found = Ledger.read(ledger_of(path))
    assert found is not None
    with Ledger.open(ledger_of(path), found[0]) as ledger:
        ledger.append(entry)
    for opened in (lambda: Store.open(path, SPEC), lambda: Store.look(path)):
        with pytest.raises(StoreError, match=r"ledger:3: this line does not name a block"):
            opened()


@pytest.mark.parametrize(
    "field",
    [
        {"shape": [23]}, {"shape": [2**62, 1]}, {"shape": [-1, 7]}, {"shape": "x"},
        {"shape": [2**61, 7], "block_rows": 1}, {"block_rows": 0}, {"block_rows": True},
        {"dtype": "object"}, {"predecessors": "float64"}, {"call": []}, {"graph": 3},
        {"sources": None}, {"version": 2},
    ],
)  # fmt: skip
def test_headers_of_something_else(path: Path, field: dict[str, Any]) -> None:
    fill(path)
    found = Ledger.read(ledger_of(path))
    assert found is not None
    ledger_of(path).unlink()
    with Ledger.open(ledger_of(path), {**found[0], **field}):
        pass
    if field == {"shape": [23]}:
        assert Store.look(path) is not None  # one row a vertex is a store, too
    else:
        with pytest.raises(StoreError):
            Store.look(path)


def test_without_zarr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(RequestError, match=r'pip install "kleene\[zarr\]", or name an \.npy file'):
        fill(tmp_path / "d.zarr")
    assert os.listdir(tmp_path) == []


# ---- disks --------------------------------------------------------------------------------------


def test_no_room(npy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(StorageError, match=r"No space left.* are free there"):
        Store.open(npy, SPEC)
    monkeypatch.setattr(ZarrWriter, "_create_array", full)
    with pytest.raises(StorageError, match="No space left"):
        Store.open(npy.with_suffix(".zarr"), SPEC)
    monkeypatch.undo()
    assert os.listdir(npy.parent) == []
    assert fill(npy) == [0, 1, 2, 3, 4]


_LIMITED = """
import resource, sys
from pathlib import Path
import store_samples as s
from kleene.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
try:
    s.fill(Path("d.npy"), s.SPEC._replace(block_rows=1))
except StorageError as error:
    print(error.filename, error.strerror.partition(":")[0], sep="|")
"""


def test_limits_of_file_sizes(tmp_path: Path) -> None:
    """A ledger that cannot grow keeps its blocks; the rest is done when it can."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}

    def limited(size: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", _LIMITED, str(size)],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True,
        ).stdout  # fmt: skip

    assert limited(700) == "d.npy.partial|File too large\n"  # 128 + 23 * 7 * 4 bytes
    assert os.listdir(tmp_path) == []
    assert limited(1500) == "d.npy.ledger|File too large\n"  # a line of the ledger is about 100
    done = Store.look(tmp_path / "d.npy")
    assert done is not None
    assert 0 < len(done.done) < 23
    again = fill(tmp_path / "d.npy", SPEC._replace(block_rows=1))
    assert set(again) == set(range(23)) - set(done.done)
    assert done.verify() == len(done.done)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folders_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="Permission denied"):
            Store.open(tmp_path / "d.npy", SPEC)
    finally:
        tmp_path.chmod(0o700)


def test_a_finished_store_is_only_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    before = ledger_of(path).read_bytes()

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Ledger, "open", refuse)  # as in a folder without permission to write
    with Store.open(path, SPEC) as store, Store.open(path, SPEC) as again:
        assert store.missing() == again.missing() == []
        store.finish()
    with pytest.raises(StoreError, match="limit"):
        Store.open(path, SPEC._replace(call={**SPEC.call, "limit": 3}))
    assert ledger_of(path).read_bytes() == before


def test_files_that_a_store_does_not_have_are_left_alone(npy: Path) -> None:
    other = npy.with_name("d.predecessors.npy")
    other.write_bytes(b"not ours")
    fill(npy, SPEC._replace(predecessors=None))
    assert other.read_bytes() == b"not ours"
    assert Store.find(npy).finished


@pytest.mark.parametrize("ledger", ["empty", "headless"])
def test_a_ledger_without_its_first_line_is_named(path: Path, ledger: str) -> None:
    fill(path)
    lines = ledger_of(path).read_bytes().splitlines(keepends=True)
    ledger_of(path).write_bytes(b"" if ledger == "empty" else b"".join(lines[1:]))
    with pytest.raises(StoreError, match=r"ledger is not its ledger, or lost its first line"):
        Store.find(path)


def test_names(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"\*\.npy or \*\.zarr, not .*d\.txt"):
        Store.open(tmp_path / "d.txt", SPEC)
    with pytest.raises(KleeneError, match="there is no directory"):
        Store.open(tmp_path / "no" / "d.npy", SPEC)
    assert Store.look(tmp_path / "d.npy") is None
    with Ledger.open(ledger_of(tmp_path / "d.npy"), {"format": "other"}):
        pass
    assert Store.look(tmp_path / "d.npy") is None  # not ours
    with pytest.raises(StoreError, match='format is "other" there'):
        Store.open(tmp_path / "d.npy", SPEC)
