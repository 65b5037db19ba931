"""Output files that appear whole or not at all.

The bytes go to a new file beside the one asked for, which takes its place when all is written. On
any failure, Ctrl-C included, the new file is removed and an old one stays as it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kleene.errors import RequestError

__all__ = ["atomic_path"]


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
    path = Path(path)
    if path.is_symlink():  # what the link leads to is the file to replace
        path = path.resolve()
    if path.is_dir():
        raise RequestError(f"{path} is a directory; name a file in it")
    if not path.parent.is_dir():
        raise RequestError(f"there is no directory {path.parent}; make it first")
    if path.exists() and not path.is_file():  # a pipe or a device: there is nothing to replace
        yield path
        return
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{path.suffix}")
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    except OSError as error:  # name the file that was asked for, not the one beside it
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        yield beside
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
