"""The smallest calls of two builds of Kleene side by side, in one run.

    python benchmarks/small_calls.py ../base/.venv/bin/python    # that build, then this one
    python benchmarks/small_calls.py                             # this build alone

On ten vertices nothing is computed: what is measured is what a call costs. The builds take turns,
in a process of their own each, so that both meet the same moods of the machine; a time is the least
of all turns. A ratio above 1 says that this build takes longer. The tests hold the numbers of calls
(``tests/house/test_small_calls.py``), which do not depend on a machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable

Call = Callable[[], object]


def calls() -> dict[str, Call]:
    """Return the calls by name, ready to be made."""
    import numpy as np
    import scipy.sparse as sp

    import kleene as kl

    rng = np.random.default_rng(1)
    tails, heads = np.arange(40) % 10, rng.integers(0, 10, 40)
    weights = rng.integers(1, 9, 40).astype(np.int32)
    g = kl.Graph.from_edges(tails, heads, weights, n=10)
    matrix = sp.csr_array((weights.astype(float), (tails, heads)), shape=(10, 10))
    prepared = kl.prepare(kl.generate.grid(9, 9, weights=(1, 9), seed=1))
    found, out = kl.sssp(g, 0), np.empty(10, np.int32)
    return {
        "bfs": lambda: kl.bfs(g, 0),
        "bfs, no predecessors": lambda: kl.bfs(g, 0, predecessors=False),
        "sssp": lambda: kl.sssp(g, 0),
        "sssp, out": lambda: kl.sssp(g, 0, out=out),
        "sssp, three sources": lambda: kl.sssp(g, sources=[0, 1, 2]),
        "sssp, limit": lambda: kl.sssp(g, 0, limit=9),
        "sssp, pairs": lambda: kl.sssp(g, pairs=[(0, 5), (7, 5)]),
        "apsp": lambda: kl.apsp(g),
        "closure": lambda: kl.closure(g),
        "nearest": lambda: kl.nearest(g, [3, 4]),
        "within": lambda: kl.within(g, 0, 5),
        "path of a result": lambda: found.path(5),
        "csgraph.dijkstra": lambda: kl.csgraph.dijkstra(matrix, indices=0),
        "csgraph.shortest_path": lambda: kl.csgraph.shortest_path(matrix),
        "csgraph.breadth_first_order": lambda: kl.csgraph.breadth_first_order(matrix, 0),
        "prepared distance": lambda: prepared.distance(0, 70),
        "prepared path": lambda: prepared.path(0, 70),
        "prepared nearest": lambda: prepared.nearest(0, [7, 70]),
        "prepared within": lambda: prepared.within(0, 9),
        "sssp, prepared pairs": lambda: kl.sssp(prepared, pairs=[(0, 70), (7, 5)]),
    }


def timed(call: Call, seconds: float) -> float:
    """Return the least time of a call, in seconds: some hundred at a time."""
    call()
    began = time.perf_counter()
    call()
    count = max(10, int(0.005 / (time.perf_counter() - began)))
    least, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        for _ in range(count):
            call()
        least = min(least, (time.perf_counter() - began) / count)
    return least


def turn(python: str, seconds: float) -> dict[str, float]:
    """Return the times of one build, in a new process."""
    command = [python, __file__, "--turn", "--seconds", str(seconds)]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    times: dict[str, float] = json.loads(made.stdout)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", nargs="?", help="the Python of another build")
    parser.add_argument("--turns", type=int, default=5, help="processes of each build")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each call in each process")
    parser.add_argument("--turn", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.turn:
        print(json.dumps({name: timed(call, args.seconds) for name, call in calls().items()}))
        return
    builds = [sys.executable] if args.other is None else [args.other, sys.executable]
    least: list[dict[str, float]] = [{} for _ in builds]
    for _ in range(args.turns):
        for known, python in zip(least, builds, strict=True):
            for name, took in turn(python, args.seconds).items():
                known[name] = min(took, known.get(name, took))
    titles = ["this"] if args.other is None else ["other", "this", "ratio"]
    print(f"{'':28}" + "".join(f"{title:>10}" for title in titles))
    for name in least[-1]:
        took = [known[name] for known in least if name in known]
        ratio = f"{took[1] / took[0]:10.2f}" if len(took) == 2 else ""
        print(f"{name:28}" + "".join(f"{1e6 * each:8.1f} µs"[-10:] for each in took) + ratio)


if __name__ == "__main__":
    main()
