"""GeoJSON (RFC 7946): a feature with a line is a street. Nothing is needed but Python's own JSON.

The document is taken apart member by member, and of ``features`` one after the other, so that no
more than one of them is held as objects. Files of before the RFC may name a system of coordinates
in ``crs``; without it they are longitude and latitude.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.io.features import Features
from kleene.io.format import Format
from kleene.io.source import Source

__all__ = ["GEOJSON"]

Array = NDArray[Any]

_TYPES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon",
          "GeometryCollection")  # fmt: skip
_CLAIM = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{[^\0]*?"type"\s*:\s*"(?:Feature|FeatureCollection|(?:Multi)?LineString)"'
)
_BLANK = re.compile(r"[ \t\n\r]*")
_CODE = re.compile(r".*\b(EPSG|OGC|ESRI|IAU)(?::+|/)(?:[\w.]*(?::+|/))?(\w+)", re.IGNORECASE)
_DEFAULT = "OGC:CRS84"
_REPORT = 1 << 12  # features between reports of progress

_decode = json.JSONDecoder().raw_decode


def read(
    source: Source,
    *,
    directed: bool | str | None = None,
    weight: str | None = "auto",
    weighted: bool | None = None,
    snap: float = 0,
    keep_rows: bool = True,
) -> Graph:
    features = Features(source, weight, weighted, directed, snap, keep_rows)
    return _Document(source, features).read()


class _Document:
    """A document, and the place in it."""

    def __init__(self, source: Source, features: Features) -> None:
        source.require_utf8()
        source.require_memory(source.size)
        try:
            self._text = str(source.data.data, "utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            source.fail(f"found bytes that are no UTF-8 ({error.reason}), expected UTF-8")
        self._source, self._features = source, features
        self._at = self._begin = 0
        self._systems: set[str] = set()  # that crs members name

    def read(self) -> Graph:
        """Return the graph."""
        self._expect("{")
        others: dict[str, Any] = {}
        collected = False
        for name in self._members():
            if name == "features" and self._next() == "[":
                collected = True
                self._read_features()
            else:
                others[name] = self._value()
        if self._next():
            self._fail("found more after the document, expected its end")
        kind = others.get("type")
        if collected and kind in (None, "FeatureCollection"):
            self._note_system(others)
        elif kind in ("Feature", *_TYPES):
            self._begin = 0
            self._add(others)
        else:
            self._begin = 0
            self._fail(f"found {_shown(kind)}, expected a FeatureCollection of streets")
        if len(self._systems) > 1:
            self._source.fail(
                f"found the systems {' and '.join(sorted(self._systems))}, expected one"
            )
        unknown = None if self._features.beyond_degrees else _DEFAULT
        return self._features.graph(next(iter(self._systems), unknown))

    # ---- JSON -------------------------------------------------------------------------------

    def _next(self) -> str:
        """Skip blanks; return the next character, empty at the end."""
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._text[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        if self._next() != character:
            self._begin = self._at
            found = repr(self._text[self._at : self._at + 20]) if self._next() else "the end"
            self._fail(f"found {found}, expected {character!r}")
        self._at += 1

    def _value(self) -> Any:
        """Read a value of any kind."""
        self._next()
        self._begin = self._at
        try:
            value, self._at = _decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._begin = error.pos
            at_end = error.pos >= len(self._text.rstrip())
            self._fail(
                "found the end inside of a value" if at_end else f"found bad JSON: {error.msg}"
            )
        except RecursionError:
            self._fail("found values that are nested too deeply, expected GeoJSON")
        except ValueError as error:  # an integer of thousands of digits
            self._fail(f"found a value that Python refuses ({error})")
        return value

    def _members(self) -> Iterator[str]:
        """Yield the names of an object's members, whose values are read by the caller."""
        while self._next() != "}":
            name = self._value()
            if not isinstance(name, str):
                self._fail(f"found {_shown(name)}, expected the name of a member")
            self._expect(":")
            yield name
            if self._next() != "}":
                self._expect(",")
        self._at += 1

    def _read_features(self) -> None:
        self._expect("[")
        count, report = 0, self._source.progress
        while self._next() != "]":
            self._add(self._value())
            count += 1
            if report is not None and count % _REPORT == 0:
                report(self._at, len(self._text))
            if self._next() != "]":
                self._expect(",")
        self._at += 1

    def _fail(self, what: str) -> NoReturn:
        self._source.fail(what, self._text.count("\n", 0, self._begin) + 1)

    # ---- features ---------------------------------------------------------------------------

    def _add(self, feature: Any) -> None:
        """Add a feature, or a geometry that stands for one."""
        kind = feature.get("type") if isinstance(feature, dict) else feature
        geometry, properties = feature, None
        if kind == "Feature":
            geometry, properties = feature.get("geometry"), feature.get("properties")
        elif not isinstance(kind, str) or kind not in _TYPES:
            self._fail(f"found {_shown(kind)}, expected a Feature")
        if not isinstance(properties, dict):
            properties = {}
        self._note_system(feature)
        lines = [] if geometry is None else list(self._lines(geometry))
        shape = "without geometry" if geometry is None else geometry["type"]
        self._features.add(lines, "empty" if "LineString" in shape else shape, properties)

    def _lines(self, geometry: Any) -> Iterator[Array]:
        """Yield the lines of a geometry."""
        kind = geometry.get("type") if isinstance(geometry, dict) else geometry
        if not isinstance(kind, str) or kind not in _TYPES:
            self._fail(f"found {_shown(kind)}, expected a geometry such as LineString")
        self._note_system(geometry)
        name = "geometries" if kind == "GeometryCollection" else "coordinates"
        held = geometry.get(name)
        if not isinstance(held, list):
            self._fail(f"found a {kind} without {name}")
        if kind == "LineString":
            yield self._points(held)
        elif kind == "MultiLineString":
            for part in held:
                if not isinstance(part, list):
                    self._fail(f"found {_shown(part)}, expected a list of points")
                yield self._points(part)
        elif kind == "GeometryCollection":
            for each in held:
                yield from self._lines(each)

    def _points(self, line: list[Any]) -> Array:
        """Return the points of a line, without their heights."""
        if not line:
            return np.empty((0, 2))
        try:
            same = len(set(map(len, line))) == 1  # or some have heights
            points = np.array(line if same else [[x, y] for x, y, *_ in line])
        except (TypeError, ValueError):
            points = np.empty(0)
        if points.ndim != 2 or points.shape[1] < 2 or points.dtype.kind not in "iuf":
            self._fail(f"found {_shown(line)}, expected points, each [longitude, latitude]")
        return points[:, :2].astype(np.float64)

    def _note_system(self, holder: dict[str, Any]) -> None:
        """Keep the coordinate reference system that an object of the document names."""
        named = holder.get("crs")
        if named is None:
            return
        properties = named.get("properties") if isinstance(named, dict) else None
        name = properties.get("name") if isinstance(properties, dict) else None
        if isinstance(name, str):
            code = _CODE.fullmatch(name)
            self._systems.add(name if code is None else f"{code[1]}:{code[2]}".upper())
        else:
            self._fail(f"found the system {_shown(named)}, expected one with a name")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


GEOJSON = Format(
    "geojson",
    "GeoJSON",
    (".geojson",),
    read,
    claims=lambda head: _CLAIM.match(head) is not None,
    text=True,
)
