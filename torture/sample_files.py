"""Small files as other programs write them, and files with a mistake."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Sequence
from contextlib import closing
from typing import Any

__all__ = [
    "BAD_FILES",
    "GEOJSON",
    "GEOPACKAGE",
    "GML",
    "GRAPHML",
    "POSITIONS",
    "READ_ONLY",
    "TNTP",
    "geometry_of_geopackage",
    "make_geopackage",
    "wkb",
]

#: As NetworkX and OSMnx, yEd, and Gephi write it.
GRAPHML = (
    b"""<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d2" for="edge" attr.name="geometry" attr.type="string" />
<key id="d1" for="edge" attr.name="length" attr.type="string" />
<key id="d0" for="node" attr.name="x" attr.type="string" />
<key id="d3" for="node" attr.name="y" attr.type="string" />
<graph edgedefault="directed">
<node id="10"><data key="d0">12.5</data><data key="d3">41.9</data></node>
<node id="20"><data key="d0">12.6</data><data key="d3">41.8</data></node>
<edge source="10" target="20" id="0"><data key="d1">5.5</data>
<data key="d2">LINESTRING (12.5 41.9, 12.5 41.8, 12.6 41.8)</data></edge>
<edge source="20" target="10" id="0"><data key="d1">4</data></edge></graph></graphml>
""",
    b"""\xef\xbb\xbf<!-- yEd --><graphml xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d6" yfiles.type="nodegraphics"/>
<graph edgedefault="undirected" id="G"><node id="n0"><data key="d6"><y:ShapeNode>
<y:Geometry height="30" width="30" x="7.5" y="-2"/><y:NodeLabel>a</y:NodeLabel></y:ShapeNode>
</data><graph edgedefault="directed"><node id="n0::n0"/><node id="n0::n1"/>
<edge source="n0::n0" target="n0::n1"/></graph></node><edge source="n0" target="n0::n1"
directed="true"/></graph></graphml>
""",
    b"""<graphml><key attr.name="km" attr.type="double" for="edge" id="weight"><default>1</default>
</key><key id="name" for="node"/><graph edgedefault="undirected">
<edge source="a&amp;b" target="c"><data key="weight">2.5</data></edge>
<node id="a&amp;b"><data key="name">A</data></node><node id="c"><data key="name">C</data></node>
<edge source="c" target="c"/></graph></graphml>
""",
)

#: As Mark Newman, NetworkX, and Gephi write it.
GML = (
    b"""Creator "Mark Newman on Sat Jul 22 05:32:16 2006"
graph
[
  directed 0
  node
  [
    id 1
    label "BrighamYoung"
  ]
  node
  [
    id 2
  label "Florida &amp; &#228;
State"
  ]
  # node [ id 3 ]
  edge
  [
    source 2
    target 1
    value 3
  ]
]
""",
    b"""graph [ directed 1 multigraph 1 node [ id 7 label "a" list 1 list 2 ]
node [ id 8 label "b" ] edge [ source 7 target 8 key 0 km 1.5 ] edge [ source 8 target 7 km 2 ] ]
""",
    b"""Version 1 graph [ node [ id 0 graphics [ x 1.5 y -2E3 w 10 fill "#ff0000" ] ]
node [ id 1 graphics [ x 3 y 4 ] ] edge [ source 0 target 1 weight 0.5 ] ]
""",
)

_LINKS = b"""~\tinit_node\tterm_node\tcapacity\tlength\tfree_flow_time\tb\tpower\tspeed\ttoll\t;
\t1\t3\t9000\t5280\t1.09\t0.15\t4\t4842\t0\t1\t;
\t3\t1\t9000\t5280\t2\t0.15\t4\t4842\t0\t1\t;
 \t2 \t3 \t9000 \t  80 \t3.5 \t0.15 \t4 \t4842 \t0 \t1;
"""
TNTP = (
    b"<NUMBER OF ZONES> 2\t\n<NUMBER OF NODES> 3\n<FIRST THRU NODE> 3\n<NUMBER OF LINKS> 3\n"
    b"<ORIGINAL HEADER>~ \tInit node\t;\n<END OF METADATA>\t\t\n\n\n" + _LINKS,
    b"<NUMBER OF NODES> 3\r\n<END OF METADATA>\r\n" + _LINKS.replace(b"\n", b"\r\n"),
    b"<END OF METADATA>\n75674 75778 1 2 3\n75778 9 1 2 4\n",
)

#: As GDAL and QGIS write it, a bare geometry, and collections with heights.
GEOJSON = (
    b"""{
"type": "FeatureCollection",
"name": "streets",
"crs": { "type": "name", "properties": { "name": "urn:ogc:def:crs:OGC:1.3:CRS84" } },
"features": [
{ "type": "Feature", "properties": { "km": 1.5, "oneway": "yes" }, "geometry": { "type": \
"LineString", "coordinates": [ [ 9.1, 48.7 ], [ 9.15, 48.71 ], [ 9.2, 48.7 ] ] } },
{ "type": "Feature", "properties": { "km": 2, "oneway": null }, "geometry": { "type": \
"MultiLineString", "coordinates": [ [ [ 9.2, 48.7 ], [ 9.3, 48.8 ] ] ] } }
]
}
""",
    b'{"type":"LineString","coordinates":[[0,0],[1.5,-2e-1],[3,4]]}',
    b"""{"features":[{"type":"Feature","geometry":null,"properties":null},{"type":"Feature",
"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},
{"type":"LineString","coordinates":[[500000,5e6,3],[500010,5e6]]}]},"properties":{"km":7}},
{"type":"Polygon","coordinates":[]}],"type":"FeatureCollection",
"crs":{"type":"name","properties":{"name":"EPSG:25832"}}}""",
)


def wkb(kind: int, *content: Any, order: str = "<", width: int = 2) -> bytes:
    """Return well-known binary: of points, of a line's points, or of parts, which are binary."""
    code = kind + 1000 * (0, 0, 0, 1, 3)[width]
    head = struct.pack(f"{order}BI", order == "<", code)
    if kind == 1:
        return head + struct.pack(f"{order}{width}d", *content)
    count = struct.pack(f"{order}I", len(content))
    if kind == 2:
        points = [x for point in content for x in point]
        return head + count + struct.pack(f"{order}{len(points)}d", *points)
    return head + count + b"".join(content)


