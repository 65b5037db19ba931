"""How fast graphs are made, beside other libraries where they are installed.

Run ``python benchmarks/generators.py [--small]``. Times are medians of three, CSR included. Every
graph is made with one thread and with all, and the two must be equal before a time is printed.
Peers make the same family at the size named below, often a smaller one: compare arcs per second.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness import medians
from rich.console import Console
from rich.table import Table

import kleene as kl
from kleene.machine import cores

REPEATS = 3


@dataclass(frozen=True)
class Peer:
    """A library's way to make such a graph: ``make(library)`` returns it, ``arcs`` counts it."""

    library: str
    make: Callable[[Any], Any]
    arcs: Callable[[Any], int]


@dataclass(frozen=True)
class Case:
    """A generator at one size."""

    title: str
    make: Callable[[int], kl.Graph]
    peers: list[Peer] = field(default_factory=list)


def cases(small: bool) -> list[Case]:
    generate = kl.generate
    scale = 14 if small else 20
    n, m = 2**scale, 16 * 2**scale
    side = 256 if small else 4096
    dense = 512 if small else 8192
    capped = 1024 if small else 10240
    few, few_m, few_side = n // 32, m // 32, side // 8  # for peers in plain Python
    return [
        Case(
            f"rmat(scale={scale})",
            lambda threads: generate.rmat(scale, threads=threads),
            [
                Peer(
                    "networkit",
                    lambda nk: nk.generators.RmatGenerator(
                        scale, 16, 0.57, 0.19, 0.19, 0.05
                    ).generate(),
                    lambda g: 2 * g.numberOfEdges(),
                )
            ],
        ),
        Case(
            f"rmat(scale={scale}, directed=False)",
            lambda threads: generate.rmat(scale, directed=False, threads=threads),
        ),
        Case(
            f"rmat(scale={scale}, weights=(1, 255))",
            lambda threads: generate.rmat(scale, weights=(1, 255), threads=threads),
        ),
        Case(
            f"uniform(n=2^{scale}, m=16 n)",
            lambda threads: generate.uniform(n, m, threads=threads),
            [
                Peer(
                    "igraph",
                    lambda ig: ig.Graph.Erdos_Renyi(n=n, m=m, directed=True),
                    lambda g: g.ecount(),
                ),
                Peer(
                    "scipy.sparse",
                    lambda sp: sp.random(few // 4, few // 4, 64 / few, format="csr"),
                    lambda a: a.nnz,
                ),
                Peer(
                    "networkx",
                    lambda nx: nx.gnm_random_graph(few, few_m, directed=True),
                    lambda g: g.number_of_edges(),
                ),
            ],
        ),
        Case(
            f"uniform(n=2^{scale}, m=16 n, directed=False)",
            lambda threads: generate.uniform(n, m, directed=False, threads=threads),
        ),
        Case(f"dense(n={dense})", lambda threads: generate.dense(dense, threads=threads)),
        Case(
            f"capped(n={capped}, density=0.25)",
            lambda threads: generate.capped(capped, 0.25, threads=threads),
        ),
        Case(f"path_plus(n=2^{scale})", lambda threads: generate.path_plus(n, threads=threads)),
        Case(
            f"grid({side}, {side})",
            lambda threads: generate.grid(side, side, threads=threads),
            [
                Peer(
                    "igraph",
                    lambda ig: ig.Graph.Lattice([side, side], circular=False),
                    lambda g: 2 * g.ecount(),
                ),
                Peer(
                    "networkx",
                    lambda nx: nx.grid_2d_graph(few_side, few_side),
                    lambda g: 2 * g.number_of_edges(),
                ),
            ],
        ),
        Case(
            f"grid({side}, {side}, drop=0.1, weights=(1.0, 2.0))",
            lambda threads: generate.grid(
                side, side, drop=0.1, weights=(1.0, 2.0), threads=threads
            ),
        ),
        Case(
            f"small_world(n=2^{scale}, k=10)",
            lambda threads: generate.small_world(n, 10, threads=threads),
            [
                Peer(
                    "igraph",
                    lambda ig: ig.Graph.Watts_Strogatz(1, n, 5, 0.1),
                    lambda g: 2 * g.ecount(),
                ),
                Peer(
                    "networkit",
                    lambda nk: nk.generators.WattsStrogatzGenerator(n, 5, 0.1).generate(),
                    lambda g: 2 * g.numberOfEdges(),
                ),
                Peer(
                    "networkx",
                    lambda nx: nx.watts_strogatz_graph(few, 10, 0.1),
                    lambda g: 2 * g.number_of_edges(),
                ),
            ],
        ),
    ]


def peer_speed(peer: Peer) -> str:
    try:
        library = importlib.import_module(peer.library)
    except ImportError:
        return f"{peer.library}: not installed"
    arcs = peer.arcs(peer.make(library))
    taken = medians({peer.library: lambda: peer.make(library)}, 1)[peer.library]
    return f"{peer.library} {arcs / taken / 1e6:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="sizes that take a second in all")
    small = parser.parse_args().small

    table = Table(title=f"Generators, medians of {REPEATS}, CSR included")
    table.add_column("graph", no_wrap=True)
    for column in ("arcs", "1 thread, s", f"{cores()} threads, s", "million arcs/s"):
        table.add_column(column, justify="right")
    table.add_column("peers, million arcs/s")
    for case in cases(small):
        graph = case.make(1)
        assert graph.equals(case.make(cores())), f"{case.title} depends on the number of threads"
        taken = medians({t: partial(case.make, t) for t in (1, cores())}, REPEATS)
        one, every = taken[1], taken[cores()]
        table.add_row(
            case.title,
            f"{graph.m:,}",
            f"{one:.2f}",
            f"{every:.2f}",
            f"{graph.m / every / 1e6:.1f}",
            "\n".join(map(peer_speed, case.peers)),
        )
        del graph
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
