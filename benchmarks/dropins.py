"""Kleene in the place of other libraries: the same call to the original and to the drop-in.

    python benchmarks/dropins.py [NAME ...] [--quick] [--json FILE]

A row is one call that a user of the other library makes, on the same arguments, conversions
included on both sides. Answers are compared before anything is timed. Times are medians in
milliseconds, in turns; the ratio is the original's time over Kleene's.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from harness import machine_in_words, medians, save

import kleene as kl

BUDGET = 20.0  # seconds for the runs of one contestant in one row


class Case(NamedTuple):
    """One call, to the original and to the drop-in, and how to compare what they return."""

    name: str
    original: Callable[[], Any]
    dropin: Callable[[], Any]
    same: Callable[[Any, Any], bool]


def scipy(quick: bool) -> Iterator[Case]:
    """Yield calls of ``scipy.sparse.csgraph`` and ``kleene.csgraph``."""
    import scipy.sparse.csgraph as theirs

    from kleene import csgraph as ours

    def case(name: str, function: str, *args: Any, **keywords: Any) -> Case:
        def first(answer: Any) -> Any:  # distances; where paths tie, predecessors may differ
            return answer[0] if isinstance(answer, tuple) else answer

        return Case(
            name,
            lambda: getattr(theirs, function)(*args, **keywords),
            lambda: getattr(ours, function)(*args, **keywords),
            lambda a, b: np.allclose(first(a), first(b), rtol=1e-12),
        )

    n = 256 if quick else 2048
    matrix = np.random.default_rng(1).uniform(0.001, 1, (n, n))
    rome = kl.datasets.rome().to_scipy().astype(np.float64)
    scale = 10 if quick else 18
    rmat = kl.generate.rmat(scale, 16, seed=1, directed=False, weights=(1, 255))
    arcs = rmat.to_scipy().astype(np.float64)
    hub = int(rmat.stats.degrees.argmax())
    for trees in (False, True):
        kind = "paths" if trees else "lengths"
        with_trees = {"return_predecessors": trees}
        yield case(f"floyd_warshall, dense {n}, {kind}", "floyd_warshall", matrix, **with_trees)
        if not quick:
            yield case(f"dijkstra, Rome, all pairs, {kind}", "dijkstra", rome, **with_trees)
        name = f"dijkstra, R-MAT {scale}, one source"
        yield case(f"{name}, {kind}", "dijkstra", arcs, indices=hub, **with_trees)
        undirected = {"directed": False, **with_trees}
        yield case(f"{name}, undirected, {kind}", "dijkstra", arcs, indices=hub, **undirected)
    yield case("dijkstra, Rome, hops", "dijkstra", rome, unweighted=True)
    yield case("yen, Rome, K = 50", "yen", rome, 0, 3000, 4 if quick else 50)
    yield case(f"breadth_first_order, R-MAT {scale}", "breadth_first_order", arcs, hub)


#: One function per library that Kleene can stand in for.
DROPINS: dict[str, Callable[[bool], Iterator[Case]]] = {"scipy": scipy}


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Compare both answers, then time both calls."""
    if not case.same(case.original(), case.dropin()):
        raise SystemExit(f"{case.name}: the answers differ")
    taken = medians({"original": case.original, "kleene": case.dropin}, repeats, BUDGET)
    ratio = taken["original"] / taken["kleene"]
    return {"name": case.name, **taken, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = {"nargs": "*", "choices": [[], *DROPINS]}  # [] stands for all of them
    parser.add_argument("names", **names, help="which libraries; all unless given")
    parser.add_argument("--quick", action="store_true", help="small graphs, to try the program")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    print(machine_in_words())
    results: dict[str, list[dict[str, Any]]] = {}
    for name in options.names or DROPINS:
        print(f"\n{name:44}{'original':>12}{'kleene':>12}{'ratio':>8}")
        results[name] = []
        for case in DROPINS[name](options.quick):
            row = measure(case, options.repeats)
            results[name].append(row)
            print(
                f"{row['name']:44}{row['original'] * 1e3:>9.1f} ms{row['kleene'] * 1e3:>9.1f} ms"
                f"{row['ratio']:>7.1f}x",
                flush=True,
            )
    save(options.json, {"dropins": results})


if __name__ == "__main__":
    main()
