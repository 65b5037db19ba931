"""Distances between the vertices of many small graphs, as one padded array.

Graph transformers (Ying et al., "Do Transformers Really Perform Bad for Graph Representation?",
2021) give attention a bias by the distance between two vertices, and by the arcs on a shortest path
between them. Their graphs are molecules: thousands, of a few dozen vertices. So all graphs of a
batch are handled in one native call (``native/core/apsp/distance_encodings.cpp``).
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import EncodingsTask
from kleene.engine.planned import plan_value
from kleene.engine.value import run_value
from kleene.errors import Code, MemoryBudgetError, RequestError, Text, in_words_of
from kleene.graph.batch import Batch, as_batch
from kleene.graph.checks import beyond, holds, overflow_error
from kleene.graph.dlpack import to_library
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.planning.ask import Ask
from kleene.planning.dtype_choice import NO_ARC
from kleene.planning.facts import Facts
from kleene.planning.plan import Plan
from kleene.system.machine import as_threads, threads_for

__all__ = ["distance_encodings"]

Array = NDArray[Any]

_HOP_TYPES = ("uint8", "int16", "int32", "int64", "float32", "float64")
_LENGTH_TYPES = ("float32", "float64")


def distance_encodings(
    graphs: Any,
    *,
    n: Sequence[int] | None = None,
    ptr: Any = None,
    batch: Any = None,
    weighted: bool = False,
    weights: Any = None,
    directed: bool = True,
    max_distance: float | None = None,
    unreachable: float | None = None,
    pad: float | None = None,
    side: int | None = None,
    path_arcs: int = 0,
    dtype: Any = None,
    threads: int | None = None,
) -> Any:
    """Return the distances between all vertices of each graph of a batch, as a padded array.

    These are the shortest-path encodings of graph transformers (Graphormer and its kin).

    Parameters
    ----------
    graphs : sequence of graphs, or one batch
        A sequence may hold Graphs, edge indices (integer arrays of shape (2, arcs), with ``n``),
        objects with ``edge_index`` and ``num_nodes`` as PyTorch Geometric has them, and whatever
        :meth:`Graph.from_any` takes. A batch is one edge index over the vertices of all graphs,
        with ``ptr`` or ``batch``, or an object that has these: a ``Batch`` of PyTorch Geometric.
        Arrays may be of NumPy or of any library with DLPack.
    n : sequence of int
        The number of vertices of each graph, for a sequence of edge indices.
    ptr, batch : array of int
        Which vertices belong to which graph of a batch: where each graph begins, and the end; or
        the graph of each vertex, rising.
    weighted : bool
        Add up weights instead of counting hops. Weights must not be negative.
    weights : array, optional
        The weights of a batch, or a sequence of arrays; unless the graphs have them.
    directed : bool
        With False, every arc is used in both directions.
    max_distance : number, optional
        Distances beyond it become it.
    unreachable : number, optional
        What stands for "no path": unless given, -1 for signed integers, the largest value of
        ``uint8``, infinity for floats.
    pad : number, optional
        What stands in the rows and columns beyond a graph's vertices; as ``unreachable`` unless
        given.
    side : int, optional
        The number of rows and columns; that of the largest graph unless given.
    path_arcs : int
        With a number k, the result is a pair: the second array holds, for each pair of vertices,
        the first k arcs of one shortest path, as positions in the edge index (of a sequence: in
        the edge indices one after another), then -1.
    dtype : optional
        ``int16`` for hops, ``float32`` for lengths, unless given; or ``uint8``, ``int32``,
        ``int64``, ``float64``.
    threads : int, optional
        How many threads may be used; all cores unless given.

    Returns
    -------
    array of shape (graphs, side, side)
        Of NumPy, or of the library and on the device where the edge index came from. The work is
        done by the CPU. With ``path_arcs``, a pair of this and an array of int64 of shape (graphs,
        side, side, path_arcs).

    Examples
    --------
    >>> import kleene as kl
    >>> path = kl.Graph.from_edges([0, 1], [1, 2], directed=False)
    >>> edge = kl.Graph.from_edges([0], [1], directed=False)
    >>> kl.distance_encodings([path, edge], max_distance=20, unreachable=21, pad=22).tolist()
    [[[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 1, 22], [1, 0, 22], [22, 22, 22]]]

    A batch as PyTorch Geometric keeps it, with the arcs on the way:

    >>> index = [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]
    >>> hops, arcs = kl.distance_encodings(index, ptr=[0, 3, 5], path_arcs=2)
    >>> hops[0, 0].tolist(), arcs[0, 0].tolist()
    ([0, 1, 2], [[-1, -1], [0, -1], [0, 2]])
    """
    made = as_batch(graphs, n, ptr, batch, weighted, weights)
    longest = int(np.diff(made.vertex_offsets).max(initial=0))
    width = longest if side is None else _whole(side, "side")
    if width < longest:
        raise RequestError(
            f"side is {width}, but the largest graph has {longest} vertices",
            advice=[f"pass side={longest} or more"],
        )
    steps = _whole(path_arcs, "path_arcs")
    farthest = _farthest(max_distance)
    kind = _value_type(dtype, weighted, min(farthest, longest - 1))
    if made.lengths is not None:
        _require_fit(made.lengths, longest, kind, farthest)
    lost = _code(unreachable, "unreachable", kind, _no_path(kind))
    outside = _code(pad, "pad", kind, lost)
    plan = _plan(made, width, kind, steps)
    values = np.empty((made.count, width, width), dtype=kind)
    paths = np.empty((made.count, width, width, steps), dtype=np.int64) if steps else None
    team = threads_for(values.size, as_threads(threads))
    bad, _ = run_value(
        plan, EncodingsTask(made, not directed, width, values, farthest, lost, outside, paths, team)
    )
    if bad >= 0:
        raise made.bad_arc(bad)
    if paths is None:
        return to_library(values, made.like)
    if made.order is not None:
        paths = np.where(paths < 0, paths, made.order[paths])
    return to_library(values, made.like), to_library(paths, made.like)


def _plan(batch: Batch, width: int, dtype: np.dtype[Any], path_arcs: int) -> Plan:
    """Return the plan, or refuse when the arrays do not fit in memory."""
    facts = Facts(width, len(batch.tails), None, 0, 0, width)
    ask = Ask.of(
        "distance_encodings", sources=batch.count * width, predecessors=False, dtype=str(dtype),
        pair_bytes=8 * path_arcs,
    )  # fmt: skip
    try:
        return plan_value(facts, ask)
    except MemoryBudgetError as error:
        raise in_words_of(
            error,
            f"{batch.count:,} graphs, padded to {width:,} vertices: ",
            error.problem,
            advice=[
                "encode fewer graphs at a time, graphs of similar size together",
                Text("use a narrower ", Code("dtype")),
            ],
            lead="; ",
        ) from None


# ---- codes and types ----------------------------------------------------------------------------


def _whole(value: Any, name: str) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if count < 0:
        raise RequestError(Code(name), f" must be a non-negative integer, not {value!r}")
    return count


def _farthest(max_distance: Any) -> float:
    if max_distance is None:
        return math.inf
    real: object = max_distance
    if isinstance(real, bool) or not isinstance(real, numbers.Real) or not max_distance >= 0:
        raise RequestError(f"max_distance must be a non-negative number, not {max_distance!r}")
    return float(max_distance)


def _value_type(dtype: Any, weighted: bool, most: float) -> np.dtype[Any]:
    """Return the type of the values, which must hold hop counts up to ``most``."""
    names = _LENGTH_TYPES if weighted else _HOP_TYPES
    try:
        kind = np.dtype(("float32" if weighted else "int16") if dtype is None else dtype)
    except TypeError:
        kind = None
    if kind is None or kind.name not in names:
        what = "lengths" if weighted else "hops"
        raise RequestError(
            Code("dtype"), f" must be one of {', '.join(names)} for {what}, not {dtype!r}"
        )
    if kind.kind in "iu" and most > np.iinfo(kind).max:
        raise RequestError(
            f"distances up to {most} do not fit {kind}",
            advice=["pass a wider dtype, or max_distance"],
        )
    return kind


def _require_fit(lengths: Array, longest: int, kind: np.dtype[Any], farthest: float) -> None:
    """Refuse lengths whose sums may exceed float64, or the type of the values."""
    finite = lengths[lengths < np.inf]
    with np.errstate(over="ignore"):
        bound = min(longest * float(finite.max(initial=0)), float(finite.sum()))
    if not holds(np.dtype(np.float64), bound):
        advice = f"scale the weights down; {NO_ARC} or give them the weight inf"
        raise overflow_error(np.dtype(np.float64), bound, advice)
    if not holds(kind, min(bound, farthest)):
        raise RequestError(
            f"{beyond(kind, min(bound, farthest))}; pass ",
            Code("dtype='float64'"),
            ", or max_distance",
        )


def _no_path(kind: np.dtype[Any]) -> Any:
    return NO_HOPS if kind.kind == "i" else no_path(kind)


def _code(value: Any, name: str, kind: np.dtype[Any], default: float) -> float:
    if value is None:
        return default
    real: object = value
    if isinstance(real, bool) or not isinstance(real, numbers.Real):
        raise RequestError(Code(name), f" must be a number, not {value!r}")
    if kind.kind == "f":
        return float(value)
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    if value != value or not low <= value <= high or value != int(value):
        raise RequestError(
            f"{name}={value} does not fit {kind}, whose values are {low} to {high}",
            advice=["choose another code or a wider dtype"],
        )
    return int(value)
