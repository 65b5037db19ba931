"""Labels that climb and sweep: the k nearest facilities of all vertices, against searches."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from prepared_reference import customize, eliminate
from prepared_streets import ONE, copy_of, is_eliminated, streets

import kleene as kl
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import Plan, plan_call
from kleene.prepared.cache import Preparation
from kleene.prepared.near import nearest_labels


def wanted(distances: Any, k: int, limit: int) -> list[tuple[int, int]]:
    """Return the first k of the facilities within the limit: nearest first, then by the list."""
    near = [(int(d), f) for f, d in enumerate(distances) if d <= limit]
    return sorted(near)[:k]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("threads", [1, 3])
def test_random_graphs_in_random_orders(dtype: Any, threads: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(25):
        n = int(rng.integers(1, 60))
        m = int(rng.integers(0, 4 * n))
        ends = rng.integers(0, n, (2, m))
        g = kl.Graph.from_edges(*ends, rng.integers(0, 9, m).astype(dtype), n=n)
        elimination = eliminate(g, rng.permutation(n).tolist())
        values = customize(g, elimination, dtype=dtype)
        facilities = rng.integers(0, n, int(rng.integers(1, 12)))
        k, limit = int(rng.integers(1, 6)), int(rng.choice([0, 5, 12, 2**30]))
        distances, which = nearest_labels(
            elimination, values, facilities, k, limit=limit, threads=threads
        )
        rows = kl.sssp(g, sources=facilities, predecessors=False).distances
        for v in range(n):
            found = [(int(d), int(f)) for d, f in zip(distances[v], which[v], strict=True)]
            near = wanted(rows[:, v], k, min(limit, 2**30))
            nothing = [(np.iinfo(dtype).max, -1)] * (k - len(near))
            assert found == near + nothing


def test_lengths_near_the_end_of_the_type() -> None:
    """Sums that would wrap are no paths: half the largest value stands for "no path" inside."""
    most = np.iinfo(np.int32).max // 2
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([most - 2, 1, 1], np.int32))
    elimination = eliminate(g, [1, 2, 0, 3])
    values = customize(g, elimination, dtype=np.int32)
    distances, which = nearest_labels(elimination, values, np.array([0, 1]), 2)
    none = np.iinfo(np.int32).max
    assert distances.tolist() == [[0, none], [0, most - 2], [1, most - 1], [2, none]]
    assert which.tolist() == [[0, -1], [1, 0], [1, 0], [1, -1]]


def test_arrays_of_other_sizes_are_refused() -> None:
    from kleene import _native

    g = kl.Graph.from_edges([0, 1], [1, 2], [3, 4])
    elimination = eliminate(g, [0, 1, 2])
    values = customize(g, elimination, dtype=np.int64)
    arrays = [
        elimination.offsets, elimination.heads, elimination.parents, elimination.sizes,
        *elimination.lower, values.up, values.down, np.zeros(1, np.int32),
    ]  # fmt: skip
    out = np.empty((3, 2), np.int64), np.empty((3, 2), np.int32)
    _native.prepared_nearest_labels(*arrays, 9, *out, 1, None)
    for short in range(9):
        wrong = [a[:-1] if i == short else a for i, a in enumerate(arrays)]
        with pytest.raises(TypeError):
            _native.prepared_nearest_labels(*wrong, 9, *out, 1, None)
    with pytest.raises(TypeError):
        _native.prepared_nearest_labels(*arrays, 9, out[0], out[1][:, :1].copy(), 1, None)


# ---- calls --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_the_nearest_facilities_of_a_prepared_graph(reverse: bool) -> None:
    g = streets()
    facilities = np.random.default_rng(4).integers(0, g.n, 90)
    plain = kl.nearest(copy_of(g), facilities, 5, reverse=reverse)
    assert plain.plan.method == "k_labels"
    kl.apsp(g, predecessors=False, **ONE)
    found = kl.nearest(g, facilities, 5, reverse=reverse)
    assert found.plan.method == "prepared"
    assert np.array_equal(found.distances, plain.distances)
    assert np.array_equal(found.which, plain.which)
    assert found.which.dtype == plain.which.dtype
    assert kl.nearest(g, facilities, 5, limit=99).plan.method == "k_labels"
    assert kl.nearest(g, facilities).plan.problem == "sssp", "one needs no labels"


def test_nearest_by_hops_and_more_than_there_are() -> None:
    g = streets()
    kl.apsp(g, predecessors=False, **ONE)
    few = [7, 7, 1500]
    for hops in (True, False):
        found = kl.nearest(g, few, 40, hops=hops)
        plain = kl.nearest(copy_of(g), few, 40, hops=hops)
        assert found.plan.method == "prepared"
        assert np.array_equal(found.distances, plain.distances)
        assert np.array_equal(found.which, plain.which)


def test_nearest_in_floats_is_searched() -> None:
    g = streets(dtype=np.float64)
    kl.apsp(g, predecessors=False, **ONE)
    assert is_eliminated(g)
    assert kl.nearest(g, [1, 2, 3], 2).plan.method == "k_labels"


@pytest.mark.parametrize("reverse", [False, True])
def test_a_prepared_graph_keeps_its_own_elimination(reverse: bool) -> None:
    """Also in another process, or where the graph had to forget it."""
    g = streets()
    facilities = np.random.default_rng(4).integers(0, g.n, 90)
    plain = kl.nearest(copy_of(g), facilities, 5, reverse=reverse)
    p = kl.prepare(g)
    pickled = pickle.loads(pickle.dumps(p))
    Preparation.of(g).forget()
    for q in (p, pickled, kl.prepare(g, order=p._elimination.order)):
        found = kl.nearest(q, facilities, 5, reverse=reverse)
        assert found.plan.method == "prepared"
        assert np.array_equal(found.distances, plain.distances)
        assert np.array_equal(found.which, plain.which)
        found.verify()
        assert not is_eliminated(q.graph), "values of a prepared graph do not reach its graph"
    for q in (p.customize(semiring="boolean"), p.customize(dtype="float64")):
        near = kl.nearest(q, facilities, 5, reverse=reverse)
        assert np.array_equal(near.distances, plain.distances)
    assert kl.nearest(p, facilities, 5, hops=True).hops


def test_a_call_on_a_prepared_graph_is_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    p = kl.prepare(streets())
    planned = []

    def record(facts: Facts, ask: Ask) -> Plan:
        planned.append(facts.prepared)
        return plan_call(facts, ask)

    monkeypatch.setattr("kleene.engine.planned.plan_call", record)
    near = kl.nearest(p, [0, 5, 9], 2, **ONE)
    assert near.plan.method == "prepared"
    assert [known is not None for known in planned] == [True]
