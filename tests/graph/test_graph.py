"""Graph: construction, storage forms, and invalid input."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from graphs import arcs_of, graph, names
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import kleene as kl
from kleene import Graph, GraphError, MemoryBudgetError

# ---- from edges ---------------------------------------------------------------------------------


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(
                    st.integers(0, n - 1),
                    st.integers(0, n - 1),
                    st.one_of(st.integers(-4, 4), st.just(float("inf"))),
                ),
                max_size=40,
            ),
        )
    ),
    st.sampled_from(["min", "max", "sum"]),
    st.booleans(),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([np.int32, np.int64]),
)
def test_from_edges_against_a_dictionary(
    case: tuple[int, list[tuple[int, int, float]]],
    combine: Any,
    directed: bool,
    threads: int,
    id_type: type,
) -> None:
    n, arcs = case
    rule = {"min": min, "max": max, "sum": lambda a, b: a + b}[combine]
    wanted: dict[tuple[int, int], float] = {}
    for s, t, w in arcs:
        if w == float("inf"):
            continue
        for arc in {(s, t)} if directed else {(s, t), (t, s)}:
            wanted[arc] = rule(wanted[arc], w) if arc in wanted else w
    wanted = {(s, t): w for (s, t), w in wanted.items() if s != t or w < 0}
    s_, t_, w_ = (np.array(x) for x in zip(*arcs, strict=True)) if arcs else (np.empty(0),) * 3
    g = Graph.from_edges(
        s_.astype(id_type), t_.astype(id_type), w_.astype(float), n, directed,
        combine=combine, threads=threads,
    )  # fmt: skip
    assert arcs_of(g) == wanted
    assert list(arcs_of(g)) == sorted(wanted)
    assert g.n == n
    assert g.neighbors.dtype == np.int32
    assert g.offsets.dtype == np.int64


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_many_arcs_in_many_buckets(threads: int) -> None:
    """Enough arcs for several buckets and chunks, compared with SciPy's construction."""
    rng = np.random.default_rng(0)
    n, m = 5000, 400_000
    s, t, w = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m)
    g = Graph.from_edges(s, t, w, n, combine="max", threads=threads)
    order = np.lexsort((-w, t, s))
    keys = s[order] * n + t[order]
    first = np.r_[True, keys[1:] != keys[:-1]] & (s[order] != t[order])
    assert np.array_equal(g.coo.sources, s[order][first])
    assert np.array_equal(g.neighbors, t[order][first])
    assert np.array_equal(g.weights, w[order][first])


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        (np.bool_, np.int32), (np.int8, np.int32), (np.uint8, np.int32), (np.int16, np.int32),
        (np.uint16, np.int32), (np.int32, np.int32), (np.uint32, np.int64), (np.int64, np.int64),
        (np.uint64, np.int64), (np.float16, np.float32), (np.float32, np.float32),
        (np.float64, np.float64), (np.longdouble, np.float64),
    ],
)  # fmt: skip
def test_weight_types(given_: type, kept: type) -> None:
    g = Graph.from_edges([0, 1], [1, 2], np.ones(2, dtype=given_))
    assert g.weights is not None
    assert g.weights.dtype == kept


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, -3], [1, 1]), "the source of arc 1 is vertex -3, which is negative"),
        (([0, 1], [1, 7], None, 5), "the target of arc 1 is vertex 7, which is not below n = 5"),
        (([0], [1], [NAN]), "the weight of arc 0 is nan"),
        (([0, 1], [1, 2], [1.0, -INF]), "the weight of arc 1 is -inf"),
        (([0, 1], [1]), "sources and targets differ in length: 2 and 1"),
        (([0, 1], [1, 2], [1]), "got 1 weights for 2 arcs"),
        (([[0, 1]], [[1, 2]]), "sources must be one-dimensional, but has shape (1, 2)"),
        (([0, 1.5], [1, 2]), "sources[1] is 1.5, which is not an integer vertex id"),
        (([0, NAN], [1, 2]), "sources[1] is nan, which is not an integer vertex id"),
        (
            (["a"], ["b"]),
            "sources must hold vertex ids, not names; for names, use Graph.from_table(",
        ),
        (([[0], [1, 2]], [1, 2]), "sources is ragged"),
        (([None], [1]), "sources holds Python objects"),
        (([0], [1], [1j]), "weights must hold real numbers, not complex128"),
        (([0], [1], ["x"]), "weights holds text, such as 'x'; make numbers of it first"),
        (([0], [1], None, -1), "n must not be negative, but is -1"),
        (([0], [1], None, 2.5), "n must be an integer, not 2.5"),
        (([2**63 + 5], np.array([1], dtype=np.uint64)), "too large for a vertex id"),
        (([0], [1], np.array([2**63], dtype=np.uint64)), "too large for int64"),
    ],
)
def test_bad_edges(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_edges(*arguments)
    assert message in str(caught.value)


def test_sums_of_parallel_arcs_do_not_overflow() -> None:
    top = np.array([2**31 - 1] * 2, dtype=np.int32)
    g = Graph.from_edges([0, 0], [1, 1], top, combine="sum")
    assert arcs_of(g) == {(0, 1): 2**32 - 2}
    small = Graph.from_edges([0, 0], [1, 1], np.array([3, 4], dtype=np.int32), combine="sum")
    assert small.weights is not None
    assert small.weights.dtype == np.int32
    with pytest.raises(GraphError, match="may overflow int64"):
        Graph.from_edges([0, 0], [1, 1], [2**62, 2**62], combine="sum")
    with pytest.raises(GraphError, match="overflows float64"):
        Graph.from_edges([0, 0], [1, 1], [1e308, 1e308], combine="sum")


def test_labels_must_be_unique() -> None:
    for labels in (["a", "a"], np.array([7, 7])):
        with pytest.raises(GraphError, match="labels must be unique, but only 1 of 2 are distinct"):
            Graph.from_edges([0], [1], labels=labels)


def test_first_bad_arc_is_the_one_reported() -> None:
    s = np.zeros(500_000, dtype=np.int64)
    s[[123_456, 400_000]] = -1
    for threads in (1, 2, 4):
        with pytest.raises(GraphError, match="source of arc 123456 is vertex -1"):
            Graph.from_edges(s, np.ones_like(s), threads=threads)


def test_huge_id_is_refused_before_allocation() -> None:
    with pytest.raises(MemoryBudgetError, match=r"a graph of 1,000,000,000,000,001 vertices needs"):
        Graph.from_edges([0], [10**15])


def test_one_weight_for_all_and_labels() -> None:
    g = Graph.from_edges([0, 1], [1, 2], 2.5, labels=["a", "b", "c"])
    assert g.weights is not None
    assert g.weights.tolist() == [2.5, 2.5]
    assert g.index("c") == 2
    with pytest.raises(GraphError, match="got 2 labels for 3 vertices"):
        Graph.from_edges([0, 1], [1, 2], labels=["a", "b"])
    with pytest.raises(GraphError, match=r"no vertex 'z': vertices are labelled 'a', \.\.\., 'c'"):
        g.index("z")
    with pytest.raises(GraphError, match=r"no vertex 2: .*by position use graph.unlabelled"):
        g.index(2)
    with pytest.raises(GraphError, match="no vertex 3: the graph's vertices are 0 to 2"):
        g.unlabelled().index(3)
    with pytest.raises(GraphError, match="this graph has no labels"):
        Graph.from_edges([0], [1]).index("a")
    with pytest.raises(GraphError, match="no vertex True: the graph's vertices are 0 to 1"):
        Graph.from_edges([0], [1]).index(True)


# ---- from CSR -----------------------------------------------------------------------------------


@given(st.integers(1, 6), st.data())
def test_from_csr_equals_from_edges(n: int, data: st.DataObject) -> None:
    rows = [data.draw(st.lists(st.integers(0, n - 1), max_size=6)) for _ in range(n)]
    offsets = np.cumsum([0] + [len(row) for row in rows])
    neighbors = np.array([v for row in rows for v in row], dtype=np.int64)
    weights = data.draw(hnp.arrays(np.int32, len(neighbors), elements=st.integers(-3, 3)))
    sources = np.repeat(np.arange(n), np.diff(offsets))
    made = Graph.from_csr(offsets, neighbors, weights)
    assert made.equals(Graph.from_edges(sources, neighbors, weights, n=n))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "but are empty"),
        (([1, 2], [0, 0]), "offsets must run from 0 to the number of arcs, 2, but are 1 .. 2"),
        (([0, 3], [0, 0]), "but are 0 .. 3"),
        (([0, 2, 1, 2], [1, 2]), "offsets[1] = 2 and offsets[2] = 1"),
        (([0, 1], [5]), "the target of arc 0 is vertex 5, which is not below n = 1"),
        (([0, 1, 1], np.array([-1], np.int32)), "the target of arc 0 is vertex -1"),
        (([0, 1, 1], np.array([1], np.int32), [NAN]), "the weight of arc 0 is nan"),
        (([0, 1, 1], [1], [1, 2]), "got 2 weights for 1 arcs"),
    ],
)
def test_bad_csr(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_csr(*arguments)
    assert message in str(caught.value)


# ---- derived graphs and queries -----------------------------------------------------------------


def test_undirected_csr_must_be_symmetric() -> None:
    assert not Graph.from_csr([0, 1, 2], [1, 0], [5, 5], directed=False).directed
    for weights in ([5, 6], None):
        with pytest.raises(GraphError, match="has no reverse arc"):
            Graph.from_csr([0, 1, 2, 2], [1, 2 if weights is None else 0], weights, directed=False)


def test_immutable() -> None:
    g = graph("grid")
    with pytest.raises(AttributeError, match="cannot delete 'offsets'"):
        del g.offsets
    with pytest.raises(AttributeError, match="immutable"):
        g.weights = None  # type: ignore[misc]
    for array in (*g.csr, *g.csc, *g.coo, *g.ell, g.dense, g.stats.degrees):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("name", names())
def test_transpose_twice(name: str) -> None:
    g = graph(name)
    assert g.transpose().transpose().equals(g)
    assert arcs_of(g.transpose()) == {(t, s): w for (s, t), w in arcs_of(g).items()}


def test_symmetrise_subgraph_reweight() -> None:
    g = Graph.from_edges([0, 1, 1, 3], [1, 0, 2, 1], [5, 3, 1, 8])
    both = g.symmetrise()
    assert both.stats.symmetric
    assert arcs_of(both)[0, 1] == 3
    assert arcs_of(g.symmetrise("max"))[0, 1] == 5
    part = g.subgraph([3, 1])
    assert arcs_of(part) == {(0, 1): 8}
    assert part.labels is not None
    assert part.labels.tolist() == [3, 1]
    with pytest.raises(GraphError, match="no vertex 9: the graph's vertices are 0 to 3"):
        g.subgraph([9])
    with pytest.raises(GraphError, match="more than once"):
        g.subgraph([1, 1])
    assert arcs_of(g.reweight(None)) == dict.fromkeys(arcs_of(g), 1)
    assert arcs_of(g.reweight(2.5)) == dict.fromkeys(arcs_of(g), 2.5)
    assert g.reweight(arcs=[1, INF, 1, 1]).m == 3
    assert not both.reweight(1).directed
    assert both.reweight(arcs=np.arange(both.m)).directed


def test_statistics() -> None:
    g = graph("nine_vertices")
    s = g.stats
    assert s.degrees.tolist() == [2, 2, 3, 2, 2, 1, 1, 2, 0]
    assert s.in_degrees.tolist() == [1, 1, 1, 1, 2, 2, 3, 1, 3]
    assert (s.max_degree, s.mean_degree, s.density) == (3, 15 / 9, 15 / 72)
    assert not s.symmetric
    assert graph("grid").stats.symmetric
    assert graph("grid").stats.diameter_estimate == 12 - 1 + 9 - 1
    assert graph("no_vertices").stats.density == 0
    for name in names():
        assert 0 <= graph(name).stats.diameter_estimate < max(1, graph(name).n)


@given(
    hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(-(2**62), 2**62)),
    st.integers(2, 5),
)
def test_path_bound_is_exact_and_enough(weights: Any, n: int) -> None:
    rng = np.random.default_rng(len(weights))
    s, t = rng.integers(0, n, len(weights)), rng.integers(0, n, len(weights))
    g = Graph.from_edges(s, t, weights, n=n)
    heaviest: dict[int, int] = {}
    for (u, _), w in arcs_of(g).items():
        heaviest[u] = max(heaviest.get(u, 0), abs(w))
    bound = g.stats.path_bound
    assert bound >= sum(heaviest.values()) or bound >= n * max(heaviest.values(), default=0)
    assert bound <= max(sum(heaviest.values()), 2**31)


