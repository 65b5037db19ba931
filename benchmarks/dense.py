"""Dense all pairs and closures: relaxations a second, beside SciPy and beside the kernel's ceiling.

    python benchmarks/dense.py [--sizes 512 1024 2048] [--threads 1 2] [--repeats 5]

One relaxation is one triple (i, k, j); a closure of n vertices has n^3 of them. The time is that of
the whole call, from arcs to answer. The ceiling is the same micro-kernel on operands in the nearest
cache, on as many threads, measured right after. Every answer is verified on sampled rows before
it is timed; times are medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import kleene as kl
from kleene import _native
from kleene.machine import cores


class Case(NamedTuple):
    semiring: str
    dtype: str  # of the weights
    inside: str  # what the kernel computes in
    paths: bool = False

    def __str__(self) -> str:
        inside = "" if self.inside == self.dtype else f" in {self.inside}"
        return f"{self.semiring} {self.dtype}{inside}{', paths' if self.paths else ''}"


CASES = [
    Case("min_plus", "float32", "float32"),
    Case("min_plus", "float32", "float32", paths=True),
    Case("min_plus", "float64", "float64"),
    Case("min_plus", "float64", "float64", paths=True),
    Case("min_plus", "int32", "int32"),
    Case("min_plus", "int32", "int32", paths=True),
    Case("min_plus", "int64", "int64"),
    Case("min_plus", "int32", "int16"),
    Case("max_min", "float32", "float32"),
    Case("max_times", "float32", "float32"),
    Case("boolean", "bool", "bool"),
]


def make_graph(n: int, case: Case) -> kl.Graph:
    """Return a graph in which one pair in 16 has an arc; the rate does not depend on how many."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, n * n // 16), dtype=np.int32)
    if case.inside == "int16":
        return kl.Graph.from_edges(s, t, n=n)
    if case.dtype == "bool":  # sparse, so that the closure has something to find
        return kl.Graph.from_edges(s[: 2 * n], t[: 2 * n], n=n)
    high = 1 if case.dtype.startswith("float") else 1000
    return kl.Graph.from_edges(s, t, (rng.random(len(s)) * high).astype(case.dtype), n=n)


def median_seconds(repeats: int, call: Callable[[], float]) -> float:
    return statistics.median(call() for _ in range(repeats))


def kleene_rate(n: int, case: Case, threads: int, repeats: int) -> float:
    g = make_graph(n, case)

    def call() -> kl.Result:
        return kl.closure(
            g, case.semiring, predecessors=case.paths, threads=threads, method="tiled", device="cpu"
        )

    call().verify(sample=4)
    return n**3 / median_seconds(repeats, lambda: call().stats.compute) / 1e9


def scipy_rate(n: int, repeats: int) -> float:
    from scipy.sparse.csgraph import floyd_warshall

    matrix = np.random.default_rng(n).random((n, n))

    def call() -> float:
        began = time.perf_counter()
        floyd_warshall(matrix)
        return time.perf_counter() - began

    return n**3 / median_seconds(repeats, call) / 1e9


def ceiling(case: Case, threads: int) -> float:
    rates = [
        _native.dense_ceiling(case.semiring, case.inside, case.paths, threads) for _ in range(3)
    ]
    return statistics.median(rates) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, cores()}))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()

    print(
        f"{_native.dense_levels()[-1]}, {cores()} cores; G relaxations/s (share of the ceiling)\n"
    )
    scipy = {}
    for n in (512, 1024):
        scipy[n] = scipy_rate(n, 3)
        print(f"SciPy floyd_warshall, n = {n}: {scipy[n]:.2f}")
    peer = scipy[1024]
    columns = [(n, threads) for n in options.sizes for threads in options.threads]
    print("\n" + " " * 32 + "".join(f"{f'n={n} x{t}':>18}" for n, t in columns))
    for case in CASES:
        if options.only not in str(case):
            continue
        line = f"{case!s:32}"
        for n, threads in columns:
            rate = kleene_rate(n, case, threads, options.repeats)
            line += f"{f'{rate:.1f} ({rate / ceiling(case, threads):.0%})':>18}"
            last = rate
        print(f"{line}   {last / peer:.0f} x SciPy", flush=True)


if __name__ == "__main__":
    main()
