"""Exit codes, and the conversion of errors to messages and exit codes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ANSWER_NO", "EPILOG", "exit_on_error"]

#: The answer is "no": there is no path, or the verification failed.
ANSWER_NO = 1
_REQUEST, _FILE, _CYCLE, _MEMORY, _DEVICE = 2, 3, 4, 5, 6
_INTERRUPTED, _PIPE_CLOSED = 130, 141  # as a shell reports SIGINT and SIGPIPE

EPILOG = (
    "Exit codes: 0 success; 1 no path, or verification failed; 2 invalid arguments; "
    "3 invalid file or graph; 4 negative cycle; 5 not enough memory; 6 device unavailable; "
    "130 interrupted."
)


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Convert user errors to one line on standard error and an exit code."""
    try:
        yield
        sys.stdout.flush()  # raises here, not at exit, if the pipe is closed
    except BrokenPipeError:
        # The reader closed the pipe. Python flushes again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_PIPE_CLOSED) from None
    except KeyboardInterrupt:
        _print_error("interrupted")
        raise SystemExit(_INTERRUPTED) from None
    except Exception as error:
        code = _code(error)
        if code is None:
            raise
        _print_error(_message(error))
        raise SystemExit(code) from None


def _code(error: Exception) -> int | None:
    from kleene import errors

    codes: tuple[tuple[type[Exception], int], ...] = (
        (errors.VerificationError, ANSWER_NO),
        (errors.RequestError, _REQUEST),
        (errors.NegativeCycleError, _CYCLE),
        (errors.DeviceError, _DEVICE),
        (MemoryError, _MEMORY),
        (errors.KleeneError, _FILE),
        (OSError, _FILE),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), None)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return _in_options(str(error)) or type(error).__name__


#: Python spellings in messages of the library, and the options for them.
_SPELLINGS = {
    "write graph.symmetrise()": "add --undirected",
    "directed=False": "--undirected",
    "weighted=False": "--unweighted",
    "weighted=True": "--weighted",
    "predecessors=False": "--no-predecessors",
    "sources=[...]": "--source VERTEX",
}
_KEYWORD = re.compile(r"\b(format|device|method|dtype|threads|out|limit)=(?:(['\"])([\w.]+)\2)?")


def _in_options(message: str) -> str:
    """Return a message of the library with options in place of Python keywords."""
    for spelling, option in _SPELLINGS.items():
        message = message.replace(spelling, option)
    return _KEYWORD.sub(lambda match: f"--{match[1]} {match[3] or ''}".rstrip(), message)


def _print_error(message: str) -> None:
    print(f"kleene: {message}", file=sys.stderr)
