"""Lists of pairs, and searches towards their sources, beside the same simple solver.

Arrivals are asked of the graph with every arc reversed: the answer must be that of the graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import kleene as kl
from torture.expected import Expected, close, error_is_due, fault
from torture.random_graphs import Spec

__all__ = ["arrivals_fault", "pairs_fault"]


def pairs_fault(problem: str, spec: Spec, seed: int) -> str | None:
    """Return what is wrong with the answer for random pairs of this graph."""
    rng = np.random.default_rng([seed, 3])
    few = rng.integers(1, spec.n + 1, 2) if spec.n else (1, 1)  # few origins, or few destinations
    pairs = rng.integers(0, few, (int(rng.integers(0, 3 * spec.n + 1)) if spec.n else 0, 2))
    origins, row = np.unique(pairs[:, 0], return_inverse=True)
    asked = {k: v for k, v in spec.asked.items() if k in ("limit", "dtype", "predecessors")}
    asked_of_origins = replace(spec, asked={**asked, "sources": origins.tolist()})
    expected = Expected(asked_of_origins, "min_plus", problem == "bfs")
    try:
        result = getattr(kl, problem)(spec.graph(), pairs=pairs, device="cpu", **asked)
    except kl.KleeneError as error:
        return None if error_is_due(error, expected) else f"{type(error).__name__}: {error}"
    rows = expected.rows(result.distances.dtype)
    if rows is None:
        return "there is a negative cycle, and no error"
    values, reached = (matrix[row, pairs[:, 1]] for matrix in rows)
    limit = asked.get("limit")
    if limit is not None:
        if result.distances.dtype.kind == "f" and problem != "bfs":
            limit = result.distances.dtype.type(limit)
        reached = reached & (values <= limit)
    wrong = (result.reached != reached) | (reached & ~close(result.distances, values, expected))
    if wrong.any():
        i = int(wrong.argmax())
        return f"{pairs[i].tolist()} holds {result.distances[i]}, and should {values[i]}"
    return _refused(result)


def arrivals_fault(problem: str, spec: Spec, expected: Expected) -> str | None:
    """Return what is wrong with the answer towards the sources, on the reversed graph."""
    asked = {"device": "cpu"} | spec.asked
    asked["sources"] = expected.sources
    try:
        result = getattr(kl, problem)(spec.graph().transpose(), reverse=True, **asked)
    except kl.NegativeCycleError as error:
        error.cycle.reverse()  # of the reversed graph
        return None if error_is_due(error, expected) else f"{type(error).__name__}: {error}"
    except kl.KleeneError as error:
        return None if error_is_due(error, expected) else f"{type(error).__name__}: {error}"
    return fault(result, expected) or _refused(result)


def _refused(result: Any) -> str | None:
    try:
        result.verify()
    except kl.VerificationError as error:
        return f"verify() refuses a right answer: {error}"
    return None
