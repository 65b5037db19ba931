"""NetworkX's functions by NetworkX and by its backend ``kleene``, in the same run.

    python benchmarks/dropins_networkx.py [--repeat 3] [--only NAME] [--json FILE]

Each call is timed three ways: by NetworkX; by Kleene from a NetworkX graph, so that the conversion
counts; and by Kleene from the converted graph, as in a second call on the same graph. Answers are
compared before anything is timed. Times are medians of wall-clock seconds, taking turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
from harness import machine_in_words, medians, save, seconds

import kleene as kl
from kleene.interop.networkx import convert_from_nx

DATA = Path(__file__).parent / "data"


class Call(NamedTuple):
    name: str
    graph: Any
    weight: str | None
    run: Callable[..., Any]  # of a graph and keywords


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="short calls: 20 times as often")
    parser.add_argument(
        "--only", metavar="NAME", default="", help="calls that have this in the name"
    )
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    nx.config.cache_converted_graphs = False  # what is converted is said below
    print(f"{machine_in_words()}, NetworkX {nx.__version__}, medians of {args.repeat}")
    print(f"{'':62}{'NetworkX':>10}{'Kleene':>10}{'':>8}{'converted':>10}")
    found = {}
    for call in (call for call in calls() if args.only in call.name):
        times = measure(call, args.repeat)
        found[call.name] = times
        base, whole, converted = times.values()
        print(
            f"{call.name:62}{base:10.4f}{whole:10.4f}{base / whole:7.1f}x"
            f"{converted:10.4f}{base / converted:7.1f}x",
            flush=True,
        )
    save(args.json, {"networkx": nx.__version__, "seconds": found})


def calls() -> list[Call]:
    enron = nx.read_edgelist(DATA / "email-Enron.txt.gz", nodetype=int)
    core = nx.Graph(nx.k_core(enron, 22))
    facebook = nx.read_edgelist(DATA / "facebook_combined.txt.gz", nodetype=int)
    rome = kl.datasets.rome().to_networkx()
    size = f"Enron's 22-core, {len(core):,} nodes"
    return [
        Call(f"all_pairs_shortest_path_length, {size}", core, None, all_lengths),
        Call("closeness_centrality, Facebook", facebook, None, nx.closeness_centrality),
        Call("diameter, Facebook", facebook, None, nx.diameter),
        Call("single_source_dijkstra_path_length, Rome", rome, "weight", from_first),
        Call("single_source_dijkstra_path, Rome", rome, "weight", paths_from_first),
    ]


def all_lengths(graph: Any, **options: Any) -> Any:
    return dict(nx.all_pairs_shortest_path_length(graph, **options))


def from_first(graph: Any, **options: Any) -> Any:
    return nx.single_source_dijkstra_path_length(graph, 0, **options)


def paths_from_first(graph: Any, **options: Any) -> Any:
    return nx.single_source_dijkstra_path(graph, 0, **options)


def measure(call: Call, repeat: int) -> dict[str, float]:
    attributes = None if call.weight is None else {call.weight: 1}
    converted = convert_from_nx(
        call.graph, edge_attrs=attributes, preserve_edge_attrs=False, preserve_node_attrs=False
    )
    if call.run(converted) != call.run(call.graph, backend="networkx"):
        raise SystemExit(f"{call.name}: the answers differ")
    runs = {
        "networkx": lambda: call.run(call.graph, backend="networkx"),
        "kleene": lambda: call.run(call.graph, backend="kleene"),
        "converted": lambda: call.run(converted),
    }
    short = seconds(runs["networkx"]) < 0.5
    return medians(runs, 20 * repeat if short else repeat, budget=60)


if __name__ == "__main__":
    main()
