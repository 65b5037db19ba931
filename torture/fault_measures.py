"""Measures that faults are put into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import kleene as kl
from kleene.graph.core import Graph
from torture.fault_inputs import Case, on, small

__all__ = ["measure_cases"]


def measure_cases() -> Iterator[Case]:
    """Loads, betweenness, sums of distances and eccentricities, with searches of each kind."""
    trips = (range(12), range(12, 24), [2.0] * 12)
    hubs = lambda: kl.generate.rmat(9, 8, seed=1, directed=False)  # noqa: E731
    ring = lambda: kl.generate.cycle(300)  # noqa: E731
    streets = lambda: kl.generate.grid(12, 12, weights=(0.5, 1.5), seed=1)  # noqa: E731
    reach: dict[str, Any] = {"unreachable": "ignore", "threads": 3}
    calls: dict[str, tuple[Any, Callable[[Graph], Any]]] = {
        "loads": (small, lambda g: kl.loads(g, trips, threads=3).arcs),
        "loads, split": (small, lambda g: kl.loads(g, trips, split=True, threads=3).arcs),
        # Threads take searches of their own, or share them; sums of floats depend on which does.
        "betweenness": (hubs, lambda g: kl.betweenness(g, edges=True, threads=3).values.round(9)),
        "betweenness of three sources": (
            small,
            lambda g: kl.betweenness(g, sources=range(3), hops=True, threads=3).values.round(9),
        ),
        "betweenness within an error": (
            small,
            lambda g: kl.betweenness(g, error=0.2, edges=True, threads=3).values,
        ),
        "betweenness with weights": (  # sums of other threads differ in their last digits
            small,
            lambda g: kl.betweenness(g, method="dijkstra", edges=True, threads=3).arcs.round(9),
        ),
        "path_counts": (small, lambda g: kl.path_counts(g, 0, exact=True, threads=3).values),
        "closeness": (small, lambda g: kl.closeness(g, threads=3).values),
        "closeness by hops": (hubs, lambda g: kl.closeness(g, threads=3).values),
        "eccentricity": (small, lambda g: kl.eccentricity(g, **reach).values),
        "eccentricity of floats": (streets, lambda g: kl.eccentricity(g, **reach).values),
        "eccentricity by hops": (hubs, lambda g: kl.eccentricity(g, **reach).values),
        "eccentricity of a ring": (ring, lambda g: kl.eccentricity(g, **reach).values),
        "diameter": (small, lambda g: kl.diameter(g, **reach)),
        "diameter by hops": (hubs, lambda g: kl.diameter(g, **reach)),
        "distance_histogram": (small, lambda g: kl.distance_histogram(g, threads=3).counts),
        "reduce_distances": (small, lambda g: kl.reduce_distances(g, bins=9, threads=3).histogram),
    }
    for name, (make, call) in calls.items():
        yield Case(name, on(make, call))
