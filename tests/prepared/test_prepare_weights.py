"""New weights for prepared graphs: in every form, closed streets, and those that do not fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from prepared_town import STREETS

import kleene as kl


def test_new_weights_in_every_form() -> None:
    g = kl.Graph.from_table(STREETS, directed=False)
    p = kl.prepare(g)
    new = np.array([5, 1, 1, 2, 7])
    right = kl.apsp(g.reweight(rows=new)).distances
    by_arc = g.reweight(rows=new).weights
    for q in (
        p.customize(new),  # five rows, ten arcs: no doubt
        p.customize(rows=new),
        p.customize(by_arc),
        p.customize(arcs=by_arc),
        p.customize(g.reweight(rows=new)),
        p.customize(iter(new)),
    ):
        assert np.array_equal(q.trees().distances, right)
        assert q.graph.weights.tolist() == by_arc.tolist()
        assert q._elimination is p._elimination
    assert np.array_equal(p.trees().distances, kl.apsp(g).distances), "the first is unchanged"
    assert p.customize(1).distance("a", "e") == 2
    assert p.customize(lambda s, t: s + t).distance("a", "b") == 1
    assert p.customize(2.5).dtype == np.float64
    assert p.customize(semiring="boolean").distance("a", "e") is True
    assert p.customize(dtype="float64").distance("a", "e") == 10.0
    assert p.customize().distance("a", "e") == 10


def test_closed_streets() -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g)
    closed = p.customize(rows=[2.0, math.inf, 4, 12, 1])
    assert closed.graph.m == 4
    assert closed.distance("a", "d") == 12
    assert closed.distance("b", "d") == math.inf
    closed.trees().verify()
    assert closed.customize(g).distance("a", "d") == 9, "and open again"
    for closing in (
        p.customize(g.update({("a", "b"): math.inf})),
        p.customize({("a", "b"): math.inf}),
        p.customize(rows={0: math.inf}),
    ):
        assert closing.path("a", "e") == ["a", "d", "e"]
        assert closing.dtype == p.dtype
        assert closing.customize(rows={0: 2}).path("a", "e") == p.path("a", "e")


def test_new_weights_that_do_not_fit() -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g)
    with pytest.raises(kl.GraphError, match="give the column itself"):
        p.customize("minutes")
    with pytest.raises(kl.GraphError, match="rows=array or arcs=array"):
        p.customize([1, 2, 3, 4, 5])
    with pytest.raises(kl.GraphError, match="got 3 weights for 5 arcs"):
        p.customize([1, 2, 3])
    with pytest.raises(kl.GraphError, match="not in the prepared graph"):
        p.customize(kl.Graph.from_edges([0], [4], [1], n=5, labels=g.labels))
    with pytest.raises(kl.GraphError, match="other vertices"):
        p.customize(kl.Graph.from_edges([0], [1], n=5))
    with pytest.raises(kl.GraphError, match="once"):
        p.customize(g, rows=[1, 2, 3, 4, 5])
    with pytest.raises(kl.NegativeCycleError) as found:
        kl.prepare(kl.Graph.from_edges([0, 1], [1, 0], [3, 4], labels=["x", "y"])).customize(
            arcs=[3, -4]
        )
    assert set(found.value.cycle) == {"x", "y"}
    with pytest.raises(kl.GraphError, match="probabilities"):
        p.customize(semiring="max_times")


def test_an_array_where_rows_and_arcs_have_one_order() -> None:
    p = kl.prepare(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]))
    assert p.customize([4, 6, 3]).distance(0, 2) == 6
    assert p.customize(np.array([1, 9, 3])).distance(0, 2) == 4
    sorted_table = {"source": ["a", "a", "b"], "target": ["b", "c", "c"], "weight": [2, 9, 2]}
    assert (
        kl.prepare(kl.Graph.from_table(sorted_table)).customize([2, 3, 2]).distance("a", "c") == 3
    )
    for n in (0, 1):
        assert kl.prepare(kl.Graph.from_edges([], [], [], n=n)).customize([]).graph.m == 0
    other = kl.prepare(kl.Graph.from_edges([1, 0, 0], [2, 1, 2], [3, 4, 9]))
    with pytest.raises(kl.GraphError, match=r"in another order.* rows=array or arcs=array"):
        other.customize([1, 2, 3])


def test_wrong_weights_are_explained() -> None:
    p = kl.prepare(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]))
    for options in ({"arcs": [[1, 1, 1]]}, {"weights": [[1, 1, 1]]}, {"rows": [[1, 1, 1]]}):
        with pytest.raises(kl.GraphError, match=r"each of 3 .* shape \(1, 3\)"):
            p.customize(**options)
    closed = p.customize(arcs=[1, math.inf, 1])
    with pytest.raises(kl.GraphError, match="3 weights for 2 arcs; where an arc was closed"):
        closed.customize(arcs=[1, 1, 1])
    assert closed.customize([1, 1, 1]).graph.m == 3, "by the rows of the table, it is open again"
    for options in ({"rows": {0: 1}, "arcs": [1, 1, 1]}, {"weights": {(0, 1): 7}, "rows": {0: 1}}):
        with pytest.raises(kl.GraphError, match="give the weights once: a dict"):
            p.customize(**options)
    with pytest.raises(kl.GraphError, match=r"customize\(prepared\.graph\)"):
        p.customize(p)


@pytest.mark.parametrize("threads", [0, -1, True, "2", 2.5, 10**9])
def test_threads_are_checked(threads: Any) -> None:
    p = kl.prepare(kl.Graph.from_table(STREETS))
    with pytest.raises(kl.RequestError, match="threads must be an integer"):
        p.customize(arcs=[1, 1, 1, 1, 1], threads=threads)
