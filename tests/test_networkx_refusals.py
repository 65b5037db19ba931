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

PAGE = (Path(__file__).parents[1] / "docs" / "networkx.md").read_text()
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


def test_the_page_shows_how_to_read_the_reason() -> None:
    block = re.search(r"```python\n(.*?)```", SECTION, re.S)
    assert block is not None
    call = "import networkx as nx\nnx.radius(nx.path_graph(3), e={0: 1}, backend='kleene')\n"
    done = subprocess.run(
        [sys.executable, "-c", block[1] + call], capture_output=True, text=True, timeout=100
    )
    assert "because: e= gives the eccentricities" in done.stderr


def test_the_page_lists_what_is_refused() -> None:
    keywords = [f"`{name}=`" for name in dispatch._REFUSED]
    for listed in [*keywords, "`usebounds=True` with `weight=`", "`cutoff=True`", "empty graphs"]:
        assert listed in SECTION, listed
    for function in dispatch.CHANGED | dispatch.CHANGED_IF_WEIGHTED:
        assert f"`{function}`" in SECTION, function
