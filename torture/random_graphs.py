"""Random graphs and requests, made from a seed: a zoo of shapes and of weights.

A ``Spec`` is plain data, so that a failing one can be made smaller and printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

import kleene as kl

__all__ = ["Spec", "random_spec"]

Arcs = list[tuple[int, int]]


@dataclass(frozen=True)
class Spec:
    """A graph as edges and weights, what to ask of it, and what its weights are like."""

    n: int
    ends: tuple[tuple[int, int], ...]
    weights: tuple[Any, ...] | None
    dtype: str | None
    directed: bool = True
    exact: bool = True  # sums of these weights are not rounded
    asked: dict[str, Any] = field(default_factory=dict)

    def graph(self) -> kl.Graph:
        """Make the graph from its edges."""
        tails, heads = self.columns()
        return kl.Graph.from_edges(tails, heads, self.weight_array(), self.n, self.directed)

    def columns(self) -> tuple[Any, Any]:
        table = np.array(self.ends, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def weight_array(self) -> Any:
        return None if self.weights is None else np.array(self.weights, dtype=self.dtype)

    def arcs(self) -> list[tuple[int, int, Any]]:
        """List the arcs, those of an undirected graph in both directions; the lightest of each."""
        weights = [1] * len(self.ends) if self.weights is None else self.weight_array().tolist()
        lightest: dict[tuple[int, int], Any] = {}
        for (u, v), w in zip(self.ends, weights, strict=True):
            for arc in ((u, v),) if self.directed else ((u, v), (v, u)):
                lightest[arc] = min(w, lightest.get(arc, w))
        return [(u, v, w) for (u, v), w in lightest.items()]

    def __str__(self) -> str:
        weights = "" if self.weights is None else f", {list(self.weights)}, {self.dtype}"
        kind = "" if self.directed else ", undirected"
        return f"n={self.n}, {list(self.ends)}{weights}{kind}, {self.asked}"


# ---- shapes -------------------------------------------------------------------------------------


def _random(n: int, rng: Generator) -> Arcs:
    count = int(rng.integers(0, 5 * n + 1))
    return list(map(tuple, rng.integers(0, n, (count, 2)).tolist()))


def _parts(n: int, rng: Generator) -> Arcs:
    middle = n // 2
    return [(u, v) for u, v in _random(n, rng) if (u < middle) == (v < middle)]


def _layers(n: int, rng: Generator) -> Arcs:
    return [(min(u, v), max(u, v)) for u, v in _random(n, rng) if u != v]


def _grid(n: int, rng: Generator) -> Arcs:
    side = max(1, int(n**0.5))
    across = [(v, v + 1) for v in range(n - 1) if (v + 1) % side]
    return across + [(v, v + side) for v in range(n - side)]


def _tree(n: int, rng: Generator) -> Arcs:
    return [(int(rng.integers(0, v)), v) for v in range(1, n)]


def _complete(n: int, rng: Generator) -> Arcs:
    side = min(n, 16)
    return [(u, v) for u in range(side) for v in range(side)]


_SHAPES: tuple[Callable[[int, Generator], Arcs], ...] = (
    _random,
    _random,
    _parts,
    _layers,
    _grid,
    _tree,
    _complete,
    lambda n, rng: [],
    lambda n, rng: [(v, v + 1) for v in range(n - 1)],
    lambda n, rng: [(v, (v + 1) % n) for v in range(n)],
    lambda n, rng: [(0, v) for v in range(n)] + _random(n, rng)[:n],
    lambda n, rng: [(v, 0) for v in range(n)] + _random(n, rng)[:n],
    lambda n, rng: _random(n, rng)[: n // 2] * 3 + [(v, v) for v in range(n)],
)


# ---- weights ------------------------------------------------------------------------------------


def _integers(rng: Generator, count: int) -> tuple[Any, str, bool]:
    dtype = rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
    most = int(rng.choice([1, 3, 100]))
    return rng.integers(0, most + 1, count), str(dtype), True


def _large_integers(rng: Generator, count: int) -> tuple[Any, str, bool]:
    bits = int(rng.integers(20, 60))
    return rng.integers(0, 2**bits, count), "int64" if bits > 30 else "int32", True


def _dyadic(rng: Generator, count: int) -> tuple[Any, str, bool]:
    return rng.integers(0, 64, count) / 8, str(rng.choice(["float16", "float32", "float64"])), True


def _tenths(rng: Generator, count: int) -> tuple[Any, str, bool]:
    return rng.integers(0, 12, count) / 10, str(rng.choice(["float32", "float64"])), False


def _uniform(rng: Generator, count: int) -> tuple[Any, str, bool]:
    return rng.random(count), str(rng.choice(["float32", "float64"])), False


def _magnitudes(rng: Generator, count: int) -> tuple[Any, str, bool]:
    return rng.random(count) * 10.0 ** rng.integers(-12, 13, count), "float64", False


def _extremes(rng: Generator, count: int) -> tuple[Any, str, bool]:
    scale = float(rng.choice([5e-324, 1e-310, 1e-300, 1e300, 1e306, 1e308]))
    return rng.integers(1, 9, count) * (scale / 8), "float64", scale < 1e-305


_WEIGHTS = (
    _integers, _integers, _large_integers, _dyadic, _tenths, _tenths, _uniform, _magnitudes,
    _extremes,
)  # fmt: skip


def _with_potentials(rng: Generator, ends: Arcs, weights: Any, n: int) -> Any:
    """Make some weights negative and leave every cycle as long as it is."""
    heights = rng.integers(-20, 21, n)
    return weights + [int(heights[v] - heights[u]) for u, v in ends]


# ---- graphs and requests ------------------------------------------------------------------------


def random_spec(seed: int, problem: str) -> Spec:
    """Return the graph and the request of this seed, for a problem or a closure's semiring."""
    rng = np.random.default_rng(seed)
    draw = rng.random()
    n = int(rng.integers(0, 3) if draw < 0.05 else rng.integers(2, 13 if draw < 0.6 else 41))
    if draw > 0.98:
        n = int(rng.integers(60, 200))
    ends = _SHAPES[rng.integers(len(_SHAPES))](n, rng) if n else []
    directed = bool(rng.random() < 0.7)
    weights, dtype, exact = None, None, True
    if problem == "max_times":
        weights, dtype, exact = rng.integers(0, 11, len(ends)) / 10, "float64", False
    elif rng.random() < 0.85:
        weights, dtype, exact = _WEIGHTS[rng.integers(len(_WEIGHTS))](rng, len(ends))
        small = len(weights) == 0 or 0.1 < weights.max() <= 100
        if problem in ("sssp", "apsp", "min_plus") and exact and small and rng.random() < 0.3:
            directed, dtype = True, "float64" if "f" in dtype else "int64"
            weights = _with_potentials(rng, ends, weights, n)
            if len(ends) and rng.random() < 0.2:  # and perhaps make some cycle negative
                weights[rng.integers(len(ends))] -= 30
    spec = Spec(
        n, tuple(ends), None if weights is None else tuple(weights.tolist()), dtype, directed, exact
    )
    return replace(spec, asked=_request(rng, spec, problem))


