"""Trips on their shortest paths, by the native core: searches, or an eliminated graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.native_search import lengths_or_none, limit_array, swallowed_weights
from kleene.backends.task import LoadsAnswer, LoadsTask
from kleene.graph import Graph
from kleene.prepared.cache import Preparation
from kleene.prepared.pairs import flows
from kleene.system.machine import threads_for

__all__ = ["prepared", "searches"]

Array = NDArray[Any]


def searches(task: LoadsTask) -> LoadsAnswer:
    """Return the loads by one search for each origin, or for each destination against the arcs."""
    g = task.graph
    offsets, neighbors = g.offsets, g.neighbors
    dtype = np.dtype(np.float64) if task.dtype.kind == "f" else task.dtype
    lengths = lengths_or_none(g, dtype, task.hops)
    named, ends = task.origins, task.destinations
    places = None
    if task.by_destination:
        named, ends = ends, named
        offsets, neighbors, places = _native.csr_transpose(
            offsets, neighbors, np.arange(g.m), threads_for(g.m, task.threads)
        )
        lengths = None if lengths is None else lengths[places]
    order: Any = slice(None)  # as they are in a matrix
    if (named[1:] < named[:-1]).any():
        order = np.argsort(named, kind="stable")
    counts = np.bincount(named, minlength=g.n)
    roots = np.flatnonzero(counts).astype(g.id_dtype)
    found, assigned = np.zeros(g.m), np.zeros(len(named), dtype=np.uint8)
    cycle = _native.loads(
        offsets, neighbors, lengths, roots, np.append(0, np.cumsum(counts[roots])), ends[order],
        task.volumes[order], limit_array(task.limit, dtype), task.split, found, assigned,
        max(1, min(task.threads, len(roots))), task.progress,
    )  # fmt: skip
    if cycle is not None:
        raise swallowed_weights(g, *cycle)
    arcs, which = np.empty(g.m), np.empty(len(named), dtype=bool)
    arcs[slice(None) if places is None else places] = found
    which[order] = assigned
    return LoadsAnswer(arcs, which)


def prepared(task: LoadsTask) -> LoadsAnswer:
    """Return the loads by elimination; the graph keeps it for later calls."""
    graph = task.graph
    if task.hops and graph.weights is not None:
        graph = Graph(graph.csr._replace(weights=None), graph.directed)
    elimination, values = task.prepared or Preparation.of(graph).parts(
        graph, "min_plus", task.dtype, threads=task.threads
    )
    return flows(
        elimination, values, graph, task.origins, task.destinations, task.volumes,
        threads=task.threads, progress=task.progress,
    )  # fmt: skip
