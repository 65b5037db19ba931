"""Rates of the tiled engine on a GPU, beside a ceiling: matrices, what is right, what is timed.

The matrix is on the device when the clock starts and when it stops. Rows of the answer, chosen at
random, are computed again by Dijkstra's algorithm on the host, in NumPy, before a rate counts; with
paths, every predecessor of those rows must be tight and lead to the source.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.cpu.closure import Form
from kleene.cuda.closure import Closer, Layout
from kleene.cuda.recover import recover
from kleene.cuda.runtime import Array as DeviceArray
from kleene.cuda.runtime import Device
from kleene.machine import cores

Array = NDArray[Any]


class Case(NamedTuple):
    """What the engine is asked for."""

    semiring: str
    dtype: str  # of the matrix on the host; uint64 for bits
    paths: bool = False
    negative: bool = False
    tracked: bool = False  # paths noted while distances are found, where the engine would not

    def __str__(self) -> str:
        told = (self.negative, "negative"), (self.paths, "paths"), (self.tracked, "tracked")
        return ", ".join([self.semiring, *(name for is_so, name in told if is_so)])

    @property
    def recovered(self) -> bool:
        """Are predecessors found from the distances, after them?"""
        return self.paths and self.semiring == "min_plus" and not (self.negative or self.tracked)

    @property
    def shown(self) -> str:
        return "bool" if self.dtype == "uint64" else self.dtype

    def layout(self, n: int) -> Layout:
        form = Form("tiled", self.semiring, np.dtype(self.dtype), 0)
        return Layout.of(form, n, not self.negative, self.paths and not self.recovered)


def _both(*given: Any, **named: Any) -> list[Case]:
    return [Case(*given, **named), Case(*given, paths=True, **named)]


PLAIN = Case("min_plus", "float32")
CASES = [
    *_both("min_plus", "float32"),
    Case("min_plus", "float32", paths=True, tracked=True),
    *_both("min_plus", "float32", negative=True),
    *_both("min_plus", "int32"),
    Case("min_plus", "int32", paths=True, tracked=True),
    Case("min_plus", "int16"),
    Case("boolean", "uint64"),
    *_both("max_min", "float32"),
    *_both("max_times", "float32"),
    *_both("min_plus", "float64"),
    *_both("min_plus", "int64"),
]


def sizes_of(case: Case) -> list[int]:
    """List the numbers of vertices to measure, the most telling first."""
    if case == PLAIN:
        return [16384, 8192, 4096, 2048, 1024, 32768]
    if case == PLAIN._replace(paths=True):
        return [16384, 8192, 4096]
    if case.tracked or case.dtype == "int64" or (case.paths and case.dtype != "int32"):
        return [8192]
    return [16384, 8192, 32768] if case.semiring == "boolean" else [8192, 16384]


# ---- matrices -----------------------------------------------------------------------------------


class Weights:
    """Random weights from 1 to 1000, made once: smaller matrices are corners of the largest."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._all = np.empty((most, most), np.float32)
        self.heights = np.random.default_rng(1).random(most) * 2000

        def fill(first: int) -> None:
            part = self._all[first : first + 256]
            np.random.default_rng(first).random(dtype=np.float32, out=part)
            part *= 999
            part += 1

        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(fill, range(0, most, 256)))

    def matrix(self, case: Case, n: int) -> Array:
        """Return a matrix that the engine can close."""
        if case.semiring == "boolean":
            return _bits(n)
        corner = self._all[:n, :n]
        if case._replace(paths=False, tracked=False) == PLAIN:
            np.fill_diagonal(corner, 0)  # no weight of a vertex to itself is ever of use
            return corner
        if case.semiring == "min_plus":
            whole = corner.astype(case.dtype)
            if case.negative:  # of a walk downhill; no cycle is negative
                whole += self._slopes(n).astype(case.dtype)
            np.fill_diagonal(whole, 0)
            return whole
        whole = (corner * np.float32(0.001)).astype(case.dtype)
        np.fill_diagonal(whole, 1 if case.semiring == "max_times" else np.inf)
        return whole

    def _slopes(self, n: int) -> Array:
        return np.subtract.outer(-self.heights[:n], -self.heights[:n]).astype(np.float32)


