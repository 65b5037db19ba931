"""Shortest paths beside SciPy, in one run: single sources on four shapes of graph, and all pairs.

Run ``python benchmarks/shortest_paths.py [--small]``. Every answer is proved right before it is
timed. Times are medians; SciPy and Kleene take turns, so that both see the same machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse.csgraph import dijkstra

import kleene as kl
from kleene.machine import cores

WEIGHTS = (1, 255)


def graphs(small: bool) -> dict[str, Callable[[], kl.Graph]]:
    generate = kl.generate
    scale, side = (14, 256) if small else (20, 2048)
    return {
        f"R-MAT {scale - 2}": lambda: generate.rmat(
            scale - 2, seed=1, directed=False, weights=WEIGHTS
        ),
        f"R-MAT {scale}": lambda: generate.rmat(scale, seed=1, directed=False, weights=WEIGHTS),
        f"uniform {scale}": lambda: generate.uniform(
            2**scale, 16 * 2**scale, seed=1, directed=False, weights=WEIGHTS
        ),
        f"grid {side} x {side}": lambda: generate.grid(side, side, weights=WEIGHTS),
    }


def medians(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Time the calls in turns; return the median of each, in milliseconds."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - began))
    return {name: statistics.median(taken) for name, taken in times.items()}


def single_source(g: kl.Graph, repeats: int) -> dict[str, float]:
    source = int(np.argmax(np.diff(g.offsets)))
    matrix = g.to_scipy().astype(np.float64)
    for method in ("dijkstra", "delta_stepping"):
        kl.sssp(g, source, method=method).verify()
    calls: dict[str, Callable[[], object]] = {
        "SciPy": lambda: dijkstra(matrix, indices=source, return_predecessors=True),
        "dijkstra": lambda: kl.sssp(g, source, method="dijkstra"),
    }
    for threads in dict.fromkeys((1, cores())):
        calls[f"delta_stepping, {threads}"] = lambda t=threads: kl.sssp(
            g, source, method="delta_stepping", threads=t
        )
    calls["distances only"] = lambda: kl.sssp(g, source, predecessors=False)
    return medians(calls, repeats)


def all_pairs(g: kl.Graph, repeats: int) -> dict[str, float]:
    matrix = g.to_scipy().astype(np.float64)
    kl.apsp(g, method="batched").verify()
    calls: dict[str, Callable[[], object]] = {
        "SciPy": lambda: dijkstra(matrix, return_predecessors=True),
        "distances only": lambda: kl.apsp(g, method="batched", predecessors=False),
    }
    for threads in dict.fromkeys((1, cores())):
        calls[f"batched, {threads}"] = lambda t=threads: kl.apsp(g, method="batched", threads=t)
    return medians(calls, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    table = Table("graph", "method, threads", "ms", "x SciPy")
    for title, make in graphs(options.small).items():
        add(table, title, single_source(make(), options.repeats))
    add(table, "Rome, all pairs", all_pairs(kl.datasets.rome(), options.repeats))
    Console().print(table)


def add(table: Table, title: str, times: dict[str, float]) -> None:
    for name, taken in times.items():
        table.add_row(title, name, f"{taken:.1f}", f"{times['SciPy'] / taken:.2f}")
        title = ""
    table.add_section()


if __name__ == "__main__":
    main()
