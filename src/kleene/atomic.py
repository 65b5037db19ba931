"""Output files that appear whole or not at all: write beside the target, then rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield the name of a new file beside ``path``; it takes that name if the block succeeds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kleene.atomic import atomic_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder, "note.txt")) as beside:
    ...         _ = beside.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['note.txt']
    """
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent
        )
    except OSError as error:  # name the file that was asked for, not the one beside it
        raise OSError(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        umask = os.umask(0)
        os.umask(umask)
        beside.chmod(0o666 & ~umask)  # mkstemp made it private
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
