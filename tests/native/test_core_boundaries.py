"""The native core at its borders: exact sizes, first and last entries, ties and limits.

Most of these were written for mutants of the core that no other test noticed.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import kleene as kl
from kleene import _native
from kleene.errors import GraphError, KleeneError
from kleene.interop.csgraph import breadth_first_order
from kleene.registry import Method, methods

ENGINES = ("floyd_warshall", "blocked", "min_plus", "rkleene", "rkleene_quadtree", "tiled")
INF = np.inf


# ---- closures ---------------------------------------------------------------------------------


def ring(n: int, dtype: Any = np.float64) -> Any:
    matrix = np.full((n, n), INF if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max, dtype)
    matrix[np.arange(n), (np.arange(n) + 1) % n] = 1
    np.fill_diagonal(matrix, 0)
    return matrix


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [1, 2, 5, 64, 65, 130])
@pytest.mark.parametrize("paths", [False, True])
def test_an_engine_says_whether_there_is_a_negative_cycle(engine: str, n: int, paths: bool) -> None:
    """Callers look for the cycle only then, so a false alarm would never show in the values."""
    for threads in (1, 2):
        for at in sorted({0, n // 2, n - 1}):
            predecessors = np.full((n, n), -1, np.int32) if paths else None
            assert _native.closure(engine, "min_plus", ring(n), predecessors, threads)
            spoiled = ring(n)
            spoiled[at, (at + 1) % n] = -n  # the ring now sums to -1, or a loop to -n
            predecessors = np.full((n, n), -1, np.int32) if paths else None
            assert not _native.closure(engine, "min_plus", spoiled, predecessors, threads)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int32", "int64", "bool"])
def test_peak_rates_are_possible(dtype: str) -> None:
    """No core relaxes more than some hundred arcs in a cycle, bits apart."""
    semiring = "boolean" if dtype == "bool" else "min_plus"
    rate = _native.closure_peak_rate(semiring, dtype, seconds=0.001)
    assert 1e5 < rate < 1e14
    if dtype not in ("bool", "int16"):
        assert 1e5 < _native.closure_peak_rate(semiring, dtype, paths=True, seconds=0.001) < 1e13


# ---- random graphs ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 63, 64, 65, 66, 128, 129, 130])
@pytest.mark.parametrize("missing", [0, 1, 2, 5])
@pytest.mark.parametrize("directed", [True, False])
def test_almost_complete_graphs(n: int, missing: int, directed: bool) -> None:
    """Rows are drawn by what they leave out, in words of 64 bits."""
    pairs = n * (n - 1) if directed else n * (n - 1) // 2
    if missing > pairs:
        return
    graph = kl.generate.uniform(n, pairs - missing, directed=directed, seed=n)
    assert graph.m == (pairs - missing) * (1 if directed else 2)
    assert len({*zip(graph.coo.sources.tolist(), graph.coo.targets.tolist(), strict=True)}) == (
        graph.m
    )
    assert (graph.coo.sources != graph.coo.targets).all()


# ---- distance encodings -----------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65])
def test_arcs_that_leave_their_graph(n: int) -> None:
    for pair in ([0, n], [n, 0], [0, -1], [-1, 0], [n, n], [-1, -1]):
        with pytest.raises(GraphError):
            kl.distance_encodings([np.array(pair)[:, None]], n=[n])
    # The neighbour of another graph of the batch.
    for pair in ([0, n], [n, 0]):
        with pytest.raises(KleeneError):
            kl.distance_encodings(np.array(pair)[:, None], ptr=[0, n, n + 1])


# ---- dense graphs -----------------------------------------------------------------------------


def test_the_first_bad_entry_is_named() -> None:
    spots = ([(0, 0), (0, 1)], [(0, 0), (1, 1)], [(0, 1), (0, 2)], [(1, 0), (2, 2)])
    for bad in (*spots, [(0, 2), (1, 0), (2, 1)]):
        matrix = np.ones((3, 3))
        for entry in bad:
            matrix[entry] = np.nan
        with pytest.raises(GraphError, match=rf"{bad[0][0]}\D+{bad[0][1]}"):
            kl.Graph.from_dense(matrix)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_bound_of_path_lengths_in_a_matrix(dtype: Any) -> None:
    """The heaviest weight of each row adds to the bound, wherever in the row it is."""
    for at in range(4):
        matrix = np.full((4, 4), 2**29, dtype)
        matrix[:, at] = 2**30
        matrix[at] = -(2**30) if np.dtype(dtype).kind == "f" else 2**28
        np.fill_diagonal(matrix, 0)
        dense, sparse = kl.Graph.from_dense(matrix), kl.Graph.from_scipy(csr_array(matrix))
        assert dense.stats.path_bound == sparse.stats.path_bound


# ---- text -------------------------------------------------------------------------------------


def read(text: str, **options: Any) -> kl.Graph:
    return kl.read(io.BytesIO(text.encode()), "edge_list", **options)


def names(text: str, **options: Any) -> list[str]:
    graph = read(text, **options)
    assert graph.labels is not None
    return [str(label) for label in graph.labels]


@pytest.mark.parametrize("grain", [1, 3, 1 << 20])
def test_quoted_names_of_every_short_length(grain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kleene.io.text.GRAIN", grain)
    for text, found in (
        ('"","a"\n"a","ab"\n', ["", "a", "ab"]),
        ('"a",""\n', ["a", ""]),
        ('"""","a"\n', ['"', "a"]),
        ('"a""b","""c"\n', ['a"b', '"c']),
    ):
        assert names(text, names=True, header=False) == found


