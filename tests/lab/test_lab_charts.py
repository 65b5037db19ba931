"""Charts: what their specifications encode, that Vega draws them, and what becomes of odd data."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
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

from kleene_lab.harness.experiment import Axis, Experiment
from kleene_lab.harness.formatting import counts, duration
from kleene_lab.harness.measurements import measurements_in
from kleene_lab.harness.record import Point
from kleene_lab.report.chart_data import charts_of, x_labels
from kleene_lab.report.palette import DARK, HUES, LIGHT, MARKERS, assign_styles, series_style

alt = pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from kleene_lab.report.charts import (  # noqa: E402
    Frame,
    chart_spec,
    config,
    figure_spec,
    frame_of,
    padded_domain,
    round_ticks,
    spread_apart,
)
from kleene_lab.report.render import static_svg, write_figure  # noqa: E402

Array = NDArray[Any]
Spec = dict[str, Any]
positive = st.floats(1e-12, 1e12)


# ---- axes ---------------------------------------------------------------------------------------


@given(positive, st.floats(1.001, 1e12))
def test_logarithmic_ticks_are_few_and_round(low: float, factor: float) -> None:
    ticks = round_ticks((low, low * factor, True))
    assert 1 <= len(ticks) <= 7
    assert all(a < b for a, b in pairwise(ticks))
    assert all(low * 0.999999 <= tick <= low * factor * 1.000001 for tick in ticks)
    if factor > 100:  # then they are 1, 2 or 5 times a power of ten
        assert {f"{tick:e}"[0] for tick in ticks} <= set("125")


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_linear_ticks_are_few_and_evenly_spaced(low: float, width: float) -> None:
    ticks = round_ticks((low, low + width, False))
    assert 2 <= len(ticks) <= 7
    steps = [b - a for a, b in pairwise(ticks)]
    assert max(steps) - min(steps) <= 1e-6 * max(abs(low), width)


@given(st.lists(positive, max_size=9), st.booleans())
def test_domains_hold_all_values(values: list[float], log: bool) -> None:
    low, high, _ = padded_domain(values, log)
    assert low < high
    assert all(low <= value <= high for value in values)
    assert low > 0 or not log


@given(st.lists(st.floats(0, 300), max_size=20))
def test_names_are_apart_and_in_order(wanted: list[float]) -> None:
    places = spread_apart(wanted, 300)
    assert sorted(range(len(wanted)), key=lambda i: (wanted[i], places[i])) == sorted(
        range(len(wanted)), key=lambda i: places[i]
    )
    assert all(b - a >= 13.5 - 1e-6 for a, b in pairwise(sorted(places)))


# ---- formatting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1e-9, "1 ns"), (1e-6, "1 µs"), (0.001, "1 ms"), (0.9996, "1 s"), (10, "10 s"),
        (0.99949e-3, "999 µs"), (0, "0 s"), (1e-15, "1e-06 ns"), (86400, "86,400 s"),
        (math.nan, "-"), (math.inf, "-"),
    ],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_labels_for_x() -> None:
    assert x_labels(Axis("graph", labels=("Rome", "Oslo")), [0, 1, 2, 0.5]) == [
        "Rome", "Oslo", "2", "0.5",
    ]  # fmt: skip
    assert counts([]) == []
    assert counts([0, 16384]) == ["0", "16,384"]
    assert counts([1, 2, 2**20]) == ["2⁰", "2¹", "2²⁰"]


# ---- colours ------------------------------------------------------------------------------------


def test_series_differ_in_colour_or_marker() -> None:
    styles = {series_style(index) for index in range(HUES * len(MARKERS))}
    assert len(styles) == HUES * len(MARKERS)


def test_a_series_has_one_style_on_the_page() -> None:
    first = {f"a{i}": ("p",) for i in range(9)} | {"b": ("q",)}
    styles = assign_styles([first, {"b": ("",), "a8": ("",), "c": ("",)}, {"c": ("",)}])
    assert len({styles[name] for name in first}) == 10
    assert len({styles[name] for name in ("a8", "b", "c")}) == 3
    assert styles["a0"] % HUES != styles["a1"] % HUES
    assert styles["b"] % HUES != styles["a8"] % HUES  # they share a panel


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


#: What people see who lack one kind of cone: Machado, Oliveira and Fernandes, 2009.
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


# ---- specifications -----------------------------------------------------------------------------


def specs(declared: Experiment, *points: Point, validate: bool = True) -> list[tuple[Spec, Frame]]:
    """Return every chart's specification, validated against the schema of Vega-Lite."""
    charts = charts_of(declared, measurements_in(record_of(*points), declared))
    made = []
    for family in zip(*charts, strict=True):
        for chart in family:
            if chart.series:
                spec = chart_spec(chart, family)
                if validate:  # slow
                    alt.Chart.from_dict(spec | {"config": config(LIGHT)}, validate=True)
                made.append((spec, frame_of(chart, family)))
    return made


def drawn(spec: Spec, frame: Frame) -> list[str]:
    """Return the texts of a chart that Vega drew at its size, with numbers for coordinates."""
    svg = static_svg(spec)
    assert "NaN" not in svg
    assert "Infinity" not in svg
    root = ET.fromstring(svg)
    assert tuple(map(int, root.get("viewBox", "").split())) == (0, 0, *frame.size)
    return [element.text or "" for element in root.iter("text")]


