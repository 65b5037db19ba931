"""Output files that appear whole or not at all.

The bytes go to a new file beside the one asked for, which takes its place when all of them are on
the disk. On any failure, Ctrl-C included, the new file is removed and an old one stays as it was.

A process that is killed cannot remove its new file. So each new file is locked while it is written,
the system drops the lock with the process, and the next write to the folder removes every new file
without a lock. (A process id would not do: the other process may be in another container.)
"""

from __future__ import annotations

import errno
import math
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError, StorageError
from kleene.system.formatting import format_bytes
from kleene.system.interrupts import interrupt_first
from kleene.system.npy_header import write_array, write_header

if sys.platform != "win32":  # there, files of killed processes stay
    import fcntl

__all__ = [
    "atomic_array",
    "atomic_path",
    "remove_abandoned",
    "reserve_space",
    "target_file",
    "temporary_path",
]

_ZEROS = 1 << 20  # bytes written at a time to reserve space
_LONGEST_SUFFIX = 16  # characters of a suffix that the new file has too
_NEW_FILE = re.compile(r"\.kleene-[0-9a-f]{16}\.part(\.[^.]{1,15})?")


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield the name of a new file beside ``path``; it takes that name if the block succeeds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kleene.system.atomic_file import atomic_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder, "note.txt")) as beside:
    ...         _ = beside.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['note.txt']
    """
    path = target_file(path)
    if path.exists() and not path.is_file():  # a pipe or a device: there is nothing to replace
        with interrupt_first():
            yield path
        return
    with _naming(path):
        remove_abandoned(path.parent)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666
    with interrupt_first(), _new_file(path, mode) as (beside, locked), _naming(path, beside):
        yield beside
        os.fsync(locked)  # or a power failure could leave a part under the final name
        if sys.platform == "win32":  # where an open file keeps its name
            locked.close()
        beside.replace(path)


@contextmanager
def atomic_array(
    path: str | Path, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[NDArray[Any]]:
    """Yield the array of a new ``.npy`` file, mapped; it takes its name if the block succeeds.

    The space is reserved first: a store to a mapped page that the disk has no room for would end
    the process by SIGBUS.
    """
    with atomic_path(path) as beside:
        if not beside.is_file():
            raise RequestError(f"{path} is not a regular file, and cannot be mapped")
        if sys.platform == "win32":  # where a mapped file keeps its name
            array = np.empty(shape, dtype)
            yield array
            with beside.open("wb") as file:
                write_array(file, array)
            return
        with beside.open("r+b") as file:
            write_header(file, dtype, shape)
            file.flush()
            start = file.tell()
            reserve_space(
                file.fileno(), start, start + dtype.itemsize * math.prod(shape), path, mapped=True
            )
        mapped = np.memmap(beside, dtype, "r+", start, shape)
        yield mapped
        mapped.flush()


@contextmanager
def temporary_path(folder: Path, suffix: str) -> Iterator[Path]:
    """Yield the name of a new file in a folder, which is removed at the end.

    If this process is killed, the next write to the folder removes it.
    """
    with _naming(folder):
        remove_abandoned(folder)
    with _new_file(folder / f"temporary{suffix}", 0o666, folder) as (path, _):
        yield path


def target_file(path: str | Path) -> Path:
    """Return the file to replace: what ``path`` names, or what it leads to if it is a link."""
    if not isinstance(path, (str, Path)):
        raise RequestError(f"a file name must be a string or a Path, not {type(path).__name__}")
    if "\0" in str(path):
        raise RequestError(f"a file name cannot hold a NUL character: {str(path)!r}")
    path = Path(path)
    with _naming(path):
        if path.is_symlink():
            path = Path(os.path.realpath(path))
            if path.is_symlink():
                raise RequestError(f"{path} is a symbolic link that leads back to itself")
        if path.is_dir():
            raise RequestError(f"{path} is a directory", advice=["name a file in it"])
        if not path.parent.is_dir():
            raise RequestError(f"there is no directory {path.parent}", advice=["make it first"])
    return path


@contextmanager
def _naming(path: Path, beside: Path | None = None) -> Iterator[None]:
    """Let errors of the system name the file that was asked for, not the one beside it."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        if error.errno is None or (
            beside is not None and error.filename not in (None, str(beside))
        ):
            raise
        kind = StorageError if beside is not None else OSError
        raise kind(error.errno, error.strerror, str(path)) from None


@contextmanager
def _new_file(path: Path, mode: int, named: Path | None = None) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield the name of a new file beside ``path`` and the file, open and locked.

    At the end it is removed, unless it has another name by then. Errors name ``named``.
    """
    suffix = path.suffix if len(path.suffix) <= _LONGEST_SUFFIX and path.suffix.isascii() else ""
    there = False
    while not there:  # another process may remove the file before it is locked
        beside = path.with_name(f".kleene-{secrets.token_hex(8)}.part{suffix}")
        try:  # before the file is there: Ctrl-C may come as soon as it is
            with _naming(named or path):
                # A file object from the start, which closes itself. (partial is not Python code,
                # in which a signal handler could run.)
                locked = open(beside, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
            with locked:
                if sys.platform != "win32":
                    with suppress(OSError):  # a file system without locks
                        fcntl.flock(locked, fcntl.LOCK_EX)
                there = os.fstat(locked.fileno()).st_nlink > 0
                if there:
                    yield beside, locked
        finally:
            beside.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the new files in a folder whose processes are gone."""
    if sys.platform == "win32":
        return
    for name in os.listdir(folder):
        if _NEW_FILE.fullmatch(name) is None:
            continue
        with suppress(OSError):  # not ours to remove, or no locks there
            if not stat.S_ISREG(os.lstat(folder / name).st_mode):
                continue
            # A file object: on Ctrl-C before the next line, it closes itself.
            with open(folder / name, "rb", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(folder / name)


def reserve_space(
    descriptor: int, start: int, size: int, path: str | Path, mapped: bool = False
) -> None:
    """Make a file ``size`` bytes long, with room on the disk for those from ``start``.

    In memory (tmpfs) that takes as long as to write it, and other processes wait. There the space
    is only compared with what is free, unless the file is to be ``mapped``: then a process would
    end where there is no room, instead of an error.
    """
    try:
        try:
            if not mapped and _is_in_memory(descriptor):
                there = os.fstatvfs(descriptor)
                if there.f_blocks and size > there.f_bavail * there.f_frsize:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.ftruncate(descriptor, size)
                return
            os.posix_fallocate(descriptor, 0, size)
        except (AttributeError, OSError) as error:  # not on macOS, not on every file system
            if getattr(error, "errno", None) not in (None, errno.EOPNOTSUPP, errno.EINVAL):
                raise
            zeros = bytes(_ZEROS)
            os.lseek(descriptor, start, os.SEEK_SET)
            while start < size:
                start += os.write(descriptor, zeros[: size - start])
    except OSError as error:
        free = shutil.disk_usage(Path(path).parent).free
        raise StorageError(
            error.errno,
            f"{error.strerror}: the file needs {format_bytes(size)}, and "
            f"{format_bytes(free)} are free there",
            str(path),
        ) from None


def _is_in_memory(descriptor: int) -> bool:
    """Return whether a file is on a tmpfs."""
    if sys.platform != "linux":
        return False
    device = os.fstat(descriptor).st_dev
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[2] == f"{os.major(device)}:{os.minor(device)}":
                return fields[fields.index("-") + 1] == "tmpfs"
    return False