def test_quoted_columns_that_are_skipped() -> None:
    for skipped in ('""', '"x"', '"a,b"', '"a""b"', "x", ""):
        graph = read(f"{skipped},0,1,5\n{skipped},1,2,7\n", columns=[1, 2, 3], names=False)
        assert graph.coo.targets.tolist() == [1, 2]
        assert graph.weights is not None
        assert graph.weights.tolist() == [5, 7]


@pytest.mark.parametrize("blanks", ["", " ", " \t "])
def test_what_a_message_quotes(blanks: str) -> None:
    for line in ("a 1 2 3 x", "a 1 2 3 x y"):
        text = f"p sp 2 1\n{line}{blanks}\n"
        with pytest.raises(KleeneError) as caught:
            kl.read(io.BytesIO(text.encode()), "dimacs")
        found = line.removeprefix("a 1 2 3 ")
        assert f"found '{found}' in '{line}'" in str(caught.value)


@pytest.mark.parametrize("grain", [1, 1 << 20])
def test_metis_entries_beside_the_range(grain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kleene.io.text.GRAIN", grain)
    for bad in ("0", "4", "-1", "x", "2x", "1.5"):
        for line, rows in ((2, f"{bad}\n1 3\n2"), (3, f"2\n1 {bad}\n2"), (4, f"2\n1 3\n{bad}")):
            with pytest.raises(KleeneError, match=rf":{line}: found '{bad}'.* from 1 to 3"):
                kl.read(io.BytesIO(f"3 2\n{rows}\n".encode()), "metis")
    for rows in ("2\n1 x\ny", "2\n1 x y\nz"):  # the first is reported
        with pytest.raises(KleeneError, match=":3: found 'x'"):
            kl.read(io.BytesIO(f"3 2\n{rows}\n".encode()), "metis")


# ---- csgraph ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 129])
def test_order_of_a_path_ends_with_its_last_vertex(n: int) -> None:
    matrix = np.zeros((n, n))
    matrix[np.arange(n - 1), np.arange(1, n)] = 1
    order, predecessors = breadth_first_order(matrix, 0)
    assert order.tolist() == list(range(n))
    assert predecessors.tolist() == [-9999, *range(n - 1)]
    order, _ = breadth_first_order(matrix, n - 1, directed=False)
    assert order.tolist() == list(range(n - 1, -1, -1))


# ---- symmetry ---------------------------------------------------------------------------------


def test_symmetry_of_every_small_graph() -> None:
    """Rows are compared by cursors, which must stop at the end of a row and not one behind it."""
    pairs = [(s, t) for s in range(4) for t in range(4) if s != t]
    for chosen in range(1 << len(pairs)):
        arcs = [pair for bit, pair in enumerate(pairs) if chosen >> bit & 1]
        offsets = np.searchsorted([s for s, _ in arcs], np.arange(5)).astype(np.int64)
        heads = np.array([t for _, t in arcs], np.int32)
        symmetric = all((t, s) in arcs for s, t in arcs)
        for threads in (1, 3):
            assert _native.csr_is_symmetric(offsets, heads, None, threads) == symmetric, arcs


def test_symmetry_of_weights() -> None:
    for at in range(4):
        weights = [3.0, 3.0, 4.0, 4.0]
        weights[at] += 1
        g = kl.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], weights)
        assert not g.stats.symmetric
    assert kl.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], [3.0, 3.0, 4.0, 4.0]).stats.symmetric


