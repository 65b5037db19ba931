"""Matrices, trees, graphs and generators at their borders: edges of memory, ties, exact sums."""

from __future__ import annotations

import threading
import time
import zlib
from typing import Any

import numpy as np
import pytest
from fences import fenced

import kleene as kl
from kleene import _native

LEVELS = range(len(_native.simd_levels()))
INF = np.inf
ENGINES = ("tiled", "blocked", "min_plus", "rkleene", "rkleene_quadtree")


# ---- matrices ---------------------------------------------------------------------------------


def test_arcs_are_the_first_predecessors() -> None:
    offsets, neighbors = np.array([0, 2, 3, 3]), np.array([1, 2, 0], np.int32)
    matrix, predecessors = np.empty((3, 3)), np.empty((3, 3), np.int32)
    weights = np.array([4.0, INF, 2.0])
    _native.closure_fill(
        "min_plus", offsets, neighbors, weights, None, INF, matrix, predecessors, 1
    )
    assert matrix.tolist() == [[0, 4, INF], [2, 0, INF], [INF, INF, 0]]
    assert predecessors.tolist() == [[-1, 0, -1], [1, -1, -1], [-1, -1, -1]]


@pytest.mark.parametrize("paths", [False, True])
@pytest.mark.parametrize("n", [1, 23, 24, 25, 48, 96, 120])
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_beyond_a_matrix_is_read(n: int, engine: str, paths: bool) -> None:
    ring = np.full((n, n), INF)
    ring[np.arange(n), (np.arange(n) + 1) % n] = 1
    np.fill_diagonal(ring, 0)
    wanted = np.subtract.outer(-np.arange(n), -np.arange(n)) % n
    before = np.where(ring == 1, np.arange(n)[:, None], -1).astype(np.int32)
    for threads in (1, 2):
        matrix, predecessors = fenced(ring), fenced(before) if paths else None
        assert _native.closure(engine, "min_plus", matrix, predecessors, threads)
        assert np.array_equal(matrix, wanted)
        if predecessors is not None:
            ends = np.where(wanted > 0, (np.arange(n) - 1) % n, -1)
            assert np.array_equal(predecessors, ends)


@pytest.mark.parametrize("n", [1, 5, 16, 65])
def test_nothing_beyond_a_matrix_of_arcs_is_read(n: int) -> None:
    entries = np.random.default_rng(n).integers(-1, 2, (n, n)).astype(float)
    offsets, neighbors, weights = _native.csr_from_matrix(fenced(entries), True, 2)
    got = np.zeros((n, n))
    got[np.repeat(np.arange(n), np.diff(offsets)), neighbors] = weights
    np.fill_diagonal(entries, np.minimum(np.diagonal(entries), 0))
    assert np.array_equal(got, entries)


