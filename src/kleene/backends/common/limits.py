"""Which vertices lie within a limit: the same ones by every method.

The rule. A vertex is within the limit if a search finds it there: if the least, over all paths, of
the lengths added up one by one from the source is no larger. Weights are not negative where there
is a limit, and rounded sums keep their order, so Dijkstra's algorithm, delta-stepping, near-far and
Bellman-Ford all end with these numbers, bit for bit.

Methods on matrices add in another order, and their floats differ from those by rounding. Where none
is that close to the limit, it makes no difference. A row with such a value is searched again, and
replaced whole; unless all sums up to the limit are exact.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.native_search import search
from kleene.backends.task import Task
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.foreign_columns import held_value

__all__ = ["apply_limit", "as_limit", "in_type_of_weights"]

Array = NDArray[Any]

#: Values that are looked at together, and that are searched for together.
_BLOCK = 2**20


def as_limit(
    limit: Any, graph: Graph, dtype: np.dtype[Any], hops: bool = False
) -> int | float | None:
    """Return a user's limit in the type of the values; None where no value is beyond it.

    It is rounded to the type of the weights first, as their sums are: a float32 arc of 0.1 is
    within the limit 0.1, also where values are float64. Integers and hop counts are whole, so a
    fraction of the limit makes no difference to them.
    """
    if limit is None:
        return None
    limit = held_value(limit)
    if isinstance(limit, np.generic):
        limit = limit.item()  # comparisons with a narrow type overflow
    if isinstance(limit, bool) or not isinstance(limit, numbers.Real):
        raise RequestError(Code("limit"), f" must be a number, not {limit!r}")
    if limit != limit or limit < 0:  # NaN alone differs from itself
        raise RequestError(Code("limit"), f" must be a non-negative number, not {limit}")
    number = int(limit) if isinstance(limit, numbers.Integral) else float(limit)
    number = in_type_of_weights(number, graph, hops)
    if dtype.kind == "f" and number < float(np.finfo(dtype).max):
        rounded: int | float = dtype.type(math.floor(number) if hops else number).item()
        return rounded  # compared with values of this type
    if dtype.kind == "i" and number < np.iinfo(dtype).max:
        return math.floor(number)
    return None  # no value of this type is beyond


def in_type_of_weights(limit: int | float, graph: Graph, hops: bool) -> int | float:
    """Return a limit rounded to the type of the weights, if these are floats and are added up."""
    own = None if hops else graph.weight_dtype
    if own is None or own.kind != "f" or limit >= float(np.finfo(own).max):
        return limit
    rounded: int | float = own.type(limit).item()
    return rounded


def apply_limit(task: Task, answer: Answer) -> Answer:
    """Cut off what lies beyond the limit, unless the method stopped there by itself."""
    if task.limit is None or answer.horizons is not None:
        return answer
    slack = _slack(task)
    exact = slack == 0
    if not exact:
        lowest, highest = task.limit - slack, task.limit + slack
        highest = min(highest, float(np.finfo(task.dtype).max))  # infinity is no path
    whole, links = answer.whole_values, answer.whole_predecessors
    step = max(1, _BLOCK // max(1, task.graph.n))
    for first in range(0, len(task.sources), step):
        rows = slice(first, first + step)
        values = whole[rows]
        again: Array = np.empty(0, dtype=np.int64)
        if not exact:
            close = (values >= lowest) & (values <= highest)
            again = np.flatnonzero(close.any(axis=1))
            if len(again) and _sums_exactly(task.graph, task.dtype, highest):
                exact, again = True, again[:0]
        beyond = values > task.limit
        values[beyond] = task.no_path
        if links is not None:
            links[rows][beyond] = -1
        if len(again):
            _search_again(task, whole, links, first + again)
    horizons = np.full(len(task.sources), task.limit, dtype=task.dtype)
    return Answer(whole, links, horizons)


def _slack(task: Task) -> float:
    """Return how far rounding may move a value near the limit; 0 where nothing is rounded.

    Each addition rounds by ``eps / 2`` at most, on the path of the method as on that of a search;
    twice of both together leaves room for terms of higher order. No path within the limit has more
    arcs than fit there, or than the graph has vertices.
    """
    if task.dtype.kind != "f" or task.hops or task.limit is None:
        return 0.0
    lightest = float(task.graph.stats.min_weight)
    arcs = float(task.graph.n)
    if lightest > 0:
        arcs = min(arcs, 1 + task.limit / lightest)
    return 2 * arcs * float(np.finfo(task.dtype).eps) * task.limit


def _sums_exactly(graph: Graph, dtype: np.dtype[Any], largest: float) -> bool:
    """Return whether all sums up to ``largest`` are exact: weights are multiples of the spacing."""
    if graph.weight_dtype is None:
        weights = np.ones(1, dtype)
    elif graph.has_dense:
        weights = graph.dense.astype(dtype, copy=False)
    else:
        assert graph.weights is not None
        weights = graph.weights.astype(dtype, copy=False)
    used = weights[weights <= largest]
    spacings = used / np.spacing(dtype.type(largest))
    return bool((spacings == np.trunc(spacings)).all())


def _search_again(task: Task, values: Array, predecessors: Array | None, rows: Array) -> None:
    """Replace some rows by what a search finds within the limit."""
    own = replace(
        task, sources=task.sources[rows], targets=None, out=None, out_predecessors=None,
        progress=None,
    )  # fmt: skip
    found = search("delta_stepping", own)
    values[rows] = found.values
    if predecessors is not None:
        predecessors[rows] = found.predecessors
