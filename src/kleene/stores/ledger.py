r"""The ledger: a file of finished work, one entry per line, that survives any end of a process.

A line is ``{"check": "8 hex digits", "entry": {...}}``; the digits are the CRC-32 of the entry's
text. The first entry is the header, which says whose ledger it is. Lines are only ever appended,
each in one write followed by fsync, so a process that ends at any moment leaves at most one torn
line, the last, which the next process removes. Damage anywhere else is refused with the number of
its line: a ledger that was edited is not trusted.

The process that has a ledger open holds a lock on the file, which the system drops with the
process; a second one is refused.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import IO, Any

from kleene.errors import StorageError, StoreError
from kleene.system.interrupts import keep

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["Ledger", "naming", "read_all", "require_same", "sync_folder", "write_all"]

Entry = dict[str, Any]

_START = b'{"check": "'
_LINE = re.compile(rb'\{"check": "([0-9a-f]{8})", "entry": (\{.*\})\}')

#: Fields that are digests, unless they are one number, and what it means when they differ.
_DIGESTS = {
    "graph": "graph has other vertices, arcs or weights there",
    "sources": "sources or targets are other vertices there",
}

#: Bytes that no line reaches: a header is a few hundred, an entry less than a hundred.
_LONGEST = 1 << 20

#: Where Windows locks a ledger: the last byte that its call can name.
_LOCKED_BYTE = (1 << 31) - 2


class Ledger:
    """A header and entries, open for more by this process alone.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kleene.stores.ledger import Ledger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for turn in range(2):
    ...         with Ledger.open(Path(folder, "x.ledger"), {"work": "squares"}) as ledger:
    ...             ledger.append({"turn": turn})
    ...             print(ledger.entries)
    [{'turn': 0}]
    [{'turn': 0}, {'turn': 1}]
    """

    def __init__(
        self,
        path: Path,
        file: IO[bytes],
        header: Entry,
        entries: list[Entry],
        end: int,
        locked: bool,
    ) -> None:
        self.path, self.header, self.entries = path, header, entries
        self.locked = locked  # whether the system keeps other processes away
        self._file: IO[bytes] | None = file
        self._end = end  # of the last whole line

    @classmethod
    def open(cls, path: str | Path, header: Entry, adopt: Iterable[str] = ()) -> Ledger:
        """Create a ledger, or open the one that is there for the same work.

        Parameters
        ----------
        path : str or Path
            The file.
        header : dict
            Whose ledger it is; another header in the file is a StoreError that says what differs.
        adopt : names, optional
            Fields of the header that may differ: those of the file hold, see ``ledger.header``.
        """
        path = Path(path)
        with naming(path):
            file = open(path, "a+b", buffering=0)  # noqa: SIM115
        begun = False
        try:
            locked = _lock(file, path)
            if os.fstat(file.fileno()).st_nlink == 0:  # discarded before it was locked
                file.close()
                return cls.open(path, header, adopt)
            with naming(path):
                file.seek(0)
                found, entries, end = _parse(path, file.read())
                if found is None:
                    begun = True
                    found = json.loads(json.dumps(header, allow_nan=False))
                    end = _append(file, found, 0)
                    sync_folder(path.parent)
            require_same(path, found, header, set(adopt))
        except BaseException:
            if begun:
                with suppress(OSError):
                    path.unlink()
            file.close()
            raise
        return cls(path, file, found, entries, end, locked)

    @staticmethod
    def read(path: str | Path) -> tuple[Entry, list[Entry]] | None:
        """Return header and entries of a ledger that may be in use; None where there is none."""
        path = Path(path)
        if not os.path.isfile(path):  # nor where the name is too long to be one
            return None
        with naming(path):
            content = path.read_bytes()
        header, entries, _ = _parse(path, content)
        return None if header is None else (header, entries)

    def append(self, entry: Entry) -> None:
        """Add an entry; it is on the disk when this returns, and not in the file if it raises."""
        if self._file is None:
            raise StoreError(f"{self.path} is closed")
        with naming(self.path):
            self._end = _append(self._file, entry, self._end)
        self.entries.append(entry)

    def discard(self) -> None:
        """Remove the file and close it."""
        if self._file is not None:
            if sys.platform == "win32":  # where an open file cannot be removed
                self.close()
            self.path.unlink(missing_ok=True)
            self.close()

    def close(self) -> None:
        """Let other processes open it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn errors of the system into StorageErrors that name the file."""
    try:
        yield
    except (StorageError, FileNotFoundError):
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise StorageError(error.errno, error.strerror, str(error.filename or path)) from None


def write_all(file: IO[bytes], data: memoryview) -> None:
    """Write all bytes to a file without a buffer, which may take a part of them at a time."""
    while data:
        data = data[file.write(data) :]


def read_all(file: FileIO, data: memoryview) -> bool:
    """Fill memory from a file without a buffer; False where the file ends before."""
    while data:
        count = file.readinto(data)
        if not count:
            return False
        data = data[count:]
    return True


def sync_folder(folder: Path) -> None:
    """Bring the names of new files in a folder to the disk, where the system can."""
    if sys.platform == "win32":
        return
    opened: list[int] = []
    try:
        keep(opened, os.open, folder, os.O_RDONLY)
        os.fsync(opened[0])
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems without it
            raise
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _lock(file: IO[bytes], path: Path) -> bool:
    """Lock a file; return whether the system has locks."""
    try:
        if sys.platform == "win32":  # a byte that no ledger reaches: what is locked cannot be read
            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError as error:
        if sys.platform != "win32" and not isinstance(error, BlockingIOError):
            return False  # a file system without locks
    raise StoreError(f"another process is using {path}: wait until it ends, or stop it")


def _append(file: IO[bytes], entry: Entry, end: int) -> int:
    """Write a line at the end of the last whole one; return where it ends."""
    text = json.dumps(entry, allow_nan=False).encode()
    line = b'%s%08x", "entry": %s}\n' % (_START, zlib.crc32(text), text)
    if file.seek(0, os.SEEK_END) != end:
        file.truncate(end)
    try:
        write_all(file, memoryview(line))
        os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):  # the next line is written after this, or a process removes it
            file.truncate(end)
        raise
    return end + len(line)


def _parse(path: Path, content: bytes) -> tuple[Entry | None, list[Entry], int]:
    """Return the header, the entries, and where the last whole line ends."""
    lines = content.split(b"\n")
    torn = lines.pop()
    found: list[Entry] = []
    end = 0
    for number, line in enumerate(lines, 1):
        entry = _entry(line)
        if entry is None:
            if number == len(lines) > 1 and not torn:
                break  # the last line: a crash of the system may leave it with its end alone
            raise StoreError(
                f"{path}:{number}: this line of the ledger is damaged, or the file is not a ledger",
                advice=["restore it from a backup, or remove it and its store to start again"],
            )
        found.append(entry)
        end += len(line) + 1
    if not found:
        if torn[: len(_START)] != _START[: len(torn)]:
            raise StoreError(
                f"{path} is not a ledger of Kleene's", advice=["rename it, or choose another name"]
            )
        return None, [], 0
    return found[0], found[1:], end


def _entry(line: bytes) -> Entry | None:
    """Return the entry of a line, None of a damaged one."""
    match = _LINE.fullmatch(line) if len(line) < _LONGEST else None
    if match is None or int(match[1], 16) != zlib.crc32(match[2]):
        return None
    try:
        entry = json.loads(match[2])
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def require_same(path: Path, found: Entry, wanted: Entry, adopt: Set[str] = frozenset()) -> None:
    """Refuse a ledger of other work, and say what is different."""
    differences = list(_differences(found, json.loads(json.dumps(wanted)), adopt))
    if differences:
        raise StoreError(
            f"{path} belongs to other work: {'; '.join(differences[:5])}. Make the same call to "
            "resume it, choose another name, or remove the ledger and its store to start again"
        )


def _differences(found: Entry, wanted: Entry, adopt: Set[str], inside: str = "") -> Iterator[str]:
    for name in sorted({*found, *wanted} - adopt):
        there, here = found.get(name), wanted.get(name)
        if isinstance(there, dict) and isinstance(here, dict):
            yield from _differences(there, here, set(), f"{inside}{name} ")
        elif there != here and name in _DIGESTS and not str(there).isdecimal():
            yield _DIGESTS[name]
        elif there != here:
            yield f"{inside}{name} is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