def test_magnitude_of_the_smallest_integer_weight() -> None:
    g = Graph.from_edges([0, 1], [1, 2], np.array([-(2**31), 1], dtype=np.int32))
    assert g.stats.path_bound == 2**31 + 1


def test_repr() -> None:
    assert repr(graph("grid")) == (
        "Graph(108 vertices, 195 edges, int32 weights 1 to 255, undirected)"
    )
    assert repr(graph("one_vertex")) == "Graph(1 vertex, 0 arcs, unweighted, directed)"
    assert repr(graph("no_arcs")) == "Graph(4 vertices, 0 arcs, float64 weights, directed)"
    named = Graph.from_edges([0], [1], name="town", labels=["a", "b"])
    assert (
        repr(named) == "Graph('town', 2 vertices, 1 arc, unweighted, directed, labelled 'a', 'b')"
    )


def test_pickle() -> None:
    g = Graph.from_edges([0, 1], [1, 2], [1.5, 2], labels=["a", "b", "c"], name="x")
    copy = pickle.loads(pickle.dumps(g))
    assert copy.equals(g)
    assert (copy.name, copy.directed) == ("x", True)


# ---- threads and processes ----------------------------------------------------------------------


def _build(seed: int) -> int:
    rng = np.random.default_rng(seed)
    return Graph.from_edges(rng.integers(0, 999, 200_000), rng.integers(0, 999, 200_000)).m


def test_after_fork_and_from_many_threads() -> None:
    """Native code keeps no state that breaks a forked process or another thread."""
    wanted = [_build(seed) for seed in range(4)]
    got: dict[int, int] = {}
    threads = [
        threading.Thread(target=lambda s=seed: got.__setitem__(s, _build(s))) for seed in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [got[seed] for seed in range(4)] == wanted
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_build, range(4)) == wanted


def test_progress_of_building() -> None:
    seen: list[tuple[int, int]] = []
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, 2**20, (2, 6_000_000))
    Graph.from_edges(s, t, threads=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert all(0 < done <= total for done, total in seen)
    assert kl.Graph.from_edges(s[:10], t[:10]).m == 10


def test_half_precision_ids() -> None:
    """The bound on ids is more than their type holds."""
    ids = np.arange(3, dtype=np.float16)
    assert kl.Graph.from_edges(ids, ids[::-1]).coo.sources.tolist() == [0, 2]