# ---- limits and targets -----------------------------------------------------------------------

SEARCHES = [
    row
    for row in methods()
    if row.problem in ("bfs", "sssp") and row.device == "cpu"
]  # fmt: skip


def search(row: Method, g: kl.Graph, **options: Any) -> kl.Result:
    call = kl.bfs if row.problem == "bfs" else kl.sssp
    return call(g, method=row.name, device="cpu", **options)


@pytest.mark.parametrize("row", SEARCHES, ids=lambda row: f"{row.problem}-{row.name}")
@pytest.mark.parametrize("threads", [1, 3])
def test_limits_at_and_beside_every_distance(row: Method, threads: int) -> None:
    """A path, and a star: what lies at the limit is reached, what lies beyond is not."""
    n = 9
    path = kl.Graph.from_edges(range(n - 1), range(1, n), np.ones(n - 1, np.int64), n=n + 1)
    star = kl.Graph.from_edges(np.zeros(n - 1, int), range(1, n), np.arange(1, n), n=n + 1)
    for g in (path, star) if row.problem == "sssp" else (path,):
        whole = np.append(np.arange(n), -1 if row.problem == "bfs" else np.iinfo(np.int64).max)
        for limit in range(n + 2):
            result = search(row, g, sources=[0, 0, n], limit=limit, threads=threads)
            result.verify()
            wanted = np.where(whole[:n] <= limit, whole[:n], whole[n])
            for got in result.distances[:2]:
                assert np.where(got[:n] > n, whole[n], got[:n]).tolist() == wanted.tolist()
            assert (np.flatnonzero(result.distances[2] == 0) == [n]).all()


@pytest.mark.parametrize("row", SEARCHES, ids=lambda row: f"{row.problem}-{row.name}")
@pytest.mark.parametrize("threads", [1, 3])
def test_targets_at_every_distance(row: Method, threads: int) -> None:
    n = 9
    g = kl.Graph.from_edges(range(n - 1), range(1, n), np.ones(n - 1, np.int64), n=n + 1)
    for targets in ([0], [1], [n - 1], [n], [2, 5], [5, 2], [0, n], [4, 4]):
        result = search(row, g, sources=[0, 0], targets=targets, threads=threads)
        result.verify()
        for got in result.distances:
            for target, distance in zip(targets, got.tolist(), strict=True):
                assert distance == target or (target == n and not 0 <= distance <= n)


# ---- many sources, and trees of matrices ----------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("method", ["tiled", "floyd_warshall", "blocked"])
def test_predecessors_in_a_matrix_without_some_paths(dtype: Any, method: str) -> None:
    n = 5
    matrix = np.full((n, n), INF if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max, dtype)
    matrix[0, 1] = matrix[1, 2] = matrix[4, 3] = 2
    g = kl.Graph.from_dense(matrix)
    result = kl.apsp(g, predecessors=True, method=method, device="cpu")
    wanted = np.full((n, n), -1)
    wanted[0, 1], wanted[0, 2], wanted[1, 2], wanted[4, 3] = 0, 1, 1, 4
    assert result.predecessors.tolist() == wanted.tolist()
    result.verify()
    filled, none = np.empty_like(matrix), matrix[0, 0].item()
    predecessors = np.empty((n, n), np.int32)
    for threads in (1, 2):
        _native.closure_fill_from_matrix("min_plus", matrix, none, filled, predecessors, threads)
        arcs = [[v if matrix[v, u] == 2 else -1 for u in range(n)] for v in range(n)]
        assert predecessors.tolist() == arcs


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("paths", [False, True])
def test_negative_weights_from_many_sources(dtype: Any, paths: bool) -> None:
    """More sources than a batch holds; weights that are shifted on the way, and shifted back."""
    n = 70
    rng = np.random.default_rng(5)
    shift = rng.integers(0, 50, n)
    tails, heads = rng.integers(0, n, (2, 6 * n))
    weights = rng.integers(0, 20, 6 * n) + shift[heads] - shift[tails]
    g = kl.Graph.from_edges(tails, heads, weights.astype(dtype), n=n)
    assert g.stats.negative
    wanted = kl.apsp(g, method="tiled", device="cpu").distances
    for threads in (1, 2):
        result = kl.apsp(g, method="johnson", device="cpu", threads=threads, predecessors=paths)
        assert (result.distances == wanted).all()
        result.verify()
