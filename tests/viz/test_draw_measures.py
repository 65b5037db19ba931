"""Measures of vertices as colours and sizes, and what changes between two answers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.system.colours import GREY, diverging
from kleene.viz.colouring import Differences
from kleene.viz.picture import Picture
from kleene.viz.shapes import Box, Dots, Lines, Text

INF = float("inf")


def vertices(picture: Picture) -> list[Dots]:
    """Return the dots of the map; not those of the legend."""
    foot = max(shape.y for shape in picture.shapes if isinstance(shape, Text)) - 15
    return [s for s in picture.shapes if isinstance(s, Dots) and s.at[0, 1] < foot]


def bar(picture: Picture) -> list[str]:
    return [shape.colour for shape in picture.shapes if isinstance(shape, Box)][1:]


def texts(picture: Picture) -> list[str]:
    return [shape.content for shape in picture.shapes if isinstance(shape, Text)]


def brightness(colour: str) -> float:
    return sum(int(colour[i : i + 2], 16) * w for i, w in ((1, 2), (3, 7), (5, 1)))


# ---- measures -----------------------------------------------------------------------------------


def test_larger_numbers_are_larger_and_darker() -> None:
    line = kl.generate.path(9).with_positions([(v, 0) for v in range(9)])
    closeness = kl.closeness(line)
    dots = sorted(
        (point[0], group.radius, brightness(group.colour))
        for group in vertices(kl.draw(closeness))
        for point in group.at.tolist()
    )
    order = np.argsort(closeness.values, kind="stable")
    radii, light = (np.array([dot[i] for dot in dots])[order] for i in (1, 2))
    assert all(a <= b for a, b in pairwise(radii.tolist()))
    assert all(a >= b for a, b in pairwise(light.tolist()))
    assert radii[0] < radii[-1]
    assert light[0] > light[-1]


def test_the_legend_of_a_measure() -> None:
    picture = kl.draw(kl.eccentricity(kl.generate.path(5)), unit="hops")
    assert {"2 hops", "4 hops"} <= set(texts(picture))
    assert picture.title == "path(n=5): eccentricity"
    assert "most 4 hops at 0" in picture.description
    colours = bar(picture)
    assert all(brightness(a) > brightness(b) for a, b in pairwise(colours))


def test_numbers_that_are_all_the_same_are_large() -> None:
    [dots] = vertices(kl.draw(kl.closeness(kl.generate.cycle(8))))
    assert len(dots.at) == 8
    assert brightness(dots.colour) < 600


def test_numbers_of_paths_have_a_scale_of_factors() -> None:
    g = kl.generate.grid(1, 400)
    ladder = kl.Graph.from_edges(
        np.repeat(np.arange(0, 1200, 3), 4) + np.tile([0, 0, 1, 2], 400),
        np.repeat(np.arange(0, 1200, 3), 4) + np.tile([1, 2, 3, 3], 400),
    )
    counts = kl.path_counts(ladder, 0, exact=True)
    picture = kl.draw(counts)
    assert "logarithmic" in texts(picture)
    assert "most 2.58225e+120 at 1200" in picture.description
    assert picture.title == "Shortest paths from 0"
    assert "unreachable" not in picture.description
    there = kl.draw(kl.path_counts(g, 0, reverse=True))
    assert there.title.endswith("shortest paths to 0")
    lone = kl.path_counts(kl.Graph.from_edges([0], [1], n=3), 0)
    assert "1 is without one (grey)" in kl.draw(lone).description
    with pytest.raises(kl.RequestError, match="beyond floats"):
        kl.draw(
            kl.path_counts(kl.Graph.from_edges(*doubled(1100)), 0, exact=True),
            minus=kl.path_counts(kl.Graph.from_edges(*doubled(1100)), 0, exact=True),
        )


def doubled(steps: int) -> tuple[Any, Any]:
    """Return arcs with two ways at each step."""
    first = np.repeat(3 * np.arange(steps), 4)
    return first + np.tile([0, 0, 1, 2], steps), first + np.tile([1, 2, 3, 3], steps)


def test_measures_have_no_target() -> None:
    with pytest.raises(kl.RequestError, match="a measure has none"):
        kl.draw(kl.closeness(kl.generate.path(3)), target=1)


# ---- differences --------------------------------------------------------------------------------


@pytest.fixture
def streets() -> kl.Graph:
    """A ring of eight, both ways."""
    at = [(np.cos(a), np.sin(a)) for a in np.arange(8) * np.pi / 4]
    return kl.generate.cycle(8, weights=2).with_positions(at)


def test_colours_diverge_from_zero() -> None:
    assert len({diverging(x) for x in np.linspace(-1, 1, 33)}) == 33
    numbers = np.array([-4.0, 0.0, 2.0, 4.0, 9.0])
    known = np.array([True, True, True, True, False])
    found: dict[int, str] = {}
    for colour, some in Differences(numbers, known).vertices(np.arange(5)):
        found |= dict.fromkeys(some.tolist(), colour)
    assert found[0] == diverging(-1)
    assert found[1] == diverging(0)
    assert found[3] == diverging(1)
    assert found[4] == GREY
    assert len(set(found.values())) == 5


def test_what_a_closed_street_changes(streets: kl.Graph) -> None:
    closed = streets.update({(0, 1): INF})
    before, after = kl.sssp(streets, 0), kl.sssp(closed, 0)
    picture = kl.draw(after, minus=before, unit="min")
    assert picture.title.endswith("distances from 0, difference")
    assert "3 more, up to +12 min; 5 the same" in picture.description
    assert {"-12 min", "0 min", "+12 min"} <= set(texts(picture))
    back = kl.draw(before, minus=after, unit="min")
    assert "3 less, down to -12 min; 5 the same" in back.description
    other = kl.draw(kl.sssp(streets, 1), minus=before)
    assert other.title.endswith("distances from 1, minus distances from 0")
    shown = kl.draw(after, minus=before, target=1)
    assert "path to 1: 14 along 7 arcs" in shown.description


def test_vertices_that_one_of_two_answers_reaches() -> None:
    """Rings are reached in the first alone, crosses in the second alone."""
    at = [(v % 3, v // 3) for v in range(6)]
    one = kl.Graph.from_edges([0, 1, 0], [1, 2, 3], n=6).with_positions(at)
    other = kl.Graph.from_edges([0, 1, 1], [1, 2, 4], n=6).with_positions(at)
    picture = kl.draw(kl.bfs(one, 0), minus=kl.bfs(other, 0))
    assert "1 is unreachable in both (grey)" in picture.description
    assert "3 the same; 1 only in the first (rings); 1 only in the second (crosses)" in (
        picture.description
    )
    assert {"only in the first", "only in the second"} <= set(texts(picture))
    rings = [dots for dots in vertices(picture) if dots.rim == "#22262b"]
    assert [len(dots.at) for dots in rings] == [1]
    crosses = [s for s in picture.shapes if isinstance(s, Lines) and s.colour == "#22262b"]
    assert sorted(len(s.strokes) for s in crosses) == [2, 2]  # and the legend
    same = texts(kl.draw(kl.bfs(one, 0), minus=kl.bfs(one, 0)))
    assert "only in the first" not in same


def test_a_lost_component_is_drawn() -> None:
    """Without positions, too, where the drawing of a search has the component of its source."""
    g = kl.generate.path(6)
    picture = kl.draw(kl.bfs(g.update({(2, 3): INF}), 0), minus=kl.bfs(g, 0))
    assert "3 only in the second (crosses)" in picture.description
    assert "not drawn" not in picture.description
    crosses = [s for s in picture.shapes if isinstance(s, Lines) and s.colour == "#22262b"]
    assert sorted(len(s.strokes) for s in crosses) == [2, 6]


def test_a_new_facility(streets: kl.Graph) -> None:
    picture = kl.draw(kl.nearest(streets, [0, 4]), minus=kl.nearest(streets, [0]), unit="min")
    assert "3 less, down to -8 min; 5 the same" in picture.description
    assert "nearest of 2 facilities" in picture.title
    assert {"0", "4"} <= set(texts(picture))


def test_measures_and_traffic_that_change(streets: kl.Graph) -> None:
    closed = streets.update({(0, 1): INF})
    assert "less, down to" in kl.draw(kl.closeness(closed), minus=kl.closeness(streets)).description
    demand = [(0, 1, 10), (5, 4, 7)]
    before, after = kl.loads(streets, demand), kl.loads(closed, demand)
    picture = kl.draw(after, minus=before, unit="cars")
    assert picture.title.endswith("traffic, difference")
    assert "7 more, up to +10 cars; 1 less, down to -10 cars" in picture.description
    assert "arcs only in the second" in picture.description  # the closed one is drawn
    assert {"-10 cars", "+10 cars"} <= set(texts(picture))
    edges = [kl.betweenness(g, edges=True).edges for g in (closed, streets)]
    assert "more, up to" in kl.draw(edges[0], minus=edges[1]).description  # type: ignore[call-overload]


def test_sums_in_another_order_are_the_same() -> None:
    g = kl.generate.path(3).reweight(arcs=[0.1, 0.1, 0.2, 0.2])
    more = g.reweight(arcs=np.asarray(g.weights) * (1 + 1e-13))
    assert "3 the same" in kl.draw(kl.sssp(more, 0), minus=kl.sssp(g, 0)).description


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_of_two_answers(streets: kl.Graph, reverse: bool) -> None:
    whole = kl.apsp(streets)
    assert kl.draw(whole, minus=whole, row=3).description.endswith("8 the same")
    one = kl.sssp(streets, 3)
    pair = (one, whole) if reverse else (whole, one)
    picture = kl.draw(pair[0], minus=pair[1], row=3)  # the row of the one that has several
    assert picture.description.endswith("8 the same")


def test_what_cannot_be_compared(streets: kl.Graph) -> None:
    near, search = kl.nearest(streets, [0]), kl.sssp(streets, 0)
    with pytest.raises(kl.RequestError, match="two answers of one kind"):
        kl.draw(near, minus=search)
    with pytest.raises(kl.RequestError, match="two answers of one kind"):
        kl.draw(streets, minus=streets)
    with pytest.raises(kl.RequestError, match="same vertices in the same order"):
        kl.draw(search, minus=kl.sssp(kl.generate.path(3), 0))
    named = kl.Graph.from_edges([0], [1], labels=["a", "b"])
    turned = kl.Graph.from_edges([0], [1], labels=["b", "a"])
    with pytest.raises(kl.RequestError, match="same vertices in the same order"):
        kl.draw(kl.bfs(named, "a"), minus=kl.bfs(turned, "a"))
