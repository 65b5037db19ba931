"""Colours and markers of series, for a light and a dark ground, and style sheets of both.

Eight hues that colour-blind readers can distinguish, dark enough for a light ground and light
enough for a dark one. Markers change at another rhythm, so that 56 pairs differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources

__all__ = [
    "DARK", "HUES", "LIGHT", "MARKERS", "VARIABLES", "assign_styles", "chart_style", "page_style",
    "series_style",
]  # fmt: skip

HUES = 8
_LIGHT = ("#1c4482", "#a83a12", "#107645", "#c22fb0", "#a8801f", "#3d91ec", "#4c4d50", "#d66f87")
_DARK = ("#69a3f0", "#e8602a", "#41d8a2", "#dd55bd", "#eccf79", "#caeffa", "#84878b", "#d67965")

#: Names of colours, and what they are on a light and on a dark page.
LIGHT: Mapping[str, str] = {
    "ground": "#fffefa",
    "ink": "#22262b",
    "faded": "#666c74",
    "rule": "#e4e2da",
    "published": "#7b7f86",
    **{f"s{index}": colour for index, colour in enumerate(_LIGHT)},
}
DARK: Mapping[str, str] = {
    "ground": "#16181c",
    "ink": "#e3e4e6",
    "faded": "#9aa0a8",
    "rule": "#2e3238",
    "published": "#9ba1a9",
    **{f"s{index}": colour for index, colour in enumerate(_DARK)},
}
#: The same names as CSS variables, for charts on a page that has both themes.
VARIABLES: Mapping[str, str] = {name: f"var(--{name})" for name in LIGHT}

#: SVG paths around the origin, of about the same area; Vega scales them by half the square root
#: of a mark's size.
MARKERS = (
    "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",  # disc
    "M-.88-.88H.88V.88H-.88Z",  # square
    "M0-1.3L1.16,.75H-1.16Z",  # triangle
    "M0-1.3L1.3,0L0,1.3L-1.3,0Z",  # diamond
    "M0,1.3L1.16-.75H-1.16Z",  # triangle, pointing down
    "M-.39-1.17H.39V-.39H1.17V.39H.39V1.17H-.39V.39H-1.17V-.39H-.39Z",  # plus
    "M0-1.5L.4-.54L1.43-.46L.64,.21L.88,1.21L0,.67L-.88,1.21L-.64,.21L-1.43-.46L-.4-.54Z",  # star
)


def series_style(index: int) -> tuple[str, str]:
    """Return the colour's name and the marker of a series."""
    return f"s{index % HUES}", MARKERS[(index + index // HUES) % len(MARKERS)]


def assign_styles(groups: Iterable[Mapping[str, Iterable[str]]]) -> dict[str, int]:
    """Return a style for each series, the same wherever it appears.

    A group is an experiment: its series, each with the panels that it is in. No two series of an
    experiment have the same style, and those of a panel differ in colour while colours last.
    """
    styles: dict[str, int] = {}
    near: dict[str, set[str]] = {}  # series of the same panels
    far: dict[str, set[str]] = {}  # series of the same experiments
    for group in groups:
        panels = {name: set(some) for name, some in group.items()}
        for name in panels:
            far.setdefault(name, set()).update(panels)
            close = {other for other in panels if panels[name] & panels[other]}
            near.setdefault(name, set()).update(close)
    for name in far:
        taken = {styles[other] for other in far[name] if other in styles}
        hues = [styles[other] % HUES for other in near[name] if other in styles]
        free = (index for index in range(len(taken) + HUES * len(MARKERS)) if index not in taken)
        styles[name] = min(free, key=lambda index: (hues.count(index % HUES), index))
    return styles


# ---- style sheets --------------------------------------------------------------------------------


def page_style() -> str:
    """Return the style of the report; the reader's system or a switch chooses the theme."""
    both = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in LIGHT)
    modern = f"@supports (color:light-dark(red,red)){{:root{{{both}}}}}"
    return f":root{{{_variables(LIGHT)}}}{modern}{_sheet('charts.css')}{_sheet('page.css')}"


def chart_style(dark: str) -> str:
    """Return the style of charts on a page that is dark where this selector holds."""
    colours = f":root{{{_variables(LIGHT)}}}{dark}{{{_variables(DARK)}}}"
    return f"{colours}{_sheet('charts.css')}"


def _variables(theme: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in theme.items())


def _sheet(name: str) -> str:
    return resources.files("kleene_lab.report").joinpath(name).read_text(encoding="utf-8")
