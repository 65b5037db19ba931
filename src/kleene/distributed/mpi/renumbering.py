"""Vertices 0 .. n - 1 from numbers, as in ``kleene.graph.labels``, by ranks that know some each.

The numbers are split into ranges, one a rank, by a sample of them. Each rank sends the numbers that
it knows to the ranks of their ranges; these sort them, count, and send their positions back. So a
rank holds the numbers that it knows and those of one range, never all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.distributed.mpi.agreement import agreed
from kleene.distributed.mpi.collective import redistribute
from kleene.distributed.mpi.communicator import Communicator
from kleene.distributed.mpi.partition import Partition
from kleene.graph.checks import id_dtype
from kleene.graph.labels import ids_from_numbers

__all__ = ["renumber"]

Array = NDArray[Any]

_SAMPLE = 256  # numbers of each rank that decide the ranges


def renumber(
    comm: Communicator, tails: Array, heads: Array
) -> tuple[Array, Array, Array | None, int]:
    """Return (tails, heads, labels, n): positions of the numbers among all, in increasing order.

    Labels are those of this rank's part, or None on all ranks when the numbers are 0 .. n - 1.
    """
    tails, heads, names, known = agreed(comm, lambda: ids_from_numbers(tails, heads))
    own = (np.arange(known) if names is None else names).astype(np.int64)  # in increasing order
    cuts = np.searchsorted(own, _splitters(comm, own))
    received = comm.exchange(np.split(own, cuts))
    held = np.unique(np.concatenate(received))
    bounds = np.concatenate([[0], np.cumsum(comm.gather_all(len(held)))])
    n = int(bounds[-1])
    base = bounds[comm.rank]
    answers = comm.exchange([base + np.searchsorted(held, asked) for asked in received])
    positions = np.concatenate(answers).astype(id_dtype(n))
    plain = len(held) == 0 or (held[0] == base and held[-1] == base + len(held) - 1)
    labels = None
    if not all(comm.gather_all(bool(plain))):
        wanted = Partition.even(n, comm.size)
        labels = redistribute(comm, held, bounds.tolist(), list(wanted.bounds))
    return positions[tails], positions[heads], labels, n


def _splitters(comm: Communicator, own: Array) -> Array:
    """Return the first numbers of all ranges but the lowest, by a sample of all ranks."""
    chosen = np.linspace(0, len(own) - 1, min(len(own), _SAMPLE)).astype(np.int64)
    sample = np.sort(np.concatenate(comm.gather_all(own[chosen])))
    if not len(sample):
        return np.zeros(comm.size - 1, np.int64)
    return sample[len(sample) * np.arange(1, comm.size) // comm.size]
