"""Closures of whole matrices: what surrounds every dense engine, on any device.

The matrix is the caller's memory wherever its rows are the answer's rows, so that all pairs take
no more memory than their answer. What the engine computes in may differ from what the user sees
(``MatrixForm``): bits for booleans, int16 where no path is longer than that holds, half of the
type's maximum for "no path" where integers are added without a check.

A negative cycle shows on the diagonal. Only then are the potentials computed that say whether a
source leads to it: if so, they know the cycle; if not, the matrix is closed again without the arcs
that no source leads to. A cycle that shows even then is negative by rounding only. Closing a matrix
would double its length again and again (Hougardy 2010), so that searches take over.

S. Hougardy, "The Floyd-Warshall algorithm on graphs with negative cycles", 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.common.johnson import johnson
from kleene.backends.common.native_search import potentials
from kleene.backends.task import Task
from kleene.graph import Graph
from kleene.graph.no_path import no_path

__all__ = [
    "Engine", "MatrixForm", "arc_matrix", "close_matrix", "engine_form", "fill_rows", "finish_rows",
    "plain_form", "threads_of",
]  # fmt: skip

Array = NDArray[Any]

#: Below so many vertices one thread is done before a second has started (some 20 us).
_WORTH_THREADS = 128

#: Closes a matrix and its predecessors (or None) in place. False: there is a negative cycle, and
#: nothing is closed.
Engine = Callable[[Array, Array | None], bool]


class MatrixForm(NamedTuple):
    """How an engine keeps the matrix, and which of its values are paths."""

    method: str
    semiring: str
    dtype: np.dtype[Any]
    no_path: Any
    lowest: Any = None  # None: the values are what the user sees
    highest: Any = None


def close_matrix(engine: Engine, form: MatrixForm, task: Task) -> Answer:
    """Close the whole matrix by some engine, then keep the rows of the sources."""
    answer = _close(engine, form, task, None)
    if answer is None:
        heights = potentials(replace(task, progress=None))
        reachable = heights != no_path(task.dtype)
        if not reachable.all():
            answer = _close(engine, form, task, reachable)
    return johnson(task) if answer is None else answer


def plain_form(method: str, task: Task) -> MatrixForm:
    """Return the form of an engine that works on what the user sees."""
    return MatrixForm(method, task.semiring.name, task.dtype, task.semiring.zero(task.dtype))


def engine_form(method: str, task: Task) -> MatrixForm:
    """Return the form that suits a method; one that would let sums wrap names another method."""
    semiring, dtype = task.semiring.name, task.dtype
    plain = plain_form(method, task)
    if semiring == "boolean":
        if method != "tiled":
            return plain._replace(dtype=np.dtype(np.uint8), no_path=0)
        if not task.predecessors:
            return plain._replace(dtype=np.dtype(np.uint64))
        # A path of arcs of width one: joined pairs are those with any width.
        ends = np.iinfo(np.int32)
        return MatrixForm(method, "max_min", np.dtype(np.int32), ends.min, ends.min + 1, ends.max)
    exact = dtype.kind == "i" or (dtype == np.float64 and task.graph.fits_int32)
    if semiring != "min_plus" or not exact or method != "tiled":
        return plain
    if dtype.kind == "f":
        dtype = np.dtype(np.int32)  # twice the lanes, the same sums
    bound, negative = task.graph.stats.path_bound, task.graph.stats.negative
    short = np.dtype(np.int16)
    if not task.predecessors and _adds_safely(short, bound, negative):
        dtype = short
    elif not _adds_safely(dtype, bound, negative):
        return plain._replace(method="floyd_warshall")  # which checks before it adds
    return MatrixForm(method, semiring, dtype, np.iinfo(dtype).max // 2, np.iinfo(dtype).min, bound)


def arc_matrix(form: MatrixForm, task: Task) -> Array:
    """Return the arcs of the task's graph as a matrix of this form."""
    matrix = _memory(form.dtype, task.graph.n, None)
    fill_rows(form, task, matrix, None)
    return matrix


def threads_of(task: Task) -> int:
    """Return how many threads the matrix is worth."""
    return task.threads if task.graph.n >= _WORTH_THREADS else 1


def _adds_safely(dtype: np.dtype[Any], bound: int | float, negative: bool) -> bool:
    """Return whether sums stay apart from "no path", half of the maximum, less negative paths."""
    return bound * (2 if negative else 1) < np.iinfo(dtype).max // 2


def _close(
    engine: Engine, form: MatrixForm, task: Task, used: NDArray[np.bool_] | None
) -> Answer | None:
    """Return the answer, or None when there is a negative cycle among the used arcs."""
    n = task.graph.n
    whole = len(task.sources) == n and bool((task.sources == np.arange(n)).all())
    values = np.empty((len(task.sources), n), task.dtype) if task.out is None else task.out
    matrix = _memory(form.dtype, n, values if whole else None)
    predecessors = np.empty((n, n), dtype=np.int32) if task.predecessors else None
    fill_rows(form, task, matrix, predecessors, used=used)
    if not engine(matrix, predecessors):
        return None
    _export(form, task, matrix, task.sources, values)
    if _shows_cycle(form, task, values):
        return None  # it showed late
    if predecessors is None:
        return Answer(values, None)
    if not whole:
        predecessors = predecessors[task.sources]
    _reattach(task, values, predecessors)
    return Answer(values, predecessors)


