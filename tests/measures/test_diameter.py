"""Eccentricities, diameter, radius, center and periphery, beside searches from all vertices."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_distances import ZOO, measured_graphs, plain_rows

import kleene as kl
from kleene import _native
from kleene.measures import eccentricity_bounds
from kleene.measures.eccentricity_bounds import by_bounds


def farthest(rows: Any) -> Any:
    """Return the largest finite entry of each row."""
    return np.where(np.isfinite(rows), rows, 0).max(axis=1, initial=0)


def check(g: kl.Graph, hops: bool, reverse: bool = False) -> None:
    """Compare all five calls with plain searches."""
    rows = plain_rows(g, hops)
    right = farthest(rows.T if reverse else rows)
    if reverse and g.weight_dtype is not None and g.weight_dtype.kind == "f" and not hops:
        right = farthest(plain_rows(g.transpose()))  # sums begin at the other end
    options: Any = {"hops": hops, "unreachable": "ignore"}
    e = kl.eccentricity(g, reverse=reverse, **options)
    assert e.values.tolist() == right.tolist()
    e.verify()
    if g.n == 0:
        return
    names = g.label(np.arange(g.n))
    assert kl.diameter(g, **options) == farthest(rows).max()
    options["reverse"] = reverse
    assert kl.radius(g, **options) == right.min()
    assert kl.center(g, **options).tolist() == names[right == right.min()].tolist()
    assert kl.periphery(g, **options).tolist() == names[right == right.max()].tolist()
    assert (e.diameter, e.radius) == (right.max(), right.min())
    assert e.center.tolist() == names[right == right.min()].tolist()
    assert e.periphery.tolist() == names[right == right.max()].tolist()


@pytest.mark.parametrize("hops", [True, False], ids=["hops", "weights"])
@pytest.mark.parametrize("name", ZOO)
def test_the_zoo(name: str, hops: bool) -> None:
    for g in measured_graphs(name):
        check(g, hops)


@pytest.mark.parametrize("name", ["disconnected", "float64_weights", "hub_out", "int64_weights"])
def test_paths_that_lead_to_a_vertex(name: str) -> None:
    for g in measured_graphs(name):
        check(g, True, reverse=True)
        check(g, False, reverse=True)


@st.composite
def small_graphs(draw: Any) -> kl.Graph:
    n = draw(st.integers(1, 14))
    arcs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
    kind = draw(st.sampled_from(["none", "int", "float32", "float64"]))
    weights: Any = None
    if kind == "int":
        weights = draw(st.lists(st.integers(0, 9), min_size=len(arcs), max_size=len(arcs)))
        weights = np.array(weights, np.int32)
    elif kind != "none":
        numbers = st.floats(0, 1, width=32)
        weights = np.array(
            draw(st.lists(numbers, min_size=len(arcs), max_size=len(arcs))), dtype=kind
        )
    tails, heads = [a for a, _ in arcs], [b for _, b in arcs]
    return kl.Graph.from_edges(tails, heads, weights, n=n, directed=draw(st.booleans()))


@given(small_graphs(), st.booleans())
def test_any_graph(g: kl.Graph, hops: bool) -> None:
    check(g, hops)


@pytest.mark.parametrize("kind", [None, np.int32, np.float64], ids=["hops", "ints", "floats"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_few_searches_are_enough(directed: bool, kind: Any) -> None:
    """And the answer is that of all of them, which are many."""
    arcs = kl.generate.grid(14, 14).coo
    weights = None if kind is None else 9 * np.random.default_rng(2).random(len(arcs.sources)) + 1
    g = kl.Graph.from_edges(
        arcs.sources, arcs.targets, None if weights is None else weights.astype(kind),
        directed=directed,
    )  # fmt: skip
    right = farthest(plain_rows(g))
    for goal in ("diameter", "radius"):
        found = by_bounds(
            g, goal, kind is None, np.dtype(kind or np.int32),
            (np.zeros(g.n, np.int32), np.array([g.n])), forbidden, 2,
        )  # fmt: skip
        assert found.searches < len(right) // 4
        if goal == "diameter":
            assert found.largest == right.max()
        else:
            assert found.smallest == right.min()


def forbidden(_: Any) -> Any:
    raise AssertionError("bounds were to decide it")


@pytest.mark.parametrize("size", [7, 150])
@pytest.mark.parametrize("weights", [None, 3, 0.1], ids=["hops", "ints", "floats"])
@pytest.mark.parametrize("batch", [16, 2**12])
def test_graphs_on_which_bounds_decide_nothing(
    size: int, weights: Any, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All vertices of a circle are alike: what is left is searched from many at once."""
    monkeypatch.setattr(eccentricity_bounds, "_TOGETHER", batch)
    around = np.arange(size)
    lengths = None if weights is None else np.full(size, weights)
    for directed in (True, False):
        check(kl.Graph.from_edges(around, (around + 1) % size, lengths, directed=directed), False)


