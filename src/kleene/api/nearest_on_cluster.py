"""The nearest facilities, searched by the workers of a Dask cluster.

One search finds the k nearest of all facilities, and takes as long as the labels that it keeps: k
at each vertex, however many facilities there are. So shares of the facilities are searched apart
where a share has fewer than k; the k nearest of all are then the best of those of the shares.
Otherwise all of it is one task, for a worker that has more memory, more cores or a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.cluster_graphs import share_plain_graph
from kleene.api.nearest import NearestOptions, nearest
from kleene.api.on_cluster import describe_workers
from kleene.backends.task import NearestTask
from kleene.distributed.dask_client import import_dask, open_client, worker_threads
from kleene.distributed.dask_rows import run_pieces
from kleene.engine.pieces import Piece, split
from kleene.graph import Graph
from kleene.graph.no_path import no_path
from kleene.planning.plan import Plan, with_notes
from kleene.system.progress import reporter

__all__ = ["nearest_on_cluster"]

Array = NDArray[Any]


@dataclass(frozen=True)
class NearestWork:
    """The search for the nearest of some facilities, and its proof."""

    facilities: Array
    k: int
    options: NearestOptions
    memory: int

    def __call__(self, graph: Graph) -> tuple[Array, Array]:
        """Return distances, and places in the list of facilities."""
        options = self.options._asdict()
        if options["threads"] is None:
            options["threads"] = import_dask().get_worker().state.nthreads
        near = nearest(graph, self.facilities, self.k, **options)
        near.verify()
        return near._distances, near._which


def nearest_on_cluster(
    graph: Graph, task: NearestTask, plan: Plan, options: NearestOptions, on: Any, progress: Any
) -> tuple[Plan, Array, Array]:
    """Return the plan, the distances of every vertex from its nearest facilities, and which."""
    facilities, k = task.facilities, task.k
    memory = graph.n * k * (task.dtype.itemsize + graph.id_dtype.itemsize)

    def make(blocks: Sequence[Piece]) -> NearestWork:
        return NearestWork(facilities[blocks[0].first : blocks[-1].stop], k, options, memory)

    parts: dict[int, tuple[Array, Array]] = {}
    with open_client(on) as client:
        threads = worker_threads(client)
        share = -(-len(facilities) // max(1, len(threads)))
        blocks = split(len(facilities), share if share < k else len(facilities))
        with (
            reporter(progress, "nearest") as report,
            share_plain_graph(client, graph, options.hops, None) as shared,
            closing(run_pieces(client, shared, "nearest facilities", blocks, make)) as finished,
        ):
            for done, part in finished:
                parts[done[0].first] = part
                if report is not None:
                    report(len(parts), len(blocks))
    note = f"cluster: {describe_workers(threads)}, facilities in {len(blocks)} shares"
    plan = with_notes(plan, note)
    return plan, *_best(parts, k, task.dtype)


def _best(
    parts: dict[int, tuple[Array, Array]], k: int, dtype: np.dtype[Any]
) -> tuple[Array, Array]:
    """Return the k best of the facilities of each share; the first of the list among equals."""
    firsts = sorted(parts)
    which = np.concatenate([np.where(parts[f][1] < 0, -1, parts[f][1] + f) for f in firsts], axis=1)
    distances = np.concatenate([parts[f][0] for f in firsts], axis=1).astype(dtype, copy=False)
    distances = np.where(which < 0, no_path(dtype), distances)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, 1), np.take_along_axis(which, order, 1)
