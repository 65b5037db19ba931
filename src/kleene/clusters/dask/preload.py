"""Loaded by workers that a command starts: Ctrl-C at its terminal is for the command alone."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(worker: Any) -> None:
    """Ignore the signal, in the main thread of a worker; the command ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
