"""A program for test_memory.py: measures the peak memory of readers.

For each file it prints its name, the peak in bytes, and the most that checks of the memory on the
way allowed for: what the process had at a check, and what the check asked for.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from memory_peaks import resident

import kleene as kl
from kleene.graph import checks
from torture.sample_files import geometry_of_geopackage, make_geopackage, wkb

M = 500_000
Case = tuple[str, str | None, dict[str, Any]]  # file, format, options


def texts(folder: Path, rng: np.random.Generator) -> Iterator[Case]:
    def lines(name: str, pattern: str, ends: Any) -> None:
        text = "".join(pattern % (a, b) for a, b in ends.tolist())
        (folder / name).write_text(text, encoding="utf-8")

    digits, huge = rng.integers(0, 10, (M, 2)), rng.integers(0, 10**12, (M, 2))
    lines("digits.txt", "%d %d\n", digits)
    lines("floats.txt", "%d %d .5\n", digits)
    lines("huge.txt", "%d %d\n", huge)
    lines("middle.txt", "%d %d\n", rng.integers(0, 6 * M, (M, 2)))
    lines("names.txt", "v%x é%x\n", rng.integers(0, 10**7, (M // 4, 2)))
    (folder / "digits.gz").write_bytes(gzip.compress((folder / "digits.txt").read_bytes(), 1))
    for name in ("digits.txt", "floats.txt", "huge.txt", "middle.txt", "names.txt", "digits.gz"):
        yield name, "edge_list", {}
    yield "floats.txt", "edge_list", {"directed": False, "threads": 1}
    n = 3_000_000
    (folder / "rows.graph").write_bytes(b"%d 0\n" % n + b"\n" * n)
    (folder / "few.gr").write_bytes(b"p sp %d 1\na 1 2 3\n" % n)
    header = b"%%MatrixMarket matrix array integer symmetric\n1200 1200\n"
    (folder / "half.mtx").write_bytes(header + b"1\n" * (1200 * 1201 // 2))
    for name in ("rows.graph", "few.gr", "half.mtx"):
        yield name, None, {}


def attributed(folder: Path, rng: np.random.Generator) -> Iterator[Case]:
    """Files of nodes and edges with attributes, and tables with more columns than arcs have."""
    n, m = 100_000, 250_000
    ends = rng.integers(0, n, (m, 2)).tolist()
    nodes = "".join(f'<node id="n{i}"/>' for i in range(n))
    edges = "".join(f'<edge source="n{a}" target="n{b}"/>' for a, b in ends)
    names = {"w": "weight", "g": "geometry", "x": "x", "y": "y"}
    keys = "".join(f'<key id="{key}" attr.name="{name}"/>' for key, name in names.items())
    streets = "".join(
        f'<edge source="{a}" target="{b}"><data key="w">{a}.5</data><data key="g">LINESTRING '
        f"({', '.join(f'{a}.{k} {b}' for k in range(12))})</data></edge>\n"
        for a, b in ends[: m // 5]
    )
    places = "".join(
        f'<node id="{i}"><data key="x">{i}.25</data><data key="y">7</data></node>' for i in range(n)
    )
    contents = {
        "nodes.graphml": f"<graphml><graph>{nodes}</graph></graphml>",
        "edges.graphml": f"<graphml><graph>{nodes}{edges}</graph></graphml>",
        "streets.graphml": f"<graphml>{keys}<graph>{places}{streets}</graph></graphml>",
        "nodes.gml": "graph[" + "".join(f'node[id {i} label "v{i}"]\n' for i in range(n)) + "]",
        "edges.gml": f"graph[{''.join(f'node[id {i}]' for i in range(n))}"
        + "".join(f"edge[source {a} target {b} weight .5]\n" for a, b in ends)
        + "]",
        "one.gml": f"graph [ node [ id 1 {'a 1 ' * 3 * m} ] ]",
        "net.tntp": "<END OF METADATA>\n" + "".join(f"{a + 1} {b + 1} 1 2 3 ;\n" for a, b in ends),
        "oneway.csv": "from,to,oneway\n" + "".join(f"{a},{b},{a % 3 - 1}\n" for a, b in ends),
        "places.csv": "id,x,y\n" + "".join(f"{i},{i},7\n" for i in range(n)),
        "named.csv": "from,to\n" + "".join(f"v{a},v{b}\n" for a, b in ends),
        "named_places.csv": "id,x,y\n" + "".join(f"v{i},{i},7\n" for i in range(n)),
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
        if not name.endswith("places.csv"):
            yield name, None, {"directed": "oneway"} if name == "oneway.csv" else {}
    yield "oneway.csv", None, {"positions": folder / "places.csv"}
    yield "named.csv", None, {"positions": folder / "named_places.csv"}


def maps(folder: Path, rng: np.random.Generator) -> Iterator[Case]:
    """Streets of two points each, and of many."""
    for points, count in ((2, 150_000), (60, 8_000)):
        lines = rng.random((count, points, 2)).round(7)
        rows = [(geometry_of_geopackage(wkb(2, *line)), 5) for line in lines.tolist()]
        (folder / f"{points}.gpkg").write_bytes(make_geopackage(rows, ", km REAL"))
        features = [
            {"type": "Feature", "properties": {"km": 5, "name": "Street"},
             "geometry": {"type": "LineString", "coordinates": line}}
            for line in lines.tolist()
        ]  # fmt: skip
        document = {"type": "FeatureCollection", "features": features}
        (folder / f"{points}.geojson").write_text(json.dumps(document))
        del rows, features, document
        for name in (f"{points}.gpkg", f"{points}.geojson"):
            yield name, None, {}
            yield name, None, {"snap": 1e-9, "weight": "geometry"}


def binaries(folder: Path, rng: np.random.Generator) -> Iterator[Case]:
    graph = kl.generate.uniform(100_000, 2 * M, weights=(1, 9), seed=1)
    labels = [f"v{i}" for i in range(200_000)]
    kl.write(graph, folder / "g.wsg")
    kl.write(graph, folder / "g.npz", compressed=True)
    kl.write(kl.Graph.from_edges([0], [1], n=len(labels), labels=labels), folder / "labels.npz")
    ends = rng.integers(0, 1000, (2, M))
    kl.write(kl.Graph.from_edges(*ends, rng.random(M), directed=False), folder / "rows.npz")
    for name in ("g.wsg", "g.npz", "labels.npz", "rows.npz"):
        yield name, None, {}
    for dtype in ("f2", "f8", "?", ">i4"):
        np.save(folder / f"{dtype}.npy", rng.integers(0, 2, (1500, 1500)).astype(dtype))
        yield f"{dtype}.npy", None, {}
    yield "f8.npy", None, {"directed": False}
    matrix = sp.random_array((100_000, 100_000), density=5e-5, rng=rng)
    for form in ("csr", "csc", "coo"):
        sp.save_npz(folder / f"{form}.npz", matrix.asformat(form), compressed=False)
        yield f"{form}.npz", None, {}
    n = 2_000_000
    np.savez(folder / "dia.npz", format=b"dia", shape=[n, n], data=np.ones((1, 4)), offsets=[0])
    yield "dia.npz", None, {}


def tables(folder: Path, rng: np.random.Generator) -> Iterator[Case]:
    numbers = {"source": rng.integers(0, 10**12, M), "target": rng.integers(0, 10**12, M)}
    names = np.char.add("v", rng.integers(0, 10**7, M // 4).astype(str))
    columns: dict[str, dict[str, Any]] = {
        "zeros": {"source": np.zeros(2 * M, np.int64), "target": np.zeros(2 * M, np.int64)},
        "huge": {**numbers, "weight": rng.random(M)},
        "names": {"source": names, "target": names[::-1]},
        "mixed": {"source": numbers["source"][: M // 4], "target": names},
    }
    for name, table in columns.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
        yield f"{name}.parquet", None, {}


def measure(path: Path, format: str | None, options: dict[str, Any]) -> tuple[int, int]:
    """Return the peak of reading a file, and the bound on it."""
    bounds = []

    def memory_for(most: int) -> int:
        bounds.append(resident("VmRSS") + most)
        return 2**62

    checks.memory_for = memory_for
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    graph = kl.read(path, format, **options)
    peak = resident("VmHWM")
    del graph
    return peak - before, max(bounds, default=before) - before


if __name__ == "__main__":
    kl.read(io.BytesIO(b"0 1\n"), "edge_list")  # imports what readers need
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = list(globals()[sys.argv[1]](folder, np.random.default_rng(0)))
        for file, format, options in cases:
            sys.stdout.flush()
            child = os.fork()  # memory that one case has freed would hide what another takes
            if child == 0:
                print(f"{file} {options}", *measure(folder / file, format, options), sep="\t")
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(child, 0)
