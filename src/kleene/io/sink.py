"""Where a graph is written to. A file appears whole or not at all.

The bytes go to a new file beside the one asked for, which takes its place when all is written. On
any failure, Ctrl-C included, the new file is removed and an old one stays as it was.
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import IO, cast

from kleene.errors import RequestError
from kleene.io.source import Place, Progress

__all__ = ["Sink", "open_binary"]

Buffer = bytes | memoryview

_GZIP_LEVEL = 6  # 9 takes three times as long for one per cent


@dataclass(frozen=True)
class Sink:
    """A binary file to write to, and how."""

    file: IO[bytes]
    suffix: str  # of the path, without .gz
    threads: int | None = None
    progress: Progress | None = None

    def write(self, piece: Buffer) -> None:
        """Write a piece of the file."""
        self.file.write(piece)

    def report(self, done: int, total: int) -> None:
        """Tell the user how much is written."""
        if self.progress is not None:
            self.progress(done, total)


@contextmanager
def open_binary(place: Place, packed: bool) -> Iterator[IO[bytes]]:
    """Give a binary file to write to; with ``packed``, what is written is compressed."""
    if not isinstance(place, (str, PathLike)):
        with _packing(place, packed) as file:
            yield file
    elif fspath(place) == "-":
        with _packing(sys.stdout.buffer, packed) as file:
            yield file
        sys.stdout.buffer.flush()
    else:
        with _replacing(Path(place)) as beside, _packing(beside, packed) as file:
            yield file


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    if path.is_dir():
        raise RequestError(f"{path} is a directory; name a file in it")
    if not path.parent.is_dir():
        raise RequestError(f"there is no directory {path.parent}; make it first")
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        _give_usual_mode(beside, path)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _give_usual_mode(beside: str, path: Path) -> None:
    """Let the file have the mode of the one it replaces, or that of any new file."""
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(beside, mode)


@contextmanager
def _packing(file: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if not packed:
        yield file
        return
    # No file name and no time in the header: the same graph gives the same bytes.
    with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packing:
        yield cast(IO[bytes], packing)