def test_what_one_component_leaves_open_another_decides() -> None:
    """Bounds give up on a circle of 300; then a longer path, and an edge, make it irrelevant."""
    around = np.arange(300)
    path = 300 + np.arange(290)
    tails = np.concatenate([around, path[:-1], [600]])
    heads = np.concatenate([(around + 1) % 300, path[1:], [601]])
    check(kl.Graph.from_edges(tails, heads, directed=False), True)


def test_rounding_decides_as_searches_from_all_vertices_do() -> None:
    """Many paths of nearly the same length: bounds must not rule out the longest by a hair."""
    rng = np.random.default_rng(3)
    for size in (5, 9, 12):
        side = np.arange(size * size).reshape(size, size)
        tails = np.concatenate([side[:, :-1].ravel(), side[:-1].ravel()])
        heads = np.concatenate([side[:, 1:].ravel(), side[1:].ravel()])
        lengths = rng.choice([0.1, 0.2, 0.3], len(tails))
        check(kl.Graph.from_edges(tails, heads, lengths, directed=False), False)


def test_numbers_are_those_of_networkx() -> None:
    graph = nx.connected_watts_strogatz_graph(80, 4, 0.2, seed=1)
    for _, _, data in graph.edges(data=True):
        data["weight"] = 1 + hash(str(data)) % 1
    g = kl.Graph.from_networkx(graph)
    e = kl.eccentricity(g, hops=True)
    assert {v: e[v] for v in graph} == nx.eccentricity(graph)
    assert kl.diameter(g) == nx.diameter(graph, weight="weight")
    assert kl.radius(g) == nx.radius(graph, weight="weight")
    assert sorted(kl.center(g).tolist()) == sorted(nx.center(graph, weight="weight"))
    assert sorted(kl.periphery(g).tolist()) == sorted(nx.periphery(graph, weight="weight"))


def test_many_components() -> None:
    """Each takes the time that it takes: ten thousand of them are done at once."""
    pairs = np.arange(20_000).reshape(-1, 2)
    tails, heads = [*pairs[:, 0], 3], [*pairs[:, 1], 4]
    lengths = np.arange(1, len(tails) + 1)
    g = kl.Graph.from_edges(tails, heads, lengths, directed=False)
    for weighted in (True, False):
        options: Any = {"hops": not weighted, "unreachable": "ignore"}
        assert kl.diameter(g, **options) == (10_006 if weighted else 3)
        assert kl.radius(g, **options) == 1
        e = kl.eccentricity(g, **options)
        assert e.values[[0, 19_999]].tolist() == ([1, 10_000] if weighted else [1, 1])
    both = kl.Graph.from_edges([*tails, *heads], [*heads, *tails], [*lengths, *lengths])
    assert kl.eccentricity(both, unreachable="ignore").searches < 2 * both.n


def test_a_graph_that_is_not_connected() -> None:
    g = kl.Graph.from_edges([0, 1, 3], [1, 2, 4], directed=False)
    for call in (kl.diameter, kl.radius, kl.center, kl.periphery, kl.eccentricity):
        with pytest.raises(kl.GraphError, match=r"not connected: it has 2 components.*'ignore'"):
            call(g)
    one_way = kl.Graph.from_edges([0], [1])
    with pytest.raises(kl.GraphError, match=r"strongly connected.*kl.components\(g, 'strong'\)"):
        kl.diameter(one_way)
    assert kl.diameter(one_way, unreachable="ignore") == 1
    assert kl.eccentricity(one_way, unreachable="ignore").values.tolist() == [1, 0]
    assert kl.eccentricity(one_way, unreachable="ignore", reverse=True).values.tolist() == [0, 1]


