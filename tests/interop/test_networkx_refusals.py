"""Refused calls of the NetworkX backend: how the reason reaches the user, as the docs say."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from kleene.interop.networkx import dispatch

PAGE = (Path(__file__).parents[2] / "docs" / "networkx.md").read_text()
SECTION = PAGE.split("## What runs in NetworkX")[1].split("\n## ")[0]


def weighted(weight: Any) -> Any:
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, weight, "weight")
    return graph


REFUSED = [
    ("diameter", nx.path_graph(4), {"usebounds": True, "weight": "weight"}, "bounds are rounded"),
    ("diameter", nx.path_graph(4), {"e": dict.fromkeys(range(4), 3)}, "nothing to compute"),
    ("eccentricity", nx.path_graph(4), {"sp": {}}, "nothing to compute"),
    ("bfs_edges", nx.path_graph(4), {"source": 0, "sort_neighbors": sorted}, "search order"),
    ("load_centrality", nx.path_graph(4), {"cutoff": True}, "cutoff= must be a number"),
    ("edge_load_centrality", nx.path_graph(4), {"cutoff": True}, "cutoff= must be a number"),
    ("closeness_centrality", nx.Graph(), {}, "the graph is empty"),
    ("radius", weighted(Fraction(1, 3)), {"weight": "weight"}, "Fraction"),
    ("radius", weighted(np.float32(0.5)), {"weight": "weight"}, "float32"),
]


@pytest.mark.parametrize(("name", "graph", "arguments", "reason"), REFUSED)
def test_the_log_has_the_reason_of_refused_arguments(
    name: str, graph: Any, arguments: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    call = getattr(nx, name)
    with (
        caplog.at_level(logging.DEBUG, "networkx"),
        pytest.raises(NotImplementedError, match="for the given arguments") as caught,
    ):
        call(graph, **arguments, backend="kleene")
    assert caught.value.__cause__ is None  # NetworkX leaves the reason out of its error
    assert any("because: " in m and reason in m for m in caplog.messages)


def test_the_cause_has_the_reason_of_a_failed_conversion_once() -> None:
    graph = nx.path_graph(4)
    graph[1][2]["weight"] = Fraction(1, 3)
    nx.set_edge_attributes(graph, {(0, 1): 1}, "weight")
    causes = []
    for _ in range(2):
        with nx.config(warnings_to_ignore={"cache"}), pytest.raises(NotImplementedError) as caught:
            nx.radius(graph, weight="weight", backend="kleene")
        causes.append(str(caught.value.__cause__))
    assert "weights of type Fraction" in causes[0]
    assert "previously failed" in causes[1]


#: Calls of what searches as Dijkstra's algorithm does, on nodes 0 to 3.
BY_DIJKSTRA: list[tuple[str, dict[str, Any]]] = [
    ("dijkstra_path", {"source": 0, "target": 3}),
    ("dijkstra_path_length", {"source": 0, "target": 3}),
    ("single_source_dijkstra", {"source": 0}),
    ("single_source_dijkstra_path", {"source": 0}),
    ("single_source_dijkstra_path_length", {"source": 0, "cutoff": 1}),
    ("multi_source_dijkstra", {"sources": {0, 1}}),
    ("dijkstra_predecessor_and_distance", {"source": 0}),
    ("bidirectional_dijkstra", {"source": 0, "target": 3}),
    ("astar_path", {"source": 0, "target": 3}),
    ("shortest_path", {"source": 0}),
    ("eccentricity", {}),
    ("barycenter", {}),
    ("wiener_index", {}),
    ("harmonic_diameter", {}),
    ("average_shortest_path_length", {}),
]
FROM_ALL = [
    "all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length",
    "all_pairs_all_shortest_paths", "single_source_all_shortest_paths",
]  # fmt: skip


def negative() -> nx.DiGraph:
    """Return a ring with one negative weight, which Dijkstra's algorithm happens to get right."""
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, -1), (1, 2, 2), (2, 3, 2), (3, 0, 2)])
    return graph


@pytest.mark.parametrize(("name", "arguments"), BY_DIJKSTRA)
def test_negative_weights_are_left_to_networkx(name: str, arguments: dict[str, Any]) -> None:
    call, graph = getattr(nx, name), negative()
    weighted = arguments | {"weight": "weight"}
    with pytest.raises(NotImplementedError) as caught:
        call(graph, **weighted, backend="kleene")
    assert "order of its steps" in str(caught.value.__cause__)
    theirs = call(graph, **weighted, backend="networkx")
    with nx.config(backend_priority=["kleene"], warnings_to_ignore={"cache"}):
        assert call(graph, **weighted) == theirs  # Kleene is tried, since the graph is converted


@pytest.mark.parametrize("name", FROM_ALL)
def test_generators_leave_negative_weights_to_networkx(name: str) -> None:
    call, graph = getattr(nx, name), negative()
    arguments = {"source": 0} if name.startswith("single") else {}
    if dispatch.VERSION >= (3, 7) and name in dispatch.CHANGED_IF_WEIGHTED:
        pytest.skip("left to NetworkX 3.7")
    ours, theirs = (
        list(call(graph, weight="weight", backend=backend, **arguments))
        for backend in ("kleene", "networkx")
    )
    assert ours == theirs


def test_bellman_ford_takes_negative_weights() -> None:
    lengths = nx.single_source_bellman_ford_path_length(negative(), 0, backend="kleene")
    assert lengths == {0: 0, 1: -1, 2: 1, 3: 3}


def test_the_page_shows_how_to_read_the_reason() -> None:
    block = re.search(r"```python\n(.*?)```", SECTION, re.S)
    assert block is not None
    call = "import networkx as nx\nnx.radius(nx.path_graph(3), e={0: 1}, backend='kleene')\n"
    done = subprocess.run(
        [sys.executable, "-c", block[1] + call], capture_output=True, text=True, timeout=600
    )
    assert "because: e= gives the eccentricities" in done.stderr


def test_the_page_lists_what_is_refused() -> None:
    keywords = [f"`{name}=`" for name in dispatch._REFUSED]
    for listed in [*keywords, "`usebounds=True` with `weight=`", "`cutoff=True`", "empty graphs"]:
        assert listed in SECTION, listed
    for function in dispatch.CHANGED | dispatch.CHANGED_IF_WEIGHTED:
        assert f"`{function}`" in SECTION, function
