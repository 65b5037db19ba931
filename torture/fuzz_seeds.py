"""Write the first inputs of every target into torture/corpus, where fuzzing adds to them."""

from __future__ import annotations

import gzip
import hashlib
import io
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

import kleene as kl
from kleene.io import FORMATS
from torture.fuzz_targets import result_graphs

CORPUS = Path(__file__).parent / "corpus"


def samples() -> list[tuple[str, bytes]]:
    """Return small files of every format: what Kleene and SciPy write, and rare forms by hand."""
    plain = kl.Graph.from_edges([0, 1, 2, 4], [1, 2, 0, 3], directed=False, name="g")
    weighted = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([4, 900, 2], np.int32))
    named = kl.Graph.from_edges([0, 1], [1, 2], [0.5, 1e9], labels=["a b", 'c"', "d,"])
    placed = named.with_positions([[0, 1], [1, 0], [0.5, 2]])
    made = []
    for name, format in FORMATS.items():
        for graph in (plain, weighted, named, placed) if format.write is not None else ():
            file = io.BytesIO()
            try:
                kl.write(graph, file, name)
            except kl.GraphError:
                continue
            made.append((name, file.getvalue()))
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        file = io.BytesIO()
        scipy.sparse.save_npz(file, weighted.to_scipy().asformat(form), compressed=False)
        made.append(("npz", file.getvalue()))
    array = b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2.5\n3\n"
    made.append(("matrix_market", array))
    made.append(("metis", b"% c\n3 3 111 1\n7 8 2 4 3 2\n7 8 1 4 3 9\n7 8 1 2 2 9\n"))
    made.append(("edge_list", gzip.compress(b"source;target\n1;2\n2;3\n", mtime=0)))
    made.append(("edge_list", b"from,to,km,oneway\na,b,1,yes\nb,c,2,\nc,a,3,-1\n"))
    made += [("graphml", text) for text in GRAPHML]
    made += [("gml", text) for text in GML]
    made += [("tntp", text) for text in TNTP]
    return made


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

#: Positions of the vertices 1, 2, 3, and of vertices with names.
POSITIONS = (
    b"c Rome\np aux sp co 3\nv 1 12500000 41900000\nv 2 -1 2\nv 3 7 8\n",
    b"Node\tX\tY\t;\n1\t50000\t510000\t;\n2\t3\t-4.5\t;\n3\t1e3\t4\t;\n",
    b"Node \tX \tY \t;\n1 \t5.5 \t \t1.5 \t \t; \n2 \t5 \t \t1 \t \t;\n3 \t5 \t \t1 \t \t;\n",
    b'lon,lat,id\n1.5,2,"a b"\n3,4,c\n5,6,d\n',
    b"1 0 0\n2 1 1\n3 2 2\n9 3 3\n",
)


def results() -> list[bytes]:
    """Return saved results of every problem, semiring and form."""
    unit, whole, real, positive = result_graphs()
    answers = [
        kl.bfs(unit, 0),
        kl.bfs(whole, sources=[0, 3], limit=2, predecessors=False),
        kl.sssp(whole, 0),
        kl.sssp(real, sources=[0, 1]),
        kl.sssp(positive, 0, targets=[3], predecessors=False),
        kl.sssp(whole, 2, limit=5),
        kl.apsp(whole),
        kl.apsp(positive, dtype="float32", predecessors=False),
        *(kl.closure(whole, semiring) for semiring in ("boolean", "min_plus", "max_min")),
        kl.closure(unit, "max_times"),
        kl.sssp(real, sources=[4, 2], reverse=True),
        kl.bfs(unit, pairs=[(0, 4), (1, 4), (5, 0)]),
        kl.sssp(whole, pairs=[(0, 4), (0, 1), (3, 3)], limit=9),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        made = []
        for answer in answers:
            answer.save(path)
            made.append(path.read_bytes())
    return made


def add(target: str, contents: bytes) -> None:
    """Add an input to the corpus."""
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(contents).hexdigest()[:16]).write_bytes(contents)


def main() -> None:
    for name, contents in samples():
        add(name, contents)
        add("any", contents)
    for contents in POSITIONS:
        add("positions", contents)
    for contents in results():
        add("result", contents)


if __name__ == "__main__":
    main()
