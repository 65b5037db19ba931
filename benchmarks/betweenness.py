"""Exact betweenness by hops: Kleene beside NetworKit, igraph and GAP's bc, in the same run.

    pip install networkit igraph
    python benchmarks/betweenness.py --threads 2
    python benchmarks/betweenness.py --gap gapbs/bc --gap-graph kron.sg --gap-graph urand.sg

Kleene's answers are verified before anything is timed, and those of NetworKit and igraph compared
with them. The best of several repeats counts; igraph has one thread. GAP's program prints the times
of its trials, each of four sources.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl

DATA = Path(__file__).parent / "data"

GRAPHS: dict[str, Callable[[], kl.Graph]] = {
    "facebook": lambda: kl.read(DATA / "facebook_combined.txt.gz", directed=False),
    "enron": lambda: kl.read(DATA / "email-Enron.txt.gz", directed=False),
    "rmat14": lambda: kl.generate.rmat(14, 16, seed=1).symmetrise(),
}


def best_of(repeats: int, call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest time, and the last answer."""
    seconds, answer = [], None
    for _ in range(repeats):
        began = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - began)
    return min(seconds), answer


def _edges(graph: kl.Graph) -> Any:
    """Return the ends of each edge once."""
    tails, heads, _ = graph.coo
    return np.stack([tails, heads], axis=1)[tails < heads]


def networkit_values(graph: kl.Graph, threads: int) -> Callable[[], Any] | None:
    """Return NetworKit's call, None where it is not installed."""
    try:
        import networkit as nk
    except ImportError:
        return None
    nk.setNumberOfThreads(threads)
    ends = np.ascontiguousarray(_edges(graph).T, np.uint64)
    weights = np.ones(ends.shape[1])
    other = nk.GraphFromCoo((weights, tuple(ends)), n=graph.n, weighted=False, directed=False)
    # It counts ordered pairs.
    return lambda: np.array(nk.centrality.Betweenness(other).run().scores()) / 2


def igraph_values(graph: kl.Graph, threads: int) -> Callable[[], Any] | None:
    """Return igraph's call, None where it is not installed."""
    try:
        import igraph
    except ImportError:
        return None
    other = igraph.Graph(graph.n, _edges(graph).tolist())
    return lambda: np.array(other.betweenness())


PEERS = {"networkit": networkit_values, "igraph": igraph_values}


def compare(name: str, threads: int, repeats: int, peers: list[str]) -> None:
    """Print the times of a graph, and how many times as fast Kleene is."""
    graph = GRAPHS[name]().unlabelled()
    answer = kl.betweenness(graph, normalized=False, threads=threads)
    answer.verify(sample=4)
    ours, _ = best_of(repeats, lambda: kl.betweenness(graph, normalized=False, threads=threads))
    print(f"{name}: {graph.n:,} vertices, {graph.m // 2:,} edges; load {os.getloadavg()[0]:.1f}")
    print(f"  kleene, {threads} threads  {ours:9.3f} s")
    for peer in peers:
        used = 1 if peer == "igraph" else threads
        call = PEERS[peer](graph, used)
        if call is None:
            print(f"  {peer} is not installed")
            continue
        seconds, values = best_of(1, call)
        np.testing.assert_allclose(values, answer.values, rtol=1e-6, atol=1e-6)
        beside, _ = (
            (ours, None)
            if used == threads
            else best_of(repeats, lambda: kl.betweenness(graph, normalized=False, threads=1))
        )
        print(f"  {peer}, {used} threads  {seconds:9.3f} s   {seconds / beside:6.1f} x as long")


def compare_gap(program: Path, file: Path, threads: int, repeats: int) -> None:
    """Print the times of four sources by GAP's bc, and by Kleene."""
    graph = kl.read(file)
    there = np.flatnonzero(np.diff(graph.offsets))
    chance = np.random.default_rng(0)
    draws = [chance.choice(there, 4, replace=False) for _ in range(repeats)]
    for sources in draws[:1]:  # a path of d arcs passes d - 1 vertices
        hops = kl.bfs(graph, sources=sources, predecessors=False).distances
        inner = int((hops[hops > 0] - 1).sum())
        found = kl.betweenness(graph, sources=sources, normalized=False, threads=threads)
        np.testing.assert_allclose(found.values.sum() * (1 if graph.directed else 2), inner)
    ours = [
        best_of(1, lambda s=sources: kl.betweenness(graph, sources=s, threads=threads))[0]
        for sources in draws
    ]
    command = [str(program), "-f", str(file), "-i", "4", "-n", str(repeats)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    theirs = [float(t) for t in re.findall(r"Trial Time:\s+([\d.]+)", printed.stdout)]
    print(f"{file.name}: {graph.n:,} vertices, four sources, {threads} threads; load "
          f"{os.getloadavg()[0]:.1f}")  # fmt: skip
    print(f"  kleene  {np.mean(ours):7.3f} s on average, at best {min(ours):.3f}")
    print(f"  GAP bc  {np.mean(theirs):7.3f} s on average, at best {min(theirs):.3f}"
          f"   {np.mean(theirs) / np.mean(ours):.1f} x as long")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("graphs", nargs="*", help="default: all")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", action="append", choices=list(PEERS), help="default: all")
    parser.add_argument("--gap", type=Path, help="GAP's program bc")
    parser.add_argument("--gap-graph", type=Path, action="append", help="a .sg file")
    options = parser.parse_args()
    names = options.graphs or ([] if options.gap else list(GRAPHS))
    for name in names:
        compare(name, options.threads, options.repeats, options.peer or list(PEERS))
    for file in options.gap_graph or []:
        compare_gap(options.gap, file, options.threads, options.repeats)


if __name__ == "__main__":
    main()
