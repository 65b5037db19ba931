"""The world's highways as a graph with lengths in metres: benchmarks/data/world-highways.npz.

    pip download --no-deps scgraph_data       # from PyPI; MIT licence, by C. Makowski
    python benchmarks/highways.py scgraph_data-2.0.0-py3-none-any.whl

560,282 vertices and 1,644,468 arcs. The package holds the graph as a Python expression, with
lengths in kilometres; nothing of it is imported or run.
"""

from __future__ import annotations

import argparse
import ast
import zipfile
from pathlib import Path

import numpy as np

import kleene as kl

PATH = Path(__file__).parent / "data" / "world-highways.npz"
MEMBER = "scgraph_data/world_highways.py"

#: What to say where the file is missing.
HOW = f"there is no {PATH.name}; benchmarks/highways.py makes it"


def parse(text: str) -> kl.Graph:
    r"""Read ``graph=[{1: 1.233, 2: 0.852}, ...]``: for each vertex, its neighbours and how far.

    >>> parse("graph=[{1: 1.2335}, {0: 1.2335}, {}]\n\nnodes=[]").weights.tolist()
    [1234, 1234]
    """
    begin = text.index("graph=[") + len("graph=")
    rows = ast.literal_eval(text[begin : text.index("\nnodes", begin)].strip())
    sources = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    targets = np.array([v for row in rows for v in row])
    kilometres = np.array([length for row in rows for length in row.values()])
    metres = np.maximum(1, np.rint(1000 * kilometres)).astype(np.int32)
    return kl.Graph.from_edges(sources, targets, metres, n=len(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", type=Path, help="the wheel of scgraph_data")
    parser.add_argument("--to", type=Path, default=PATH, help="where to write")
    options = parser.parse_args()
    with zipfile.ZipFile(options.package) as package:
        g = parse(package.read(MEMBER).decode())
    kl.write(g, options.to)
    print(f"{g} written to {options.to}")


if __name__ == "__main__":
    main()
