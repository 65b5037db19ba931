"""What a process of a job says before it ends: delivered, not only written.

Standard error of a rank is a pipe to the launcher, which forwards what it reads. A job that is
aborted is not read to its end: MPICH's mpiexec ends as soon as it hears of the abort, and what is
in the pipe then is lost. So a rank waits until its pipe is empty. That is enough: the launcher on
its machine forwards a piece as it reads it, before it looks at anything else, over the connection
on which the abort follows.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress

if sys.platform != "win32":
    import fcntl
    import termios

__all__ = ["await_reader", "deliver"]

#: Seconds to wait for a launcher that does not read, and between two looks at the pipe.
PATIENCE, _POLL = 5.0, 0.001


def deliver(line: str) -> None:
    """Write a line to standard error, and wait until it has been read from there."""
    with suppress(OSError, ValueError):  # closed
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
        await_reader(sys.stderr.fileno())


def await_reader(descriptor: int) -> None:
    """Wait until a pipe or socket has been read to its end, for some seconds at most."""
    deadline = time.monotonic() + PATIENCE
    while _unread(descriptor) and time.monotonic() < deadline:
        time.sleep(_POLL)


def _unread(descriptor: int) -> int:
    """Return how many bytes were written to a pipe or socket, and not read yet."""
    if sys.platform == "win32":
        return 0
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode):
        request = termios.FIONREAD
    elif stat.S_ISSOCK(mode):
        request = termios.TIOCOUTQ
    else:
        return 0  # a file or a terminal has what was written
    count = fcntl.ioctl(descriptor, request, bytes(4))
    return int.from_bytes(count, sys.byteorder)
