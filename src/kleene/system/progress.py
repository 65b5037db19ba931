"""Progress of long work: a bar for people at a terminal, a function for programs, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from kleene.errors import RequestError

__all__ = ["reporter"]

Report = Callable[[int, int], object]


def reporter(progress: bool | Report | None, what: str) -> AbstractContextManager[Report | None]:
    """Return a context with a function of (done, total), or None for no progress.

    True draws a bar on standard error, if that is a terminal.
    """
    if progress is None or progress is False:
        return nullcontext()
    if callable(progress):
        return nullcontext(progress)
    if progress is True:
        return _bar(what)
    raise RequestError(f"progress must be True, False or a function, not {progress!r}")


@contextmanager
def _bar(what: str) -> Iterator[Report | None]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
