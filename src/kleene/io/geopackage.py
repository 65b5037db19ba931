"""GeoPackage (OGC 12-128r19): tables of features in an SQLite database, read by Python's module.

A geometry is a header, ``GP``, and well-known binary, of which the lines are taken.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, KleeneError, RequestError
from kleene.graph import Graph
from kleene.io.features import Features
from kleene.io.format import Format
from kleene.io.source import Source

__all__ = ["GEOPACKAGE"]

Array = NDArray[Any]

_MAGIC = b"SQLite format 3\0"
_LAYERS = """
SELECT table_name, column_name, upper(geometry_type_name), srs_id FROM gpkg_geometry_columns
JOIN sqlite_master ON type = 'table' AND lower(name) = lower(table_name)"""
_SYSTEM = """
SELECT organization, organization_coordsys_id, definition FROM gpkg_spatial_ref_sys
WHERE srs_id = ?"""
_NO_LINES = ("POINT", "MULTIPOINT", "POLYGON", "MULTIPOLYGON")
_KINDS = ("", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
          "GeometryCollection")  # fmt: skip
_ENVELOPES = (0, 32, 48, 48, 64)  # bytes, by the code in the flags


def read(
    source: Source,
    *,
    layer: str | None = None,
    directed: bool | str | None = None,
    weight: str | None = "auto",
    weighted: bool | None = None,
    snap: float = 0,
    keep_rows: bool = True,
) -> Graph:
    try:
        import sqlite3  # some builds of Python lack it
    except ImportError as error:
        raise KleeneError(
            "GeoPackage files need Python's sqlite3, which this build of Python lacks"
        ) from error
    features = Features(source, weight, weighted, directed, snap, keep_rows)
    try:
        with closing(_connected(sqlite3, source)) as database:
            chosen = _choose(source, database, layer)
            for feature in _features(source, database, chosen, features):
                features.add(*feature)
            crs = _system(source, database, chosen.system)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # names and messages in other bytes
        source.fail(f"SQLite cannot read the file ({error}); expected a GeoPackage")
    return features.graph(crs)


class _Layer(NamedTuple):
    table: str
    geometry: str  # a column
    kind: str
    system: int


def _connected(sqlite3: Any, source: Source) -> Any:
    """Return a connection to the database, which cannot write to it."""
    if source.is_path:
        database = sqlite3.connect(f"{Path(source.name).resolve().as_uri()}?mode=ro", uri=True)
    else:
        database = sqlite3.connect(":memory:")
        content = bytearray(source.data)
        content[18:20] = b"\1\1"  # without a write-ahead log, which is another file
        database.deserialize(content)
    database.text_factory = lambda text: text.decode(errors="replace")
    database.execute("PRAGMA trusted_schema = OFF")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1 << 16, min(source.size, 2**31 - 1)))
    return database


def _choose(source: Source, database: Any, layer: str | None) -> _Layer:
    """Return the layer of this name, or the only one that may hold lines."""
    if not database.execute(
        "SELECT 1 FROM sqlite_master WHERE name = 'gpkg_geometry_columns'"
    ).fetchone():
        source.fail("found an SQLite database without tables of features, expected a GeoPackage")
    layers = [_Layer(*row) for row in database.execute(_LAYERS)]
    if any(list(map(type, each)) != [str, str, str, int] for each in layers):
        source.fail("found layers without names, kinds or systems, expected a GeoPackage")
    if layer is not None:
        chosen = [each for each in layers if each.table == layer]
    else:
        chosen = [each for each in layers if each.kind not in _NO_LINES] or layers
    if len(chosen) == 1:
        return chosen[0]
    names = [repr(each.table) for each in layers]
    if not names:
        source.fail("found no layer of features, expected one of lines")
    has = (
        f"{source.name} has the layers {', '.join(names)}"
        if len(names) > 1
        else (f"{source.name} has the layer {names[0]}")
    )
    if layer is not None:
        raise RequestError(f"no layer {layer!r}: {has}", option="layer")
    raise RequestError(f"{has}: say which one, ", Code(f"layer={chosen[0].table!r}"))


def _features(
    source: Source, database: Any, layer: _Layer, features: Features
) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    """Yield the lines of each feature, its kind, and those of its properties that are wanted."""
    table = _quoted(layer.table)
    names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    if layer.geometry.lower() not in map(str.lower, names):
        source.fail(f"found no column {layer.geometry!r} in the layer {layer.table!r}")
    wanted = [name for name in names if name != layer.geometry and features.wants(name)]
    absent = dict.fromkeys(name for name in names if name != layer.geometry)
    columns = ", ".join(map(_quoted, [layer.geometry, *wanted]))
    for row, (blob, *values) in enumerate(database.execute(f"SELECT {columns} FROM {table}")):
        properties = absent | dict(zip(wanted, values, strict=True))
        if blob is None:
            yield [], "without geometry", properties
            continue
        try:
            kind, system, lines = _parse(blob)
        except (IndexError, RecursionError, TypeError, ValueError, struct.error) as error:
            source.fail(f"found a damaged geometry in feature {row} ({error})")
        if system != layer.system:
            source.fail(
                f"found the system {system} in feature {row}, expected {layer.system} as in all"
            )
        yield lines, "empty" if "LineString" in kind else kind, properties


def _system(source: Source, database: Any, number: int) -> str | None:
    """Return the coordinate reference system as text, None for an undefined one."""
    if number == -1:
        return None
    row = database.execute(_SYSTEM, (number,)).fetchone()
    if row is None or not all(isinstance(each, str) for each in (row[0], row[2])):
        source.fail(f"found no definition of the system {number}, expected one")
    organization, code, definition = row
    if number == 0:
        return "EPSG:4326"  # some longitude and latitude
    return f"{organization}:{code}".upper() if organization.lower() != "none" else definition


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _parse(blob: bytes) -> tuple[str, int, list[Array]]:
    """Return the kind of a geometry, its system, and its lines."""
    flags = blob[3]
    if blob[:2] != b"GP" or flags & 0x20:  # of an extension
        raise ValueError("it is not one of the standard")
    system = int.from_bytes(blob[4:8], "little" if flags & 1 else "big", signed=True)
    lines: list[Array] = []
    begin = 8 + _ENVELOPES[flags >> 1 & 7]
    _take_lines(blob, begin, lines)
    return _KINDS[_kind(blob, begin)[1]], system, lines


def _kind(blob: bytes, at: int) -> tuple[str, int, int]:
    """Return the byte order of a geometry, its kind, and how many numbers a point has."""
    order = "<" if blob[at] else ">"
    [code] = struct.unpack_from(f"{order}I", blob, at + 1)
    heights, kind = divmod(code, 1000)
    if not (heights < 4 and 0 < kind < len(_KINDS)):
        raise ValueError(
            f"it has the type {code}; curves become lines by ogr2ogr -nlt CONVERT_TO_LINEAR"
        )
    return order, kind, 2 + (0, 1, 1, 2)[heights]


def _take_lines(blob: bytes, at: int, lines: list[Array]) -> int:
    """Append the lines of a geometry to a list; return where the geometry ends."""
    order, kind, width = _kind(blob, at)
    if _KINDS[kind] == "Point":
        return at + 5 + 8 * width
    [count] = struct.unpack_from(f"{order}I", blob, at + 5)
    at += 9
    if _KINDS[kind] == "LineString":
        points = np.frombuffer(blob, f"{order}f8", count * width, at).reshape(count, width)
        lines.append(np.ascontiguousarray(points[:, :2], np.float64))
        return at + points.nbytes
    for _ in range(count):
        if _KINDS[kind] == "Polygon":
            [size] = struct.unpack_from(f"{order}I", blob, at)
            at += 4 + 8 * width * size
        else:
            at = _take_lines(blob, at, lines)
    return at


GEOPACKAGE = Format(
    "geopackage", "GeoPackage", (".gpkg",), read, claims=lambda head: head.startswith(_MAGIC)
)
