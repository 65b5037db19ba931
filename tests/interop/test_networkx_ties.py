"""Functions of the NetworkX backend whose results depend on ties: these are NetworkX's, too."""

from __future__ import annotations

import random
from itertools import combinations, islice
from typing import Any

import networkx as nx
import pytest

import kleene.interop.networkx as backend
from kleene.interop.networkx import convert_from_nx, dispatch

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions")

WEIGHTS = {
    "none": lambda chance: None,
    "ones": lambda chance: 1,
    "ints": lambda chance: chance.randint(1, 3),
    "tenths": lambda chance: chance.choice([0.1, 0.2, 0.3]),
    "floats": lambda chance: chance.random(),
    "mixed": lambda chance: chance.choice([1, 0.5, 2, 1.5]),
    "zeros": lambda chance: chance.choice([0, 0, 1, 2]),
}


def made(seed: int, weights: str, directed: bool = False, shape: str = "grid") -> Any:
    """Return a connected graph, whose edges were added in any order, and some removed again."""
    chance = random.Random(seed)
    if shape == "grid":
        plain = nx.grid_2d_graph(7, 8)
    else:
        plain = nx.connected_watts_strogatz_graph(50, 4, 0.3, seed=seed)
    edges = [(v, u) if chance.random() < 0.5 else (u, v) for u, v in plain.edges]
    if directed:
        edges += [(v, u) for u, v in edges]
    chance.shuffle(edges)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(chance.sample(sorted(plain), len(plain)))
    for u, v in edges:
        weight = WEIGHTS[weights](chance)
        graph.add_edge(u, v, **({} if weight is None else {"weight": weight}))
    for u, v in chance.sample(edges, 9):
        data = graph.edges[u, v]
        graph.remove_edge(u, v)
        graph.add_edge(u, v, **data)
    return graph


def both(call: Any, graph: Any, *arguments: Any, **keywords: Any) -> tuple[Any, Any]:
    found = []
    for where in ("kleene", "networkx"):
        result = call(graph, *arguments, backend=where, **keywords)
        found.append(list(islice(result, 40)) if hasattr(result, "__next__") else result)
    return found[0], found[1]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", ["grid", "small world"])
def test_simple_paths_come_in_the_order_of_networkx(
    weights: str, directed: bool, shape: str
) -> None:
    for seed in range(3):
        graph = made(seed, weights, directed, shape)
        nodes = random.Random(seed).sample(list(graph), 4)
        for s, t in combinations(nodes, 2):
            weight = None if weights == "none" else "weight"
            ours, theirs = both(nx.shortest_simple_paths, graph, s, t, weight=weight)
            assert ours == theirs


def test_a_hidden_edge_is_on_no_simple_path() -> None:
    graph = made(1, "ints", directed=True)
    for edge in list(graph.edges)[::5]:
        graph.edges[edge]["weight"] = None
    ours, theirs = both(nx.shortest_simple_paths, graph, (0, 0), (6, 7), weight="weight")
    assert ours == theirs
    assert len(ours) == 40


def test_simple_paths_are_found_one_by_one() -> None:
    """There are more of them than anyone can list, and errors come with the first."""
    graph = nx.grid_2d_graph(30, 30)
    paths = nx.shortest_simple_paths(graph, (0, 0), (29, 29), backend="kleene")
    assert [len(path) for path in islice(paths, 3)] == [59, 59, 59]
    for target, error in (((0, 99), nx.NodeNotFound), ("alone", nx.NetworkXNoPath)):
        graph.add_node("alone")
        for where in ("kleene", "networkx"):
            paths = nx.shortest_simple_paths(graph, (0, 0), target, backend=where)
            with pytest.raises(error) as caught:
                next(paths)
            assert str(target) in str(caught.value)


def test_a_graph_without_its_order_of_predecessors_is_declined() -> None:
    graph = made(2, "ones", directed=True)
    nx.dijkstra_path(graph, (0, 0), (3, 3), backend="kleene")  # converted without it
    ends = {"source": (0, 0), "target": (3, 3)}
    assert "order of predecessors" in str(dispatch.can_run("shortest_simple_paths", (graph,), ends))
    with nx.config(backend_priority=["kleene"]):
        paths = list(islice(nx.shortest_simple_paths(graph, **ends), 9))
    assert paths == list(islice(nx.shortest_simple_paths(graph, **ends, backend="networkx"), 9))
    converted = convert_from_nx(graph)
    assert list(islice(nx.shortest_simple_paths(converted, **ends), 9)) == paths


