"""The input of a reader: a path, standard input or an open file, plain or gzip.

A :class:`Source` holds the whole content in one buffer, so that each core can parse a part of it. A
plain file is memory-mapped; gzip is decompressed in chunks, and available memory is checked on the
way, so that a decompression bomb raises an error.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
import zlib
from collections.abc import Iterator
from os import PathLike, fspath, fstat
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import FormatError, RequestError
from kleene.graph.checks import require_memory
from kleene.graph.core import Progress

__all__ = ["PathOrFile", "Progress", "Source", "printable", "require_path_or_file"]

PathOrFile = str | PathLike[str] | IO[bytes]

_CHUNK = 1 << 20  # bytes read or decompressed at a time
_MEMORY_STEP = 1 << 26  # bytes between checks of available memory
_GZIP_MAGIC = b"\x1f\x8b"
_TEXT_TO_ARCS = 3  # bound on the memory of arcs relative to their text


class Source:
    """The content of a file, and its name for messages.

    Attributes
    ----------
    name : str
        The file name as given by the user.
    stem : str
        The name without folders and suffixes: the name of the graph.
    suffix : str
        The suffix that gives the format, in lower case; ``.gz`` is ignored.
    data : array of uint8
        The content, decompressed.
    threads : int or None
        Threads to use; None for all cores.
    """

    def __init__(
        self, source: PathOrFile, threads: int | None = None, progress: Progress | None = None
    ) -> None:
        self.threads = threads
        self._progress = progress
        self._compressed_size = 0  # bytes of the file, if it is gzip
        require_path_or_file(source, "read")
        if isinstance(source, (str, PathLike)) and fspath(source) != "-":
            self.name = fspath(source)
            if Path(source).is_dir():
                self.fail("found a directory, expected a file")
            with open(source, "rb") as opened:
                raw = self._read(opened)
        else:
            file = sys.stdin.buffer if isinstance(source, (str, PathLike)) else source
            self.name = _name_of(file)
            raw = self._read(file)
        self._set_stem_and_suffix()
        self.data = self._decompressed(raw) if bytes(raw[:2]) == _GZIP_MAGIC else raw

    def _set_stem_and_suffix(self) -> None:
        suffixes = Path(self.name).suffixes
        gzipped = bool(suffixes) and suffixes[-1].lower() == ".gz"
        plain = Path(self.name[: -len(suffixes[-1])] if gzipped else self.name)
        self.suffix = plain.suffix.lower()
        self.stem = "" if self.name.startswith("<") else plain.stem

    def error(self, what: str, line: int | None = None) -> FormatError:
        """Return the error for a line, or for the whole file."""
        where = self.name if line is None else f"{self.name}:{line}"
        return FormatError(printable(f"{where}: {what}"))

    def fail(self, what: str, line: int | None = None) -> NoReturn:
        """Raise the error for a line, or for the whole file."""
        raise self.error(what, line) from None

    def head(self, size: int = 4096) -> bytes:
        """Return the first bytes."""
        return bytes(self.data[:size])

    @property
    def progress(self) -> Progress | None:
        """A function of (done, total) in bytes of ``data``, or None.

        The user's function gets bytes of the file; a gzip file counts twice, once to decompress
        and once to parse.
        """
        report, size = self._progress, self._compressed_size
        if report is None or not size:
            return report
        return lambda done, total: report(size + size * done // max(total, 1), 2 * size)

    def require_memory(self) -> None:
        """Raise if the arcs of the text would not fit in memory."""
        require_memory(
            _TEXT_TO_ARCS * len(self.data),
            f"parsing {self.name}, {len(self.data):,} bytes of text,",
            "use a machine with more memory, or convert the file to .npz on one",
        )

    # ---- content ----------------------------------------------------------------------------

    def _read(self, file: IO[bytes]) -> NDArray[np.uint8]:
        plain = file.raw if isinstance(file, io.BufferedReader) else file
        if isinstance(plain, io.FileIO):  # not a wrapper that decompresses
            status = fstat(file.fileno())
            if S_ISREG(status.st_mode) and status.st_size > 0 and file.tell() == 0:
                return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        return self._joined(iter(lambda: file.read(_CHUNK), b""))

    def _joined(self, chunks: Iterator[bytes]) -> NDArray[np.uint8]:
        """Join chunks, checking available memory on the way."""
        content = bytearray()
        checked = 0
        for chunk in chunks:
            if not isinstance(chunk, bytes):
                raise RequestError("the file must be open in binary mode: open(path, 'rb')")
            content += chunk
            if len(content) >= checked:
                checked = len(content) + _MEMORY_STEP
                require_memory(
                    len(content) + _MEMORY_STEP,  # the buffer may grow by this much
                    f"reading {self.name}",
                    "the file may be damaged or malicious",
                )
        return np.frombuffer(content, np.uint8)

    def _decompressed(self, raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
        self._compressed_size = len(raw)
        try:
            return self._joined(self._members(raw.data))
        except zlib.error as error:
            self.fail(f"found damaged gzip data ({error}), expected an intact gzip file")

    def _members(self, raw: memoryview) -> Iterator[bytes]:
        """Yield the decompressed members of a gzip file; a file may hold several, concatenated."""
        at = 0
        while at < len(raw):
            if bytes(raw[at : at + 2]) != _GZIP_MAGIC:
                if any(raw[at:]):
                    self.fail("found other data after the gzip data, expected the end of the file")
                return  # padded with zeros
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                chunk = raw[at : at + _CHUNK]
                decompressed = member.decompress(chunk, 16 * _CHUNK)
                if not chunk and not decompressed and not member.eof:
                    self.fail("found the end of the file inside the gzip data, expected more data")
                rest = member.unused_data if member.eof else member.unconsumed_tail
                at += len(chunk) - len(rest)
                if self._progress is not None:
                    self._progress(at, 2 * len(raw))
                yield decompressed


def require_path_or_file(target: Any, action: str) -> None:
    """Raise unless the argument is a path or a binary file to read from or write to."""
    if isinstance(target, io.TextIOBase):
        mode = f"{action[0]}b"
        raise RequestError(f"the file must be open in binary mode: open(path, '{mode}') or BytesIO")
    path = fspath(target) if isinstance(target, PathLike) else target
    if not isinstance(path, str) and not hasattr(target, action):
        advice = f"; decode it: {os.fsdecode(path)!r}" if isinstance(path, bytes) else ""
        raise RequestError(
            f"{action} takes a path, '-' or a binary file, not {type(path).__name__}{advice}"
        )


def printable(text: str) -> str:
    """Return the text on one line, with unprintable characters escaped."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<stream>"
