"""Where a graph is read from: a path, standard input or an open file, packed or plain.

A :class:`Source` holds the whole text in one buffer, so that every core can parse a part of it. A
plain file is mapped, not read; gzip is unpacked piece by piece, and memory is asked for before it
is taken, so that a small file which unpacks to more than there is gives an error and no trouble.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from os import PathLike, fspath, fstat
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import FormatError, RequestError
from kleene.graph.checks import require_memory

__all__ = ["PathOrFile", "Progress", "Source", "printable", "require_path_or_file"]

PathOrFile = str | PathLike[str] | IO[bytes]
Progress = Callable[[int, int], object]

_PIECE = 1 << 20  # bytes read or unpacked at a time
_MEMORY_STEP = 1 << 26  # bytes after which memory is asked for again
_GZIP_MAGIC = b"\x1f\x8b"
_TEXT_TO_ARCS = 3  # arcs take at most so many times the memory of their text


class Source:
    """The bytes of a file and what to call it in messages.

    Attributes
    ----------
    name : str
        The file as the user named it.
    stem : str
        The name without folders and suffixes: what the graph will be called.
    suffix : str
        The suffix that tells the format, in lower case; the one before ``.gz``.
    data : array of uint8
        The contents, unpacked.
    threads : int or None
        How many to use; None for all cores.
    """

    def __init__(
        self, place: PathOrFile, threads: int | None = None, progress: Progress | None = None
    ) -> None:
        self.threads = threads
        self._progress = progress
        self._packed = 0  # bytes of the file, when it is gzip
        require_path_or_file(place, "read")
        if isinstance(place, (str, PathLike)) and fspath(place) != "-":
            self.name = fspath(place)
            if Path(place).is_dir():
                self.fail("found a directory, expected a file")
            with open(place, "rb") as opened:
                raw = self._contents(opened)
        else:
            file = sys.stdin.buffer if isinstance(place, (str, PathLike)) else place
            self.name = _name_of(file)
            raw = self._contents(file)
        self._set_stem_and_suffix()
        self.data = self._unpacked(raw) if bytes(raw[:2]) == _GZIP_MAGIC else raw

    def _set_stem_and_suffix(self) -> None:
        suffixes = Path(self.name).suffixes
        packed = bool(suffixes) and suffixes[-1].lower() == ".gz"
        plain = Path(self.name[: -len(suffixes[-1])] if packed else self.name)
        self.suffix = plain.suffix.lower()
        self.stem = "" if self.name.startswith("<") else plain.stem

    def error(self, what: str, line: int | None = None) -> FormatError:
        """Return the error that says what is wrong, and where."""
        place = self.name if line is None else f"{self.name}:{line}"
        return FormatError(printable(f"{place}: {what}"))

    def fail(self, what: str, line: int | None = None) -> NoReturn:
        """Raise the error that says what is wrong, and where."""
        raise self.error(what, line) from None

    def head(self, size: int = 4096) -> bytes:
        """Return the first bytes."""
        return bytes(self.data[:size])

    @property
    def progress(self) -> Progress | None:
        """Takes (done, total) in bytes of ``data`` and tells the user.

        To the user both are bytes of the file; a packed file is gone through twice.
        """
        tell, packed = self._progress, self._packed
        if tell is None or not packed:
            return tell
        return lambda done, total: tell(packed + packed * done // max(total, 1), 2 * packed)

    def require_memory(self) -> None:
        """Refuse a text whose arcs would not fit in memory."""
        require_memory(
            _TEXT_TO_ARCS * len(self.data),
            f"parsing {self.name}, {len(self.data):,} bytes of text,",
            "use a machine with more memory, or convert the file to .npz there",
        )

    # ---- from a file to its bytes ---------------------------------------------------------

    def _contents(self, file: IO[bytes]) -> NDArray[np.uint8]:
        plain = file.raw if isinstance(file, io.BufferedReader) else file
        if isinstance(plain, io.FileIO):  # and nothing that unpacks a file on the way
            status = fstat(file.fileno())
            if S_ISREG(status.st_mode) and status.st_size > 0 and file.tell() == 0:
                return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        return self._collected(iter(lambda: file.read(_PIECE), b""))

    def _collected(self, pieces: Iterator[bytes]) -> NDArray[np.uint8]:
        """Join pieces, asking for memory on the way."""
        whole = bytearray()
        asked = 0
        for piece in pieces:
            if not isinstance(piece, bytes):
                raise RequestError("the file must be open in binary mode: open(path, 'rb')")
            whole += piece
            if len(whole) >= asked:
                asked = len(whole) + _MEMORY_STEP
                require_memory(
                    len(whole) + _MEMORY_STEP,  # what growing the buffer may take
                    f"reading {self.name}",
                    "is it what it should be? It may be packed to mislead",
                )
        return np.frombuffer(whole, np.uint8)

    def _unpacked(self, raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
        self._packed = len(raw)
        try:
            return self._collected(self._members(raw.data))
        except zlib.error as error:
            self.fail(f"found damaged gzip data ({error}), expected the file as it was packed")

    def _members(self, raw: memoryview) -> Iterator[bytes]:
        """Unpack all members of a gzip file; a file may be several, one behind the other."""
        at = 0
        while at < len(raw):
            if bytes(raw[at : at + 2]) != _GZIP_MAGIC:
                if any(raw[at:]):
                    self.fail("found other data behind the gzip data, expected its end")
                return  # padded with zeros
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                piece = raw[at : at + _PIECE]
                unpacked = member.decompress(piece, 16 * _PIECE)
                if not piece and not unpacked and not member.eof:
                    self.fail("found the end of the file within the gzip data, expected more")
                rest = member.unused_data if member.eof else member.unconsumed_tail
                at += len(piece) - len(rest)
                if self._progress is not None:
                    self._progress(at, 2 * len(raw))
                yield unpacked


def require_path_or_file(place: Any, action: str) -> None:
    """Refuse what is neither a path nor a binary file to read from or write to."""
    if isinstance(place, io.TextIOBase):
        mode = f"{action[0]}b"
        raise RequestError(f"the file must be open in binary mode: open(path, '{mode}'), BytesIO")
    path = fspath(place) if isinstance(place, PathLike) else place
    if not isinstance(path, str) and not hasattr(place, action):
        advice = f"; decode it: {os.fsdecode(path)!r}" if isinstance(path, bytes) else ""
        raise RequestError(
            f"{action} takes a path, '-' or a binary file, not {type(path).__name__}{advice}"
        )


def printable(text: str) -> str:
    """Return the text on one line, with everything escaped that a terminal would obey."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<stream>"
