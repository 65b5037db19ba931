"""Traffic loads on random graphs: every method must cost the same, conserve flow and be proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import kleene as kl
from torture.random_graphs import Spec, random_spec

__all__ = ["random_traffic", "traffic_fault"]


def random_traffic(seed: int) -> Spec:
    """Return a graph and trips between its vertices; weights are not negative."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "sssp")
    if spec.weights is not None:
        spec = replace(spec, weights=tuple(abs(w) for w in spec.weights))
    count = int(rng.integers(1, 40))
    ends = rng.integers(0, max(1, spec.n), (2, count)).tolist()
    if rng.random() < 0.3:  # few roots, which may be destinations
        ends[int(rng.integers(2))] = [ends[0][0]] * count
    asked = {
        "trips": [*ends, rng.integers(0, 9, count).tolist()],
        "hops": bool(rng.random() < 0.3),
        "limit": None if rng.random() < 0.7 else int(rng.integers(0, 12)),
        "split": bool(rng.random() < 0.3),
        "threads": int(rng.integers(1, 4)),
    }
    return replace(spec, asked=asked)


def traffic_fault(spec: Spec) -> str | None:
    """Return how methods differ, None if they do not."""
    asked = dict(spec.asked)
    trips = zip(*asked.pop("trips"), strict=True)
    inside = [trip for trip in trips if max(trip[:2]) < spec.n]  # of a spec that was made smaller
    demand = tuple([trip[i] for trip in inside] for i in range(3))
    graph = spec.graph()
    try:
        found: dict[str, Any] = {"searches": kl.loads(graph, demand, method="searches", **asked)}
        if not (asked["split"] or asked["limit"] is not None):
            found["prepared"] = kl.loads(kl.prepare(graph), demand, **asked)
    except (kl.RequestError, kl.PathOverflowError):  # a cycle of length zero, or paths too long
        return None
    found["plain"] = kl.loads(graph, demand, device="reference", **asked)
    for loads in found.values():
        loads.verify(sample=2)
    right = found["plain"]
    for name, loads in found.items():
        if not np.isclose(loads.total_cost, right.total_cost, rtol=1e-4, atol=1e-9):
            return f"by {name} the cost is {loads.total_cost}, and should be {right.total_cost}"
        if loads.unassigned.positions.tolist() != right.unassigned.positions.tolist():
            return f"by {name} other trips have a path"
        if asked["split"] and not np.allclose(loads.arcs, right.arcs):
            return f"by {name} arcs have {loads.arcs.tolist()}, and should {right.arcs.tolist()}"
    return None
