"""Betweenness of random graphs beside its definition, which knows no pass backward.

The paths from s to t that lead through v are those from s to v times those from v to t, if v is as
far on the way as it must be. Counts are Python integers.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import kleene as kl
from torture.random_graphs import Spec, random_spec

__all__ = ["answer_fault", "random_question"]


def random_question(seed: int) -> Spec:
    """Return a graph with weights above zero, and how to ask for its betweenness."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "bfs")
    if spec.weights is not None:
        weights = tuple(rng.integers(1, 5, len(spec.ends)).tolist())
        spec = replace(spec, weights=weights, dtype="int64")
    asked: dict[str, Any] = {
        "hops": bool(rng.random() < 0.7),
        "endpoints": bool(rng.random() < 0.3),
        "limit": None if rng.random() < 0.7 else int(rng.integers(0, 6)),
        "threads": int(rng.integers(1, 4)),
    }
    for name in ("sources", "targets"):
        if rng.random() < 0.3:
            asked[name] = rng.integers(0, max(1, spec.n), 3).tolist()
    return replace(spec, asked=asked)


def _paths(
    n: int, arcs: dict[tuple[int, int], int], source: int
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the distances from a source, and the numbers of shortest paths."""
    distance = {source: 0}
    for _ in range(n):  # Bellman-Ford, which stops when nothing changes
        before = dict(distance)
        for (u, v), length in arcs.items():
            if u in distance and distance[u] + length < distance.get(v, 2**62):
                distance[v] = distance[u] + length
        if before == distance:
            break
    count = {source: 1}
    for v in sorted(distance, key=lambda v: distance[v])[1:]:
        count[v] = sum(
            count[u]
            for (u, head), length in arcs.items()
            if head == v and u in count and distance[u] + length == distance[v]
        )
    return distance, count


def answer_fault(spec: Spec) -> str | None:
    """Return how betweenness differs from its definition, None if it does not."""
    asked = dict(spec.asked)
    for name in ("sources", "targets"):  # of a spec that was made smaller
        if name in asked:
            asked[name] = [v for v in asked[name] if v < spec.n]
            if not asked[name]:
                del asked[name]
    arcs: dict[tuple[int, int], int] = {}
    for u, v, weight in spec.arcs():
        length = 1 if asked.get("hops") or spec.weights is None else int(weight)
        if u != v:
            arcs[u, v] = min(length, arcs.get((u, v), length))
    found = [_paths(spec.n, arcs, v) for v in range(spec.n)]
    most = 2**62 if asked.get("limit") is None else asked["limit"]
    want = [Fraction(0)] * spec.n
    for s in set(asked.get("sources", range(spec.n))):
        distance, count = found[s]
        for t in set(asked.get("targets", range(spec.n))) & set(distance) - {s}:
            if distance[t] > most:
                continue
            for v in distance:
                if distance[v] + found[v][0].get(t, 2**62) != distance[t]:
                    continue
                if v not in (s, t) or asked.get("endpoints"):
                    want[v] += Fraction(count[v] * found[v][1][t], count[t])
    b = kl.betweenness(spec.graph(), normalized=False, **asked)
    b.verify(sample=2)
    pairs = 1 if spec.directed else 2  # an unordered pair counts once
    right = [float(part / pairs) for part in want]
    if np.allclose(b.values, right, rtol=1e-9, atol=1e-12):
        return None
    return f"betweenness is {b.values.tolist()}, and should be {right}"
