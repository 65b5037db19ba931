"""Trials of dense closures of whole matrices on a GPU, beside the ceiling of its arithmetic.

A trial closes a graph that is a matrix on the host; copies and computation are timed apart, by the
GPU's clock. Rows of the answer, chosen at random, are computed again on the host before a time
counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import cores, device_memory, relaxation_ceiling
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Skipped
from kleene_lab.harness.formatting import size
from kleene_lab.harness.trial import Parts, Trial, parts_of

__all__ = [
    "CASES", "PLAIN", "Array", "Case", "Weights", "best_row", "ceiling_of", "graph_like",
    "require_paths", "require_row", "resident", "streamed",
]  # fmt: skip

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


_ALGEBRA: dict[str, tuple[Any, Any, Any, float, float]] = {
    # extend a path, the better of two, the place of the best, no path, the empty path
    "min_plus": (np.add, np.minimum, np.argmin, np.inf, 0.0),
    "max_min": (np.minimum, np.maximum, np.argmax, -np.inf, np.inf),
    "max_times": (np.multiply, np.maximum, np.argmax, -np.inf, 1.0),
    "boolean": (np.minimum, np.maximum, np.argmax, -np.inf, 1.0),  # a path of width one
}


# ---- the check: Dijkstra's algorithm in NumPy computes rows again --------------------------------
# With paths, every predecessor of those rows must be tight and lead to the source. It reads the
# matrix, where `Result.verify` would make compressed rows of all arcs.


def best_row(case: Case, matrix: Array, source: int, heights: Array) -> Array:
    """Return the values from a source to every vertex, settling the best vertex in each step.

    Negative weights are reduced by the potentials they were made from, which makes them positive.
    """
    extend, better, place, no_path, empty = _ALGEBRA[case.semiring]
    if case.semiring == "boolean":
        return _arcs(_reached(matrix, source), no_path)
    n = len(matrix)
    level = heights[:n] if case.negative else np.zeros(n)
    waiting, row, todo = np.full(n, no_path), np.empty(n), np.ones(n, bool)
    waiting[source] = empty
    for _ in range(n):
        u = int(place(waiting))
        if waiting[u] == no_path:
            break
        row[u], waiting[u], todo[u] = waiting[u], no_path, False
        arcs = _arcs(matrix[u], no_path)
        if case.negative:
            arcs -= level - level[u]
        better(waiting, extend(row[u], arcs), out=waiting, where=todo)
    row[todo] = no_path
    values: Array = row + level - level[source]
    return values


def _reached(matrix: Array, source: int) -> Array:
    """Return which vertices a breadth-first search reaches."""
    reached, frontier = np.zeros(len(matrix), bool), np.array([source])
    while len(frontier):
        reached[frontier] = True
        frontier = np.flatnonzero(matrix[frontier].any(axis=0) & ~reached)
    return reached


def _arcs(entries: Array, no_path: float) -> Array:
    """Return weights of arcs; those of truth values are one."""
    return np.where(entries, 1.0, no_path) if entries.dtype == bool else entries.astype(np.float64)


def _values(case: Case, row: Array) -> Array:
    """Return a row of an answer as float64, with the algebra's value for no path."""
    no_path = _ALGEBRA[case.semiring][3]
    if row.dtype == bool:
        return _arcs(row, no_path)
    values = row.astype(np.float64)
    if row.dtype.kind == "i":
        values[row == np.iinfo(row.dtype).max] = no_path
    return values


def _require_near(case: Case, values: Array, wanted: Array, message: str) -> None:
    relative, absolute = 1e-5, 5e-3 if case.negative else 0.0
    if case.dtype == "float64":
        relative, absolute = 1e-12, 0.0
    np.testing.assert_allclose(values, wanted, relative, absolute, err_msg=message)


def require_row(case: Case, row: Array, wanted: Array, source: int) -> None:
    """Raise AssertionError if a row of an answer is wrong."""
    values, right = _values(case, row), wanted.copy()
    values[source], right[source] = 0, 0  # the empty path: nothing to compute
    _require_near(case, values, right, f"{case.name}: row {source}")


def require_paths(case: Case, matrix: Array, row: Array, predecessors: Array, source: int) -> None:
    """Raise AssertionError if predecessors in a row are not those of best paths from its source."""
    values = _values(case, row)
    extend, _, _, no_path, empty = _ALGEBRA[case.semiring]
    others = np.flatnonzero((np.arange(len(values)) != source) & (values != no_path))
    before = predecessors[others]
    missing = int((before < 0).sum())
    assert not missing, f"{case.name}: {missing} predecessors of row {source} are missing"
    values[source] = empty
    by = extend(values[before], matrix[before, others].astype(np.float64))
    _require_near(case, by, values[others], f"{case.name}: paths of row {source}")
    ancestor = np.where(predecessors >= 0, predecessors, source).astype(np.int64)
    ancestor[source] = source
    for _ in range(len(values).bit_length()):  # twice as far each time
        ancestor = ancestor[ancestor]
    assert (ancestor == source).all(), f"{case.name}: a path of row {source} does not end"