def test_no_vertices_and_one() -> None:
    none = kl.Graph.from_edges([], [])
    assert kl.eccentricity(none).values.tolist() == []
    assert kl.center(none).tolist() == kl.periphery(none).tolist() == []
    for call in (kl.diameter, kl.radius, lambda g: kl.eccentricity(g).diameter):
        with pytest.raises(kl.GraphError, match="without vertices"):
            call(none)
    one = kl.Graph.from_edges([], [], n=1)
    assert (kl.diameter(one), kl.radius(one), kl.center(one).tolist()) == (0, 0, [0])
    assert kl.eccentricity(kl.Graph.from_edges([0], [0], [2.5])).values.tolist() == [0]


def test_labels_and_prepared_graphs() -> None:
    g = kl.Graph.from_edges(
        [0, 1, 2], [1, 2, 3], [1, 2, 4], directed=False, labels=["a", "b", "c", "d"]
    )
    assert kl.center(g).tolist() == ["c"]
    assert kl.periphery(kl.prepare(g)).tolist() == ["a", "d"]
    e = kl.eccentricity(g)
    assert (e["a"], e.top(1), repr(e)) == (
        7, [("a", 7)], "Eccentricity(eccentricity of 4 vertices, most 7 at 'a')",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"unreachable": "inf"}, "unreachable must be 'error' or 'ignore', not 'inf'"),
        ({"unreachable": None}, "unreachable must be"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_arguments(keywords: Any, message: str) -> None:
    with pytest.raises(kl.RequestError, match=message):
        kl.diameter(kl.generate.grid(3, 3), **keywords)


def test_negative_weights_are_refused() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 0], [3, -1])
    with pytest.raises(kl.RequestError, match=r"non-negative weights, and the smallest is -1"):
        kl.diameter(g)
    assert kl.diameter(g, hops=True) == 1


def test_lengths_near_the_end_of_a_type() -> None:
    for weight, kind in ((2**29, np.int32), (2**60, np.int64)):
        g = kl.Graph.from_edges(
            [0, 1], [1, 2], np.array([weight, weight - 1], kind), directed=False
        )
        assert kl.diameter(g) == 2 * weight - 1
        assert kl.eccentricity(g).values.tolist() == [2 * weight - 1, weight, 2 * weight - 1]


def test_a_wrong_number_is_found() -> None:
    e = kl.eccentricity(kl.generate.grid(6, 6))
    for place in (0, 14):
        wrong = np.array(e)
        wrong[place] += 1
        e.values = wrong
        with pytest.raises(kl.VerificationError, match="has the eccentricity"):
            e.verify(sample=36)
    wrong = np.array(kl.eccentricity(kl.generate.grid(6, 6)))
    wrong[17] = 100  # the largest is always looked at
    e.values = wrong
    with pytest.raises(kl.VerificationError, match="has the eccentricity 100"):
        e.verify(sample=1)


def test_progress_is_reported_and_may_stop_the_call() -> None:
    seen: list[tuple[int, int]] = []
    ring = kl.generate.cycle(500)
    e = kl.eccentricity(ring, progress=lambda done, total: seen.append((done, total)))
    assert e.values.tolist() == [499 if ring.directed else 250] * 500
    assert seen[-1][0] == seen[-1][1]

    def stop(*_: int) -> None:
        raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        kl.eccentricity(ring, progress=stop)


def test_64_bit_ids() -> None:
    g = kl.generate.rmat(7, 6, seed=1, weights=(1, 9), directed=False)
    g = g.subgraph(kl.components(g).largest)
    wide = g.neighbors.astype(np.int64)
    for lengths in (None, g.weights.astype(np.int64), g.weights.astype(np.float64)):
        kind = np.float64 if lengths is not None and lengths.dtype.kind == "f" else np.int64
        lower, upper = np.zeros(g.n, kind), np.zeros(g.n, kind)
        largest, *_ = _native.bound_eccentricities(
            "diameter", g.offsets, wide, lengths, None, None, None, 9.0, None, None, lower, upper,
            np.zeros(g.n, np.uint8), 1,
        )  # fmt: skip
        assert largest == kl.diameter(g, hops=lengths is None)
        _native.target_eccentricities(
            True, g.offsets, wide, lengths, None, None, None, 9.0, None, None, lower,
            np.zeros(g.n, np.uint8), 1,
        )  # fmt: skip
        assert lower.max() == largest
        assert math.isfinite(largest)
