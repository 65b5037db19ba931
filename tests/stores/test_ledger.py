"""The ledger: lines that are whole or dropped, one process at a time, damage refused by line."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import StorageError, StoreError
from kleene.stores import ledger as module
from kleene.stores.ledger import Ledger

HEADER = {"work": "rows", "call": {"limit": None, "problem": "apsp"}}


def filled(path: Path, count: int = 3) -> bytes:
    with Ledger.open(path, HEADER) as ledger:
        for i in range(count):
            ledger.append({"block": i})
    return path.read_bytes()


def entries(path: Path) -> list[dict[str, Any]]:
    with Ledger.open(path, HEADER) as ledger:
        return list(ledger.entries)


def test_every_torn_end_loses_one_entry_at_most(tmp_path: Path) -> None:
    path = tmp_path / "d.ledger"
    whole = filled(path)
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends) - 1  # the header is none
        assert entries(path) == [{"block": i} for i in range(max(0, kept))]
        with Ledger.open(path, HEADER) as ledger:  # the torn line is gone before the next
            ledger.append({"block": "next"})
        assert entries(path)[-1] == {"block": "next"}


def test_a_last_line_of_zeros_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "d.ledger"
    whole = filled(path)
    path.write_bytes(whole + b"\0" * 40 + b"\n")
    assert len(entries(path)) == 3


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_changed_bytes_are_refused_or_the_last_line(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "d.ledger")
        whole = bytearray(filled(path))
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] ^= data.draw(st.integers(1, 255))
        path.write_bytes(whole)
        try:
            found = entries(path)
        except StoreError:
            return
        assert found == [{"block": 0}, {"block": 1}]


@pytest.mark.parametrize(
    "content",
    [b"hello\n", b"hello", b"\n", b"\0\0", b"[1]\n", b'{"check": "00000000", "entry": {}}\n'],
)
def test_other_files_are_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "d.ledger"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a ledger"):
        Ledger.open(path, HEADER)
    assert path.read_bytes() == content


def test_deep_and_long_lines_are_refused(tmp_path: Path) -> None:
    import zlib

    path = tmp_path / "d.ledger"
    whole = filled(path, 1)
    for text in (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a": "%s"}' % bytes(2**21)):
        line = b'{"check": "%08x", "entry": %s}\n' % (zlib.crc32(text), text)
        path.write_bytes(whole + line + whole.splitlines(keepends=True)[1])
        with pytest.raises(StoreError, match=r"d\.ledger:3: .*damaged"):
            Ledger.open(path, HEADER)


def test_another_header_says_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "d.ledger"
    before = filled(path)
    other = {"work": "rows", "call": {"limit": 5, "problem": "apsp"}}
    with pytest.raises(StoreError, match="call limit is null there and 5 here"):
        Ledger.open(path, other)
    with Ledger.open(path, {**HEADER, "work": "more"}, adopt=["work"]) as ledger:
        assert ledger.header["work"] == "rows"
    assert path.read_bytes() == before
    assert pickle.loads(pickle.dumps(StoreError("x"))).args == ("x",)


@pytest.mark.skipif(sys.platform == "win32", reason="needs file locks")
def test_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "d.ledger"
    filled(path)
    program = (
        "import sys; from kleene.stores.ledger import Ledger\n"
        f"held = Ledger.open({str(path)!r}, {HEADER!r})\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(StoreError, match="another process"):
            Ledger.open(path, HEADER)
        assert Ledger.read(path) is not None  # to look is allowed
        process.kill()
    assert len(entries(path)) == 3  # the lock went with the process


def test_an_entry_that_does_not_reach_the_disk_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.ledger"

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Ledger.open(path, HEADER) as ledger:
        ledger.append({"block": 0})
        monkeypatch.setattr(module.os, "fsync", full)
        with pytest.raises(StorageError, match="No space left") as caught:
            ledger.append({"block": 1})
        assert caught.value.filename == str(path)
        monkeypatch.undo()
        assert ledger.entries == [{"block": 0}]
        ledger.append({"block": 2})
    assert entries(path) == [{"block": 0}, {"block": 2}]


def test_no_ledger(tmp_path: Path) -> None:
    assert Ledger.read(tmp_path / "none") is None
    with Ledger.open(tmp_path / "d.ledger", HEADER) as ledger:
        pass
    with pytest.raises(StoreError, match="closed"):
        ledger.append({})
