"""The oracle: a simple, slow solver that shares no code with the package."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from graphs import graph

NO_PATH = None

CHOOSE = {"min_plus": min, "boolean": max, "max_min": max, "max_times": max}
EXTEND = {
    "min_plus": lambda a, b: a + b,
    "boolean": lambda a, b: True,
    "max_min": min,
    "max_times": lambda a, b: a * b,
}
EMPTY = {"min_plus": 0, "boolean": True, "max_min": float("inf"), "max_times": 1}


@cache
def best_values(name: str, semiring: str, source: int, hops: bool = False) -> list[Any] | None:
    """Relax every arc until nothing changes, in exact arithmetic; None for a negative cycle.

    Unreached vertices hold NO_PATH.
    """
    g = graph(name)
    weights = [1] * g.m if hops or g.weights is None else g.weights.tolist()
    weights = [w if isinstance(w, int) else Fraction(w) for w in weights]
    arcs = list(zip(g.coo.sources.tolist(), g.coo.targets.tolist(), weights, strict=True))
    best: list[Any] = [NO_PATH] * g.n
    best[source] = EMPTY[semiring]
    for _ in range(g.n + 1):
        changed = False
        for u, v, w in arcs:
            if best[u] is NO_PATH:
                continue
            value = EXTEND[semiring](best[u], w)
            if best[v] is NO_PATH or CHOOSE[semiring](value, best[v]) != best[v]:
                best[v], changed = value, True
        if not changed:
            if semiring == "max_times":  # a path of probability zero is no path
                return [NO_PATH if b == 0 else b for b in best]
            return best
    return None
