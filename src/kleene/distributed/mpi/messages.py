"""Messages about ghosts, combined for their owners."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.distributed.mpi.graph import DistributedGraph

__all__ = ["messages_to_owners"]

Array = NDArray[Any]


def messages_to_owners(
    graph: DistributedGraph, slots: Array, tails: Array | None, **columns: Array
) -> list[Array]:
    """Return one array of records for each rank: what this rank says of the rank's vertices.

    A record has the position of the vertex in its owner's part (``vertex``), that of the tail of an
    arc to it in this rank's part (``predecessor``, unless ``tails`` is None), and the columns.
    """
    order = np.argsort(slots)
    ghosts = slots[order] - graph.part_size
    position = graph.partition.position_dtype
    filled = {"vertex": graph.ghost_positions[ghosts]}
    if tails is not None:
        filled["predecessor"] = tails[order].astype(position)
    filled.update({name: column[order] for name, column in columns.items()})
    records = np.empty(len(ghosts), dtype=[(name, of.dtype) for name, of in filled.items()])
    for name, column in filled.items():
        records[name] = column
    return np.split(records, np.searchsorted(ghosts, graph.ghost_bounds[1:-1]))
