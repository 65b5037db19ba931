"""The native shortest-path searches: thread counts, hard shapes, ends of types, interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from processor_time import taken_by
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

import kleene as kl

METHODS = ["dijkstra", "delta_stepping", "bellman_ford", "llp"]
THREADS = [1, 2, 3, 8]


def solve(g: kl.Graph, method: str = "auto", source: int = 0, **options: Any) -> kl.Result:
    return kl.sssp(g, source, method=method, device="cpu", **options)


def random_graph(
    n: int, m: int, low: int, high: int, dtype: Any = np.int32, seed: int = 1, **options: Any
) -> kl.Graph:
    rng = np.random.default_rng(seed)
    weights = rng.integers(low, high, m, endpoint=True).astype(dtype)
    return kl.Graph.from_edges(
        rng.integers(0, n, m), rng.integers(0, n, m), weights, n=n, **options
    )


def chain(n: int, weight: int = 3) -> kl.Graph:
    at = np.arange(n - 1, dtype=np.int32)
    return kl.Graph.from_edges(at, at + 1, np.full(n - 1, weight, dtype=np.int64), n=n)


def star(n: int) -> kl.Graph:
    """A hub with n - 1 leaves, in both directions, and a few arcs between leaves."""
    leaves = np.arange(1, n)
    rng = np.random.default_rng(3)
    s = np.concatenate([np.zeros(n - 1, int), rng.integers(1, n, n)])
    t = np.concatenate([leaves, rng.integers(1, n, n)])
    return kl.Graph.from_edges(s, t, rng.integers(1, 100, len(s)), n=n, directed=False)


def grid(side: int, seed: int = 5) -> kl.Graph:
    at = np.arange(side * side).reshape(side, side)
    s = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    t = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    weights = np.random.default_rng(seed).integers(1, 256, len(s)).astype(np.int32)
    return kl.Graph.from_edges(s, t, weights, directed=False)


def tiny_floats() -> kl.Graph:
    g = random_graph(2000, 20000, 0, 9, np.float64)
    return g.reweight(arcs=g.weights * 1e-300)


SHAPES = {
    "random": lambda: random_graph(3000, 40000, 1, 255),
    "zero_heavy": lambda: random_graph(3000, 12000, 0, 1),
    "all_zero": lambda: random_graph(2000, 9000, 0, 0),
    "ties": lambda: random_graph(3000, 30000, 2, 3, directed=False),
    "wide_range": lambda: random_graph(2000, 20000, 0, 2**40, np.int64),
    "float32": lambda: random_graph(2000, 20000, 0, 1000, np.float32),
    "float64": lambda: random_graph(2000, 20000, 0, 1 << 30, np.float64),
    "tiny_floats": lambda: tiny_floats(),
    "star": lambda: star(5000),
    "grid": lambda: grid(60),
    "chain": lambda: chain(3000),
    "islands": lambda: random_graph(4000, 3000, 1, 9),
    "unweighted": lambda: random_graph(3000, 20000, 1, 1).reweight(None),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", METHODS)
def test_shapes_and_threads(shape: str, method: str) -> None:
    g = SHAPES[shape]()
    first = None
    for threads in THREADS:
        result = solve(g, method, threads=threads)
        result.verify()
        first = result if first is None else first
        assert result.distances.tolist() == first.distances.tolist()
        without = solve(g, method, threads=threads, predecessors=False)
        assert without.distances.tolist() == first.distances.tolist()


#: Large enough that one search is shared among threads: smaller ones use fewer.
LARGE = {
    "grid": lambda: grid(450),
    "float64": lambda: random_graph(200_000, 900_000, 0, 1 << 30, np.float64),
    "hubs": lambda: kl.generate.rmat(17, 16, seed=2, directed=False, weights=(0, 255)),
    "rings": lambda: rings(8, 40_000),
}


def rings(count: int, size: int) -> kl.Graph:
    """Return rings that meet in one vertex: long paths, two for each ring, side by side."""
    at = np.arange(count * size).reshape(count, size) + 1
    s = np.concatenate([at[:, :-1].ravel(), np.zeros(count, int), at[:, -1]])
    t = np.concatenate([at[:, 1:].ravel(), at[:, 0], np.zeros(count, int)])
    weights = np.random.default_rng(7).integers(0, 100, len(s)).astype(np.int32)
    return kl.Graph.from_edges(s, t, weights, directed=False)


@pytest.mark.parametrize("shape", LARGE)
def test_large_searches_on_threads(shape: str) -> None:
    g = LARGE[shape]()
    source = int(np.diff(g.offsets).argmax())
    wanted = solve(g, "dijkstra", source)
    limit = np.median(wanted.distances[wanted.distances < np.inf]).item()
    within = wanted.distances <= limit
    for threads in (2, 3, 8):
        result = solve(g, "delta_stepping", source, threads=threads)
        result.verify()
        assert np.array_equal(result.distances, wanted.distances)
        near = solve(g, "delta_stepping", source, threads=threads, limit=limit)
        assert np.array_equal(near.distances[within], wanted.distances[within])
        assert near.reached.sum() == within.sum()
        some = solve(g, "delta_stepping", source, threads=threads, targets=[1, g.n // 2])
        assert some.distances.tolist() == wanted.distances[[1, g.n // 2]].tolist()


@pytest.mark.parametrize("method", ["dijkstra", "delta_stepping"])
@pytest.mark.parametrize("weight", [400_000, 2_000_000])
def test_sums_whose_bound_needs_64_bits(method: str, weight: int) -> None:
    """A chain whose last vertices are within 32 bits of the first, and one where they are not."""
    n = 4000
    g = kl.Graph.from_edges(
        np.r_[np.arange(n - 1), 0], np.r_[np.arange(1, n), 1],
        np.full(n, weight, dtype=np.int32), n=n + 1,
    )  # fmt: skip
    wanted = [*(weight * v for v in range(n)), np.iinfo(np.int64).max]
    for predecessors in (True, False):
        result = solve(g, method, predecessors=predecessors)
        assert result.distances.dtype == np.int64
        assert result.distances.tolist() == wanted
        result.verify()


@pytest.mark.parametrize("shape", ["random", "ties", "star", "grid", "islands", "float64"])
def test_agrees_with_scipy(shape: str) -> None:
    g = SHAPES[shape]()
    wanted = scipy_dijkstra(g.to_scipy().astype(np.float64), indices=0)
    for method in METHODS:
        result = solve(g, method)
        got = np.where(result.reached, result.distances, np.inf)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


@pytest.mark.parametrize("method", ["dijkstra", "delta_stepping", "bellman_ford"])
def test_chain_of_a_million(method: str) -> None:
    n = 1_000_000
    result = solve(chain(n), method)
    assert (result.distances == 3 * np.arange(n)).all()
    assert (result.predecessors == np.arange(-1, n - 1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_zero_component_has_a_tree(method: str) -> None:
    """A clique of zero-weight arcs, entered by one arc: its predecessors must not go round."""
    k = 60
    s, t = (a.ravel() for a in np.meshgrid(np.arange(1, k), np.arange(1, k)))
    weights = np.append(np.zeros(len(s), dtype=np.int32), np.int32(5))
    g = kl.Graph.from_edges(np.append(s, 0), np.append(t, k // 2), weights, n=k)
    for threads in THREADS:
        result = solve(g, method, threads=threads)
        assert result.distances.tolist() == [0] + [5] * (k - 1)
        result.verify()


@pytest.mark.parametrize("method", METHODS)
def test_integers_at_their_end(method: str) -> None:
    for dtype, top in ((np.int32, 2**31 - 1), (np.int64, 2**63 - 1)):
        heavy = (top - 3) // 2
        g = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], np.array([heavy - 1, 1, heavy], dtype), n=4)
        result = solve(g, method)
        assert result.distances.tolist()[:3] == [0, heavy - 1, heavy]
        assert not result.reached[3]
        result.verify()


@pytest.mark.parametrize("method", ["dijkstra", "delta_stepping"])
@pytest.mark.parametrize(
    "shape", ["random", "zero_heavy", "wide_range", "grid", "float32", "chain"]
)
def test_stops_early(shape: str, method: str) -> None:
    g = SHAPES[shape]()
    whole = solve(g)
    known = np.sort(whole.distances[whole.reached])
    for threads in (1, 2, 8):
        for limit in (0, known[len(known) // 3], known[-1]):
            near = solve(g, method, limit=limit.item() if limit else 0, threads=threads)
            cut = np.where(whole.distances <= limit, whole.distances, whole.no_path)
            assert near.distances.tolist() == cut.tolist()
            near.verify()
        for targets in ([0], [g.n // 2], list(range(1, 40)), [g.n - 1, g.n - 1, 0], []):
            some = solve(g, method, targets=targets, threads=threads)
            assert some.distances.tolist() == whole.distances[targets].tolist()
            some.verify()


def test_side_by_side() -> None:
    g = random_graph(500, 4000, 0, 9, seed=7)
    wanted = [solve(g, source=s).distances.tolist() for s in range(40)]
    for method in METHODS:
        for threads in THREADS:
            many = kl.sssp(g, sources=range(40), method=method, device="cpu", threads=threads)
            assert many.distances.tolist() == wanted
            many.verify()


# ---- negative weights ---------------------------------------------------------------------------


def hilly(n: int, m: int, dtype: Any, seed: int = 11) -> kl.Graph:
    """Lengths from differences of heights, so that no cycle is negative and many arcs are."""
    rng = np.random.default_rng(seed)
    s, t = rng.integers(0, n, m), rng.integers(0, n, m)
    height = rng.integers(0, 1000, n)
    return kl.Graph.from_edges(s, t, (rng.integers(0, 50, m) + height[t] - height[s]).astype(dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_negative_weights(dtype: Any) -> None:
    g = hilly(3000, 30000, dtype)
    rows = [0, 7, 2999]
    for threads in THREADS:
        kl.sssp(g, sources=rows, method="bellman_ford", device="cpu", threads=threads).verify()
        kl.apsp(g, sources=rows, method="johnson", device="cpu", threads=threads).verify()


def test_zero_cycles_of_rounding() -> None:
    """Cycles that are zero but for rounding are not negative, and paths do not go round."""
    rng = np.random.default_rng(5)
    height = rng.random(200)
    s, t = rng.integers(0, 200, 4000), rng.integers(0, 200, 4000)
    for dtype in (np.float32, np.float64):
        g = kl.Graph.from_edges(s, t, (height[t] - height[s]).astype(dtype), n=200)
        for threads in (1, 3):
            r = solve(g, "bellman_ford", threads=threads)
            np.testing.assert_allclose(r.distances, height - height[0], atol=1e-4)
            assert all(r.path(v)[0] == 0 for v in range(200) if r.reached[v])


@pytest.mark.parametrize("length", [1, 2, 3, 50, 3000])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_negative_cycle_anywhere(length: int, dtype: Any) -> None:
    """A cycle of this length and of weight -1 hangs on a random graph, far from the source."""
    n, tail = 500, 300
    base = random_graph(n, 4000, 1, 9).coo
    at = np.arange(tail + 1)
    first = n + tail
    ring = first + np.arange(length)
    s = np.concatenate([base.sources, [n - 1], n + at[:-1], ring])
    t = np.concatenate([base.targets, [n], n + at[1:], np.roll(ring, -1)])
    closing = np.append(np.ones(length - 1), -length)
    weights = np.concatenate([base.weights, np.ones(tail + 1), closing]).astype(dtype)
    g = kl.Graph.from_edges(s, t, weights)
    for threads in (1, 2, 8):
        for solver in (
            lambda k=threads: solve(g, "bellman_ford", threads=k),
            lambda k=threads: kl.apsp(g, sources=[3, 0], device="cpu", threads=k),
        ):
            with pytest.raises(kl.NegativeCycleError) as caught:
                solver()
            cycle = caught.value.cycle
            assert sorted(cycle) == sorted(ring.tolist())
            turn = cycle.index(int(ring[0]))
            assert cycle[turn:] + cycle[:turn] == ring.tolist()


def test_heavy_negative_cycle_does_not_wrap() -> None:
    heavy = 2**31 // 8
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], np.array([1, -heavy, 1], dtype=np.int32))
    for threads in (1, 2):
        with pytest.raises(kl.NegativeCycleError):
            solve(g, "bellman_ford", threads=threads)


# ---- calls that overlap or end early ------------------------------------------------------------


def test_calls_from_several_threads() -> None:
    g = random_graph(2000, 30000, 1, 99)
    wanted = {m: solve(g, m).distances.tolist() for m in METHODS}
    with ThreadPoolExecutor(4) as pool:
        jobs = [(m, pool.submit(solve, g, m, threads=2)) for m in METHODS * 5]
        for method, job in jobs:
            assert job.result().distances.tolist() == wanted[method]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("method", ["dijkstra", "delta_stepping", "bellman_ford", "llp", "batched"])
def test_interrupt(method: str) -> None:
    """Ctrl-C ends a long call within a second."""
    problem = "apsp" if method == "batched" else "sssp"
    script = f"""
        import numpy as np, kleene as kl
        rng = np.random.default_rng(1)
        s, t = rng.integers(0, 20000, 400000), rng.integers(0, 20000, 400000)
        g = kl.Graph.from_edges(s, t, rng.integers(1, 100000, 400000).astype(np.int32), n=20000)
        print("started", flush=True)
        try:
            while True:
                kl.{problem}(g, sources=range(2000), method="{method}", device="cpu",
                             predecessors=False)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    same = ["-S"] if sys.flags.no_site else []  # the same build of the package as here
    run = [sys.executable, *same, "-c", textwrap.dedent(script)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        time.sleep(0.5)
        before = taken_by(child)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert taken_by(child) - before < 2
        assert child.wait() == 0


def test_progress_may_raise() -> None:
    """What the progress function raises comes back, and no thread is left behind."""

    def give_up(done: int, total: int) -> None:
        raise RuntimeError(f"enough at {done} of {total}")

    g = random_graph(2000, 30000, 1, 99)
    before = threading.active_count()
    for method in METHODS:
        with pytest.raises(RuntimeError, match="enough"):
            solve(g, method, progress=give_up)
    assert threading.active_count() == before
