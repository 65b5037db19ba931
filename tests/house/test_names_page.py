"""docs/names.md and docs/igraph.md: names exist, and measures give the numbers of both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "names.md"
COLUMNS = ["NetworkX", "igraph", "NetworKit", "Kleene"]


def rows(page: Path, columns: int) -> Iterator[list[list[str]]]:
    """Yield the rows of the tables with so many columns: of each cell, what is in backquotes."""
    for line in page.read_text().splitlines():
        row = line.strip("|").split("|")
        if len(row) == columns:
            yield [re.findall(r"`([^`]+)`", cell) for cell in row]


def cells(column: str) -> Iterator[str]:
    """Yield what a column has in backquotes, in the tables of four columns."""
    for row in rows(PAGE, len(COLUMNS)):
        yield from row[COLUMNS.index(column)]


def missing(column: str, has: Callable[[str], bool]) -> list[str]:
    names = list(cells(column))
    assert len(names) > 15
    return [name for name in names if not has(name)]


def test_names_of_networkx() -> None:
    nx = pytest.importorskip("networkx")
    assert missing("NetworkX", lambda name: hasattr(nx, name)) == []


def test_names_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    assert missing("igraph", lambda name: hasattr(igraph.Graph, name)) == []


def test_names_of_networkit() -> None:
    nk = pytest.importorskip("networkit")
    modules = (nk.distance, nk.centrality, nk.components, nk.reachability)

    def has(name: str) -> bool:
        kind, _, method = name.partition(".")
        found: list[Any] = [getattr(module, kind) for module in modules if hasattr(module, kind)]
        return bool(found) and (not method or hasattr(found[0], method))

    assert missing("NetworKit", has) == []


def test_the_calls_of_kleene_run() -> None:
    g = kl.generate.grid(3, 3)
    names = {
        "kl": kl, "g": g, "s": 0, "t": 8, "v": 4, "k": 2, "radius": 1, "targets": [4, 8],
        "facilities": [0, 8], "sources": [0, 8], "a": [0, 1], "b": [7, 8], "vertices": [0, 1],
        "demand": ([0], [8], [2.0]),
    }  # fmt: skip
    for call in cells("Kleene"):
        if call.startswith(("kl.", "g.")):
            eval(call.replace("samples=1000", "samples=4"), dict(names))


# ---- numbers ------------------------------------------------------------------------------------

Arguments = tuple[Any, ...]
Reading = Callable[[Any, kl.Graph], Any]


def numbers(answer: Any, g: kl.Graph) -> Any:
    """Return an answer of any library as an array; of edges, in the order of ``g.coo``."""
    if isinstance(answer, dict) and isinstance(next(iter(answer)), tuple):
        if not g.directed:
            answer = answer | {(v, u): value for (u, v), value in answer.items()}
        answer = [answer[pair] for pair in zip(*(end.tolist() for end in g.coo[:2]), strict=True)]
    elif isinstance(answer, dict):
        answer = [answer[v] for v in range(g.n)]
    return np.asarray(answer, dtype=np.float64)


def length(path: Any, g: kl.Graph) -> float:
    arcs = {pair[:2]: pair[2] for pair in zip(*(end.tolist() for end in g.coo), strict=True)}
    return float(sum(arcs[pair] for pair in pairwise(path)))


def table(answer: Any, g: kl.Graph) -> Any:
    """Return distances of all pairs, or whether there is a path."""
    if isinstance(answer, Iterator):
        answer = dict(answer)
    if isinstance(answer, dict):
        answer = [numbers(answer[v], g) for v in range(g.n)]
    return np.asarray(answer, dtype=np.float64)


def of_paths(measure: Callable[[Any, kl.Graph], float]) -> Reading:
    """Return how long the paths to all vertices are, or the only path is."""

    def read(answer: Any, g: kl.Graph) -> Any:
        if isinstance(answer, dict):
            answer = [answer[v] for v in range(g.n)]
        answer = list(answer)
        if not isinstance(answer[0], list):
            return measure(answer, g)
        return [measure(path, g) for path in answer]

    return read


def hops(path: Any, g: kl.Graph) -> float:
    return len(path) - 1


def of_bellman_ford(answer: Any, g: kl.Graph) -> Any:
    return numbers(answer[0] if isinstance(answer, tuple) else answer.distances, g)


def of_routes(answer: Any, g: kl.Graph) -> Any:
    if isinstance(answer, Iterator):
        return [hops(path, g) for path in islice(answer, 3)]
    return list(answer.distances)


def of_cells(answer: Any, g: kl.Graph) -> Any:
    if isinstance(answer, dict):
        return numbers({v: owner for owner, cell in answer.items() for v in cell}, g)
    return numbers(answer, g)


def of_reach(answer: Any, g: kl.Graph) -> Any:
    if isinstance(answer, (set, frozenset)):
        return sorted({0, *answer})
    return np.flatnonzero(answer).tolist()


def of_ego(answer: Any, g: kl.Graph) -> Any:
    return sorted(answer) if hasattr(answer, "nodes") else sorted(answer.label(range(answer.n)))


def count_paths(answer: Any, g: kl.Graph) -> Any:
    return len(list(answer)) if isinstance(answer, Iterator) else answer[8]


#: What the page maps: the arguments in NetworkX besides the graph, and how both answers are read.
COMPARED: dict[str, tuple[Arguments, Reading]] = {
    "single_source_shortest_path_length": ((0,), numbers),
    "single_source_shortest_path": ((0,), of_paths(hops)),
    "single_target_shortest_path_length": ((8,), numbers),
    "single_source_dijkstra_path_length": ((0,), numbers),
    "single_source_dijkstra_path": ((0,), of_paths(length)),
    "single_source_bellman_ford": ((0,), of_bellman_ford),
    "shortest_path": ((0, 8), of_paths(hops)),
    "dijkstra_path": ((0, 8), of_paths(length)),
    "multi_source_dijkstra_path_length": (([0, 8],), numbers),
    "all_pairs_shortest_path_length": ((), table),
    "all_pairs_dijkstra_path_length": ((), table),
    "floyd_warshall_numpy": ((), table),
    "shortest_simple_paths": ((0, 8), of_routes),
    "astar_path": ((0, 8), of_paths(length)),
    "descendants": ((0,), of_reach),
    "ego_graph": ((4, 1), of_ego),
    "voronoi_cells": (([0, 8],), of_cells),
    "all_shortest_paths": ((0, 8), count_paths),
    "betweenness_centrality": ((), numbers),
    "betweenness_centrality_subset": (([0, 1], [7, 8]), numbers),
    "edge_betweenness_centrality": ((), numbers),
    "closeness_centrality": ((), numbers),
    "harmonic_centrality": ((), numbers),
    "eccentricity": ((), numbers),
    "diameter": ((), numbers),
    "radius": ((), numbers),
    "center": ((), numbers),
    "periphery": ((), numbers),
    "average_shortest_path_length": ((), numbers),
    "global_efficiency": ((), numbers),
    "wiener_index": ((), numbers),
    "load_centrality": ((), numbers),
}

#: What names mean in the calls of Kleene.
NAMES: dict[str, Any] = {
    "kl": kl, "s": 0, "t": 8, "v": 4, "k": 3, "radius": 1, "facilities": [0, 8], "sources": [0, 8],
    "a": [0, 1], "b": [7, 8],
}  # fmt: skip


def random_graph(directed: bool) -> Any:
    nx = pytest.importorskip("networkx")
    G = nx.gnp_random_graph(12, 0.3, seed=7, directed=directed)
    rng = np.random.default_rng(7)
    nx.set_edge_attributes(G, {edge: rng.integers(1, 64) / 8 for edge in G.edges}, "weight")
    assert nx.is_strongly_connected(G) if directed else nx.is_connected(G)
    return G


@pytest.mark.parametrize("directed", [False, True, None])
@pytest.mark.parametrize("name", COMPARED)
def test_rows_give_the_numbers_of_networkx_as_printed(name: str, directed: bool | None) -> None:
    """Both sides of a row, as the page has them, on a graph with weights."""
    nx = pytest.importorskip("networkx")
    if directed and name == "global_efficiency":
        pytest.skip("NetworkX has it for undirected graphs alone")
    G = nx.karate_club_graph() if directed is None else random_graph(directed)
    g = kl.Graph.from_networkx(G)
    assert g.weights is not None
    [call] = [row[3][0] for row in rows(PAGE, len(COLUMNS)) if name in row[0]]
    arguments, read = COMPARED[name]
    held = eval(call, {**NAMES, "nx": nx, "g": g, "G": G, "targets": range(g.n)})
    right = getattr(nx, name)(G, *arguments, backend="networkx")
    if directed is None and name == "voronoi_cells":
        pytest.skip("some vertices are as far from the one facility as from the other")
    np.testing.assert_allclose(read(held, g), read(right, g), rtol=1e-12)


def test_every_measure_of_networkx_is_compared() -> None:
    """A row that is added to the table of measures is compared as well."""
    assert {name for name in cells("NetworkX") if name.endswith("centrality")} <= COMPARED.keys()
    measures = {"diameter", "radius", "center", "periphery", "eccentricity", "wiener_index"}
    assert measures <= COMPARED.keys()


@pytest.mark.parametrize("directed", [False, True])
def test_numbers_of_igraph(directed: bool) -> None:
    igraph = pytest.importorskip("igraph")
    edges = list(random_graph(directed).edges)
    G = igraph.Graph(12, edges, directed=directed)
    G.es["weight"] = [1 + i % 5 for i in range(len(edges))]
    g = kl.Graph.from_igraph(G)
    assert g.weights is not None
    compared = 0
    for there, here in rows(DOCS / "igraph.md", 2):
        for left, right in zip(there, here, strict=False):
            if re.match(r"G\.(diameter|ecc|radius|closeness|harmonic|\w*betweenness)", left):
                held, wanted = (eval(text, {"G": G, "g": g, "kl": kl}) for text in (right, left))
                if left.startswith("G.edge"):
                    wanted = dict(zip(edges, wanted, strict=True))
                np.testing.assert_allclose(numbers(held, g), numbers(wanted, g), rtol=1e-12)
                compared += 1
    assert compared == 7
