"""Conversion of graphs for the NetworkX backend, and dispatch: what runs, what is refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest

import kleene.interop.networkx as backend
from kleene.interop.networkx import KleeneGraph, convert_from_nx, convert_to_nx


@pytest.fixture(autouse=True)
def quiet_cache() -> Iterator[None]:
    """Let NetworkX use cached conversions without a warning."""
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


def weighted_path(*weights: Any, kind: Any = nx.DiGraph) -> Any:
    graph = kind()
    graph.add_weighted_edges_from((i, i + 1, w) for i, w in enumerate(weights))
    return graph


# ---- conversion ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_round_trip(kind: Any) -> None:
    graph = kind(name="one", year=1956)
    graph.add_node("alone", color="red")
    graph.add_edge("b", "a", weight=2, note="x")
    graph.add_edge("b", "a", weight=3)
    graph.add_edge("a", ("c", 1))
    graph.add_edge("a", "a", weight=0.5)
    back = convert_to_nx(convert_from_nx(graph))
    assert type(back) is kind
    assert nx.utils.graphs_equal(back, graph)
    assert list(back) == list(graph)
    some = convert_from_nx(graph, edge_attrs={"weight": 1}, node_attrs={"color": None})
    assert some.number_of_edges() == graph.number_of_edges()
    assert str(some) == f"{kind.__name__} with 4 nodes and {graph.number_of_edges()} edges"
    kept = convert_to_nx(some)
    assert kept.nodes["alone"] == {"color": "red"}
    assert [d for *_, d in kept.edges(data="note")] == [None] * graph.number_of_edges()
    assert list(kept.edges(data="weight")) == list(graph.edges(data="weight"))


def test_the_copy_does_not_follow_the_original() -> None:
    graph = nx.path_graph(3)
    copy = convert_from_nx(graph)
    graph.add_edge(0, 2)
    graph.edges[0, 1]["weight"] = 9
    assert nx.shortest_path_length(copy, 0, 2) == 2
    assert nx.dijkstra_path_length(copy, 0, 1) == 1


def test_views_are_converted_in_their_own_order() -> None:
    graph = nx.gnm_random_graph(40, 120, seed=3)
    view = graph.subgraph([30, 3, 17, *range(20)])
    assert dict(nx.all_pairs_shortest_path_length(view, backend="kleene")) == dict(
        nx.all_pairs_shortest_path_length(view, backend="networkx")
    )
    turned = nx.reverse_view(nx.gn_graph(30, seed=1))
    assert nx.single_source_shortest_path(turned, 0, backend="kleene") == (
        nx.single_source_shortest_path(turned, 0, backend="networkx")
    )


def test_conversions_are_cached_until_the_graph_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counting(*args: Any, **options: Any) -> KleeneGraph:
        made.append(convert_from_nx(*args, **options))
        return made[-1]

    monkeypatch.setattr(backend, "convert_from_nx", counting)
    graph = weighted_path(2, 3)
    assert nx.dijkstra_path_length(graph, 0, 2, backend="kleene") == 5
    assert nx.diameter(graph.to_undirected(as_view=True), backend="kleene") == 2
    assert nx.dijkstra_path_length(graph, 0, 1, backend="kleene") == 2
    assert nx.shortest_path_length(graph, 0, 2, backend="kleene") == 2  # needs no weights
    assert len(made) == 2  # one of them for the view
    graph.add_edge(0, 2, weight=1)
    assert nx.dijkstra_path_length(graph, 0, 2, backend="kleene") == 1
    assert len(made) == 3


def test_missing_attributes_are_reported() -> None:
    copy = convert_from_nx(weighted_path(4), edge_attrs={"cost": 1}, preserve_edge_attrs=False)
    with pytest.raises(nx.NetworkXError, match="without the edge attribute 'weight'"):
        nx.dijkstra_path_length(copy, 0, 1)
    with pytest.raises(nx.NetworkXError, match="without its edge attributes"):
        nx.dijkstra_path_length(copy, 0, 1, weight=lambda u, v, d: 2)


# ---- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_functions_as_weights(kind: Any) -> None:
    graph = kind()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "c", 2), ("a", "c", 5), ("c", "a", 4)])

    def weight(u: str, v: str, data: Any) -> int | None:
        return None if (u, v) == ("a", "b") else ord(v) - ord("a") + len(data)

    for name in ("single_source_dijkstra_path_length", "single_source_dijkstra_path"):
        call = getattr(nx, name)
        ours = call(graph, "a", weight=weight, backend="kleene")
        assert ours == call(graph, "a", weight=weight, backend="networkx")
    assert nx.astar_path(graph, "a", "c", weight=weight, backend="kleene") == ["a", "c"]


@pytest.mark.parametrize(
    "weight",
    [
        Fraction(1, 3),
        Decimal("0.1"),
        2**63,
        2**62,
        float("inf"),
        float("nan"),
        1e307,
        "3",
        1j,
        np.float32(1.5),
    ],
    ids=repr,
)
def test_weights_that_arrays_cannot_hold_are_refused(weight: Any) -> None:
    graph = weighted_path(1, weight)
    with pytest.raises(NotImplementedError) as caught:
        nx.single_source_dijkstra_path_length(graph, 0, backend="kleene")
    assert isinstance(caught.value.__cause__, NotImplementedError)
    with nx.config(backend_priority=["kleene"]):  # NetworkX runs the call itself
        graph = weighted_path(*[1] * 600, weight)
        if isinstance(weight, (Fraction, Decimal, int, float)):
            found = nx.single_source_dijkstra_path_length(graph, 0)
            assert found[600] == 600
            assert type(found[601]) is type(600 + weight)


def test_unsupported_weights_of_the_first_edge_are_refused_before_conversion() -> None:
    call = ("dijkstra_path_length", (weighted_path(Fraction(1, 3)), 0, 1), {})
    assert backend.can_run(*call) == "weights of type Fraction have no exact array form"
    assert backend.can_run("bfs_edges", (weighted_path(Fraction(1, 3)), 0), {}) is True


def test_integers_of_any_type_become_ints() -> None:
    graph = weighted_path(np.int64(2), True, 3, np.uint8(4))
    lengths = nx.single_source_dijkstra_path_length(graph, 0, backend="kleene")
    assert lengths == {0: 0, 1: 2, 2: 3, 3: 6, 4: 10}
    assert {type(v) for v in lengths.values()} == {int}
    graph = weighted_path(2, np.float64(0.5))
    lengths = nx.single_source_dijkstra_path_length(graph, 0, backend="kleene")
    assert [type(v) for v in lengths.values()] == [int, int, float]


def test_sums_are_those_of_networkx_to_the_last_bit() -> None:
    graph = nx.gnm_random_graph(120, 400, seed=5)
    rng = np.random.default_rng(5)
    for *_, data in graph.edges(data=True):
        data["weight"] = float(rng.random())
    for name in ("all_pairs_dijkstra_path_length", "all_pairs_dijkstra_path"):
        ours, theirs = (dict(getattr(nx, name)(graph, backend=b)) for b in ("kleene", "networkx"))
        assert ours == theirs
    kept = max(nx.connected_components(graph), key=len)
    graph = nx.Graph(graph.subgraph(kept))
    for call in (
        lambda b: nx.closeness_centrality(graph, distance="weight", backend=b),
        lambda b: nx.radius(graph, weight="weight", backend=b),
        lambda b: nx.average_shortest_path_length(graph, weight="weight", backend=b),
        lambda b: nx.diameter(graph, weight="weight", backend=b),
    ):
        assert call("kleene") == call("networkx")
    if nx.barycenter.__name__ == "barycenter":  # not so in NetworkX 3.7: another name of centroid
        ours, theirs = (
            nx.barycenter(graph, weight="weight", backend=b) for b in ("kleene", "networkx")
        )
        assert ours == theirs


# ---- dispatch -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("bfs_edges", {"source": 0, "sort_neighbors": sorted}, "search order"),
        ("generic_bfs_edges", {"source": 0, "neighbors": lambda v: []}, "decides the neighbors"),
        ("diameter", {"e": {0: 1}}, "nothing to compute"),
        ("eccentricity", {"sp": {}}, "nothing to compute"),
        ("barycenter", {"attr": "b"}, "store results"),
        ("radius", {"usebounds": True, "weight": "weight"}, "bounds are rounded"),
        ("transitive_closure_dag", {"topo_order": [0]}, "topo_order"),
    ],
)
def test_arguments_are_refused_with_a_reason(
    name: str, arguments: dict[str, Any], reason: str
) -> None:
    found = backend.can_run(name, (nx.path_graph(3),), arguments)
    assert isinstance(found, str)
    assert reason in found


def test_empty_graphs_and_wrong_arguments_are_left_to_networkx() -> None:
    assert backend.can_run("diameter", (nx.Graph(),), {}) == "the graph is empty"
    assert "unexpected" in str(backend.can_run("diameter", (nx.path_graph(2),), {"nonsense": 1}))
    assert backend.can_run("diameter", (nx.path_graph(2),), {}) is True


def test_small_calls_are_left_to_networkx() -> None:
    small, large = nx.path_graph(9), nx.path_graph(2000)
    for name, graph, arguments, wanted in [
        ("diameter", small, {}, "too small"),
        ("diameter", large, {}, True),
        ("all_pairs_shortest_path", large, {}, True),
        ("shortest_path_length", large, {}, True),
        ("shortest_path_length", large, {"source": 1}, "unweighted"),
        ("shortest_path", large, {"source": 1, "target": 5}, "one pair"),
        ("single_target_shortest_path", large, {"target": 5}, "unweighted"),
        ("single_source_dijkstra", large, {"source": 1}, True),
        ("single_source_dijkstra", small, {"source": 1}, "less time than the conversion"),
        ("multi_source_dijkstra", large, {"sources": {1}}, True),
        ("closeness_centrality", large, {"u": 1}, "unweighted"),
        ("has_path", large, {"source": 1, "target": 5}, "one pair"),
    ]:
        found = backend.should_run(name, (graph,), arguments)
        assert found is True if wanted is True else wanted in str(found), name
    nx.diameter(small, backend="kleene")
    assert backend.should_run("bfs_edges", (small, 1), {}) is True  # already converted


def test_networkx_chooses_by_priority(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "networkx"), nx.config(backend_priority=["kleene"]):
        assert nx.diameter(nx.path_graph(60)) == 59
        assert nx.diameter(nx.path_graph(6)) == 5
        assert nx.shortest_path(nx.path_graph(60), 0, 3) == [0, 1, 2, 3]
    messages = [record.getMessage() for record in caplog.records]
    assert sum("Using backend 'kleene' for call to 'diameter'" in m for m in messages) == 1
    assert any("too small to be worth" in m for m in messages)


def test_inadmissible_heuristics_are_refused() -> None:
    graph = weighted_path(1, 1, 1)
    honest = nx.astar_path(graph, 0, 3, heuristic=lambda u, v: v - u, backend="kleene")
    assert honest == [0, 1, 2, 3]
    with pytest.raises(NotImplementedError) as caught:
        nx.astar_path(graph, 0, 3, heuristic=lambda u, v: 2 * (v - u), backend="kleene")
    assert "not admissible" in str(caught.value.__cause__)


def test_configuration_is_passed_on() -> None:
    graph = weighted_path(*range(1, 60))
    with nx.config.backends.kleene(threads=1, device="cpu"):
        assert nx.single_source_dijkstra_path_length(graph, 0, backend="kleene")[59] == 1770
    copy = convert_from_nx(graph)
    with nx.config.backends.kleene(device="emulated"):
        assert nx.single_source_shortest_path_length(copy, 0)[59] == 59
    with nx.config.backends.kleene(device="nowhere"), pytest.raises(ValueError, match="nowhere"):
        nx.single_source_shortest_path_length(copy, 0)


def test_many_nodes_are_processed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.interop.networkx import search

    monkeypatch.setattr(search, "_CHUNK", 64)
    plain = nx.gnm_random_graph(30, 90, seed=2)
    graph = convert_from_nx(plain)
    many = np.zeros(1030, dtype=np.int32)
    assert [len(c) for c in search.chunks(graph.unweighted_arcs, many)] == [512, 512, 6]
    assert dict(nx.all_pairs_shortest_path(graph)) == dict(nx.all_pairs_shortest_path(plain))
    assert nx.closeness_centrality(graph) == nx.closeness_centrality(plain)


def test_errors_of_unknown_nodes_are_those_of_networkx() -> None:
    graph = nx.path_graph(3)
    for name, arguments in [
        ("shortest_path", {"source": 9}),
        ("shortest_path", {"target": 9}),
        ("shortest_path_length", {"target": 9, "weight": "weight"}),
        ("has_path", {"source": 0, "target": 9}),
        ("dijkstra_path", {"source": 0, "target": 9}),
        ("dijkstra_path", {"source": 9, "target": 0}),
        ("multi_source_dijkstra", {"sources": []}),
        ("bellman_ford_path", {"source": 9, "target": 0}),
        ("bellman_ford_path_length", {"source": 0, "target": 9}),
        ("single_source_bellman_ford", {"source": 9, "target": 9}),
        ("astar_path_length", {"source": 9, "target": 0}),
        ("bidirectional_dijkstra", {"source": 0, "target": 9}),
        ("goldberg_radzik", {"source": 9}),
        ("find_negative_cycle", {"source": 9}),
        ("closeness_centrality", {"u": 9}),
        ("bfs_layers", {"sources": [9]}),
        ("bfs_tree", {"source": 9}),
        ("predecessor", {"source": 9}),
        ("descendants_at_distance", {"source": 9, "distance": 1}),
        ("floyd_warshall_numpy", {"nodelist": [0, 1, 9]}),
        ("floyd_warshall_numpy", {"nodelist": [0]}),
        ("shortest_path", {"source": 0, "method": "magic"}),
        ("average_shortest_path_length", {"method": "magic"}),
        ("all_shortest_paths", {"source": 0, "target": 1, "weight": "w", "method": "magic"}),
        ("transitive_closure", {"reflexive": "maybe"}),
        ("eccentricity", {"v": 9}),
    ]:
        raised = []
        for where in ("kleene", "networkx"):
            with pytest.raises((nx.NetworkXException, ValueError)) as caught:
                list(getattr(nx, name)(graph, **arguments, backend=where))
            raised.append((caught.type, caught.value.args))
        assert raised[0] == raised[1], name
