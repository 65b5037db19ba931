"""Native bounded searches and labels of facilities: types, threads, ties, windows, interruption."""

from __future__ import annotations

import heapq
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene import _native
from kleene.graph.no_path import no_path

KINDS = [np.int32, np.int64, np.float32, np.float64]
IDS = [np.int32, np.int64]
ALL = np.iinfo(np.int64).max


def arrays(g: kl.Graph, ids: Any, kind: Any) -> tuple[Any, Any, Any]:
    assert g.weights is not None
    return g.offsets, g.neighbors.astype(ids), g.weights.astype(kind)


def farthest(kind: Any) -> Any:
    return np.array([no_path(np.dtype(kind))], dtype=kind)


def bounded(
    parts: Any, sources: Any, limits: Any, most: int = ALL, threads: int = 2, **options: Any
) -> Any:
    options = {"predecessors": True, "available": 2**62, "progress": None} | options
    offsets, neighbors, lengths = parts
    return _native.bounded_search(
        offsets, neighbors, lengths, np.asarray(sources, neighbors.dtype), np.asarray(limits), most,
        threads=threads, **options,
    )  # fmt: skip


def plain_search(parts: Any, source: int) -> dict[int, Any]:
    """Dijkstra's algorithm with Python's heap, in the type of the lengths."""
    offsets, neighbors, lengths = parts
    done: dict[int, Any] = {}
    heap = [(lengths.dtype.type(0), source)]
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done[u] = d
        for i in range(offsets[u], offsets[u + 1]):
            heapq.heappush(heap, (d + lengths[i], int(neighbors[i])))
    return done


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", IDS)
def test_bounded_searches_of_every_type(kind: Any, ids: Any) -> None:
    g = kl.generate.uniform(300, 1500, weights=(0, 9), seed=1, threads=1)
    parts = arrays(g, ids, kind)
    sources = np.arange(0, 300, 7)
    limits = (np.arange(len(sources)) / 2).astype(kind)
    for threads in (1, 2, 5):
        offsets, vertices, distances, predecessors = bounded(
            parts, sources, limits, threads=threads
        )
        assert (vertices.dtype, distances.dtype, predecessors.dtype) == (ids, kind, ids)
        for row, (source, limit) in enumerate(zip(sources.tolist(), limits, strict=True)):
            right = {v: d for v, d in plain_search(parts, source).items() if d <= limit}
            held = slice(offsets[row], offsets[row + 1])
            assert vertices[held].tolist() == sorted(right)
            assert distances[held].tolist() == [right[v] for v in sorted(right)]


@pytest.mark.parametrize("kind", KINDS)
def test_levels_are_a_search_with_lengths_of_one(kind: Any) -> None:
    g = kl.generate.uniform(400, 1200, seed=2, threads=1)
    ones = g.offsets, g.neighbors, np.ones(g.m, kind)
    levels = g.offsets, g.neighbors, None
    sources = np.arange(0, 400, 9)
    for limit in (0, 1, 3, 100):
        for most in (1, 5, 40, ALL):
            bound = np.array([limit], kind)
            by_heap = bounded(ones, sources, bound, most, threads=1)
            by_level = bounded(levels, sources, bound, most, threads=3)
            for ours, theirs in zip(by_heap, by_level, strict=True):
                assert (ours == theirs).all()


def test_a_search_forgets_the_one_before() -> None:
    """One thread searches again and again in the same memory."""
    g = kl.generate.grid(30, 30, weights=(1, 5), seed=1)
    parts = arrays(g, np.int32, np.int32)
    rng = np.random.default_rng(1)
    sources = rng.integers(0, 900, 200)
    limits = rng.integers(0, 60, 200).astype(np.int32)
    together = bounded(parts, sources, limits, threads=1)
    for row in range(200):
        alone = bounded(parts, sources[row : row + 1], limits[row : row + 1], threads=1)
        held = slice(together[0][row], together[0][row + 1])
        for ours, theirs in zip(together[1:], alone[1:], strict=True):
            assert (ours[held] == theirs).all()


