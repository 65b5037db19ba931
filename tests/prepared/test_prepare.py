"""Prepared graphs: every call against plain searches, on all graphs, with labels and proof."""

from __future__ import annotations

import math
from typing import Any

import graphs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_town import STREETS, length_of, same

import kleene as kl
from kleene.backends.semiring import SEMIRINGS

NAMES = sorted(set(graphs.names()) - graphs.WITH_NEGATIVE_CYCLE - {"negative_cycle_elsewhere"})
CYCLES = sorted(graphs.WITH_NEGATIVE_CYCLE | {"negative_cycle_elsewhere"})


# ---- every graph --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reverse", [False, True])
def test_trees_are_those_of_searches(name: str, reverse: bool) -> None:
    g = graphs.graph(name)
    p = kl.prepare(g)
    right = kl.apsp(g, method="auto", reverse=reverse)
    found = p.trees(reverse=reverse)
    same(found.distances, right.distances)
    assert found.problem == "apsp"
    assert (found.plan.method, found.plan.device) == ("prepared", "cpu")
    assert "prepared: " in str(found.plan)
    found.verify(sample=4)
    links = found.next_hops if reverse else found.predecessors
    assert links.shape == (g.n, g.n)
    found.verify(sample=16)  # with predecessors that are there
    for v in range(min(3, g.n)):
        tree = p.tree(v, reverse=reverse)
        same(tree.distances, right.distances[v])
        tree.verify()


@pytest.mark.parametrize("name", NAMES)
def test_matrices_are_parts_of_trees(name: str) -> None:
    g = graphs.graph(name)
    rng = np.random.default_rng(1)
    sources, targets = (rng.integers(g.n, size=k if g.n else 0) for k in (4, 6))
    r = kl.prepare(g).matrix(sources, targets)
    right = kl.apsp(g).distances[sources][:, targets]
    same(r.distances, right)
    same(r.floats, kl.sssp(g, sources=sources, targets=targets).floats)
    assert "every" not in r._answer.rest.__dict__, "no whole row was computed"
    proof = r.verify()
    assert (proof.rows, proof.of) == (len(sources), len(sources))
    assert "every" not in r._answer.rest.__dict__
    for s, t in zip(sources.tolist(), targets.tolist(), strict=False):
        path = r.path(s, t)
        if r.distances[sources.tolist().index(s), targets.tolist().index(t)] == r.no_path:
            assert path == []
        else:
            assert (path[0], path[-1]) == (s, t)
            assert math.isclose(length_of(g, path), float(kl.sssp(g, s).distances[t]), abs_tol=1e-5)
    assert r.predecessors.shape == (len(sources), g.n)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_those_of_searches(name: str) -> None:
    g = graphs.graph(name)
    p = kl.prepare(g)
    ends = np.random.default_rng(2).integers(g.n, size=(9 if g.n else 0, 2))
    right = kl.sssp(g, pairs=ends)
    same(p.distances(ends), right.distances)
    found = p.paths(ends)
    same(found.distances, right.distances)
    found.verify()
    for i, (s, t) in enumerate(ends.tolist()):
        value, path = p.distance(s, t), p.path(s, t)
        assert type(value) in (int, float)
        length = found.routes()[i].distance  # infinity where there is none
        rounded = g.stats.negative and isinstance(value, float)
        assert math.isclose(value, length, rel_tol=1e-12) if rounded else value == length
        assert path == found.path(i)
        if path:
            assert (path[0], path[-1]) == (s, t)
            assert math.isclose(length_of(g, path), value, rel_tol=1e-5, abs_tol=1e-6)
        else:
            assert value == math.inf


@pytest.mark.parametrize("name", sorted(set(graphs.names()) - {"negative_loop"}))
@pytest.mark.parametrize("semiring", ["boolean", "max_min", "max_times"])
def test_closures_of_other_semirings(name: str, semiring: str) -> None:
    g = graphs.graph(name)
    if semiring == "max_times" and g.m and not 0 <= g.stats.min_weight <= g.stats.max_weight <= 1:
        with pytest.raises(kl.GraphError, match="probabilities"):
            kl.prepare(g, semiring=semiring)
        return
    p = kl.prepare(g, semiring=semiring)
    right = kl.closure(g, semiring).values
    found = p.closure()
    same(found.values, right)
    found.verify()
    assert found.problem == "closure"
    same(kl.closure(p).values, right)
    if g.n:
        same(p.tree(0).values, right[0])
        part = p.matrix([0], [g.n - 1, 0])
        same(part.values, right[:1, [g.n - 1, 0]])
        part.verify()
        zero = SEMIRINGS[semiring].zero(right.dtype)
        value, last = p.distance(0, g.n - 1), right[0, -1]
        assert (p.path(0, g.n - 1) == []) == (last == zero)
        right_value = last if last != zero or right.dtype.kind != "i" else -math.inf
        assert value == right_value or math.isclose(value, right_value, rel_tol=1e-5)


@pytest.mark.parametrize("name", CYCLES)
def test_negative_cycles_are_reported(name: str) -> None:
    g = graphs.graph(name)
    with pytest.raises(kl.NegativeCycleError) as found:
        kl.prepare(g)
    cycle = found.value.cycle
    assert length_of(g, [*cycle, cycle[0]]) < 0


