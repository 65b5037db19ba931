"""Street networks of OSMnx: a NetworkX multigraph in the form that its documentation describes."""

from __future__ import annotations

import importlib.util
import io
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import kleene as kl
from kleene.graph.positions import lines_of, oriented
from kleene.graph.rows import Lines
from kleene.results import files


class LineString:
    """What is used of Shapely's."""

    def __init__(self, points: list[tuple[float, ...]]) -> None:
        self.coords = points


ROMA, OSTIA, TIVOLI = 24960068, 25413292, 9_000_000_001
BEND = [(12.5, 41.9), (12.4, 41.8), (12.3, 41.7)]


def streets() -> Any:
    made = nx.MultiDiGraph(crs="epsg:4326", created_with="OSMnx 2.0.0")
    for osmid, x, y in ((ROMA, 12.5, 41.9), (OSTIA, 12.3, 41.7), (TIVOLI, 12.8, 42.0)):
        made.add_node(osmid, x=x, y=y, street_count=3)
    made.add_edge(ROMA, TIVOLI, osmid=3, length=31000.0, oneway=False, reversed=False)
    made.add_edge(ROMA, OSTIA, osmid=1, length=28500.5, travel_time=1800, geometry=LineString(BEND))
    made.add_edge(ROMA, OSTIA, osmid=2, length=27000.25, oneway=True)
    made.add_edge(OSTIA, ROMA, osmid=1, length=28500.5, geometry=LineString(BEND[::-1]))
    return made


def test_streets() -> None:
    theirs = streets()
    graph = kl.Graph.from_osmnx(theirs)
    assert graph.labels is not None
    assert graph.labels.tolist() == [ROMA, OSTIA, TIVOLI]
    assert np.array_equal(graph.positions, [[12.5, 41.9], [12.3, 41.7], [12.8, 42.0]])
    assert kl.sssp(graph, ROMA).distances.tolist() == [0, 27000.25, 31000]
    listed = list(theirs.edges(data=True))
    rows = graph.arc_rows.rows.tolist()
    assert [listed[row][2]["length"] for row in rows] == [27000.25, 31000, 28500.5]
    assert graph.rows is not None
    assert graph.rows.lines is not None
    assert np.diff(graph.rows.lines.offsets).tolist() == [0, 3, 0, 3]
    assert graph.rows.lines.coordinates[:3].tolist() == [[12.5, 41.9], [12.4, 41.8], [12.3, 41.7]]
    assert kl.Graph.from_any(theirs).equals(graph)
    assert kl.Graph.from_osmnx(theirs, weight=None).weights is None


class Transformer:
    """Stands for that of pyproj, which is no dependency: 100 km to a degree."""

    @staticmethod
    def from_crs(crs: str, target: str, *, always_xy: bool) -> Any:
        assert (target, always_xy) == ("EPSG:4326", True)
        if crs == "epsg:0":
            raise ValueError(crs)
        return SimpleNamespace(transform=lambda x, y: (x / 100, y / 100))


def in_kilometres(crs: Any) -> kl.Graph:
    """Return the streets in a local system, whose numbers could be degrees."""
    theirs = streets()
    theirs.graph["crs"] = crs
    for _, node in theirs.nodes(data=True):
        node.update(x=100 * (node["x"] - 12), y=100 * (node["y"] - 41.5))
    for *_, edge in theirs.edges(data=True):
        edge.pop("geometry", None)
    edge["geometry"] = LineString([(30, 20), (40, 30), (50, 40)])  # the last one
    return kl.Graph.from_osmnx(theirs)


