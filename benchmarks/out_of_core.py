"""All pairs of a dense graph out of core, beside the rate in memory.

    python benchmarks/out_of_core.py                         # 32,768 vertices in 4 GB
    python benchmarks/out_of_core.py --n 4096 --memory 90M   # a trial

Prints relaxations a second in memory at a size that fits, then those of ``kl.apsp`` with ``out=``
while the whole process may take ``--memory``, the part of one in the other, and the most memory
that the process had. Some rows of the answer are compared with searches. The files go to a
directory of their own under ``--folder``, which needs twice the size of the answer.

Memory is that of the process itself, without the system's cache of files.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import kleene as kl

_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}

#: Arcs a vertex: from n / 60 on, a matrix is faster than searches.
_DENSITY = 1 / 50


def main() -> int:
    """Run one measurement, or the two of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=32768, help="vertices out of core")
    parser.add_argument("--memory", default="4000000000", help="bytes that the process may take")
    parser.add_argument("--compared", type=int, default=0, help="vertices in memory")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--predecessors", action="store_true")
    parser.add_argument("--folder", help="where the files go")
    parser.add_argument("--rows", type=int, default=20, help="rows that are compared with searches")
    parser.add_argument("--measure", choices=("memory", "files"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure == "memory":
        print(in_memory(args.compared, args))
    elif args.measure == "files":
        print(*out_of_core(args))
    else:
        report(args)
    return 0


def report(args: argparse.Namespace) -> None:
    """Measure each in a process of its own, so that neither has the memory of the other."""
    compared = args.compared or min(8192, args.n // 2)
    own = ["--compared", str(compared)]
    before = float(_run("memory", own)[0])
    seconds, rate, peak, rounds, moved = map(float, _run("files", []))
    again = float(_run("memory", own)[0])
    best = max(before, again)
    print(f"in memory, {compared:,} vertices:   {best / 1e9:.1f} G relaxations/s "
          f"({before / 1e9:.1f} before, {again / 1e9:.1f} after)")  # fmt: skip
    print(f"out of core, {args.n:,} vertices: {rate / 1e9:.1f} G relaxations/s, {seconds:.1f} s, "
          f"{rounds:.0f} rounds, {moved / 1e9:.1f} GB moved")  # fmt: skip
    print(f"{100 * rate / best:.0f} % of the rate in memory")
    print(f"{peak / 1e9:.2f} GB of memory at most, {_bytes(args.memory) / 1e9:.2f} GB allowed")


def _run(measure: str, more: list[str]) -> list[str]:
    command = [sys.executable, __file__, *sys.argv[1:], "--measure", measure, *more]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.split()


def in_memory(n: int, args: argparse.Namespace) -> float:
    """Return relaxations a second of a closure in memory, the better of two."""
    g = graph(n)
    best = 0.0
    for _ in range(2):
        r = kl.apsp(g, method="tiled", device=args.device, predecessors=args.predecessors)
        best = max(best, n**3 / r.stats.total)
    return best


def out_of_core(args: argparse.Namespace) -> tuple[float, float, int, int, int]:
    """Return seconds, relaxations a second, the peak of memory, rounds, and bytes moved."""
    n = args.n
    g = graph(n)
    os.environ["KLEENE_MEMORY"] = str(_bytes(args.memory) - _resident("RssAnon"))
    with tempfile.TemporaryDirectory(prefix="kleene-rounds-", dir=args.folder) as folder:
        out = Path(folder, "d.npy")
        print(kl.explain(g, "apsp", method="tiled", device=args.device, out=out,
                         predecessors=args.predecessors), file=sys.stderr)  # fmt: skip
        with Peak() as peak:
            began = time.perf_counter()
            r = kl.apsp(g, method="tiled", device=args.device, out=out,
                        predecessors=args.predecessors)  # fmt: skip
            seconds = time.perf_counter() - began
        assert r.plan.rounds is not None, "it fits into memory: no rounds"
        check(g, r, args.rows)
        return seconds, n**3 / seconds, peak.bytes, r.plan.rounds.count, r.plan.rounds.moved


def graph(n: int) -> kl.Graph:
    """Return a random graph that is dense enough for a matrix, and takes little memory."""
    draw = lambda rng, count: rng.random(count, dtype=np.float32)  # noqa: E731
    return kl.generate.uniform(n, density=_DENSITY, weights=draw, seed=1)


def check(g: kl.Graph, r: kl.Result, rows: int) -> None:
    """Compare some rows with searches."""
    chosen = np.random.default_rng(0).choice(g.n, min(rows, g.n), replace=False)
    right = kl.sssp(g, sources=chosen, predecessors=False)
    found = np.stack([r.distances[row] for row in chosen])
    np.testing.assert_allclose(found, right.distances, rtol=1e-4)
    print(f"{len(chosen)} rows are those of searches", file=sys.stderr)


class Peak:
    """The most memory of this process while the block runs, looked at 20 times a second."""

    bytes = 0

    def __enter__(self) -> Peak:
        import threading

        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            self.bytes = max(self.bytes, _resident("RssAnon"))

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _bytes(text: str) -> int:
    return int(float(text[:-1]) * _UNITS[text[-1]]) if text[-1] in _UNITS else int(text)


if __name__ == "__main__":
    raise SystemExit(main())