@pytest.mark.parametrize("name", [name for name in NAMES if graphs.graph(name).n])
def test_nearest_and_within_are_those_of_searches(name: str) -> None:
    g = graphs.graph(name)
    p = kl.prepare(g)
    if g.stats.negative:
        with pytest.raises(kl.RequestError, match=r"non-negative weights.* -\S+; use kleene\.sssp"):
            p.within([0], 3)
        return
    facilities = np.random.default_rng(3).integers(g.n, size=4)
    sources = np.unique(np.random.default_rng(4).integers(g.n, size=5))
    for reverse in (False, True):
        for k, limit in ((1, None), (3, None), (5, 4)):
            right = kl.nearest(g, facilities, k, limit=limit, reverse=reverse)
            found = p.nearest(sources, facilities, k, limit=limit, reverse=reverse)
            same(found.distances, right.distances[sources])
            if p.dtype.kind != "f":
                assert np.array_equal(found.which, right.which[sources])
            found.verify()
        area = p.within(sources, 5, reverse=reverse)
        same(
            area.distances.toarray(), kl.within(g, sources, 5, reverse=reverse).distances.toarray()
        )
        area.verify()
        p.within(sources, math.inf, reverse=reverse, predecessors=False).verify()


# ---- labels and tables --------------------------------------------------------------------------


def test_vertices_are_labels() -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g)
    assert p.distance("a", "e") == 10
    assert p.path("a", "e") == ["a", "b", "c", "d", "e"]
    assert p.distance("e", "a") == math.inf
    assert p.distances([("a", "c"), ("b", "d")]).tolist() == [5, 7]
    assert p.paths([("a", "c")]).path(0) == ["a", "b", "c"]
    tree = p.tree("b")
    assert tree.path("d") == ["b", "c", "d"]
    assert tree.route("d").rows.tolist() == [1, 2]
    r = p.matrix(["a", "b"], ["d", "a"])
    assert r.to_frame().loc["a", "d"] == 9
    assert r.path("b", "d") == ["b", "c", "d"]
    assert r.routes(["d"], source="a")[0].distance == 9
    assert r.sources.tolist() == ["a", "b"]
    assert r.to_pandas().predecessor.tolist()[0] == "c"
    near = p.nearest(["b", "a"], ["e", "c"])
    assert near.owner.tolist() == ["c", "c"]
    assert near.path("a") == ["a", "b", "c"]
    assert near.route("b").distance == 3
    assert near.to_frame().vertex.tolist() == ["b", "a"]
    assert near.paths() == [["b", "c"], ["a", "b", "c"]] or list(near.paths())
    area = p.within("a", 5)
    assert area.reached("a").tolist() == ["a", "b", "c"]
    with pytest.raises(kl.GraphError, match="no vertex 'z'"):
        p.distance("a", "z")
    with pytest.raises(kl.RequestError, match="not among the sources"):
        near.path("c")
    with pytest.raises(kl.RequestError, match="not among the targets"):
        r.path("a", "b")


def test_a_matrix_in_reverse() -> None:
    p = kl.prepare(kl.Graph.from_table(STREETS))
    r = kl.sssp(p, sources=["d", "e"], targets=["a", "b"], reverse=True)
    right = kl.sssp(p.graph, sources=["d", "e"], targets=["a", "b"], reverse=True)
    same(r.distances, right.distances)
    assert r.path("a", "e") == right.path("a", "e")
    assert r.next_hops.tolist() == right.next_hops.tolist()
    assert r.to_frame().equals(right.to_frame())
    r.verify()


# ---- random graphs ------------------------------------------------------------------------------


@st.composite
def random_graphs(draw: st.DrawFn) -> kl.Graph:
    n = draw(st.integers(1, 12))
    vertices = st.integers(0, n - 1)
    m = draw(st.integers(0, 30))
    ends = [draw(st.lists(vertices, min_size=m, max_size=m)) for _ in range(2)]
    whole = st.integers(-1 if draw(st.booleans()) else 0, 9)
    kind = draw(st.sampled_from([np.int32, np.int64, np.float32, np.float64]))
    weights = np.array(draw(st.lists(whole, min_size=m, max_size=m)), kind)
    return kl.Graph.from_edges(*ends, weights, n=n, directed=draw(st.booleans()))


@given(random_graphs(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_random_graphs(g: kl.Graph, rng: Any) -> None:
    try:
        right = kl.apsp(g, method="floyd_warshall", device="reference")
    except kl.NegativeCycleError:
        with pytest.raises(kl.NegativeCycleError) as found:
            kl.prepare(g)
        cycle = found.value.cycle
        assert length_of(g, [*cycle, cycle[0]]) < 0
        return
    order = list(range(g.n))
    rng.shuffle(order)
    p = kl.prepare(g, order=order)
    r = p.trees()
    same(r.distances, right.distances)
    assert r.predecessors is not None
    r.verify()
    part = rng.sample(order, rng.randint(1, g.n)), rng.sample(order, rng.randint(1, g.n))
    matrix = p.matrix(*part)
    same(matrix.distances, right.distances[part[0]][:, part[1]])
    matrix.verify()
    p.paths([(s, t) for s in part[0] for t in part[1]]).verify()
    if not g.stats.negative:
        p.within(part[0], 7).verify()
        p.nearest(part[0], part[1], k=2).verify()