@pytest.mark.parametrize(
    "graph",
    [
        nx.karate_club_graph(),
        nx.les_miserables_graph(),
        nx.cycle_graph(12),
        nx.grid_2d_graph(5, 5),
        nx.complete_graph(7),
        nx.disjoint_union(nx.star_graph(5), nx.barbell_graph(4, 2)),
        made(3, "none", shape="small world"),
        made(4, "none", directed=True),
        nx.DiGraph([(0, 1), (2, 1), (3, 1), (3, 0), (1, 3), (2, 2)]),
        nx.Graph([(0, 0)]),
        nx.empty_graph(3),
    ],
    ids=str,
)
def test_communities_are_those_of_networkx(graph: Any) -> None:
    ours, theirs = (
        list(nx.community.girvan_newman(graph, backend=where)) for where in ("kleene", "networkx")
    )
    assert ours == theirs


@pytest.mark.parametrize("weights", sorted(set(WEIGHTS) - {"none"}))
@pytest.mark.parametrize("shape", ["grid", "small world"])
def test_cells_and_trees_are_those_of_networkx(weights: str, shape: str) -> None:
    for seed in range(4):
        graph = made(seed, weights, shape=shape)
        graph.graph["name"], graph.nodes[next(iter(graph))]["height"] = "some", 3
        chosen = random.Random(seed).sample(list(graph), 6)
        ours, theirs = both(nx.voronoi_cells, graph, chosen)
        assert ours == theirs
        assert list(ours) == list(theirs)
        ours, theirs = both(nx.approximation.steiner_tree, graph, chosen, method="mehlhorn")
        assert nx.utils.graphs_equal(ours, theirs)
        assert set(chosen) <= set(ours)
        assert nx.is_tree(ours)


def test_a_tree_by_another_attribute() -> None:
    """NetworkX then builds its last spanning tree with lengths of 1; so does this."""
    graph = made(5, "ints")
    for u, v, data in graph.edges(data=True):
        data["cost"] = data.pop("weight") * 10 + len(str(u)) + v[0]
    chosen = [(0, 0), (6, 0), (0, 7), (6, 7), (3, 3)]
    ours, theirs = both(nx.approximation.steiner_tree, graph, chosen, weight="cost")
    assert nx.utils.graphs_equal(ours, theirs)


@pytest.mark.parametrize("weights", ["none", "ints", "floats"])
@pytest.mark.parametrize("directed", [False, True])
def test_vitality_is_that_of_networkx(weights: str, directed: bool) -> None:
    graph = made(6, weights, directed, "small world")
    weight = None if weights == "none" else "weight"
    ours, theirs = both(nx.closeness_vitality, graph, weight=weight)
    assert ours == (theirs if weights != "floats" else pytest.approx(theirs, rel=1e-9, abs=1e-9))
    path = nx.path_graph(4)
    assert both(nx.closeness_vitality, path)[0] == nx.closeness_vitality(path)


DECLINED = [
    ("girvan_newman", {"most_valuable_edge": max}, "a function decides"),
    ("steiner_tree", {"terminal_nodes": [0, 2], "method": "kou"}, "Mehlhorn only"),
    ("steiner_tree", {"terminal_nodes": [0, 2], "weight": None}, "the name of an attribute"),
    ("steiner_tree", {"terminal_nodes": iter([0, 2])}, "more than once"),
    ("voronoi_cells", {"center_nodes": iter([0, 2])}, "more than once"),
    ("shortest_simple_paths", {"source": 0, "target": 1, "weight": max}, "more than once"),
    ("closeness_vitality", {"node": []}, "not a node"),
]


@pytest.mark.parametrize(("name", "keywords", "reason"), DECLINED)
def test_calls_are_declined(name: str, keywords: Any, reason: str) -> None:
    assert reason in str(dispatch.can_run(name, (nx.path_graph(4),), keywords))


def test_graphs_are_declined() -> None:
    multi = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert "parallel edges" in str(dispatch.can_run("girvan_newman", (multi,), {}))
    keys = dispatch.can_run("steiner_tree", (multi,), {"terminal_nodes": [0, 2]})
    assert "the key of an edge" in str(keys)
    without = nx.empty_graph(3, create_using=nx.DiGraph)
    assert "no components" in str(dispatch.can_run("girvan_newman", (without,), {}))
    one = dispatch.can_run("closeness_vitality", (nx.empty_graph(1),), {})
    assert "without nodes" in str(one)
    apart = convert_from_nx(nx.Graph([(0, 1), (2, 3), (4, 5)]))
    with pytest.raises(NotImplementedError, match="no path leads to some nodes"):
        backend.steiner_tree(apart, [0, 2])


def test_small_graphs_and_short_calls_stay_in_networkx() -> None:
    small, large = nx.path_graph(9), nx.path_graph(600)
    ends = {"source": 0, "target": 8}
    for name, keywords in (
        ("shortest_simple_paths", ends),
        ("girvan_newman", {}),
        ("closeness_vitality", {}),
        ("voronoi_cells", {"center_nodes": [0, 8]}),
        ("steiner_tree", {"terminal_nodes": [0, 8]}),
    ):
        assert dispatch.should_run(name, (small,), keywords) is not True
        assert dispatch.should_run(name, (large,), keywords) is True
