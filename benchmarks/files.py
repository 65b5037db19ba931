"""Reading and writing text files: Kleene beside SciPy, pandas and PyArrow, in the same run.

    python benchmarks/files.py [--arcs 5000000] [--repeat 5]

Every reader gets the same file from the page cache, and what it read is compared with the graph
before anything is timed. Times are medians of wall-clock seconds, the contestants taking turns.
Kleene's include making the graph from the arcs; the others' end with the columns of the file.
"""

from __future__ import annotations

import argparse
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from harness import THREADS, Run, machine_in_words, medians

import kleene as kl

Runs = dict[str, Run]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--arcs", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    random = np.random.default_rng(1)
    sources, targets = random.integers(0, max(args.arcs // 5, 1), (2, args.arcs))
    graph = kl.Graph.from_edges(sources, targets, random.integers(1, 256, args.arcs, np.int32))
    print(f"{graph}\n{machine_in_words()}, medians of {args.repeat}")
    with tempfile.TemporaryDirectory() as folder:
        matrix, edges = Path(folder) / "matrix.mtx", Path(folder) / "edges.tsv"
        for path in (matrix, edges):
            kl.write(graph, path)
        for path, runs in ((matrix, matrix_readers(matrix)), (edges, edge_readers(edges))):
            for run in runs.values():
                check(run(), graph)
            report(f"read {path.name}", path, medians(runs, args.repeat))
        for path in (matrix, edges):
            report(f"write {path.name}", path, medians(writers(graph, path), args.repeat))


# ---- the contestants ----------------------------------------------------------------------------


def kleene_readers(path: Path) -> Runs:
    return {f"Kleene, threads={n}": lambda n=n: kl.read(path, threads=n) for n in THREADS}


def matrix_readers(path: Path) -> Runs:
    import scipy.io

    return kleene_readers(path) | {"scipy.io.mmread": lambda: scipy.io.mmread(path)}


def edge_readers(path: Path) -> Runs:
    runs = kleene_readers(path)
    comments = 2  # lines
    if find_spec("pandas"):
        import pandas

        runs["pandas.read_csv"] = lambda: pandas.read_csv(
            path, sep="\t", skiprows=comments, header=None
        )
    if find_spec("pyarrow"):
        from pyarrow import csv

        reading = csv.ReadOptions(skip_rows=comments, autogenerate_column_names=True)
        parsing = csv.ParseOptions(delimiter="\t")
        runs["pyarrow.csv"] = lambda: csv.read_csv(path, reading, parsing)
    return runs


def writers(graph: kl.Graph, path: Path) -> Runs:
    return {f"Kleene, threads={n}": lambda n=n: kl.write(graph, path, threads=n) for n in THREADS}


# ---- check, report ---------------------------------------------------------------------


def check(made: Any, graph: kl.Graph) -> None:
    """Compare the arcs that a reader found with those of the graph, up to labels."""
    if isinstance(made, kl.Graph):
        names = np.arange(made.n) if made.labels is None else made.labels
        columns = [names[made.coo.sources], names[made.coo.targets], made.weights]
    elif hasattr(made, "row"):  # a SciPy matrix
        columns = [made.row, made.col, made.data]
    elif hasattr(made, "iloc"):  # a pandas table
        columns = [made[title].to_numpy() for title in made]
    else:  # an Arrow table
        columns = [column.to_numpy() for column in made.columns]
    sources, targets, weights = columns
    found = kl.Graph.from_edges(sources, targets, weights.astype(np.int32), n=graph.n)
    if not found.equals(graph):
        raise SystemExit("a reader found other arcs than were written")


def report(title: str, path: Path, times: dict[str, float]) -> None:
    megabytes = path.stat().st_size / 1e6
    best = times[f"Kleene, threads={THREADS[-1]}"]
    print(f"\n{title}, {megabytes:.0f} MB{'':<14} seconds    MB/s  times Kleene's")
    for who, seconds in times.items():
        print(f"  {who:<28} {seconds:>10.3f} {megabytes / seconds:>7.0f} {seconds / best:>15.2f}")


if __name__ == "__main__":
    main()
