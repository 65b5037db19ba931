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
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
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
