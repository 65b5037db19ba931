"""Drawing: well-formed, complete and deterministic pictures; layouts that follow distances."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.viz.layout import component, pivot_mds

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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "no"}, "labels must be True or False, not 'no'"),
        ({"arrows": 1}, "arrows must be True or False, not 1"),
        ({"row": "first"}, "row must be from 0 to 0, but is 'first'"),
        ({"row": 0.0}, "row must be from 0 to 0, but is 0.0"),
        ({"title": 3}, "title must be a text, not 3"),
        ({"unit": 5}, "unit must be a text, not 5"),
        ({"target": [1]}, "target must be one vertex, not [1]"),
        ({"target": 9}, "no vertex 9"),
        ({"route": 5}, "route must be a sequence of vertices, not 5"),
        ({"route": "01"}, "route must be a sequence"),
        ({"path": 3}, "path must be the name of a file, not 3"),
        ({"positions": "left"}, "positions must be pairs of numbers"),
    ],
)
def test_arguments_of_other_types(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.KleeneError) as caught:
        kl.draw(kl.bfs(kl.generate.cycle(5), 0), **options)
    assert message in str(caught.value)


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
