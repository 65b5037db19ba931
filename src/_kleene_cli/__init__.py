"""The start of the program ``kleene``: what must be settled before the library is imported."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

__all__ = ["leave", "main"]


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored
        signal.signal(signal.SIGINT, leave)  # until a command starts
    _open_closed_streams()
    from kleene.cli.main import main as run

    run()


def leave(*_: Any) -> NoReturn:
    """End the process on Ctrl-C; an exception in the middle of an import could be lost."""
    os.write(2, b"kleene: interrupted\n")
    os._exit(130)


def _open_closed_streams() -> None:
    """Open the standard streams that the caller closed, so that no other file gets their numbers.

    Input and output are opened the wrong way round: to use them is an error, as it should be.
    """
    for number, name, wrong_way in ((0, "stdin", "w"), (1, "stdout", "r"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            flags = os.O_RDONLY if wrong_way == "r" else os.O_WRONLY
            if os.open(os.devnull, flags) == number:
                mode = "r" if name == "stdin" else "w"
                setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - to the end
