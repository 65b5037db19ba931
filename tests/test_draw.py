"""Drawing: well-formed, complete and deterministic pictures; layouts that follow distances."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kleene as kl
from kleene.graph.rows import Lines
from kleene.viz.layout import component, pivot_mds, place, separate
from kleene.viz.maps import map_layout
from kleene.viz.picture import Picture
from kleene.viz.shapes import text_width

SVG = "{http://www.w3.org/2000/svg}"


def shapes(path: Path, tag: str) -> list[ET.Element]:
    return list(ET.parse(path).getroot().iter(f"{SVG}{tag}"))


def strokes(path: Path) -> int:
    """Count the lines of the picture in all colours."""
    data = [p.get("d", "") for p in shapes(path, "path") if p.get("fill") == "none"]
    return sum(d.count("M") for d in data)


def words(path: Path) -> str:
    return " | ".join(t.text or "" for t in shapes(path, "text"))


@pytest.fixture(scope="module")
def rome() -> kl.Graph:
    return kl.datasets.rome()


# ---- layout -------------------------------------------------------------------------------------


def test_a_path_is_laid_out_on_a_line() -> None:
    places = pivot_mds(kl.generate.path(20))
    assert np.allclose(np.abs(np.diff(places[:, 0])), 1)
    assert np.allclose(places[:, 1], 0, atol=1e-6)


def test_a_grid_is_laid_out_as_a_grid() -> None:
    places = pivot_mds(kl.generate.grid(8, 15))
    rows, columns = np.divmod(np.arange(120), 15)
    assert abs(np.corrcoef(columns, places[:, 0])[0, 1]) > 0.98  # the longer side lies along x
    assert abs(np.corrcoef(rows, places[:, 1])[0, 1]) > 0.98


def test_layout_is_in_the_units_of_the_weights() -> None:
    graph = kl.generate.path(10, weights=250.0)
    assert np.ptp(pivot_mds(graph)[:, 0]) == pytest.approx(9 * 250)


def test_layout_follows_distances_on_a_road_network(rome: kl.Graph) -> None:
    places = pivot_mds(rome)
    distances = kl.sssp(rome.symmetrise(), 7).distances
    drawn = np.hypot(*(places - places[7]).T)
    assert np.corrcoef(distances, drawn)[0, 1] > 0.95


def test_layout_is_deterministic() -> None:
    first, second = (pivot_mds(kl.generate.small_world(300, weights=(1, 9))) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_layout_of_tiny_graphs(n: int) -> None:
    places = pivot_mds(kl.generate.complete(n))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_negative_weights_are_laid_out_by_hops() -> None:
    graph = kl.Graph.from_edges([0, 1], [1, 2], [5, -2])
    assert np.ptp(pivot_mds(graph)[:, 0]) == pytest.approx(2)


def test_component_ignores_directions() -> None:
    graph = kl.Graph.from_edges([1, 2, 4], [0, 1, 5])
    assert component(graph, 0).tolist() == [0, 1, 2]
    assert component(graph, 5).tolist() == [4, 5]


# ---- pictures -----------------------------------------------------------------------------------


def test_every_street_is_drawn_once(rome: kl.Graph, tmp_path: Path) -> None:
    result = kl.sssp(rome, 1)
    path = kl.draw(result, tmp_path / "rome.svg", target=2966, unit="m")
    sources, targets, _ = rome.coo
    streets = {
        (min(s, t), max(s, t)) for s, t in zip(sources.tolist(), targets.tolist(), strict=True)
    }
    route = result.path(2966)
    bed, line = shapes(path, "path")[-2:]
    assert strokes(path) == len(streets) + 2  # and the path with its outline
    for stroke in (bed, line):
        assert stroke.get("d", "").count("l") == len(route) - 1
    assert len(shapes(path, "circle")) == 2
    assert "69,102 m along 99 arcs" in words(path)
    assert "rome99: distances from 1" in words(path)
    assert path.stat().st_size < 200_000
    assert path.read_bytes() == kl.draw(result, tmp_path / "2.svg", 2966, unit="m").read_bytes()


def test_everything_is_inside_the_picture(tmp_path: Path) -> None:
    graph = kl.generate.grid(5, 9, weights=(1, 9))
    root = ET.parse(kl.draw(kl.sssp(graph, 0), tmp_path / "g.svg", target=44)).getroot()
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for circle in root.iter(f"{SVG}circle"):
        assert 0 < float(circle.get("cx", "")) < width
        assert 0 < float(circle.get("cy", "")) < height
    for text in root.iter(f"{SVG}text"):
        assert 0 < float(text.get("y", "")) < height


def test_unreachable_vertices_are_grey_and_other_components_are_reported(tmp_path: Path) -> None:
    graph = kl.Graph.from_edges([0, 1, 3, 5], [1, 2, 0, 6])
    path = kl.draw(kl.bfs(graph, 0), tmp_path / "g.svg", target=3)
    description = words(path)
    assert "4 vertices (3 in other components are not drawn)" in description
    assert "1 is unreachable (grey)" in description
    assert "no path to 3" in description
    assert "2 hops" in description
    assert strokes(path) == 3


def test_given_positions_show_everything(tmp_path: Path) -> None:
    graph = kl.Graph.from_edges([0, 2], [1, 3])
    path = kl.draw(kl.bfs(graph, 0), tmp_path / "g.svg", positions=[[0, 0], [1, 0], [0, 1], [1, 1]])
    assert strokes(path) == 2
    assert "4 vertices; 2 are unreachable" in words(path)


def test_y_points_up(tmp_path: Path) -> None:
    graph = kl.Graph.from_edges([0], [1])
    path = kl.draw(kl.bfs(graph, 0), tmp_path / "g.svg", 1, positions=[[0, 0], [1, 1]])
    source, target = (float(c.get("cy", "")) for c in shapes(path, "circle"))
    assert target < source


def test_names_are_shown_and_escaped(tmp_path: Path) -> None:
    graph = kl.Graph.from_table({"source": ["<A&B>"], "target": ["z"]})
    path = kl.draw(kl.bfs(graph, "<A&B>"), tmp_path / "g.svg", target="z", title='"R" & D')
    assert "<A&B>" in words(path)
    assert '"R" & D' in words(path)


def test_a_row_of_many(tmp_path: Path) -> None:
    result = kl.apsp(kl.generate.cycle(6))
    path = kl.draw(result, tmp_path / "g.svg", target=2, row=5)
    assert "Hops from 5" in words(path).replace("hops", "Hops")
    assert "path to 2: 3 hops" in words(path)


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_graphs_are_drawn(n: int, tmp_path: Path) -> None:
    path = kl.draw(kl.sssp(kl.generate.complete(n), 0), tmp_path / "g.svg", target=n - 1)
    assert shapes(path, "circle")
    assert "nan" not in path.read_text().lower()


def test_colours_get_lighter_with_distance(tmp_path: Path) -> None:
    path = kl.draw(kl.bfs(kl.generate.path(40), 0), tmp_path / "g.svg")
    colours = [r.get("fill", "") for r in shapes(path, "rect")][1:]
    light = [sum(int(c[i : i + 2], 16) * w for i, w in ((1, 2), (3, 7), (5, 1))) for c in colours]
    assert len(set(colours)) == len(colours)
    assert all(a < b for a, b in pairwise(light))


# ---- pictures that show themselves --------------------------------------------------------------


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


def test_regions_of_facilities(rome: kl.Graph) -> None:
    places = [1, 500, 1000, 1500, 2000, 2500, 3000, 700, 1200, 3300]
    near = kl.nearest(rome, places)
    picture = kl.draw(near, target=2900)
    assert "nearest of 10 facilities" in picture.title
    assert "path of 2900 to 2500: 13,678 along" in picture.description
    assert set(map(str, places)) <= set(texts(picture))
    graph = kl.Graph.from_edges([0, 1], [1, 2], n=4)
    assert "1 is without one (grey)" in kl.draw(kl.nearest(graph, [2])).description


def test_neighbouring_regions_differ_in_colour() -> None:
    from kleene.viz.colouring import Groups

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


# ---- errors -------------------------------------------------------------------------------------


def test_too_many_arcs_are_refused(tmp_path: Path) -> None:
    graph = kl.generate.complete(500)
    with pytest.raises(kl.RequestError, match="subgraph"):
        kl.draw(kl.bfs(graph, 0), tmp_path / "g.svg")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_drawn() -> None:
    graph = kl.generate.cycle(5)
    with pytest.raises(kl.RequestError, match=r"not int; make a graph with kl\.Graph\.from_any"):
        kl.draw(3)  # type: ignore[call-overload]
    with pytest.raises(kl.RequestError, match="target needs a result"):
        kl.draw(graph, target=1)
    with pytest.raises(kl.RequestError, match=r"draw\(result.route\(0\)\)"):
        kl.draw(kl.bfs(graph, pairs=[(0, 1)]))


def test_invalid_arguments(tmp_path: Path) -> None:
    graph = kl.generate.cycle(5)
    path = tmp_path / "g.svg"
    with pytest.raises(kl.RequestError, match="row must be from 0 to 0"):
        kl.draw(kl.bfs(graph, 0), path, row=1)
    with pytest.raises(kl.RequestError, match="distances to all vertices"):
        kl.draw(kl.bfs(graph, 0, targets=[1]), path)
    with pytest.raises(kl.RequestError, match="distances to all vertices"):
        kl.draw(kl.closure(graph), path)
    with pytest.raises(kl.RequestError, match="predecessors"):
        kl.draw(kl.bfs(graph, 0, predecessors=False), path, target=1)
    with pytest.raises(kl.GraphError, match=r"shape \(5, 2\)"):
        kl.draw(kl.bfs(graph, 0), path, positions=[[0, 1]])
    with pytest.raises(kl.RequestError, match="suffix"):
        kl.draw(kl.bfs(graph, 0), tmp_path / "picture")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(kl.RequestError, match=r'pip install "kleene\[plot\]"'):
        kl.draw(kl.bfs(kl.generate.cycle(5), 0), tmp_path / "g.png")


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_matplotlib_draws_the_same(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = kl.draw(kl.bfs(kl.generate.cycle(5), 0), tmp_path / f"g{suffix}", target=2)
    assert path.read_bytes()[:4] in (b"\x89PNG", b"%PDF")
    with pytest.raises(kl.RequestError, match="no picture format"):
        kl.draw(kl.bfs(kl.generate.cycle(5), 0), tmp_path / "g.xyz")
