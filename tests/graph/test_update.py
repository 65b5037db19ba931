"""Streets close, open again and change: always the graph that a table with these weights gives."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rows import INF, RULES, VALUES, Rows, arcs_of, built, require_same, row_lists, table_of

import kleene as kl
from kleene.graph import Graph

#: A bridge that goes both ways, a slower one beside it, and a one-way street.
BRIDGES: dict[str, Any] = {
    "source": ["a", "b", "b", "c"],
    "target": ["b", "a", "c", "a"],
    "weight": [3, 5, 4, 9],
}


def made(rows: Rows, dtype: str, kind: str) -> Graph:
    if kind != "oneway":
        return built(rows, dtype, kind == "directed")
    return Graph.from_table(table_of(rows, dtype), directed="oneway", nodes={"id": np.arange(4)})


def named(g: Graph) -> dict[tuple[Any, Any], Any]:
    tails, heads, weights = g.coo
    ends = zip(g.label(tails).tolist(), g.label(heads).tolist(), strict=True)
    ones = np.ones(g.m, int) if weights is None else weights
    return dict(zip(ends, ones.tolist(), strict=True))


WAYS = {"directed": [1], "undirected": [0], "oneway": [1, 0, -1]}


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize(
    ("kind", "combine"), [(k, c) for k in WAYS for c in RULES if k != "oneway" or c == "min"]
)
@settings(max_examples=25)
@given(st.data())
def test_rows_change(dtype: str, kind: str, combine: str, data: st.DataObject) -> None:
    rows = data.draw(row_lists(combine, dtype, WAYS[kind]))
    g = made(rows, dtype, kind)
    if not rows.ends:
        return
    values = [v for v in VALUES[dtype] if v == INF or combine != "sum" or abs(v) < 2**20]
    changes = st.dictionaries(
        st.integers(0, len(rows.ends) - 1), st.sampled_from([*values, INF, INF]), max_size=4
    )
    for change in data.draw(st.lists(changes, min_size=1, max_size=4)):
        g = g.update(rows=change)
        for row, weight in change.items():
            rows.weights[row] = weight
        require_same(g, rows)
        assert g.weight_dtype == dtype or combine == "sum"
    column = [values[0]] * len(rows.ends)
    require_same(
        g.reweight(rows=np.array(column, dtype)), Rows(rows.ends, column, rows.ways, combine)
    )


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_a_pair_is_all_rows_from_one_to_the_other(kind: str, data: st.DataObject) -> None:
    rows = data.draw(row_lists("min", "int32", WAYS[kind]))
    g = made(rows, "int32", kind)
    for pair in data.draw(st.permutations(sorted(rows.arcs())))[:3]:
        if pair not in rows.arcs():  # closed with another one
            continue
        leading = rows.between()[pair]
        if len(leading) > 1:
            with pytest.raises(kl.GraphError, match="rows of the table lead from"):
                g.update({pair: 7})
        else:
            g = g.update({pair: 7})
            rows.weights[leading[0]] = 7
            require_same(g, rows)
        if pair not in rows.arcs():  # a loop is no negative one any more
            continue
        g = g.update({pair: INF})
        for row in leading:
            rows.weights[row] = INF
        require_same(g, rows)


@pytest.mark.parametrize("directed", [False, "oneway"])
def test_one_bridge_has_one_meaning(directed: Any) -> None:
    """Whether or not another street of the table is one-way, both directions close, of both."""
    table = {**BRIDGES, "oneway": [0, 0, 0, 1]}
    g = Graph.from_table(table, directed=directed)
    left = {("b", "c"): 4, ("c", "b"): 4, ("c", "a"): 9}
    left |= {} if directed else {("a", "c"): 9}
    for pair in (("a", "b"), ("b", "a")):
        assert named(g.update({pair: INF})) == left
        assert named(g.update(rows={0: INF})) == left | {("a", "b"): 5, ("b", "a"): 5}
    assert named(g.update({("b", "c"): 1}))["c", "b"] == 1
    assert g.update(rows={0: INF}).arc_rows.rows[0] == 1


def test_a_street_opens_again() -> None:
    g = Graph.from_table(BRIDGES, directed=False)
    closed = g.update(rows={0: INF, 1: INF})
    assert closed.m == g.m - 2
    assert closed.weight_dtype == g.weight_dtype
    with pytest.raises(kl.GraphError, match=r"no arc from 'a' to 'b'; row 0 .* opens it"):
        closed.update({("a", "b"): 1})
    for reopened in (closed, pickle.loads(pickle.dumps(closed))):
        again = reopened.update(rows={1: 6})
        assert named(again)["a", "b"] == 6
        assert again.arc_rows.rows[0] == 1
        assert again.update(rows={0: 3, 1: 5}).equals(g)
    assert closed.reweight(rows=BRIDGES["weight"]).equals(g)


def test_a_street_opens_beside_another_one() -> None:
    """While it was closed, the other was alone on its arcs, and needed no weight of its own."""
    one_each = Graph.from_edges([0, 1], [1, 0], [3, 5])
    alone = one_each.update(rows={1: INF}).symmetrise()
    for weight, row in ((2, 1), (3, 0), (4, 0)):
        opened = alone.update(rows={1: weight})
        assert opened.weights.tolist() == [min(weight, 3)] * 2
        assert opened.arc_rows.rows.tolist() == [row] * 2
        assert opened.update(rows={0: INF}).weights.tolist() == [weight] * 2


def test_parts_and_reversed_graphs() -> None:
    g = Graph.from_table(BRIDGES)
    back = g.transpose().update({("b", "a"): 8})
    assert named(back) == {("b", "a"): 8, ("a", "b"): 5, ("c", "b"): 4, ("a", "c"): 9}
    part = g.subgraph(["b", "c"])
    assert named(part.update(rows={2: 11})) == {("b", "c"): 11}
    assert part.update(rows={2: INF}).m == 0
    assert part.update(rows={2: INF}).update(rows={2: 3}).m == 1
    with pytest.raises(kl.GraphError, match="row 1 of the table is not in this graph"):
        part.update(rows={1: INF})


def test_types_hold_what_they_get() -> None:
    narrow = Graph.from_edges([0, 1], [1, 2], np.array([1, 2], np.int32))
    for g in (narrow, Graph.from_edges(*narrow.coo, keep_rows=False)):
        for weight, dtype in (
            (7, np.int32), (2**40, np.int64), (0.5, np.float64), (INF, np.int32), (3.0, np.int32),
        ):  # fmt: skip
            assert g.update({(0, 1): weight}).weight_dtype == dtype
        assert g.update({(0, 1): INF, (1, 2): 2**40}).weights.tolist() == [2**40]
    wide = Graph.from_edges([0, 1], [1, 2], [2**60 + 1, 2])
    assert wide.update({(1, 2): INF}).weights.tolist() == [2**60 + 1]
    with pytest.raises(kl.GraphError, match="integer weights that float64 does not hold"):
        wide.update({(1, 2): 0.5})
    single = Graph.from_edges([0], [1], np.array([1], np.float32))
    assert single.update({(0, 1): np.float32(0.1)}).weight_dtype == np.float32


def test_a_graph_without_weights() -> None:
    hops = Graph.from_edges([0, 1, 1], [1, 2, 2])
    assert hops.update({(0, 1): 5}).weights.tolist() == [5, 1]
    closed = hops.update(rows={1: INF})
    assert (closed.m, closed.weights, closed.arc_rows.rows.tolist()) == (2, None, [0, 2])
    closed = closed.update(rows={2: INF})
    assert (closed.m, closed.weights) == (1, None)
    opened = closed.update(rows={1: 7})
    assert opened.weights.tolist() == [1, 7]
    assert opened.arc_rows.rows.tolist() == [0, 1]
    dropped = Graph.from_edges([0, 0], [1, 1], [INF, 4]).reweight(None).update(rows={1: 3.5})
    assert dropped.weights.tolist() == [3.5]


@pytest.mark.parametrize("directed", [True, False])
def test_without_rows_a_pair_is_an_arc(directed: bool) -> None:
    g = Graph.from_edges([0, 0, 1], [1, 1, 2], [3, 5, 4], directed=directed, keep_rows=False)
    new = g.update({(0, 1): 9, (1, 2): INF})
    assert arcs_of(new) == {(0, 1): 9} | ({} if directed else {(1, 0): 9})
    assert new.directed == directed
    if directed:
        assert g.reweight(arcs=[-1, 2]).update({(0, 1): 3}).m == 2
    else:
        assert g.update({(0, 1): 9, (1, 0): 9}).weights[0] == 9
        with pytest.raises(kl.GraphError, match=r"edge between . and . would get two diff"):
            g.update({(0, 1): 9, (1, 0): INF})
    with pytest.raises(kl.GraphError, match="does not know the rows of its table"):
        g.update(rows={0: 1})
    loop = Graph.from_edges([0, 0], [0, 1], [-1, 2], keep_rows=False)
    assert loop.update({(0, 0): 1}).m == 1


def test_weights_by_arc_hide_those_of_parallel_rows() -> None:
    g = Graph.from_edges([0, 0, 1], [1, 1, 2], [3, 5, 4])
    by_arc = g.reweight(arcs=[30, 40])
    assert by_arc.arc_rows.rows.tolist() == [0, 2]
    with pytest.raises(
        kl.GraphError, match=r"row 1 .* from 0 to 1, too, and its weight is unknown"
    ):
        by_arc.update(rows={0: INF})
    assert by_arc.update({(0, 1): INF}).weights.tolist() == [40]
    assert by_arc.update(rows={2: 7}).weights.tolist() == [30, 7]
    both = by_arc.update(rows={0: 8, 1: 6})
    assert (both.weights.tolist(), both.arc_rows.rows.tolist()) == ([6, 40], [1, 2])
    with pytest.raises(kl.GraphError, match="weight is unknown"):
        Graph.from_edges([0, 0], [1, 1]).reweight(7).update(rows={0: INF})
    assert by_arc.reweight(rows=[1, 2, 3]).update(rows={0: INF}).weights.tolist() == [2, 3]
    lost = g.reweight(arcs=[INF, 4])
    with pytest.raises(kl.GraphError, match="weight is unknown"):
        lost.update(rows={1: 2})
    assert lost.update(rows={2: INF}).m == 0
    apart = Graph.from_edges([0], [1], [3], directed=False).reweight(arcs=[3, 4])
    with pytest.raises(kl.GraphError, match="the two arcs between 0 and 1 weigh 3 and 4"):
        apart.update({(0, 1): 5})
    assert apart.update(rows={0: 5}).weights.tolist() == [5, 5]
    assert apart.update({(1, 0): INF}).m == 0


def test_what_is_refused() -> None:
    g = Graph.from_table(BRIDGES, directed=False)
    ways: Any = {"source": ["a"], "target": ["b"], "weight": [1], "oneway": [0]}
    two_way = Graph.from_table(ways, directed="oneway")
    for graph in (two_way, Graph.from_table(ways, directed=False)):
        for other in (2, INF):
            with pytest.raises(kl.GraphError, match=r"row 0 .* goes both ways, and its two direct"):
                graph.update({("a", "b"): 1, ("b", "a"): other})
        assert graph.update({("a", "b"): 2, ("b", "a"): 2}).weights.tolist() == [2, 2]
    refused: list[tuple[Any, Any, str]] = [
        ({("a", "b"): 7}, None, r"2 rows of the table lead from 'a' to 'b': 0, 1; say which"),
        ({("a", "q"): 1}, None, "no vertex 'q'"),
        ({("a", "a"): 1}, None, "no arc from 'a' to 'a'$"),
        ({"a": 1}, None, "the keys of update must be pairs"),
        ({17: INF}, None, r"the keys of update must be pairs .*update\(rows="),
        ({("b", "c"): float("nan")}, None, r"the new weight of \('b', 'c'\) is nan"),
        ({("b", "c"): [1, 2]}, None, "must be one number"),
        ([("a", "b", 1)], None, r"update takes a dict \{\(source, target\): weight\}"),
        (None, None, "give the changes either by pair"),
        ({("a", "b"): INF}, {0: INF}, "give the changes either by pair"),
        (None, [INF, 2, 3, 4], r"takes a dict \{row: weight\}, not list; .* reweight\(rows="),
        (None, {4: INF}, "there is no row 4: the table has the rows 0 to 3"),
        (None, {-1: INF}, "there is no row -1"),
        (None, {1.0: INF}, "must be numbers of rows, not 1.0"),
        (None, {True: INF}, "must be numbers of rows, not True"),
        (None, {0: -INF}, "the new weight of 0 is -inf"),
        (None, {0: "7"}, "holds text, such as '7'"),
    ]
    for changes, rows, message in refused:
        with pytest.raises(kl.GraphError, match=message):
            g.update(changes, rows=rows)
    assert g.update({}) is g
    assert g.update(rows={}) is g


# ---- columns with an index ------------------------------------------------------------------


def test_a_column_of_pandas_is_taken_by_its_index() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"source": list("cab"), "target": list("abc"), "weight": [9, 3, 4]})
    minutes = table["weight"] * 10
    shuffled, filtered = table.loc[[2, 0, 1]], table.set_axis([7, 3, 5])
    for g in (
        Graph.from_table(table),
        Graph.from_table(table.to_dict("list")),
        Graph.from_edges(np.array([2, 0, 1]), np.array([0, 1, 2]), [9, 3, 4]),
    ):
        right = g.reweight(rows=[90, 30, 40])
        for column in (minutes, minutes.sort_values(), minutes.loc[[1, 2, 0]], minutes.to_numpy()):
            assert g.reweight(rows=column).equals(right)
            assert kl.prepare(g).customize(rows=column).graph.equals(right)
        for other in (minutes.set_axis([7, 3, 5]), minutes.set_axis(["x", "y", "z"])):
            with pytest.raises(kl.GraphError, match=r"rows= has an index .*\.to_numpy\(\)"):
                g.reweight(rows=other)
            assert g.reweight(rows=other.to_numpy()).equals(right)
        with pytest.raises(kl.GraphError, match="got 2 weights for 3 rows"):
            g.reweight(rows=minutes[:2])
        with pytest.raises(kl.GraphError, match="arcs= has an index"):
            g.reweight(arcs=minutes.set_axis([7, 3, 5]))
    for rows_there in (shuffled, filtered):
        g = Graph.from_table(rows_there)
        right = g.reweight(rows=rows_there["weight"].to_numpy() * 10)
        for same in (g, pickle.loads(pickle.dumps(g)), g.transpose().transpose()):
            assert same.reweight(rows=rows_there["weight"] * 10).equals(right)
            with pytest.raises(kl.GraphError, match="rows= has an index"):
                same.reweight(rows=(rows_there["weight"] * 10).sort_index())
    by_columns = Graph.from_edges(shuffled.weight * 0, shuffled.weight, shuffled.weight)
    with pytest.raises(kl.GraphError, match="rows= has an index"):
        by_columns.reweight(rows=shuffled["weight"].sort_index())


CYCLE = Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 1, 1])

#: Calls with columns of pandas that go together: a street's ends and its weight, say.
TOGETHER: dict[str, Callable[[Any, Any], Any]] = {
    "arrays": lambda t, w: Graph.from_edges(t.source, t.target, w).csr,
    "a tuple": lambda t, w: Graph.from_any((t.source, t.target, w)).csr,
    "a dict": lambda t, w: Graph.from_table(
        {"source": t.source, "target": t.target, "weight": w}
    ).csr,
    "demand": lambda t, w: kl.loads(CYCLE, (t.source, t.target, w)).arcs,
    "a dict of demand": lambda t, w: kl.loads(
        CYCLE, {"origin": t.source, "destination": t.target, "volume": w}
    ).arcs,
    "CSR": lambda t, w: Graph.from_csr([0, 1, 2, 3], t.target, w).csr,
    "a dict of nodes": lambda t, w: Graph.from_table(
        {"source": [0], "target": [1]}, nodes={"id": t.source, "x": w, "y": w}
    ).positions,
    "turns": lambda t, w: kl.TurnGraph(
        CYCLE, {"from": t.source, "via": t.target, "to": (t.target + 1) % 3, "delay": w}
    ).expanded.csr,
}  # fmt: skip


@pytest.mark.parametrize("door", TOGETHER)
def test_columns_that_go_together_are_in_one_order(door: str) -> None:
    """As in a DataFrame that is made of them: a weight goes to no other edge."""
    pd = pytest.importorskip("pandas")
    call = TOGETHER[door]
    plain = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "weight": [5, 6, 7]})
    weight = plain["weight"]
    right = call(plain, weight)
    for column in (weight.sort_values(ascending=False), weight.to_numpy(), weight.tolist()):
        np.testing.assert_equal(call(plain, column), right)
    for table in (plain.set_axis(["x", "y", "z"]), plain.loc[[0, 2, 1]]):
        np.testing.assert_equal(call(table, table["weight"]), call(table, table["weight"].tolist()))
        with pytest.raises(kl.GraphError, match="has an index that does not match the rows"):
            call(table, table["weight"].sort_values(ascending=False))


#: Calls with a column, or a table, that has an entry for each vertex.
BY_VERTEX: dict[str, Callable[[Graph, Any], Any]] = {
    "positions": lambda g, c: g.with_positions(c.to_frame("x").assign(y=1)).positions,
    "positions of pictures": lambda g, c: str(kl.draw(g, positions=c.to_frame("x").assign(y=1))),
    "spmv": kl.spmv,
    "spmv over a semiring": lambda g, c: kl.spmv(g, c, "max_min"),
}


@pytest.mark.parametrize("door", BY_VERTEX)
def test_a_column_of_vertices_is_taken_by_its_index(door: str) -> None:
    pd = pytest.importorskip("pandas")
    call, column = BY_VERTEX[door], pd.Series([5, 6, 8])
    named = Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], labels=["a", "b", "c"])
    right = call(CYCLE, column), call(named, column)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        np.testing.assert_equal(call(CYCLE, column.loc[order]), right[0])
        by_name = column.set_axis(["a", "b", "c"]).iloc[order]
        np.testing.assert_equal(call(named, by_name), right[1])
    for index in ([7, 3, 5], [0, 0, 1], ["a", "b", "d"], [0.5, 1, 2]):
        other = column.set_axis(index)
        for g in (CYCLE, named):
            with pytest.raises(kl.GraphError, match="= has an index that does not match the ver"):
                call(g, other)


def test_labels_of_pandas_are_taken_by_their_index() -> None:
    pd = pytest.importorskip("pandas")
    names = pd.Series(["a", "b", "c"])
    for labels in (names, names.loc[[2, 0, 1]], names.to_numpy()):
        assert list(Graph.from_edges([0, 1], [1, 2], labels=labels).labels) == ["a", "b", "c"]
        assert list(Graph.from_csr([0, 1, 1, 1], [1], labels=labels).labels) == ["a", "b", "c"]
    for index in ([7, 3, 5], ["x", "y", "z"], [0, 0, 1]):
        with pytest.raises(kl.GraphError, match=r"labels= has an index .* the vertices;.*numpy"):
            Graph.from_edges([0, 1], [1, 2], labels=names.set_axis(index))
    with pytest.raises(kl.GraphError, match="got 2 labels for 3 vertices"):
        Graph.from_edges([0, 1], [1, 2], labels=names[1:])


def test_files_keep_what_updates_need(tmp_path: Any) -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(BRIDGES).loc[[1, 0, 2, 3]]
    g = Graph.from_table(table, directed=False)
    for there in (g, g.update(rows={0: INF}), g.reweight(arcs=np.arange(1, g.m + 1))):
        kl.write(there, tmp_path / "g.npz")
        back = kl.read(tmp_path / "g.npz")
        assert back.equals(there)
        assert back.arc_rows.rows.tolist() == there.arc_rows.rows.tolist()
        assert back.rows.by_arc == there.rows.by_arc
        with pytest.raises(kl.GraphError, match="rows= has an index"):
            back.reweight(rows=table["weight"].sort_index())
        if not there.rows.by_arc:
            assert back.update(rows={1: 9}).equals(there.update(rows={1: 9}))
