"""``kl.isochrones``: what lies within limits, as vertices, streets and outlines."""

from __future__ import annotations

import heapq
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

import kleene as kl
from kleene.graph.rows import Lines
from kleene.results.isochrones import outline


def area_of(ring: Any) -> float:
    x, y = np.asarray(ring).T
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2)


def grid(side: int, step: float = 1.0, **options: Any) -> kl.Graph:
    g = kl.generate.grid(side, side, **options)
    return g.with_positions([(step * (v % side), step * (v // side)) for v in range(g.n)])


def spans(lines: list[Any]) -> list[list[list[float]]]:
    """Return lines in an order and a direction of their own."""
    rounded = [np.round(line, 9) for line in lines]
    return sorted(min(line.tolist(), line[::-1].tolist()) for line in rounded)


# ---- vertices -----------------------------------------------------------------------------------


def test_bands_beside_a_search() -> None:
    g = grid(20, weights=(1, 9), seed=1)
    whole = kl.sssp(g, 210)
    zones = kl.isochrones(g, 210, [20, 5, 10, 10])
    assert zones.limits == (5.0, 10.0, 20.0)
    for limit in zones.limits:
        assert set(zones.vertices(limit)) == set(np.flatnonzero(whole.distances <= limit))
    table = zones.to_frame()
    assert table.distance.is_monotonic_increasing
    for vertex, distance, limit in table.values.tolist():
        assert whole.distances[int(vertex)] == distance
        assert limit == min(x for x in zones.limits if distance <= x)
    zones.verify()
    assert repr(zones).startswith("Isochrones(from 210: ")


def test_limits_in_the_type_of_the_distances() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.float32([0.1, 0.2])).with_positions(np.zeros((3, 2)))
    zones = kl.isochrones(g, 0, [0.1, np.float32(0.1) + np.float32(0.2)])
    assert zones.to_frame()["limit"].tolist() == [zones.limits[0]] * 2 + [zones.limits[1]]


def test_labels_and_directions() -> None:
    table = {"source": ["a", "b", "c"], "target": ["b", "c", "a"], "s": [10, 20, 40]}
    g = kl.Graph.from_table(table, weight="s").with_positions([(0, 0), (10, 0), (0, 10)])
    there, back = kl.isochrones(g, "a", 20), kl.isochrones(g, "a", 20, reverse=True)
    assert there.vertices(20).tolist() == ["a", "b"]
    assert back.vertices(20).tolist() == ["a"]
    assert spans(there.streets(20)) == [[[0, 0], [10, 0]], [[5, 5], [10, 0]]]
    assert spans(back.streets(20)) == [[[0, 0], [0, 5]]]  # the last half of the street from c
    assert there.to_geojson()["features"][0]["properties"] == {
        "source": "a", "limit": 20.0, "kind": "area", "vertices": 2,
    }  # fmt: skip


# ---- streets ------------------------------------------------------------------------------------


def test_streets_are_cut_where_the_limit_ends() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [4.0, 4.0], directed=False)
    g = g.with_positions([(0, 0), (8, 0), (8, 8)])
    assert spans(kl.isochrones(g, 0, 5).streets(5)) == [[[0, 0], [8, 0]], [[8, 0], [8, 2]]]
    assert spans(kl.isochrones(g, 1, 3).streets(3)) == [[[2, 0], [8, 0]], [[8, 0], [8, 6]]]
    assert kl.isochrones(g, 0, 0).streets(0) == []
    assert spans(kl.isochrones(g, 0, 1.5, hops=True).streets(1.5)) == [[[0, 0], [8, 0]]]


def test_a_street_reached_from_both_ends() -> None:
    """A circle of three: the far street is covered from both ends, with or without a gap."""
    g = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 1.0, 10.0], directed=False)
    g = g.with_positions([(0, 0), (0, 1), (10, 1)])
    apart = spans(kl.isochrones(g, 0, 3).streets(3))
    assert [[0, 1], [2, 1]] in apart
    assert [[8, 1], [10, 1]] in apart
    assert len(apart) == 4
    together = spans(kl.isochrones(g, 0, 6).streets(6))
    assert [[0, 1], [10, 1]] in together
    assert len(together) == 3


