"""The nearest facilities of some sources: ``native/core/prepared/near/nearest.cpp``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.native_search import bounded_search, reached_rows
from kleene.backends.task import Progress, WithinAnswer, WithinTask
from kleene.graph import Graph
from kleene.graph.no_path import no_path
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.pairs import CLIMB_WORK, climb_tree
from kleene.prepared.sweeps import reverse_values
from kleene.system.machine import threads_for

__all__ = [
    "limit_inside",
    "nearest",
    "nearest_labels",
    "within",
]

Array = NDArray[Any]


def limit_inside(limit: int | float | None, dtype: np.dtype[Any]) -> Array:
    """Return a limit, as an array of one, in the type that lengths are computed in.

    "No path" is beyond it: half the largest integer, or infinity.
    """
    most = np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max // 2 - 1
    return np.array([most if limit is None else min(limit, most)], dtype=dtype)


def nearest(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    facilities: Array,
    k: int,
    *,
    limit: int | float | None = None,
    reverse: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """Return the distances of each source from its k nearest facilities, and which these are.

    Distances are lengths, and not negative. They lead to the facilities, or from them with
    ``reverse``. Facilities at the same distance come in the order of their list; where there are
    fewer than k within the limit, "no path" and -1 follow.
    """
    c = reverse_values(customization) if reverse else customization
    shape = len(sources), min(k, len(facilities))
    found = np.empty(shape, dtype=c.up.dtype)
    owners = np.full(shape, -1, dtype=np.int32)
    _native.prepared_nearest(
        climb_tree(elimination), c.up, c.down, elimination.ranks[sources],
        elimination.ranks[facilities], limit_inside(limit, c.up.dtype), found, owners,
        threads_for(CLIMB_WORK * len(sources), threads), progress,
    )  # fmt: skip
    distances = np.full((len(sources), k), no_path(c.dtype), dtype=c.dtype)
    which = np.full((len(sources), k), -1, dtype=np.int32)
    has = owners >= 0
    distances[:, : shape[1]][has] = found[has]
    which[:, : shape[1]] = owners
    return distances, which


# ---- The nearest facilities of every vertex of an eliminated graph: ``nearest_labels.cpp`` ------


def nearest_labels(
    elimination: Elimination,
    customization: Customization,
    facilities: Array,
    k: int,
    *,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """Return the distances of every vertex from its k nearest facilities, and which these are.

    Lengths are integers and not negative. Facilities at the same distance come in the order of
    their list; where there are fewer than k, "no path" and -1 follow.
    """
    compute = customization.up.dtype
    most = np.iinfo(compute).max
    distances = np.empty((elimination.n, k), dtype=compute)
    which = np.empty((elimination.n, k), dtype=np.int32)
    _native.prepared_nearest_labels(
        elimination.offsets,
        elimination.heads,
        elimination.parents,
        elimination.sizes,
        *elimination.lower,
        customization.up,
        customization.down,
        elimination.ranks[facilities],
        most if limit is None else min(limit, most),
        distances,
        which,
        threads_for(k * elimination.arcs, threads),
        progress,
    )
    which = which[elimination.ranks]
    values = distances[elimination.ranks].astype(customization.dtype, copy=False)
    values[which < 0] = no_path(customization.dtype)
    return values, which


# ---- What lies within a limit of some sources: ``native/core/prepared/near/within.cpp`` ---------
# The answers are those of ``kleene.within``, entry by entry, whether sweeps find them or searches.
# Searches answer where a source reaches little, which they are faster at; for floats, which they
# add up in the order of the path; and where arcs have length zero, and predecessors depend on the
# order of the search.

#: Vertices that a search reaches in the time of a sweep: highways of the world, 230 at 140 us.
_FEW = 200

#: Searches that tell how much sources reach, and how many sources are worth asking.
_PROBES, _WORTH_PROBING = 8, 64


def within(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    limit: int | float | None,
    *,
    predecessors: bool = True,
    reverse: bool = False,
    threads: int | None = None,
    available: int | None = None,
    progress: Progress | None = None,
) -> WithinAnswer:
    """Return what each source reaches within the limit, as compressed rows.

    Distances are lengths, and not negative. With ``reverse``, they lead to the sources.
    ``available`` is the memory that the answer may take, in bytes.
    """
    graph = customization.graph
    assert graph is not None
    task = WithinTask(
        graph.transpose() if reverse else graph, sources.astype(graph.id_dtype, copy=False), limit,
        None, predecessors, customization.dtype, graph.weight_dtype is None,
        threads_for(len(sources) * (graph.n + graph.m), threads), progress,
    )  # fmt: skip
    if not _may_sweep(graph, customization, predecessors) or _reaches_little(task):
        return bounded_search(task, available)
    c = reverse_values(customization) if reverse else customization
    return _sweep(elimination, c, task, limit_inside(limit, c.up.dtype), available)


def _may_sweep(graph: Graph, customization: Customization, predecessors: bool) -> bool:
    """Return whether sweeps find the same entries as searches do."""
    if customization.dtype.kind != "i" or graph.id_dtype != np.int32:
        return False
    positive = graph.weight_dtype is None or graph.m == 0 or graph.stats.min_weight > 0
    return positive or not predecessors


def _reaches_little(task: WithinTask) -> bool:
    """Return whether most of some sources reach so few vertices that searches are faster."""
    count = len(task.sources)
    if count < _WORTH_PROBING:  # to make a call ready takes longer than either
        return False
    probes = task.sources[:: count // _PROBES]
    found = bounded_search(
        replace(task, sources=probes, most=_FEW, predecessors=False, threads=1, progress=None)
    )
    return bool(np.median(np.diff(found.offsets)) < _FEW)


def _sweep(
    elimination: Elimination,
    customization: Customization,
    task: WithinTask,
    limit: Array,
    available: int | None,
) -> WithinAnswer:
    """Sweep from the roots of the elimination tree down, as far as the limit."""
    up, down = customization.up, customization.down
    arcs: tuple[Array | None, Array | None, Array | None] = None, None, None
    if task.predecessors:
        arcs = task.graph.csc
        if arcs[2] is not None:
            arcs = *arcs[:2], arcs[2].astype(up.dtype, copy=False)
    found = reached_rows(
        task,
        available,
        lambda budget: _native.prepared_within(
            climb_tree(elimination), elimination.order, elimination.sizes, up, down,
            elimination.ranks[task.sources], limit, *arcs, budget,
            task.threads, task.progress,
        ),
    )  # fmt: skip
    return found._replace(distances=found.distances.astype(task.dtype, copy=False))
