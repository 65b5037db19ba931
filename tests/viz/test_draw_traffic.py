"""Traffic and measures of edges: widths that follow the numbers, directions side by side."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.graph.rows import Lines as StreetLines
from kleene.viz.flow import beside
from kleene.viz.names import text_boxes
from kleene.viz.picture import Picture
from kleene.viz.shapes import Lines, Text

STREET = "#d9d7d0"


def bands(picture: Picture) -> list[tuple[float, np.ndarray]]:
    """Return the width and the line of every band on the map; not those of the legend."""
    foot = max(shape.y for shape in picture.shapes if isinstance(shape, Text)) - 15
    return [
        (shape.width, line)
        for shape in picture.shapes
        if isinstance(shape, Lines) and shape.colour != STREET
        for line in shape.strokes
        if line[0, 1] < foot
    ]


def on_a_line(count: int = 4) -> kl.Graph:
    """Return streets from left to right, both ways, with positions."""
    return kl.generate.path(count).with_positions([(100.0 * v, 0.5 * v) for v in range(count)])


def texts(picture: Picture) -> list[str]:
    return [shape.content for shape in picture.shapes if isinstance(shape, Text)]


def test_widths_follow_the_flow() -> None:
    g = on_a_line(6)
    flows = kl.loads(g, [(0, 1, 100), (1, 2, 60), (2, 3, 25), (3, 4, 5)])
    drawn = sorted(bands(kl.draw(flows)), key=lambda band: band[1][0, 0])
    widths = [width for width, _ in drawn]
    assert len(widths) == 4  # an arc without traffic has no band
    assert all(a > b for a, b in pairwise(widths))
    assert widths[1] / widths[0] == pytest.approx(0.6, abs=0.05)
    assert widths[2] / widths[0] == pytest.approx(0.25, abs=0.05)


def test_directions_are_side_by_side() -> None:
    """Traffic keeps to the right: on the map, what goes east is below what goes west."""
    flows = kl.loads(on_a_line(2), [(0, 1, 9), (1, 0, 3)])
    (thin, west), (wide, east) = bands(kl.draw(flows))
    assert (west[0, 0] > west[-1, 0], east[0, 0] < east[-1, 0]) == (True, True)
    assert thin < wide
    apart = east[:, 1].mean() - west[:, 1].mean()  # y points down
    assert apart >= (thin + wide) / 2


def test_a_one_way_street_is_in_the_middle() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [1, 1]).with_positions([(0, 0), (9, 0), (18, 0)])
    picture = kl.draw(kl.loads(g, [(0, 2, 5)]), arrows=False)
    [streets] = [s for s in picture.shapes if isinstance(s, Lines) and s.colour == STREET]
    drawn = [line for _, line in bands(picture)]
    assert {line[0, 1] for line in drawn} == {line[0, 1] for line in streets.strokes}


def test_every_street_is_under_the_bands() -> None:
    g = kl.generate.grid(4, 5)
    picture = kl.draw(kl.loads(g, [(0, 19, 5)]))
    [streets] = [s for s in picture.shapes if isinstance(s, Lines) and s.colour == STREET]
    assert len(streets.strokes) == g.m // 2
    assert len(bands(picture)) == 7


def test_words_are_in_the_unit() -> None:
    flows = kl.loads(on_a_line(), [(0, 3, 250), (2, 1, 40)])
    picture = kl.draw(flows, unit="cars")
    said = texts(picture)
    assert "250 cars" in said  # the legend has the largest, and at its arc
    assert "100 cars" in said
    assert "290 cars on 4 arcs; most 250 cars from 0 to 1" in picture.description
    assert "each direction on its right" in picture.description
    lost = kl.loads(kl.Graph.from_edges([0], [1], n=3), [(0, 1, 5), (0, 2, 7)])
    assert kl.draw(lost, unit="cars").description.endswith("7 cars without a path")


def test_numbers_do_not_overlap() -> None:
    g = kl.generate.grid(3, 3)
    demand = [(s, t, 10 + s) for s in range(9) for t in range(9)]
    picture = kl.draw(kl.loads(g, demand))
    boxes = text_boxes(shape for shape in picture.shapes if isinstance(shape, Text))
    for i, (left, top, right, bottom) in enumerate(boxes.tolist()):
        for other in boxes[:i].tolist():
            apart = left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            assert apart, (i, other)


def test_no_traffic_at_all() -> None:
    picture = kl.draw(kl.loads(on_a_line(), []))
    assert bands(picture) == []
    assert "0 on 0 arcs" in picture.description


def test_bands_follow_the_course_of_streets() -> None:
    g = kl.Graph.from_table({"source": [7], "target": [8]}, directed=False)
    course = StreetLines(np.array([0, 4]), np.array([[0, 0], [0, 1], [1, 1], [1, 0]], float))
    assert g.rows is not None
    g = g._derived(g.csr, rows=g.rows.with_lines(course)).with_positions([[0, 0], [1, 0]])
    [(_, line)] = bands(kl.draw(kl.loads(g, [(7, 8, 1)])))
    assert len(line) == 4


def test_beside_keeps_the_distance() -> None:
    corner = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 0.0], [10.0, 10.0]])
    assert beside(corner, 2).tolist() == [[0, 2], [8, 2], [8, 10]]
    assert beside(corner[:1], 2).tolist() == [[0, 0]]
    sharp = beside(np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 0.1]]), 1)
    assert np.abs(sharp).max() < 14  # no long spike


# ---- measures of edges --------------------------------------------------------------------------


def test_edges_by_width_and_colour() -> None:
    table = kl.betweenness(kl.generate.path(5), edges=True).edges
    assert table is not None
    picture = kl.draw(table)
    drawn = sorted(bands(picture), key=lambda band: band[1][:, 0].mean())
    assert len(drawn) == 4  # one for both directions of an edge
    widths = [width for width, _ in drawn]
    assert widths[0] == widths[3] < widths[1] == widths[2]
    colours = {s.colour for s in picture.shapes if isinstance(s, Lines)} - {STREET}
    assert len(colours) >= 2
    assert "most 0.6 from 1 to 2" in picture.description


def test_the_pictures_can_be_saved(tmp_path: Any) -> None:
    flows = kl.loads(on_a_line(), [(0, 3, 250), (2, 1, 40)])
    root = ET.parse(kl.draw(flows, tmp_path / "g.svg")).getroot()
    assert root.tag.endswith("svg")
    assert "nan" not in (tmp_path / "g.svg").read_text().lower()
    pytest.importorskip("matplotlib")
    assert kl.draw(flows, tmp_path / "g.png").stat().st_size > 1000


def test_traffic_has_no_target() -> None:
    with pytest.raises(kl.RequestError, match="target needs a result"):
        kl.draw(kl.loads(on_a_line(), [(0, 3, 1)]), target=3)
