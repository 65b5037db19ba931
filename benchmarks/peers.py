"""Kleene beside SciPy, igraph, NetworKit and NetworkX, on the same graphs in one run.

Every answer of Kleene's is proved before it is timed. Peers that are not installed are left out
(``pip install "kleene[peers]"`` installs them). Times are medians; a ratio above 1 means that
Kleene, on all threads, is that many times faster.

    python benchmarks/peers.py [--json FILE] [--quick]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import csgraph

import kleene as kl
from kleene.machine import cores, this_machine

Run = Callable[[], Any]


def median_seconds(run: Run, repeats: int, budget: float = 20.0) -> float:
    run()  # warm-up
    times: list[float] = []
    while len(times) < repeats and sum(times) < budget:
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def graphs(quick: bool) -> dict[str, kl.Graph]:
    scale = 14 if quick else 18
    side = 256 if quick else 1024
    weights = (1, 255)
    return {
        f"kron {scale}": kl.generate.rmat(scale, 16, seed=1, directed=False, weights=weights),
        f"urand {scale}": kl.generate.uniform(
            2**scale, 16 * 2**scale, seed=1, directed=False, weights=weights
        ),
        f"grid {side}": kl.generate.grid(side, side, seed=1, weights=weights),
        "Rome": kl.datasets.rome(),
    }


def bfs_peers(g: kl.Graph, source: int) -> dict[str, Run]:
    matrix = g.to_scipy()
    runs: dict[str, Run] = {"SciPy": lambda: csgraph.breadth_first_order(matrix, source)}
    if find_spec("igraph"):
        made = _igraph(g)
        runs["igraph"] = lambda: made.distances(source)
    if find_spec("networkit"):
        import networkit as nk

        other = _networkit(g, weighted=False)
        runs["NetworKit"] = lambda: nk.distance.BFS(other, source, storePaths=False).run()
    if find_spec("networkx") and g.m < 100_000:
        import networkx as nx

        graph = g.to_networkx()
        runs["NetworkX"] = lambda: nx.single_source_shortest_path_length(graph, source)
    return runs


def sssp_peers(g: kl.Graph, source: int) -> dict[str, Run]:
    matrix = g.to_scipy().astype(float)
    runs: dict[str, Run] = {"SciPy": lambda: csgraph.dijkstra(matrix, indices=source)}
    if find_spec("igraph"):
        made = _igraph(g)
        runs["igraph"] = lambda: made.distances(source, weights="weight")
    if find_spec("networkit"):
        import networkit as nk

        other = _networkit(g, weighted=True)
        runs["NetworKit"] = lambda: nk.distance.Dijkstra(other, source, storePaths=False).run()
    if find_spec("networkx") and g.m < 100_000:
        import networkx as nx

        graph = g.to_networkx()
        runs["NetworkX"] = lambda: nx.single_source_dijkstra_path_length(graph, source)
    return runs


def _igraph(g: kl.Graph) -> Any:
    import igraph

    s, t, w = g.coo
    ends = np.column_stack([s, t])
    made = igraph.Graph(n=g.n, edges=ends.tolist(), directed=True)
    made.es["weight"] = w.tolist() if w is not None else [1] * g.m
    return made


def _networkit(g: kl.Graph, weighted: bool) -> Any:
    import networkit as nk

    s, t, w = g.coo
    values = np.ones(g.m) if w is None or not weighted else w.astype(float)
    return nk.GraphFromCoo((values, (s, t)), n=g.n, weighted=weighted, directed=True)


def cases(quick: bool) -> list[tuple[str, str, Callable[..., kl.Result], dict[str, Run]]]:
    found: list[tuple[str, str, Callable[..., kl.Result], dict[str, Run]]] = []
    for name, g in graphs(quick).items():
        source = int(g.stats.degrees.argmax())
        _ = g.csc  # the incoming arcs are part of the graph here, as they are for the peers
        found.append(
            ("bfs", name, lambda g=g, s=source, **o: kl.bfs(g, s, **o), bfs_peers(g, source))
        )
        found.append(
            ("sssp", name, lambda g=g, s=source, **o: kl.sssp(g, s, **o), sssp_peers(g, source))
        )
    rome = kl.datasets.rome()
    matrix = rome.to_scipy().astype(float)
    found.append(
        ("apsp", "Rome", lambda **o: kl.apsp(rome, predecessors=False, **o),
         {"SciPy": lambda: csgraph.dijkstra(matrix)})
    )  # fmt: skip
    n = 512 if quick else 1024
    dense = kl.generate.dense(n, seed=1).reweight(lambda s, t: 1 + (s * 31 + t * 17) % 997.0)
    full = dense.dense.copy()
    found.append(
        ("apsp", f"dense {n}", lambda **o: kl.apsp(dense, dtype="float32", predecessors=False, **o),
         {"SciPy": lambda: csgraph.floyd_warshall(full)})
    )  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--json", help="write the rows to this file as well")
    parser.add_argument("--quick", action="store_true", help="small graphs, to try the script")
    options = parser.parse_args()
    machine = this_machine()
    print(f"{cores()} cores, {machine.simd}; milliseconds, medians\n")
    rows = []
    for problem, name, run, peers in cases(options.quick):
        result = run()
        result.verify()
        row: dict[str, Any] = {"problem": problem, "graph": name, "method": result.plan.method}
        for threads in dict.fromkeys((1, cores())):
            row[f"kleene_{threads}"] = median_seconds(partial(run, threads=threads), 9)
        for peer, other in peers.items():
            row[peer] = median_seconds(other, 5)
        rows.append(row)
        ours = row[f"kleene_{cores()}"]
        beside = ", ".join(f"{p} {1e3 * row[p]:.1f} ({row[p] / ours:.1f} x)" for p in peers)
        times = " / ".join(f"{1e3 * row[k]:.2f}" for k in row if k.startswith("kleene_"))
        print(f"{problem:5} {name:11} {row['method']:21} Kleene 1 / all threads {times}; {beside}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"cores": cores(), "simd": machine.simd, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
