"""docs/names.md and docs/igraph.md: names exist, and measures give the numbers of both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl

DOCS = Path(__file__).parents[1] / "docs"
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

#: Measures of NetworkX that the page maps, and their arguments besides the graph.
MEASURES: dict[str, tuple[Any, ...]] = {
    "betweenness_centrality": (),
    "betweenness_centrality_subset": ([0, 1], [1, 7, 8]),
    "edge_betweenness_centrality": (),
    "closeness_centrality": (),
    "harmonic_centrality": (),
    "eccentricity": (),
    "diameter": (),
    "radius": (),
    "center": (),
    "periphery": (),
    "average_shortest_path_length": (),
    "global_efficiency": (),
    "wiener_index": (),
    "load_centrality": (),
}


def random_graph(directed: bool) -> Any:
    nx = pytest.importorskip("networkx")
    G = nx.gnp_random_graph(12, 0.3, seed=7, directed=directed)
    assert nx.is_strongly_connected(G) if directed else nx.is_connected(G)
    return G


def numbers(answer: Any, g: kl.Graph) -> Any:
    """Return an answer of any library as an array; of edges, in the order of ``g.coo``."""
    if isinstance(answer, dict) and isinstance(next(iter(answer)), tuple):
        if not g.directed:
            answer = answer | {(v, u): value for (u, v), value in answer.items()}
        answer = [answer[pair] for pair in zip(*(end.tolist() for end in g.coo[:2]), strict=True)]
    elif isinstance(answer, dict):
        answer = [answer[v] for v in range(g.n)]
    return np.asarray(answer, dtype=np.float64)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", MEASURES)
def test_numbers_of_networkx(name: str, directed: bool) -> None:
    if directed and name == "global_efficiency":
        pytest.skip("NetworkX has it for undirected graphs alone")
    G = random_graph(directed)
    import networkx as nx

    g = kl.Graph.from_networkx(G, weight=None)
    [call] = [row[3][0] for row in rows(PAGE, len(COLUMNS)) if name in row[0]]
    a, b = MEASURES[name] or (None, None)
    held = eval(call, {"kl": kl, "nx": nx, "g": g, "G": G, "a": a, "b": b})
    right = getattr(nx, name)(G, *MEASURES[name], backend="networkx")
    np.testing.assert_allclose(numbers(held, g), numbers(right, g), rtol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_numbers_of_igraph(directed: bool) -> None:
    igraph = pytest.importorskip("igraph")
    edges = list(random_graph(directed).edges)
    G = igraph.Graph(12, edges, directed=directed)
    g = kl.Graph.from_edges(*zip(*edges, strict=True), n=12, directed=directed)
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
