"""Errors: exit codes, and messages in the words of the command line.

A message of the library knows which of its parts are code of Python. A keyword such as
``predecessors=False`` becomes ``--no-predecessors`` where the command that failed has an option of
that name. Advice that the command has no option for is left out.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from kleene.errors import Code

__all__ = [
    "ANSWER_NO",
    "EPILOG",
    "exit_code",
    "exit_on_error",
    "in_options",
    "stop_on_signals",
    "use_options",
    "warnings_in_one_line",
]

#: The answer is "no": there is no path, or the verification failed.
ANSWER_NO = 1
_REQUEST, _FILE, _CYCLE, _MEMORY, _DEVICE = 2, 3, 4, 5, 6
_INTERRUPTED, _PIPE_CLOSED = 130, 141  # as a shell reports SIGINT and SIGPIPE

EPILOG = (
    "Exit codes: 0 success; 1 no path, or verification failed; 2 invalid arguments; "
    "3 invalid file or graph; 4 negative cycle; 5 not enough memory; 6 device or cluster "
    "unavailable; 129, 130, 143 stopped by SIGHUP, Ctrl-C, SIGTERM."
)


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Convert user errors to one line on standard error and an exit code."""
    try:
        yield
        sys.stdout.flush()  # raises here, not at exit, if the pipe is closed
    except BrokenPipeError:
        _discard_output()
        raise SystemExit(_PIPE_CLOSED) from None
    except KeyboardInterrupt:
        _print_error("interrupted")
        raise SystemExit(_INTERRUPTED) from None
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        _discard_output()
        _print_error(_message(error))
        raise SystemExit(code) from None


@contextmanager
def warnings_in_one_line(reworded: Callable[[Any], str]) -> Iterator[None]:
    """Print Kleene's warnings as messages, reworded."""
    import warnings

    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        from kleene.errors import GraphWarning

        if not issubclass(category, GraphWarning):
            shown(message, category, *place, **more)
            return
        told = message.args[0] if isinstance(message, Warning) else message  # it knows its code
        _print_error(f"warning: {reworded(told)}")

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end a command by an exception, so that it removes its files.

    A signal that the caller of the program ignores stays ignored (nohup).
    """
    handlers = {signal.SIGINT: _interrupt, signal.SIGTERM: _terminate}
    if hasattr(signal, "SIGHUP"):
        handlers[signal.SIGHUP] = _terminate
    if threading.current_thread() is not threading.main_thread():
        handlers = {}  # signals belong to the main thread
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    _ignore_destructors()
    raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    _ignore_destructors()
    _print_error("terminated")
    raise SystemExit(128 + number)


def _ignore_destructors() -> None:
    """Keep destructors of objects that a signal left half made from printing their errors."""
    sys.unraisablehook = lambda _: None


def _discard_output() -> None:
    """Discard what cannot be written to standard output; Python would try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code(error: Exception) -> int | None:
    """Return the exit code for an error, None for one that is no user's."""
    from kleene import errors

    codes: tuple[tuple[Any, int], ...] = (
        (errors.VerificationError, ANSWER_NO),
        (errors.RequestError, _REQUEST),
        (errors.NegativeCycleError, _CYCLE),
        ((errors.DeviceError, errors.ClusterError), _DEVICE),
        (MemoryError, _MEMORY),
        (errors.KleeneError, _FILE),
        (OSError, _FILE),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), None)


def _message(error: Exception) -> str:
    from kleene.io.source import printable

    if isinstance(error, OSError) and error.strerror:
        name = "standard output" if error.filename is None else str(error.filename) or "''"
        return f"{printable(name)}: {error.strerror}"
    return str(error) or type(error).__name__


def _print_error(message: str) -> None:
    with suppress(OSError):  # standard error may be closed
        print(f"kleene: {message}", file=sys.stderr)


# ---- words ---------------------------------------------------------------------------------------

#: Code that is no option of a command by its name, and what does the same on the command line.
_WORDS = {
    "g.subgraph(kl.components(g, 'strong').largest)": "kleene components --strong --largest FILE",
    "g.subgraph(kl.components(g).largest)": "kleene components --largest FILE",
    "graph.symmetrise()": "--undirected",
    "graph.unlabelled()": "--unlabelled",
    "graph.with_positions(xy)": "--positions FILE",
    "kleene.reduce_distances": "kleene measure",
    "kleene.sssp": "kleene sssp",
    "weight=None": "--unweighted",
}


def use_options(error: Exception, command: Any) -> None:
    """Reword an error of the library for the command that raised it."""
    from kleene.errors import KleeneError, message_of, reworded

    if isinstance(error, KleeneError) and message_of(error).codes:
        error.args = (str(reworded(error, lambda code: _spelled(code, command))),)


def in_options(message: Any, command: Any) -> str:
    """Return a text with the options of a command in place of keywords.

    A keyword that the command has no option for stays: it tells more than nothing.
    """
    from kleene.errors import Text

    return str(Text(message).reworded(lambda code: _spelled(code, command)))


def _spelled(code: Code, command: Any) -> str | None:
    """Return what a command has for code of Python: an option, other words, or None."""
    if code in _WORDS:
        return _WORDS[code]
    column = code.name == "directed" and code.value.startswith(("'", '"'))  # has its own option
    flag = "--oneway" if column else f"--{code.name.replace('_', '-')}"
    found = (one for one in command.params if flag in one.opts)
    option = next(found, None) if code.name else None
    return None if option is None else _with_value(option, code.value)


def _with_value(option: Any, value: str) -> str:
    """Return an option with a value as one would type it."""
    if value in ("True", "False") and option.is_flag:
        off = value == "False" and option.secondary_opts
        return str((option.secondary_opts if off else option.opts)[0])
    if value.startswith("["):
        value = option.metavar or "VALUE"
    value = value.removeprefix("math.").strip("'\"")
    return f"{option.opts[0]} {value}".rstrip()