def _bits(n: int) -> Array:
    """Return the matrix of a sparse graph, 64 columns a word, so that not all pairs are joined."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, 2 * n))
    s, t = np.append(s, np.arange(n)), np.append(t, np.arange(n))
    words = np.zeros((n, -(-n // 64)), np.uint64)
    np.bitwise_or.at(words, (s, t // 64), np.uint64(1) << (t % 64).astype(np.uint64))
    return words


# ---- what is right ------------------------------------------------------------------------------

_ALGEBRA: dict[str, tuple[Any, Any, Any, float, float]] = {
    # extend a path, the better of two, the place of the best, no path, the empty path
    "min_plus": (np.add, np.minimum, np.argmin, np.inf, 0.0),
    "max_min": (np.minimum, np.maximum, np.argmax, -np.inf, np.inf),
    "max_times": (np.multiply, np.maximum, np.argmax, -np.inf, 1.0),
}


def best_row(case: Case, matrix: Array, source: int, heights: Array | None) -> Array:
    """Return what leads from a source to every vertex, by settling the best vertex again and again.

    With heights, arcs count as if the ground were level, which makes them positive, and the row is
    put right after.
    """
    if case.semiring == "boolean":
        return _reached(matrix, source)
    extend, better, place, worst, empty = _ALGEBRA[case.semiring]
    n = len(matrix)
    level = np.zeros(n) if heights is None else heights
    waiting, row, todo = np.full(n, worst), np.empty(n), np.ones(n, bool)
    waiting[source] = empty
    for _ in range(n):
        u = int(place(waiting))
        row[u], waiting[u], todo[u] = waiting[u], worst, False
        arcs = matrix[u].astype(np.float64)
        if heights is not None:
            arcs -= level - level[u]
        better(waiting, extend(row[u], arcs), out=waiting, where=todo)
    return row + level - level[source]


def _reached(words: Array, source: int) -> Array:
    n = len(words)
    seen = np.zeros(n, bool)
    new = np.array([source])
    while len(new):
        seen[new] = True
        union = np.bitwise_or.reduce(words[new], axis=0)
        new = np.flatnonzero(unpacked(union, n) & ~seen)
    return seen


def unpacked(words: Array, n: int) -> Array:
    """Return the truth values of a row of bits."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:n].astype(bool)


def require_right(
    case: Case, matrix: Array, closed: Array, last: Array | None, sources: Array, heights: Array
) -> None:
    """Raise AssertionError if a row of the answer is wrong, or a path."""
    near = {"rtol": 1e-5, "atol": 5e-3 if case.negative else 0}
    if case.dtype == "float64":
        near = {"rtol": 1e-12, "atol": 0}
    for source in map(int, sources):
        wanted = best_row(case, matrix, source, heights[: len(matrix)] if case.negative else None)
        if case.semiring == "boolean":
            assert (unpacked(closed[source], len(matrix)) == wanted).all(), f"{case}: row {source}"
            continue
        got = closed[source].astype(np.float64)
        got[source], wanted[source] = 0, 0  # the empty path: nothing to compute
        np.testing.assert_allclose(got, wanted, **near, err_msg=f"{case}: row {source}")
        if last is not None:
            _require_paths(
                case, matrix, closed[source].astype(np.float64), last[source], source, near
            )


