"""Prepared graphs: every call against plain searches, on all graphs, with labels and proof."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import graphs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_town import STREETS, TOWN, length_of, same

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
    assert "_whole" not in r._answer.__dict__, "no whole row was computed"
    proof = r.verify()
    assert (proof.rows, proof.of) == (len(sources), len(sources))
    assert "_whole" not in r._answer.__dict__
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
        assert value == found.routes()[i].distance  # infinity where there is none
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
        with pytest.raises(kl.RequestError, match="not negative"):
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


# ---- new weights --------------------------------------------------------------------------------


def test_new_weights_in_every_form() -> None:
    g = kl.Graph.from_table(STREETS, directed=False)
    p = kl.prepare(g)
    new = np.array([5, 1, 1, 2, 7])
    right = kl.apsp(g.reweight(rows=new)).distances
    by_arc = g.reweight(rows=new).weights
    for q in (
        p.customize(new),  # five rows, ten arcs: no doubt
        p.customize(rows=new),
        p.customize(by_arc),
        p.customize(arcs=by_arc),
        p.customize(g.reweight(rows=new)),
        p.customize(iter(new)),
    ):
        assert np.array_equal(q.trees().distances, right)
        assert q.graph.weights.tolist() == by_arc.tolist()
        assert q._elimination is p._elimination
    assert np.array_equal(p.trees().distances, kl.apsp(g).distances), "the first is unchanged"
    assert p.customize(1).distance("a", "e") == 2
    assert p.customize(lambda s, t: s + t).distance("a", "b") == 1
    assert p.customize(2.5).dtype == np.float64
    assert p.customize(semiring="boolean").distance("a", "e") is True
    assert p.customize(dtype="float64").distance("a", "e") == 10.0
    assert p.customize().distance("a", "e") == 10


def test_closed_streets() -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g)
    closed = p.customize(rows=[2.0, math.inf, 4, 12, 1])
    assert closed.graph.m == 4
    assert closed.distance("a", "d") == 12
    assert closed.distance("b", "d") == math.inf
    closed.trees().verify()
    assert closed.customize(g).distance("a", "d") == 9, "and open again"
    assert p.customize(g.update({("a", "b"): math.inf})).path("a", "e") == ["a", "d", "e"]


def test_new_weights_that_do_not_fit() -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g)
    with pytest.raises(kl.GraphError, match="give the column itself"):
        p.customize("minutes")
    with pytest.raises(kl.GraphError, match="rows=array or arcs=array"):
        p.customize([1, 2, 3, 4, 5])
    with pytest.raises(kl.GraphError, match="got 3 weights for 5 arcs"):
        p.customize([1, 2, 3])
    with pytest.raises(kl.GraphError, match="not in the prepared graph"):
        p.customize(kl.Graph.from_edges([0], [4], [1], n=5, labels=g.labels))
    with pytest.raises(kl.GraphError, match="other vertices"):
        p.customize(kl.Graph.from_edges([0], [1], n=5))
    with pytest.raises(kl.GraphError, match="once"):
        p.customize(g, rows=[1, 2, 3, 4, 5])
    with pytest.raises(kl.NegativeCycleError) as found:
        kl.prepare(kl.Graph.from_edges([0, 1], [1, 0], [3, 4], labels=["x", "y"])).customize(
            arcs=[3, -4]
        )
    assert set(found.value.cycle) == {"x", "y"}
    with pytest.raises(kl.GraphError, match="probabilities"):
        p.customize(semiring="max_times")


# ---- calls on a prepared graph ------------------------------------------------------------------


def test_other_calls_take_a_prepared_graph() -> None:
    p, g = kl.prepare(TOWN), TOWN
    for found, right in (
        (kl.sssp(p, 3), kl.sssp(g, 3)),
        (kl.sssp(p, sources=[3, 5], reverse=True), kl.sssp(g, sources=[3, 5], reverse=True)),
        (kl.sssp(p, 3, targets=[9, 4]), kl.sssp(g, 3, targets=[9, 4])),
        (kl.apsp(p), kl.apsp(g)),
        (kl.apsp(p, sources=[1, 2]), kl.apsp(g, sources=[1, 2])),
        (kl.sssp(p, pairs=[(1, 2), (3, 4)]), kl.sssp(g, pairs=[(1, 2), (3, 4)])),
        (kl.apsp(p, pairs=[(1, 2), (3, 4)]), kl.sssp(g, pairs=[(1, 2), (3, 4)])),
        (kl.closure(p, "boolean"), kl.closure(g, "boolean")),
        (kl.closure(p, "max_min", sources=[4]), kl.closure(g, "max_min", sources=[4])),
        (kl.sssp(p, 3, method="prepared", dtype="int64"), kl.sssp(g, 3, dtype="int64")),
    ):
        assert found.plan.method == "prepared", found
        same(found.distances, right.distances)
        assert found.graph is g
        found.verify()
    assert kl.closure(p).problem == "closure"
    assert kl.closure(p).plan.semiring == "min_plus"
    assert kl.sssp(p, 3, predecessors=False).predecessors is None
    near = kl.nearest(p, [1, 50], k=2)
    assert np.array_equal(near.which, kl.nearest(g, [1, 50], k=2).which)
    area = kl.within(p, [1], 9)
    assert (area.distances != kl.within(g, [1], 9).distances).nnz == 0
    assert area.plan.method == "prepared"


def test_what_it_cannot_answer_is_searched() -> None:
    p = kl.prepare(TOWN)
    for found in (
        kl.sssp(p, 3, limit=5),
        kl.sssp(p, 3, deterministic=True),
        kl.sssp(p, 3, method="dijkstra"),
        kl.sssp(p, 3, dtype="float64"),
        kl.sssp(p, 3, device="reference"),
        kl.apsp(p, limit=5, method="batched"),
        kl.sssp(kl.prepare(TOWN, semiring="max_min"), 3, method="dijkstra"),
    ):
        assert found.plan.method != "prepared"
        found.verify()
    assert kl.bfs(p, 3).distances.tolist() == kl.bfs(TOWN, 3).distances.tolist()
    assert kl.within(p, [3], k=4).k == 4
    assert kl.within(p, [3], 4, hops=True).hops


def test_calls_that_take_no_prepared_graph() -> None:
    p = kl.prepare(TOWN)
    for call in (
        lambda: kl.components(p),
        lambda: kl.isochrones(p, 0, [3]),
        lambda: kl.k_shortest(p, 0, 3, 2),
        lambda: kl.prepare(p),
    ):
        with pytest.raises(kl.GraphError, match=r"pass prepared\.graph"):
            call()
    with pytest.raises(kl.GraphError, match=r"expected a kleene\.Graph"):
        kl.sssp([[0, 1], [1, 0]], 0)  # type: ignore[arg-type]


def test_arguments_are_checked() -> None:
    p = kl.prepare(TOWN)
    with pytest.raises(kl.RequestError, match="no device 'reference'"):
        p.matrix([0], [1], device="reference")
    with pytest.raises(kl.RequestError, match="sources must be a sequence"):
        p.matrix(3, [1])
    with pytest.raises(kl.RequestError, match="distance takes two vertices"):
        p.distance([0, 1], 2)
    with pytest.raises(kl.RequestError, match="path takes two vertices"):
        p.path(0, np.array([2]))
    with pytest.raises(kl.RequestError, match="pairs must"):
        p.distances([1, 2])
    with pytest.raises(kl.RequestError, match="facilities is empty"):
        p.nearest([1], [])
    with pytest.raises(kl.RequestError, match="within needs a limit"):
        p.within([1], None)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="several sources go by keyword"):
        p.tree([1, 2])  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="no semiring 'plus'"):
        kl.prepare(TOWN, semiring="plus")
    with pytest.raises(kl.RequestError, match="dtype"):
        kl.prepare(TOWN, dtype="int8")
    with pytest.raises(kl.RequestError, match="order"):
        kl.prepare(TOWN, order=[0, 0, 1])
    wide = kl.prepare(TOWN, semiring="max_min")
    for call in (
        lambda: wide.paths([(0, 1)]),
        lambda: wide.nearest([0], [1]),
        lambda: wide.within([0], 3),
    ):
        with pytest.raises(kl.RequestError, match="prepared for 'max_min'"):
            call()


def test_out_and_progress(tmp_path: Path) -> None:
    p = kl.prepare(TOWN)
    right = kl.apsp(TOWN).distances
    out = np.empty((2, 3), p.dtype)
    r = p.matrix([1, 2], [3, 4, 5], out=out)
    assert r.distances is out or np.shares_memory(r.distances, out)
    assert np.array_equal(out, right[1:3, 3:6])
    kept = p.matrix([1, 2], [3, 4, 5], out=tmp_path / "m.npy")
    assert np.array_equal(np.load(tmp_path / "m.npy"), kept.distances)
    kept.verify()
    rows = np.empty((2, TOWN.n), p.dtype)
    q = kl.sssp(p, sources=[1, 2], targets=[3, 4], out=rows)  # as in other calls: whole rows
    assert np.array_equal(rows, right[1:3])
    assert q.distances.shape == (2, 2)
    with pytest.raises(kl.RequestError, match="out must be"):
        p.matrix([1, 2], [3, 4], out=out)
    reports: list[tuple[int, int]] = []
    kl.prepare(kl.generate.grid(30, 30), progress=lambda done, total: reports.append((done, total)))
    assert reports
    assert all(0 <= done <= total for done, total in reports)


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
