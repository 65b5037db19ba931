"""Subgraphs around a vertex, against NetworkX's ego graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from graphs import graph, names

import kleene as kl

nx = pytest.importorskip("networkx")

SEARCHABLE = [name for name in names() if graph(name).n and not graph(name).stats.negative]


def as_networkx(g: kl.Graph) -> Any:
    made = nx.DiGraph() if g.directed else nx.Graph()
    made.add_nodes_from(g.label(np.arange(g.n)).tolist())
    tails, heads, weights = g.coo
    labels = g.label(np.arange(g.n))
    for arc, (s, t) in enumerate(zip(labels[tails], labels[heads], strict=True)):
        made.add_edge(_plain(s), _plain(t), weight=1 if weights is None else weights[arc].item())
    return made


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def arcs_of(g: kl.Graph) -> dict[tuple[Any, Any], Any]:
    tails, heads, weights = g.coo
    labels = [_plain(v) for v in g.label(np.arange(g.n))]
    return {
        (labels[s], labels[t]): 1 if weights is None else weights[i].item()
        for i, (s, t) in enumerate(zip(tails, heads, strict=True))
    }


def arcs_of_networkx(made: Any) -> dict[tuple[Any, Any], Any]:
    both = made if made.is_directed() else made.to_directed()
    return {(s, t): w for s, t, w in both.edges(data="weight")}


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("name", SEARCHABLE)
def test_as_networkx(name: str, undirected: bool) -> None:
    g = graph(name)
    theirs = as_networkx(g)
    middle = g.n // 2
    vertex = _plain(g.label(np.arange(g.n))[middle])
    if undirected:  # NetworkX takes either weight of two arcs; here it is the smaller
        theirs = as_networkx(g.symmetrise())
    for radius in (0, 1, 2, 3.5, math.inf):
        for hops, center in ((False, True), (True, True), (True, False)):
            if hops and radius == 3.5:  # NetworkX counts a fourth arc then
                continue
            got = kl.ego(g, vertex, radius, hops=hops, undirected=undirected, center=center)
            found = nx.ego_graph(
                theirs, vertex, radius, center=center, distance=None if hops else "weight"
            )
            kept = [_plain(v) for v in got.label(np.arange(got.n))]
            assert set(kept) == set(found.nodes), (radius, hops)
            assert got.directed == g.directed
            if undirected:
                found = as_networkx(g).subgraph(kept)
            assert arcs_of(got) == arcs_of_networkx(found), (radius, hops)


def test_reverse_is_the_transpose() -> None:
    g = kl.generate.uniform(60, 150, weights=(1, 9), seed=3)
    for radius in (2, 7, 15):
        back = kl.ego(g, 5, radius, reverse=True)
        assert back.labels.tolist() == kl.ego(g.transpose(), 5, radius).labels.tolist()
        assert back.labels.tolist() == sorted(back.labels.tolist()), "in the order of the graph"


def test_labels_positions_and_rows_stay() -> None:
    table = {"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "a"], "weight": [1, 2, 3, 4]}
    g = kl.Graph.from_table(table, directed=False)
    g = g.with_positions(np.arange(8.0).reshape(4, 2))
    near = kl.ego(g, "b", 2)
    assert near.labels.tolist() == ["a", "b", "c"]
    assert near.positions.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert near.reweight(rows=[10, 20, 30, 40]).weights.tolist() == [10, 10, 20, 20]
    assert kl.ego(g, "b", 2, center=False).labels.tolist() == ["a", "c"]
    assert kl.ego(g, "b", 2, center=False).m == 0


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"vertex": 99}, "99"),
        ({"radius": -1}, "radius must be a non-negative number"),
        ({"radius": math.nan}, "radius must be"),
        ({"radius": None}, "radius must be"),
        ({"radius": True}, "radius must be"),
        ({"radius": "2"}, "radius must be"),
        ({"hops": 1}, "hops must be True or False"),
        ({"center": None}, "center must be"),
        ({"undirected": 0}, "undirected must be"),
        ({"undirected": True, "reverse": True}, "leave out reverse"),
        ({"graph": [1]}, "expected a kleene.Graph"),
    ],
)
def test_refusals(how: dict[str, Any], message: str) -> None:
    given = {"graph": kl.generate.grid(3, 3), "vertex": 0, "radius": 1, **how}
    with pytest.raises((kl.RequestError, kl.GraphError), match=message):
        kl.ego(**given)


def test_negative_weights_are_refused_unless_hops_count() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [3, -1])
    with pytest.raises(kl.RequestError, match=r"^ego needs .*; count arcs by hops=True$"):
        kl.ego(g, 0, 2)
    assert kl.ego(g, 0, 1, hops=True).labels.tolist() == [0, 1]