def test_a_one_way_street_is_not_entered_from_its_end() -> None:
    g = kl.Graph.from_edges([0, 2], [1, 1], [1.0, 4.0]).with_positions([(0, 0), (1, 0), (2, 0)])
    assert spans(kl.isochrones(g, 0, 3).streets(3)) == [[[0, 0], [1, 0]]]


def test_arcs_of_length_zero_are_reached_whole() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [1, 0]).with_positions([(0, 0), (1, 0), (2, 0)])
    assert spans(kl.isochrones(g, 0, 1).streets(1)) == [[[0, 0], [1, 0]], [[1, 0], [2, 0]]]


def bent(reverse_row: bool) -> kl.Graph:
    """A street from a to b that turns a corner, as a row from a to b or from b to a."""
    ends = ("b", "a") if reverse_row else ("a", "b")
    table = {"source": [ends[0], "b"], "target": [ends[1], "c"], "m": [10.0, 1.0]}
    g = kl.Graph.from_table(table, weight="m", directed=False)
    g = g.with_positions({"a": (0, 0), "b": (5, 5), "c": (6, 5)})
    line = [(0, 0), (5, 0), (5, 5)]
    line = line[::-1] if reverse_row else line
    assert g.rows is not None
    return g._derived(
        g.csr, rows=g.rows.with_lines(Lines(np.array([0, 3, 3]), np.array(line, float)))
    )


