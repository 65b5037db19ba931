"""Distances in many small graphs, by ``native/core/apsp/distance_encodings.cpp`` in one call."""

from __future__ import annotations

from kleene import _native
from kleene.backends.task import EncodingsTask

__all__ = ["batched"]


def batched(task: EncodingsTask) -> int:
    """Fill the arrays; return the position of an arc that leaves its graph, or -1."""
    batch, paths = task.batch, task.path_arcs
    return _native.encode_distances(
        batch.vertex_offsets, batch.arc_offsets, batch.tails, batch.heads, batch.lengths,
        batch.local_ids, task.symmetric, task.side, task.values, task.max_distance,
        task.unreachable, task.pad, paths, 0 if paths is None else paths.shape[-1], task.threads,
    )  # fmt: skip
