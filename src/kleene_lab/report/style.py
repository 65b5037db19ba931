"""Style sheets: colours of both themes, charts, and the report's own page."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from kleene_lab.report.palette import DARK, LIGHT

__all__ = ["chart_style", "page_style"]


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
