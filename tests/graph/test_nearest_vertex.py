"""The vertices nearest to points, beside a loop over all vertices."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kleene as kl
from kleene.graph.earth import RADIUS


def placed(n: int, degrees: bool, seed: int = 0, labels: Any = None) -> kl.Graph:
    rng = np.random.default_rng(seed)
    xy = rng.uniform([-180, -90], [180, 90], (n, 2)) if degrees else rng.normal(0, 50, (n, 2))
    g = kl.Graph.from_edges([0], [1], n=n, labels=labels)
    return g.with_positions(xy, crs="EPSG:4326" if degrees else None)


def brute_force(g: kl.Graph, x: float, y: float) -> tuple[int, float]:
    """Return the nearest vertex, by the angle between vectors on the sphere."""
    best = (-1, np.inf)
    positions = np.asarray(g.positions).tolist()
    for vertex, (a, b) in enumerate(positions):
        if g.crs is None:
            far = float(np.hypot(a - x, b - y))
        else:
            one, two = (
                np.array([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)])
                for u, v in np.radians([[a, b], [x, y]])
            )
            far = float(RADIUS * np.arctan2(np.linalg.norm(np.cross(one, two)), one @ two))
        if far < best[1]:
            best = vertex, far
    return best


@pytest.mark.parametrize("degrees", [False, True])
def test_brute_force(degrees: bool) -> None:
    g = placed(300, degrees)
    points = np.asarray(placed(60, degrees, seed=1).positions)
    found = g.nearest_vertex(*points.T)
    right = [brute_force(g, x, y) for x, y in points.tolist()]
    assert found.vertices.tolist() == [vertex for vertex, _ in right]
    np.testing.assert_allclose(found.distances, [far for _, far in right], rtol=1e-9)


def test_across_the_antimeridian_and_the_pole() -> None:
    g = kl.generate.path(3).with_positions([(179.9, 10), (-170, 10), (90, 89)], crs="EPSG:4326")
    assert g.nearest_vertex([-179.9, -90], [10, 89]).vertices.tolist() == [0, 2]


def test_one_point_is_a_label_and_a_number() -> None:
    g = placed(4, False, labels=["a", "b", "c", "d"])
    x, y = np.asarray(g.positions)[2]
    vertex, distance = g.nearest_vertex(x, y)
    assert (vertex, distance) == ("c", 0)
    assert isinstance(vertex, str)
    assert isinstance(distance, float)
    assert isinstance(placed(4, False).nearest_vertex(0, 0).vertices, int)


def test_columns_of_any_library() -> None:
    g = placed(9, False, labels=[f"v{i}" for i in range(9)])
    x, y = np.asarray(g.positions)[[7, 1]].T
    for column in (list, pd.Series, pl.Series, tuple):
        assert g.nearest_vertex(column(x), column(y)).vertices.tolist() == ["v7", "v1"]
    none = g.nearest_vertex([], [])
    assert (len(none.vertices), len(none.distances)) == (0, 0)


@pytest.mark.parametrize("degrees", [False, True])
def test_no_vertex_within_the_distance(degrees: bool) -> None:
    g = placed(50, degrees)
    x, y = np.asarray(placed(20, degrees, seed=3).positions).T
    every = g.nearest_vertex(x, y)
    limit = float(np.sort(every.distances)[10])  # which is within
    some = g.nearest_vertex(x, y, max_distance=limit)
    assert np.array_equal(some.vertices.mask, every.distances > limit)
    assert np.array_equal(some.vertices.compressed(), every.vertices[every.distances <= limit])
    assert np.array_equal(np.isinf(some.distances), some.vertices.mask)
    far = int(every.distances.argmax())
    assert g.nearest_vertex(x[far], y[far], max_distance=limit) == (None, np.inf)
    with pytest.raises(kl.RequestError, match="masked entries; leave them out"):
        kl.bfs(g, sources=some.vertices)


def test_the_first_of_vertices_in_one_place() -> None:
    g = kl.generate.path(4).with_positions([(5, 5), (1, 1), (1, 1), (1, 1)])
    assert g.nearest_vertex(0, 0).vertices == 1


def test_the_tree_is_kept() -> None:
    g = placed(20, True)
    g.nearest_vertex(0, 0)
    tree = g.__dict__["_nearest_tree"]
    g.nearest_vertex([1], [1])
    assert g.__dict__["_nearest_tree"] is tree
    assert g.with_positions(np.zeros((20, 2))).nearest_vertex(0, 0).vertices == 0
    again = pickle.loads(pickle.dumps(g))
    assert again.nearest_vertex(0, 0) == g.nearest_vertex(0, 0)
    labelled = placed(20, False, labels=[f"v{i}" for i in range(20)])
    name = labelled.nearest_vertex(0, 0).vertices
    assert labelled.unlabelled().nearest_vertex(0, 0).vertices == labelled.index(name)


def test_many_points_by_several_threads() -> None:
    g = placed(500, True)
    x, y = np.asarray(placed(40_000, True, seed=2).positions).T
    many, one = g.nearest_vertex(x, y, threads=3), g.nearest_vertex(x[:9], y[:9])
    assert np.array_equal(many.vertices[:9], one.vertices)


NAN = float("nan")


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        (NAN, 1, {}, r"point 0 is at \(nan, 1.0\); leave out points"),
        ([0, 1], [2, np.inf], {}, r"point 1 is at \(1.0, inf\)"),
        ([0, 1], [2], {}, r"two columns of one length, not \(2,\) and \(1,\)"),
        ([[0]], [[2]], {}, "two columns of one length"),
        ("Rome", 1, {}, "x must be numbers"),
        (0, None, {}, "point 0 is at"),
        (np.ma.MaskedArray([1, 2], [0, 1]), [1, 2], {}, "x has masked entries"),
        (48, 95, {}, "not longitude and latitude in degrees; x is the longitude"),
        (0, 0, {"max_distance": -1}, "max_distance must be a number from 0 on, not -1"),
        (0, 0, {"max_distance": NAN}, "max_distance must be"),
        (0, 0, {"max_distance": "far"}, "max_distance must be"),
    ],
)
def test_points_that_are_none(x: Any, y: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.RequestError, match=message):
        placed(5, True).nearest_vertex(x, y, **options)


def test_graphs_without_places() -> None:
    with pytest.raises(kl.GraphError, match=r"no positions; give .* with graph.with_positions"):
        kl.generate.path(3).nearest_vertex(0, 0)
    empty = kl.Graph.from_edges([], [], n=0).with_positions(np.empty((0, 2)))
    with pytest.raises(kl.GraphError, match="no vertices"):
        empty.nearest_vertex(0, 0)


def test_systems_of_positions() -> None:
    g = kl.generate.path(2)
    assert g.crs is None
    assert g.with_positions([(0, 0), (1, 1)], crs=25832).crs == "EPSG:25832"
    moved = g.with_positions([(0, 0), (1, 1)], crs="EPSG:4326")
    assert moved.reweight(3).crs == "EPSG:4326"
    assert moved.with_positions([(0, 0), (1, 1)]).crs is None
