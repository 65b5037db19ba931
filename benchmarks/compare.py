"""Kleene beside SciPy, igraph, NetworKit, NetworkX and GraphBLAS, on fixed graphs, in one run.

    python benchmarks/compare.py [--full | --quick] [--only TEXT] [--json FILE]

Every answer of Kleene's is proved, and every answer of a peer compared with it, before they are
timed. A row compares like with like: *lengths* are distances alone, *paths* are distances with
predecessors (SciPy's breadth-first search gives predecessors alone). Searches start at the vertex
of highest degree. Times are medians in milliseconds, in turns, from the graph in the form that the
library prefers; a ratio is the peer's time over Kleene's on all threads. Dense rows tell besides
which part of the ceiling Kleene reaches: the rate of its micro-kernel on operands in the nearest
cache, on as many threads, measured right after.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from harness import THREADS, ceiling, machine_in_words, medians, save
from peers import PEERS, Contestant, Peer, is_dense

import kleene as kl

DATA = Path(__file__).parent / "data"
WEIGHTS = (1, 255)
BUDGET = 4.0  # seconds for the runs of one contestant in one row
Solve = Callable[..., kl.Result]


def graphs(size: str) -> dict[str, Callable[[], kl.Graph]]:
    generate = kl.generate
    made: dict[str, Callable[[], kl.Graph]] = {}
    scales, orders, sides = {
        "quick": ([10], [128], [32]),
        "usual": ([18], [512, 2048], [1024]),
        "full": ([18, 20], [512, 2048], [1024, 2048]),
    }[size]
    for scale in scales:
        n, kind = 2**scale, {"seed": 1, "directed": False, "weights": WEIGHTS}
        made[f"R-MAT {scale}"] = partial(generate.rmat, scale, 16, **kind)
        made[f"uniform {scale}"] = partial(generate.uniform, n, 16 * n, **kind)
    for side in sides:
        made[f"grid {side}"] = partial(generate.grid, side, side, seed=1, weights=WEIGHTS)
    made["Rome"] = kl.datasets.rome
    made["Enron"] = partial(kl.read, DATA / "email-Enron.txt.gz", directed=False)
    made["Facebook"] = partial(kl.read, DATA / "facebook_combined.txt.gz", directed=False)
    for n in orders:
        for dtype in ("float32", "float64"):
            made[f"dense {n} {dtype}"] = partial(dense, n, dtype)
    return made


def dense(n: int, dtype: str) -> kl.Graph:
    g = kl.generate.dense(n, seed=1, weights=(0.001, 1.0))
    return g.reweight(g.weights.astype(dtype))  # type: ignore[union-attr]


def problems(g: kl.Graph) -> dict[str, tuple[Solve, tuple[int, ...]]]:
    """Return the problems that are measured on this graph, and what they take."""
    source = int(g.stats.degrees.argmax())
    found: dict[str, tuple[Solve, tuple[int, ...]]] = {}
    if not is_dense(g):
        found["bfs"] = kl.bfs, (source,)
        if g.weights is not None:
            found["sssp"] = kl.sssp, (source,)
    if g.n <= 5000:
        found["apsp"] = kl.apsp, ()
    return found


def rows(name: str, g: kl.Graph) -> Iterator[dict[str, Any]]:
    _ = g.csc  # the incoming arcs are part of the graph here, as they are for the peers
    made: dict[type[Peer], Peer] = {}
    for problem, (solve, start) in problems(g).items():
        why = {kind.name: kind.refuses(problem, g) for kind in PEERS}
        for kind in PEERS:
            if why[kind.name] is None and kind not in made:
                made[kind] = kind(g)
        for work in ("lengths", "paths"):
            others: dict[str, Contestant] = {}
            for kind in PEERS:
                offer = getattr(kind, f"{problem}_{work}", None)
                if offer is not None and why[kind.name] is None:
                    others[kind.name] = offer(made[kind], *start)
            row = {"problem": problem, "graph": name, "n": g.n, "m": g.m, "work": work}
            left_out = {peer: reason for peer, reason in why.items() if reason}
            yield row | measure(partial(solve, g, *start), g, work, others) | {"out": left_out}


def measure(solve: Solve, g: kl.Graph, work: str, others: dict[str, Contestant]) -> dict[str, Any]:
    ours = partial(solve, predecessors=work == "paths")
    result = ours()
    result.verify(sample=16)
    for peer, contestant in others.items():
        check(peer, contestant.distances(contestant.run()), result)
    runs = {f"kleene {t}": partial(ours, threads=t) for t in THREADS}
    for run in runs.values():
        assert np.array_equal(run().distances, result.distances)
    taken = medians(runs | {p: c.run for p, c in others.items()}, 9, BUDGET)
    row = {"method": result.plan.method, "dtype": result.plan.dtype, "seconds": taken}
    if is_dense(g):
        row["of_ceiling"] = {
            f"kleene {t}": g.n**3
            / taken[f"kleene {t}"]
            / ceiling("min_plus", result.plan.dtype, work == "paths", t)
            for t in THREADS
        }
    return row


def check(peer: str, distances: np.ndarray[Any, Any], result: kl.Result) -> None:
    wanted = np.where(result.reached, result.distances, np.inf)
    if not np.allclose(distances, wanted, rtol=1e-5):
        raise SystemExit(f"{peer} and Kleene differ: {result!r}")


# ---- the table ----------------------------------------------------------------------------------


def head() -> str:
    threads = "".join(f"{f'Kleene x{t}':>11}" for t in THREADS)
    peers = "".join(f"{kind.name:>18}" for kind in PEERS)
    return f"{'':5}{'':21}{'':9}{'method':21}{threads}{peers}"


def line(row: dict[str, Any]) -> str:
    taken = row["seconds"]
    ours = taken[f"kleene {THREADS[-1]}"]
    text = f"{row['problem']:5}{row['graph']:21}{row['work']:9}{row['method']:21}"
    text += "".join(f"{milliseconds(taken[f'kleene {t}']):>11}" for t in THREADS)
    for kind in PEERS:
        peer = taken.get(kind.name)
        ratio = "-" if peer is None else f"{milliseconds(peer)} ({peer / ours:.3g} x)"
        text += f"{ratio:>18}"
    if "of_ceiling" in row:
        text += "   ceiling " + " / ".join(f"{part:.0%}" for part in row["of_ceiling"].values())
    return text


def milliseconds(taken: float) -> str:
    return f"{1e3 * taken:.3g}" if taken < 0.1 else f"{1e3 * taken:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--full", action="store_true", help="larger graphs too")
    sizes.add_argument("--quick", action="store_true", help="small graphs, to try the script")
    parser.add_argument("--only", default="", help="graphs whose name contains this")
    parser.add_argument("--json", metavar="FILE", help="write all numbers to this file as well")
    options = parser.parse_args()
    size = "full" if options.full else "quick" if options.quick else "usual"
    print(
        f"{machine_in_words()}\nmilliseconds, medians; (peer / Kleene x{THREADS[-1]})\n\n{head()}"
    )
    done: list[dict[str, Any]] = []
    for name, make in graphs(size).items():
        if options.only.lower() in name.lower():
            for row in rows(name, make()):
                print(line(row), flush=True)
                done.append(row)
    absent = {peer for row in done for peer, why in row["out"].items() if why == "not installed"}
    if absent:
        print(f"\nnot installed: {', '.join(sorted(absent))}; pip install 'kleene[peers]'")
    versions = {kind.name: kind.version() for kind in PEERS}
    save(options.json, {"versions": {"Kleene": kl.__version__} | versions, "rows": done})


if __name__ == "__main__":
    main()
