"""A graph does not change with the arrays it was made from, nor through those it gives out."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import kleene as kl
from kleene.graph import CSR
from kleene.graph.forms import adopt, frozen

N = 40


def dense() -> np.ndarray:
    rng = np.random.default_rng(1)
    matrix = rng.integers(1, 9, (N, N)).astype(np.float64)
    matrix[rng.random((N, N)) < 0.8] = np.inf
    np.fill_diagonal(matrix, 0)
    return matrix


def arcs(ids: type = np.int32, weights: type = np.float64) -> tuple[np.ndarray, ...]:
    sources, targets, values = kl.Graph.from_dense(dense()).coo
    return sources.astype(ids), targets.astype(ids), values.astype(weights)


def rows(ids: type = np.int32, weights: type = np.float64) -> tuple[np.ndarray, ...]:
    offsets, neighbors, values = kl.Graph.from_dense(dense()).csr
    return offsets.copy(), neighbors.astype(ids), values.astype(weights)


class Foreign:
    """An array of another library, which shares its memory by DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Edges:
    def __init__(self, index: np.ndarray, weights: np.ndarray) -> None:
        self.edge_index, self.edge_weight, self.num_nodes = index, weights, N


Made = tuple[kl.Graph, list[np.ndarray]]


def from_edges() -> Made:
    given = arcs()
    return kl.Graph.from_edges(*given, n=N), list(given)


def from_edges_labels() -> Made:
    labels = np.arange(N)[::-1].copy()
    return kl.Graph.from_edges(*arcs(), n=N, labels=labels), [labels]


def from_csr() -> Made:
    given = rows()
    return kl.Graph.from_csr(*given), list(given)


def from_csr_int64() -> Made:
    given = rows(np.int64, np.int64)
    return kl.Graph.from_csr(*given), list(given)


def from_csr_undirected() -> Made:
    given = [a.copy() for a in kl.Graph.from_csr(*rows()).symmetrise().csr]
    return kl.Graph.from_csr(*given, directed=False), given


def from_csr_buffers() -> Made:
    given = list(rows())
    return kl.Graph.from_csr(*map(memoryview, given)), given


def from_csr_views() -> Made:
    given = [np.repeat(array, 2) for array in rows()]
    return kl.Graph.from_csr(*(array[::2] for array in given)), given


def from_scipy(kind: str) -> Callable[[], Made]:
    def make() -> Made:
        s, t, w = arcs()
        matrix = sp.coo_array((w, (s, t)), shape=(N, N)).asformat(kind)
        held = [value for value in vars(matrix).values() if isinstance(value, np.ndarray)]
        if kind == "coo":
            held += list(matrix.coords)
        return kl.Graph.from_scipy(matrix), held

    make.__name__ = f"from_scipy_{kind}"
    return make


def from_dense() -> Made:
    given = dense()
    return kl.Graph.from_dense(given), [given]


def from_dense_int32() -> Made:
    given = np.nan_to_num(dense(), posinf=np.iinfo(np.int32).max).astype(np.int32)
    return kl.Graph.from_dense(given), [given]


def from_any_dlpack() -> Made:
    given = dense()
    return kl.Graph.from_any(Foreign(given)), [given]


def from_any_tuple() -> Made:
    given = arcs()
    return kl.Graph.from_any(tuple(map(Foreign, given)), n=N), list(given)


def from_any_edge_index() -> Made:
    s, t, w = arcs(np.int64)
    index = np.stack([s, t])
    return kl.Graph.from_any(Edges(index, w)), [index, w]


def from_table() -> Made:
    s, t, w = arcs(np.int64)
    table = {"source": s, "target": t, "weight": w}
    return kl.Graph.from_table(table, weight="weight"), [s, t, w]


def from_arrow() -> Made:
    pa = pytest.importorskip("pyarrow")
    given = arcs(np.int64)
    columns = [pa.Array.from_buffers(pa.from_numpy_dtype(a.dtype), len(a), [None, pa.py_buffer(a)])
               for a in given]  # fmt: skip
    table = pa.table(columns, names=["source", "target", "weight"])
    return kl.Graph.from_table(table, weight="weight"), list(given)


def from_pandas() -> Made:
    pd = pytest.importorskip("pandas")
    given = arcs(np.int64)
    names = ("source", "target", "weight")
    frame = pd.DataFrame(dict(zip(names, given, strict=True)), copy=False)
    return kl.Graph.from_any(frame), list(given)


def from_form() -> Made:
    given = rows()
    return kl.Graph(CSR(*given)), list(given)


def reweighted() -> Made:
    base = from_edges()[0]
    weights = np.asarray(base.weights) + 1
    return base.reweight(arcs=weights), [weights]


MAKERS = [
    from_edges, from_edges_labels, from_csr, from_csr_int64, from_csr_undirected, from_csr_buffers,
    from_csr_views, *map(from_scipy, ("csr", "csc", "coo", "dok", "lil", "dia", "bsr")), from_dense,
    from_dense_int32, from_any_dlpack, from_any_tuple, from_any_edge_index, from_table, from_arrow,
    from_pandas, from_form, reweighted,
]  # fmt: skip


