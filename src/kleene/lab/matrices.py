"""Matrices that the dense engine closes, in every type and semiring, and graphs like them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.cuda.closure_tiled import TileLayout
from kleene.system.machine import cores

__all__ = ["CASES", "PLAIN", "Case", "Weights", "graph_like"]

Array = NDArray[Any]


class Case(NamedTuple):
    """What the engine is asked for."""

    name: str  # for readers
    semiring: str
    dtype: str  # of the matrix on the host; uint64 for bits
    negative: bool = False
    paths: bool = False
    tracked: bool = False  # paths noted while distances are found, where the engine would not

    @property
    def recovered(self) -> bool:
        """Are predecessors found from the distances, after them?"""
        return self.paths and self.semiring == "min_plus" and not (self.negative or self.tracked)

    @property
    def inside(self) -> str:
        """The type in which the engine computes, as the CPU's ceiling calls it."""
        return "bool" if self.dtype == "uint64" else self.dtype

    def layout(self, n: int) -> TileLayout:
        """Return how the matrix lies on a GPU."""
        form = MatrixForm("tiled", self.semiring, np.dtype(self.dtype), 0)
        return TileLayout.of(form, n, not self.negative, self.paths and not self.recovered)


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
    Case("boolean", "boolean", "uint64"),
)


class Weights:
    """Random weights from 1 to 1000, made once: smaller matrices are corners of the largest."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows: dict[tuple[str, int, int], Array] = {}  # what is right, by case, n and source
        self._all = np.empty((most, most), np.float32)
        self.heights = np.random.default_rng(1).random(most) * 2000

        def fill(first: int) -> None:
            part = self._all[first : first + 256]
            np.random.default_rng(first).random(dtype=np.float32, out=part)
            part *= 999
            part += 1

        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(fill, range(0, most, 256)))
        np.fill_diagonal(self._all, 0)  # no weight of a vertex to itself is ever of use

    def matrix(self, case: Case, n: int) -> Array:
        """Return a matrix that the engine can close."""
        if case.semiring == "boolean":
            return _bits(n)
        corner = self._all[:n, :n]
        if (case.semiring, case.dtype, case.negative) == ("min_plus", "float32", False):
            return corner
        if case.semiring == "min_plus":
            whole = corner.astype(case.dtype)
            if case.negative:  # of a walk downhill; no cycle is negative
                whole += np.subtract.outer(-self.heights[:n], -self.heights[:n]).astype(case.dtype)
            np.fill_diagonal(whole, 0)
            return whole
        whole = (corner * np.float32(0.001)).astype(case.dtype)
        np.fill_diagonal(whole, 1 if case.semiring == "max_times" else np.inf)
        return whole


def _bits(n: int) -> Array:
    """Return the matrix of a sparse graph, 64 columns a word, so that not all pairs are joined."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, 2 * n))
    s, t = np.append(s, np.arange(n)), np.append(t, np.arange(n))
    words = np.zeros((n, -(-n // 64)), np.uint64)
    np.bitwise_or.at(words, (s, t // 64), np.uint64(1) << (t % 64).astype(np.uint64))
    return words


@lru_cache(maxsize=2)
def graph_like(case: Case, n: int) -> kl.Graph:
    """Return a graph in which one pair in 16 has an arc; rates do not depend on how many."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, max(1, n * n // 16)), dtype=np.int32)
    if case.dtype == "int16":  # hop counts: the engine finds by itself that they are short
        return kl.Graph.from_edges(s, t, n=n)
    if case.semiring == "boolean":  # sparse, so that the closure has something to find
        return kl.Graph.from_edges(s[: 2 * n], t[: 2 * n], n=n)
    w = rng.random(len(s)) * (1000 if case.semiring == "min_plus" else 1)
    if case.negative:
        heights = rng.random(n) * 2000
        w += heights[t] - heights[s]
    return kl.Graph.from_edges(s, t, w.astype(case.dtype), n=n)
