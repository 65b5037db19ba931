"""Native breadth-first search where it could break: threads, word edges, shapes, interruption."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kleene as kl

METHODS = [row.name for row in kl.methods("bfs", "cpu")]
SWEEPS = ("edge", "vertex_push", "vertex_pull", "spmv")  # slow where there are many levels
FAST = [name for name in METHODS if name not in SWEEPS]


def levels(g: kl.Graph, source: int) -> list[int]:
    return kl.bfs(g, source, device="reference").distances.tolist()


def chain(n: int) -> kl.Graph:
    return kl.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n, directed=False)


def grid(rows: int, columns: int) -> kl.Graph:
    at = np.arange(rows * columns).reshape(rows, columns)
    s = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    t = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    return kl.Graph.from_edges(s, t, directed=False)


def small_world(n: int, degree: int, directed: bool) -> kl.Graph:
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, n * degree))
    return kl.Graph.from_edges(*ends, n=n, directed=directed)


@pytest.fixture(scope="module")
def rmat() -> kl.Graph:
    return kl.generate.rmat(13, 16, seed=1, directed=False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 64, 65, 127, 129, 511, 512, 513])
def test_sizes_around_word_edges(method: str, n: int) -> None:
    star = kl.Graph.from_edges(np.zeros(n - 1, int), np.arange(1, n), n=n, directed=False)
    dense = small_world(n, 8, directed=False)
    for g in (chain(n), star, dense):
        sources = sorted({0, n // 2, n - 1})
        for predecessors in (True, False):
            result = kl.bfs(g, sources=sources, method=method, predecessors=predecessors, threads=2)
            result.verify()
            assert result.distances.tolist() == [levels(g, s) for s in sources]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads(method: str, threads: int, rmat: kl.Graph) -> None:
    source = int(np.diff(rmat.offsets).argmax())
    result = kl.bfs(rmat, source, method=method, threads=threads)
    result.verify()
    assert result.distances.tolist() == levels(rmat, source)
    thin = grid(300, 40)
    kl.bfs(thin, 17, method=method, threads=threads).verify()
    digraph = small_world(6000, 6, directed=True)
    kl.bfs(digraph, 1, method=method, threads=threads).verify()
    assert digraph.csc is not None  # from here on there are incoming arcs to pull along
    kl.bfs(digraph, 2, method=method, threads=threads).verify()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_large_searches_on_threads(threads: int) -> None:
    """Smaller ones use fewer threads than they may."""
    hubs = kl.generate.rmat(17, 16, seed=2, directed=False)
    for g in (grid(500, 450), hubs, small_world(150_000, 6, directed=True)):
        source = int(np.diff(g.offsets).argmax())
        wanted = kl.bfs(g, source, method="queue").distances
        for _ in range(2):  # then with incoming arcs
            result = kl.bfs(g, source, method="direction_optimizing", threads=threads)
            result.verify()
            assert np.array_equal(result.distances, wanted)
            depth = int(wanted.max()) // 2
            near = kl.bfs(g, source, method="direction_optimizing", threads=threads, limit=depth)
            assert near.reached.sum() == ((wanted >= 0) & (wanted <= depth)).sum()
            assert g.csc is not None


@pytest.mark.parametrize("method", METHODS)
def test_stopping_early_on_threads(method: str, rmat: kl.Graph) -> None:
    source = int(np.diff(rmat.offsets).argmax())
    full = np.array(levels(rmat, source))
    for limit in (0, 1, 2):
        result = kl.bfs(rmat, source, method=method, limit=limit, threads=3)
        assert result.distances.tolist() == np.where(full <= limit, full, -1).tolist()
        result.verify()
    targets = np.flatnonzero(full == 1)[:5].tolist() + np.flatnonzero(full == 2)[:2].tolist()
    result = kl.bfs(rmat, source, method=method, targets=targets, threads=3)
    assert result.distances.tolist() == full[targets].tolist()
    result.verify()


@pytest.mark.parametrize("method", FAST)
def test_many_levels(method: str) -> None:
    g = chain(50_000)
    result = kl.bfs(g, 0, method=method, threads=2)
    assert np.array_equal(result.distances, np.arange(g.n))
    assert np.array_equal(result.predecessors, np.arange(-1, g.n - 1))


@pytest.mark.parametrize("method", METHODS)
def test_hubs(method: str) -> None:
    """A frontier that is one vertex with most of the arcs, and one that is most vertices."""
    spokes = np.arange(1, 50_001)
    out = kl.Graph.from_edges(np.zeros(50_000, int), spokes)
    assert kl.bfs(out, 0, method=method, threads=3).distances.tolist() == [0] + [1] * 50_000
    both = kl.Graph.from_edges(np.zeros(50_000, int), spokes, directed=False)
    result = kl.bfs(both, 7, method=method, threads=3)
    assert result.distances.sum() == 1 + 2 * 49_999
    result.verify()


@pytest.mark.parametrize("count", [1, 3, 63, 64, 65, 130, 300, 700])
def test_batches_of_all_widths(count: int) -> None:
    g = small_world(700, 3, directed=True)
    sources = np.arange(count)[::-1]
    want = kl.bfs(g, sources=sources, method="queue")
    for threads in (1, 2, 5):
        got = kl.bfs(g, sources=sources, method="multi_source", threads=threads)
        assert np.array_equal(got.distances, want.distances)
        got.verify()
    near = kl.bfs(g, sources=sources, method="multi_source", targets=[5, 600], limit=4)
    cut = np.where(want.distances > 4, -1, want.distances)[:, [5, 600]]
    assert np.array_equal(near.distances, cut)
    twice = kl.bfs(g, sources=[3, 3, 4], method="multi_source")
    assert twice.distances.tolist() == [levels(g, s) for s in (3, 3, 4)]


@pytest.mark.parametrize("method", ["queue", "direction_optimizing", "multi_source"])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_other_types(method: str, dtype: Any) -> None:
    g = small_world(300, 2, directed=True)
    seen: list[tuple[int, int]] = []
    sources = list(range(g.n)) * 4  # more rows than are converted at once
    result = kl.bfs(
        g, sources=sources, method=method, dtype=dtype, progress=lambda *at: seen.append(at)
    )
    assert result.distances.dtype == dtype
    assert seen[-1] == (1200, 1200)
    result.verify()
    kl.bfs(g, 0, method=method, dtype=dtype, limit=2).verify()


def test_multi_source_say_no_path_as_asked() -> None:
    """All pairs of a graph without weights are hop rows, in any type and with its own "no path"."""
    from kleene.backends.cpu.bfs import multi_source
    from kleene.backends.semiring import semiring
    from kleene.backends.task import Task

    g = small_world(200, 1, directed=True)
    hops = kl.bfs(g, sources=range(g.n)).distances
    for dtype, none in ((np.int32, 2**31 - 1), (np.float64, np.inf)):
        task = Task(
            g, semiring("min_plus"), np.arange(g.n, dtype=np.int32), None, None, True,
            np.dtype(dtype), 2,
        )  # fmt: skip
        answer = multi_source(task)
        assert np.array_equal(answer.values, np.where(hops < 0, none, hops))


def test_auto_chooses_by_size_and_sources(rmat: kl.Graph) -> None:
    assert kl.explain(chain(10), "bfs").method == "queue"
    assert kl.explain(grid(100, 100), "bfs").method == "queue"
    assert kl.explain(grid(500, 500), "bfs").method == "direction_optimizing"
    assert kl.explain(rmat, "bfs").method == "direction_optimizing"
    assert kl.explain(rmat, "bfs", sources=range(64)).method == "multi_source"
    digraph = small_world(6000, 6, directed=True)
    assert "faster with incoming arcs" in str(kl.explain(digraph, "bfs"))
    assert digraph.csc is not None
    assert "faster with incoming arcs" not in str(kl.explain(digraph, "bfs"))


def test_calls_from_several_python_threads(rmat: kl.Graph) -> None:
    sources = np.flatnonzero(np.diff(rmat.offsets))[:16].tolist()
    want = [levels(rmat, s) for s in sources]

    def call(job: int) -> bool:
        source = job % 16
        method = ("direction_optimizing", "privatized", "multi_source")[job % 3]
        result = kl.bfs(rmat, sources[source], method=method, threads=2)
        return bool(result.distances.tolist() == want[source])

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, range(48)))


@pytest.mark.parametrize("method", ["queue", "direction_optimizing", "edge", "multi_source"])
@pytest.mark.parametrize("count", [1, 100])
def test_interrupt(method: str, count: int) -> None:
    """Ctrl-C ends a long search soon, also where other threads have sources of their own."""
    g = chain(300_000)
    sources = np.arange(count) * 3000

    def work() -> None:
        for _ in range(1000):  # one would do on a slow machine
            kl.bfs(g, sources=sources, method=method, predecessors=False, threads=2)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
