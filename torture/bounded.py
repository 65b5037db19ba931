"""Bounded searches and nearest facilities beside the simple solver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import kleene as kl
from torture.expected import Expected, error_is_due
from torture.random_graphs import Spec, random_spec

__all__ = ["nearest_fault", "random_nearest", "random_reach", "reach_fault"]


def random_reach(seed: int) -> Spec:
    """Return a graph and what to ask of ``kl.within``."""
    rng = np.random.default_rng([seed, 3])
    spec = random_spec(seed, str(rng.choice(["bfs", "sssp"])))
    asked: dict[str, Any] = {
        "sources": spec.asked.get("sources", list(range(spec.n))),
        "limit": spec.asked.get("limit", float("inf")),
        "hops": bool(rng.random() < 0.3),
        "reverse": bool(rng.random() < 0.4),
        "predecessors": spec.asked["predecessors"],
        "threads": spec.asked["threads"],
    }
    if rng.random() < 0.4:
        asked["k"] = int(rng.integers(1, 9))
    return replace(spec, asked=asked)


def random_nearest(seed: int) -> Spec:
    """Return a graph, facilities, and what else to ask of ``kl.nearest``."""
    rng = np.random.default_rng([seed, 4])
    spec = random_spec(seed, "sssp")
    facilities = rng.integers(0, spec.n, int(rng.integers(1, 9))).tolist() if spec.n else []
    asked: dict[str, Any] = {
        "sources": facilities,
        "k": int(rng.integers(1, 5)),
        "hops": bool(rng.random() < 0.3),
        "reverse": bool(rng.random() < 0.4),
        "threads": spec.asked["threads"],
    }
    if "limit" in spec.asked:
        asked["limit"] = spec.asked["limit"]
    return replace(spec, asked=asked)


def _searched(spec: Spec, backwards: bool) -> Expected:
    """Return the solver of the graph as it is searched."""
    ends = tuple((v, u) for u, v in spec.ends) if backwards else spec.ends
    asked = {"sources": spec.asked.get("sources", list(range(spec.n)))}
    if "limit" in spec.asked:
        asked["limit"] = spec.asked["limit"]
    return Expected(replace(spec, ends=ends, asked=asked), "min_plus", spec.asked["hops"])


def _is_due(error: kl.KleeneError, expected: Expected) -> bool:
    negative = any(w < 0 for *_, w in expected.arcs)
    return (isinstance(error, kl.RequestError) and negative) or error_is_due(error, expected)


def _within_limit(spec: Spec, values: Any, reached: Any, dtype: Any) -> Any:
    limit = spec.asked.get("limit", np.inf)
    if dtype.kind == "f" and limit < np.finfo(dtype).max:
        limit = dtype.type(limit)
    return reached & (values <= limit)


def reach_fault(spec: Spec) -> str | None:
    """Return what is wrong with an answer of ``kl.within``, None if nothing is."""
    asked = {"limit": np.inf} | spec.asked
    expected = _searched(spec, asked["reverse"])
    asked.pop("sources", None)
    try:
        r = kl.within(spec.graph(), expected.sources, **asked)
    except kl.KleeneError as error:
        return None if _is_due(error, expected) else f"{type(error).__name__}: {error}"
    found, k = r.distances, asked.get("k")
    values, reached = expected.rows(found.dtype) or (None, None)
    near = _within_limit(spec, values, reached, found.dtype)
    for row, source in enumerate(expected.sources):
        held = slice(found.indptr[row], found.indptr[row + 1])
        vertices, lengths = found.indices[held], found.data[held]
        if (lengths.astype(object) != values[row, vertices].astype(object)).any():
            return f"from {source}: {lengths} at {vertices}, and should {values[row, vertices]}"
        missing = near[row].copy()
        missing[vertices] = False
        if len(vertices) != np.count_nonzero(near[row]) - np.count_nonzero(missing):
            return f"from {source}: {vertices}, and the limit is {asked['limit']}"
        if not missing.any():
            if k is not None and len(vertices) > k + 1:
                return f"from {source}: more than {k} vertices"
        elif k is None or len(vertices) != k + 1:
            return f"from {source}: vertex {np.flatnonzero(missing)[0]} is missing"
        elif (values[row][missing] < lengths.max()).any():
            return f"from {source}: {vertices} are not the nearest"
    return _proof(r)


def nearest_fault(spec: Spec) -> str | None:
    """Return what is wrong with an answer of ``kl.nearest``, None if nothing is."""
    asked = dict(spec.asked)
    expected = _searched(spec, not asked["reverse"])
    asked.pop("sources", None)
    if not expected.sources:
        return None
    try:
        near = kl.nearest(spec.graph(), expected.sources, device="cpu", **asked)
    except kl.KleeneError as error:
        return None if _is_due(error, expected) else f"{type(error).__name__}: {error}"
    k, dtype = near.k, near.distances.dtype
    values, reached = expected.rows(dtype) or (None, None)
    there = _within_limit(spec, values, reached, dtype)
    distances, which = near.distances.reshape(-1, k), near.which.reshape(-1, k)
    for v in range(spec.n):
        right = sorted((values[i, v], i) for i in np.flatnonzero(there[:, v]).tolist())[:k]
        ours = [(distances[v, j], i) for j, i in enumerate(which[v].tolist()) if i >= 0]
        # Where rounding makes lengths equal, the facility may be another one as far away.
        same = dtype.kind == "i" or expected.hops or spec.exact
        lengths = [d for d, _ in ours] == [d for d, _ in right]
        attained = all(values[i, v] == d for d, i in ours)
        if not lengths or not attained or ours != sorted(ours) or (same and ours != right):
            return f"vertex {v} has {ours}, and should {right}"
    for v, path in enumerate(near.paths()):
        ends = [v, expected.sources[which[v, 0]]] if which[v, 0] >= 0 else []
        if [path[0], path[-1]] != (ends[::-1] if near.reverse else ends) if path else ends:
            return f"the path of vertex {v} is {path}"
    return _proof(near)


def _proof(answer: Any) -> str | None:
    try:
        answer.verify()
    except kl.VerificationError as error:
        return f"verify() refuses a right answer: {error}"
    return None