def layers(spec: Spec, mark: str) -> Iterator[Spec]:
    return (layer for layer in spec["layer"] if layer["mark"]["type"] == mark)


def test_a_chart_of_lines() -> None:
    times = {512: 0.002, 1024: 0.016, 2048: 0.13, 4096: 1.1}
    points = [point("tiled", n, t, 1.1 * t, 1.2 * t) for n, t in times.items()]
    [(spec, frame)] = specs(experiment(published=PUBLISHED), *points)
    published, ours = layers(spec, "line")
    assert published["mark"]["strokeDash"] == [4, 3]
    assert published["transform"] == [{"filter": "datum.published"}]
    assert "strokeDash" not in ours["mark"]
    for axis, field in (("x", "x"), ("y", "y")):
        assert ours["encoding"][axis]["field"] == field
        assert ours["encoding"][axis]["scale"]["type"] == "log"
    scale = ours["encoding"]["color"]["scale"]
    names = ["naive, Tesla M2090", "one core, a Xeon", "tiled"]
    assert scale["domain"] == names
    assert scale["range"] == ["var(--published)", "var(--published)", "var(--s0)"]
    [spread] = (one for one in layers(spec, "rule") if "name" not in one)
    assert spread["encoding"]["y2"] == {"field": "high"}
    for dots in layers(spec, "point"):
        titles = [one["title"] for one in dots["encoding"]["tooltip"]]
        assert titles == ["series", "vertices", "time", "details"]
    first = next(row for row in spec["datasets"]["points"] if row["series"] == "tiled")
    assert (first["at"], first["value"]) == ("512", "2.2 ms")
    assert first["details"] == "measured 3 times, range 2 ms to 2.4 ms"
    texts = drawn(spec, frame)
    assert {"512", "1,024", "2,048", "4,096", "vertices", "time", *names} <= set(texts)
    assert {"10 ms", "100 ms", "1 s"} <= set(texts)


def test_machines_share_their_axes() -> None:
    slow = [point("tiled", n, n / 1e3) for n in (10, 100)]
    fast = [point("tiled", n, n / 1e6, run="g", device="cuda") for n in (10, 100, 1000)]
    (one, frame), (two, other) = specs(experiment(), *slow, *fast)
    assert frame == other
    for axis in ("x", "y"):
        a, b = (next(layers(spec, "line"))["encoding"][axis] for spec in (one, two))
        assert a["scale"] == b["scale"]
        assert a["axis"] == b["axis"]


def test_shares_of_a_ceiling_begin_at_zero_and_show_it() -> None:
    points = [point("a", n, 1.0, work=0.5e9 * n, ceiling=1e9 * n) for n in (1, 2)]
    [(spec, frame)] = specs(experiment(y="share"), *points)
    scale = next(layers(spec, "line"))["encoding"]["y"]["scale"]
    assert scale["domain"] == [0, pytest.approx(1.02)]
    assert "type" not in scale
    assert {"0", "100 %", "share of the ceiling"} <= set(drawn(spec, frame))


def test_one_point_becomes_a_bar() -> None:
    [(spec, frame)] = specs(experiment(), point("a", 512, 0.5), point("b", 512, 0.25))
    assert next(layers(spec, "bar"))["encoding"]["x"]["scale"]["domain"] == [0, 0.5]
    assert {"512", "a", "b", "500 ms", "250 ms"} <= set(drawn(spec, frame))


def test_bars_that_would_dwarf_the_rest_become_dots() -> None:
    [(spec, frame)] = specs(experiment(kind="bars"), point("a", 0, 100.0), point("b", 0, 0.1))
    assert not list(layers(spec, "bar"))
    assert next(layers(spec, "point"))["encoding"]["x"]["scale"]["type"] == "log"
    assert "time (logarithmic)" in drawn(spec, frame)


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
    known = [replace(p, work=1e9, unit="arcs", ceiling=1e10) for p in points]
    for spec, frame in specs(declared, *known, validate=False):
        drawn(spec, frame)
    if y != "seconds":  # neither rates nor shares
        assert not specs(declared, *points, validate=False)


def test_an_interval_that_goes_below_zero_reaches_the_axis() -> None:
    wide = [point("a", n, 1.0 * n, facts={"interval": (-1.0, 3.0 * n)}) for n in (1, 9)]
    [(spec, _)] = specs(experiment(), *wide)
    low = next(layers(spec, "line"))["encoding"]["y"]["scale"]["domain"][0]
    assert [row["low"] for row in spec["datasets"]["points"]] == [low, low]


def test_figures_as_files(tmp_path: Path) -> None:
    record, declared = everything()
    for one in declared[:3]:
        spec = figure_spec(one, charts_of(one, measurements_in(record, one)))
        alt.Chart.from_dict(spec, validate=True)
        write_figure(spec, tmp_path / "f.svg")
        texts = ET.parse(tmp_path / "f.svg").getroot().itertext()
        assert {one.title, "NVIDIA H200"} <= {text.split(" · ")[0] for text in texts}
        assert "var(" not in (tmp_path / "f.svg").read_text()
    write_figure(spec, tmp_path / "f.png")
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    write_figure(spec, tmp_path / "f.pdf")
    assert (tmp_path / "f.pdf").read_bytes()[:4] == b"%PDF"
