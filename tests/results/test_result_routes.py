"""Routes: the arcs, table rows and coordinates of paths, and GeoJSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.graph.forms import arcs_between
from kleene.graph.rows import Lines
from kleene.results.route import Route, make_route

#: Row 0 is dropped, rows 2 and 3 are parallel, row 4 runs against its arc in one direction.
STREETS = {
    "from": ["x", "a", "b", "b", "d"],
    "to": ["x", "b", "c", "c", "c"],
    "m": [5, 10, 30, 20, 7],
}
CORNERS = {"x": (9, 9), "a": (0, 0), "b": (1, 0), "c": (2, 0), "d": (3, 0)}
SHAPES = [
    [],
    [(0, 0), (0.5, 1), (1, 0)],
    [],
    [(1, 0), (1.5, -1), (2, 0)],
    [(3, 0), (2.5, 1), (2, 0)],
]


def _with_lines(g: kl.Graph) -> kl.Graph:
    offsets = np.cumsum([0, *map(len, SHAPES)])
    lines = Lines(offsets, np.array([point for shape in SHAPES for point in shape], float))
    assert g.rows is not None
    return g._derived(g.csr, rows=g.rows.with_lines(lines))


def _streets(directed: bool = False, lines: bool = False) -> kl.Graph:
    g = kl.Graph.from_table(STREETS, "from", "to", "m", directed)
    g = g.with_positions(CORNERS)
    return _with_lines(g) if lines else g


def test_rows_and_arcs_of_a_route() -> None:
    g = _streets()
    route = kl.sssp(g, "a").route("d")
    assert route.vertices == ["a", "b", "c", "d"]
    assert route.distance == 37
    assert route.rows.tolist() == [1, 3, 4]
    assert route.weights.tolist() == [10, 20, 7]
    tails, heads = g.coo.sources[route.arcs], g.coo.targets[route.arcs]
    assert g.label(tails).tolist() == ["a", "b", "c"]
    assert g.label(heads).tolist() == ["b", "c", "d"]
    assert len(route) == 4
    assert repr(route) == "Route('a' to 'd', 3 arcs, distance 37)"


def test_straight_lines_between_positions() -> None:
    route = kl.sssp(_streets(), "a").route("d")
    assert route.coordinates.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]


def test_geometry_is_followed_and_reversed() -> None:
    g = _streets(lines=True)
    there = kl.sssp(g, "a").route("d").coordinates.tolist()
    assert there == [[0, 0], [0.5, 1], [1, 0], [1.5, -1], [2, 0], [2.5, 1], [3, 0]]
    assert kl.sssp(g, "d").route("a").coordinates.tolist() == there[::-1]
    arrival = kl.sssp(g, "d", reverse=True).route("a")
    assert arrival.coordinates.tolist() == there
    assert kl.sssp(g.transpose(), "d").route("a").coordinates.tolist() == there[::-1]


def test_some_rows_have_geometry() -> None:
    g = _streets(lines=True).reweight(rows=[5, 10, 2, 20, 7])  # row 2 has none, and is lighter
    route = kl.sssp(g, "a").route("d")
    assert route.rows.tolist() == [1, 2, 4]
    assert route.coordinates.tolist() == [[0, 0], [0.5, 1], [1, 0], [2, 0], [2.5, 1], [3, 0]]


def test_geojson() -> None:
    routes = kl.sssp(_streets(lines=True), "a").routes(["d", "a", "x"])
    collection = json.loads(json.dumps(routes.to_geojson(), allow_nan=False))
    assert collection["type"] == "FeatureCollection"
    line, point, none = collection["features"]
    assert {feature["type"] for feature in collection["features"]} == {"Feature"}
    assert line["geometry"]["type"] == "LineString"
    assert len(line["geometry"]["coordinates"]) == 7
    assert line["properties"] == {"source": "a", "target": "d", "distance": 37}
    assert point["geometry"] == {"type": "Point", "coordinates": [0, 0]}
    assert none == {"type": "Feature", "geometry": None, "properties": {"distance": None}}


def test_a_line_has_two_points_even_if_they_coincide() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2]).with_positions([[5, 5]] * 3)
    assert kl.bfs(g, 0).route(2).coordinates.tolist() == [[5, 5]] * 3
    assert kl.bfs(g, 0).route(1).coordinates.tolist() == [[5, 5]] * 2


def test_graphs_without_coordinates() -> None:
    route = kl.bfs(graph("grid"), 0).route(5)
    with pytest.raises(kl.GraphError, match=r"neither geometry nor positions: .*with_positions"):
        route.to_geojson()
    with pytest.raises(kl.GraphError, match="neither geometry nor positions"):
        _ = route.coordinates


def test_graphs_without_a_table() -> None:
    g = kl.Graph.from_dense([[0, 1.5], [np.inf, 0]])
    route = kl.sssp(g, 0).route(1)
    assert (route.rows, route.arcs.tolist(), route.distance) == (None, [0], 1.5)


def test_no_route() -> None:
    route = kl.sssp(_streets(directed=True), "c").route("a")
    assert isinstance(route, Route)
    assert not route
    assert (route.vertices, route.distance, repr(route)) == ([], np.inf, "Route(no path)")
    assert route.coordinates.shape == (0, 2)


def test_routes_are_a_sequence() -> None:
    r = kl.sssp(_streets(), "a")
    routes = r.routes()
    assert [route.vertices for route in routes] == list(r.paths())
    assert [route.vertices for route in routes[:2]] == list(r.paths()[:2])
    assert routes[-1].vertices == r.route("d").vertices
    assert "Route('a' to 'b', 1 arc, distance 10)" in repr(routes)
    with pytest.raises(IndexError):
        routes[9]


def test_routes_of_all_pairs_and_pairs() -> None:
    g = _streets()
    assert kl.apsp(g).route("a", "d").distance == 37
    assert [r.distance for r in kl.apsp(g).routes(["c", "d"], source="b")] == [20, 27]
    assert kl.sssp(g, pairs=[("b", "d")]).route(0).rows.tolist() == [3, 4]


def test_a_route_along_given_vertices() -> None:
    g = _streets()
    route = make_route(g, g.index(["b", "c", "d"]), 27)
    assert (route.vertices, route.rows.tolist(), route.distance) == (["b", "c", "d"], [3, 4], 27)
    assert make_route(g, [], 0).vertices == []


@given(st.integers(0, 10**6))
def test_arcs_between(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 30))
    g = kl.Graph.from_edges(*rng.integers(0, n, (2, m)), n=n)
    tails, heads = rng.integers(0, n, (2, 50))
    where: dict[Any, int] = {
        arc: i for i, arc in enumerate(zip(*(x.tolist() for x in g.coo[:2]), strict=True))
    }
    expected = [where.get(arc, -1) for arc in zip(tails.tolist(), heads.tolist(), strict=True)]
    assert arcs_between(g, tails, heads).tolist() == expected