def test_memory_that_an_answer_would_need() -> None:
    g = kl.generate.grid(40, 40)
    parts = g.offsets, g.neighbors, None
    limit = np.array([5], np.int32)
    offsets, *_ = bounded(parts, np.arange(1600), limit)
    exact = 2 * 12 * int(offsets[-1])
    bounded(parts, np.arange(1600), limit, available=exact)
    for threads in (1, 3):
        with pytest.raises(_native.MemoryNeeded) as error:
            bounded(parts, np.arange(1600), limit, available=exact // 2, threads=threads)
        assert error.value.args[0] == pytest.approx(exact, rel=0.5)


def labels(
    parts: Any, facilities: Any, k: int, threads: int, kind: Any, progress: Any = None
) -> Any:
    offsets, neighbors, lengths = parts
    n = len(offsets) - 1
    distances = np.full((n, k), no_path(np.dtype(kind)), dtype=kind)
    which = np.full((n, k), -1, dtype=neighbors.dtype)
    _native.k_nearest(
        offsets, neighbors, lengths, np.asarray(facilities, neighbors.dtype), farthest(kind), k,
        distances, which, threads, progress,
    )  # fmt: skip
    return distances, which


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", IDS)
def test_labels_of_every_type(kind: Any, ids: Any) -> None:
    g = kl.generate.uniform(600, 3600, weights=(0, 9), seed=3, threads=1)
    parts = arrays(g, ids, kind)
    facilities = np.random.default_rng(4).integers(0, 600, 12)
    rows = [plain_search(parts, int(f)) for f in facilities]
    for k in (1, 3, 12):
        for threads in (1, 3):
            distances, which = labels(parts, facilities, k, threads, kind)
            for v in range(0, 600, 5):
                right = sorted((row[v], i) for i, row in enumerate(rows) if v in row)[:k]
                found = [
                    (d, i)
                    for d, i in zip(distances[v].tolist(), which[v].tolist(), strict=True)
                    if i >= 0
                ]
                assert found == right


@pytest.mark.parametrize("kind", KINDS)
def test_labels_do_not_depend_on_threads(kind: Any) -> None:
    """Tenths in floats: sums that rounding makes equal, or not, by the order of the arcs."""
    g = kl.generate.grid(90, 90, weights=(1, 4), seed=1)
    offsets, neighbors, lengths = arrays(g, np.int32, kind)
    if kind in (np.float32, np.float64):
        lengths = lengths / kind(10)
    parts = offsets, neighbors, lengths
    facilities = np.random.default_rng(5).integers(0, g.n, 60)
    one = labels(parts, facilities, 4, 1, kind)
    for threads in (2, 3, 4):
        for _ in range(2):
            for ours, theirs in zip(one, labels(parts, facilities, 4, threads, kind), strict=True):
                assert (ours == theirs).all()


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_lengths_beyond_the_window(kind: Any) -> None:
    """Most lengths are small and some huge: labels wait in the far pile, and the window moves."""
    rng = np.random.default_rng(6)
    n, m = 500, 1500
    lengths = np.where(rng.random(m) < 0.7, rng.integers(1, 9, m), rng.integers(1, 2**40, m))
    g = kl.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), lengths.astype(kind), n=n)
    parts = g.offsets, g.neighbors, g.weights
    facilities = rng.integers(0, n, 12)
    rows = [plain_search(parts, int(f)) for f in facilities]
    for threads in (1, 2):
        distances, which = labels(parts, facilities, 3, threads, kind)
        for v in range(n):
            right = sorted((row[v], i) for i, row in enumerate(rows) if v in row)[:3]
            held = which[v] >= 0
            found = list(zip(distances[v][held].tolist(), which[v][held].tolist(), strict=True))
            assert found == right


@pytest.mark.parametrize("kind", KINDS)
def test_owners_follow_from_distances(kind: Any) -> None:
    g = kl.generate.uniform(1000, 4000, weights=(0, 5), seed=7, threads=1)
    parts = arrays(g, np.int32, kind)
    facilities = np.random.default_rng(8).integers(0, 1000, 25).astype(np.int32)
    distances, which = labels(parts, facilities, 1, 1, kind)
    owners = np.full(1000, -1, np.int32)
    _native.nearest_owners(*parts, facilities, distances[:, 0].copy(), owners)
    assert (owners == which[:, 0]).all()


def test_arrays_of_wrong_types_are_refused() -> None:
    g = kl.generate.grid(4, 4, weights=(1, 5), seed=1)
    parts = arrays(g, np.int32, np.int32)
    with pytest.raises(TypeError):
        bounded(parts, [0], np.array([3.0]))  # lengths are integers
    with pytest.raises(TypeError):
        bounded((parts[0], parts[1], parts[2][:-1].copy()), [0], np.array([3], np.int32))
    with pytest.raises(TypeError):
        _native.bounded_search(
            *parts, np.zeros(1, np.int64), np.array([3], np.int32), ALL, True, 2**62, 1, None
        )
    with pytest.raises(TypeError):
        labels((parts[0], parts[1].astype(np.int64), parts[2]), [0], 1, 1, np.float64)


def long_calls() -> dict[str, Callable[[Any], object]]:
    g = kl.generate.grid(400, 400, weights=(1, 9), seed=1)
    parts = arrays(g, np.int32, np.int32)
    every, limit = np.arange(g.n), farthest(np.int32)
    facilities = np.arange(0, g.n, 40)
    return {
        "bounded": lambda p: bounded(parts, every, limit, progress=p),
        "levels": lambda p: bounded((*parts[:2], None), every, limit, progress=p),
        "labels": lambda p: labels(parts, facilities, 300, 2, np.int32, p),
    }


@pytest.mark.parametrize("name", ["bounded", "levels", "labels"])
def test_interrupt(name: str) -> None:
    """Ctrl-C ends a long call soon."""
    call = long_calls()[name]

    def work() -> None:
        for _ in range(1000):  # one would do on a slow machine
            call(None)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", ["bounded", "levels", "labels"])
def test_a_progress_function_that_raises(name: str) -> None:
    def stop(done: int, total: int) -> None:
        assert 0 <= done <= total
        raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        long_calls()[name](stop)
