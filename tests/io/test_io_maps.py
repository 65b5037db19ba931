"""GeoJSON and GeoPackage: streets as QGIS and GeoPandas write them, and files that are none."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kleene as kl
from torture.sample_files import (
    GEOJSON,
    GEOPACKAGE,
    geometry_of_geopackage,
    make_geopackage,
    wkb,
)

A, B, C = [9.0, 48.0], [9.0, 48.001], [9.002, 48.001]
DEGREE = np.pi / 180 * 6_371_009


def read(contents: Any, format: str | None = None, **options: Any) -> kl.Graph:
    if not isinstance(contents, bytes):
        contents = (contents if isinstance(contents, str) else json.dumps(contents)).encode()
    return kl.read(io.BytesIO(contents), format, **options)


def line(*points: Any) -> dict[str, Any]:
    return {"type": "LineString", "coordinates": list(points)}


def feature(geometry: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def collection(*features: Any, **more: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features), **more}


def packed(*rows: Any, **options: Any) -> bytes:
    """Return a GeoPackage of streets: points, then the values of the columns."""
    held = [
        (geometry_of_geopackage(wkb(2, *points), options.get("system", 4326)), *values)
        for points, *values in rows
    ]
    return make_geopackage(held, **options)


#: The same streets, by format.
STREETS = {
    "geojson": json.dumps(
        collection(
            feature(line(A, B), km=1, oneway="yes"),
            feature(line(B, C), km=2.5, oneway=None),
            feature(line(A, [9.1, 48.1], C), km=7, oneway="-1"),
        )
    ).encode(),
    "geopackage": packed(
        ((A, B), 1, "yes"), ((B, C), 2.5, None), ((A, [9.1, 48.1], C), 7, "-1"),
        columns=", km REAL, oneway TEXT",
    ),
}  # fmt: skip
each_format = pytest.mark.parametrize("format", STREETS)


# ---- both formats -------------------------------------------------------------------------------


@each_format
def test_streets(format: str) -> None:
    g = read(STREETS[format], directed="oneway")  # the format by its content
    assert (g.n, g.m, g.directed, g.labels) == (3, 4, True, None)
    assert np.array_equal(g.positions, [A, B, C])
    assert kl.sssp(g, 0).distances.tolist() == [0, 1, 3.5]
    assert kl.sssp(g, 2).route(0).coordinates.tolist() == [C, [9.1, 48.1], A]
    assert g.crs in ("OGC:CRS84", "EPSG:4326")
    made = kl.sssp(g, 2).route(0).to_geojson()["geometry"]["coordinates"]
    assert made == [C, [9.1, 48.1], A]
    assert g.equals(read(STREETS["geojson"], directed="oneway"))
    assert g.equals(read(gzip.compress(STREETS[format]), directed="oneway"))
    again = io.BytesIO()
    kl.write(g, again, "npz")
    kept = read(again.getvalue())
    assert kept.crs == g.crs
    assert np.array_equal(kept.rows.lines.coordinates, g.rows.lines.coordinates)  # type: ignore[union-attr]


@each_format
def test_options(format: str) -> None:
    contents = STREETS[format]
    with pytest.warns(
        kl.GraphWarning, match="column 'oneway', and all of them are taken to go both"
    ):
        assert read(contents).m == 6
    both = {"directed": False}
    metres = read(contents, weight="geometry", **both).weights
    assert metres is not None
    assert metres.min() == pytest.approx(0.001 * DEGREE)
    assert read(contents, weight=None, **both).weights is None
    assert read(contents, weighted=False, **both).weights is None
    assert read(contents, weighted=True, **both).equals(read(contents, weight="km", **both))
    assert read(contents, directed=True).m == 3
    assert read(contents, keep_rows=False, **both).rows is None
    assert read(contents, snap=1, **both).joined_ends is not None
    assert read(contents, snap=112, **both).n == 2
    for bad, message in (
        ({"weight": "toll"}, "no column 'toll' for the weights: there are .*'km', 'oneway', 'geom"),
        ({"directed": "way"}, "no column 'way' for the directions: there are .*'km', 'oneway'"),
        ({"directed": "km"}, "column 'km' has 2.5 in row 1; a one-way column holds"),
        ({"weight": "oneway", **both}, "found no 'oneway' in feature 1, which 2 of 3 streets have"),
        ({"snap": -1, **both}, "snap must be a number from 0 on"),
        ({"snap": "near", **both}, "snap must be a number, not str"),
        ({"weight": "km", "weighted": False}, "contradicts"),
        ({"labels": "id"}, "does not take labels"),
    ):
        with pytest.raises(kl.KleeneError, match=message):
            read(contents, **bad)


@each_format
def test_whole_numbers_are_int32_if_they_fit(format: str) -> None:
    for value, dtype in ((7, "i4"), (2**40, "i8"), (0.5, "f8")):
        contents: Any = collection(feature(line(A, B), cost=value))
        if format == "geopackage":
            contents = packed(((A, B), value), columns=", cost NUMERIC")
        assert read(contents).weights.dtype == dtype  # type: ignore[union-attr]


@each_format
def test_geometry_that_is_no_line(format: str) -> None:
    """Such features make no street; rows keep the numbers of the features."""
    if format == "geojson":
        shapes = [
            {"type": "Point", "coordinates": A}, None, line(), line(A, B),
            {"type": "MultiLineString", "coordinates": []},
            {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": B}]},
            {"type": "Polygon", "coordinates": [[A, B, C, A]]}, line(B, C),
        ]  # fmt: skip
        contents: Any = collection(*map(feature, shapes))
    else:
        ring = b"\1\0\0\0" + b"\4\0\0\0" + np.array([A, B, C, A]).tobytes()
        binary = [
            wkb(1, *A), None, wkb(2), wkb(2, A, B), wkb(5), wkb(7, wkb(1, *B)),
            b"\1\3\0\0\0" + ring, wkb(2, B, C),
        ]  # fmt: skip
        contents = make_geopackage(
            [(None if each is None else geometry_of_geopackage(each),) for each in binary]
        )
    message = (
        r"in 6 of 8 features \(1 Point, 1 without geometry, 2 empty, 1 GeometryCollection, "
        r"1 Polygon\)"
    )
    with pytest.warns(kl.GraphWarning, match=message):
        g = read(contents)
    assert kl.sssp(g, 0).route(2).rows.tolist() == [3, 7]  # type: ignore[union-attr]


@each_format
def test_several_lines_in_a_feature(format: str) -> None:
    if format == "geojson":
        parts: Any = {"type": "MultiLineString", "coordinates": [[A, B], [B, C]]}
        other = {"type": "GeometryCollection", "geometries": [line(C, A)]}
        contents: Any = collection(feature(parts, km=4), feature(other, km=5))
    else:
        rows = [(wkb(5, wkb(2, A, B), wkb(2, B, C)), 4), (wkb(7, wkb(1, *A), wkb(2, C, A)), 5)]
        contents = make_geopackage(
            [(geometry_of_geopackage(each), km) for each, km in rows], ", km REAL"
        )
    with pytest.warns(kl.GraphWarning, match="1 feature with several lines, .* 0 to 2 by line"):
        g = read(contents)
    assert g.rows is not None
    assert g.rows.count == 3
    distances = kl.sssp(g, 0).distances
    assert distances[2] == pytest.approx(4)
    assert distances[1] == pytest.approx(4 * 0.001 / (0.001 + 0.002 * np.cos(np.radians(48.001))))


@each_format
def test_coordinates_that_are_nowhere(format: str) -> None:
    for bad, shown in ((float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf")):
        contents: Any = collection(feature(line(A, B)), feature(line(A, [bad, 1])))
        if format == "geopackage":
            contents = packed(((A, B),), ((A, [bad, 1]),))
        with pytest.raises(
            kl.FormatError, match=rf"point \({shown}, 1.0\) in feature 1, expected fin"
        ):
            read(contents)
    contents = collection(line(A)) if format == "geojson" else packed(((A,),))
    with pytest.raises(kl.FormatError, match="a line of one point in feature 0, expected two"):
        read(contents)


@each_format
def test_heights_are_left_out(format: str) -> None:
    high = [[*A, 5], [*B, 700]]
    contents: Any = collection(line(*high), line(high[1], C))
    if format == "geopackage":
        contents = make_geopackage(
            [
                (geometry_of_geopackage(wkb(2, *(p * 2 for p in (A, B)), width=4, order=">")),),
                (geometry_of_geopackage(wkb(2, [*B, 3], [*C, 4], width=3), flags=1 | 2 << 1),),
            ]
        )
    g = read(contents)
    assert np.array_equal(g.positions, [A, B, C])
    assert g.weights is not None
    assert g.weights.min() == pytest.approx(0.001 * DEGREE)


@each_format
def test_nothing(format: str) -> None:
    contents: Any = collection() if format == "geojson" else make_geopackage()
    with pytest.raises(kl.FormatError, match="found no line in 0 features; expected streets"):
        read(contents)


def test_geopandas_writes_both(tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    pytest.importorskip("pyogrio")
    streets = geopandas.read_file(io.BytesIO(STREETS["geojson"]))
    right = kl.Graph.from_geopandas(streets, directed="oneway")
    for crs in ("EPSG:4326", "EPSG:32632"):
        for name in ("s.gpkg", "s.geojson"):
            streets.to_crs(crs).to_file(tmp_path / name)
            g = kl.read(tmp_path / name, directed="oneway")
            assert g.equals(right)
            if crs == "EPSG:32632":
                assert g.crs == crs
            line = kl.sssp(g, 2).route(0).to_geojson()["geometry"]["coordinates"]
            np.testing.assert_allclose(line, [C, [9.1, 48.1], A], atol=1e-7)


def test_the_town_of_the_examples() -> None:
    """A file that GDAL wrote, beside the table that it was made from."""
    data = Path(__file__).parents[2] / "examples" / "data"
    g = kl.read(data / "streets.gpkg", directed="oneway", weight="minutes")
    table = kl.read(
        data / "streets.csv", columns=["source", "target", "minutes"], directed="oneway",
        positions=data / "crossings.csv",
    )  # fmt: skip
    assert (g.n, g.m, g.name) == (table.n, table.m, "streets")
    places = g.nearest_vertex(*np.asarray(table.positions).T)
    assert places.distances.max() < 0.01
    for source, target in (("B3", "Q15"), ("R1", "A18")):
        u, v = places.vertices[table.index([source, target])].tolist()
        ours, theirs = kl.sssp(g, u).route(v), kl.sssp(table, source).route(target)
        assert ours.distance == theirs.distance
        assert np.array_equal(ours.rows, theirs.rows)


# ---- GeoJSON ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("urn:ogc:def:crs:OGC:1.3:CRS84", "OGC:CRS84"),
        ("urn:ogc:def:crs:EPSG::25832", "EPSG:25832"),
        ("urn:ogc:def:crs:EPSG:6.9:4326", "EPSG:4326"),
        ("http://www.opengis.net/def/crs/EPSG/0/3857", "EPSG:3857"),
        ("epsg:2056", "EPSG:2056"),
        ("our own grid", "our own grid"),
    ],
)
def test_systems_of_geojson(name: str, known: str) -> None:
    system = {"type": "name", "properties": {"name": name}}
    assert read(collection(line([1000, 0], [2000, 0]), crs=system)).crs == known
    assert read(collection(line(A, B), crs=None)).crs == "OGC:CRS84"
    with pytest.raises(kl.FormatError, match=r"systems .* and .*, expected one"):
        read(collection(line(A, B) | {"crs": {"properties": {"name": "EPSG:1"}}}, crs=system))
    with pytest.raises(kl.FormatError, match="expected one with a name"):
        read(collection(line(A, B), crs={"type": "link"}))


def test_coordinates_beyond_degrees_are_of_an_unknown_system() -> None:
    g = read(collection(line([500000, 5e6], [500300, 5000400])))
    assert (g.crs, g.weights.tolist()) == (None, [500, 500])  # type: ignore[union-attr]


def test_members_in_any_order_and_without_properties() -> None:
    text = (
        '{"x": {"features": [1]}, "features" : [ {"geometry": {"coordinates": [[0,0],[1,1]], '
        '"type": "LineString"}, "type": "Feature"} ] , "type": "FeatureCollection"}'
    )
    for contents in (text, "\ufeff" + text, text.replace(" ", "\r\n")):
        assert read(contents, "geojson").m == 2
    assert read(feature(line(A, B))).m == read(line(A, B)).m == 2
    assert read({"type": "Feature", "geometry": line(A, B)}).m == 2
    assert read({"type": "Feature", "geometry": line(A, B), "properties": 5}).m == 2
    late = collection(feature(line(A, B)), feature(line(B, C), km=3))
    with pytest.raises(kl.FormatError, match="no 'km' in feature 0, which 1 of 2 streets have"):
        read(late)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"features": [\n{"type": "LineString"', ":2: found the end inside of a value"),
        ('{"features": [\n', ":2: found the end inside of a value"),
        ('{"features": [],', ":1: found the end inside"),
        ('{"type" "Feature"}', """:1: found '"Feature"}', expected ':'"""),
        ('{"features": [{}]}', ":1: found None, expected a Feature"),
        ('{"features": [5]}', ":1: found 5, expected a Feature"),
        ('{"features": [\n\n{"type": "FeatureCollection"}]}', ":3: found 'FeatureCollection', exp"),
        ('{"features": {}}', ":1: found None, expected a FeatureCollection"),
        ('{"type": "Topology", "objects": {}}', "found 'Topology', expected a FeatureCollection"),
        ('{"type": ["a"]}', "expected a FeatureCollection"),
        ("[]", r"found '\[\]', expected '{'"),
        ("", "empty file"),
        ("nonsense", "found 'nonsense', expected '{'"),
        ('{"features": [nonsense]}', "found bad JSON: Expecting value"),
        ('{"features": [{"type": "Feature", "geometry": 5}]}', "found 5, expected a geometry"),
        ('{"type": "LineString"}', "found a LineString without coordinates"),
        ('{"type": "GeometryCollection"}', "GeometryCollection without geometries"),
        ('{"type": "MultiLineString", "coordinates": [7]}', "found 7, expected a list of points"),
        ('{"type": "LineString", "coordinates": [[1,2],["3",4]]}', "expected points, each"),
        ('{"type": "LineString", "coordinates": [[1,2],[3]]}', "expected points, each"),
        ('{"type": "LineString", "coordinates": [[1,2],null]}', "expected points, each"),
        ('{"type": "LineString", "coordinates": [1,2]}', "expected points, each"),
        ('{"type": "LineString", "coordinates": [[true,false],[false,true]]}', "expected points"),
        ('{"type": "LineString", "coordinates": [[1,2],[1e999,4]]}', "inf, 4.0"),
        ('{"type": "Feature", "geometry": null} {}', "found more after the document"),
        ('{"x": ' + "[" * 100_000, "nested too deeply"),
        ('{"x": ' + "1" * 5000 + "}", "a value that Python refuses"),
        ('{"features": [{"type": "\udcff"}]}', "no UTF-8"),
    ],
)  # fmt: skip
def test_bad_geojson(text: str, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(text.encode(errors="surrogateescape"), "geojson")


def test_a_truncated_file_of_any_length() -> None:
    contents = GEOJSON[0].rstrip()
    for size in range(1, len(contents)):
        with pytest.raises(kl.FormatError):
            read(contents[:size], "geojson")


def test_names_of_files_that_are_no_geojson(tmp_path: Path) -> None:
    for name, message in (
        ("streets.json", "found JSON that is not GeoJSON; make a table"),
        ("streets.shp", r"read others by GeoPandas: kl.Graph.from_geopandas\(geopandas.read_file"),
        ("streets.topojson", "GeoPandas"),
    ):
        path = tmp_path / name
        path.write_bytes(b'{"a": 1}')
        with pytest.raises(kl.FormatError, match=message):
            kl.read(path)
    path = tmp_path / "streets.json"
    path.write_bytes(STREETS["geojson"])
    assert kl.read(path, directed=False).n == 3


def test_tables_of_geoparquet_are_for_geopandas() -> None:
    file = io.BytesIO()
    table = pa.table({"geometry": [b""]}).replace_schema_metadata({"geo": "{}"})
    pq.write_table(table, file)
    with pytest.raises(kl.FormatError, match=r"for a table of lines, use kl.Graph.from_geopandas"):
        kl.read(io.BytesIO(file.getvalue()))


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    features = [line(A, [i / 1e5, 7]) for i in range(9000)]
    read(collection(*features), progress=lambda done, total: seen.append((done, total)))
    assert len(seen) == 2
    assert all(0 < done < total for done, total in seen)


# ---- GeoPackage ---------------------------------------------------------------------------------


def test_layers() -> None:
    more = """INSERT INTO gpkg_geometry_columns VALUES ('{0}', 'geom', '{1}', 4326);
    CREATE TABLE {0} (fid INTEGER PRIMARY KEY, geom BLOB);"""
    points = packed(((A, B),), more=more.format("nodes", "POINT"))
    assert read(points).m == 2  # as OSMnx writes them: nodes and edges
    two = packed(((A, B),), more=more.format("rails", "MULTILINESTRING"))
    with pytest.raises(
        kl.RequestError, match="has the layers 'streets', 'rails': say which one, lay"
    ):
        read(two)
    assert read(two, layer="streets").m == 2
    with pytest.raises(kl.FormatError, match="no line in 0 features"):
        read(two, layer="rails")
    with pytest.raises(
        kl.RequestError, match=r"no layer 'roads': .* has the layers 'streets', 'rai"
    ):
        read(two, layer="roads")
    with pytest.raises(kl.RequestError, match=r"no layer 'roads': .* has the layer 'streets'"):
        read(packed(((A, B),)), layer="roads")


@pytest.mark.parametrize(
    ("system", "crs"),
    [
        (4326, "EPSG:4326"),
        (25832, "EPSG:25832"),
        (0, "EPSG:4326"),
        (-1, None),
        (9, 'LOCAL_CS["x"]'),
    ],
)
def test_systems_of_geopackages(system: int, crs: str | None) -> None:
    assert read(packed(((A, [1000, 1]),), system=system), weight=None).crs == crs


def test_one_system() -> None:
    rows = [(geometry_of_geopackage(wkb(2, A, B), system),) for system in (4326, 25832)]
    with pytest.raises(kl.FormatError, match="system 25832 in feature 1, expected 4326"):
        read(make_geopackage(rows))
    with pytest.raises(kl.FormatError, match="no definition of the system 77"):
        read(packed(((A, B),), system=77))


def test_files_are_read_in_place_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a #1?.gpkg"
    path.write_bytes(STREETS["geopackage"])
    path.chmod(0o444)
    assert kl.read(path, directed=False).n == 3
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == STREETS["geopackage"]


def test_a_write_ahead_log_beside_a_file(tmp_path: Path) -> None:
    """QGIS keeps files open with one; what it wrote last is read from there."""
    path = tmp_path / "open.gpkg"
    path.write_bytes(packed(((A, B),)))
    with sqlite3.connect(path) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        row = geometry_of_geopackage(wkb(2, B, C))
        writer.execute("INSERT INTO streets VALUES (2, ?)", (row,))
        writer.commit()
        assert kl.read(path).n == 3
        assert kl.read(io.BytesIO(path.read_bytes())).n == 2  # of a stream there is no log
    writer.close()


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        (b"", "index out of range"),
        (b"GP", "index out of range"),
        (b"XX\0\1" + bytes(30), "not one of the standard"),
        (b"GP\0\x21" + bytes(30), "not one of the standard"),
        (geometry_of_geopackage(wkb(2, A, B))[:-1], "buffer"),
        (geometry_of_geopackage(wkb(2, A, B))[:12], "unpack_from requires"),
        (geometry_of_geopackage(wkb(8)), "the type 8; curves become lines"),
        (geometry_of_geopackage(wkb(0)), "the type 0"),
        (geometry_of_geopackage(b"\1\2\0\0\0\xff\xff\xff\xff"), "buffer"),
        (geometry_of_geopackage(wkb(5, wkb(2, A, B))[:-8]), "buffer"),
        (geometry_of_geopackage(b"\1\7\0\0\0\1\0\0\0" * 30_000), "recursion"),
        (5, ""),
        ("text", ""),
    ],
)
def test_damaged_geometry(blob: Any, message: str) -> None:
    with pytest.raises(kl.FormatError, match=f"damaged geometry in feature 0 .*{message}"):
        read(make_geopackage([(blob,)]))


def database(script: str) -> bytes:
    made = sqlite3.connect(":memory:")
    made.executescript(script)
    return made.serialize()


LAYER = "CREATE TABLE gpkg_geometry_columns (table_name, column_name, geometry_type_name, srs_id);"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE TABLE a (b)", "without tables of features, expected a GeoPackage"),
        (LAYER, "found no layer of features"),
        (LAYER + "INSERT INTO gpkg_geometry_columns VALUES ('a', 'g', 'LINE', 0)", "no layer of f"),
        (LAYER + "CREATE VIEW a AS SELECT 1 AS g; "
         "INSERT INTO gpkg_geometry_columns VALUES ('a', 'g', 'LINE', 0)", "found no layer"),
        (LAYER + "CREATE TABLE a (g); "
         "INSERT INTO gpkg_geometry_columns VALUES ('a', NULL, 'LINE', 0)", "without names, kinds"),
        (LAYER + "CREATE TABLE a (h); "
         "INSERT INTO gpkg_geometry_columns VALUES ('a', 'g', 'LINE', 0)", "no column 'g' in"),
        ("CREATE TABLE gpkg_geometry_columns (a)", "SQLite cannot read the file .no such column"),
    ],
)  # fmt: skip
def test_databases_that_are_no_geopackages(script: str, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(database(script))


def test_damaged_databases() -> None:
    contents = GEOPACKAGE[0]
    for size in range(1, len(contents), 97):
        with pytest.raises(kl.FormatError):
            read(contents[:size], "geopackage")
    with tempfile.NamedTemporaryFile(suffix=".gpkg") as file:
        file.write(contents[:1500])
        file.flush()
        with pytest.raises(kl.FormatError, match="SQLite cannot read the file"):
            kl.read(file.name)