@pytest.mark.parametrize("reverse_row", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_streets_follow_their_geometry(reverse_row: bool, reverse: bool) -> None:
    g = bent(reverse_row)
    whole = kl.isochrones(g, "a", 11, reverse=reverse)
    assert spans(whole.streets(11)) == [[[0, 0], [5, 0], [5, 5]], [[5, 5], [6, 5]]]
    part = kl.isochrones(g, "a", 7, reverse=reverse)
    assert spans(part.streets(7)) == [[[0, 0], [5, 0], [5, 2]]]
    other = kl.isochrones(g, "c", 8, reverse=reverse)
    assert spans(other.streets(8)) == [[[3, 0], [5, 0], [5, 5]], [[5, 5], [6, 5]]]


def test_two_carriageways_are_two_streets() -> None:
    """One-way rows in opposite directions, each with a line of its own."""
    g = kl.Graph.from_table(
        {"source": ["a", "b"], "target": ["b", "a"], "m": [4.0, 4.0]}, weight="m"
    )
    g = g.with_positions({"a": (0, 0), "b": (2, 0)})
    assert g.rows is not None
    points = np.array([(0, 0), (1, 1), (2, 0), (2, 0), (1, -1), (0, 0)], float)
    g = g._derived(g.csr, rows=g.rows.with_lines(Lines(np.array([0, 3, 6]), points)))
    zones = kl.isochrones(g, "a", [2, 8])
    assert spans(zones.streets(2)) == [[[0, 0], [1, 1]]]
    assert spans(zones.streets(8)) == [[[0, 0], [1, -1], [2, 0]], [[0, 0], [1, 1], [2, 0]]]


# ---- outlines -----------------------------------------------------------------------------------


def test_a_diamond() -> None:
    zones = kl.isochrones(grid(21), 220, [5])
    [polygon] = zones.area(5)
    assert len(polygon) == 1
    assert area_of(polygon[0]) == pytest.approx(2 * 5 * 5)
    features = zones.to_geojson()["features"]
    assert [f["geometry"]["type"] for f in features] == ["Polygon", "MultiLineString"]
    assert json.loads(json.dumps(zones.to_geojson())) == zones.to_geojson()
    assert zones.__geo_interface__ == zones.to_geojson()


def test_geojson_is_in_degrees(tmp_path: Path) -> None:
    """Metres would lie in the sea; libraries that know of coordinates get them as they are."""
    g = grid(9)
    metres = g.with_positions(np.asarray(g.positions) * 100 + [480_000, 5_400_000])
    zones = kl.isochrones(metres, 40, [1, 3])
    for write in (zones.to_geojson, lambda: zones.save(tmp_path / "zones.geojson")):
        with pytest.raises(kl.GraphError, match=r"degrees, and a position is \(480000, 5.4e\+06\)"):
            write()
    assert not list(tmp_path.iterdir())
    assert len(zones.__geo_interface__["features"]) == 4
    route = kl.bfs(metres, 0).route(40)
    with pytest.raises(kl.GraphError, match="longitude and latitude in degrees"):
        route.to_geojson()
    assert len(route.coordinates) == len(route)


def test_files(tmp_path: Path) -> None:
    zones = kl.isochrones(grid(9), 40, [1, 3])
    zones.save(tmp_path / "zones.geojson")
    assert json.loads((tmp_path / "zones.geojson").read_text()) == zones.to_geojson()
    zones.save(str(tmp_path / "zones.csv"))
    lines = (tmp_path / "zones.csv").read_text().splitlines()
    assert lines[:2] == ["vertex,distance,limit", "40,0,1.0"]
    assert len(lines) == 26
    with pytest.raises(kl.RequestError, match="unknown suffix"):
        zones.save(tmp_path / "zones.shp")


def test_the_largest_is_first_and_kinds_can_be_chosen() -> None:
    zones = kl.isochrones(grid(9), 40, [1, 3])
    limits = [f["properties"]["limit"] for f in zones.to_geojson("area")["features"]]
    assert limits == [3.0, 1.0]
    assert zones.to_geojson([])["features"] == []
    with pytest.raises(kl.RequestError, match="'area' and 'streets', not 'roads'"):
        zones.to_geojson(["roads"])
    with pytest.raises(kl.RequestError, match="not one of the limits, which are 1, 3"):
        zones.area(2)


def test_a_lake_is_a_hole_and_an_island_a_polygon() -> None:
    side = 13
    x, y = np.arange(side * side) % side, np.arange(side * side) // side
    lake = (abs(x - 6) < 3) & (abs(y - 6) < 3)
    points = np.stack([x, y], axis=1)[~lake].astype(float)
    island = np.array([(30.0, 30), (31, 30), (30, 31)])
    polygons = outline(np.vstack([points, island]), 1.5)
    assert sorted(len(polygon) for polygon in polygons) == [1, 2]
    with_hole = max(polygons, key=len)
    assert area_of(with_hole[0]) == 144
    assert area_of(with_hole[1]) == -34  # its corners are cut
    assert [len(p) for p in outline(points, 10)] == [1]  # the lake is filled


def test_far_from_the_origin() -> None:
    """Metres in a national grid: millions, with streets of tens."""
    here = np.random.default_rng(1).random((400, 2)) * 100
    areas = [
        sum(area_of(ring - ring[0]) for polygon in outline(here + far, 12.0) for ring in polygon)
        for far in (0.0, 5e7)
    ]
    assert areas[1] == pytest.approx(areas[0], rel=1e-6)


@pytest.mark.parametrize(
    "points", [[], [(1, 1)], [(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2), (5, 5)], [(3, 3)] * 5]
)
def test_no_area(points: Any) -> None:
    assert outline(np.array(points, float).reshape(-1, 2), 100) == []


def test_hardly_any_area() -> None:
    """Points on one line but for rounding, for which Qhull has a corner at infinity."""
    points = [(50, 39.99999999999986), (30.00000000000007, 20.000000000000284), (30, 20), (40, 30)]
    for polygon in outline(np.array([*points, (50, 40)], float), 100):
        assert sum(area_of(ring) for ring in polygon) < 1e-10


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60),
    st.sampled_from([1.0, 1.5, 2.3, 4.0, 20.0]),
)
def test_polygons_have_the_area_of_their_triangles(points: Any, longest: float) -> None:
    """Rings are closed, visit no point twice, and enclose what triangles of short sides cover."""
    array = np.unique(np.array(points, float).reshape(-1, 2), axis=0)
    polygons = outline(array, longest)
    covered = 0.0
    if len(array) > 2 and np.linalg.matrix_rank(array - array[0]) == 2:
        for corners in array[Delaunay(array - array.mean(axis=0)).simplices]:
            sides = corners - np.roll(corners, 1, axis=0)
            if (np.hypot(*sides.T) <= longest).all():
                covered += abs(area_of([*corners, corners[0]]))
    for polygon in polygons:
        areas = [area_of(ring) for ring in polygon]
        assert areas[0] > 0
        assert all(area < 0 for area in areas[1:])
        for ring in polygon:
            assert (ring[0] == ring[-1]).all()
            assert len(np.unique(ring[:-1], axis=0)) == len(ring) - 1 >= 3
    assert sum(area_of(ring) for polygon in polygons for ring in polygon) == pytest.approx(covered)


