"""Where a graph is written to: a file that appears whole or not at all, a stream, or stdout."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import IO, cast

from kleene.io.source import PathOrFile, Progress
from kleene.system.atomic_file import atomic_path

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
def open_binary(place: PathOrFile, packed: bool) -> Iterator[IO[bytes]]:
    """Give a binary file to write to; with ``packed``, what is written is compressed."""
    if not isinstance(place, (str, PathLike)):
        with _packing(place, packed) as file:
            yield file
    elif fspath(place) == "-":
        with _packing(sys.stdout.buffer, packed) as file:
            yield file
        sys.stdout.buffer.flush()
    else:
        with (
            atomic_path(fspath(place)) as beside,
            beside.open("wb") as whole,
            _packing(whole, packed) as file,
        ):
            yield file


@contextmanager
def _packing(file: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if not packed:
        yield file
        return
    # No file name and no time in the header: the same graph gives the same bytes.
    with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packing:
        yield cast(IO[bytes], packing)
