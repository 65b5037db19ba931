"""The dense engines: every edge, type, instruction set and thread count; cycles, chains, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from processor_time import taken_by

import kleene as kl
from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.cpu import closure
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.proofs.paths import PathValues, verify

Array = NDArray[Any]

#: Around the sides of vectors, tiles, blocks and words of bits.
SIZES = (
    0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191,
    193, 257,
)  # fmt: skip
LEVELS = range(len(_native.simd_levels()))
ENGINES = ("floyd_warshall", "blocked", "min_plus", "rkleene", "rkleene_quadtree", "tiled")


def random_graph(n: int, dtype: Any = np.float64, arcs: int = 4, seed: int = 0) -> kl.Graph:
    """Sparse enough that some pairs have no path; weights are multiples of 1/64, so sums agree."""
    rng = np.random.default_rng([n, seed])
    m = arcs * n if n > 1 else 0
    weights = rng.integers(0, 64, m).astype(dtype)
    if np.dtype(dtype).kind == "f":
        weights /= 64
    return kl.Graph.from_edges(
        rng.integers(0, max(n, 1), m), rng.integers(0, max(n // 2, 1), m), weights, n=n
    )


def by_numpy(g: kl.Graph, semiring: str, dtype: Any) -> Array:
    """Close the matrix one vertex at a time."""
    s, dtype = SEMIRINGS[semiring], np.dtype(dtype)
    matrix = np.full((g.n, g.n), s.zero(dtype), dtype)
    matrix[g.coo.sources, g.coo.targets] = True if dtype.kind == "b" else g.weights
    np.fill_diagonal(matrix, s.one(dtype))
    for k in range(g.n):
        through = s.times(matrix[:, k, None], matrix[None, k, :])
        np.copyto(matrix, through, where=s.better(through, matrix))
    return matrix


def task(g: kl.Graph, semiring: str = "min_plus", dtype: Any = None, **options: Any) -> Task:
    dtype = np.dtype(bool if semiring == "boolean" else dtype or g.weights.dtype)  # type: ignore[union-attr]
    sources = options.pop("sources", np.arange(g.n, dtype=np.int32))
    options = {"predecessors": False, "threads": 1} | options
    return Task(g, SEMIRINGS[semiring], sources, None, None, dtype=dtype, **options)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_every_size_level_and_thread_count(n: int, dtype: Any) -> None:
    g = random_graph(n, dtype)
    wanted = by_numpy(g, "min_plus", dtype)
    for level in LEVELS:
        for paths in (False, True):
            got = closure.close("tiled", task(g, predecessors=paths), level=level)
            assert np.array_equal(got.values, wanted), (n, level, paths)
    for threads in (2, 3, 8):
        # Straight to the engine: small matrices get one thread otherwise.
        matrix = np.full((n, n), np.inf)
        matrix[g.coo.sources, g.coo.targets] = g.weights
        np.fill_diagonal(matrix, 0)
        assert _native.closure("tiled", "min_plus", matrix, None, threads, block=24)
        none = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
        assert np.array_equal(matrix, np.where(wanted == none, np.inf, wanted))


@pytest.mark.parametrize("n", [1, 17, 63, 64, 65, 129, 200])
@pytest.mark.parametrize("semiring", ["max_min", "max_times", "boolean"])
@pytest.mark.parametrize("paths", [False, True])
def test_other_semirings(n: int, semiring: str, paths: bool) -> None:
    g = random_graph(n, arcs=2)
    types = [bool] if semiring == "boolean" else [np.float32, np.float64]
    for dtype in types + ([np.int32, np.int64] if semiring == "max_min" else []):
        weighted = g.reweight(arcs=g.weights * 64) if np.dtype(dtype).kind == "i" else g
        wanted = by_numpy(weighted, semiring, dtype)
        for level in LEVELS:
            t = task(weighted, semiring, dtype, predecessors=paths)
            got = closure.close("tiled", t, level=level)
            np.testing.assert_allclose(got.values, wanted, rtol=1e-5)
    kl.closure(g, semiring, predecessors=paths, method="tiled", device="cpu").verify()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [0, 1, 2, 33, 64, 65, 100, 129])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_engine(engine: str, n: int, threads: int) -> None:
    for dtype in (np.float32, np.int64):
        g = random_graph(n, dtype)
        wanted = by_numpy(g, "min_plus", dtype)
        for block in (0, 7, 64) if engine in ("blocked", "tiled") else (0,):
            t = task(g, predecessors=True, threads=threads)
            run = getattr(closure, engine)
            got = run(t, block=block) if block else run(t)
            assert np.array_equal(got.values, wanted)
            assert_trees(g, got)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_every_engine_at_every_size_and_level(dtype: Any) -> None:
    for n in SIZES[:-1]:
        g = random_graph(n, dtype)
        wanted = by_numpy(g, "min_plus", dtype)
        for engine in ENGINES:
            for level in {0, len(LEVELS) - 1}:  # as on a machine without AVX, and the best here
                got = closure.close(engine, task(g, threads=2), level=level)
                assert np.array_equal(got.values, wanted), (engine, n, level)


def rough_matrix(n: int, dtype: Any, lowest: float, seed: int) -> Array:
    """Weights whose sums round, half of them missing; below zero by potentials, if any are."""
    rng = np.random.default_rng([n, seed])
    heights = rng.uniform(lowest, 0, n)
    matrix = rng.uniform(0.01, 1, (n, n)) + heights[:, None] - heights[None, :]
    matrix[rng.random((n, n)) < 0.5] = np.inf
    matrix[:, 0] = np.inf
    matrix[0, 1:9] = -0.0 if lowest < 0 else 0  # nothing leads to vertex 0
    np.fill_diagonal(matrix, 0)
    return matrix.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lowest", [0.0, -1.0])
@pytest.mark.parametrize("paths", [False, True])
@pytest.mark.parametrize("n", [41, 210])
def test_no_bit_depends_on_threads_or_processor(
    n: int, paths: bool, lowest: float, dtype: Any
) -> None:
    """Neither values nor predecessors; values without predecessors not even on the level."""
    weights = rough_matrix(n, dtype, lowest, 5)
    by_level = []
    for level in LEVELS:
        answers = []
        for zen, threads in ((False, 1), (True, 1), (True, 2), (False, 5)):
            matrix, predecessors = weights.copy(), None
            if paths:
                predecessors = np.where(np.isinf(matrix), -1, np.arange(n)[:, None])
                predecessors = predecessors.astype(np.int32)
                np.fill_diagonal(predecessors, -1)
            assert _native.closure(
                "tiled", "min_plus", matrix, predecessors, threads, 48, level, zen=zen
            )
            answers.append(
                (matrix.tobytes(), None if predecessors is None else predecessors.tobytes())
            )
        assert answers == answers[:1] * len(answers)
        by_level.append(answers[0][0])
    if not paths:
        assert by_level == by_level[:1] * len(by_level)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_negative_cycle_ends_the_work_of_all_threads(threads: int) -> None:
    """In the first block, in one between, and in the last, where the others wait for it."""
    for at in (3, 100, 299):
        matrix = np.ones((300, 300))
        np.fill_diagonal(matrix, 0)
        matrix[at, at - 1] = matrix[at - 1, at] = -1
        assert not _native.closure("tiled", "min_plus", matrix, None, threads, 24)


def assert_trees(g: kl.Graph, got: Answer) -> None:
    everywhere, algebra = np.arange(g.n), SEMIRINGS["min_plus"]
    verify(PathValues(g, algebra, everywhere, got.values, got.predecessors, None, False))


# ---- chains -------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_cycles_without_weight_make_no_circles(engine: str, dtype: Any) -> None:
    """An undirected arc of weight zero is a cycle of weight zero, and here are hundreds."""
    rng = np.random.default_rng(3)
    s, t, w = rng.integers(0, 150, 500), rng.integers(0, 150, 500), rng.integers(0, 2, 500)
    g = kl.Graph.from_edges(s, t, w.astype(dtype), n=150, directed=False)
    kl.apsp(g, method=engine, device="cpu").verify()


def test_weights_that_vanish_beside_others() -> None:
    """Sums of very unequal floats round small weights away: cycles of no visible weight."""
    rng = np.random.default_rng(4)
    w = np.where(rng.random(800) < 0.3, 1e6, 1e-6).astype(np.float32)
    g = kl.Graph.from_edges(rng.integers(0, 160, 800), rng.integers(0, 160, 800), w, n=160)
    for engine in ENGINES:
        kl.apsp(g, method=engine, device="cpu").verify()


def test_circles_are_found_and_mended() -> None:
    """Two vertices that name each other are hung back on the tree of their row."""
    g = kl.Graph.from_edges([0, 1, 2, 1], [1, 2, 1, 3], [4, 0, 0, 1])
    sources = np.zeros(1, dtype=np.int32)
    values = np.array([[0, 4, 4, 5]])
    parents = np.array([[-1, 2, 1, 1]], dtype=np.int32)
    none = np.iinfo(np.int64).max
    loose = _native.closure_find_detached(sources, values, parents, none, 1)
    assert loose is not None
    assert loose.tolist() == [True]
    ends = (g.offsets, g.neighbors, g.weights, g.csc.offsets, g.csc.neighbors, g.csc.weights)
    _native.closure_reattach("min_plus", sources, values, parents, none, loose, *ends, 1)
    assert parents.tolist() == [[-1, 0, 1, 1]]
    assert _native.closure_find_detached(sources, values, parents, none, 1) is None


# ---- negative weights and the ends of the types -------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64])
def test_negative_weights(engine: str, dtype: Any) -> None:
    rng = np.random.default_rng(5)
    s, t = rng.integers(0, 130, 900), rng.integers(0, 130, 900)
    height = rng.integers(0, 50, 130)
    w = (rng.integers(0, 20, 900) + height[t] - height[s]).astype(dtype)
    g = kl.Graph.from_edges(s, t, w, n=130)
    got = kl.apsp(g, method=engine, device="cpu")
    assert np.array_equal(got.distances, by_numpy(g, "min_plus", dtype))
    got.verify()
    back = np.argmax(w > 20)
    broken = kl.Graph.from_edges(np.append(s, t[back]), np.append(t, s[back]), np.append(w, -5000))
    with pytest.raises(kl.NegativeCycleError) as caught:
        kl.apsp(broken, method=engine, device="cpu")
    arcs = dict(zip(zip(*map(np.ndarray.tolist, broken.coo[:2]), strict=True), broken.weights, strict=True))  # fmt: skip  # noqa: E501
    cycle = caught.value.cycle
    assert sum(arcs[arc] for arc in zip(cycle, [*cycle[1:], cycle[0]], strict=True)) < 0


@pytest.mark.parametrize("engine", ENGINES)
def test_rounding_is_no_negative_cycle(engine: str) -> None:
    """Differences of heights sum to zero round every cycle, up to rounding."""
    rng = np.random.default_rng(6)
    s, t, height = rng.integers(0, 60, 600), rng.integers(0, 60, 600), rng.random(60)
    g = kl.Graph.from_edges(s, t, height[t] - height[s] + 1e-14, n=60)
    got = kl.apsp(g, method=engine, device="cpu")
    assert (got.distances.diagonal() == 0).all()
    got.verify()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_at_the_end_of_their_type(engine: str, dtype: Any, sign: int) -> None:
    """The longest path the plan admits, to the unit, beside pairs without a path."""
    longest = np.iinfo(dtype).max // 2 - (dtype == np.int32)  # prepared graphs mean "no path"
    for length in (longest, longest - 1, longest // 2, longest // 2 - 1):
        weights = sign * np.array([length - 5, 5], dtype=dtype)
        g = kl.Graph.from_edges([0, 1], [1, 2], weights, n=5)
        got = kl.apsp(g, method=engine, device="cpu", dtype=dtype)
        none = np.iinfo(dtype).max
        assert got.distances[0].tolist() == [0, sign * (length - 5), sign * length, none, none]
        assert got.distances[3].tolist() == [none, none, none, 0, none]
        got.verify()


@pytest.mark.parametrize("extra", [-1, 0, 1, 2])
def test_int16_inside(extra: int) -> None:
    """Path lengths on both sides of what int16 holds; the answer's type is the weights'."""
    limit = np.iinfo(np.int16).max // 2
    for n in (1, 2, 3, 50, 130):
        arcs = np.arange(n - 1)
        each = (limit + extra) // n
        for dtype in (np.int32, np.int64):
            g = kl.Graph.from_edges(arcs, arcs + 1, np.full(n - 1, each, dtype), n=n)
            got = kl.apsp(g, method="tiled", device="cpu", predecessors=False)
            assert got.distances.dtype == (dtype if n > 1 else got.distances.dtype)
            assert got.distances[0].tolist() == [each * i for i in range(n)]
            got.verify()


# ---- rows, memory, threads, interruption --------------------------------------------------------


@pytest.mark.parametrize("semiring", list(SEMIRINGS))
def test_some_rows_in_any_order(semiring: str) -> None:
    g = random_graph(140)
    whole = kl.closure(g, semiring, predecessors=True)
    for paths in (True, False):
        some = kl.closure(g, semiring, sources=[139, 3, 3, 70], predecessors=paths)
        assert np.array_equal(some.values, whole.values[[139, 3, 3, 70]])
        some.verify()


def test_integers_narrower_than_the_answer_in_its_own_memory() -> None:
    g = random_graph(300).reweight(None)
    out = np.empty((300, 300), dtype=np.int32)
    got = kl.apsp(g, method="tiled", device="cpu", predecessors=False, out=out)
    assert np.shares_memory(got.distances, out)
    assert np.array_equal(out, kl.apsp(g, method="floyd_warshall", device="cpu").distances)


def test_the_answer_does_not_depend_on_the_number_of_threads() -> None:
    g = random_graph(400, np.float32, arcs=40)
    answers = [closure.tiled(task(g, threads=t, predecessors=True)) for t in (1, 2, 3, 8)]
    for other in answers[1:]:
        assert np.array_equal(answers[0].values, other.values)
        assert np.array_equal(answers[0].predecessors, other.predecessors)


def test_several_callers_at_once() -> None:
    graphs = [random_graph(200, np.float32, seed=i) for i in range(4)]
    alone = [kl.apsp(g).distances for g in graphs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            together = pool.map(lambda g: kl.apsp(g, threads=2).distances, graphs)
            assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_progress_may_raise() -> None:
    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    g = random_graph(1500, np.float32)
    for engine in ENGINES:
        with pytest.raises(RuntimeError, match="enough"):
            kl.apsp(g, method=engine, device="cpu", progress=stop, threads=2)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize("engine", ["tiled", "floyd_warshall"])
def test_ctrl_c(engine: str) -> None:
    """An interrupt ends a long call within a second."""
    code = (
        "import kleene as kl, numpy as np\n"
        "ends = np.random.default_rng(0).integers(0, 6000, (2, 60000))\n"
        "g = kl.Graph.from_edges(*ends, np.ones(60000, np.float32))\n"
        "print('ready', flush=True)\n"
        f"kl.apsp(g, method={engine!r}, device='cpu', predecessors=False)\n"
    )
    process = subprocess.Popen(
        [sys.executable, *(["-S"] if sys.flags.no_site else []), "-c", code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    before = taken_by(process)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    errors = process.stderr.read()
    assert taken_by(process) - before < 5  # a second, of all cores
    process.communicate(timeout=600)
    assert "KeyboardInterrupt" in errors


@pytest.mark.parametrize("level", LEVELS)
def test_ceiling(level: int) -> None:
    for dtype in ("float32", "float64", "int16", "int32", "int64"):
        assert _native.closure_peak_rate("min_plus", dtype, seconds=0.01, level=level) > 1e6
    assert _native.closure_peak_rate("boolean", "bool", threads=2, seconds=0.01, level=level) > 1e6
    assert (
        _native.closure_peak_rate("min_plus", "float32", paths=True, seconds=0.01, level=level)
        > 1e6
    )