def geometry_of_geopackage(geometry: bytes, system: int = 4326, flags: int = 1) -> bytes:
    """Return a geometry with the header of a GeoPackage; flags say what stands in it."""
    envelope = bytes((0, 32, 48, 48, 64, 0, 0, 0)[flags >> 1 & 7])
    head = struct.pack("<i" if flags & 1 else ">i", system)
    return b"GP\0" + bytes([flags]) + head + envelope + geometry


def make_geopackage(
    rows: Sequence[Sequence[Any]] = (),
    columns: str = "",
    *,
    layer: str = "streets",
    kind: str = "LINESTRING",
    system: int = 4326,
    more: str = "",
) -> bytes:
    """Return a GeoPackage with a layer: a geometry and further columns in each row."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(
            f"""PRAGMA page_size = 512; PRAGMA application_id = 1196444487;
            CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY,
            organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
            INSERT INTO gpkg_spatial_ref_sys VALUES ('any', -1, 'NONE', -1, 'undefined'),
            ('any', 0, 'NONE', 0, 'undefined'), ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS[]'),
            ('UTM', 25832, 'EPSG', 25832, 'PROJCS[]'), ('own', 9, 'NONE', 1, 'LOCAL_CS["x"]');
            CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT,
            geometry_type_name TEXT, srs_id INTEGER);
            INSERT INTO gpkg_geometry_columns VALUES ('{layer}', 'geom', '{kind}', {system});
            CREATE TABLE {layer} (fid INTEGER PRIMARY KEY, geom BLOB{columns}); {more}"""
        )
        marks = ", ".join("?" * (len(rows[0]) + 1 if rows else 1))
        for fid, row in enumerate(rows):
            database.execute(f"INSERT INTO {layer} VALUES ({marks})", (fid + 1, *row))
        database.commit()
        return database.serialize()


#: With a part, heights, a large byte order and a missing geometry; without streets; with one.
GEOPACKAGE = (
    make_geopackage(
        [
            (geometry_of_geopackage(wkb(2, (9.1, 48.7), (9.2, 48.7))), 1.5, "yes"),
            (geometry_of_geopackage(wkb(5, wkb(2, (9.2, 48.7), (9.3, 48.8))), flags=3), 2, None),
            (None, None, None),
            (
                geometry_of_geopackage(
                    wkb(2, (9.3, 48.8, 7), (9.1, 48.7, 8), order=">", width=3), flags=0
                ),
                4,
                "-1",
            ),
        ],
        ", km REAL, oneway TEXT",
    ),
    make_geopackage(kind="POINT"),
    make_geopackage([(geometry_of_geopackage(wkb(2, (9.1, 48.7), (9.2, 48.7))),)]),
)

#: Positions of the vertices 1, 2, 3, and of vertices with names.
POSITIONS = (
    b"c Rome\np aux sp co 3\nv 1 12500000 41900000\nv 2 -1 2\nv 3 7 8\n",
    b"Node\tX\tY\t;\n1\t50000\t510000\t;\n2\t3\t-4.5\t;\n3\t1e3\t4\t;\n",
    b"Node \tX \tY \t;\n1 \t5.5 \t \t1.5 \t \t; \n2 \t5 \t \t1 \t \t;\n3 \t5 \t \t1 \t \t;\n",
    b'lon,lat,id\n1.5,2,"a b"\n3,4,c\n5,6,d\n',
    b"1 0 0\n2 1 1\n3 2 2\n9 3 3\n",
)

#: Files of formats that are not written.
READ_ONLY = {
    "gml": GML[0],
    "tntp": TNTP[1],
    "geojson": GEOJSON[1],
    "geopackage": GEOPACKAGE[2],
}

#: Files with a mistake far from the start.
BAD_FILES = {
    "dimacs": b"p sp 300 900\n" + b"a 1 2 3\n" * 899 + b"a 1 2 x\n",
    "matrix_market": b"%%MatrixMarket matrix coordinate real general\n9 9 900\n"
    + b"1 2 0.5\n" * 899
    + b"1 99 1\n",
    "edge_list": b"1 2 3\n" * 900 + b"1 2 three\n",
    "metis": b"300 300\n" + b"2\n" * 299 + b"x\n",
    "graphml": b"<graphml><graph>" + b"<node id='%d'/>\n" * 300 % (*range(300),) + b"<node/>",
    "gml": b"graph [\n" + b"node [ id %d ]\n" * 300 % (*range(300),) + b"node [ ] ]",
    "tntp": b"<END OF METADATA>\n" + b"1 2 3 4 5 ;\n" * 900 + b"1 x 3 4 5 ;\n",
    "geojson": b'{"features": [\n'
    + b'{"type": "LineString", "coordinates": [[1, 2], [3, 4]]},\n' * 300
    + b"{}]}",
}
