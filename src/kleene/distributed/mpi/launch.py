"""Was this process started by mpiexec, or by srun, with others? The environment says so.

MPICH, Intel MPI and Slurm's PMI-2 set PMI_RANK and PMI_SIZE; Open MPI has names of its own; under
Slurm's PMIx there is PMIX_RANK, and the step has the number of tasks. Slurm's own variables alone
do not count: a batch script has them too, which is one process.
"""

from __future__ import annotations

import os

__all__ = ["launched_rank", "launched_ranks"]

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
