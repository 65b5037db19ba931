"""Graphs that come as a matrix: the same graph as by edges, without rows of arcs until asked."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import kleene as kl

TYPES = ["float32", "float64", "int32", "int64", "int16", "int8", "uint8", "uint16", "float16"]
INF = np.inf


def absent(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    largest = np.inf if matrix.dtype.kind == "f" else np.iinfo(matrix.dtype).max
    return np.asarray(matrix == largest)


def by_edges(matrix: np.ndarray[Any, Any], null: Any = None) -> kl.Graph:
    """Make the graph arc by arc, without the code under test."""
    missing = absent(matrix)
    if null is not None:
        missing |= np.isnan(matrix) if null != null else matrix == null
    tails, heads = np.nonzero(~missing)
    return kl.Graph.from_edges(tails, heads, matrix[tails, heads], n=len(matrix))


def has_rows(g: kl.Graph) -> bool:
    return "neighbors" in g.__dict__


@st.composite
def matrices(draw: Any) -> np.ndarray[Any, Any]:
    n = draw(st.integers(0, 7))
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    largest = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    low = 0 if dtype.kind == "u" else -3
    values = st.one_of(st.integers(low, 9), st.just(largest))
    return draw(hnp.arrays(dtype, (n, n), elements=values.map(dtype.type)))


@given(matrices(), st.sampled_from([None, 0, 5, -1, 0.5, INF, np.nan]))
def test_a_matrix_makes_the_graph_of_its_arcs(matrix: np.ndarray[Any, Any], null: Any) -> None:
    if null is not None and null != null and matrix.dtype.kind != "f":
        null = None
    said = INF if null is None else null  # a zero is an arc
    made, expected = kl.Graph.from_dense(matrix, null_value=said), by_edges(matrix, null)
    assert (made.n, made.m, made.weight_dtype) == (expected.n, expected.m, expected.weight_dtype)
    for fact in ("min_weight", "max_weight", "path_bound", "max_degree"):
        assert getattr(made.stats, fact) == getattr(expected.stats, fact), fact
    assert repr(made) == repr(expected)
    assert not has_rows(made)
    assert np.array_equal(made.dense, expected.dense)
    assert made.equals(expected)
    assert has_rows(made)
    assert not made.neighbors.flags.writeable


def test_booleans_and_masks() -> None:
    joined = np.array([[True, True, False], [False, False, True], [True, False, False]])
    g = kl.Graph.from_dense(joined)
    assert (g.m, g.weight_dtype, g.weights) == (3, None, None)
    assert g.neighbors.tolist() == [1, 2, 0]
    weights = np.ma.masked_equal(np.array([[0, 3, 9], [9, 0, 9], [4, 9, 0]]), 9)
    assert kl.Graph.from_dense(weights).coo.weights.tolist() == [3, 4]
    masked = np.ma.array(joined, mask=np.eye(3, k=1, dtype=bool))
    assert kl.Graph.from_dense(masked).neighbors.tolist() == [0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (-INF, "-inf")])
def test_an_entry_that_is_no_weight_is_named(dtype: str, value: float, shown: str) -> None:
    matrix = np.ones((300, 300), dtype)
    matrix[211, 17] = matrix[250, 3] = value
    with pytest.raises(kl.GraphError, match=rf"entry \(211, 17\) of the matrix is {shown}"):
        kl.Graph.from_dense(matrix)
    if value != value:
        assert kl.Graph.from_dense(matrix, null_value=np.nan).m == 300 * 299 - 2


def test_the_graph_does_not_share_the_callers_matrix() -> None:
    matrix = np.array([[0.0, 2.0], [3.0, 0.0]])
    g = kl.Graph.from_dense(matrix)
    matrix[...] = -1
    assert g.dense.tolist() == [[0, 2], [3, 0]]
    assert kl.apsp(g).distances.tolist() == [[0, 2], [3, 0]]
    assert not g.dense.flags.writeable


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("predecessors", [False, True])
def test_dense_methods_use_the_matrix_itself(dtype: str, predecessors: bool) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.integers(1, 100, (150, 150)).astype(dtype)
    matrix[rng.random(matrix.shape) < 0.5] = (
        np.inf if matrix.dtype.kind == "f" else np.iinfo(dtype).max
    )
    g, expected = kl.Graph.from_dense(matrix), by_edges(matrix)
    for call in (kl.apsp, lambda g, **k: kl.closure(g, "max_min", **k)):
        result = call(g, method="tiled", device="cpu", predecessors=predecessors)
        assert not has_rows(g), "rows of arcs were made"
        assert np.array_equal(result.distances, call(expected, device="cpu").distances)
    kl.apsp(g, predecessors=predecessors).verify()
    some = kl.apsp(g, method="tiled", sources=[5, 3]).distances
    assert np.array_equal(some, kl.apsp(expected, sources=[5, 3]).distances)


def test_a_negative_self_loop_stays_in_the_matrix() -> None:
    g = kl.Graph.from_dense([[-1.0, 2.0], [INF, 5.0]])
    assert (g.m, g.dense.tolist()) == (2, [[-1, 2], [INF, 0]])
    with pytest.raises(kl.NegativeCycleError) as caught:
        kl.apsp(g, method="tiled")
    assert caught.value.cycle == [0]


# ---- in place -----------------------------------------------------------------------------------


def peak_of(call: Any) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_distances_are_closed_without_a_second_matrix() -> None:
    lengths = np.random.default_rng(1).random((1000, 1000))
    expected = kl.apsp(kl.Graph.from_dense(lengths)).distances
    assert peak_of(lambda: kl.close_distances(lengths)) < 0.2 * lengths.nbytes
    assert np.allclose(lengths, expected, rtol=1e-12)


def test_a_ragged_matrix_is_refused() -> None:
    with pytest.raises(kl.GraphError, match=r"ragged.* pass rows of the same length$"):
        kl.Graph.from_dense([[0, 1], [1]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_failed_closure_leaves_the_matrix_as_it_was(order: Any) -> None:
    lengths = np.array(np.random.default_rng(1).random((90, 90)), order=order)
    lengths[3, 4], lengths[4, 3], lengths[7, 7] = -2, 1, 6
    before = lengths.copy()
    with pytest.raises(kl.NegativeCycleError) as caught:
        kl.close_distances(lengths)
    assert {3, 4} <= set(caught.value.cycle)
    assert np.array_equal(lengths, before)
    lengths[3, 4] = before[3, 4] = np.nan
    with pytest.raises(kl.GraphError, match=r"entry \(3, 4\)"):
        kl.close_distances(lengths)
    assert np.array_equal(lengths, before, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_the_fingerprint_of_a_matrix_is_that_of_its_arcs(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kleene.graph import fingerprint as module

    monkeypatch.setattr(module, "_BLOCK", 100)
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 3, (37, 37)).astype(dtype)
    if dtype.startswith("float"):
        matrix[rng.random((37, 37)) < 0.3] = np.inf
        matrix[5, 5] = -1
    g = kl.Graph.from_dense(matrix, null_value=INF)
    found = module.fingerprint(g)
    assert "neighbors" not in g.__dict__
    assert g.neighbors is not None
    assert found == module.fingerprint(g)
    assert module.fingerprint(kl.Graph.from_dense(np.zeros((0, 0)))) == [0, 0, zlib.crc32(bytes(8))]


@pytest.mark.parametrize(
    ("dtype", "loop"), [("float32", False), ("float32", True), ("int64", False), ("bool", False)]
)
def test_the_fingerprint_of_a_complete_matrix(
    dtype: str, loop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kleene.graph import fingerprint as module

    monkeypatch.setattr(module, "_BLOCK", 100)
    matrix = np.random.default_rng(1).integers(1, 9, (37, 37)).astype(dtype)
    if loop:  # as many arcs, of which one is a loop
        matrix[5, 5], matrix[3, 4] = -1, np.inf
    g = kl.Graph.from_dense(matrix)
    assert g.m == 37 * 36
    found = module.fingerprint(g)
    assert "neighbors" not in g.__dict__
    assert g.neighbors is not None
    assert found == module.fingerprint(g)


# ---- zeros off the diagonal ---------------------------------------------------------------------

ADJACENCY = [[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]]
REFUSED = r"6 entries of the matrix .* zero \(50 %\).*null_value=0 .*null_value=inf"


@pytest.mark.parametrize("dtype", [*TYPES, "int64", "uint32"])
def test_what_a_zero_means_must_be_said(dtype: str, tmp_path: Any) -> None:
    """SciPy, NetworkX and igraph take it as no arc; in a matrix of lengths it is an arc."""
    matrix = np.array(ADJACENCY, dtype)
    file = tmp_path / "adjacency.npy"
    np.save(file, matrix)
    for make in (kl.Graph.from_dense, kl.Graph.from_any, kl.Graph.from_dense):
        with pytest.raises(kl.GraphError, match=REFUSED):
            make(matrix)
        assert make(matrix, null_value=0).m == 6
        assert make(matrix, null_value=INF).m == 12
        assert make(matrix, null_value=9).m == 12, "something means no arc"
    with pytest.raises(kl.GraphError, match=r"^1 entry of the matrix off the diagonal is zero"):
        kl.Graph.from_dense(np.array([[0, 1], [0, 0]], dtype))
    with pytest.raises(kl.FormatError, match=rf"adjacency.npy: {REFUSED}"):
        kl.read(file)
    assert [kl.read(file, null_value=null).m for null in (0, INF)] == [6, 12]
    largest = INF if matrix.dtype.kind == "f" else np.iinfo(dtype).max
    marked = matrix.copy()
    marked[0, 1] = largest
    assert kl.Graph.from_dense(marked).m == 11
    masked = np.ma.array(matrix, mask=matrix == 2)
    assert kl.Graph.from_dense(masked).m == 10
    with pytest.raises(kl.GraphError, match=REFUSED):
        kl.Graph.from_dense(np.ma.array(matrix))


@pytest.mark.parametrize("dtype", [*TYPES, "int64", "uint32"])
@pytest.mark.parametrize("last", [0, 1, 3])
def test_the_diagonal_does_not_say_what_a_zero_means(last: int, dtype: str, tmp_path: Any) -> None:
    filled, diagonal = np.array(ADJACENCY, dtype), np.arange(4) >= last
    largest = INF if filled.dtype.kind == "f" else np.iinfo(dtype).max
    np.fill_diagonal(filled, np.where(diagonal, largest, 0))
    masked = np.ma.array(np.array(ADJACENCY, dtype), mask=np.diag(diagonal))
    for matrix in (filled, masked):
        with pytest.raises(kl.GraphError, match=REFUSED):
            kl.Graph.from_dense(matrix)
        assert kl.Graph.from_dense(matrix, null_value=0).m == 6
        assert kl.Graph.from_dense(matrix, null_value=INF).m == 12
    np.save(tmp_path / "filled.npy", filled)
    if last != 1:  # that is how a graph is written whose zeros are arcs
        with pytest.raises(kl.FormatError, match=REFUSED):
            kl.read(tmp_path / "filled.npy")


def test_encodings_of_matrices() -> None:
    with pytest.raises(kl.GraphError, match=rf"graphs\[1\]: {REFUSED}.*Graph.from_dense\(graphs"):
        kl.distance_encodings([np.ones((3, 3)), np.array(ADJACENCY)])
    adjacency = kl.Graph.from_dense(ADJACENCY, null_value=0)
    assert kl.distance_encodings([adjacency])[0].max() == 3


def test_a_table_has_its_rows_and_columns_in_one_order() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame([[0, 3, INF], [INF, 0, 1], [2, INF, 0]], list("abc"), list("abc"))
    right = kl.Graph.from_dense(table.to_numpy())
    for same in (table, table.reset_index(drop=True), table.set_axis(range(3), axis=1)):
        assert kl.Graph.from_dense(same).equals(right)
    with pytest.raises(kl.GraphError, match=r"in another order .*matrix.loc\[matrix.columns\]"):
        kl.Graph.from_dense(table.loc[["c", "a", "b"]])


def test_zeros_that_mean_nothing_else() -> None:
    assert kl.Graph.from_dense(np.array(ADJACENCY, bool)).m == 6
    assert kl.Graph.from_dense([[0, 1], [1, 0]]).m == 2
    assert kl.Graph.from_dense([[0.0]]).m == 0
    assert kl.Graph.from_dense(np.zeros((0, 0))).m == 0
    with pytest.raises(kl.GraphError, match=r"100 %"):
        kl.Graph.from_dense(np.zeros((3, 3)))
    with pytest.raises(kl.GraphError, match=r"^1 entry .* is zero \(50 %\)"):
        kl.Graph.from_dense([[0, -1], [0, 0]])
    lengths = np.zeros((3, 3))
    assert kl.close_distances(lengths).tolist() == [[0] * 3] * 3
    assert kl.product(np.zeros((2, 2)), np.zeros((2, 2)), "min_plus").tolist() == [[0, 0]] * 2


@given(matrices())
def test_the_dense_form_makes_its_graph(matrix: np.ndarray[Any, Any]) -> None:
    g = kl.Graph.from_dense(matrix, null_value=INF)
    for graph in (g, kl.Graph.from_csr(*g.csr)):
        assert kl.Graph.from_dense(graph.dense).equals(graph)


def test_a_complete_graph_of_zeros_goes_through_a_file(tmp_path: Any) -> None:
    for weights in ([0, 3], [0.0, 3.5], [0, 0]):
        g = kl.Graph.from_edges([0, 1], [1, 0], weights)
        kl.write(g, tmp_path / "g.npy")
        assert kl.read(tmp_path / "g.npy").equals(g)


def test_the_largest_integer_is_a_weight() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([2**31 - 1, 7], np.int32))
    assert g.dense.dtype == np.int64
    assert kl.Graph.from_dense(g.dense).weights.tolist() == [2**31 - 1, 7]
    assert kl.closure(g, "max_min", device="cpu").distances[0, 1] == 2**31 - 1
    largest = kl.Graph.from_edges([0, 1], [1, 2], [2**63 - 1, 7])
    with pytest.raises(kl.GraphError, match="9223372036854775807 means 'no arc'"):
        _ = largest.dense
