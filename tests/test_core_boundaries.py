"""The native core at its borders: exact sizes, first and last entries, ties and limits.

Most of these were written for mutants of the core that no other test noticed.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene import _native
from kleene.errors import GraphError, KleeneError
from kleene.interop.csgraph import breadth_first_order

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
def test_an_engine_says_whether_there_is_a_negative_cycle(
    engine: str, n: int, paths: bool
) -> None:
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
    for bad in ([(0, 0), (0, 1)], [(0, 1), (0, 2)], [(1, 0), (2, 2)], [(0, 2), (1, 0), (2, 1)]):
        matrix = np.ones((3, 3))
        for entry in bad:
            matrix[entry] = np.nan
        with pytest.raises(GraphError, match=rf"{bad[0][0]}\D+{bad[0][1]}"):
            kl.Graph.from_dense(matrix)


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
    assert names('"","a"\n"a","ab"\n', names=True) == ["", "a", "ab"]
    assert names('"a",""\n', names=True) == ["a", ""]
    assert names('"""","a"\n', names=True) == ['"', "a"]
    assert names('"a""b","""c"\n', names=True) == ['a"b', '"c']


def test_quoted_columns_that_are_skipped() -> None:
    for skipped in ('""', '"x"', '"a,b"', '"a""b"', "x", ""):
        graph = read(f"{skipped},0,1,5\n{skipped},1,2,7\n", columns=[1, 2, 3], names=False)
        assert graph.coo.targets.tolist() == [1, 2]
        assert graph.weights is not None
        assert graph.weights.tolist() == [5, 7]


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
