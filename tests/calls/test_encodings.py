"""Distance encodings: against a search written out here, in every form that graphs come in."""

from __future__ import annotations

import sys
from collections import deque
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene import Graph, GraphError, RequestError, distance_encodings
from kleene.graph.dlpack import to_library, to_numpy

Arcs = list[tuple[int, int]]
INF = float("inf")


def hops(n: int, arcs: Arcs) -> list[list[int]]:
    """Search from each vertex with a queue."""
    leads_to: list[list[int]] = [[] for _ in range(n)]
    for s, t in arcs:
        leads_to[s].append(t)
    table = [[-1] * n for _ in range(n)]
    for source, row in enumerate(table):
        row[source] = 0
        queue = deque([source])
        while queue:
            v = queue.popleft()
            for u in leads_to[v]:
                if row[u] < 0:
                    row[u] = row[v] + 1
                    queue.append(u)
    return table


def padded(tables: list[list[list[int]]], pad: int) -> list[list[list[int]]]:
    side = max((len(t) for t in tables), default=0)
    return [
        [row + [pad] * (side - len(t)) for row in t] + [[pad] * side] * (side - len(t))
        for t in tables
    ]


def index_of(arcs: Arcs, shift: int = 0) -> Any:
    return np.array(arcs, dtype=np.int64).reshape(-1, 2).T + shift


@st.composite
def small_graphs(draw: Any, most: int = 9) -> list[tuple[int, Arcs]]:
    made = []
    for _ in range(draw(st.integers(0, 5))):
        n = draw(st.integers(0, most))
        vertex = st.integers(0, n - 1)
        arcs = draw(st.lists(st.tuples(vertex, vertex), max_size=3 * n)) if n else []
        made.append((n, arcs))
    return made


def as_union(graphs: list[tuple[int, Arcs]]) -> tuple[Any, list[int]]:
    ptr = [0]
    for n, _ in graphs:
        ptr.append(ptr[-1] + n)
    parts = [index_of(arcs, shift) for (_, arcs), shift in zip(graphs, ptr, strict=False)]
    return np.concatenate([np.empty((2, 0), np.int64), *parts], axis=1), ptr


@given(small_graphs(), st.randoms(use_true_random=False), st.booleans())
def test_every_form_gives_the_hops(
    graphs: list[tuple[int, Arcs]], random: Any, directed: bool
) -> None:
    both = [(n, a if directed else a + [(t, s) for s, t in a]) for n, a in graphs]
    wanted = padded([hops(n, arcs) for n, arcs in both], -1)

    def check(given: Any, **how: Any) -> None:
        made = distance_encodings(given, directed=directed, **how)
        assert made.dtype == np.int16
        assert made.tolist() == wanted

    sizes = [n for n, _ in graphs]
    check([Graph.from_edges(*index_of(arcs), n=n) for n, arcs in graphs])
    check([index_of(arcs) for _, arcs in graphs], n=sizes)
    check([index_of(arcs).astype(np.int32) for _, arcs in graphs], n=np.array(sizes, np.int32))
    check([SimpleNamespace(edge_index=index_of(arcs), num_nodes=n) for n, arcs in graphs])
    union, ptr = as_union(graphs)
    order = list(range(union.shape[1]))
    random.shuffle(order)
    check(union, ptr=ptr)
    check(union[:, order], ptr=ptr)
    check(SimpleNamespace(edge_index=union, ptr=np.array(ptr)))
    check(Graph.from_edges(*union, n=ptr[-1]), ptr=ptr)
    if all(sizes):
        check(union, batch=np.repeat(np.arange(len(sizes)), sizes))


