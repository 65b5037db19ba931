"""GAP binary in parts: each rank reads the rows of its vertices, by their offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.distributed.mpi.agreement import agreed
from kleene.distributed.mpi.collective import require_part_memory
from kleene.distributed.mpi.communicator import Communicator
from kleene.distributed.mpi.part_arcs import PartArcs, check_offsets, tails_of_rows
from kleene.distributed.mpi.partition import Partition
from kleene.io.gap import read_header, separate
from kleene.io.source import Source

__all__ = ["read_gap"]

Array = NDArray[Any]


def read_gap(comm: Communicator, source: Source) -> PartArcs:
    """Return the arcs of this rank's vertices."""
    header, arc = agreed(comm, lambda: read_header(source))
    n = header.vertices
    first, stop = Partition.even(n, comm.size).range(comm.rank)

    def read_offsets() -> Array:
        found = source.read(np.dtype("<i8"), stop - first + 1, header.offsets_at + 8 * first)
        check_offsets(source, found, first, n, header.arcs)
        return found

    offsets = agreed(comm, read_offsets)
    begin, end = offsets[0].item(), offsets[-1].item()
    require_part_memory(comm, n, end - begin, f"a part of {source.name}", "use more machines")
    at = header.arcs_at + arc.itemsize * begin
    arcs = agreed(comm, lambda: source.read(arc, end - begin, at))
    return PartArcs(
        n,
        tails_of_rows(offsets),
        *separate(arcs),
        directed=bool(header.directed),
        in_rows=True,
        name=source.stem,
    )