def test_projected_streets_are_not_taken_for_degrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kilometres below 90 would be a place in the sea; the system of the streets is known."""
    graph = in_kilometres("epsg:32633")
    monkeypatch.setitem(sys.modules, "pyproj", None)
    for g in (graph, graph.subgraph([OSTIA, ROMA]), pickle.loads(pickle.dumps(graph))):
        route, zones = kl.sssp(g, OSTIA).route(ROMA), kl.isochrones(g, OSTIA, 1e5)
        for write in (route.to_geojson, zones.to_geojson):
            with pytest.raises(kl.GraphError, match="are in epsg:32633: install pyproj"):
                write()
        assert zones.__geo_interface__["features"]
    moved = graph.with_positions(np.asarray(graph.positions) / 100)
    assert kl.sssp(moved, OSTIA).route(ROMA).to_geojson()["geometry"], "in another system"
    for degrees in ("EPSG:4326", None):
        kl.sssp(in_kilometres(degrees), OSTIA).route(ROMA).to_geojson()


def test_projected_streets_are_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = SimpleNamespace(ProjError=ValueError)
    module = SimpleNamespace(Transformer=Transformer, exceptions=errors)
    monkeypatch.setitem(sys.modules, "pyproj", module)
    monkeypatch.setattr(files, "_from_crs", files._from_crs.__wrapped__)
    graph = in_kilometres("epsg:32633")
    route = kl.sssp(graph, OSTIA).route(ROMA)
    line = route.to_geojson()["geometry"]["coordinates"]
    np.testing.assert_allclose(line, [[0.3, 0.2], [0.4, 0.3], [0.5, 0.4]])
    assert np.array_equal(route.coordinates, [[30, 20], [40, 30], [50, 40]])
    zones = kl.isochrones(graph, OSTIA, 1e5)
    for ours, theirs in zip(
        zones.to_geojson()["features"], zones.__geo_interface__["features"], strict=True
    ):
        for points, others in zip(
            *(each["geometry"]["coordinates"] for each in (ours, theirs)), strict=True
        ):
            np.testing.assert_allclose(np.multiply(points, 100), others)
    far = graph.with_positions(np.asarray(graph.positions) * 1e6)
    with pytest.raises(kl.GraphError, match="degrees, and a position is"):
        kl.sssp(far, TIVOLI).routes().to_geojson()
    with pytest.raises(kl.GraphError, match="'epsg:0', which pyproj refuses"):
        kl.sssp(in_kilometres("epsg:0"), OSTIA).route(ROMA).to_geojson()


def test_geometry_as_text_is_the_same() -> None:
    theirs, texts = streets(), streets()
    for *_, data in texts.edges(data=True):
        if "geometry" in data:
            points = ", ".join(f"{x} {y} 0" for x, y in data["geometry"].coords)
            data["geometry"] = f"LINESTRING Z ({points})"
    ours, same = kl.Graph.from_osmnx(theirs).rows, kl.Graph.from_osmnx(texts).rows
    assert ours is not None
    assert same is not None
    assert np.array_equal(ours.lines.coordinates, same.lines.coordinates)  # type: ignore[union-attr]


def test_undirected_streets_run_from_source_to_target() -> None:
    """NetworkX may list an undirected edge from either end; its line is turned to fit."""
    made = nx.MultiGraph(crs="epsg:4326")
    made.add_node(2, x=12.3, y=41.7)
    made.add_node(1, x=12.5, y=41.9)
    made.add_edge(1, 2, length=1.0, geometry=LineString(BEND))  # listed as (2, 1)
    graph = kl.Graph.from_osmnx(made)
    assert list(made.edges()) == [(2, 1)]
    assert graph.rows is not None
    assert graph.rows.lines is not None
    assert graph.rows.lines.coordinates.tolist() == [list(point) for point in BEND[::-1]]


def test_lines_turned_round() -> None:
    lines = Lines(np.array([0, 3, 3, 5]), np.array([[0, 0], [1, 5], [2, 0], [2, 0], [0, 0.0]]))
    places = np.array([[0, 0], [2, 0.0]])
    same = oriented(lines, places, np.array([0, 0, 1]), np.array([1, 1, 0]))
    assert same is lines
    turned = oriented(lines, places, np.array([0, 0, 0]), np.array([1, 1, 1]))
    assert turned.coordinates.tolist() == [[0, 0], [1, 5], [2, 0], [0, 0], [2, 0]]


def test_streets_without_geometry_have_none() -> None:
    theirs = streets()
    for *_, data in theirs.edges(data=True):
        data.pop("geometry", None)
    rows = kl.Graph.from_osmnx(theirs).rows
    assert rows is not None
    assert rows.lines is None
    assert kl.Graph.from_osmnx(nx.MultiDiGraph(crs="epsg:4326")).n == 0


def test_graphs_that_are_not_streets() -> None:
    with pytest.raises(
        kl.GraphError, match="whose nodes have x and y; for other graphs use from_networkx"
    ):
        kl.Graph.from_osmnx(nx.path_graph(3), weight=None)
    with pytest.raises(kl.GraphError, match="expected a graph of NetworkX"):
        kl.Graph.from_osmnx("Rome")
    with pytest.raises(kl.GraphError, match="'travel_time', but not the edge"):
        kl.Graph.from_osmnx(streets(), weight="travel_time")
    with pytest.raises(kl.GraphError, match="no edge attribute 'lenght' for the weights"):
        kl.Graph.from_osmnx(streets(), weight="lenght")


@pytest.mark.parametrize(
    "geometry", ["POINT (1 2)", "LINESTRING (1, 2)", "LINESTRING (a b)", 5, LineString([(1.0,)])]
)
def test_geometry_that_is_no_line(geometry: Any) -> None:
    with pytest.raises(kl.GraphError, match=r"the geometry of edge 1 is .*, not a line"):
        lines_of([None, geometry])


def test_lines_of_nothing() -> None:
    lines = lines_of([None, float("nan"), "LINESTRING EMPTY", LineString([])])
    assert lines.offsets.tolist() == [0] * 5
    assert lines.coordinates.shape == (0, 2)


@pytest.mark.skipif(importlib.util.find_spec("osmnx") is None, reason="needs OSMnx")
def test_osmnx_itself(tmp_path: Path) -> None:
    import osmnx
    from shapely.geometry import LineString as Shapely

    theirs = streets()
    for *_, data in theirs.edges(data=True):
        if "geometry" in data:
            data["geometry"] = Shapely(data["geometry"].coords)
    osmnx.save_graphml(theirs, tmp_path / "streets.graphml")
    graph = kl.read(tmp_path / "streets.graphml")
    assert graph.equals(kl.Graph.from_osmnx(theirs))
    again = kl.Graph.from_osmnx(osmnx.load_graphml(tmp_path / "streets.graphml"))
    assert again.equals(graph)
    assert np.array_equal(again.rows.lines.coordinates, graph.rows.lines.coordinates)  # type: ignore[union-attr]


def test_a_file_of_streets_is_the_same() -> None:
    """What NetworkX writes of the streets, read by Kleene, is the graph made of them."""
    theirs = streets()
    for *_, data in theirs.edges(data=True):
        if "geometry" in data:
            points = ", ".join(f"{x} {y}" for x, y in data["geometry"].coords)
            data["geometry"] = f"LINESTRING ({points})"
    file = io.BytesIO()
    nx.write_graphml(theirs, file)
    graph, ours = kl.read(io.BytesIO(file.getvalue())), kl.Graph.from_osmnx(theirs)
    assert graph.equals(ours)
    assert np.array_equal(graph.positions, ours.positions)
    assert graph.rows is not None
    assert ours.rows is not None
    for field in ("offsets", "coordinates"):
        assert np.array_equal(getattr(graph.rows.lines, field), getattr(ours.rows.lines, field))
