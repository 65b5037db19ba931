"""Matrices and graphs for the dense engine, in every type and semiring that it computes in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import cores

__all__ = ["CASES", "PLAIN", "Array", "Case", "Weights", "graph_like"]

Array = NDArray[Any]


class Case(NamedTuple):
    """What is computed, and in which type."""

    name: str  # for readers
    semiring: str
    dtype: str  # in which the engine computes; arcs have no weights where it is int16 or bool
    negative: bool = False
    paths: bool = False


PLAIN = Case("float32", "min_plus", "float32")
CASES = (
    PLAIN,
    Case("float32, negative", "min_plus", "float32", negative=True),
    Case("float64", "min_plus", "float64"),
    Case("int32", "min_plus", "int32"),
    Case("int64", "min_plus", "int64"),
    Case("hops, int16 inside", "min_plus", "int16"),
    Case("widest, float32", "max_min", "float32"),
    Case("most reliable, float32", "max_times", "float32"),
    Case("boolean", "boolean", "bool"),
)


class Weights:
    """Random weights from 1 to 1000, made once: smaller matrices are corners of the largest."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.right: dict[tuple[str, int, int], Array] = {}  # rows of answers, by case, n, source
        self._all = np.empty((most, most), np.float32)
        self.heights = np.random.default_rng(1).random(most) * 2000

        def fill(first: int) -> None:
            part = self._all[first : first + 256]
            np.random.default_rng(first).random(dtype=np.float32, out=part)
            part *= 999
            part += 1

        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(fill, range(0, most, 256)))  # raises what a thread raised
        np.fill_diagonal(self._all, 0)

    def matrix(self, case: Case, n: int) -> Array:
        """Return the weights of arcs, or their truth values, as a matrix."""
        if case.dtype in ("int16", "bool"):
            return _adjacency(n, 8 if case.dtype == "int16" else 2)
        corner = self._all[:n, :n]
        if case.semiring != "min_plus":
            return (corner * np.float32(0.001)).astype(case.dtype)
        whole = corner.astype(case.dtype)
        if case.negative:  # potentials are added; no cycle is negative
            whole += np.subtract.outer(-self.heights[:n], -self.heights[:n]).astype(case.dtype)
            np.fill_diagonal(whole, 0)
        return whole


def _adjacency(n: int, degree: int) -> Array:
    """Return the matrix of a sparse graph, so that answers are not trivial."""
    tails, heads = np.random.default_rng(n).integers(0, n, (2, degree * n))
    matrix = np.zeros((n, n), bool)
    matrix[tails, heads] = True
    return matrix


@lru_cache(maxsize=2)
def graph_like(case: Case, n: int) -> kl.Graph:
    """Return a graph in which one pair in 16 has an arc; rates do not depend on how many."""
    rng = np.random.default_rng(n)
    tails, heads = rng.integers(0, n, (2, max(1, n * n // 16)), dtype=np.int32)
    if case.dtype == "int16":  # hop counts
        return kl.Graph.from_edges(tails, heads, n=n)
    if case.semiring == "boolean":  # sparse, so that the closure is not trivial
        return kl.Graph.from_edges(tails[: 2 * n], heads[: 2 * n], n=n)
    weights = rng.random(len(tails)) * (1000 if case.semiring == "min_plus" else 1)
    if case.negative:
        heights = rng.random(n) * 2000
        weights += heights[heads] - heights[tails]
    return kl.Graph.from_edges(tails, heads, weights.astype(case.dtype), n=n)
