"""Dense all pairs and closures in every type: relaxations a second, beside the kernel's ceiling.

    python benchmarks/dense.py [--sizes 512 1024 2048] [--threads 1 2] [--repeats 5]

One relaxation is one triple (i, k, j); a closure of n vertices has n^3 of them. The time is that of
the whole call, from arcs to answer. The ceiling is the same micro-kernel on operands in the nearest
cache, on as many threads, measured right after. Every answer is verified on sampled rows before
it is timed; times are medians.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from harness import THREADS, ceiling, machine_in_words, medians

import kleene as kl


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


def kleene_rate(n: int, case: Case, threads: int, repeats: int) -> float:
    g = make_graph(n, case)

    def call() -> kl.Result:
        return kl.closure(
            g, case.semiring, predecessors=case.paths, threads=threads, method="tiled", device="cpu"
        )

    call().verify(sample=4)
    return n**3 / medians({"": call}, repeats)[""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()

    print(f"{machine_in_words()}; G relaxations/s (share of the ceiling)")
    columns = [(n, threads) for n in options.sizes for threads in options.threads]
    print("\n" + " " * 32 + "".join(f"{f'n={n} x{t}':>18}" for n, t in columns))
    for case in CASES:
        if options.only not in str(case):
            continue
        line = f"{case!s:32}"
        for n, threads in columns:
            rate = kleene_rate(n, case, threads, options.repeats)
            share = rate / ceiling(case.semiring, case.inside, case.paths, threads)
            line += f"{f'{rate / 1e9:.1f} ({share:.0%})':>18}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