@pytest.mark.parametrize("semiring", ["max_times", "max_min", "min_plus"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("level", LEVELS)
def test_chains_lead_to_their_source(semiring: str, dtype: Any, level: int) -> None:
    """As the engine leaves them: repairs of chains would hide wrong ones. Ties are everywhere."""
    n, rng = 75, np.random.default_rng(5)
    none, one, worse = {
        "max_times": (0.0, 1.0, 0.5), "max_min": (-INF, INF, 0.5), "min_plus": (INF, 0.0, 1.0)
    }[semiring]  # fmt: skip
    arcs = np.full((n, n), none, dtype)
    arcs[rng.integers(0, n, 4 * n), rng.integers(0, n - 3, 4 * n)] = worse
    arcs[rng.integers(0, n, n), rng.integers(0, n - 3, n)] = 0.0 if semiring == "min_plus" else 1.0
    np.fill_diagonal(arcs, one)
    times = {"max_times": np.multiply, "max_min": np.minimum, "min_plus": np.add}[semiring]
    best = np.minimum if semiring == "min_plus" else np.maximum
    wanted = arcs.copy()
    for k in range(n):
        wanted = best(wanted, times(wanted[:, k, None], wanted[None, k, :]))
    for threads in (1, 2):
        values = arcs.copy()
        predecessors = np.where(arcs == none, -1, np.arange(n)[:, None]).astype(np.int32)
        np.fill_diagonal(predecessors, -1)
        assert _native.closure("tiled", semiring, values, predecessors, threads, 24, level)
        assert np.array_equal(values, wanted)
        sources, ends = np.nonzero(predecessors >= 0)
        assert len(sources) == np.count_nonzero(values != none) - n
        before = predecessors[sources, ends]
        through = times(values[sources, before], arcs[before, ends])
        assert np.array_equal(through, values[sources, ends])
        for _ in range(n):  # all chains a step at a time
            before = np.where(before == sources, before, predecessors[sources, before])
            assert (before >= 0).all()
        assert (before == sources).all()


def matrix_of(n: int, arcs: dict[tuple[int, int], float]) -> Any:
    matrix = np.full((n, n), INF)
    np.fill_diagonal(matrix, 0)
    for (tail, head), weight in arcs.items():
        matrix[tail, head] = weight
    return matrix


def test_a_cycle_that_only_rounding_makes_negative() -> None:
    """It weighs 0.4, and -0.5 where 0.9 vanishes beside 2 ** 53: no vertex is nearer to itself."""
    weights = [0.9, 2.0**53, -(2.0**53), -0.5]
    matrix = matrix_of(4, {(v, (v + 1) % 4): weights[v] for v in range(4)})
    predecessors = np.where(np.isinf(matrix), -1, np.arange(4)[:, None]).astype(np.int32)
    assert _native.closure("tiled", "min_plus", matrix.copy(), predecessors, 1)
    assert np.diagonal(predecessors).tolist() == [-1] * 4
    assert _native.closure("tiled", "min_plus", matrix, None, 1)
    assert np.diagonal(matrix).tolist() == [0] * 4
    g = kl.Graph.from_edges(range(4), [1, 2, 3, 0], weights)
    for engine in ENGINES:
        found = kl.apsp(g, method=engine, device="cpu")
        assert np.diagonal(found.distances).tolist() == [0] * 4


def test_squares_end_where_rounding_goes_on() -> None:
    """A cycle of weight zero: beside 2 ** 53 its arcs count as -2, 0 and 0, time after time."""
    far = 2.0**53 + 4000
    matrix = matrix_of(4, {(0, 1): far, (1, 2): -1.5, (2, 3): 0.75, (3, 1): 0.75})
    assert _native.closure("min_plus", "min_plus", matrix, None, 1)
    assert far - 100 < matrix[0, 1] <= far


@pytest.mark.parametrize(
    ("semiring", "dtype", "one", "none", "tight", "loose"),
    [
        ("max_min", np.float64, INF, -INF, (5, 5), 2),
        ("max_times", np.float32, 1, 0, (0.5, 1), 0.25),
        ("min_plus", np.int32, 0, 2**31 - 1, (5, 0), 7),
    ],
)
def test_circles_are_mended_by_the_best_arcs(
    semiring: str, dtype: Any, one: Any, none: Any, tight: tuple[Any, Any], loose: Any
) -> None:
    """The path 3 2 1 0 and back; the arcs from 3 to 0 and 1 are worse. Then also upside down."""
    first, rest = tight
    ends = np.array([[3, 2], [2, 1], [1, 0], [0, 1], [1, 2], [3, 0], [3, 1]])
    weights = np.array([first, rest, rest, rest, rest, loose, loose], dtype)
    for order in ([0, 1, 2, 3], [2, 1, 0, 3]):
        new = np.array(order)
        g = kl.Graph.from_edges(*new[ends].T, weights, n=4)
        values = np.full((1, 4), first, dtype)
        values[0, 3] = one
        sources = np.array([3], np.int32)
        parents = np.full((1, 4), -1, np.int32)
        parents[0, new[:3]] = new[[1, 0, 1]]  # two in a circle, and one that hangs on it
        loosened = _native.closure_find_detached(sources, values, parents, none, 1)
        assert loosened.tolist() == [True]
        arcs = (g.offsets, g.neighbors, g.weights, g.csc.offsets, g.csc.neighbors, g.csc.weights)
        _native.closure_reattach(semiring, sources, values, parents, none, loosened, *arcs, 1)
        assert parents[0, new].tolist() == [*new[[1, 2, 3]].tolist(), -1]
        assert _native.closure_find_detached(sources, values, parents, none, 1) is None


def test_a_vertex_that_hangs_on_a_circle_is_its_way_in() -> None:
    """Vertex 0 leads to the circle of 1 and 2, all without weight."""
    g = kl.Graph.from_edges([3, 0, 1, 1, 2], [0, 1, 0, 2, 1], [1.0, 0.0, 0.0, 0.0, 0.0])
    sources, values = np.array([3], np.int32), np.array([[1.0, 1.0, 1.0, 0.0]])
    parents = np.array([[1, 2, 1, -1]], np.int32)
    loose = _native.closure_find_detached(sources, values, parents, INF, 1)
    arcs = (g.offsets, g.neighbors, g.weights, g.csc.offsets, g.csc.neighbors, g.csc.weights)
    _native.closure_reattach("min_plus", sources, values, parents, INF, loose, *arcs, 1)
    assert parents.tolist() == [[3, 0, 1, -1]]


def test_progress_is_reported_now_and_then() -> None:
    """Not more often than every 50 ms, however often an engine offers to."""
    n = 96
    matrix = np.full((n, n), INF)
    matrix[np.arange(n - 1), np.arange(1, n)] = 1
    np.fill_diagonal(matrix, 0)
    reports: list[tuple[int, int]] = []
    began = time.monotonic()
    _native.closure(
        "blocked", "min_plus", matrix, None, 1, 4, -1, lambda *report: reports.append(report)
    )
    assert 1 <= len(reports) <= 2 + (time.monotonic() - began) / 0.05
    assert reports[-1] == (n * n, n * n)


@pytest.mark.parametrize("sources", [1, 4])
def test_threads_that_search_for_long(sources: int) -> None:
    """Long enough for reports in the middle of a search, which only the calling thread makes."""
    n = 12000
    g = kl.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
    threads: set[int] = set()
    found = kl.bfs(
        g,
        sources=np.arange(sources),
        method="vertex_push",
        threads=2,
        device="cpu",
        progress=lambda *_: threads.add(threading.get_ident()),
    )
    wanted = np.arange(n) - np.arange(sources)[:, None]
    reached = wanted >= 0
    assert np.array_equal(found.distances[reached], wanted[reached])
    assert threads <= {threading.get_ident()}


# ---- graphs -----------------------------------------------------------------------------------


def build(n: int, tails: Any, heads: Any, weights: Any = None, **options: Any) -> Any:
    settings = {"symmetric": False, "combine": "min", "available": 1 << 40, "threads": 1} | options
    tails, heads = np.asarray(tails, np.int32), np.asarray(heads, np.int32)
    return _native.build_csr(n, tails, heads, weights, **settings)


def test_memory_of_a_build_is_known_to_the_byte() -> None:
    heads = np.arange(100) % 9 + 1
    needed = 8 * (10 + 1) + 8 * 2 + (4 + 4 + 4) * 100  # offsets, cursors; arcs, and again to sort
    with pytest.raises(_native.MemoryNeeded) as caught:
        build(10, np.zeros(100), heads, available=needed - 1)
    assert caught.value.args == (needed,)
    assert build(10, np.zeros(100), heads, available=needed)[1].tolist() == list(range(1, 10))


@pytest.mark.parametrize("n", [1, 2, 4, 7, 8])
def test_arcs_end_before_the_number_of_vertices(n: int) -> None:
    for tail, head, end in ((n, 0, "source"), (0, n, "target"), (-1, 0, "source")):
        with pytest.raises(_native.BadArc) as caught:
            build(n, [0, tail], [n - 1, head])
        assert caught.value.args == (end, 1)


def test_parallel_arcs_are_added_from_the_lightest_on() -> None:
    """In any order of the input; ones vanish beside 2 ** 53, but twos do not."""
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        weights = np.array([1.0, 1.0, 2.0**53])[order]
        csr = build(2, [0, 0, 0], [1, 1, 1], weights, combine="sum")
        assert csr[2].tolist() == [2.0**53 + 2]


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100, 1000])
def test_many_equal_arcs(count: int) -> None:
    for combine, wanted in (("min", 3.0), ("max", 3.0), ("sum", 3.0 * count)):
        csr = build(3, [1] * count, [2] * count, np.full(count, 3.0), combine=combine)
        assert [part.tolist() for part in csr] == [[0, 0, 1, 1], [2], [wanted]]