def resident(environment: Environment, case: Case, n: int, most: int) -> Trial:
    """Return the trial of a matrix that fits; ``most`` is the largest n of the experiment."""
    device = _device(environment)
    needed, free = _device_bytes(case, n), device_memory(device).free
    if needed > free:
        raise Skipped(f"needs {size(needed)} on the GPU, and {size(free)} are free there")
    return _trial(environment, case, n, most)


def streamed(environment: Environment, case: Case, n: int, times: float) -> Trial:
    """Return the trial of whole calls with a matrix so many times as large as the usable memory."""
    device = _device(environment)
    trial = _trial(environment, case, n, n)
    call, budget = trial.run, int(_device_bytes(case, n) / times)

    def run() -> kl.Result:
        limited = _limited(device_memory(device).used + budget) if times > 1 else nullcontext()
        with limited:
            result: kl.Result = call()
        return result

    trial.run = run
    # Copies and computation overlap: the whole call counts.
    trial.parts = lambda result: Parts(compute=result.stats.total)
    return trial


def ceiling_of(environment: Environment, case: Case, device: str, threads: int | None) -> float:
    """Return the relaxations per second that a device's arithmetic allows, measured once."""
    key = (case.semiring, case.dtype, case.negative, case.paths and device == "cpu")
    measured = partial(
        relaxation_ceiling, case.semiring, case.dtype, device=device, threads=threads,
        predecessors=case.paths and device == "cpu", nonnegative=not case.negative,
        seconds=0.01 if environment.quick else 0.1,
    )  # fmt: skip
    return environment.kept("ceiling", (device, threads, *key), measured)


def _trial(environment: Environment, case: Case, n: int, most: int) -> Trial:
    weights = _weights(environment, most)
    matrix = weights.matrix(case, n)
    graph = environment.last(
        "matrix", (case._replace(paths=False), n, most), partial(_graph, matrix)
    )

    def check(result: kl.Result) -> str:
        rows = np.random.default_rng(0).integers(0, n, 1 if n > 8192 else 2).tolist()
        for source in rows:
            key = (case.name, n, source)
            if key not in weights.right:
                weights.right[key] = best_row(case, matrix, source, weights.heights)
            require_row(case, result.distances[source], weights.right[key], source)
            if result.predecessors is not None:
                row, own = result.distances[source], result.predecessors[source]
                require_paths(case, matrix, row, own, source)
        return f"{len(rows)} of {n} rows computed again by Dijkstra's algorithm"

    device = _device(environment)
    call = partial(
        kl.closure, graph, case.semiring, method="tiled", device=device, predecessors=case.paths
    )
    return Trial(
        call, check, parts_of, n, n * n, "tiled", case.dtype, None, float(n) ** 3, "relaxations",
        ceiling_of(environment, case, device, None), 3 if n > 2048 else 9,
    )  # fmt: skip


def _graph(matrix: Array) -> kl.Graph:
    if matrix.dtype == bool:  # sparse: as a matrix of weights it would take four times the memory
        tails, heads = np.nonzero(matrix)
        return kl.Graph.from_edges(tails, heads, n=len(matrix))
    return kl.Graph.from_dense(matrix, null_value=np.inf)


def _device(environment: Environment) -> str:
    assert environment.gpu is not None
    environment.unplace()  # frees memory
    return environment.gpu


def _device_bytes(case: Case, n: int) -> int:
    """Return about how many bytes of device memory a closure takes: a matrix of whole tiles."""
    if case.dtype == "bool":
        return n * n // 8 + 2**21
    padded, width = -(-n // 128) * 128, 8 if "64" in case.dtype else 4
    matrices = 3 if case.paths else 1
    return matrices * padded * padded * width + 256 * padded * width + 2**20


def _weights(environment: Environment, most: int) -> Weights:
    needed = 16 * most * most  # weights, a matrix, the graph's own, the answer
    if needed > environment.memory:
        raise Skipped(f"needs {size(needed)}; {size(environment.memory)} are free")
    return environment.last("weights", most, lambda: Weights(most))


@contextmanager
def _limited(nbytes: int) -> Iterator[None]:
    """Let calls take no more of a GPU's memory."""
    before = os.environ.get("KLEENE_DEVICE_MEMORY")
    os.environ["KLEENE_DEVICE_MEMORY"] = str(nbytes)
    try:
        yield
    finally:
        del os.environ["KLEENE_DEVICE_MEMORY"]
        if before is not None:
            os.environ["KLEENE_DEVICE_MEMORY"] = before
