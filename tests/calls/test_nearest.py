"""``kl.nearest``: the nearest facilities of every vertex, beside one search for each facility."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from graphs import WITH_NEGATIVE_CYCLE, graph, names
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import best_values
from small_graphs import small_graphs
from test_within import length_of

import kleene as kl
from kleene.system.machine import this_machine

POSITIVE = [
    name
    for name in names()
    if graph(name).n and not graph(name).stats.negative and name not in WITH_NEGATIVE_CYCLE
]


def ranked(lengths: list[list[Any]], k: int) -> list[list[tuple[Any, int]]]:
    """Return, for each vertex, the first k pairs (length, facility), by length and order."""
    columns = zip(*lengths, strict=True)
    pairs = [[(d, i) for i, d in enumerate(column) if d is not None] for column in columns]
    return [sorted(each)[:k] for each in pairs]


def pairs_of(near: kl.Nearest) -> list[list[tuple[Any, int]]]:
    n, k = near.graph.n, near.k
    distances, which = near.distances.reshape(n, k), near.which.reshape(n, k)
    none = which < 0
    assert (distances[none] == near.no_path).all()
    assert (distances[~none] != near.no_path).all()
    return [
        [(d, i) for d, i in zip(row.tolist(), ids.tolist(), strict=True) if i >= 0]
        for row, ids in zip(distances, which, strict=True)
    ]


def same(found: list[list[tuple[Any, int]]], right: list[list[tuple[Any, int]]]) -> None:
    """Distances are the same up to rounding, and facilities too unless rounding decides."""
    for ours, theirs in zip(found, right, strict=True):
        assert len(ours) == len(theirs)
        for (d, i), (e, j) in zip(ours, theirs, strict=True):
            assert abs(float(d) - float(e)) <= 1e-5 * (1 + abs(float(e)))
            assert i == j or isinstance(d, float)


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("hops", [False, True])
def test_the_zoo_beside_the_oracle(name: str, k: int, hops: bool) -> None:
    g = graph(name)
    facilities = [v % g.n for v in (0, g.n // 2, g.n - 1, 0, 3)]
    forwards = [best_values(name, "min_plus", f, hops) for f in facilities]
    every = [best_values(name, "min_plus", s, hops) for s in range(g.n)]
    towards = [[row[f] for row in every if row is not None] for f in facilities]
    for reverse, lengths in ((True, forwards), (False, towards)):
        near = kl.nearest(g, facilities, k, hops=hops, reverse=reverse)
        same(pairs_of(near), ranked(lengths, k))  # type: ignore[arg-type]
        near.verify()


@settings(max_examples=150)
@given(case=small_graphs(), data=st.data())
def test_beside_a_search_from_each(case: tuple[kl.Graph, list[int]], data: Any) -> None:
    g, facilities = case
    if not facilities:
        return
    k = data.draw(st.integers(1, 5))
    hops, reverse = data.draw(st.booleans()), data.draw(st.booleans())
    limit = data.draw(st.sampled_from([None, 0, 0.3, 1, 2, 2.5]))
    near = kl.nearest(g, facilities, k, hops=hops, reverse=reverse, limit=limit, threads=2)
    searched = g if reverse else g.transpose()
    solve = kl.bfs if hops else kl.sssp
    each = solve(searched, sources=facilities, limit=limit, device="cpu")
    lengths = [
        [d if there else None for d, there in zip(row.tolist(), ok.tolist(), strict=True)]
        for row, ok in zip(each.distances, each.reached, strict=True)
    ]
    right = ranked(lengths, k)
    found = pairs_of(near)
    # Lengths agree to the last bit; facilities too, but for ties that rounding makes.
    assert [[d for d, _ in row] for row in found] == [[d for d, _ in row] for row in right]
    if each.distances.dtype.kind == "i" or g.weight_dtype == np.float32:
        assert found == right
    for row in found:
        assert row == sorted(row)
    for v, row in enumerate(found):
        for d, i in row:
            assert lengths[i][v] == d
    near.verify()
    for rank in range(k):
        for v, path in enumerate(near.paths(rank=rank)):
            if len(found[v]) <= rank:
                assert path == []
                continue
            d, i = found[v][rank]
            assert (path[0], path[-1]) == ((facilities[i], v) if reverse else (v, facilities[i]))
            measured = path if reverse else path[::-1]
            assert length_of(searched, measured, hops or g.weights is None) == d


def test_labels_and_tables() -> None:
    g = kl.Graph.from_table(
        {"source": ["a", "b", "c", "x"], "target": ["b", "c", "d", "y"], "km": [2, 2, 5, 1]},
        weight="km", directed=False,
    )  # fmt: skip
    near = kl.nearest(g, ["d", "a"])
    assert near.facilities.tolist() == ["d", "a"]
    assert near.owner.tolist() == ["a", "a", "a", "d", None, None]
    assert near.which.tolist() == [1, 1, 1, 0, -1, -1]
    assert near.distances.tolist()[:4] == [0, 2, 4, 0]
    assert near.floats.tolist() == [0, 2, 4, 0, math.inf, math.inf]
    assert near.masked.mean() == 1.5
    assert near.path("c") == ["c", "b", "a"]
    assert near.path("x") == []
    assert list(near.paths(["b", "d", "y"])) == [["b", "a"], ["d"], []]
    routes = near.routes(["b", "c", "y"])
    assert [r.distance for r in routes] == [2, 4, math.inf]
    assert [r.rows.tolist() for r in routes] == [[0], [1, 0], []]
    assert near.route("c").vertices == ["c", "b", "a"]
    two = kl.nearest(g, ["d", "a"], 2)
    assert two.owner[1].tolist() == ["a", "d"]
    assert two.path("b", rank=1) == ["b", "c", "d"]
    assert two.to_frame().values.tolist()[:4] == [
        ["a", 0, "a", 0], ["a", 1, "d", 9], ["b", 0, "a", 2], ["b", 1, "d", 7],
    ]  # fmt: skip
    assert kl.nearest(g, "d").which.tolist() == [0, 0, 0, 0, -1, -1]
    assert "4 of 6 vertices have one" in repr(near)
    assert "the 2 nearest of 2 facilities" in repr(two)


def test_tables_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    near = kl.nearest(kl.generate.grid(9, 9), [3, 70, 8], 2, limit=6)
    whole = near.to_frame()
    assert len(whole) == np.count_nonzero(near.which >= 0)
    monkeypatch.setattr("kleene.results.nearest.BLOCK", 7)
    assert near.to_frame().equals(whole)


def test_direction() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 10, 100])  # one way round
    to, fro = kl.nearest(g, [1]), kl.nearest(g, [1], reverse=True)
    assert to.distances.tolist() == [1, 0, 101 - 1 + 1]
    assert fro.distances.tolist() == [110, 0, 10]
    assert to.path(2) == [2, 0, 1]
    assert fro.path(0) == [1, 2, 0]


def test_ties_go_by_the_order_of_the_list() -> None:
    g = kl.generate.grid(1, 5)
    for order in itertools.permutations([0, 2, 4]):
        for k in (1, 2, 3):
            near = kl.nearest(g, order, k)
            which = near.which.reshape(5, k)
            for v in range(5):
                right = sorted(range(3), key=lambda i: (abs(order[i] - v), i))[:k]
                assert which[v].tolist() == right
    here = kl.nearest(g, [2, 2, 2], k=2)
    assert here.which.tolist() == [[0, 1]] * 5
    zero = kl.Graph.from_edges([0, 1], [1, 0], [0, 0])
    assert kl.nearest(zero, [1, 0]).which.tolist() == [0, 0]
    assert kl.nearest(zero, [1, 0], 2).which.tolist() == [[0, 1], [0, 1]]


def test_more_asked_than_there_are() -> None:
    g = kl.Graph.from_edges([0], [1], [2.5], n=3)
    near = kl.nearest(g, [1], k=3)
    assert near.which.tolist() == [[0, -1, -1], [0, -1, -1], [-1, -1, -1]]
    assert near.distances.tolist() == [
        [2.5] + [math.inf] * 2,
        [0.0] + [math.inf] * 2,
        [math.inf] * 3,
    ]
    near.verify()
    assert near.owner.tolist()[2] == [-1, -1, -1]


def test_a_limit_to_the_last_bit() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.7])
    total = 0.1 + 0.2 + 0.3
    for k in (1, 2):
        near = kl.nearest(g, [0, 0], k, limit=total, reverse=True)
        assert (near.which.reshape(5, k)[:, 0] >= 0).tolist() == [True] * 4 + [False]
        less = kl.nearest(g, [0, 0], k, limit=np.nextafter(total, 0), reverse=True)
        assert (less.which.reshape(5, k)[:, 0] >= 0).tolist() == [True] * 3 + [False] * 2
    hop = kl.nearest(g, [4], limit=2.9, hops=True)
    assert hop.distances.tolist() == [-1, -1, 2, 1, 0]


@pytest.mark.parametrize("kind", ["int32", "float32", "float64"])
def test_the_same_on_any_number_of_threads(kind: str) -> None:
    g = kl.generate.grid(120, 120, weights=(1, 4), seed=1)
    assert g.weights is not None
    g = g.reweight(arcs=g.weights.astype(kind) / (10 if "f" in kind else 1))  # tenths: many ties
    facilities = np.random.default_rng(2).integers(0, g.n, 40)
    answers = [kl.nearest(g, facilities, 4, threads=t) for t in (1, 2, 3)]
    for other in answers[1:]:
        assert (other.which == answers[0].which).all()
        assert (other.distances == answers[0].distances).all()
    answers[0].verify()
    one = kl.nearest(g, facilities, threads=2)
    assert (one.distances == answers[0].distances[:, 0]).all()
    if kind == "int32":
        assert (one.which == answers[0].which[:, 0]).all()
    one.verify()


@pytest.mark.parametrize("device", [d for d in this_machine().devices if d != "cpu"])
def test_the_nearest_on_other_devices(device: str) -> None:
    g = kl.generate.grid(6, 7, weights=(1, 9), seed=1)
    here = kl.nearest(g, [3, 30, 41], device="cpu")
    for hops in (False, True):
        here = kl.nearest(g, [3, 30, 41], device="cpu", hops=hops, limit=20)
        there = kl.nearest(g, [3, 30, 41], device=device, hops=hops, limit=20)
        assert there.plan.device == device
        assert (there.which == here.which).all()
        assert (there.distances == here.distances).all()
        assert there.distances.dtype == here.distances.dtype


def test_types_are_those_of_a_search() -> None:
    near_end = np.array([2**29, 2**29 - 1, 1], dtype=np.int32)
    for weights in (near_end, [1, 2, 3], [1.5, 2.5, 3.5], np.float32([1, 2, 3]), None):
        g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], weights)
        want = kl.sssp(g, 0).distances.dtype
        for k in (1, 2):
            assert kl.nearest(g, [3], k).distances.dtype == want
            assert kl.nearest(g, [3], k, hops=True).distances.dtype == np.int32


def test_what_is_refused() -> None:
    g = kl.generate.grid(3, 3)
    with pytest.raises(kl.RequestError, match="facilities is empty"):
        kl.nearest(g, [])
    with pytest.raises(kl.GraphError):
        kl.nearest(g, [99])
    with pytest.raises(kl.RequestError, match="sequence"):
        kl.nearest(g, [0]).paths(3)  # type: ignore[arg-type]
    for k in (0, 1.5, True, None):
        with pytest.raises(kl.RequestError, match="k must be"):
            kl.nearest(g, [0], k)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="needs device='cpu'"):
        kl.nearest(g, [0], 2, device="emulated")
    negative = kl.Graph.from_edges([0, 1], [1, 2], [3, -1])
    for k in (1, 2):
        with pytest.raises(kl.RequestError, match="nearest needs non-negative weights"):
            kl.nearest(negative, [0], k)
    assert kl.nearest(negative, [2], hops=True).distances.tolist() == [2, 1, 0]
    with pytest.raises(kl.MemoryBudgetError, match=r"available; ask for a smaller k"):
        kl.nearest(g, [0], 2**50)
    for rank in (1, -1, True, 0.5):
        with pytest.raises(kl.RequestError, match="rank must be from 0 to 0"):
            kl.nearest(g, [0]).path(1, rank=rank)


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("k", [1, 3])
def test_spoiled_answers_are_refused(kind: str, k: int) -> None:
    g = kl.generate.grid(9, 9, weights=(1, 4), seed=3)
    assert g.weights is not None
    g = g.reweight(arcs=g.weights.astype(kind))
    rng = np.random.default_rng(1)
    near = kl.nearest(g, [0, 40, 80, 11], k, limit=30)
    near.verify()
    distances, which = near._distances.copy(), near._which.copy()
    for _ in range(150):
        v, rank = rng.integers(g.n), rng.integers(k)
        near._distances[v, rank] += rng.choice([-1, 1])
        with pytest.raises(kl.VerificationError):
            near.verify()
        near._distances[...] = distances
        near._which[v, rank] = rng.choice([i for i in range(-1, 4) if i != which[v, rank]])
        with pytest.raises(kl.VerificationError):
            near.verify()
        near._which[...] = which
        near._distances[v], near._which[v] = near.no_path, -1
        with pytest.raises(kl.VerificationError):
            near.verify()
        near._distances[...], near._which[...] = distances, which


def test_labels_that_support_each_other_are_refused() -> None:
    """A circle of arcs of length zero that claims to be nearer than it is."""
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [5, 0, 0, 0])
    near = kl.nearest(g, [0], reverse=True)
    near.verify()
    near._distances[1:] = 4
    with pytest.raises(kl.VerificationError, match="not 4 away"):
        near.verify()


def test_what_no_arc_leads_to_is_proved_too() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 1, 4], [5, 0, 0, 0, 0], n=6)
    near = kl.nearest(g, [0, 5], reverse=True)
    near.verify()
    near._distances[4] = 1  # one of several that a search decides
    with pytest.raises(kl.VerificationError):
        near.verify()
    near._distances[4] = 0
    near._distances[5], near._which[5] = near.no_path, -1  # a facility that no arc leads to
    with pytest.raises(kl.VerificationError, match="facility 1 is there"):
        near.verify()


def test_rows_that_are_no_answer_are_refused() -> None:
    faults: dict[str, tuple[Any, Any]] = {
        "a label of no facility": ([0, 1], [0, 2]),
        "label of no facility": ([0, 1], [0, -2]),
        "a facility twice": ([0, 1], [0, 0]),
        "not in order": ([1, 0], [0, 1]),
        "labels that are not in": ([0, 0], [1, 0]),
        "a label after none": ([0, 1], [-1, 1]),
        "a distance that is negative": ([-1, 1], [0, 1]),
        "beyond 5": ([0, 6], [0, 1]),
    }
    for message, (distances, which) in faults.items():
        near = kl.nearest(kl.generate.grid(1, 2), [0, 1], 2, limit=5)
        near._distances[0], near._which[0] = distances, which
        with pytest.raises(kl.VerificationError, match=f"vertex 0: .*{message}"):
            near.verify()
    near._distances = near._distances[:1]
    with pytest.raises(kl.VerificationError, match="shape"):
        near.verify()


def test_every_arc_is_looked_at() -> None:
    for arcs in (1, 2, 3):
        g = kl.Graph.from_edges(range(arcs), range(1, arcs + 1), [2] * arcs)
        for lost in range(1, arcs + 1):
            near = kl.nearest(g, [0], reverse=True)
            near._distances[lost:], near._which[lost:] = near.no_path, -1
            with pytest.raises(
                kl.VerificationError, match=f"vertex {lost}: the arc from {lost - 1}"
            ):
                near.verify()


def test_only_one_of_many_that_searches_decide_is_wrong() -> None:
    """Plateaus of arcs of length zero, one of which claims to be nearer."""
    g = kl.Graph.from_edges([0, 1, 2, 0, 3, 4], [1, 2, 1, 3, 4, 3], [5, 0, 0, 7, 0, 0])
    near = kl.nearest(g, [0], reverse=True)
    near.verify()
    near._distances[3:] = 6
    with pytest.raises(kl.VerificationError, match="vertex 3: facility 0 is not 6 away"):
        near.verify()


def test_the_proof_says_what_it_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    near = kl.nearest(kl.generate.grid(4, 4), [0, 5], 2)
    with monkeypatch.context() as patch:
        clock = itertools.count(100.0)
        patch.setattr("kleene.proofs.nearest.time.perf_counter", lambda: next(clock))
        proof = near.verify()
    assert (proof.rows, proof.of, proof.arcs, proof.tolerance) == (2, 2, 48, "exact")
    assert proof.seconds == 1
    monkeypatch.setattr("kleene.proofs.nearest._PIECE", 4)  # a few arcs at a time
    g = kl.generate.grid(5, 5, weights=(0.5, 2.0), seed=1)
    near = kl.nearest(g, [0, 24, 13], 2)
    assert near.verify().tolerance == f"exact in {near.distances.dtype}"
    near._distances[20, 0] += 0.25
    with pytest.raises(kl.VerificationError):
        near.verify()


def test_progress() -> None:
    g = kl.generate.grid(40, 40)
    for k in (1, 3):
        seen: list[tuple[int, int]] = []
        kl.nearest(g, [0, 700, 900], k, progress=lambda *a: seen.append(a))  # noqa: B023
        assert seen[-1][0] == seen[-1][1]
