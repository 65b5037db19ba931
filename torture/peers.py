"""Calls of ``kleene.csgraph`` beside SciPy's, and of the NetworkX backend beside NetworkX's."""

from __future__ import annotations

import inspect
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph as scipy_csgraph

from kleene import PathOverflowError, csgraph
from torture.random_graphs import Spec, random_spec

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "interop"))

import networkx_calls as calls

__all__ = [
    "networkx_fault",
    "random_csgraph",
    "random_networkx",
    "random_structure",
    "scipy_fault",
    "structure_fault",
]

_NULL = -9999


def _without_error(function: Any, *args: Any, **keywords: Any) -> Any:
    """Return the value, or the type of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*args, **keywords)
            return list(value) if inspect.isgenerator(value) else value
        except Exception as error:
            return error


# ---- SciPy --------------------------------------------------------------------------------------


def random_csgraph(seed: int) -> Spec:
    """Return a graph and the arguments of a call of SciPy's."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "apsp")
    negative = any(w < 0 for *_, w in spec.arcs())
    names = ["bellman_ford", "johnson", "floyd_warshall"] + ["dijkstra"] * (not negative)
    asked: dict[str, Any] = {
        "function": str(rng.choice(names)),
        "form": str(rng.choice(["csr_array", "csc_array", "coo_array", "dense"])),
        "directed": bool(rng.random() < 0.7 or negative),
        "return_predecessors": bool(rng.random() < 0.5),
        "unweighted": bool(rng.random() < 0.2),
    }
    if asked["function"] != "floyd_warshall":
        if spec.n and rng.random() < 0.6:
            asked["indices"] = rng.integers(0, spec.n, int(rng.integers(1, 4))).tolist()
    elif asked["form"] == "coo_array":
        asked["form"] = "csr_array"
    if asked["function"] == "dijkstra":
        if "limit" in spec.asked:
            asked["limit"] = spec.asked["limit"]
        asked["min_only"] = bool(rng.random() < 0.2 and "indices" in asked)
    return replace(spec, directed=True, asked=asked)


def scipy_fault(spec: Spec) -> str | None:
    """Return how the two answers differ, None if they agree."""
    keywords = dict(spec.asked)
    name, form = keywords.pop("function"), keywords.pop("form")
    arcs, graph = _matrix(spec, form)
    ours = _without_error(getattr(csgraph, name), graph, **keywords)
    theirs = _without_error(getattr(scipy_csgraph, name), graph, **keywords)
    if isinstance(theirs, scipy_csgraph.NegativeCycleError) and min(a[2] for a in arcs) >= 0:
        return None  # SciPy takes rounding for a cycle
    if isinstance(theirs, Exception):
        same = isinstance(ours, (type(theirs), scipy_csgraph.NegativeCycleError))
        return None if same else f"{ours!r} where SciPy raises {theirs!r}"
    if isinstance(ours, Exception):
        return f"{ours!r} where SciPy has an answer"
    if not keywords["return_predecessors"]:
        ours, theirs = (ours,), (theirs,)
    return _values_fault(spec, ours[0], theirs[0]) or _tree_fault(ours, theirs)


def _matrix(spec: Spec, form: str) -> tuple[list[Any], Any]:
    """Return the arcs of a graph, and its matrix in one of SciPy's forms."""
    arcs = [arc for arc in spec.arcs() if max(arc[:2]) < spec.n]
    kind = np.float64 if spec.dtype is None else spec.weight_array().dtype
    if kind == np.float16:
        kind = np.float32
    ends = (np.array([a[0] for a in arcs], np.int32), np.array([a[1] for a in arcs], np.int32))
    matrix = sp.coo_array((np.array([a[2] for a in arcs], kind), ends), shape=(spec.n, spec.n))
    return arcs, matrix.toarray() if form == "dense" else getattr(sp, form)(matrix)


