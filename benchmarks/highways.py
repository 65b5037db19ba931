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
from typing import Any

import numpy as np

import kleene as kl

PATH = Path(__file__).parent / "data" / "world-highways.npz"
MEMBER = "scgraph_data/world_highways.py"

#: What to say where the file is missing.
HOW = f"there is no {PATH.name}; benchmarks/highways.py makes it"


def parse(text: str) -> kl.Graph:
    r"""Read ``graph=[{1: 1.233, 2: 0.852}, ...]``: for each vertex, its neighbours and how far.

    And ``nodes=[[21.04, 105.866], ...]``, latitude and longitude of each.

    >>> g = parse("graph=[{1: 1.2335}, {0: 1.2335}]\n\nnodes=[[21, 5], [22, 6]]")
    >>> g.weights.tolist(), g.positions.tolist()
    ([1234, 1234], [[5.0, 21.0], [6.0, 22.0]])
    """
    rows, nodes = (_list_of(text, name) for name in ("graph", "nodes"))
    sources = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    targets = np.array([v for row in rows for v in row])
    kilometres = np.array([length for row in rows for length in row.values()])
    metres = np.maximum(1, np.rint(1000 * kilometres)).astype(np.int32)
    graph = kl.Graph.from_edges(sources, targets, metres, n=len(rows))
    return graph.with_positions(np.array(nodes, dtype=np.float64)[:, ::-1])


def _list_of(text: str, name: str) -> list[Any]:
    """Return what is assigned to a name; the list ends a line, or the text."""
    begin = text.index(f"{name}=[") + len(f"{name}=")
    end = text.find("]\n", begin)
    listed: list[Any] = ast.literal_eval(text[begin : end + 1 if end > 0 else None])
    return listed


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
