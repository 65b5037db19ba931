"""Charts: ticks, scales and labels, and what becomes of odd data."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_samples import PUBLISHED, everything, experiment, point, record_of
from numpy.typing import NDArray

from kleene.lab.experiment import Axis, Experiment
from kleene.lab.found import found_in
from kleene.lab.record import Point
from kleene.lab.report.data import charts_of, x_words
from kleene.lab.report.figure import cell_pictures, whole_figure
from kleene.lab.report.letters import fitting, text_width
from kleene.lab.report.palette import DARK, HUES, LIGHT, MARKERS, series_style
from kleene.lab.report.scale import apart, linear_ticks, log_ticks, scale_for, thinned
from kleene.lab.words import counts, duration
from kleene.viz.picture import Picture

Array = NDArray[Any]
positive = st.floats(1e-12, 1e12)


# ---- scales -------------------------------------------------------------------------------------


@given(positive, st.floats(1.001, 1e12))
def test_logarithmic_ticks_are_few_and_round(low: float, factor: float) -> None:
    ticks = log_ticks(low, low * factor)
    assert 2 <= len(ticks) <= 7
    assert all(a < b for a, b in pairwise(ticks))
    assert all(low * 0.999999 <= tick <= low * factor * 1.000001 for tick in ticks)
    if factor > 30:  # then they are 1, 2 or 5 times a power of ten
        assert {f"{tick:e}"[0] for tick in ticks} <= set("125")


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_linear_ticks_are_few_and_evenly_spaced(low: float, width: float) -> None:
    ticks = linear_ticks(low, low + width)
    assert 2 <= len(ticks) <= 7
    steps = [b - a for a, b in pairwise(ticks)]
    assert max(steps) - min(steps) <= 1e-6 * max(abs(low), width)


@given(st.lists(positive, min_size=1, max_size=9), st.booleans())
def test_all_values_have_their_place(values: list[float], log: bool) -> None:
    scale = scale_for(values, 400, 20, log)
    places = [scale.at(value) for value in values]
    assert all(20 <= place <= 400 for place in places)
    order = sorted(range(len(values)), key=lambda at: values[at])
    assert all(places[a] >= places[b] - 1e-6 for a, b in pairwise(order))


@pytest.mark.parametrize("values", [[], [0.0], [-1.0, math.nan], [math.inf]])
def test_scales_of_nothing(values: list[float]) -> None:
    scale = scale_for(values, 0, 100, log=True)
    assert scale.ticks()
    assert 0 <= scale.at(3) <= 100


@given(st.lists(st.floats(0, 300), max_size=20))
def test_labels_stand_apart_and_in_order(wanted: list[float]) -> None:
    places = apart(wanted, 13, 0, 300)
    assert sorted(range(len(wanted)), key=lambda i: (wanted[i], places[i])) == sorted(
        range(len(wanted)), key=lambda i: places[i]
    )
    assert all(b - a >= 13 - 1e-6 for a, b in pairwise(sorted(places)))
    assert all(0 <= place <= 300 for place in places)


def test_labels_that_fit_stay_where_they_are() -> None:
    assert apart([10, 30, 90], 13, 0, 300) == [10, 30, 90]


@given(st.lists(st.floats(0, 400), max_size=20).map(sorted), st.floats(5, 90))
def test_labels_along_the_axis_do_not_touch(places: list[float], width: float) -> None:
    kept = thinned(places, [width] * len(places))
    assert all(places[b] - places[a] >= width for a, b in pairwise(kept))
    assert not places or kept[-1] == len(places) - 1


# ---- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1e-9, "1 ns"), (1e-6, "1 µs"), (0.001, "1 ms"), (0.9996, "1 s"), (10, "10 s"),
        (0.99949e-3, "999 µs"), (0, "0 s"), (1e-15, "1e-06 ns"), (86400, "86,400 s"),
        (math.nan, "-"), (math.inf, "-"),
    ],
)  # fmt: skip
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_names_for_x() -> None:
    assert x_words(Axis("graph", words=("Rome", "Oslo")), [0, 1, 2, 0.5]) == [
        "Rome", "Oslo", "2", "0.5",
    ]  # fmt: skip
    assert counts([]) == []
    assert counts([0, 16384]) == ["0", "16,384"]
    assert counts([1, 2, 2**20]) == ["2⁰", "2¹", "2²⁰"]


@given(st.text(min_size=1, max_size=60), st.floats(20, 200))
def test_names_that_are_cut_fit(name: str, room: float) -> None:
    assert text_width(fitting(name, 11, room), 11) <= max(room, 40)


def test_names_of_a_family_differ_when_cut() -> None:
    family = [f"direction_optimizing, whole call, {how}" for how in ("placed", "not placed")]
    assert len({fitting(name, 11, 120) for name in family}) == 2


# ---- colours ------------------------------------------------------------------------------------


def test_series_differ_in_colour_or_marker() -> None:
    styles = {(c, m % len(MARKERS)) for c, m in map(series_style, range(HUES * len(MARKERS)))}
    assert len(styles) == HUES * len(MARKERS)


def linear(colour: str) -> Array:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(np.array([0.2126, 0.7152, 0.0722]) @ linear(colour))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_the_ground(theme: dict[str, str]) -> None:
    ground = luminance(theme["ground"])
    for name, colour in theme.items():
        light, dark = sorted((luminance(colour), ground), reverse=True)
        least = {"ground": 1, "rule": 1.1, "ink": 7, "faded": 4.5}.get(name, 3)
        assert (light + 0.05) / (dark + 0.05) >= least, name


#: What those see who lack one kind of cone: Machado, Oliveira and Fernandes, 2009.
EYES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(rgb: Array) -> Array:
    """Return a colour in a space where distances are what eyes see (CIELAB, D65)."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    scaled = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES.values(), ids=EYES)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_differ_for_the_colour_blind(
    theme: dict[str, str], eyes: list[list[float]]
) -> None:
    seen = [lab(np.array(eyes) @ linear(theme[f"s{index}"])) for index in range(HUES)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 14


# ---- drawings -----------------------------------------------------------------------------------


def drawn(declared: Experiment, *points: Point) -> list[Picture]:
    """Draw every chart, and check that all numbers in it are numbers and inside of it."""
    founds = found_in(record_of(*points), declared)
    charts = charts_of(declared, founds)
    pictures = [picture for machine in cell_pictures(declared, charts) for picture in machine]
    for picture in [*pictures, *([whole_figure(declared, charts)] if charts else [])]:
        check(picture)
    return pictures


def check(picture: Picture) -> None:
    text = picture.svg()
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<(title|desc)>.*?</\1>|>[^<]*<", "", text))
    root = ET.fromstring(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '))
    for place in root.iter("{http://www.w3.org/2000/svg}text"):
        assert -1 <= float(place.get("x", "")) <= picture.width
        assert 0 <= float(place.get("y", "")) <= picture.height
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        start = re.match(r"M(\S+) ([^lzMh]+)", path.get("d", ""))
        assert start is not None
        assert -12 <= float(start[1]) <= picture.width + 12
        assert -12 <= float(start[2]) <= picture.height + 12


def words_in(picture: Picture) -> list[str]:
    return re.findall(r"<text [^>]*>([^<]*)</text>", picture.svg())


def test_a_chart_of_lines() -> None:
    times = {512: 0.002, 1024: 0.016, 2048: 0.13, 4096: 1.1}
    points = [point("tiled", n, t, 1.1 * t, 1.2 * t) for n, t in times.items()]
    (picture,) = drawn(experiment(published=PUBLISHED), *points)
    words = words_in(picture)
    assert {"512", "1,024", "2,048", "4,096", "vertices", "time"} <= set(words)
    assert {"10 ms", "100 ms", "1 s"} <= set(words)
    assert {"tiled", "naive, Tesla M2090", "one core, a Xeon"} <= set(words)
    assert picture.svg().count('stroke-dasharray="4 3"') == 2
    assert "tiled at 512 vertices: 2.2 ms (measured 3 times, range 2 ms to 2.4 ms)" in picture.svg()
    assert "The lowest is tiled at 512 vertices" in picture.description


def test_machines_share_their_axes_and_colours() -> None:
    slow = [point("tiled", n, n / 1e3) for n in (10, 100)]
    fast = [point("tiled", n, n / 1e6, run="g", device="cuda") for n in (10, 100, 1000)]
    one, two = drawn(experiment(), *slow, *fast)
    axis = [{w for w in words_in(p) if w.endswith("s") and w[0].isdigit()} for p in (one, two)]
    assert axis[0] == axis[1]
    assert one.width == two.width
    assert one.height == two.height


def test_one_point_becomes_a_bar() -> None:
    (picture,) = drawn(experiment(), point("a", 512, 0.5), point("b", 512, 0.25))
    assert {"512", "a", "b", "500 ms", "250 ms"} <= set(words_in(picture))
    assert "<rect" in picture.svg()


def test_bars_that_would_dwarf_the_rest_become_dots() -> None:
    (picture,) = drawn(experiment(kind="bars"), point("a", 0, 100.0), point("b", 0, 0.1))
    assert "time (logarithmic)" in words_in(picture)
    assert "<rect" not in picture.svg()


@pytest.mark.parametrize(
    "points",
    [
        [],
        [point("a", 1, 1.0)],
        [point("a", 1, 1.0), point("a", 2, 1.0)],  # one y
        [point("a", 1, 0.0), point("a", 2, 0.0)],  # no time at all
        [point("a", 0, 1.0), point("a", 10, 2.0)],  # no logarithm of x
        [point("a", -5, 1.0), point("a", 10, 2.0)],
        [point("a", 1, 1e-12), point("a", 1e9, 1e9)],
        [point("a", 1, 1.0, 1.0), point("a", 1.0000001, 1.0, 1.0)],
        [point("a", 1), point("a", 2, 1.0)],  # a point without times
        [point("a", 1, 1.0), point("b", 2, 2.0, panel="p")],  # panels that lack a series
        [point("a", 1, 1.0, panel="p"), point("a", 2, 2.0, panel="q", run="g")],
        [point(f"a very long name, number {i}", n, i + n) for i in range(30) for n in (1, 2)],
        [point("a", n, n) for n in range(1, 200)],
        [point("a", 1, 1.0, facts={"interval": (0.5, 2.0)}), point("a", 2, 1.0)],
        [point("a", 1, 1.0, facts={"interval": (-0.5, 2.0)}), point("a", 2, 1.0)],
        [point("a", 1, 1.0, facts={"interval": "wide"}), point("a", 2, 1.0)],
    ],
    ids=lambda points: f"{len(points)} points",
)  # fmt: skip
@pytest.mark.parametrize("y", ["seconds", "rate", "share"])
@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_odd_data_is_drawn(points: list[Point], y: str, kind: str) -> None:
    declared = experiment(y=y, kind=kind, published=PUBLISHED)
    drawn(declared, *points)
    drawn(declared, *(replace(p, work=1e9, unit="arcs", ceiling=1e10) for p in points))


def test_an_interval_that_goes_below_zero_reaches_the_floor() -> None:
    wide = [point("a", n, 1.0 * n, facts={"interval": (-1.0, 3.0 * n)}) for n in (1, 9)]
    for kind in ("lines", "bars"):
        (picture,) = drawn(experiment(kind=kind), *wide)
        (none,) = drawn(experiment(kind=kind), *(replace(p, facts={}) for p in wide))
        assert (
            picture.svg().count("<path")
            == none.svg().count("<path") + {"lines": 1, "bars": 2}[kind]
        )


def test_figures_as_files(tmp_path: Path) -> None:
    record, declared = everything()
    for one in declared[:3]:
        charts = charts_of(one, found_in(record, one))
        figure = whole_figure(one, charts)
        figure.write(tmp_path / "f.svg")
        root = ET.parse(tmp_path / "f.svg").getroot()
        assert root.find("{http://www.w3.org/2000/svg}title") is not None
        assert "var(" not in (tmp_path / "f.svg").read_text()
        pytest.importorskip("matplotlib")
        figure.write(tmp_path / "f.png")
        assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