def given_out(graph: kl.Graph) -> list[np.ndarray]:
    """Return every array that a graph gives out."""
    stats = graph.stats
    found = [
        *graph.csr, *graph.csc, *graph.coo, *graph.ell, graph.dense, graph.labels, stats.degrees,
        stats.in_degrees, *graph.transpose().csr, *graph.symmetrise().csr, *graph.arc_rows,
    ]  # fmt: skip
    if graph.rows is not None:
        found += [graph.rows.sources, graph.rows.targets, graph.rows.weights]
    return [array for array in found if array is not None]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_input_may_change_afterwards(make: Callable[[], Made]) -> None:
    graph, given = make()
    expected = make()[0]
    answer = kl.sssp(expected, 0).distances.copy()
    for array in given:
        if array.flags.writeable:
            array[...] = 2**31 - 1
    assert graph.equals(expected)
    np.testing.assert_array_equal(kl.sssp(graph, 0).distances, answer)
    for array in given_out(graph):
        assert not any(np.shares_memory(array, other) for other in given)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_arrays_given_out_stay_read_only(make: Callable[[], Made]) -> None:
    graph, _ = make()
    for array in given_out(graph):
        for view in (array, array[:1], array.view(), array.T, array.base):
            if isinstance(view, np.ndarray):
                assert not view.flags.writeable
                with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                    view.setflags(write=True)
    if graph.weights is not None:
        matrix = graph.to_scipy()
        with pytest.raises(ValueError, match="read-only"):
            matrix.data[:] = 0


def test_graphs_from_files_and_generators_are_read_only(tmp_path: Any) -> None:
    made = kl.generate.grid(5, 5, weights=(1, 9))
    kl.write(made, tmp_path / "g.npz")
    loaded = kl.read(tmp_path / "g.npz")
    for graph in (made, loaded, pickle.loads(pickle.dumps(made)), kl.generate.complete(5)):
        for array in given_out(graph):
            with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                array.setflags(write=True)


def test_derived_graphs_share_what_cannot_change() -> None:
    graph = from_edges()[0]
    assert graph.coo.targets is graph.neighbors
    assert kl.Graph(graph.csr).neighbors is graph.neighbors
    assert graph.transpose().offsets is graph.csc.offsets


@pytest.mark.parametrize("size", [0, 1, 512, 513, 100_000])
@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.uint8, object])
def test_frozen(size: int, dtype: type) -> None:
    given = np.arange(size).astype(dtype)
    kept, taken = frozen(given), adopt(given.copy())
    for array in (kept, taken):
        assert array.dtype == given.dtype
        np.testing.assert_array_equal(array, np.arange(size).astype(dtype))
        assert frozen(array) is array
        assert adopt(array) is array
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.setflags(write=True)
    given[:] = 7
    np.testing.assert_array_equal(kept, np.arange(size).astype(dtype))


@pytest.mark.parametrize("build", ["edges", "csr", "scipy", "dense", "csgraph"])
def test_writes_during_the_call_do_not_crash(build: str) -> None:
    n, m = 300, 150_000
    rng = np.random.default_rng(2)
    ids = [rng.integers(0, n, m).astype(np.int32) for _ in range(2)]
    matrix = rng.random((n, n))
    sparse = sp.csr_array(np.where(matrix < 0.5, matrix, 0))
    offsets, neighbors = sparse.indptr.astype(np.int64), sparse.indices
    calls: dict[str, Callable[[], object]] = {
        "edges": lambda: kl.Graph.from_edges(*ids, n=n, threads=2),
        "csr": lambda: kl.Graph.from_csr(offsets, neighbors, sparse.data),
        "scipy": lambda: kl.Graph.from_scipy(sparse),
        "dense": lambda: kl.Graph.from_dense(matrix).neighbors,
        "csgraph": lambda: kl.csgraph.dijkstra(matrix, indices=0),
    }
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for value in (2**31 - 1, 0, n - 1):
                ids[0][:] = value
                neighbors[: m // 2] = value
                matrix[:, ::2] = value

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(6):
            try:
                graph = calls[build]()
            except (kl.GraphError, kl.NegativeCycleError, ValueError):
                continue
            if isinstance(graph, kl.Graph):
                assert graph.m == 0 or 0 <= graph.neighbors.min() <= graph.neighbors.max() < n
                kl.bfs(graph, 0)
    finally:
        stop.set()
        writer.join()


def test_a_reinterpreted_array_is_refused() -> None:
    graph = kl.generate.grid(60, 60, weights=(1, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer NumPy deprecates the assignment
        graph.neighbors.dtype = np.int64  # half as many entries as there are arcs
    for call in (kl.bfs, kl.sssp):
        with pytest.raises((TypeError, kl.KleeneError)):
            call(graph, 0)
