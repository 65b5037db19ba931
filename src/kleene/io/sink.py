"""The output of a writer: a file that is replaced atomically, a stream, or standard output."""

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
    """A binary file to write to, and the options of the call."""

    file: IO[bytes]
    suffix: str  # of the path, without .gz
    threads: int | None = None
    progress: Progress | None = None

    def write(self, piece: Buffer) -> None:
        """Write a piece of the file."""
        self.file.write(piece)

    def report(self, done: int, total: int) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(done, total)


@contextmanager
def open_binary(target: PathOrFile, gzipped: bool) -> Iterator[IO[bytes]]:
    """Yield a binary file to write to; with ``gzipped``, the output is compressed."""
    if not isinstance(target, (str, PathLike)):
        with _compressing(target, gzipped) as file:
            yield file
    elif fspath(target) == "-":
        with _compressing(sys.stdout.buffer, gzipped) as file:
            yield file
        sys.stdout.buffer.flush()
    else:
        with (
            atomic_path(fspath(target)) as temporary,
            temporary.open("wb") as raw,
            _compressing(raw, gzipped) as file,
        ):
            yield file


@contextmanager
def _compressing(file: IO[bytes], gzipped: bool) -> Iterator[IO[bytes]]:
    if not gzipped:
        yield file
        return
    # No file name and no time in the header: the output is reproducible.
    with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as compressed:
        yield cast(IO[bytes], compressed)