def random_structure(seed: int) -> Spec:
    """Return a graph, and a call of SciPy's for its components or for several paths."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "apsp")
    asked: dict[str, Any] = {
        "function": "connected_components",
        "form": str(rng.choice(["csr_array", "csc_array", "coo_array", "dense"])),
        "directed": bool(rng.random() < 0.7),
    }
    if spec.n > 1 and rng.random() < 0.7:
        source, sink = rng.choice(spec.n, 2, replace=False).tolist()
        asked |= {
            "function": "yen", "source": source, "sink": sink, "K": int(rng.integers(1, 12)),
            "unweighted": bool(rng.random() < 0.2),
        }  # fmt: skip
    else:
        asked["connection"] = str(rng.choice(["weak", "strong"]))
    return replace(spec, directed=True, asked=asked)


def structure_fault(spec: Spec) -> str | None:
    """Return how the two answers differ, None if they agree."""
    keywords = dict(spec.asked)
    name, form = keywords.pop("function"), keywords.pop("form")
    _, graph = _matrix(spec, form)
    ours = _without_error(getattr(csgraph, name), graph, **keywords)
    theirs = _without_error(getattr(scipy_csgraph, name), graph, **keywords)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        same = isinstance(ours, (type(theirs), PathOverflowError))  # SciPy rounds, or overflows
        return None if same else f"{ours!r} where SciPy has {theirs!r}"
    if name == "yen":
        return _values_fault(spec, ours, theirs)
    pairs = set(zip(ours[1].tolist(), theirs[1].tolist(), strict=True))
    if ours[0] != theirs[0] or len(pairs) != ours[0]:
        return f"components {ours[1].tolist()} where SciPy has {theirs[1].tolist()}"
    return None


def _values_fault(spec: Spec, ours: Any, theirs: Any) -> str | None:
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype} {ours.shape} where SciPy has {theirs.dtype} {theirs.shape}"
    reached = np.isfinite(theirs)
    if (np.isfinite(ours) != reached).any():
        at = np.argwhere(np.isfinite(ours) != reached)[0].tolist()
        return f"{at} holds {ours[tuple(at)]}, and SciPy has {theirs[tuple(at)]}"
    slack = 4 * np.finfo(float).eps * (spec.n + 1) * np.abs(theirs[reached])
    wrong = ~(np.abs(ours[reached] - theirs[reached]) <= slack)
    if wrong.any():
        return f"{ours[reached][wrong][0]!r} where SciPy has {theirs[reached][wrong][0]!r}"
    return None


def _tree_fault(ours: Any, theirs: Any) -> str | None:
    """Which shortest path is found may differ, but not where there is one."""
    for own, other in zip(ours[1:], theirs[1:], strict=True):
        if own.dtype != other.dtype or ((own == _NULL) != (other == _NULL)).any():
            return f"predecessors {own.tolist()} where SciPy has {other.tolist()}"
    return None


# ---- NetworkX -----------------------------------------------------------------------------------

_SLOW = {"local_efficiency", "all_pairs_all_shortest_paths"}


def random_networkx(seed: int) -> Spec:
    """Return a graph and a call of NetworkX's."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "apsp")
    name = str(rng.choice(sorted(set(calls.CALLS) - _SLOW)))
    asked = {
        "function": name,
        "variant": int(rng.integers(len(calls.CALLS[name]))),
        "ends": rng.integers(0, spec.n, 2).tolist() if spec.n else [],
    }
    return replace(spec, asked=asked)


def networkx_fault(spec: Spec) -> str | None:
    """Return how the two answers differ, None if they agree or NetworkX is to answer itself."""
    weights = [1] * len(spec.ends) if spec.weights is None else spec.weight_array().tolist()
    if spec.n == 0 or spec.n > 40 or min(weights, default=0) < 0 or not spec.exact:
        return None  # ties are decided by rounding there, and loops of NetworkX may not end
    graph = (nx.DiGraph if spec.directed else nx.Graph)()
    graph.add_nodes_from(range(spec.n))
    for (u, v), w in zip(spec.ends, weights, strict=True):
        graph.add_edge(u, v, weight=w)
    name = spec.asked["function"]
    arguments = calls.CALLS[name][spec.asked["variant"]](*spec.asked["ends"], "weight")
    function = calls.function(name)
    theirs = _without_error(function, graph, **arguments)
    ours = _without_error(function, graph, **arguments, backend="kleene")
    if isinstance(ours, NotImplementedError):
        return None
    if name in calls.FLOATS and len({type(w) for w in weights}) > 1:
        ours, theirs = calls.in_floats(ours), calls.in_floats(theirs)
    try:
        calls.compare(name, graph, arguments, ours, theirs)
    except AssertionError as error:
        return f"{ours!r} where NetworkX has {theirs!r} ({error})"
    return None