def test_degenerate_networks() -> None:
    one = kl.Graph.from_edges([], [], n=1).with_positions([(3, 4)])
    zones = kl.isochrones(one, 0, [0, 5])
    assert (zones.vertices(5).tolist(), zones.streets(5), zones.area(5)) == ([0], [], [])
    geometries = [f["geometry"] for f in zones.to_geojson()["features"]]
    assert geometries == [None, {"type": "MultiLineString", "coordinates": []}] * 2
    two = kl.Graph.from_edges([0], [1], [2.0]).with_positions([(0, 0), (1, 0)])
    assert kl.isochrones(two, 0, 2).area(2) == []
    line = kl.generate.grid(1, 9).with_positions([(v, v) for v in range(9)])
    assert kl.isochrones(line, 4, 3).area(3) == []
    same = grid(3).with_positions(np.ones((9, 2)))
    assert kl.isochrones(same, 4, 3).area(3) == []


def test_the_longest_side_can_be_chosen() -> None:
    g = grid(11, step=100.0)
    assert kl.isochrones(g, 60, 3).longest == pytest.approx(300)
    assert kl.isochrones(g, 60, 3, longest=50).area(3) == []
    [polygon] = kl.isochrones(g, 60, 3, longest=150).area(3)
    assert area_of(polygon[0]) == pytest.approx(2 * 300 * 300)


def test_what_is_refused() -> None:
    bare = kl.generate.grid(3, 3)
    with pytest.raises(kl.GraphError, match=r"add them with graph\.with_positions"):
        kl.isochrones(bare, 0, 1)
    g = grid(3)
    for limits in (-1, math.nan, math.inf, "x", [1, None], True, [10**400]):
        with pytest.raises(kl.RequestError, match="limits must be"):
            kl.isochrones(g, 0, limits)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="limits is empty"):
        kl.isochrones(g, 0, [])
    with pytest.raises(kl.RequestError, match="longest must be"):
        kl.isochrones(g, 0, 1, longest=-2)
    with pytest.raises(kl.GraphError):
        kl.isochrones(g, 99, 1)
    with pytest.raises(kl.RequestError, match="source is empty: name at least one"):
        kl.isochrones(g, [], 1)
    with pytest.raises(kl.RequestError, match="each must be True or False"):
        kl.isochrones(g, [0, 1], 1, each="yes")  # type: ignore[call-overload]
    with pytest.raises(kl.GraphError, match="no vertex 99"):
        kl.isochrones(g, [0, 99], 1)


def test_limits_are_rounded_to_the_type_of_the_weights() -> None:
    weights = np.array([0.1, 0.1, 3e38], np.float32)  # whose sums are float64
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], weights)
    g = g.with_positions([(v, 0) for v in range(4)])
    zones = kl.isochrones(g, 0, [0.1, 0.2])
    assert repr(zones) == "Isochrones(from 0: 2 within 0.1, 3 within 0.2)"
    assert ">2</td>" in zones._repr_html_()
    assert zones.vertices(0.1).tolist() == [0, 1]
    assert zones.to_frame()["limit"].tolist() == [0.1, 0.1, 0.2]
    assert [line.tolist() for line in zones.streets(0.1)] == [[[0, 0], [1, 0]]]
    counts = [f["properties"]["vertices"] for f in zones.to_geojson(["streets"])["features"]]
    assert counts == [3, 2]


