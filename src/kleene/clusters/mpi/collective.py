"""Steps that several modules take on all ranks: shares of memory, ranges that change owners."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed
from kleene.clusters.mpi.communicator import Communicator
from kleene.graph.checks import id_dtype, memory_for, over_budget

__all__ = ["ranks_here", "redistribute", "require_part_memory"]

Array = NDArray[Any]

#: Bytes at the peak for an arc that a rank brings or owns while a graph is made, by the bytes of
#: one of its ends; with 4 bytes, 50 to 59 were measured (R-MAT 19 and 20, 1 to 4 ranks).
_ARC_BYTES = {4: 64, 8: 96}
_VERTEX_BYTES = 16


def ranks_here(comm: Communicator) -> int:
    """Return how many ranks run on this machine, this one included."""
    names = comm.gather_all(socket.gethostname())
    return names.count(names[comm.rank])


def require_part_memory(
    comm: Communicator, n: int, arcs: int, what: str, advice: str, more: int = 0
) -> None:
    """Raise on all ranks if some part does not fit into its rank's share of a machine's memory.

    The part is of a graph of ``n`` vertices; ``arcs`` are those of this rank, and ``more`` bytes
    are taken besides.
    """
    sharing = ranks_here(comm)
    needed = _ARC_BYTES[id_dtype(n).itemsize] * arcs + _VERTEX_BYTES * n // comm.size + more

    def check() -> None:
        available = memory_for(needed * sharing) // sharing
        if needed > available:
            raise over_budget(needed, available, f"{what}, on each of {sharing} ranks,", advice)

    agreed(comm, check)


def redistribute(
    comm: Communicator, values: Array, held: Sequence[int], wanted: Sequence[int]
) -> Array:
    """Return the values of the range that this rank wants, from the ranks that hold them.

    Rank r holds the values of ``[held[r], held[r + 1])`` and wants ``[wanted[r], wanted[r + 1])``.
    """
    first, last = held[comm.rank], held[comm.rank + 1]
    cuts = np.clip(wanted, first, last) - first
    parts = [values[cuts[rank] : cuts[rank + 1]] for rank in range(comm.size)]
    return np.concatenate(comm.exchange(parts))
