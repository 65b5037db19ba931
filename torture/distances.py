"""Measures of distances on random graphs, beside rows that rounds over all arcs give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import kleene as kl
from torture.expected import Expected
from torture.random_graphs import Spec, random_spec

__all__ = ["distance_fault", "random_distances"]


def random_distances(seed: int) -> Spec:
    """Return a graph whose weights are not negative, and how to measure it."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "apsp")
    if spec.weights is not None:
        spec = replace(spec, weights=tuple(abs(w) for w in spec.weights))
    asked = {
        "hops": bool(rng.random() < 0.5),
        "reverse": bool(rng.random() < 0.3),
        "threads": int(rng.integers(1, 4)),
    }
    return replace(spec, asked=asked)


@np.errstate(over="ignore")  # of sums of huge distances, and of inverses of tiny ones
def distance_fault(spec: Spec) -> str | None:
    """Return which number differs, None if none does."""
    graph, asked = spec.graph(), dict(spec.asked)
    if not graph.n:
        return None
    hops = asked["hops"] or graph.weight_dtype is None
    try:
        ways = {"unreachable": "ignore", **asked}
        far = kl.eccentricity(graph, **ways)
        found = {
            "closeness": kl.closeness(graph, **{**asked, "reverse": not asked["reverse"]}),
            "harmonic": kl.harmonic(graph, **{**asked, "reverse": not asked["reverse"]}),
        }
    except kl.PathOverflowError:
        return None
    rows = Expected(replace(spec, asked={}), "min_plus", hops).rows(np.float64)
    assert rows is not None
    values, there = (part.T if asked["reverse"] else part for part in rows)
    others = there & ~np.eye(graph.n, dtype=bool)
    distances = np.where(others, values.astype(float), 0.0)
    sums, count = distances.sum(axis=1), others.sum(axis=1)
    inverses = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
    part = count / max(1, graph.n - 1)
    right: dict[str, Any] = {
        "closeness": np.divide(count * part, sums, out=np.zeros_like(sums), where=sums > 0),
        "harmonic": inverses.sum(axis=1),
    }
    wrong = [name for name in right if not np.allclose(found[name], right[name], rtol=1e-4)]
    largest = distances.max(axis=1)
    if not np.allclose(far.values, largest, rtol=1e-9):
        wrong.append("eccentricity")
    numbers = {
        "radius": (kl.radius(graph, **ways), far.radius),
        "center": (kl.center(graph, **ways).tolist(), far.center.tolist()),
        "periphery": (kl.periphery(graph, **ways).tolist(), far.periphery.tolist()),
    }
    del ways["reverse"]
    if not np.isclose(kl.diameter(graph, **ways), largest.max(), rtol=1e-9):
        wrong.append("diameter")
    wrong += [name for name, (one, other) in numbers.items() if one != other]
    for measure in (far, *found.values()):
        measure.verify(sample=2)
    return f"{', '.join(wrong)} differ" if wrong else None