# ---- several sources ----------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_the_area_of_several_sources(reverse: bool) -> None:
    """What is near to any of them: vertices, streets from both sides, and one outline."""
    g = grid(20, weights=(1, 9), seed=2)
    sources = [21, 378, 210]
    zones = kl.isochrones(g, sources, [8, 16], reverse=reverse)
    least = kl.sssp(g, sources=sources, reverse=reverse).distances.min(axis=0)
    for limit in zones.limits:
        assert set(zones.vertices(limit)) == set(np.flatnonzero(least <= limit))
    table = zones.to_frame()
    assert table.distance.is_monotonic_increasing
    for vertex, distance, _, source in table.values.tolist():
        assert distance == least[int(vertex)]
        ends = (int(source), int(vertex))
        assert kl.sssp(g, ends[reverse]).distances[ends[not reverse]] == distance
    assert zones.source == sources
    assert zones.to_geojson()["features"][0]["properties"]["source"] == sources
    assert zones.verify().rows == 3
    assert repr(zones).startswith(f"Isochrones({'to' if reverse else 'from'} [21, 378, 210]: ")
    single = kl.isochrones(g, [21], [8])
    assert (single.source, list(single.to_frame())[-1]) == ([21], "source")


def test_a_street_between_two_sources_is_reached_from_both_ends() -> None:
    g = kl.Graph.from_edges([0], [1], [10.0], directed=False).with_positions([(0, 0), (10, 0)])
    together = kl.isochrones(g, [0, 1], [3, 5])
    assert spans(together.streets(3)) == [[[0, 0], [3, 0]], [[7, 0], [10, 0]]]
    assert spans(together.streets(5)) == [[[0, 0], [10, 0]]]


def test_areas_of_neighbours_are_joined() -> None:
    g = grid(21)
    near, far = kl.isochrones(g, [200, 206], 4), kl.isochrones(g, [46, 394], 4)
    assert len(near.area(4)) == 1
    assert len(far.area(4)) == 2
    alone = kl.isochrones(g, 200, 4).area(4)
    assert area_of(near.area(4)[0][0]) > area_of(alone[0][0])
    assert [f["geometry"]["type"] for f in far.to_geojson("area")["features"]] == ["MultiPolygon"]


def test_areas_of_each(tmp_path: Path) -> None:
    g = grid(15, weights=(1, 9), seed=3)
    sources = [16, 112, 208, 16]
    each = kl.isochrones(g, sources, [5, 15], each=True, longest=2.5)
    assert len(each) == 4
    for source, zones in zip(sources, each, strict=True):
        alone = kl.isochrones(g, source, [5, 15], longest=2.5)
        assert zones.source == source
        assert zones.to_geojson() == alone.to_geojson()
        assert zones.to_frame().equals(alone.to_frame())
        assert zones.reach.path(source, zones.vertices(15)[-1])
    assert [zones.source for zones in each[1:3]] == [112, 208]
    frame = each.to_frame()
    assert list(frame) == ["source", "vertex", "distance", "limit"]
    assert len(frame) == sum(len(zones.to_frame()) for zones in each)
    features = each.to_geojson()["features"]
    limits = [feature["properties"]["limit"] for feature in features]
    assert limits == [15.0] * 8 + [5.0] * 8
    assert [f["properties"]["source"] for f in features[:8:2]] == sources
    assert each.__geo_interface__["features"] == features
    each.save(tmp_path / "each.geojson")
    assert json.loads((tmp_path / "each.geojson").read_text()) == each.to_geojson()
    each.save(tmp_path / "each.csv")
    assert (tmp_path / "each.csv").read_text().startswith("source,vertex,distance,limit\n16,16,0")
    assert each.verify().rows == 4
    assert repr(each).startswith("IsochronesEach(from [16, 112, 208, 16]: ")
    one = kl.isochrones(g, 16, [5], each=True)
    assert [zones.source for zones in one] == [16]
    many = kl.isochrones(g, range(9), [5], each=True)
    assert repr(many).startswith("IsochronesEach(from 9 sources: ")


