"""Calls that faults are put into: prepared graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl
from kleene.prepared.near import nearest_labels
from torture.fault_inputs import Call, Case, on

__all__ = ["prepared_cases"]


def streets() -> kl.Graph:
    """Return a graph of streets, some of them one-way, with enough vertices for a team."""
    g = kl.generate.grid(18, 18, weights=(1, 9), seed=4)
    tails, heads, weights = g.coo
    kept = np.random.default_rng(4).random(g.m) < 0.9
    return kl.Graph.from_edges(tails[kept], heads[kept], weights[kept], n=g.n)


def prepared() -> kl.PreparedGraph:
    return kl.prepare(streets(), threads=1)


def prepared_grid() -> kl.PreparedGraph:
    return kl.prepare(kl.generate.grid(105, 100, seed=1, weights=(1, 9)), threads=1)


def prepared_cases() -> Iterator[Case]:
    yield Case("prepare", on(streets, lambda g: answers(kl.prepare(g, threads=3))))
    order = lambda g: kl.prepare(g, order=range(g.n)[::-1], threads=3)  # noqa: E731
    yield Case("prepare, in an order", on(streets, lambda g: answers(order(g))))
    yield Case("explain prepare", on(streets, lambda g: kl.explain(g, "prepare").method))
    for semiring, scale in (("boolean", 1), ("max_min", 1), ("max_times", 0.1)):

        def closed(g: kl.Graph, semiring: str = semiring, scale: float = scale) -> Any:
            g = g if scale == 1 else g.reweight(arcs=g.weights * scale)
            return kl.prepare(g, semiring=semiring, threads=3).closure(threads=3)

        yield Case(f"prepare, {semiring}", on(streets, closed))
    calls: dict[str, Callable[[kl.PreparedGraph], Any]] = {
        "customize": lambda p: answers(p.customize(arcs=p.graph.weights[::-1], threads=3)),
        "customize, negative": lambda p: answers(
            p.customize(lambda s, t: 10 + np.asarray(t) - s, threads=3)
        ),
        "customize, rounded": lambda p: answers(p.customize(lambda s, t: 0.1 * t - 0.1 * s)),
        "customize, wide": lambda p: answers(p.customize(arcs=p.graph.weights.astype(int) << 20)),
        "trees": lambda p: p.trees(range(40), threads=3),
        "trees, reverse, predecessors": lambda p: p.trees([1, 7], reverse=True).next_hops,
        "matrix": lambda p: p.matrix(range(40), range(90, 200), threads=3),
        "matrix, by sweeps": lambda p: p.matrix([1, 2], range(90, 200), threads=3),
        "distances": lambda p: p.distances([(i, 3 * i) for i in range(90)], threads=3),
        "paths": lambda p: list(p.paths([(i, 3 * i) for i in range(90)], threads=3).paths()),
        "path": lambda p: p.path(0, 300),
        "nearest": lambda p: p.nearest(range(60), range(0, 320, 9), 3, threads=3).which,
        "nearest of all vertices": lambda p: nearest_labels(
            *p._parts, np.arange(0, 320, 9, dtype=np.int32), 3, threads=3
        ),
        "loads": lambda p: kl.loads(p, (range(90), range(90, 180), [2] * 90), threads=3).arcs,
        "within": lambda p: p.within(range(60), 12, threads=3).distances,
    }
    for name, call in calls.items():
        yield Case(f"prepared: {name}", on(prepared, call))
    every = lambda p: range(0, p.graph.n, 26)  # noqa: E731  (as many as are worth products)
    products = lambda p: p.matrix(every(p), every(p), threads=3)  # noqa: E731
    yield Case("prepared: matrix, by products", on(prepared_grid, products))
    yield Case("PreparedGraph.save", saving, final="city.kp")
    yield Case("load_prepared", loading)


def answers(p: kl.PreparedGraph) -> Any:
    """Return some of everything that depends on a prepared graph's arrays."""
    return p.trees([0, 5], threads=1), p.distances([(0, 300), (300, 0)]), p.path(3, 200)


def saving(folder: Path) -> Call:
    p = prepared()

    def call() -> Any:
        p.save(folder / "city.kp")
        return lambda: answers(kl.load_prepared(folder / "city.kp"))

    return call


def loading(folder: Path) -> Call:
    prepared().save(folder / "city.kp")
    return lambda: answers(kl.load_prepared(folder / "city.kp"))
