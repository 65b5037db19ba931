"""What a call would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import kleene
from kleene.calls.arguments import as_prepared
from kleene.engine.planned import explained
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan
from kleene.system.hints import hint_on
from kleene.system.suggestions import no_such

__all__ = ["EXPLAINED", "explain"]

#: The calls that can be explained: all that are planned.
EXPLAINED = (
    "bfs", "sssp", "apsp", "closure", "nearest", "within", "isochrones", "ego", "k_shortest",
    "betweenness", "loads", "closeness", "harmonic", "efficiency", "wiener_index",
    "distance_histogram", "reduce_distances", "eccentricity", "diameter", "radius", "center",
    "periphery", "path_counts", "components", "prepare", "distance_encodings", "close_distances",
    "product", "spmv",
)  # fmt: skip

#: Options of which None means what the call does without them.
_AS_IN_THE_CALL = ("predecessors", "semiring")


def explain(graph: Any, problem: str, *arguments: Any, **options: Any) -> Plan:
    """Return what a call would run, why, and how much memory it takes, without running it.

    The plan is that of the call itself, which ends where it would begin to compute; nothing is
    searched for or written. Of a call that plans several times, it is the first plan.

    Parameters
    ----------
    graph : Graph, PreparedGraph or array
        What the call would be about: its first argument.
    problem : str
        The call: the name of a function of Kleene such as ``"sssp"``, ``"apsp"``, ``"nearest"``,
        ``"within"``, ``"betweenness"`` or ``"prepare"``.
    *arguments
        Other arguments of the call that are given by position, such as facilities.
    **options
        Its keywords, such as ``method``, ``device``, ``dtype``, ``threads``, ``predecessors``,
        ``limit``, ``out`` or ``on``. Some may be left out here: a search is from one source unless
        it has ``source`` or ``sources``, the trips of loads lead from each of ``sources``, or of
        all vertices, to each unless there is a ``demand``, and rows that a Dask cluster computes
        (``on``) go to a store. There, the plan says how many pieces there would be, how many bytes,
        and about how long it would take.

    Returns
    -------
    Plan
        Method, device, type, memory, and the reasons. ``print`` shows it in words.

    Examples
    --------
    >>> import kleene as kl
    >>> print(kl.explain(kl.Graph.from_edges([0, 1], [1, 2], [5, -2]), "sssp"))
    sssp by bellman_ford on ..., int64 values
      memory   ...
      because  ...
      because  bellman_ford: some weights are negative
      because  int64: the type of the weights

    Arguments are those of the call. For the two nearest of three facilities, of every vertex:

    >>> print(kl.explain(kl.datasets.rome(), "nearest", [1, 50, 300], k=2))
    nearest by ... on cpu, int32 values
      memory   ...
      because  ...

    What it would take to prepare a graph:

    >>> print(kl.explain(kl.datasets.rome(), "prepare"))
    prepare by elimination on cpu, int32 values
      memory   ...
      because  ... pairs of vertices would be joined, from 8,859 arcs; the tree would be ... deep
      because  new weights would relax ... triangles
      because  prepared in about ... s, new weights in ... s, a tree in ... s
    """
    if problem not in EXPLAINED:
        raise RequestError(no_such("problem", problem, EXPLAINED), option="problem")
    call: Callable[..., Any] = getattr(kleene, problem)
    if problem == "loads" and not arguments and "demand" not in options:
        from kleene.calls.loads import loads_between  # few programs explain loads

        call = loads_between
    if problem in ("bfs", "sssp") and not arguments:
        options = _with_source(graph, options)
    options = _options_of(call, problem, options)
    if problem == "prepare" and not isinstance(graph, Graph):
        return as_prepared(graph).explain()
    try:
        signature(call).bind(graph, *arguments, **options)
    except TypeError as error:
        raise RequestError(f"{problem}: {error}") from None
    plan = explained(partial(call, graph, *arguments, **options))
    if plan.form != "arcs" or options.get("on") is not None:
        return plan
    # A small call does not ask how much memory is free, but a reader wants to know.
    return replace(plan, available=plan.available or live_machine().free_memory())


def _with_source(graph: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a search with one source, unless they say where it begins."""
    if any(options.get(name) is not None for name in ("source", "sources", "pairs")):
        return options
    own = graph if isinstance(graph, Graph) else as_prepared(graph).graph
    # Which vertex it is makes no difference.
    return {**options, "source": own.label(0)} if own.n else {**options, "sources": []}


def _options_of(call: Callable[..., Any], problem: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a call takes; those that ask for nothing are ignored."""
    known, taken = signature(call).parameters, {}
    for name, value in options.items():
        if name not in known:
            nothing = value is None or value is False
            if not (nothing or (isinstance(value, str) and value in ("auto", "host"))):
                hint = hint_on(name, known)
                advice = f"; {hint}" if hint else ""
                raise RequestError(f"{problem} does not take ", Code(f"{name}="), advice)
        elif value is not None or name not in _AS_IN_THE_CALL:
            taken[name] = value
    return taken
