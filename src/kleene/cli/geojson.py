"""Writing GeoJSON: routes and isochrones for maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from typer import Option

__all__ = ["GeoJson", "check_geojson", "is_geojson", "write_geojson"]

GeoJson = Annotated[
    str | None,
    Option("--out", "-o", metavar="FILE", help="Save as GeoJSON, for a map: .geojson or .json."),
]


def check_geojson(out: str | None) -> None:
    """Raise for a name that is not one of a GeoJSON file, before any work is done."""
    from kleene.errors import RequestError

    if out is not None and Path(out).suffix.lower() not in (".geojson", ".json"):
        raise RequestError(f"{out}: unknown suffix; GeoJSON is saved as .geojson or .json")


def is_geojson(out: str) -> bool:
    """Return whether routes are saved under this name, and not a table."""
    return Path(out).suffix.lower() == ".geojson"


def write_geojson(document: dict[str, Any], out: str) -> None:
    """Write a document; the file is replaced when it is complete."""
    from kleene.system.atomic_file import atomic_path

    with atomic_path(out) as beside:
        beside.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
