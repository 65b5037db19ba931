"""One step along all arcs at once: the product of a vector and a graph's matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import SpmvTask
from kleene.calls.algebra.factors import as_dtype
from kleene.calls.arguments import as_devices, require_graph
from kleene.engine.planned import plan_value
from kleene.engine.value import run_value
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.graph.checks import FILL_IN, as_array, as_weights, require_unmasked
from kleene.graph.no_path import no_path
from kleene.graph.rows import in_order_of_vertices
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.ask import Ask
from kleene.planning.facts import graph_facts
from kleene.registry import methods
from kleene.system.machine import as_threads, threads_for
from kleene.system.suggestions import no_such

__all__ = ["spmv"]

Array = NDArray[Any]

_SEMIRINGS = ("plus_times", *SEMIRINGS)
_DEVICES = ("auto", "cpu", "cuda", "emulated")


def spmv(
    graph: Graph,
    x: ArrayLike,
    semiring: str = "plus_times",
    *,
    form: str = "csr",
    device: str = "auto",
    threads: int | None = None,
) -> Array:
    """Multiply a vector by the graph's matrix: ``y[v]`` adds up ``x[u] * weight`` over arcs u to v.

    The vector is on the left, so ``y`` follows the direction of the arcs: with ones and zeros in
    ``x`` for the vertices of a frontier, ``y`` marks where it leads. For sums over outgoing arcs,
    multiply by ``graph.transpose()``.

    Parameters
    ----------
    graph : Graph
        The matrix; arcs without weights count 1.
    x : array
        One number per vertex. "No path" is that of its type and of the semiring, as in
        :func:`product`, and becomes that of the answer; no entry is NaN but in ordinary arithmetic.
        A column of pandas is taken by its index, if that is not 0, 1, 2 ...: it names the vertices.
    semiring : {"plus_times", "min_plus", "boolean", "max_min", "max_times"}
        Ordinary arithmetic, or what takes its place: ``"min_plus"`` adds weights and keeps the
        smallest sum. A vertex without incoming arcs gets the semiring's "no path" (0 in ordinary
        arithmetic).
    form : {"csr", "csc", "coo", "ell", "dense"}
        Which form of the graph to go through; all give the same answer. Forms other than
        ``"csr"`` are made at first use and kept. Integers are added without regard to overflow
        in ordinary arithmetic, as NumPy does; over ``"min_plus"`` they stop at the end of the
        type.
    device : {"auto", "cpu", "cuda", "emulated"}
        Where to multiply; ``"auto"`` is where ``graph.to(...)`` placed the graph, else the CPU, and
        ``"cuda:1"`` one of several GPUs.
        Elsewhere than on the CPU the order of additions, and so the rounding of sums, may differ
        from one run to the next.
    threads : int, optional
        How many threads may be used on the CPU.

    Returns
    -------
    array
        One number per vertex, in the type that NumPy gives to ``x`` times the weights, where
        integers of fewer than 32 bits count as int32; booleans over ``"boolean"``.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
    >>> kl.spmv(g, [1, 10, 0]).tolist()
    [0, 4, 39]
    >>> kl.spmv(g, [0.0, 4.0, 9.0], "min_plus").tolist()
    [inf, 4.0, 7.0]
    """
    require_graph(graph)
    _require_known(semiring, _SEMIRINGS, "semiring")
    _require_known(form, dict.fromkeys(row.name for row in methods("spmv")), "form")
    kind, names = as_devices(device, None)
    _require_known(kind, _DEVICES, "device")
    require_unmasked(x, "x", FILL_IN)
    vector = as_array(in_order_of_vertices(x, graph, "x"), "x")
    if vector.shape != (graph.n,):
        raise RequestError(f"x has shape {vector.shape}, but the graph has {graph.n:,} vertices")
    if semiring != "boolean":
        warn_of_numbers_left(graph)
    values = np.ascontiguousarray(_values(graph, vector, semiring))
    if form == "dense":
        _require_dense_form(graph, values.dtype, semiring)
    ask = Ask.of(
        "spmv", semiring=semiring, method=form, device=kind, devices=names, sources=1,
        predecessors=False, dtype=str(values.dtype), threads=as_threads(threads),
    )  # fmt: skip
    plan = plan_value(graph_facts(graph, hops=True), ask)
    team = threads_for(graph.m, ask.where.threads)
    task = SpmvTask(graph, values, semiring, plan.method, team, plan.first_device)
    y: Array = run_value(plan, task)[0]
    return y.astype(bool) if semiring == "boolean" else y


def _require_known(name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        raise RequestError(no_such(what, name, known))


def _require_dense_form(graph: Graph, dtype: np.dtype[Any], semiring: str) -> None:
    """Raise for an arc whose weight is what means "no arc" in a matrix of this type."""
    if semiring == "boolean" or graph.weights is None or graph.stats.max_weight < no_path(dtype):
        return
    raise RequestError(
        f"form='dense' in {dtype} cannot store an arc of weight {no_path(dtype)}, which means 'no "
        "arc' there",
        advice=["use another form, or x of a wider type"],
    )


def _values(graph: Graph, x: Array, semiring: str) -> Array:
    """Return x in the type of the answer."""
    values = as_weights(x, "x")
    assert values is not None
    if semiring != "plus_times" and values.dtype.kind == "f" and np.isnan(values).any():
        at = int(np.isnan(values).argmax())
        raise RequestError(
            f"x holds nan at {at}, which is not a value of {semiring!r}", advice=["replace it"]
        )
    if semiring == "boolean":
        return x.astype(bool).astype(np.int32)
    dtype = values.dtype if graph.weights is None else np.result_type(values, graph.weights)
    if semiring == "plus_times" or x.dtype.kind not in "iu":
        return values.astype(dtype, copy=False)
    return as_dtype(x, semiring, dtype)  # x itself: int16 and uint8 have a "no path" of their own
