"""Calls on a prepared graph: what it answers, what is searched, arguments, out and progress."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from prepared_samples import needs_device, sample
from prepared_town import TOWN, same

import kleene as kl


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
    with pytest.raises(kl.RequestError, match=r"tree takes one vertex.* use trees\(\[\.\.\.\]\)"):
        p.tree([1, 2])  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match=r"matrix needs sources; .* use trees\(\)"):
        p.matrix(None)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="make the call with predecessors=True"):
        p.matrix([0], [1], predecessors=False).path(0, 1)
    with pytest.raises(kl.RequestError, match="no semiring 'plus'"):
        kl.prepare(TOWN, semiring="plus")
    with pytest.raises(kl.RequestError, match="dtype"):
        kl.prepare(TOWN, dtype="int8")
    with pytest.raises(kl.RequestError, match="order"):
        kl.prepare(TOWN, order=[0, 0, 1])
    for order in (5, "metis"):
        with pytest.raises(kl.RequestError, match="order must be a sequence of vertices"):
            kl.prepare(TOWN, order=order)  # type: ignore[arg-type]
    wide = kl.prepare(TOWN, semiring="max_min")
    for call in (
        lambda: wide.paths([(0, 1)]),
        lambda: wide.nearest([0], [1]),
        lambda: wide.within([0], 3),
    ):
        with pytest.raises(kl.RequestError, match="prepared for 'max_min'"):
            call()


@pytest.mark.parametrize("semiring", ["min_plus", "max_min", "boolean"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("emulated", marks=needs_device)])
def test_matrices_in_reverse(semiring: str, device: str, tmp_path: Path) -> None:
    g = sample(60)
    p = kl.prepare(g, semiring=semiring)
    sources, targets = [3, 40, 11], [7, 3]
    right = p.matrix(targets, sources).values.T
    one_way = p.matrix(sources, targets).values
    assert semiring == "boolean" or not np.array_equal(right, one_way)
    found = p.matrix(sources, targets, reverse=True, device=device)
    assert found.reverse
    assert np.array_equal(found.values, right)
    found.verify()
    for s in sources:
        for t in targets:
            path = found.path(t, s)
            assert not path or (path[0], path[-1]) == (t, s)
    stored = p.matrix(sources, targets, reverse=True, out=tmp_path / "m.npy", device=device)
    assert np.array_equal(stored.values, right)
    square = p.matrix(sources, reverse=True, device=device).values
    assert np.array_equal(square, p.matrix(sources).values.T)


def test_arcs_that_elimination_joined_may_be_new() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [4, 3])
    back = kl.Graph.from_edges([2, 1], [1, 0], [5, 6])
    assert kl.prepare(g).customize(back).distance(2, 0) == 11


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
