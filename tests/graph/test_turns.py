"""Graphs with turns beside a search over arcs, in which every turn is an edge."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import Graph, GraphError, NegativeCycleError, RequestError, TurnGraph

Arc = tuple[int, int]
Delays = dict[tuple[Arc, Arc], float]


def line_graph(g: Graph, delays: Delays) -> Any:
    """Return the graph of the arcs: an edge for each turn that is allowed."""
    arcs = graphs.arcs_of(g)
    lines = nx.DiGraph()
    lines.add_nodes_from(arcs)
    for a in arcs:
        for b in arcs:
            delay = delays.get((a, b), 0)
            if a[1] == b[0] and delay != math.inf:
                lines.add_edge(a, b, weight=arcs[b] + delay)
    for v in range(g.n):  # the beginnings of paths
        lines.add_node(v)
        for b in arcs:
            if b[0] == v:
                lines.add_edge(v, b, weight=arcs[b])
    return lines


def expected(g: Graph, delays: Delays) -> Any:
    lines = line_graph(g, delays)
    rows = np.full((g.n, g.n), np.inf)
    for source in range(g.n):
        lengths = nx.single_source_bellman_ford_path_length(lines, source)
        rows[source, source] = 0
        for arc, length in lengths.items():
            if isinstance(arc, tuple):
                rows[source, arc[1]] = min(rows[source, arc[1]], length)
    return rows


def length(g: Graph, delays: Delays, path: list[int]) -> float:
    arcs = graphs.arcs_of(g)
    ways = list(pairwise(path))
    return sum(arcs[a] for a in ways) + sum(delays.get(turn, 0) for turn in pairwise(ways))


def u_turn_delays(g: Graph, u_turns: Any) -> Delays:
    arcs = graphs.arcs_of(g)
    degree = np.diff(g.offsets)
    forbidden = u_turns in ("forbidden", math.inf)
    return {
        ((u, v), (v, u)): math.inf if forbidden else u_turns
        for u, v in arcs
        if u_turns is not None and (v, u) in arcs and not (forbidden and degree[v] == 1)
    }


@st.composite
def cases(draw: Any) -> tuple[Graph, dict[str, list[Any]], Any, Delays]:
    """Return a graph, a table of turns, u_turns=, and the delay of every turn."""
    n = draw(st.integers(1, 6))
    vertex = st.integers(0, n - 1)
    ends = [e for e in draw(st.lists(st.tuples(vertex, vertex), max_size=14)) if e[0] != e[1]]
    kind = draw(st.sampled_from(["none", "ints", "floats"]))
    weights: Any = None if kind == "none" else [draw(st.integers(0, 9)) for _ in ends]
    if kind == "floats":
        weights = [w / 4 for w in weights]
    tails, heads = [u for u, _ in ends], [v for _, v in ends]
    g = Graph.from_edges(tails, heads, weights, n=n, directed=draw(st.booleans()))
    arcs = list(graphs.arcs_of(g))
    pairs = [(a, b) for a in arcs for b in arcs if a[1] == b[0]]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=10)) if pairs else []
    values = st.sampled_from([0, 1, 3, 0.5, math.inf, None])
    table: dict[str, list[Any]] = {"from": [], "via": [], "to": [], "delay": []}
    u_turns = draw(st.sampled_from([None, "forbidden", math.inf, 2, 0.25]))
    listed: Delays = {}
    for a, b in chosen:
        delay = draw(values)
        for name, value in zip(table, (a[0], a[1], b[1], delay), strict=True):
            table[name].append(value)
        delay = math.inf if delay is None else delay
        listed[a, b] = max(delay, listed.get((a, b), -math.inf))
    return g, table, u_turns, u_turn_delays(g, u_turns) | listed


@given(cases())
def test_random_graphs_beside_a_search_over_arcs(
    case: tuple[Graph, dict[str, list[Any]], Any, Delays],
) -> None:
    g, table, u_turns, delays = case
    turned = TurnGraph(g, table, u_turns=u_turns)
    want = expected(g, delays)
    r = turned.apsp()
    np.testing.assert_array_equal(r.floats, want)
    r.verify()
    for source in range(g.n):
        one = turned.sssp(source)
        np.testing.assert_array_equal(one.floats, want[source])
        for target, path in enumerate(one.paths()):
            assert path == one.path(target)
            if not path:
                assert want[source, target] == math.inf
                continue
            assert (path[0], path[-1]) == (source, target)
            for found in (path, r.path(source, target)):
                assert length(g, delays, found) == want[source, target]
    few = turned.sssp(0, targets=[g.n - 1])
    np.testing.assert_array_equal(few.floats, want[0, [g.n - 1]])


def block() -> Graph:
    """Return a street from a over b to x, and a block to go around from b."""
    streets = {
        "source": ["a", "b", "b", "c", "d", "e"],
        "target": ["b", "x", "c", "d", "e", "b"],
        "weight": [10, 10, 4, 4, 4, 4],
    }
    return Graph.from_table(streets, weight="weight")


def test_around_the_block() -> None:
    """A path may visit a vertex twice: three right turns in the place of a left one."""
    g = block()
    turned = TurnGraph(g, {"from": ["a"], "via": ["b"], "to": ["x"]})
    assert repr(turned) == "TurnGraph(6 vertices, 6 arcs, 1 turn forbidden, 1 vertex split)"
    assert turned.expanded.n == g.n + 1
    r = turned.sssp("a")
    assert r.path("x") == ["a", "b", "c", "d", "e", "b", "x"]
    route = r.route("x")
    assert (route.distance, route.rows.tolist()) == (36, [0, 2, 3, 4, 5, 1])
    assert kl.sssp(g, "a").path("x") == ["a", "b", "x"]
    assert turned.sssp("b").path("x") == ["b", "x"]  # what begins at b makes no turn
    late = TurnGraph(g, {"from": ["a"], "via": ["b"], "to": ["x"], "delay": [3.5]})
    assert late.sssp("a").route("x").distance == 23.5
    assert repr(late).endswith("0 turns forbidden, 1 turn delayed, 1 vertex split)")
    slow = TurnGraph(g, {"from": ["a"], "via": ["b"], "to": ["x"], "delay": [99]})
    assert slow.sssp("a").path("x") == r.path("x")
    assert slow.sssp("a").distances.dtype == np.int64
    narrow = g.reweight(arcs=g.weights.astype(np.int32))
    for delay, dtype in ((5, np.int32), (2**31, np.int64), (0.5, np.float64)):
        turn = {"from": ["a"], "via": ["b"], "to": ["x"], "delay": [delay]}
        assert TurnGraph(narrow, turn).expanded.weight_dtype == dtype


def test_turns_by_streets() -> None:
    """Rows of the table name the streets; the vertex where they meet need not be said."""
    g = block()
    by_rows = TurnGraph(g, {"from_row": [0], "to_row": [1]})
    assert by_rows.sssp("a").route("x").distance == 36
    both = {"source": [1, 2, 2], "target": [2, 3, 4], "weight": [1, 1, 1]}
    roads = Graph.from_table(both, weight="weight", directed=False)
    turned = TurnGraph(roads, {"from_row": [0, 1], "to_row": [1, 1], "delay": [math.nan, 7]})
    r = turned.apsp([1, 2, 3, 4])
    # From 1 no turn at 2 into the street to 3; a detour over 4 turns back there, which is free.
    assert r.distances.tolist() == [[0, 1, 4, 2], [1, 0, 1, 1], [2, 1, 0, 2], [2, 1, 2, 0]]
    assert r.path(1, 3) == [1, 2, 4, 2, 3]
    assert r.path(3, 1) == [3, 2, 1]  # the turn the other way is another one
    assert r.sources.tolist() == [1, 2, 3, 4]


def test_streets_that_meet_twice_are_told_apart_by_via() -> None:
    ends = {"source": ["a", "b", "b"], "target": ["b", "a", "c"], "weight": [1, 5, 1]}
    g = Graph.from_table(ends, weight="weight")
    both = {"from_row": [0, 1], "to_row": [1, 0]}
    assert "2 turns forbidden" in repr(TurnGraph(g, both))
    one = TurnGraph(g, {"from_row": [0, 0], "to_row": [1, 2], "via": ["b", "b"]})
    assert "2 turns forbidden" in repr(one)
    with pytest.raises(GraphError, match=r"row 0 of the turns \(from_row 0, to_row 1\)"):
        TurnGraph(g, {"from_row": [0], "to_row": [1], "via": ["a"]})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_all_kinds(library: str) -> None:
    columns: dict[str, Any] = {
        "from": ["a", "e"], "via": ["b", "b"], "to": ["x", "x"], "delay": [None, 2],
    }  # fmt: skip
    module = pytest.importorskip(library)
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    r = TurnGraph(block(), table).sssp("a")
    assert r.route("x").distance == 38
    if library == "pandas":
        nullable = table.assign(delay=module.array([None, 2], dtype="Int64"))
        assert TurnGraph(block(), nullable).sssp("a").route("x").distance == 38


def test_u_turns() -> None:
    g = Graph.from_edges([0, 1, 1], [1, 2, 3], [1, 1, 5], directed=False)
    no_turn = {"from": [0], "via": [1], "to": [3]}  # go to 2, turn there, and come back
    assert TurnGraph(g, no_turn).sssp(0).path(3) == [0, 1, 2, 1, 3]
    assert TurnGraph(g, no_turn, u_turns=3).sssp(0).distances[3] == 11
    dead_end = TurnGraph(g, no_turn, u_turns="forbidden").sssp(0)
    assert dead_end.path(3) == [0, 1, 2, 1, 3]  # 2 is a dead end: there is no other way out
    square = kl.generate.cycle(4)
    assert not square.directed
    closed = TurnGraph(square, {"from": [0], "via": [1], "to": [2]}, u_turns="forbidden")
    assert closed.sssp(0).path(2) == [0, 3, 2]
    own = {"from": [1], "via": [2], "to": [1], "delay": [0]}  # the table goes first
    assert "7 turns forbidden" in repr(TurnGraph(square, own, u_turns="forbidden"))


def test_the_graph_grows_only_where_turns_are() -> None:
    g = kl.generate.grid(30, 30, weights=(1, 9), seed=3)
    turned = TurnGraph(g, {"from": [0, 31], "via": [1, 32], "to": [31, 33]})
    assert (turned.expanded.n, turned.expanded.m) == (902, g.m + 3 - 2 + 4)
    assert TurnGraph(g).expanded.equals(g.unlabelled())


def test_negative_delays_and_cycles() -> None:
    g = Graph.from_edges([0, 1, 2, 1], [1, 2, 1, 3], [1, 1, 1, 9])
    bonus = TurnGraph(g, {"from": [0], "via": [1], "to": [3], "delay": [-4]})
    assert bonus.sssp(0).distances.tolist() == [0, 1, 2, 6]
    cycle = TurnGraph(g, {"from": [1], "via": [2], "to": [1], "delay": [-4]})
    with pytest.raises(NegativeCycleError):
        cycle.sssp(0)
    named = Graph.from_table({"source": list("abcb"), "target": list("bcbd"), "weight": [1] * 4})
    turned = TurnGraph(named, {"from": ["b"], "via": ["c"], "to": ["b"], "delay": [-4]})
    with pytest.raises(NegativeCycleError) as caught:
        turned.sssp("a")
    assert sorted(caught.value.cycle) == ["b", "c"]  # by label, and not as copies of vertices


def test_results_are_results() -> None:
    r = TurnGraph(block(), {"from": ["a"], "via": ["b"], "to": ["x"]}).apsp(["a", "c"], ["x", "a"])
    frame = r.to_frame()
    assert frame.index.tolist() == ["a", "c"]
    assert frame.columns.tolist() == ["x", "a"]
    assert frame.loc["a", "x"] == 36
    assert r.floats.tolist() == [[36, 0], [22, math.inf]]
    assert [route.distance for route in r.routes(["x"], source="c")] == [22]
    assert repr(r).startswith("TurnResult(apsp by ")
    assert r.predecessors is None
    with pytest.raises(RequestError, match="no predecessors"):
        _ = r.next_hops
    with pytest.raises(RequestError, match="as a table"):
        r.save("x.npz")
    with pytest.raises(RequestError, match="not among the targets"):
        r.path("a", "b")
    none = TurnGraph(Graph.from_edges([], []))
    assert none.apsp().distances.shape == (0, 0)
    assert repr(none) == "TurnGraph(0 vertices, 0 arcs, 0 turns forbidden, 0 vertices split)"


def test_wrong_arguments() -> None:
    g = block()
    turn = {"from": ["a"], "via": ["b"], "to": ["x"]}
    with pytest.raises(GraphError, match=r"row 0 of the turns \(from 'b', via 'a', to 'x'\)"):
        TurnGraph(g, {"from": ["b"], "via": ["a"], "to": ["x"]})
    ignored = TurnGraph(g, {"from": ["b"], "via": ["a"], "to": ["x"]}, missing="ignore")
    assert ignored.expanded.n == g.n
    with pytest.raises(GraphError, match="'q'"):
        TurnGraph(g, {"from": ["a"], "via": ["q"], "to": ["x"]})
    with pytest.raises(GraphError, match="no column 'to'"):
        TurnGraph(g, {"from": ["a"], "via": ["b"]})
    with pytest.raises(GraphError, match="this one has 'dealy'"):
        TurnGraph(g, turn | {"dealy": [1]})
    with pytest.raises(GraphError, match="differ in length"):
        TurnGraph(g, turn | {"delay": [1, 2]})
    with pytest.raises(GraphError, match="must hold numbers"):
        TurnGraph(g, turn | {"delay": ["long"]})
    with pytest.raises(GraphError, match="minus infinity"):
        TurnGraph(g, turn | {"delay": [-math.inf]})
    with pytest.raises(GraphError, match="must hold row numbers"):
        TurnGraph(g, {"from_row": ["a"], "to_row": [1]})
    with pytest.raises(GraphError, match="made from no table"):
        TurnGraph(kl.generate.grid(2, 2), {"from_row": [0], "to_row": [1]})
    with pytest.raises(GraphError, match="expected a table"):
        TurnGraph(g, 3)
    for u_turns in ("no", True, math.nan, -math.inf, [1]):
        with pytest.raises(RequestError, match="u_turns must be a delay"):
            TurnGraph(g, turn, u_turns=u_turns)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="missing must be"):
        TurnGraph(g, turn, missing="skip")  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=r"expected a kleene\.Graph"):
        TurnGraph(turn)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=r"searches of its own: turn_graph\.sssp"):
        kl.sssp(TurnGraph(g, turn), "a")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="does not take reverse="):
        TurnGraph(g, turn).sssp("a", reverse=True)
    with pytest.raises(RequestError, match="sssp needs a source"):
        TurnGraph(g, turn).sssp()
