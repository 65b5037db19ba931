"""Odd arguments and weights in the NetworkX backend: NetworkX's result, or a refusal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from networkx_calls import CALLS, compare, function

import kleene as kl
import kleene.interop.networkx as backend
from kleene.interop.networkx import measures
from kleene.interop.networkx.dispatch import _default_weight, _signature
from kleene.interop.networkx.measures import measured

EXAMPLES = 25
NODES = [0, 1, "b", (2, 3), 2.5, frozenset("f")]
WEIGHTS: dict[str, list[Any]] = {
    "plain": [1, 2, 3],
    "none": [1, 2, None],
    "bools": [True, False, 2],
    "strings": [1, "2"],
    "exact": [Fraction(1, 3), Decimal("0.5"), 1],
    "special": [1.0, math.inf, math.nan],
    "numpy": [np.float32(1.5), np.int8(3), np.float16(2), 1],
    "large": [2**70, 1, 1e308],
    "objects": [[1], 1],
}


def by_weight(u: Any, v: Any, d: Any) -> Any:
    return 2


def hides(u: Any, v: Any, d: Any) -> Any:
    return None if 0 in (u, v) else 1


def fails(u: Any, v: Any, d: Any) -> Any:
    return d["absent"]


def fails_at_zero(u: Any, v: Any, d: Any) -> Any:
    return 1 if 0 not in (u, v) else 1 / 0


LIMITS = [
    None, math.inf, -math.inf, -1, 0, 0.5, 1.5, 2, math.nan, True, "2", Decimal(1), Fraction(1, 2),
    np.float16(1.5), np.int8(2), 10**30, [1], np.array(2),
]  # fmt: skip
ENDS = [*NODES, "absent", None, [1], {}, math.nan]
ODD: dict[str, list[Any]] = {
    "weight": [None, "weight", "absent", 3, [1], by_weight, hides, fails, fails_at_zero],
    "distance": [None, "weight", "absent", by_weight, hides, 0, 1, 1.5, -1, math.nan, "x"],
    "cutoff": LIMITS,
    "depth_limit": LIMITS,
    "source": ENDS,
    "target": ENDS,
    "sources": [[0], {0, 1}, [0, 0, 1], [], 0, None, ["absent"], [[1]], "b", (2, 3), iter([0, 1])],
    "u": ENDS,
    "v": [*ENDS, [0, 1], [0, "absent"]],
    "nbunch": [None, [0], 0, [], ["absent"], "b"],
    "method": ["dijkstra", "bellman-ford", "unweighted", "floyd-warshall", "x", None],
    "reflexive": [True, False, None, "x"],
    "usebounds": [True, False, None, 1],
    "nodelist": [None, NODES, [0], ["absent"]],
    "heuristic": [None, lambda u, v: 0, lambda u, v: 1, lambda u, v: "x"],
    "return_seen": [None, True, False],
    "reverse": [True, False],
    "wf_improved": [True, False],
    "normalized": [True, False, 0, "x"],
    "endpoints": [True, False, 1],
    "k": [None, 0, 1, 3, 6, 100, -1, 1.5, True],
    "targets": [[0], {0, 1}, [0, 0], [], 0, None, ["absent"], [[1]], "b", iter([0, 1]), range(2)],
    "radius": LIMITS,
    "center": [True, False],
    "undirected": [True, False],
}
#: Other values for some functions.
LIKE: dict[str, dict[str, list[Any]]] = {
    "distance": {"descendants_at_distance": [0, 1, 2, -1, 1.5, math.nan, "x", None, True]},
    "reverse": {"bfs_tree": [False]},
}


@st.composite
def graphs(draw: Any) -> Any:
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))()
    nodes = NODES[: draw(st.integers(0, len(NODES)))]
    graph.add_nodes_from(nodes)
    weights = st.sampled_from(WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))])
    if nodes:
        ends = st.sampled_from(nodes)
        for u, v, w, has in draw(
            st.lists(st.tuples(ends, ends, weights, st.booleans()), max_size=12)
        ):
            graph.add_edge(u, v, **({"weight": w} if has else {}))
    return graph


def arguments(name: str, draw: Callable[[Any], Any]) -> dict[str, Any]:
    """Return arguments for a function, of which some are odd."""
    given: dict[str, Any] = {}
    for parameter in list(_signature(name).parameters.values())[1:]:
        required = parameter.default is parameter.empty
        if parameter.name in ODD and (required or draw(st.booleans())):
            values = LIKE.get(parameter.name, {}).get(name, ODD[parameter.name])
            given[parameter.name] = draw(st.sampled_from(values))
    return {**given, "seed": 8} if "k" in given else given


def outcome(name: str, graph: Any, given: dict[str, Any], where: str) -> Any:
    given = {k: [0, 1] if isinstance(v, Iterator) else v for k, v in given.items()}
    try:
        answer = function(name)(graph, **given, backend=where)
        return list(answer) if isinstance(answer, Iterator) else answer
    except NotImplementedError:
        raise
    except Exception as error:
        return error


def in_floats(value: Any) -> Any:
    """Return a result with all its numbers as floats: which sums are ints depends on the path."""
    if isinstance(value, dict):
        return {key: in_floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(in_floats, value))
    return float(value) if isinstance(value, (int, np.number)) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_odd_calls_are_as_networkx_or_refused(name: str) -> None:
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(graphs(), st.data())
    def check(graph: Any, data: Any) -> None:
        given = arguments(name, data.draw)
        try:
            ours = outcome(name, graph, given, "kleene")
        except NotImplementedError:
            return
        theirs = outcome(name, graph, given, "networkx")
        if isinstance(theirs, Exception):
            assert type(ours) is type(theirs), (given, ours, theirs)
        else:
            assert not isinstance(ours, Exception), (given, ours, theirs)
            if callable(given.get("weight")):  # check_paths needs a name
                return
            named = {"weight": _default_weight(name)} | given
            compare(name, graph, named, in_floats(ours), in_floats(theirs))

    check()


# ---- one by one ---------------------------------------------------------------------------------


def path() -> Any:
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 5, "weight")
    return graph


def parallel() -> Any:
    graph = nx.MultiGraph()
    graph.add_edge(0, 1, weight=2)
    graph.add_edge(2, 3, weight=None)
    graph.add_edge(2, 3, weight=1)
    return graph


def attribute(u: Any, v: Any, d: Any) -> Any:
    return d["weight"]


def third(u: Any, v: Any, d: Any) -> Any:
    return Fraction(1, 3)


@pytest.mark.filterwarnings("ignore:Note. conversions")
@pytest.mark.parametrize(
    ("call", "graph"),
    [
        (lambda g, **k: nx.predecessor(g, 0, cutoff=math.inf, **k), path),
        (lambda g, **k: nx.floyd_warshall_numpy(g, weight=attribute, **k).tolist(), path),
        (lambda g, **k: nx.floyd_warshall(g, weight=attribute, **k), path),
        (lambda g, **k: nx.wiener_index(g, weight=hides, **k), path),
        (lambda g, **k: nx.average_shortest_path_length(g, weight=hides, **k), path),
        (lambda g, **k: nx.astar_path(g, 0, 0, cutoff=-1, **k), path),
        (lambda g, **k: nx.astar_path_length(g, 0, 0, cutoff=-1, **k), path),
        (lambda g, **k: nx.dijkstra_path_length(g, 0, 1, **k), parallel),
        (lambda g, **k: dict(nx.all_pairs_dijkstra_path_length(g, weight=fails_at_zero, **k)),
         lambda: nx.relabel_nodes(nx.path_graph(3), {0: "a"})),
        (lambda g, **k: [*nx.all_pairs_all_shortest_paths(g, "weight", "unweighted", **k)], path),
        (lambda g, **k: dict(nx.all_pairs_dijkstra(g, weight=third, **k)), path),
    ],
)  # fmt: skip
def test_backend_priority_changes_no_result(
    call: Any, graph: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = call(graph(), backend="networkx")
    # Small graphs are not worth a conversion: let the backend run them all the same.
    monkeypatch.setattr(backend, "should_run", lambda name, args, kwargs: True)
    with nx.config(backend_priority=["kleene"]):
        assert call(graph()) == expected


def test_generator_functions_fall_back_to_networkx() -> None:
    found = dict(nx.all_pairs_dijkstra_path_length(path(), weight=third, backend="kleene"))
    assert found[0][2] == Fraction(2, 3)


def test_hyper_wiener_index_of_large_whole_weights() -> None:
    """Squares of these distances exceed 64 bits."""
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 2**40 + 1, "weight")
    ours, theirs = (
        nx.hyper_wiener_index(graph, "weight", backend=backend)
        for backend in ("kleene", "networkx")
    )
    assert ours == theirs


@pytest.mark.parametrize("weight", [2**60 - 1, 2**60, 2**60 + 1, -(2**63)])
@pytest.mark.parametrize("name", ["diameter", "radius", "betweenness_centrality"])
def test_integers_at_the_edge_of_int64(name: str, weight: int) -> None:
    G = nx.path_graph(4)
    nx.set_edge_attributes(G, weight, "weight")
    measure = getattr(nx, name)
    if 0 < weight < 2**60:
        right = measure(G, weight="weight", backend="networkx")
        assert measure(G, weight="weight", backend="kleene") == right
        return
    with pytest.raises(NotImplementedError, match="kleene"):
        measure(G, weight="weight", backend="kleene")


def test_an_overflow_is_left_to_the_next_backend() -> None:
    def too_long(graph: Any, threads: Any) -> Any:
        raise kl.PathOverflowError("path values may reach 1e19")

    graph = backend.convert_from_nx(nx.path_graph(2))
    with pytest.raises(NotImplementedError, match="may reach"):
        measured(graph.unweighted_arcs, too_long, nx.NetworkXError())


@pytest.mark.parametrize("name", ["harmonic_centrality", "global_efficiency"])
def test_hops_are_added_up_without_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_rows(*arguments: Any, **keywords: Any) -> Any:
        raise AssertionError("rows of distances were computed")

    G = nx.star_graph(5)
    G.add_node("alone")
    right = getattr(nx, name)(G, backend="networkx")
    monkeypatch.setattr(measures, "chunks", no_rows)
    found = getattr(nx, name)(G, backend="kleene")
    assert found == pytest.approx(right, rel=1e-12)
    if name == "harmonic_centrality":
        assert (list(found), type(found["alone"])) == (list(right), int)