def finish_rows(form: MatrixForm, task: Task, rows: Array, predecessors: Array | None) -> Answer:
    """Return the answer of the sources, whose rows of a closed matrix are these, in their order.

    No entry of its diagonal is negative. The arrays may become parts of the answer.
    """
    values = rows
    if form.lowest is not None or form.dtype == np.uint64:
        values = task.empty_values()
        _export(form, task, rows, np.arange(len(rows), dtype=np.int32), values)
    if predecessors is not None:
        _reattach(task, values, predecessors)
    return Answer(values, predecessors)


def _shows_cycle(form: MatrixForm, task: Task, values: Array) -> bool:
    """Return whether the diagonal shows a negative cycle."""
    if form.semiring != "min_plus":
        return False
    return bool((values[np.arange(len(values)), task.sources] < 0).any())


def fill_rows(
    form: MatrixForm,
    task: Task,
    matrix: Array,
    predecessors: Array | None,
    first: int = 0,
    used: NDArray[np.bool_] | None = None,
    columns: range | None = None,
) -> None:
    """Fill rows of the matrix of arcs, from ``first`` on: from the graph's own, if it has one.

    All columns, or those of some vertices.
    """
    g, threads = task.graph, threads_of(task)
    place = (first, 0, g.n) if columns is None else (first, columns.start, len(columns))
    same_values = form.semiring == task.semiring.name
    if (
        g.has_dense
        and used is None
        and same_values
        and (form.dtype == g.dense.dtype or (form.dtype == np.int16 and g.dense.dtype.kind == "i"))
    ):
        _native.closure_fill_from_matrix(
            form.semiring, g.dense, form.no_path, matrix, predecessors, threads, *place
        )
        return
    weights = None
    if task.semiring.name != "boolean":
        weights = _typed_rows(g, form.dtype, first, len(matrix))
    _native.closure_fill(
        form.semiring, g.offsets, g.neighbors, weights, used, form.no_path, matrix, predecessors,
        threads, *place,
    )  # fmt: skip


def _typed_rows(graph: Graph, dtype: np.dtype[Any], first: int, rows: int) -> Array | None:
    """Return the weights in the type of the matrix; those of other rows may be anything."""
    weights = graph.weights
    if weights is None or weights.dtype == dtype:
        return weights
    arcs = slice(graph.offsets[first], graph.offsets[first + rows])
    typed = np.empty(graph.m, dtype)  # memory that is not written to is not taken
    typed[arcs] = weights[arcs]
    return typed


def _typed(weights: Array | None, dtype: np.dtype[Any], task: Task) -> Array | None:
    """Return weights in the type of the matrix, None where each counts one."""
    if weights is None or task.semiring.name == "boolean":
        return None
    return weights.astype(dtype, copy=False)


def _memory(dtype: np.dtype[Any], n: int, values: Array | None) -> Array:
    """Return an n x n matrix, in the memory of the answer if that is wide enough."""
    if dtype == np.uint64:  # bits
        return np.empty((n, -(-n // 64)), dtype)
    if values is None or values.dtype.itemsize < dtype.itemsize:
        return np.empty((n, n), dtype)
    return values.reshape(-1).view(dtype)[: n * n].reshape(n, n)


def _export(form: MatrixForm, task: Task, matrix: Array, rows: Array, values: Array) -> None:
    """Put some rows of the matrix where the answer is."""
    threads = threads_of(task)
    seen = values.view(np.uint8) if values.dtype == bool else values
    if form.lowest is None and form.dtype != np.uint64:
        if not np.may_share_memory(matrix, values):
            seen[...] = matrix[rows]
        return

    def export(begin: int, end: int, of: Array) -> None:
        _native.closure_export(
            of, rows[begin:end], form.lowest, form.highest, task.no_path,
            seen[begin:end], threads,
        )  # fmt: skip

    end = len(values)
    if form.dtype.itemsize < task.dtype.itemsize and np.may_share_memory(matrix, values):
        # Rows widen in place: those from the middle on go past all that is still to be read.
        while end > 1:
            export((end + 1) // 2, end, matrix)
            end = (end + 1) // 2
        matrix = matrix[:1].copy()
    export(0, end, matrix)


def _reattach(task: Task, values: Array, predecessors: Array) -> None:
    """Make trees of the predecessors, where cycles of no weight closed on themselves."""
    g, threads = task.graph, threads_of(task)
    seen = values.view(np.uint8) if values.dtype == bool else values
    loose = _native.closure_find_detached(task.sources, seen, predecessors, task.no_path, threads)
    if loose is None:
        return
    _native.closure_reattach(
        task.semiring.name, task.sources, seen, predecessors, task.no_path, loose,
        g.offsets, g.neighbors, _typed(g.weights, task.dtype, task),
        g.csc.offsets, g.csc.neighbors, _typed(g.csc.weights, task.dtype, task), threads,
    )  # fmt: skip
