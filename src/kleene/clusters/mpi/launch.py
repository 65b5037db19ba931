"""Whether mpiexec or srun started this process with others, by the environment.

MPICH, Intel MPI and Slurm's PMI-2 set PMI_RANK and PMI_SIZE; Open MPI has names of its own; under
Slurm's PMIx there is PMIX_RANK, and the step has the number of tasks. Slurm's own variables alone
do not count: a batch script has them too, which is one process.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress

__all__ = [
    "await_reader",
    "deliver",
    "launched_rank",
    "launched_ranks",
]

_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_STEP_SIZE = "SLURM_STEP_NUM_TASKS"  # with PMIX_RANK


def launched_rank() -> int:
    """Return the number of this process in its MPI job; 0 without one."""
    return next((number for name in _RANKS if (number := _number(name)) is not None), 0)


def launched_ranks() -> int:
    """Return how many processes the MPI job of this one has; 1 without a job."""
    sizes = [*_SIZES, *([_STEP_SIZE] if "PMIX_RANK" in os.environ else [])]
    return next((number for name in sizes if (number := _number(name)) is not None), 1)


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else None


# ---- What a process of a job says before it ends: delivered, not only written -------------------
# Standard error of a rank is a pipe to the launcher, which forwards what it reads. A job that is
# aborted is not read to its end: MPICH's mpiexec ends as soon as it hears of the abort, and what is
# in the pipe then is lost. So a rank waits until its pipe is empty. That is enough: the launcher on
# its machine forwards a piece as it reads it, before it looks at anything else, over the connection
# on which the abort follows.

if sys.platform != "win32":
    import fcntl
    import termios


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