def _request(rng: Generator, spec: Spec, problem: str) -> dict[str, Any]:
    asked: dict[str, Any] = {"predecessors": bool(rng.random() < 0.7)}
    n = spec.n
    if rng.random() < 0.4 or n > 50:
        asked["sources"] = rng.integers(0, n, int(rng.integers(0, 5))).tolist() if n else []
    if rng.random() < 0.2 and n:
        asked["targets"] = rng.integers(0, n, int(rng.integers(1, 4))).tolist()
    if problem in ("bfs", "sssp", "apsp") and rng.random() < 0.4:
        asked["limit"] = _limit(rng, spec, problem)
    if rng.random() < 0.1:
        asked["deterministic"] = True
    if rng.random() < 0.1 and problem not in ("boolean", "max_times", "max_min"):
        asked["dtype"] = str(rng.choice(["int32", "int64", "float32", "float64"]))
    asked["threads"] = int(rng.choice([1, 1, 1, 2, 3]))
    return asked


def _limit(rng: Generator, spec: Spec, problem: str) -> float:
    """Return a limit that is likely to be a distance, or next to one: the length of a walk."""
    if problem == "bfs" or not spec.weights:
        return float(rng.integers(0, 13)) / 2
    leaving: dict[int, list[tuple[int, Any]]] = {}
    for u, v, w in spec.arcs():
        if u != v:
            leaving.setdefault(u, []).append((v, w))
    kind = spec.weight_array().dtype
    total = (kind if kind.kind == "f" else np.dtype(np.float64)).type(0)
    at = int(rng.choice(list(leaving))) if leaving else 0
    with np.errstate(over="ignore"):
        for _ in range(rng.integers(1, 12)):
            if at not in leaving:
                break
            at, w = leaving[at][rng.integers(len(leaving[at]))]
            total = total + total.dtype.type(abs(w))
        if rng.random() < 0.3:
            total = np.nextafter(total, total.dtype.type(rng.choice([0.0, 1e4])))
    return min(float(total), 1e308)
