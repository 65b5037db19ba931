"""The input of a reader: a path, standard input or an open file, plain or gzip.

A :class:`Source` reads a plain file piece by piece as its format asks, or whole, by several
threads, into one buffer that each core parses a part of. Readers of graphs map nothing: a file that
another process truncates meanwhile raises an error, where a mapping would end the process. Prepared
graphs are mapped (``mapped``); their files are replaced, never rewritten. gzip is decompressed in
chunks, and available memory is checked on the way, so that a decompression bomb
raises an error.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from os import PathLike, fspath, fstat
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISREG
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import FormatError, MemoryBudgetError, RequestError, Text
from kleene.graph.checks import require_memory
from kleene.graph.core import Progress
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes
from kleene.system.machine import threads_for
from kleene.system.threads import for_each

if TYPE_CHECKING:
    from typing import Self

__all__ = ["PathOrFile", "Progress", "Source", "printable", "require_path_or_file"]

PathOrFile = str | PathLike[str] | IO[bytes]

_CHUNK = 1 << 20  # bytes of a stream read or decompressed at a time
_PIECE = 1 << 22  # bytes that a thread reads at a time
_MEMORY_STEP = 1 << 26  # bytes between checks of available memory
_GZIP_MAGIC = b"\x1f\x8b"
_TEXT_TO_ARCS = 3  # bound on the memory of arcs relative to their text

#: Byte order marks of encodings that Kleene does not read; UTF-32 begins like UTF-16.
_MARKS = {
    b"\xff\xfe\0\0": "UTF-32LE",
    b"\0\0\xfe\xff": "UTF-32BE",
    b"\xff\xfe": "UTF-16LE",
    b"\xfe\xff": "UTF-16BE",
    b"\x84\x31\x95\x33": "GB18030",
}
#: Bytes of a character, and which of them is that of ASCII.
_WITHOUT_MARK = (("UTF-16LE", 2, 0), ("UTF-16BE", 2, 1), ("UTF-32LE", 4, 0), ("UTF-32BE", 4, 3))


if sys.platform == "win32":  # which has no reads at a position
    _READING = Lock()

    def _read_at(descriptor: int, buffer: memoryview, offset: int) -> int:
        with _READING:
            os.lseek(descriptor, offset, os.SEEK_SET)
            found = os.read(descriptor, len(buffer))
        buffer[: len(found)] = found
        return len(found)

else:

    def _read_at(descriptor: int, buffer: memoryview, offset: int) -> int:
        """Read into a buffer from a position; return how many bytes."""
        return os.preadv(descriptor, [buffer], offset)


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
    size : int
        The bytes of the content, decompressed.
    threads : int or None
        Threads to use; None for all cores.
    """

    def __init__(
        self, source: PathOrFile, threads: int | None = None, progress: Progress | None = None
    ) -> None:
        self.threads = threads
        self._progress = progress
        self._compressed_size = 0  # bytes of the file, if it is gzip
        self._opened: IO[bytes] | None = None  # to be closed by us
        self._content: NDArray[np.uint8] | None = None  # None while it is in the file only
        require_path_or_file(source, "read")
        if isinstance(source, (str, PathLike)) and fspath(source) != "-":
            self.name = fspath(source)
            file = self._opened = self._open(source)
        elif isinstance(source, (str, PathLike)):
            self.name, file = "<stdin>", sys.stdin.buffer
        else:
            self.name, file = _name_of(source), source
        try:
            self._set_stem_and_suffix()
            self._set_content(file)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._opened is not None:
            self._opened.close()

    def _open(self, path: str | PathLike[str]) -> IO[bytes]:
        if "\0" in self.name:
            raise RequestError(f"a file name cannot hold a NUL character: {self.name!r}")
        if not self.name:
            raise RequestError("the file name is empty")
        if Path(path).is_dir():
            self.fail("found a directory, expected a file")
        return open(path, "rb", buffering=0)

    def _set_stem_and_suffix(self) -> None:
        suffixes = Path(self.name).suffixes
        gzipped = bool(suffixes) and suffixes[-1].lower() == ".gz"
        plain = Path(self.name[: -len(suffixes[-1])] if gzipped else self.name)
        self.suffix = plain.suffix.lower()
        self.stem = "" if self.name.startswith("<") else plain.stem

    def error(self, what: str, line: int | None = None, advice: Sequence[str] = ()) -> FormatError:
        """Return the error for a line, or for the whole file."""
        where = self.name if line is None else f"{self.name}:{line}"
        parts = Text(where, ": ", what).parts
        error = FormatError(*(type(part)(printable(part)) for part in parts), advice=advice)
        error.line = line
        return error

    def fail(self, what: str, line: int | None = None, advice: Sequence[str] = ()) -> NoReturn:
        """Raise the error for a line, or for the whole file."""
        raise self.error(what, line, advice) from None

    def require_utf8(self, also: str = "UTF-8") -> None:
        """Raise if the content begins as text in another encoding, unless ``also`` names it."""
        encoding = _encoding(self.head(64))
        if encoding is not None and not encoding.startswith(also):
            self.fail(
                f"found text in {encoding}, expected UTF-8; save the file as UTF-8, or convert it: "
                f"iconv -f {encoding} -t UTF-8"
            )

    def head(self, size: int = 4096) -> bytes:
        """Return the first bytes."""
        return self.read(np.dtype(np.uint8), min(size, self.size), 0).tobytes()

    def read(self, dtype: np.dtype[Any], count: int, offset: int) -> NDArray[Any]:
        """Return a new array of the ``count`` items that begin at a byte of the content."""
        self.require_buffer(count * dtype.itemsize)
        array = np.empty(count, dtype)
        self._fill(array.view(np.uint8), offset)
        return array

    @cached_property
    def mapped(self) -> NDArray[np.uint8]:
        """The whole content, as read-only memory of the file itself if it is a plain file."""
        if self._descriptor is None or self._content is not None:
            return self.data
        try:
            memory = mmap.mmap(self._descriptor, self.size, access=mmap.ACCESS_READ)
        except ValueError:
            self.fail("the file became shorter while it was read; read it again")
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.name) from None
        return np.frombuffer(memory, np.uint8)

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The whole content."""
        if self._content is None:
            return self.read(np.dtype(np.uint8), self.size, 0)
        return self._content

    def open(self) -> io.BufferedReader:
        """Return the content as a file that can seek."""
        return io.BufferedReader(_Content(self), _CHUNK)

    @property
    def is_path(self) -> bool:
        """Whether the content is that of the file called ``name``, as it is."""
        return self._opened is not None and self._content is None

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

    def require_memory(self, text: int, more: int = 0) -> None:
        """Raise if the arcs of so many bytes of text, and more bytes, would not fit in memory."""
        require_memory(
            _TEXT_TO_ARCS * text + more,
            f"parsing {self.name}, {text:,} bytes of text,",
            "use a machine with more memory, or convert the file to .npz on one",
        )

    def require_buffer(self, size: int) -> None:
        """Raise if a buffer for so many bytes of the content would not fit in memory."""
        require_memory(
            size, f"reading {self.name}", "use a machine with more memory, or check the file"
        )

    # ---- content ----------------------------------------------------------------------------

    def _set_content(self, file: IO[bytes]) -> None:
        self._descriptor = _regular_file(file)
        if self._descriptor is None:
            chunks = self._chunks(file)
            if _is_device(file) and next(chunks, b""):
                self.fail("found a device, which has no end, expected a file")
            self._content = self._joined(chunks)
            self.size = len(self._content)
        else:
            self.size = fstat(self._descriptor).st_size
        if self.head(2) == _GZIP_MAGIC:
            self._compressed_size = self.size
            try:
                self._content = self._joined(self._members())
            except zlib.error as error:
                self.fail(f"found damaged gzip data ({error}), expected an intact gzip file")
            self.size = len(self._content)

    def _fill(self, buffer: NDArray[np.uint8], offset: int) -> None:
        """Copy the content from a byte on into a buffer, by several threads if it is large."""
        if self._content is not None:
            buffer[:] = self._content[offset : offset + len(buffer)]
            return
        pieces = range(0, len(buffer), _PIECE)
        threads = max(1, min(threads_for(len(buffer), self.threads), len(pieces)))
        for_each(
            lambda begin: self._pread(buffer[begin : begin + _PIECE], offset + begin),
            pieces,
            threads,
        )

    def _pread(self, buffer: NDArray[np.uint8], offset: int) -> None:
        assert self._descriptor is not None
        done = 0
        while done < len(buffer):
            try:
                count = _read_at(self._descriptor, buffer[done:].data, offset + done)
            except OSError as error:
                raise OSError(error.errno, error.strerror, self.name) from None
            if count == 0:
                self.fail("the file became shorter while it was read; read it again")
            done += count

    def _chunks(self, file: IO[bytes]) -> Iterator[bytes]:
        while True:
            try:
                chunk = file.read(_CHUNK)
            except OSError as error:
                if error.filename is not None or file not in (self._opened, sys.stdin.buffer):
                    raise
                raise OSError(error.errno, error.strerror, self.name) from None
            if not isinstance(chunk, bytes):
                raise RequestError("the file must be open in binary mode: open(path, 'rb')")
            if not chunk:
                return
            yield chunk

    def _joined(self, chunks: Iterator[bytes]) -> NDArray[np.uint8]:
        """Join chunks, checking available memory on the way."""
        content = bytearray()
        checked = 0
        for chunk in chunks:
            try:
                content += chunk
            except MemoryError:
                raise MemoryBudgetError(
                    f"{self.name} has more than {format_bytes(len(content))}, and no more memory "
                    "is available; the file may be damaged or malicious"
                ) from None
            if len(content) >= checked:
                checked = len(content) + _MEMORY_STEP
                require_memory(
                    len(content) + _MEMORY_STEP,  # the buffer may grow by this much
                    f"reading {self.name}",
                    "the file may be damaged or malicious",
                )
        return np.frombuffer(content, np.uint8)

    def _members(self) -> Iterator[bytes]:
        """Yield the decompressed members of a gzip file; a file may hold several, concatenated."""
        raw = self.open()
        at = 0
        while at < self.size:
            raw.seek(at)
            magic = raw.read(2)
            raw.seek(at)
            if magic != _GZIP_MAGIC:
                while chunk := raw.read(_CHUNK):
                    if any(chunk):
                        self.fail(
                            "found other data after the gzip data, expected the end of the file"
                        )
                return  # padded with zeros
            member = zlib.decompressobj(wbits=31)
            rest = b""
            while not member.eof:
                chunk = rest or raw.read(_CHUNK)
                decompressed = member.decompress(chunk, 16 * _CHUNK)
                if not chunk and not decompressed and not member.eof:
                    self.fail("found the end of the file inside the gzip data, expected more data")
                rest = member.unused_data if member.eof else member.unconsumed_tail
                at = raw.tell() - len(rest)
                if self._progress is not None:
                    self._progress(at, 2 * self.size)
                yield decompressed


class _Content(io.RawIOBase):
    """The content of a source as a file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._source.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = np.frombuffer(buffer, np.uint8)
        count = max(0, min(len(view), self._source.size - self._at))
        self._source._fill(view[:count], self._at)
        self._at += count
        return count


