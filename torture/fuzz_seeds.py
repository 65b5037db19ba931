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
from torture.fuzz_prepared import prepared_graphs
from torture.fuzz_targets import result_graphs
from torture.sample_files import GEOJSON, GEOPACKAGE, GML, GRAPHML, POSITIONS, TNTP

STREETS = b"from,to,km,oneway\na,b,1,yes\nb,c,2,\nc,a,3,-1\n"
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
    for text, options in ((GRAPHML[0], {}), (STREETS, {"directed": "oneway"})):
        file = io.BytesIO()
        kl.write(
            kl.read(io.BytesIO(text), None if text is not STREETS else "edge_list", **options),
            file,
            "npz",
        )
        made.append(("npz", file.getvalue()))
    array = b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2.5\n3\n"
    made.append(("matrix_market", array))
    made.append(("metis", b"% c\n3 3 111 1\n7 8 2 4 3 2\n7 8 1 4 3 9\n7 8 1 2 2 9\n"))
    made.append(("edge_list", gzip.compress(b"source;target\n1;2\n2;3\n", mtime=0)))
    made.append(("edge_list", STREETS))
    made += [("graphml", text) for text in GRAPHML]
    made += [("gml", text) for text in GML]
    made += [("tntp", text) for text in TNTP]
    made += [("geojson", text) for text in GEOJSON]
    made += [("geopackage", contents) for contents in GEOPACKAGE]
    return made


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


def prepared() -> list[bytes]:
    """Return the files of prepared graphs of all kinds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.kp"
        made = []
        for graph in prepared_graphs():
            graph.save(path)
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
    for contents in prepared():
        add("prepared", contents)


if __name__ == "__main__":
    main()