@given(small_graphs(), st.randoms(use_true_random=False))
def test_path_arcs_lead_along_a_shortest_path(graphs: list[tuple[int, Arcs]], random: Any) -> None:
    union, ptr = as_union(graphs)
    order = list(range(union.shape[1]))
    random.shuffle(order)
    union = union[:, order]
    weights = np.array([random.randint(0, 3) for _ in order], dtype=float)
    for lengths in (None, weights):
        values, paths = distance_encodings(
            union, ptr=ptr, path_arcs=9, weighted=lengths is not None, weights=lengths, pad=-1
        )
        assert paths.shape == (*values.shape, 9)
        for g, first in enumerate(ptr[:-1]):
            size = ptr[g + 1] - first
            assert (paths[g, size:] == -1).all()
            assert (paths[g, :, size:] == -1).all()
            for i, j in np.ndindex(size, size):
                arcs = [a for a in paths[g, i, j].tolist() if a >= 0]
                walked = [first + i, *(int(union[1, a]) for a in arcs)]
                assert [int(union[0, a]) for a in arcs] == walked[:-1]
                if values[g, i, j] in (-1, INF):
                    assert arcs == []
                else:
                    assert walked[-1] == first + j
                    total = len(arcs) if lengths is None else lengths[arcs].sum()
                    assert total == values[g, i, j]
                    assert len(set(walked)) == len(walked)


def test_the_chosen_path_is_the_smallest() -> None:
    square = [[0, 0, 1, 2, 0], [2, 1, 3, 3, 2]]  # 0 to 3 by 1 or 2; 0 to 2 twice
    _, paths = distance_encodings(square, ptr=[0, 4], path_arcs=3)
    assert paths[0, 0, 3].tolist() == [1, 2, -1]
    assert paths[0, 0, 2].tolist() == [0, -1, -1]
    _, cut = distance_encodings(square, ptr=[0, 4], path_arcs=1)
    assert cut[0, 0, 3].tolist() == [1]
    light = [1.0, 9.0, 1.0, 1.0, 0.5]
    d, paths = distance_encodings(square, ptr=[0, 4], path_arcs=3, weighted=True, weights=light)
    assert d[0, 0].tolist() == [0, 9, 0.5, 1.5]
    assert paths[0, 0, 3].tolist() == [4, 3, -1]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 300])