def _regular_file(file: Any) -> int | None:
    """Return the descriptor of a regular file that is read from its beginning, else None."""
    plain = file.raw if isinstance(file, io.BufferedReader) else file
    if not isinstance(plain, io.FileIO) or not hasattr(os, "preadv"):
        return None  # perhaps a wrapper that decompresses
    status = fstat(file.fileno())
    if not S_ISREG(status.st_mode) or status.st_size == 0 or file.tell() != 0:
        return None
    return int(file.fileno())


def _is_device(file: IO[bytes]) -> bool:
    """Return whether this is a device such as /dev/zero; a terminal is none."""
    try:
        mode = fstat(file.fileno()).st_mode
    except (AttributeError, OSError, TypeError):  # in memory
        return False
    return S_ISBLK(mode) or (S_ISCHR(mode) and not file.isatty())


def _encoding(head: bytes) -> str | None:
    """Return the encoding of text that begins so, None for UTF-8 or what is not text.

    Without a mark, all bytes of a plain character are zero but one: in UTF-16 one of two, in UTF-32
    one of four.
    """
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    for encoding, width, at in _WITHOUT_MARK:
        units = head[: len(head) // width * width]
        plain = units[at::width]
        if len(plain) >= 2 and all(plain) and units.count(0) == len(units) - len(plain):
            return encoding
    return None


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