def test_labels_of_several_sources() -> None:
    table = {"source": ["a", "b"], "target": ["b", "c"], "s": [10, 20]}
    g = kl.Graph.from_table(table, weight="s").with_positions([(0, 0), (10, 0), (0, 10)])
    zones = kl.isochrones(g, ["a", "c"], 5)
    assert zones.to_geojson()["features"][0]["properties"]["source"] == ["a", "c"]
    assert zones.to_frame()["source"].tolist() == ["a", "c"]


# ---- beside a plain program ---------------------------------------------------------------------


def plain_reach(g: kl.Graph, source: int, limit: float) -> tuple[list[tuple[Any, Any]], set[int]]:
    """Return the parts of streets within a limit, by their ends, and what is reached."""
    arcs = {(u, v): w for u, v, w in zip(*map(np.ndarray.tolist, g.coo), strict=True)}
    away, heap = {}, [(0.0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if u in away or d > limit:
            continue
        away[u] = d
        for (tail, head), w in arcs.items():
            if tail == u:
                heapq.heappush(heap, (d + w, head))
    parts = []
    for u, v in {(min(arc), max(arc)) for arc in arcs if arc[0] in away}:
        a, b = (g.positions[x] for x in (u, v))  # type: ignore[index]
        shares = [
            min(1.0, (limit - away[s]) / arcs[s, t]) if s in away and (s, t) in arcs else 0.0
            for s, t in ((u, v), (v, u))
        ]
        if sum(shares) >= 1:
            parts.append((a, b))
            continue
        parts += [(a, a + shares[0] * (b - a))] * (shares[0] > 0)
        parts += [(b + shares[1] * (a - b), b)] * (shares[1] > 0)
    return parts, set(away)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_streets_and_areas_beside_a_plain_program(seed: int, reverse: bool) -> None:
    """Random streets, some of them one-way: what is covered, and the triangles around it."""
    rng = np.random.default_rng(seed)
    n = 40
    where = rng.random((n, 2)) * 10
    ends = np.array([(u, v) for u in range(n) for v in rng.integers(0, n, 3) if u != v])
    weights = np.hypot(*(where[ends[:, 0]] - where[ends[:, 1]]).T) * rng.uniform(1, 2, len(ends))
    g = kl.Graph.from_edges(*ends.T, weights, n=n).with_positions(where)
    limits = [0.5, 6.0, 15.0, 1e6]
    zones = kl.isochrones(g, 3, limits, reverse=reverse)
    searched = g.transpose() if reverse else g
    for limit in limits:
        parts, reached = plain_reach(searched, 3, limit)
        assert set(zones.vertices(limit).tolist()) == reached
        right = [np.array(part) for part in parts]
        assert np.allclose(spans(zones.streets(limit)), spans(right), rtol=0, atol=1e-8)
        points = np.unique(np.vstack([np.empty((0, 2)), *zones.streets(limit)]), axis=0)
        covered = 0.0
        triangles = Delaunay(points - points.mean(axis=0)).simplices if len(points) > 2 else []
        for corners in (points[triangle] for triangle in triangles):
            sides = [math.dist(corners[i], corners[i - 1]) for i in range(3)]
            half = sum(sides) / 2  # Heron's formula
            if max(sides) <= zones.longest:
                area = half * (half - sides[0]) * (half - sides[1]) * (half - sides[2])
                covered += math.sqrt(max(0.0, area))
        areas = [area_of(ring) for polygon in zones.area(limit) for ring in polygon]
        assert sum(areas) == pytest.approx(covered, rel=1e-6)
    seen = {tuple(sorted(end)) for end in ends.tolist() if end[int(reverse)] in reached}
    lengths = [math.dist(where[u], where[v]) for u, v in seen]
    assert zones.longest == pytest.approx(3 * np.quantile(lengths, 0.9) if lengths else 0)
