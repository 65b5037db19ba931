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
    assert p.customize(g.update({("a", "b"): math.inf})).path("a", "e") == ["a", "d", "e"]


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


@pytest.mark.parametrize("threads", [0, -1, True, "2", 2.5, 10**9])
def test_threads_are_checked(threads: Any) -> None:
    p = kl.prepare(kl.Graph.from_table(STREETS))
    with pytest.raises(kl.RequestError, match="threads must be a whole number"):
        p.customize(arcs=[1, 1, 1, 1, 1], threads=threads)