def canonical(offsets: list[int], neighbors: list[int], weights: Any = None) -> bool:
    """Say whether rows are; in memory the entry before the first is -1."""
    stored = np.array([-1, *neighbors], np.int32)
    values = None if weights is None else np.array(weights)
    return bool(_native.is_canonical(np.array(offsets), stored[1:], values, 1))


def test_canonical_rows() -> None:
    assert canonical([0, 2, 4], [0, 1, 0, 1], [-1.0, 1.0, 1.0, -1.0])
    assert canonical([0, 1, 3, 5], [1, 0, 2, 0, 1])
    assert not canonical([0, 2, 2, 2], [2, 1])
    assert not canonical([0, 2, 2], [1, 1])
    assert not canonical([0, 1], [0])
    bad = (([0, 1], [1], None, ("target", 0)), ([0, 1, 2], [1, 0], [1.0, np.nan], ("weight", 1)))
    for offsets, neighbors, weights, wanted in bad:
        with pytest.raises(_native.BadArc) as caught:
            canonical(offsets, neighbors, weights)
        assert caught.value.args == wanted


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("last", [0, 1, 2])
def test_transposes_and_symmetry_by_runs_of_rows(threads: int, last: int) -> None:
    """Rows of very unequal lengths, and few arcs at the end, which no run may leave out."""
    n, rng = 30, np.random.default_rng(threads)
    matrix = rng.random((n, n)) < 0.9
    matrix[n - 1] = np.arange(n) < last
    np.fill_diagonal(matrix, False)
    offsets = np.concatenate([[0], np.cumsum(matrix.sum(1))])
    neighbors = np.nonzero(matrix)[1].astype(np.int32)
    got = _native.csr_transpose(offsets, neighbors, None, threads)
    assert got[0].tolist() == [0, *np.cumsum(matrix.sum(0)).tolist()]
    assert got[1].tolist() == np.nonzero(matrix.T)[1].tolist()
    assert not _native.csr_is_symmetric(offsets, neighbors, None, threads)
    matrix |= matrix.T
    offsets = np.concatenate([[0], np.cumsum(matrix.sum(1))])
    neighbors = np.nonzero(matrix)[1].astype(np.int32)
    assert _native.csr_is_symmetric(offsets, neighbors, None, threads)


# ---- generators -------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [0, 3, 4, 5, 9])
def test_paths_and_as_many_more_arcs_as_there_are(extra: int) -> None:
    tails, heads = _native.path_plus_arcs(5, extra, 1, 1)
    into = np.bincount(heads, minlength=5).tolist()
    assert into == [min(extra, 4)] + [min(extra + 1, 4)] * 4
    arcs = set(zip(tails.tolist(), heads.tolist(), strict=True))
    assert len(arcs) == sum(into)
    assert {(v, v + 1) for v in range(4)} <= arcs
    assert all(tail != head and 0 <= tail < 5 for tail, head in arcs)


@pytest.mark.parametrize(
    ("cap", "digest"), [(63, 1386512972), (64, 4003472769), (65, 549817476), (128, 2548129402)]
)
def test_capped_graphs_stay_as_they_are(cap: int, digest: int) -> None:
    """A seed names a graph for good, at the borders of the words that are drawn too."""
    offsets, neighbors = _native.capped_rows(200, 2000, cap, False, 7, 2)[:2]
    assert np.diff(offsets).max() <= cap
    assert zlib.crc32(neighbors.tobytes(), zlib.crc32(offsets.tobytes())) == digest
