"""What is native of ``kleene.csgraph``: k shortest paths, and graphs turned round and joined."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import kleene as kl
from kleene import _native
from kleene import csgraph as ours
from kleene.graph.forms import CSR

NULL = -9999


def simple_paths(lengths: Any, source: int, sink: int) -> list[tuple[float, tuple[int, ...]]]:
    """List every path without repeated vertices by trying all of them, shortest first."""
    inner = [v for v in range(len(lengths)) if v not in (source, sink)]
    found = []
    for size in range(len(inner) + 1):
        for middle in itertools.permutations(inner, size):
            path = (source, *middle, sink) if source != sink else (source,)
            length = sum(lengths[u, v] for u, v in itertools.pairwise(path))
            if length < np.inf and (length, path) not in found:
                found.append((length, path))
    return sorted(found)


def path_of(parents: Any, sink: int) -> tuple[int, ...]:
    path = [sink]
    while parents[path[-1]] != NULL:
        path.append(int(parents[path[-1]]))
    assert np.count_nonzero(parents != NULL) == len(path) - 1
    return tuple(path[::-1])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_all_simple_paths_in_order(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    entries = st.one_of(st.just(0), st.integers(-1 if data.draw(st.booleans()) else 1, 8))
    size = n * n
    graph = np.array(data.draw(st.lists(entries, min_size=size, max_size=size)), float)
    graph = graph.reshape(n, n) / 4
    source, sink = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    count = data.draw(st.integers(0, 12))
    keywords: dict[str, Any] = {
        "directed": data.draw(st.booleans()),
        "unweighted": data.draw(st.booleans()),
    }
    lengths = np.where(graph == 0, np.inf, 1 if keywords["unweighted"] else graph)
    if not keywords["directed"]:
        lengths = np.minimum(lengths, lengths.T)
    try:
        theirs.johnson(np.where(np.isinf(lengths), 0, lengths))
    except theirs.NegativeCycleError:
        with pytest.raises(theirs.NegativeCycleError):
            ours.yen(graph, source, sink, count, **keywords)
        return
    found, parents = ours.yen(graph, source, sink, count, return_predecessors=True, **keywords)
    right = simple_paths(lengths, source, sink)
    assert (found.dtype, parents.dtype) == (np.float64, np.int32)
    assert parents.shape == (len(found), n)
    assert found.tolist() == [length for length, _ in right[:count]]
    paths = [path_of(row, sink) for row in parents]
    assert len(set(paths)) == len(paths)
    assert set(zip(found.tolist(), paths, strict=True)) <= set(right)
    np.testing.assert_array_equal(ours.yen(graph, source, sink, count, **keywords), found)


@pytest.mark.skipif(not hasattr(theirs, "yen"), reason="this SciPy has no yen")
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("unweighted", [True, False])
def test_streets_as_scipy_finds_them(directed: bool, unweighted: bool) -> None:
    rome = kl.datasets.rome().to_scipy().astype(float)
    keywords = {"directed": directed, "unweighted": unweighted}
    for source, sink in ((0, 40), (3000, 3100)):
        here = ours.yen(rome, source, sink, 8, **keywords)
        np.testing.assert_allclose(here, theirs.yen(rome, source, sink, 8, **keywords))


def test_fractions_and_ties() -> None:
    """Sums that differ in their last bits must neither lose nor double a path."""
    rng = np.random.default_rng(4)
    grid = kl.generate.grid(4, 4).to_scipy().astype(float)
    for _ in range(5):
        grid.data = rng.choice([0.1, 0.2, 0.3], size=grid.nnz)
        found, parents = ours.yen(grid, 0, 15, 400, return_predecessors=True)
        assert len({path_of(row, 15) for row in parents}) == len(found) == 184
        assert (np.diff(found) >= -1e-12).all()
        few = ours.yen(grid, 0, 15, 40)
        np.testing.assert_allclose(few, found[:40])


def test_mistakes() -> None:
    graph = np.array([[0, 1], [1, 0.0]])
    for source, sink in ((0, 2), (-1, 0), (5, 0)):
        with pytest.raises(ValueError, match="must have 0 <= source < N"):
            ours.yen(graph, source, sink, 1)
    with pytest.raises(ValueError, match="negative"):
        ours.yen(graph, 0, 1, -1)
    with pytest.raises(TypeError):
        ours.yen(graph, 0, 1, 1.5)  # type: ignore[arg-type]


# ---- forms --------------------------------------------------------------------------------------


def csr_tuple(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", None])
def test_turned_round_and_joined(threads: int, dtype: str | None) -> None:
    rng = np.random.default_rng(threads)
    for n, density in ((1, 0.0), (7, 0.4), (300, 0.1), (2000, 0.001)):
        matrix = sp.csr_array(rng.random((n, n)) * (rng.random((n, n)) < density))
        matrix.data = np.ceil(9 * matrix.data)
        matrix = matrix.astype(dtype or "int32")
        if dtype is None:
            matrix.data[:] = 1
        offsets, ids, data = csr_tuple(matrix)
        weights = None if dtype is None else data
        turned = _native.csr_transpose(offsets, ids, weights, threads)
        assert (turned[2] is None) == (dtype is None)
        for made, right in zip(turned, csr_tuple(matrix.T.tocsr()), strict=True):
            assert made is None or np.array_equal(made, right)
        joined = CSR(*_native.csr_union(offsets, ids, weights, *turned, threads))
        big = 1e9
        dense = np.full((n, n), big)
        rows = np.repeat(np.arange(n), np.diff(joined.offsets))
        dense[rows, joined.neighbors] = 1 if joined.weights is None else joined.weights
        plain = np.where(matrix.toarray() == 0, big, matrix.toarray())
        assert np.array_equal(dense, np.minimum(plain, plain.T))
        assert joined.weights is None or joined.weights.dtype == dtype
        same = bool((plain == plain.T).all())
        assert _native.csr_is_symmetric(offsets, ids, weights, threads) == same
        assert _native.csr_is_symmetric(*joined, threads)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_one_arc_is_enough_to_be_lopsided(threads: int) -> None:
    g = kl.generate.uniform(50, 500, weights=(1, 9), seed=1).symmetrise()
    assert g.stats.symmetric
    assert _native.csr_is_symmetric(*g.csr, threads)
    s, t, w = g.coo
    for arc in range(0, g.m, 7):
        kept = np.arange(g.m) != arc
        less = kl.Graph.from_edges(s[kept], t[kept], w[kept], n=g.n)
        assert not _native.csr_is_symmetric(*less.csr, threads)
        other = w + (np.arange(g.m) == arc)
        assert not _native.csr_is_symmetric(g.offsets, g.neighbors, other, threads)


def test_graphs_turn_and_join_through_them() -> None:
    g = kl.generate.rmat(10, 8, seed=2, weights=(1, 99))
    s, t, w = g.coo
    assert g.transpose().equals(kl.Graph.from_edges(t, s, w, n=g.n))
    assert g.symmetrise().equals(kl.Graph.from_edges(s, t, w, n=g.n, directed=False))
    loops = kl.Graph.from_edges([0, 0, 1], [0, 1, 0], [-1, 4, 2])
    assert loops.symmetrise().weights.tolist() == [-1, 2, 2]


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_graph_of_a_matrix(loops: bool, threads: int) -> None:
    rng = np.random.default_rng(1)
    for n in (0, 1, 5, 200):
        matrix = rng.choice([0, np.nan, np.inf, -np.inf, -1.5, 2.5, 3], size=(n, n))
        made = kl.Graph(CSR(*_native.csr_from_matrix(matrix, loops, threads)))
        arcs = np.isfinite(matrix) & (matrix != 0)
        np.fill_diagonal(arcs, (np.diag(matrix) == -1.5) & loops)
        rows, columns = np.nonzero(arcs)
        assert made.equals(kl.Graph.from_edges(rows, columns, matrix[arcs], n=n))


# ---- connected components -----------------------------------------------------------------------


@given(
    st.integers(0, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30),
    st.sampled_from(["csr_array", "coo_array", "csc_array", "dense"]),
    st.sampled_from([{}, {"directed": False}, {"connection": "strong"}, {"connection": "Weak"}]),
)
def test_components_are_those_of_scipy(
    n: int, arcs: list[tuple[int, int]], form: str, keywords: dict[str, Any]
) -> None:
    matrix = np.zeros((n, n))
    for u, v in arcs if n else []:
        matrix[u % n, v % n] = 1
    graph = matrix if form == "dense" else getattr(sp, form)(matrix)
    count, labels = ours.connected_components(graph, **keywords)
    expected, theirs_labels = theirs.connected_components(graph, **keywords)
    assert (count, labels.dtype) == (expected, theirs_labels.dtype)
    assert ours.connected_components(graph, return_labels=False, **keywords) == count
    if "strong" in keywords.values():  # the same sets, and no arc leads to a larger number
        assert len(set(zip(labels, theirs_labels, strict=True))) == count
        tails, heads = matrix.nonzero()
        assert (labels[tails] >= labels[heads]).all()
    else:
        np.testing.assert_array_equal(labels, theirs_labels)


def test_components_of_what_is_no_graph() -> None:
    with pytest.raises(ValueError, match="connection must be 'weak' or 'strong'"):
        ours.connected_components(np.eye(2), connection="both")
    with pytest.raises(ValueError, match="shape"):
        ours.connected_components(sp.csr_array((2, 3)))
    bad = sp.csr_array(([1.0], [0], [0, 1, 1]), shape=(2, 2))
    bad.indices[0] = 7
    with pytest.raises(kl.GraphError, match="indices must be from 0 to 1"):
        ours.connected_components(bad)
