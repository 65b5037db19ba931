"""Progress of long work: a bar for people at a terminal or notebook, a function for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any

from kleene.errors import Code, RequestError
from kleene.system.html import tag

__all__ = ["reporter"]

Report = Callable[[int, int], object]

#: Seconds until a notebook shows a bar, and between two updates: each is a message to the browser.
_PATIENCE, _UPDATE_SECONDS = 0.5, 0.1


def reporter(progress: bool | Report | None, what: str) -> AbstractContextManager[Report | None]:
    """Return a context with a function of (done, total), or None for no progress.

    True draws a bar in the output of a notebook's cell, or on standard error if that is a terminal;
    it goes away at the end. Elsewhere nothing is drawn.
    """
    if progress is None or progress is False:
        return nullcontext()
    if callable(progress):
        return nullcontext(progress)
    if progress is True:
        return _notebook_bar(what) if _in_notebook() else _terminal_bar(what)
    raise RequestError(Code("progress"), f" must be True, False or a function, not {progress!r}")


@contextmanager
def _terminal_bar(what: str) -> Iterator[Report | None]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


# ---- notebooks ----------------------------------------------------------------------------------


def _in_notebook() -> bool:
    """Return whether a kernel runs this program: it has cells with rich output, unlike IPython."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _notebook_bar(what: str) -> Iterator[Report]:
    """Show a bar of plain HTML, which needs no extension of the notebook."""
    display: Any = import_module("IPython.display").display
    shown: Any = None  # from the first report on that finds work half a second old
    begun = time.monotonic()
    due = begun + _PATIENCE

    def report(done: int, total: int) -> None:
        nonlocal shown, due
        now = time.monotonic()
        if now < due:
            return
        due = now + _UPDATE_SECONDS
        bar = _bar(what, done, total, now - begun)
        if shown is None:
            shown = display(bar, raw=True, display_id=True)
        else:
            shown.update(bar, raw=True)

    try:
        yield report
    finally:
        if shown is not None:
            shown.update({"text/plain": "", "text/html": ""}, raw=True)


def _bar(what: str, done: int, total: int, seconds: float) -> dict[str, str]:
    """Return a bar as HTML and as text; without a total, it says only that work goes on."""
    share = min(1.0, done / total) if total > 0 else None
    text = "" if share is None else f"{share:.0%}"
    if share and seconds > 5:
        text += f", about {seconds * (1 / share - 1):.0f} s left"
    value = None if share is None else f"{share:.4f}"
    bar = tag("progress", max=1, value=value, style="width:20em;vertical-align:middle")
    html = tag("div", what, " ", bar, " ", text, style="font:13px system-ui,sans-serif")
    return {"text/plain": f"{what} {text}".rstrip(), "text/html": html}
