"""Trees and matrices on an eliminated graph.

A tree is a climb from its source and a sweep over all vertices, from the roots down; a batch of
sources shares both, a vector lane each (``native/core/prepared/sweep.hpp``). A matrix is one of two
things, whichever is less work: sweeps over the ancestors of its targets, or, where there are many
sources and targets, products of climbs from both (``sweep_products.hpp``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.semiring import SEMIRINGS
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.tree_repair import repair_trees
from kleene.system.machine import threads_for

__all__ = ["LANES", "matrix", "reverse_values", "trees"]

Array = NDArray[Any]
Progress = Callable[[int, int], object]

#: Bytes of a line, the values of one vertex for all sources of a batch; and sources, at 4 bytes.
_LINE, LANES = 64, 16

#: Bytes of lines that are kept for the next call: the system takes as long to give them again as a
#: sweep takes.
_MOST_KEPT = 2**30

#: Nanoseconds to relax a line in a climb, in a sweep and in a product, and to move a value from a
#: column to a row; on one core of a Zen 4 with AVX-512, in the caches.
_CLIMB, _SWEEP, _PRODUCT, _TURN = 2.5, 1.5, 0.3, 1.0


def trees(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    values: Array,
    predecessors: Array | None = None,
    *,
    reverse: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Fill a row of values (and predecessors) for each source, in the order of the vertices.

    Parameters
    ----------
    elimination, customization : Elimination, Customization
        The prepared graph.
    sources : array
        Positions of vertices.
    values : array
        One row for each source, of the customization's type.
    predecessors : array, optional
        As many of int32.
    reverse : bool
        Whether paths lead to the sources; then the predecessor of a vertex is the one after it.
    threads : int, optional
        All cores by default, one for small graphs.
    progress : function, optional
        Called with the number of sources that are done, and of all.
    """
    c = reverse_values(customization) if reverse else customization
    ranks = elimination.ranks[sources]
    threads = _threads(elimination, len(sources), threads)
    _sweep(elimination, c, ranks, None, values, predecessors, threads, progress)
    # In floats a cycle that weighs nothing may round to less.
    values[np.arange(len(sources)), sources] = SEMIRINGS[c.semiring].one(values.dtype)
    if predecessors is not None:
        predecessors[np.arange(len(sources)), sources] = -1
        repair_trees(elimination, c, sources, values, predecessors, threads)


def matrix(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    targets: Array,
    values: Array,
    *,
    reverse: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Fill the values from each source (row) to each target (column).

    Parameters
    ----------
    elimination, customization : Elimination, Customization
        The prepared graph.
    sources, targets : array
        Positions of vertices.
    values : array
        One row for each source, one column for each target, of the customization's type.
    reverse : bool
        Whether paths lead from the targets to the sources.
    threads : int, optional
        All cores by default, one for small graphs.
    progress : function, optional
        Called with the number of rows that are done, and of all.
    """
    c = reverse_values(customization) if reverse else customization
    rows, columns = elimination.ranks[sources], elimination.ranks[targets]
    threads = _threads(elimination, max(len(sources), len(targets)), threads)
    way = _cheapest(elimination, c, rows, columns)
    if way == "sweep":
        _sweep(elimination, c, rows, columns, values, None, threads, progress)
    elif way == "sweep back":
        turned = np.empty(values.shape[::-1], dtype=values.dtype)
        _sweep(elimination, reverse_values(c), columns, rows, turned, None, threads, progress)
        values[...] = turned.T
    else:
        _native.prepared_multiply_climbs(
            *_tree(elimination), c.semiring, c.negative, c.up, c.down, rows, columns, values,
            threads, progress,
        )  # fmt: skip
    if c.negative and values.dtype.kind == "f":  # as in trees
        one = SEMIRINGS[c.semiring].one(values.dtype)
        for row in np.flatnonzero(np.isin(sources, targets)):
            values[row, targets == sources[row]] = one


def _cheapest(elimination: Elimination, c: Customization, sources: Array, targets: Array) -> str:
    """Return which way takes the least time: "sweep", "sweep back" or "multiply"."""
    lanes = _LINE // c.up.itemsize
    s, t = len(sources), len(targets)
    from_sources, from_targets, climb, common = _native.prepared_matrix_work(
        _tree(elimination)[0], sources, targets
    )
    batches = ceil(s / lanes), ceil(t / lanes)
    costs = {
        "sweep": batches[0] * from_targets * _SWEEP,
        "sweep back": batches[1] * from_sources * _SWEEP + s * t * _TURN,
        "multiply": sum(batches) * 2 * climb * _CLIMB + s * t * common / lanes * _PRODUCT,
    }
    signed = c.semiring == "min_plus" and c.negative and c.up.dtype.kind == "i"
    if signed or c.up.dtype == np.uint8:  # the kernel of products does not know their "no path"
        del costs["multiply"]
    return min(costs, key=costs.__getitem__)


def _sweep(
    elimination: Elimination,
    c: Customization,
    sources: Array,
    targets: Array | None,
    values: Array,
    predecessors: Array | None,
    threads: int,
    progress: Progress | None,
) -> None:
    paths = predecessors is not None
    up, down = c.up, c.down
    up_last, down_last = c.last_vertices(elimination) if paths else (None, None)
    if paths and up.dtype == np.uint8:  # predecessors need wider lanes
        up, down = up.astype(np.int32), down.astype(np.int32)
    workspace = _take_workspace(elimination, _LINE * (1 + elimination.n * (1 + paths)))
    _native.prepared_sweep(
        *_tree(elimination), c.semiring, c.negative, up, down, up_last, down_last, sources,
        targets, values, predecessors, workspace, threads, progress,
    )  # fmt: skip
    if len(workspace) <= _MOST_KEPT:
        elimination.__dict__["_sweep_workspace"] = workspace


def _threads(elimination: Elimination, sources: int, threads: int | None) -> int:
    return threads_for((elimination.n + elimination.arcs) * ceil(sources / LANES), threads)


def _tree(elimination: Elimination) -> tuple[tuple[Array, ...], int]:
    """Return what native sweeps read of the tree, and the number of depths; made once."""
    kept = elimination.__dict__.get("_sweep_tree")
    if kept is None:
        e, depths = elimination, elimination.depths
        arrays = (e.offsets, e.heads, e.parents, e.order, depths, e.sizes, depths[e.heads])
        kept = elimination.__dict__["_sweep_tree"] = arrays, int(depths.max(initial=-1)) + 1
    found: tuple[tuple[Array, ...], int] = kept
    return found


def _take_workspace(elimination: Elimination, size: int) -> Array:
    """Return memory that no other call uses: that of the last call, or new."""
    kept: Array | None = elimination.__dict__.pop("_sweep_workspace", None)
    return kept if kept is not None and len(kept) >= size else np.empty(size, dtype=np.uint8)


def reverse_values(customization: Customization) -> Customization:
    """Return the values of the graph with all arcs reversed; made once."""
    kept: Customization | None = customization.__dict__.get("_reversed")
    if kept is None:
        c = customization
        kept = c if c.symmetric else replace(c, up=c.down, down=c.up, graph=None)
        customization.__dict__["_reversed"] = kept
    return kept
