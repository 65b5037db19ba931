"""Lines become streets that meet at their ends: tables of GeoPandas, and graphs of momepy."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest

import kleene as kl
from kleene.graph import streets
from kleene.graph.rows import Lines

Points = Sequence[Sequence[float]]


class LineString:
    """What is used of Shapely's."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self.coords = points


def graph_of(*lines: Points, snap: float = 0, crs: str | None = None, **options: Any) -> kl.Graph:
    """Return the graph of lines, a feature each."""
    offsets = np.append(0, np.cumsum([len(line) for line in lines]))
    points = np.array([point for line in lines for point in line], float).reshape(-1, 2)
    found = streets.LinesOfFeatures(Lines(offsets, points), np.arange(len(lines)), len(lines), {})
    given: dict[str, Any] = {"weights": "geometry", "directed": False} | options
    return streets.graph_of_lines(kl.Graph, found, crs=crs, snap=snap, **given)


def ends_of(g: kl.Graph) -> list[tuple[int, int]]:
    assert g.rows is not None
    return list(zip(g.rows.sources.tolist(), g.rows.targets.tolist(), strict=True))


# ---- where streets meet -------------------------------------------------------------------------


def test_ends_with_equal_coordinates_are_one_vertex() -> None:
    g = graph_of([(5, 5), (6, 7), (8, 8)], [(0.0, 1), (5, 5)], [(-0.0, 1), (0, 20), (8, 8)])
    assert ends_of(g) == [(0, 1), (2, 0), (2, 1)]  # numbered as they appear
    assert np.array_equal(g.positions, [[5, 5], [8, 8], [0, 1]])
    assert g.labels is None
    assert g.joined_ends is None
    assert not g.directed
    route = kl.sssp(g, 2).route(1)
    assert route.rows is not None
    assert route.rows.tolist() == [1, 0]
    assert route.coordinates.tolist() == [[0, 1], [5, 5], [6, 7], [8, 8]]
    back = kl.sssp(g, 1).route(2)
    assert back.coordinates.tolist() == route.coordinates[::-1].tolist()
    assert back.distance == pytest.approx(np.hypot(1, 2) + np.hypot(2, 1) + np.hypot(5, 4))


def test_isochrones_follow_the_line() -> None:
    g = graph_of([(0, 0), (0, 3), (4, 3)])
    [part] = kl.isochrones(g, 0, 5).streets(5)
    np.testing.assert_allclose(part, [[0, 0], [0, 3], [2, 3]])


def test_ends_that_are_close_are_joined() -> None:
    """Also by way of others; the report says which, and how far they were."""
    lines = [[(0, 0), (9, 0)], [(9, 0.4), (9, 9)], [(9, 0.8), (20, 0)], [(9, 9.6), (0, 0)]]
    assert graph_of(*lines).n == 7
    g = graph_of(*lines, snap=0.5)
    assert ends_of(g) == [(0, 1), (1, 2), (1, 3), (4, 0)]
    joined = g.joined_ends
    assert joined is not None
    assert joined.rows.tolist() == [1, 2]
    assert joined.vertices.tolist() == [1, 1]
    np.testing.assert_allclose(joined.distances, [0.4, 0.8])
    assert repr(joined) == "JoinedEnds(2 ends at 1 vertex, up to 0.8 away)"
    assert len(pickle.loads(pickle.dumps(g)).joined_ends) == 2
    assert graph_of(*lines, snap=0.6).n == 4
    assert repr(graph_of(*lines, snap=0.1).joined_ends) == "JoinedEnds(0 ends at 0 vertices)"
    assert np.array_equal(g.positions[1], [9, 0])  # type: ignore[index]
    route = kl.sssp(g, 0).route(3)
    assert route.coordinates.tolist() == [[0, 0], [9, 0], [9, 0.8], [20, 0]]


