"""Charts drawn by Vega: static SVG, files, and the script that brings a page's charts to life."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import vl_convert

from kleene.calls.programs import atomic_path
from kleene.errors import RequestError
from kleene_lab.report.charts import config
from kleene_lab.report.palette import VARIABLES

__all__ = ["FORMATS", "chart_script", "static_svg", "write_figure"]

FORMATS = ("svg", "png", "pdf")


def static_svg(spec: dict[str, Any]) -> str:
    """Return a chart as SVG in the colours of the page, for readers without scripts."""
    return _drawn(json.dumps(spec | {"config": config(VARIABLES)}))


@cache  # the documentation shows the same charts on several pages
def _drawn(spec: str) -> str:
    svg = vl_convert.vegalite_to_svg(spec)
    return re.sub(r' (xmlns(:\w+)?|version|font-family)="[^"]*"', "", svg)


@cache
def chart_script() -> str:
    """Return Vega, Vega-Lite and vega-embed with what replaces static charts by live ones."""
    source = resources.files("kleene_lab.report").joinpath("charts.js").read_text(encoding="utf-8")
    shared = json.dumps(config(VARIABLES))
    bundle = vl_convert.javascript_bundle(f"const config = {shared};\n{source}")
    return f"(() => {{{bundle}}})();".replace("</script", "<\\/script")


def write_figure(spec: dict[str, Any], path: Path) -> None:
    """Write a figure; the name's ending is its format."""
    suffix = path.suffix[1:]
    if suffix not in FORMATS:
        raise RequestError(f"cannot write figures as {suffix!r}; formats: {', '.join(FORMATS)}")
    options = {"scale": 2} if suffix == "png" else {}
    drawn = getattr(vl_convert, f"vegalite_to_{suffix}")(spec, **options)
    with atomic_path(path) as beside:
        Path(beside).write_bytes(drawn.encode() if isinstance(drawn, str) else drawn)
