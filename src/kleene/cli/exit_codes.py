"""Exit codes, and the conversion of errors to messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "ANSWER_NO",
    "EPILOG",
    "exit_code",
    "exit_on_error",
    "stop_on_signals",
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
