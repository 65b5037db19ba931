"""Distances on the Earth, and which coordinates are longitude and latitude."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import kleene as kl
from kleene.graph import earth
from kleene.graph.rows import Lines

DEGREE = np.pi / 180 * earth.RADIUS  # metres along a meridian


def test_distances_are_great_circles() -> None:
    a = np.array([[0, 0], [179.5, 0], [10, 60], [0, 90], [7, -30.0]])
    b = np.array([[0, 1], [-179.5, 0], [11, 60], [0, -90], [7, -30.0]])
    along_60 = 2 * np.arcsin(np.cos(np.pi / 3) * np.sin(np.pi / 360)) * earth.RADIUS
    right = [DEGREE, DEGREE, along_60, np.pi * earth.RADIUS, 0]
    np.testing.assert_allclose(earth.distances_between(a, b, True), right, rtol=1e-12)
    np.testing.assert_allclose(earth.distances_between(a, b, False)[1:4], [359, 1, 180])


def test_lengths_of_lines() -> None:
    points = np.array([[0, 0], [3, 4], [3, 5], [9, 9], [1, 1], [1, 1], [0, 0], [0, 1.0]])
    lines = Lines(np.array([0, 3, 3, 4, 6, 8]), points)
    assert earth.lengths_of_lines(lines, False).tolist() == [6, 0, 0, 0, 1]
    lengths = earth.lengths_of_lines(lines, True)
    steps = earth.distances_between(points[:-1], points[1:], True)
    np.testing.assert_array_equal(lengths, [steps[0] + steps[1], 0, 0, 0, steps[6]])
    none = Lines(np.zeros(1, np.int64), np.empty((0, 2)))
    assert earth.lengths_of_lines(none, True).tolist() == []


def test_chords_grow_with_arcs() -> None:
    for metres in (0.001, 1.0, 1e5, 1.5e7):
        north = np.array([[20, 0], [20, metres / DEGREE]])
        ends = earth.in_space(north, True)
        chord = np.linalg.norm(ends[1] - ends[0])
        assert earth.chord_of_arc(metres, True) == pytest.approx(chord, rel=1e-6)
    assert earth.chord_of_arc(1e9, True) == 2 * earth.RADIUS
    assert earth.chord_of_arc(5, False) == 5
    assert earth.in_space(north, False) is north


@pytest.fixture
def _without_pyproj(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    earth._is_geographic.cache_clear()


@pytest.mark.usefixtures("_without_pyproj")
@pytest.mark.parametrize(
    ("crs", "degrees"),
    [
        ("EPSG:4326", True),
        ("OGC:CRS84", True),
        ("epsg:4258", True),
        ('GEOGCS["any"]', True),
        ('PROJCS["any"]', False),
        ('LOCAL_CS["any"]', False),
        (None, False),
    ],
)
def test_known_systems(crs: str | None, degrees: bool) -> None:
    assert earth.are_degrees(crs, np.array([[9, 48.0]])) == degrees
    assert not earth.are_degrees(crs, np.empty((0, 2)))


@pytest.mark.usefixtures("_without_pyproj")
def test_systems_that_only_pyproj_knows() -> None:
    """Coordinates beyond degrees decide; else a length could be in degrees."""
    assert not earth.are_degrees("EPSG:25832", np.array([[5e5, 5.4e6]]))
    with pytest.raises(kl.GraphError, match=r"if EPSG:25832 is longitude and .* pyproj.*install"):
        earth.are_degrees("EPSG:25832", np.array([[50, 50.0]]))


def test_pyproj_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def system(text: str) -> SimpleNamespace:
        if text == "nonsense":
            raise ValueError(text)
        return SimpleNamespace(is_geographic=text == "EPSG:4617x")

    module = SimpleNamespace(
        CRS=SimpleNamespace(from_user_input=system),
        exceptions=SimpleNamespace(ProjError=ValueError),
    )
    monkeypatch.setitem(sys.modules, "pyproj", module)
    earth._is_geographic.cache_clear()
    points = np.array([[50, 50.0]])
    assert earth.are_degrees("EPSG:4617x", points)
    assert not earth.are_degrees("EPSG:25832", points)
    with pytest.raises(kl.GraphError, match="in 'nonsense', which pyproj refuses"):
        earth.are_degrees("nonsense", points)
    earth._is_geographic.cache_clear()


def test_our_list_is_that_of_pyproj() -> None:
    pyproj = pytest.importorskip("pyproj")
    for code in earth._GEOGRAPHIC:
        assert pyproj.CRS.from_user_input(code).is_geographic