def test_snapping_does_not_depend_on_borders_between_digits() -> None:
    rng = np.random.default_rng(4)
    crossings = rng.uniform(0, 100, (60, 2)).round(3)
    crossings = crossings[np.unique(crossings.round(0), axis=0, return_index=True)[1]]
    ends = rng.integers(0, len(crossings), (150, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    moved = crossings[ends] + rng.uniform(-0.01, 0.01, (len(ends), 2, 2))
    g = graph_of(*moved.tolist(), snap=0.03)
    assert g.n == len(np.unique(ends))
    place = {int(v): c for row, e in zip(ends_of(g), ends.tolist(), strict=True)
             for v, c in zip(row, e, strict=True)}  # fmt: skip
    assert len(set(place.values())) == len(place)


def test_snap_is_in_metres_of_longitude_and_latitude() -> None:
    lines = [[(10, 60), (10.001, 60)], [(10.0010001, 60), (10.002, 60)]]  # 5.6 mm apart
    assert graph_of(*lines, crs="EPSG:4326", snap=0.005).n == 4
    joined = graph_of(*lines, crs="EPSG:4326", snap=0.006).joined_ends
    assert joined is not None
    np.testing.assert_allclose(joined.distances, [0.00556], rtol=1e-3)


@pytest.mark.parametrize("snap", [-1, float("nan"), float("inf"), "far", None])
def test_tolerances_that_are_none(snap: Any) -> None:
    with pytest.raises(kl.RequestError, match="snap must be a number from 0 on"):
        streets.as_snap(snap)


def test_a_tolerance_that_joins_everything_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    xy = np.random.default_rng(0).uniform(0, 1, (3000, 2, 2)).tolist()
    monkeypatch.setenv("KLEENE_MEMORY", "100M")
    with pytest.raises(kl.MemoryBudgetError, match=r"pairs are within 9,.* smaller snap="):
        graph_of(*xy, snap=9)


def test_streets_that_pass_an_end_are_named() -> None:
    """As in raw OpenStreetMap, where ways are not split at crossings."""
    through = [(0, 0), (1, 0), (2, 0)]
    with pytest.warns(kl.GraphWarning, match=r"at 1 place, such as \(1, 0\), a street ends inside"):
        assert kl.components(graph_of(through, [(1, 0), (1, 5)])).count == 2
    for harmless in (
        [[(0, 0), (1, 0), (1, 0)], [(1, 0), (1, 0), (1, 1)]],  # a point twice
        [[(0, 0), (1, 1), (1, 0), (0, 0)], [(0, 0), (5, 5)]],  # a roundabout
        [[(0, 0), (1, 0), (2, 0)], [(1, -1), (1, 0), (1, 1)]],  # a bridge
    ):
        graph_of(*harmless)  # warnings are errors here


def test_lines_that_make_no_arc_are_rows() -> None:
    """A roundabout, a line of no length, and streets beside each other."""
    g = graph_of(
        [(0, 0), (1, 1), (1, 0), (0, 0)],
        [(0, 0), (0, 0)],
        [(0, 0), (9, 0)],
        [(0, 0), (5, 5), (9, 0)],
    )
    assert (g.n, g.m) == (2, 2)
    assert g.arc_rows.rows.tolist() == [2, 2]
    assert g.reweight(rows=[1, 1, 9, 3]).arc_rows.rows.tolist() == [3, 3]
    assert g.rows is not None
    assert g.rows.count == 4


def test_directions_of_rows() -> None:
    lines = [[(0, 0), (1, 0)], [(1, 0), (2, 0)], [(2, 0), (3, 0)]]
    g = graph_of(*lines, directed=np.array([1, 0, -1], np.int8))
    assert sorted(zip(g.coo.sources.tolist(), g.coo.targets.tolist(), strict=True)) == [
        (0, 1), (1, 2), (2, 1), (3, 2),
    ]  # fmt: skip
    assert graph_of(*lines, directed=True).m == 3


def test_lines_of_one_feature_share_its_weight() -> None:
    points = np.array([[0, 0], [1, 0], [1, 0], [4, 0], [4, 0], [5, 0.0]])
    found = streets.LinesOfFeatures(
        Lines(np.array([0, 2, 4, 6]), points), np.array([1, 1, 2]), 3, {"Point": 1}
    )

    def make(weights: Any) -> kl.Graph:
        with pytest.warns(kl.GraphWarning) as said:
            g = streets.graph_of_lines(kl.Graph, found, weights, False, None, 0)
        assert [str(each.message).partition(":")[0] for each in said] == [
            "found no line, and so no street, in 1 of 3 features (1 Point)",
            "1 feature with several lines, the first of them feature 1",
        ]
        return g

    g = make(np.array([7, 8, 9]))
    assert g.rows is not None
    assert (g.rows.count, g.rows.numbers) == (3, None)
    assert kl.sssp(g, 0).distances.tolist() == [0, 2, 8, 17]
    assert kl.sssp(make("geometry"), 0).distances.tolist() == [0, 1, 4, 5]
    assert kl.sssp(make(np.array([7, np.inf, 9])), 2).distances.tolist() == [np.inf, np.inf, 0, 9]


def test_rows_without_a_line_keep_their_numbers() -> None:
    found = streets.LinesOfFeatures(
        Lines(np.array([0, 3, 5]), np.array([[0, 0], [0, 2], [1, 0], [1, 0], [5, 5.0]])),
        np.array([1, 3]), 5, {"Point": 3},
    )  # fmt: skip
    with pytest.warns(kl.GraphWarning, match=r"in 3 of 5 features \(3 Point\)"):
        g = streets.graph_of_lines(kl.Graph, found, np.arange(5), False, None, 0)
    route = kl.sssp(g, 0).route(2)
    assert (route.rows.tolist(), route.distance) == ([1, 3], 4)  # type: ignore[union-attr]
    assert route.coordinates.tolist() == [[0, 0], [0, 2], [1, 0], [5, 5]]
    assert g.reweight(rows=[0, 10, 0, 30, 0]).weights.tolist() == [10, 10, 30, 30]  # type: ignore[union-attr]
    assert g.update(rows={3: 7}).weights.tolist() == [1, 1, 7, 7]  # type: ignore[union-attr]
    flows = kl.loads(g, ([0], [2], [5.0]))
    assert flows.rows.tolist() == [0, 5, 0, 5, 0]
    features = flows.to_geojson()["features"]
    assert [each["properties"]["row"] for each in features] == [1, 3]


def test_features_without_any_line() -> None:
    found = streets.LinesOfFeatures(
        Lines(np.zeros(1, np.int64), np.empty((0, 2))), np.empty(0, np.int64), 2, {"Point": 2}
    )
    with pytest.raises(kl.GraphError, match=r"no line in 2 features \(2 Point\); expected streets"):
        streets.graph_of_lines(kl.Graph, found, None, False, None, 0)


# ---- tables of GeoPandas ------------------------------------------------------------------------


def table(lines: Sequence[Any], crs: Any = None, **columns: Any) -> Any:
    geopandas = pytest.importorskip("geopandas")
    from shapely import from_wkt

    shapes = [from_wkt(line) if isinstance(line, str) else line for line in lines]
    return geopandas.GeoDataFrame(columns, geometry=shapes, crs=crs)


BEND = "LINESTRING Z (0 0 7, 3 0 7, 3 4 9)"
ON = "LINESTRING (3 4, 9 12)"


def test_geopandas() -> None:
    g = kl.Graph.from_any(table([BEND, ON], crs=25832, lanes=[2, 3]))
    assert g.weights is not None
    assert sorted(g.weights.tolist()) == [7, 7, 10, 10]
    assert (g.crs, g.directed) == ("EPSG:25832", False)
    assert kl.sssp(g, 0).route(2).coordinates.tolist() == [[0, 0], [3, 0], [3, 4], [9, 12]]
    assert kl.Graph.from_geopandas(table([BEND, ON]).geometry).equals(g)
    metres = kl.Graph.from_any(table([BEND], crs=4326)).weights
    assert metres is not None
    assert metres[0] == pytest.approx(7 * 111_195, rel=1e-3)


def test_the_weight_of_a_street() -> None:
    streets = table([BEND, ON], minutes=[1.5, 2], lanes=[2, 3])
    make = kl.Graph.from_geopandas
    for weight, expected in (
        ("auto", [1.5, 1.5, 2, 2]), ("lanes", [2, 2, 3, 3]), ("geometry", [7, 7, 10, 10]),
        (None, None),
    ):  # fmt: skip
        weights = make(streets, weight).weights
        assert (None if weights is None else sorted(weights.tolist())) == expected
    with pytest.raises(kl.GraphError, match="'minutes' and 'km' may be the weights"):
        make(streets.assign(km=[1, 2]))
    with pytest.raises(
        kl.GraphError, match=r"no column 'toll' .*: there are 'minutes', 'lanes', 'ge"
    ):
        make(streets, weight="toll")
    with pytest.raises(
        kl.GraphError, match="1 of 2 rows has no value in 'minutes', row 1; drop these streets"
    ):
        make(streets.assign(minutes=[1, None]))
    lacking = table([BEND, "POINT (1 2)", ON], minutes=[1.5, None, 2])
    with pytest.warns(kl.GraphWarning, match="1 of 3 features"):
        g = make(lacking)
    assert sorted(g.weights.tolist()) == [1.5, 1.5, 2, 2]


def test_directions_of_a_table() -> None:
    streets = table([BEND, ON], oneway=["yes", None])
    with pytest.warns(
        kl.GraphWarning, match=r"a column 'oneway'.* directed='oneway', or directed=F"
    ):
        assert not kl.Graph.from_any(streets).directed
    assert kl.Graph.from_any(streets, directed="oneway").m == 3
    assert kl.Graph.from_any(streets, directed=True).m == 2
    assert kl.Graph.from_any(streets, directed=False).m == 4
    with pytest.raises(kl.GraphError, match="no column 'way'"):
        kl.Graph.from_any(streets, directed="way")


def test_rows_of_a_table_are_known_by_its_index() -> None:
    streets = table([BEND, ON], minutes=[1.5, 2]).set_index(np.array([30, 10]))
    g = kl.Graph.from_geopandas(streets)
    assert g.reweight(rows=streets.minutes * 2).weights.tolist() == [3, 3, 4, 4]  # type: ignore[union-attr]
    with pytest.raises(kl.GraphError, match="index that does not match the rows"):
        g.reweight(rows=streets.minutes.sort_index())


def test_lines_in_collections() -> None:
    two = "MULTILINESTRING ((0 0, 1 0), (1 0, 4 0))"
    nested = f"GEOMETRYCOLLECTION (POINT (5 5), GEOMETRYCOLLECTION ({ON}))"
    streets = table(
        [two, nested, None, "LINESTRING EMPTY", "POLYGON ((0 0, 1 0, 1 1, 0 0))"],
        cost=[8, 1, 0, 0, 0],
    )
    with pytest.warns(kl.GraphWarning) as said:
        g = kl.Graph.from_any(streets)
    assert "(1 without geometry, 1 empty, 1 Polygon)" in str(said[0].message)
    assert "rows are numbered 0 to 2 by line" in str(said[1].message)
    assert sorted(g.weights.tolist()) == [1, 1, 2, 2, 6, 6]  # type: ignore[union-attr]
    exploded = streets.iloc[:2].explode(ignore_index=True)
    with pytest.warns(kl.GraphWarning) as said:
        again = kl.Graph.from_any(exploded, weight=None)
    assert again.equals(g.reweight(None))


def test_tables_that_are_not_streets() -> None:
    import pandas as pd

    with pytest.raises(kl.GraphError, match="expected a GeoDataFrame with a column of geometry"):
        kl.Graph.from_geopandas(pd.DataFrame({"geometry": [1]}))
    with pytest.raises(kl.GraphError, match=r"no line in 1 feature \(1 Point\)"):
        kl.Graph.from_any(table(["POINT (1 2)"]))
    nowhere = table([BEND, ON])
    shapely = pytest.importorskip("shapely")
    nowhere.geometry = shapely.set_coordinates(
        nowhere.geometry.array, [[0, 0]] * 3 + [[np.nan, 4]] * 2
    )
    with pytest.raises(kl.GraphError, match=r"row 1 has a point at \(nan, 4.0\)"):
        kl.Graph.from_any(nowhere)
    with pytest.raises(
        kl.RequestError, match=r"unknown option 'labels': Graph.from_geopandas takes"
    ):
        kl.Graph.from_any(table([BEND]), labels="x")
    named = table([BEND], source=["a"], target=["b"])
    assert kl.Graph.from_any(named, source="source", weight=None).labels.tolist() == ["a", "b"]  # type: ignore[union-attr]


# ---- graphs of momepy ---------------------------------------------------------------------------


def of_momepy(**about: Any) -> Any:
    made = nx.MultiGraph(approach="primal", crs="EPSG:25832", **about)
    a, b, c = (500.0, 0.0), (503.0, 4.0), (503.0, 9.0)
    for x, y in (a, b, c):
        made.add_node((x, y), x=x, y=y)
    made.add_edge(a, b, geometry=LineString([a, (503, 0), b]), mm_len=7.0, lanes=2)
    made.add_edge(a, b, geometry=LineString([a, b]), mm_len=5.0, lanes=1)
    made.add_edge(c, b, geometry=LineString([b, c]), mm_len=5.0, lanes=2)
    return made


def test_momepy() -> None:
    g = kl.Graph.from_any(of_momepy())
    assert g.labels is not None
    assert g.labels.tolist() == [(500, 0), (503, 4), (503, 9)]
    assert np.array_equal(g.positions, [[500, 0], [503, 4], [503, 9]])
    assert g.crs == "EPSG:25832"
    route = kl.sssp(g, (500.0, 0.0)).route((503.0, 9.0))
    assert (route.distance, route.rows.tolist()) == (10, [1, 2])  # type: ignore[union-attr]
    slow = g.update(rows={1: 99})
    assert kl.sssp(slow, (503, 9)).route((500, 0)).coordinates.tolist() == [
        [503, 9], [503, 4], [503, 0], [500, 0],
    ]  # fmt: skip
    assert g.nearest_vertex(502, 8).vertices == (503, 9)
    assert kl.Graph.from_momepy(of_momepy(), weight="lanes").weights.tolist() == [1, 1, 2, 2]  # type: ignore[union-attr]
    assert kl.Graph.from_momepy(of_momepy(), weight=None).weights is None


def test_momepy_streets_in_degrees_are_metres() -> None:
    theirs = of_momepy()
    theirs.graph["crs"] = "EPSG:4326"
    g = kl.Graph.from_any(theirs)
    assert g.weights is not None
    assert g.weights.min() > 5e5  # mm_len is in degrees


def test_dual_graphs_of_momepy_are_graphs_of_networkx() -> None:
    theirs = of_momepy()
    theirs.graph["approach"] = "dual"
    assert kl.Graph.from_any(theirs, weight=None).equals(
        kl.Graph.from_networkx(theirs, weight=None)
    )
    for other in (theirs, nx.path_graph(3)):
        with pytest.raises(kl.GraphError, match="expected a primal graph of momepy"):
            kl.Graph.from_momepy(other)
    with pytest.raises(kl.GraphError, match="expected a graph of momepy"):
        kl.Graph.from_momepy("Rome")


def test_momepy_itself() -> None:
    momepy = pytest.importorskip("momepy")
    lines = table(["LINESTRING (500 0, 503 0, 503 4)", "LINESTRING (503 4, 509 12)"], crs=25832)
    g, theirs = kl.Graph.from_geopandas(lines), kl.Graph.from_any(momepy.gdf_to_nx(lines))
    assert theirs.unlabelled().equals(g)
    assert np.array_equal(theirs.rows.lines.coordinates, g.rows.lines.coordinates)  # type: ignore[union-attr]


def test_osmnx_itself_has_the_same_lengths_and_nearest_nodes() -> None:
    osmnx = pytest.importorskip("osmnx")
    theirs = nx.MultiDiGraph(crs="epsg:4326")
    theirs.add_node(1, x=9.0, y=48.0)
    theirs.add_node(2, x=9.01, y=48.02)
    theirs.add_edge(1, 2, 0, osmid=5)
    theirs = osmnx.distance.add_edge_lengths(theirs)
    edges = osmnx.graph_to_gdfs(theirs, nodes=False)
    ours = kl.Graph.from_geopandas(edges.drop(columns="length"), directed=True)
    g = kl.Graph.from_osmnx(theirs)
    np.testing.assert_allclose(ours.weights, g.weights, rtol=1e-12)
    found = g.nearest_vertex([9.006, 9.004], [48.0, 48.0])
    nodes, far = osmnx.distance.nearest_nodes(theirs, [9.006, 9.004], [48, 48.0], return_dist=True)
    assert found.vertices.tolist() == list(nodes)
    np.testing.assert_allclose(found.distances, far, rtol=1e-9)