def _require_paths(
    case: Case, matrix: Array, row: Array, last: Array, source: int, near: dict[str, float]
) -> None:
    # Where rounding hides who comes before, nobody is named, and the caller looks again.
    others = np.flatnonzero((np.arange(len(row)) != source) & (last >= 0))
    unknown = len(row) - 1 - len(others)
    assert unknown <= (len(row) // 100 if case.recovered and case.dtype[0] == "f" else 0)
    before = last[others]
    extend, empty = _ALGEBRA[case.semiring][0], _ALGEBRA[case.semiring][4]
    row[source] = empty
    by = extend(row[before], matrix[before, others].astype(np.float64))
    np.testing.assert_allclose(by, row[others], **near, err_msg=f"{case}: paths of row {source}")
    ancestor = np.where(last >= 0, last, source).astype(np.int64)
    ancestor[source] = source
    for _ in range(len(row).bit_length()):  # twice as far each time
        ancestor = ancestor[ancestor]
    assert (ancestor == source).all(), f"{case}: a path of row {source} does not end"


# ---- what is timed ------------------------------------------------------------------------------


class Silent:
    """A task that is told how far the work is, and says nothing."""

    threads = cores()

    def report(self, done: int, total: int) -> None:
        pass


class Rate(NamedTuple):
    """Times of one case, in milliseconds."""

    run: float
    copy_in: float
    copy_out: float


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds of a call on the host's clock."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def measure(device: Device, case: Case, n: int, weights: Weights, repeats: int, rows: int) -> Rate:
    """Close a matrix some times after a warm-up; the answer is checked before the time counts."""
    matrix = weights.matrix(case, n)
    last = None
    if case.paths:
        last = np.broadcast_to(np.arange(n, dtype=np.int32)[:, None], (n, n)).copy()
    closer = Closer(device, case.layout(n))

    def upload() -> None:
        closer.upload(matrix, None if case.recovered else last)
        device.synchronize()

    copy_in = timed(upload)
    arcs = device.empty(closer.matrix.shape, closer.matrix.dtype) if case.recovered else None
    again = [(closer.matrix, closer.matrix), (closer.last, closer.last), (arcs, closer.matrix)]
    kept = [(to, _copy(device, of)) for to, of in again if to is not None and of is not None]
    found = closer.last
    times: list[float] = []
    while len(times) <= (repeats if not times or times[0] < 1000 else 1):
        for to, of in kept:
            device.copy(to, of)
        device.synchronize()
        begun = device.main.record()
        assert closer.run(Silent().report), f"{case}: no cycle is negative"  # type: ignore[arg-type]
        if arcs is not None:
            found = recover(device, arcs, closer.matrix, n)
        times.append(device.main.record().milliseconds_since(begun))
    closed = np.empty(matrix.shape, matrix.dtype)

    def download() -> None:
        closer.download(closed, None)
        if last is not None:
            assert found is not None, f"{case}: no predecessors were found"
            device.download(found[:n, :n], last)

    copy_out = timed(download)
    sources = np.random.default_rng(0).integers(0, n, rows)
    require_right(case, matrix, closed, last, sources, weights.heights)
    return Rate(statistics.median(times[1:]), copy_in, copy_out)


def _copy(device: Device, array: DeviceArray) -> DeviceArray:
    copy = device.empty(array.shape, array.dtype)
    device.copy(copy, array)
    return copy


@cache
def graph_for(case: Case, n: int) -> kl.Graph:
    """Return a graph in which one pair in 16 has an arc, for the public interface."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, max(1, n * n // 16)), dtype=np.int32)
    if case.dtype == "int16":  # hop counts: the engine finds by itself that they are short
        return kl.Graph.from_edges(s, t, n=n)
    if case.semiring == "boolean":
        return kl.Graph.from_edges(s[: 2 * n], t[: 2 * n], n=n)
    w = rng.random(len(s)) * (1000 if case.semiring == "min_plus" else 1)
    if case.negative:
        heights = rng.random(n) * 2000
        w += heights[t] - heights[s]
    return kl.Graph.from_edges(s, t, w.astype(case.dtype), n=n)


def call(case: Case, n: int, device: str) -> float:
    """Return the seconds of a call from arcs to answer, which is proved on some rows."""

    def run(size: int) -> kl.Result:
        g = graph_for(case._replace(paths=False, tracked=False), size)
        return kl.closure(g, case.semiring, predecessors=case.paths, method="tiled", device=device)

    run(min(n, 64))  # loads the kernels
    graph_for(case._replace(paths=False, tracked=False), n)
    began = time.perf_counter()
    result = run(n)
    seconds = time.perf_counter() - began
    result.verify(sample=min(4, n))
    return seconds


# ---- the ceiling --------------------------------------------------------------------------------

_DOWN, _THREADS, _GIVEN = 8, 256, 64  # kDown, kThreads, kGiven


def across(layout: Layout) -> int:
    """Words across in the registers of a thread: kAcross."""
    return 4 if layout.word.itemsize == 8 else 16


def ceiling(device: Device, layout: Layout, rounds: int, blocks: int = 0) -> tuple[float, Array]:
    """Return relaxations a second of a loop that has everything in registers, and what it found."""
    kernel = device.kernels("dense_ceiling", KL_ALGEBRA=layout.algebra)["dense_ceiling"]
    blocks = blocks or kernel.resident_blocks(_THREADS)
    given = device.upload(given_words(layout.word))
    found = device.empty(blocks * _THREADS, layout.word)
    by = 0.999 if "TIMES" in layout.algebra else 1
    times = []
    for _ in range(4):
        begun = device.main.record()
        kernel.launch((blocks,), (_THREADS,), (given, by, rounds, found))
        times.append(device.main.record().milliseconds_since(begun))
    each = 2 * 2 * _DOWN * across(layout) * layout.lanes  # relaxations of a thread in a round
    seconds = max(statistics.median(times[1:]), 1e-6) / 1e3
    return blocks * _THREADS * rounds * each / seconds, device.download(found)


def given_words(word: np.dtype[Any]) -> Array:
    """Return the factors that the loop begins with."""
    words = np.random.default_rng(2).permutation(_GIVEN) + 1
    return (words / _GIVEN).astype(word) if word.kind == "f" else words.astype(word)