@pytest.mark.parametrize("kind", ["path", "one way", "star", "random"])
def test_sizes_around_a_word(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    arcs: Arcs = {
        "path": [(v, v + 1) for v in range(n - 1)] + [(v + 1, v) for v in range(n - 1)],
        "one way": [(v, v + 1) for v in range(n - 1)],
        "star": [(0, v) for v in range(1, n)] + [(v, 0) for v in range(1, n)],
        "random": [(int(s), int(t)) for s, t in rng.integers(0, n, (2 * n, 2))],
    }[kind]
    wanted = hops(n, arcs)
    for dtype in ("uint8", "int16", "int32", "int64", "float32", "float64"):
        far = 200 if dtype == "uint8" else None
        made = distance_encodings(
            [index_of(arcs)], n=[n], dtype=dtype, max_distance=far, unreachable=201
        )
        assert made.dtype == dtype
        most = n if far is None else far
        expected = [[201 if h < 0 else min(h, most) for h in row] for row in wanted]
        assert made[0].tolist() == expected
    weighted = distance_encodings(
        [index_of(arcs)], n=[n], weighted=True, weights=[np.ones(len(arcs))]
    )
    assert weighted.dtype == np.float32
    assert np.where(np.isinf(weighted[0]), -1, weighted[0]).tolist() == wanted


@given(small_graphs(most=7), st.data())
def test_lengths(graphs: list[tuple[int, Arcs]], data: Any) -> None:
    made = []
    for n, arcs in graphs:
        weights = data.draw(
            st.lists(st.integers(0, 50), min_size=len(arcs), max_size=len(arcs)), label="weights"
        )
        made.append(Graph.from_edges(*index_of(arcs), np.array(weights, dtype=float), n=n))
    values = distance_encodings(made, weighted=True, dtype=np.float64, pad=-5)
    far = distance_encodings(made, weighted=True, max_distance=20, unreachable=99)
    for g, table, cut in zip(made, values, far, strict=True):
        wanted = kl.apsp(g, device="reference").distances
        assert table[: g.n, : g.n].tolist() == wanted.tolist()
        assert (table[g.n :] == -5).all()
        clipped = np.where(np.isinf(wanted), 99, np.minimum(wanted, 20))
        assert cut[: g.n, : g.n].tolist() == clipped.tolist()


def test_codes() -> None:
    g = Graph.from_edges([0, 1, 2], [1, 2, 3], n=5)
    small = Graph.from_edges([], [], n=1)
    made = distance_encodings([g, small], max_distance=2, unreachable=3, pad=4, side=6)
    assert made.shape == (2, 6, 6)
    assert made[0, 0].tolist() == [0, 1, 2, 2, 3, 4]
    assert made[1].tolist() == [[0, 4, 4, 4, 4, 4]] + [[4] * 6] * 5
    assert distance_encodings([g, small], dtype=np.uint8)[0, 4].tolist() == [255] * 4 + [0]
    floats = distance_encodings([g, small], dtype=np.float32)
    assert floats[0, 0].tolist() == [0, 1, 2, 3, INF]
    assert floats[1, 0].tolist() == [0, INF, INF, INF, INF]
    assert distance_encodings([]).shape == (0, 0, 0)
    assert distance_encodings(g).shape == (1, 5, 5)
    mixed = distance_encodings([g, g.to_networkx(), g.to_scipy(), (g.coo.sources, g.coo.targets)])
    assert (mixed[1] == mixed[0]).all()
    assert (mixed[2] == mixed[0]).all()
    assert mixed[3, :4, :4].tolist() == mixed[0, :4, :4].tolist()


def test_threads_and_many_graphs() -> None:
    rng = np.random.default_rng(1)
    graphs = [
        Graph.from_edges(*rng.integers(0, n, (2, 2 * n)), n=int(n), directed=False)
        for n in rng.integers(1, 90, 300)
    ]
    one = distance_encodings(graphs, threads=1)
    assert (distance_encodings(graphs, threads=2) == one).all()
    for g, table in zip(graphs[:40], one, strict=False):
        assert table[: g.n, : g.n].tolist() == kl.bfs(g, sources=range(g.n)).distances.tolist()


EDGE = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: distance_encodings(EDGE), RequestError, "an edge index needs ptr= or batch="),
        (lambda: distance_encodings([EDGE[:, :1]]), RequestError, "pass n=, one number per"),
        (lambda: distance_encodings([EDGE], n=[2, 3]), RequestError, "n has 2 entries for 1 graph"),
        (lambda: distance_encodings(EDGE, ptr=[0, 2], n=[2]), RequestError, "n= is for a seq"),
        (lambda: distance_encodings(EDGE, ptr=[1, 2]), RequestError, "ptr must start with 0"),
        (
            lambda: distance_encodings(EDGE, ptr=[[0]]),
            RequestError,
            "ptr must be a one-dimensional array of int",
        ),
        (lambda: distance_encodings(EDGE, batch=[1, 0]), RequestError, "batch must be sorted"),
        (lambda: distance_encodings(EDGE, ptr=[0, 1]), GraphError, "arc 1 starts at vertex 1, but"),
        (
            lambda: distance_encodings(EDGE, ptr=[0, 1, 2]),
            GraphError,
            "arc 0 leads from vertex 0 to vertex 1, but the vertices of graph 0 are 0 to 0",
        ),
        (
            lambda: distance_encodings([EDGE, EDGE], n=[2, 1]),
            GraphError,
            "arc 0 of graphs[1] leads from vertex 0 to vertex 1, but the vertices of graph 1 are 0",
        ),
        (
            lambda: distance_encodings([EDGE.T[:1]], n=[2]),
            GraphError,
            "must be an integer array of shape (2, arcs)",
        ),
        (
            lambda: distance_encodings([[[0.5], [1]]], n=[2]),
            GraphError,
            "must be an integer array of shape (2, arcs)",
        ),
        (
            lambda: distance_encodings([EDGE], n=[2], side=1),
            RequestError,
            "largest graph has 2",
        ),
        (
            lambda: distance_encodings([EDGE], n=[2], side=-1),
            RequestError,
            "side must be a non-negative integer",
        ),
        (
            lambda: distance_encodings([], path_arcs=1.5),
            RequestError,
            "path_arcs must be a non-negative integer",
        ),
        (lambda: distance_encodings([], max_distance=-1), RequestError, "max_distance must be a"),
        (lambda: distance_encodings([], dtype="int8"), RequestError, "dtype must be one of uint8"),
        (lambda: distance_encodings([], dtype="?!"), RequestError, "dtype must be one of uint8"),
        (
            lambda: distance_encodings([], weighted=True, dtype=np.int16),
            RequestError,
            "dtype must be one of float32, float64 for lengths",
        ),
        (
            lambda: distance_encodings([Graph.from_edges([0], [1], n=300)], dtype=np.uint8),
            RequestError,
            "do not fit uint8; pass a wider dtype, or max_distance",
        ),
        (
            lambda: distance_encodings([], dtype=np.uint8, unreachable=-1),
            RequestError,
            "unreachable=-1 does not fit uint8, whose values are 0 to 255",
        ),
        (lambda: distance_encodings([], pad=0.5), RequestError, "pad=0.5 does not fit int16"),
        (lambda: distance_encodings([], pad="x"), RequestError, "pad must be a number"),
        (lambda: distance_encodings(7), RequestError, "must be a sequence of graphs, not int"),
        (lambda: distance_encodings([7]), GraphError, "cannot make a graph from int"),
        (lambda: distance_encodings([EDGE], n=[2], weighted=True), RequestError, "needs weights"),
        (
            lambda: distance_encodings([EDGE], n=[2], weighted=True, weights=[[1.0]]),
            GraphError,
            "got 1 weights for 2 arcs",
        ),
        (
            lambda: distance_encodings(EDGE, ptr=[0, 2], weighted=True, weights=[1.0, -1.0]),
            GraphError,
            "the weight of arc 1 is -1.0; it must be a number >= 0",
        ),
    ],
)
def test_mistakes(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


# ---- arrays of other libraries ------------------------------------------------------------------


class Tensor:
    """An array of a library that is not NumPy: nothing but DLPack, and a device."""

    def __init__(self, array: Any, device: str = "cpu") -> None:
        self.array, self.device = array, device

    shape = property(lambda self: self.array.shape)

    def __dlpack__(self, **how: Any) -> Any:
        assert self.device == "cpu", "memory of a GPU was read"
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.device == "cpu" else (2, 0)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Any:
        return self.array

    def to(self, device: str) -> Tensor:
        return Tensor(self.array, device)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("tensors")
    vars(made).update(
        from_dlpack=lambda array: Tensor(np.from_dlpack(array)), asarray=Tensor, Tensor=Tensor
    )
    monkeypatch.setattr(Tensor, "__module__", "tensors.core")
    monkeypatch.setitem(sys.modules, "tensors", made)
    return made


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_other_libraries_get_their_own_arrays_back(device: str) -> None:
    wanted = distance_encodings([EDGE, EDGE], n=[2, 3])
    index = Tensor(EDGE, device)
    union = Tensor(np.array([[0, 1, 2, 3], [1, 0, 3, 2]]), device)
    for made in (
        distance_encodings([index, index], n=[2, 3]),
        distance_encodings(union, ptr=Tensor(np.array([0, 2, 5]), device)),
        distance_encodings(union, batch=Tensor(np.array([0, 0, 1, 1, 1]), device)),
        distance_encodings([SimpleNamespace(edge_index=index, num_nodes=n) for n in (2, 3)]),
        distance_encodings(SimpleNamespace(edge_index=union, ptr=[0, 2, 5])),
    ):
        assert isinstance(made, Tensor)
        assert made.device == device
        assert (made.array == wanted).all()
    values, paths = distance_encodings([index], n=[2], path_arcs=1)
    assert isinstance(values, Tensor)
    assert isinstance(paths, Tensor)


def test_numpy_arrays_pass_without_a_copy() -> None:
    array = np.arange(6)
    assert to_numpy(array) is array
    assert np.shares_memory(to_numpy(Tensor(array)), array)
    assert to_library(array, EDGE) is array
    assert to_library(array, None) is array
    assert to_library(array, Tensor(EDGE)) is array  # of a library that is not to be found


def test_array_namespace_is_asked_first() -> None:
    class Standard(Tensor):
        def __array_namespace__(self) -> Any:
            return SimpleNamespace(from_dlpack=lambda array: ("standard", array))

    assert to_library(EDGE, Standard(EDGE))[0] == "standard"


@settings(deadline=None, max_examples=5)
@given(small_graphs())
def test_torch(graphs: list[tuple[int, Arcs]]) -> None:
    torch = pytest.importorskip("torch")
    union, ptr = as_union(graphs)
    made = distance_encodings(torch.from_numpy(union), ptr=torch.tensor(ptr))
    assert isinstance(made, torch.Tensor)
    assert made.tolist() == padded([hops(n, arcs) for n, arcs in graphs], -1)
