"""Prepared graphs beside the simple solver: every kind of question, new weights, and files.

A graph is prepared in an order of its own choice or in a random one, which fills it with pairs that
a good order avoids.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl
from torture.expected import Expected, close, error_is_due, fault
from torture.random_graphs import Spec, random_spec

__all__ = ["prepared_fault", "random_prepared"]

_SEMIRINGS = ("min_plus", "min_plus", "min_plus", "boolean", "max_min", "max_times")


def random_prepared(seed: int) -> Spec:
    """Return a graph, and what to ask of it once it is prepared."""
    rng = np.random.default_rng([seed, 6])
    semiring = str(rng.choice(_SEMIRINGS))
    spec = random_spec(seed, semiring)
    names = [name for name in _CHECKS if semiring == "min_plus" or name not in ("near", "within")]
    few = int(rng.integers(1, 9))
    asked: dict[str, Any] = {
        "check": str(rng.choice(names)),
        "semiring": semiring,
        "sources": rng.integers(0, spec.n, few).tolist() if spec.n else [],
        "targets": rng.integers(0, spec.n, few).tolist() if spec.n else [],
        "seed": seed if rng.random() < 0.6 else None,
        "threads": spec.asked["threads"],
    }
    return replace(spec, asked=asked)


def prepared_fault(spec: Spec) -> str | None:
    """Return what is wrong with an answer of a prepared graph, None if nothing is."""
    asked, graph = spec.asked, spec.graph()
    everything = Expected(_asking(spec), asked["semiring"], False)
    order = None
    if asked["seed"] is not None:
        order = np.random.default_rng(asked["seed"]).permutation(spec.n)
    try:
        p = kl.prepare(graph, order=order, semiring=asked["semiring"], threads=asked.get("threads"))
    except kl.KleeneError as error:
        due = error_is_due(error, everything)
        return None if due else f"{type(error).__name__}: {error}"
    if everything.rows(p.dtype) is None:
        return "there is a negative cycle, and no error"
    return _CHECKS[asked["check"]](p, spec, everything)


def _asking(spec: Spec, **asked: Any) -> Spec:
    return replace(spec, asked=asked)


def _sources(spec: Spec) -> list[int]:
    return spec.asked.get("sources", list(range(spec.n)))


def _judged(result: kl.Result, spec: Spec, **asked: Any) -> str | None:
    """Compare a result with the solver, prove it, and follow a path of it."""
    expected = Expected(_asking(spec, **asked), spec.asked["semiring"], False)
    return fault(result, expected) or _refused(result)


def _refused(answer: Any) -> str | None:
    try:
        answer.verify()
    except kl.VerificationError as error:
        return f"verify() refuses a right answer: {error}"
    return None


def _reversed(spec: Spec) -> Spec:
    return replace(spec, ends=tuple((v, u) for u, v in spec.ends))


# ---- questions ----------------------------------------------------------------------------------


def _trees(p: kl.PreparedGraph, spec: Spec, _: Expected) -> str | None:
    sources = _sources(spec)
    return _judged(p.trees(sources, threads=spec.asked.get("threads")), spec, sources=sources)


def _arrivals(p: kl.PreparedGraph, spec: Spec, _: Expected) -> str | None:
    sources = _sources(spec)
    return _judged(p.trees(sources, reverse=True), _reversed(spec), sources=sources)


def _closure(p: kl.PreparedGraph, spec: Spec, _: Expected) -> str | None:
    return _judged(p.closure(threads=spec.asked.get("threads")), spec)


def _matrix(p: kl.PreparedGraph, spec: Spec, _: Expected) -> str | None:
    sources, targets = _sources(spec), spec.asked.get("targets", _sources(spec))
    result = p.matrix(sources, targets, threads=spec.asked.get("threads"))
    return _judged(result, spec, sources=sources, targets=targets)


def _pairs(p: kl.PreparedGraph, spec: Spec, everything: Expected) -> str | None:
    sources, targets = _sources(spec), spec.asked.get("targets", _sources(spec))
    pairs = np.array([(s, t) for s in sources for t in targets], np.int64).reshape(-1, 2)
    values, reached = (rows[pairs[:, 0], pairs[:, 1]] for rows in everything.rows(p.dtype) or ())
    found = p.distances(pairs)
    wrong = ((found != p.no_path) != reached) | (reached & ~close(found, values, everything))
    if wrong.any():
        at = int(wrong.argmax())
        return f"{pairs[at].tolist()} holds {found[at]}, and should {values[at]}"
    if spec.asked["semiring"] != "min_plus":
        return None
    walked = p.paths(pairs)
    if not np.array_equal(walked.distances, found):
        return "paths and distances of the same pairs differ"
    return _refused(walked)


def _near(p: kl.PreparedGraph, spec: Spec, everything: Expected) -> str | None:
    sources, facilities = _sources(spec), spec.asked.get("targets", _sources(spec))
    if not facilities:
        return None
    k = 1 + len(facilities) // 2
    try:
        near = p.nearest(sources, facilities, k)
    except kl.RequestError as error:
        return None if _negative(spec) else f"RequestError: {error}"
    values, reached = everything.rows(p.dtype) or ((), ())
    distances = near.distances.reshape(-1, near.k)
    for row, source in enumerate(sources):
        there = [f for f in facilities if reached[source, f]]
        right = np.sort(values[source, there])[: near.k]
        held = distances[row][distances[row] != p.no_path]
        if len(held) != len(right) or not close(held, right, everything).all():
            return f"from {source} the nearest are at {held}, and should {right}"
    return _refused(near)


def _within(p: kl.PreparedGraph, spec: Spec, everything: Expected) -> str | None:
    sources = _sources(spec)
    values, reached = everything.rows(p.dtype) or ((), ())
    lengths = np.unique(np.array([v for v in values[reached].tolist() if v >= 0], float))
    if len(lengths) < 2 or lengths[-1] > 1e300 or not sources:
        return None
    gaps = np.diff(lengths)
    at = int(gaps.argmax())  # where rounding does not matter
    limit = float(lengths[at] + gaps[at] / 2)
    try:
        reach = p.within(sources, limit)
    except kl.RequestError as error:
        return None if _negative(spec) else f"RequestError: {error}"
    for row, source in enumerate(sources):
        held = slice(*reach.distances.indptr[row : row + 2])
        vertices, found = reach.distances.indices[held], reach.distances.data[held]
        right = np.flatnonzero(reached[source] & (values[source] <= limit))
        if not np.array_equal(np.sort(vertices), right):
            return f"within {limit} of {source} are {vertices}, and should {right}"
        if not close(found, values[source, vertices], everything).all():
            return f"from {source}: {found} at {vertices}"
    return _refused(reach)


def _negative(spec: Spec) -> bool:
    return any(w < 0 for *_, w in spec.arcs())


# ---- new weights, and files ---------------------------------------------------------------------


def _new_weights(p: kl.PreparedGraph, spec: Spec, _: Expected) -> str | None:
    """Give a graph other weights, and take them back: the first answer is the last."""
    sources = _sources(spec)
    before = p.trees(sources).distances
    other = p.customize(1)
    plain = replace(spec, weights=None)
    wrong = _judged(other.trees(sources), plain, sources=sources)
    if wrong is not None:
        return f"with weights of 1: {wrong}"
    after = other.customize(p.graph).trees(sources).distances
    return None if np.array_equal(before, after) else "the old weights give another answer"


def _file(p: kl.PreparedGraph, spec: Spec, _: Expected) -> str | None:
    sources = _sources(spec)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.kp")
        p.save(path)
        loaded = kl.load_prepared(path)
        same = np.array_equal(loaded.trees(sources).distances, p.trees(sources).distances)
        return None if same else "a file gives another answer"


_CHECKS: dict[str, Callable[[kl.PreparedGraph, Spec, Expected], str | None]] = {
    "trees": _trees,
    "arrivals": _arrivals,
    "closure": _closure,
    "matrix": _matrix,
    "pairs": _pairs,
    "near": _near,
    "within": _within,
    "new weights": _new_weights,
    "file": _file,
}
