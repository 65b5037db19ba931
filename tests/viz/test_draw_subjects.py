"""Pictures that show themselves: graphs, routes, regions, reaches, components; names and arrows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import kleene as kl
from kleene.graph.rows import Lines
from kleene.viz.colouring import Groups
from kleene.viz.layout import map_layout, place, separate
from kleene.viz.names import text_boxes
from kleene.viz.picture import Picture
from kleene.viz.shapes import Dots, Region, Text, text_width

SVG = "{http://www.w3.org/2000/svg}"


def elements(picture: Picture, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(str(picture)).iter(f"{SVG}{tag}"))


def texts(picture: Picture) -> list[str]:
    return [element.text or "" for element in elements(picture, "text")]


def lines_of(picture: Picture) -> list[str]:
    return [p.get("d", "") for p in elements(picture, "path") if p.get("fill") == "none"]


def arrowheads(picture: Picture) -> int:
    heads = (p.get("d", "") for p in elements(picture, "path") if p.get("d", "").endswith("z"))
    return sum(d.count("z") for d in heads)


@pytest.fixture
def towns() -> kl.Graph:
    table = {
        "source": ["Rome", "Rome", "Milan", "Turin", "Bari"],
        "target": ["Naples", "Milan", "Turin", "Milan", "Lecce"],
        "weight": [225, 570, 140, 145, 150],
    }
    return kl.Graph.from_table(table)


def test_without_a_path_a_picture_is_returned(towns: kl.Graph, tmp_path: Path) -> None:
    picture = kl.draw(towns)
    assert isinstance(picture, Picture)
    assert str(picture) == picture._repr_svg_()
    saved = picture.save(tmp_path / "g.svg")
    assert saved.read_text() == f"{picture}\n" == kl.draw(towns, tmp_path / "2.svg").read_text()
    assert repr(picture).startswith("Picture('Graph', 6 vertices, 5 arcs, 640 x ")
    assert "data:image/svg+xml;base64," in picture._repr_html_()


def test_a_small_graph_has_names_weights_and_arrows(towns: kl.Graph) -> None:
    picture = kl.draw(towns)
    assert {"Rome", "Naples", "Milan", "225", "570", "145"} <= set(texts(picture))
    assert arrowheads(picture) == towns.m
    assert "Rome" not in texts(kl.draw(towns, labels=False))
    assert not arrowheads(kl.draw(towns, arrows=False))
    assert not arrowheads(kl.draw(towns.symmetrise()))
    assert arrowheads(kl.draw(towns.symmetrise(), arrows=True)) == 8


def test_opposite_arcs_bend_apart(towns: kl.Graph) -> None:
    drawn = [d for data in lines_of(kl.draw(towns)) for d in data.split("M")[1:]]
    assert sorted(d.count("l") > 1 for d in drawn) == [False, False, False, True, True]


def test_names_are_inside_the_canvas_and_apart() -> None:
    labels = [f"station number {i}" for i in range(12)]
    graph = kl.Graph.from_edges(range(11), range(1, 12), labels=labels)
    picture = kl.draw(graph)
    boxes = []
    for text in elements(picture, "text"):
        if text.text in labels and text.get("fill") != "none":
            wide = text_width(text.text or "", float(text.get("font-size", "")))
            x = float(text.get("x", ""))
            x -= {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "")]
            boxes.append((x, x + wide, float(text.get("y", ""))))
    assert len(boxes) == 12
    assert all(left >= 0 and right <= picture.width for left, right, _ in boxes)
    for i, (left, right, y) in enumerate(boxes):
        for other_left, other_right, other_y in boxes[:i]:
            assert abs(y - other_y) > 9 or left > other_right or right < other_left


def test_every_component_of_a_graph_is_drawn() -> None:
    graph = kl.Graph.from_edges([0, 1, 3], [1, 2, 4], n=6)
    picture = kl.draw(graph)
    assert {"0", "1", "2", "3", "4", "5"} <= set(texts(picture))
    points = place(graph)
    apart = np.hypot(*(points[:, None] - points).transpose(2, 0, 1)) + 9 * np.eye(6)
    assert apart.min() > 0.3
    many = kl.draw(kl.Graph.from_edges([], [], n=500))
    assert "200 vertices, 0 arcs (300 in other components are not drawn)" in texts(many)


@pytest.mark.parametrize("leaves", [12, 450])
def test_leaves_of_a_star_are_apart(leaves: int) -> None:
    """Their distances to all pivots are the same."""
    picture = kl.draw(kl.Graph.from_edges([0] * leaves, range(1, leaves + 1), directed=False))
    dots = [p for p in elements(picture, "path") if "h0" in p.get("d", "")]
    places = {point for p in dots for point in p.get("d", "").split("M")[1:]}
    assert len(places) == leaves + 1


def test_coinciding_vertices_are_moved_apart() -> None:
    given = [[0, 0], [1, 0], [1, 0], [1, 0], [2, 0]]
    picture = kl.draw(kl.generate.path(5), positions=given)
    at = [t for t in elements(picture, "text") if t.text in {"1", "2", "3"}]
    places = {(t.get("x"), t.get("y")) for t in at}
    assert len(places) == 3
    points = separate(np.array(given, float), 0.5, 0.01)
    assert points[[0, 4]].tolist() == [[0, 0], [2, 0]]  # others stay
    assert len(np.unique(points, axis=0)) == 5
    crowd = separate(np.zeros((10_000, 2)), 1.0, 0.1)
    assert np.abs(crowd).max() < 10


def test_positions_of_the_graph_are_used() -> None:
    graph = kl.Graph.from_edges([0, 2], [1, 3]).with_positions([[0, 0], [4, 0], [0, 3], [4, 3]])
    x, y = zip(
        *(
            (float(t.get("x", "")), float(t.get("y", "")))
            for t in elements(kl.draw(graph), "text")
            if t.text in {"0", "1", "2", "3"}
        ),
        strict=True,
    )
    assert (x[1] - x[0]) / (y[0] - y[2]) == pytest.approx(4 / 3, rel=0.01)
    turned = kl.draw(graph, positions={0: (0, 0), 1: (0, 4), 2: (3, 0), 3: (3, 4)})
    assert str(turned) != str(kl.draw(graph))


def test_degrees_of_longitude_are_narrow_in_the_north() -> None:
    graph = kl.Graph.from_edges([0], [1])
    oslo = map_layout(graph.with_positions([[10.5, 59.9], [11.5, 60.1]]))
    assert np.ptp(oslo.points[:, 0]) == pytest.approx(0.5)
    for plane in ([[0, 0], [60, 60]], [[0.5, 0], [5e5, 6e6]]):
        points = map_layout(graph.with_positions(plane)).points
        assert points.tolist() == np.array(plane, float).tolist()


def test_streets_follow_their_course() -> None:
    graph = kl.Graph.from_table({"source": [7, 8], "target": [8, 9]}, directed=False)
    course = Lines(np.array([0, 4, 4]), np.array([[0, 0], [0, 1], [1, 1], [1, 0]], float))
    assert graph.rows is not None
    graph = graph._derived(graph.csr, rows=graph.rows.with_lines(course))
    graph = graph.with_positions([[0, 0], [1, 0], [2, 0]])
    (data,) = lines_of(kl.draw(graph))
    assert sorted(d.count("l") for d in data.split("M")[1:]) == [1, 3]
    _, _, route = lines_of(kl.draw(kl.bfs(graph, 9).route(7)))
    assert route.count("l") == 4
    (straight,) = lines_of(kl.draw(graph, positions=[[0, 0], [1, 0], [2, 0]]))
    assert sorted(d.count("l") for d in straight.split("M")[1:]) == [1, 1]


def test_routes(towns: kl.Graph) -> None:
    route = kl.sssp(towns, "Rome").route("Turin")
    for picture in (
        kl.draw(route, unit="km"),
        kl.draw(towns, route=route, unit="km"),
        kl.draw(towns, route=["Rome", "Milan", "Turin"], unit="km"),
    ):
        assert any("path from Rome to Turin: 710 km along 2 arcs" in t for t in texts(picture))
        assert len(elements(picture, "circle")) == 2
    assert kl.draw(kl.sssp(towns, "Rome").route("Bari")).description.endswith("; no path")
    with pytest.raises(kl.GraphError, match="no arc from 'Naples' to 'Rome'"):
        kl.draw(towns, route=["Rome", "Naples", "Rome"])
    with pytest.raises(kl.GraphError, match="did you mean 'Rome'"):
        kl.draw(towns, route=["Rme"])


def test_arrivals(towns: kl.Graph) -> None:
    picture = kl.draw(kl.sssp(towns, "Turin", reverse=True), target="Rome")
    assert picture.title == "Distances to Turin"
    assert "path from Rome: 710 along 2 arcs" in picture.description


def test_k_shortest_paths() -> None:
    graph = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.0, 3.0])
    picture = kl.draw(kl.k_shortest(graph, 0, 3, 5))
    assert "path from 0 to 3: 2 along 2 arcs; 1 longer" in picture.description
    none = kl.draw(kl.k_shortest(graph, 3, 0, 5))
    assert none.description.endswith("no path")


def test_regions_of_facilities() -> None:
    rome = kl.datasets.rome()
    places = [1, 500, 1000, 1500, 2000, 2500, 3000, 700, 1200, 3300]
    near = kl.nearest(rome, places)
    picture = kl.draw(near, target=2900)
    assert "nearest of 10 facilities" in picture.title
    assert "path of 2900 to 2500: 13,678 along" in picture.description
    assert set(map(str, places)) <= set(texts(picture))
    graph = kl.Graph.from_edges([0, 1], [1, 2], n=4)
    assert "1 is without one (grey)" in kl.draw(kl.nearest(graph, [2])).description


def test_twelve_facilities_have_twelve_colours() -> None:
    graph = kl.generate.grid(12, 12)
    near = kl.nearest(graph, [13 * i for i in range(12)])
    picture = kl.draw(near, labels=False)
    dots = [s for s in picture.shapes if isinstance(s, Dots) and s.rim is None]
    assert len(dots) == 24  # the regions, and the legend
    assert len({s.colour for s in dots}) == 12
    named = {t for t in texts(picture) if t.isdigit()}
    assert named == {str(13 * i) for i in range(12)}  # in the legend, and on the map
    assert sum(t.isdigit() for t in texts(picture)) == 24 + 12  # names on the map have a halo


def test_a_legend_of_many_wraps_and_says_what_it_leaves_out() -> None:
    graph = kl.generate.grid(20, 20)
    names = [f"facility with a long name, number {i}" for i in range(60)]
    labels = [*names, *map(str, range(60, 400))]
    named = kl.Graph.from_csr(*graph.csr[:2], labels=labels)
    picture = kl.draw(kl.nearest(named, names), labels=False)
    more = [t for t in texts(picture) if re.fullmatch(r"and \d+ more", t)]
    assert len(more) == 1
    boxes = text_boxes(s for s in picture.shapes if isinstance(s, Text) and s.halo is None)
    assert (boxes[:, 2] <= picture.width).all()
    assert (boxes[:, 3] <= picture.height).all()


def test_the_nearest_of_some_vertices() -> None:
    """A prepared graph finds those of the vertices asked for; others are grey."""
    graph = kl.generate.grid(5, 5)
    picture = kl.draw(kl.prepare(graph).nearest([3, 20], [0, 24]), labels=False)
    assert "23 are without one (grey)" in picture.description


def test_neighbouring_regions_differ_in_colour() -> None:
    graph = kl.generate.cycle(17)
    groups = Groups.of_regions(graph, np.arange(17), [str(i) for i in range(17)])
    sources, targets, _ = graph.coo
    for one, other in zip(sources.tolist(), targets.tolist(), strict=True):
        assert groups.colour(one) != groups.colour(other)


def test_what_is_within_reach() -> None:
    graph = kl.generate.path(30)
    picture = kl.draw(kl.within(graph, [3, 20], limit=4), row=1, target=17)
    assert picture.title.endswith("hops from 20 within 4 hops")
    assert "21 are farther or unreachable (grey)" in picture.description
    assert "path to 17: 3 hops" in picture.description


def test_bands_of_isochrones() -> None:
    graph = kl.generate.grid(5, 5).with_positions([divmod(v, 5) for v in range(25)])
    picture = kl.draw(kl.isochrones(graph, 0, [1, 3]), unit="min", target=3)
    assert picture.title.endswith("distances from 0 within 3 min")
    assert {"up to 1 min", "up to 3 min"} <= set(texts(picture))
    assert "15 are farther or unreachable (grey)" in picture.description
    assert "path to 3: 3 min" in picture.description
    dots = [p for p in elements(picture, "path") if "h0" in p.get("d", "")]
    assert sorted(p.get("d", "").count("M") for p in dots) == [1, 1, 3, 7, 15]  # and the legend


def town() -> kl.Graph:
    return kl.generate.grid(9, 9).with_positions([divmod(v, 9) for v in range(81)])


def regions(picture: Picture) -> list[Region]:
    return [shape for shape in picture.shapes if isinstance(shape, Region)]


def test_areas_are_drawn_the_largest_first() -> None:
    drawn = regions(kl.draw(kl.isochrones(town(), 40, [1, 3])))
    wide, narrow = (np.ptp(np.vstack(region.rings), axis=0) for region in drawn)
    assert (wide > narrow).all()
    assert drawn[0].colour != drawn[1].colour
    assert regions(kl.draw(kl.isochrones(town(), 40, [1]), positions=np.eye(81)[:, :2])) == []


def test_holes_stay_open(tmp_path: Path) -> None:
    places = [divmod(v, 9) for v in range(81)]
    ring = [v for v, (x, y) in enumerate(places) if not (2 < x < 6 and 2 < y < 6)]
    graph = town().subgraph(ring)
    picture = kl.draw(kl.isochrones(graph, graph.label(0), 99, longest=1.5))
    [region] = regions(picture)
    assert len(region.rings) == 2
    path = next(p for p in elements(picture, "path") if p.get("fill-rule"))
    assert path.get("fill-rule") == "evenodd"
    assert (path.get("d") or "").count("z") == 2
    pytest.importorskip("matplotlib")
    assert picture.save(tmp_path / "ring.png").stat().st_size > 1000


def test_several_origins() -> None:
    together = kl.draw(kl.isochrones(town(), [20, 60], [1, 2]), unit="min", target=61)
    assert "from 20, 60 within 2 min" in together.title
    assert len(regions(together)) == 2
    assert "path to 61: 1 min along 1 arc" in together.description
    far = kl.draw(kl.isochrones(town(), [20, 60], [1]), target=0)
    assert far.description.endswith("0 is farther or unreachable")
    each = kl.draw(kl.isochrones(town(), [20, 60], [1, 2], each=True), unit="min")
    assert len(regions(each)) == 4
    assert len({region.colour for region in regions(each)}) == 2
    assert {"20", "60"} <= set(texts(each))
    many = kl.isochrones(town(), range(0, 80, 8), [1])
    assert "from the nearest of 10 sources within 1" in kl.draw(many).title
    with pytest.raises(kl.RequestError, match="several sources have none"):
        kl.draw(kl.isochrones(town(), [20, 60], [1], each=True), target=3)


def test_components_by_colour() -> None:
    graph = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4], n=7)
    picture = kl.draw(kl.components(graph))
    assert picture.title == "4 weak components"
    assert {"3 vertices", "2 vertices"} <= set(texts(picture))
    assert "2 of one vertex (grey)" in picture.description
    with pytest.raises(kl.RequestError, match="components have no paths"):
        kl.draw(kl.components(graph), target=1)


def test_an_empty_graph_is_drawn() -> None:
    assert "0 vertices, 0 arcs" in texts(kl.draw(kl.Graph.from_edges([], [])))
