"""verify() must catch wrong answers: every way to spoil a right one is tried and must fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import VerificationError
from kleene.backends.semiring import SEMIRINGS
from kleene.proofs.paths import PathValues, choose_rows, verify


def rows_of(result: kl.Result) -> PathValues:
    answer = result._answer
    return PathValues(
        result.graph,
        SEMIRINGS[result.plan.semiring],
        result.sources,
        answer.values.copy(),
        None if answer.predecessors is None else answer.predecessors.copy(),
        answer.horizons,
        hops=result.problem == "bfs",
        targets=result.targets,
        limit=result._limit,
    )


ANSWERS: dict[str, Callable[[], kl.Result]] = {
    "bfs": lambda: kl.bfs(graph("unweighted_random"), 5),
    "bfs_grid": lambda: kl.bfs(graph("grid"), 0),
    "bfs_limit": lambda: kl.bfs(graph("grid"), 0, limit=7),
    "sssp_int": lambda: kl.sssp(graph("grid"), 3),
    "sssp_float": lambda: kl.sssp(graph("float64_weights"), 0),
    "sssp_float32": lambda: kl.sssp(graph("float32_weights"), 0),
    "sssp_negative": lambda: kl.sssp(graph("negative_floats"), 0),
    "sssp_zero_cycle": lambda: kl.sssp(graph("zero_cycle"), 0),
    "sssp_targets": lambda: kl.sssp(graph("grid"), 0, targets=[5, 40]),
    "apsp": lambda: kl.apsp(graph("disconnected")),
    "boolean": lambda: kl.closure(graph("disconnected"), "boolean", predecessors=True),
    "max_min": lambda: kl.closure(graph("complete"), "max_min", predecessors=True),
    "max_times": lambda: kl.closure(graph("probabilities"), "max_times", predecessors=True),
}


def value_mutations(rows: PathValues) -> Iterator[tuple[str, PathValues]]:
    """One value at a time: better, worse, lost, invented."""
    semiring, dtype = rows.semiring, rows.values.dtype
    none = -1 if rows.hops else semiring.zero(dtype)
    rng = np.random.default_rng(0)
    n = rows.graph.n
    for _ in range(40):
        row, v = int(rng.integers(len(rows.sources))), int(rng.integers(n))
        old = rows.values[row, v]
        changes: list[tuple[str, Any]] = [("lost" if old != none else "invented", none)]
        if old == none:
            changes = [("invented", {"b": True, "f": 0.5}.get(dtype.kind, 3))]
        elif dtype.kind == "i" and abs(old) < 2**30:
            changes += [("one more", old + 1), ("one less", old - 1), ("far less", -7)]
        elif dtype.kind == "f" and np.isfinite(old):
            changes += [("more", old * 1.01 + 0.01), ("less", old * 0.99 - 0.01), ("NaN", np.nan)]
        for what, new in changes:
            values = rows.values.copy()
            values[row, v] = new
            yield f"{what} at {row}, {v}", replace(rows, values=values)


def predecessor_mutations(rows: PathValues) -> Iterator[tuple[str, PathValues]]:
    """One predecessor at a time: lost, invented, to a stranger, to itself, out of range."""
    assert rows.predecessors is not None
    rng = np.random.default_rng(1)
    g, n = rows.graph, rows.graph.n
    arcs = set(zip(g.coo.sources.tolist(), g.coo.targets.tolist(), strict=True))
    for _ in range(40):
        row, v = int(rng.integers(len(rows.sources))), int(rng.integers(n))
        old = int(rows.predecessors[row, v])
        strangers = [u for u in range(n) if (u, v) not in arcs and u != v]
        new_ones = [v, n, n + 5, -2, *strangers[:2]]
        new_ones.append(-1 if old != -1 else (v + 1) % n)
        for new in new_ones:
            predecessors = rows.predecessors.copy()
            predecessors[row, v] = new
            yield f"{old} -> {new} at {row}, {v}", replace(rows, predecessors=predecessors)


@pytest.mark.parametrize("name", ANSWERS)
def test_right_answers_are_proved(name: str) -> None:
    rows = rows_of(ANSWERS[name]())
    assert verify(rows).rows == len(rows.sources)
    verify(replace(rows, predecessors=None))


@pytest.mark.parametrize("with_predecessors", [True, False])
@pytest.mark.parametrize("name", ANSWERS)
def test_wrong_values_are_caught(name: str, with_predecessors: bool) -> None:
    rows = rows_of(ANSWERS[name]())
    if not with_predecessors:
        rows = replace(rows, predecessors=None)
    for what, spoiled in value_mutations(rows):
        with pytest.raises(VerificationError):
            print(what, verify(spoiled))


@pytest.mark.parametrize("name", ANSWERS)
def test_wrong_predecessors_are_caught(name: str) -> None:
    for what, spoiled in predecessor_mutations(rows_of(ANSWERS[name]())):
        with pytest.raises(VerificationError):
            print(what, verify(spoiled))


@pytest.mark.parametrize("name", ["bfs", "sssp_int", "sssp_float"])
def test_all_of_it_with_arcs_in_many_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("kleene.proofs.row_arcs"), "_PIECE", 7)
    test_right_answers_are_proved(name)
    test_wrong_values_are_caught(name, True)
    test_wrong_values_are_caught(name, False)
    test_wrong_predecessors_are_caught(name)


@pytest.mark.parametrize("wrong", [5, 1000, -2])
def test_a_predecessor_that_is_no_vertex_is_caught(wrong: int) -> None:
    rows = rows_of(kl.sssp(kl.generate.path(5), 0))
    assert rows.predecessors is not None
    rows.predecessors[0, 3] = wrong
    with pytest.raises(
        VerificationError, match=f"the predecessor of vertex 3 is {wrong}, which is not a vertex"
    ):
        verify(rows)


@pytest.mark.parametrize("sign", [1, -1])
def test_lengths_leave_room_for_the_largest_weight(sign: int) -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([sign * 2**28, sign], np.int32))
    rows = replace(rows_of(kl.sssp(g, 0)), predecessors=None)
    room = np.iinfo(np.int32).max - 2**28
    for value, message in (
        (room, "too much for a length in int32"),
        (-room, "too much for a length in int32"),
        (sign * (room - 1), "but no path attains that"),
    ):
        values = np.array([[0, value, 0]], np.int32)
        with pytest.raises(VerificationError, match=message):
            verify(replace(rows, values=values))


def test_a_circle_of_tight_predecessors_is_caught() -> None:
    """All arcs of a zero-weight cycle are tight, so only the chain test can see the circle."""
    rows = rows_of(kl.sssp(graph("zero_cycle"), 0))
    assert rows.predecessors is not None
    rows.predecessors[0, 1] = 3  # 1 -> 2 -> 3 -> 1
    with pytest.raises(VerificationError, match="never lead to the source"):
        verify(rows)


def test_values_too_good_on_a_zero_cycle_are_caught() -> None:
    """A whole cycle lowered together keeps its arcs tight; it hangs on nothing."""
    for predecessors in (True, False):
        rows = rows_of(kl.sssp(graph("zero_cycle"), 0, predecessors=predecessors))
        rows.values[0, 1:] -= 1
        with pytest.raises(VerificationError):
            verify(rows)


def test_an_island_declared_reached_is_caught() -> None:
    g = kl.Graph.from_edges([0, 2, 3], [1, 3, 2], [1, 0, 0])
    rows = rows_of(kl.sssp(g, 0, predecessors=False))
    rows.values[0, 2:] = 5
    with pytest.raises(VerificationError, match="no path attains"):
        verify(rows)


def test_scaled_distances_are_caught() -> None:
    rows = rows_of(kl.sssp(graph("float64_weights"), 0))
    with pytest.raises(VerificationError):
        verify(replace(rows, values=rows.values * (1 + 1e-9)))


def test_a_relative_error_far_below_rounding_is_let_pass() -> None:
    """Lengths that differ in the last bits, as another order of additions would make them."""
    rows = rows_of(kl.sssp(graph("float64_weights"), 0))
    values = np.nextafter(rows.values, 2 * rows.values)
    verify(replace(rows, values=values))


def test_horizon_is_respected() -> None:
    rows = rows_of(kl.bfs(graph("grid"), 0, limit=4))
    assert rows.horizons is not None
    with pytest.raises(VerificationError, match="horizons hold 5, beyond the limit 4"):
        verify(replace(rows, horizons=rows.horizons + 1))
    with pytest.raises(VerificationError, match="offers 5"):
        verify(replace(rows, horizons=rows.horizons + 1, limit=5))
    with pytest.raises(VerificationError, match="beyond the horizon 3"):
        verify(replace(rows, horizons=rows.horizons - 1))
    with pytest.raises(VerificationError, match="beyond the limit 3"):
        verify(replace(rows, horizons=rows.horizons - 1, limit=3))


def test_a_search_that_stopped_before_its_targets_is_caught() -> None:
    rows = rows_of(kl.bfs(graph("grid"), 0, targets=[60]))
    rows.values[0, 1:] = -1
    assert rows.predecessors is not None
    rows.predecessors[0] = -1
    rows.horizons[:] = 0  # type: ignore[index]
    with pytest.raises(VerificationError, match="too early"):
        verify(rows)


def test_a_huge_weight_elsewhere_does_not_widen_the_tolerance() -> None:
    g = kl.Graph.from_edges([0, 2], [1, 3], [1.0, -1e18])
    for predecessors in (True, False):
        rows = rows_of(kl.sssp(g, 0, predecessors=predecessors))
        rows.values[0, 1] = 50.0
        with pytest.raises(VerificationError):
            verify(rows)


@pytest.mark.parametrize("sample", [0, -1, 1.5])
def test_a_sample_is_a_number_of_rows(sample: Any) -> None:
    with pytest.raises(kl.RequestError, match="sample must be a positive integer"):
        kl.apsp(graph("grid")).verify(sample=sample)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    g = graph("grid")
    turns = kl.TurnGraph(g, {"from": [], "via": [], "to": []})
    for found in (
        kl.apsp(g), kl.sssp(g, pairs=[(0, 5), (7, 3)]), kl.reduce_distances(g), turns.apsp(),
        kl.prepare(g).nearest([0, 3], [1, 2]),
    ):  # fmt: skip
        with pytest.raises(kl.RequestError, match="seed must be a non-negative integer"):
            found.verify(sample=1, seed=seed)


def test_a_sample_has_no_row_twice() -> None:
    assert choose_rows(50, 50, 49, 1).tolist() == sorted(set(choose_rows(50, 50, 49, 1).tolist()))
    assert len(choose_rows(50, 20, None, 1)) == 20


def test_a_proof_says_how_long_it_took() -> None:
    began = time.perf_counter()
    proof = verify(rows_of(kl.sssp(kl.generate.path(5), 0)))
    assert 0 < proof.seconds <= time.perf_counter() - began


def test_sampling() -> None:
    rows = rows_of(kl.apsp(graph("grid")))
    proof = verify(rows, sample=10)
    assert (proof.rows, proof.of) == (10, graph("grid").n)
    assert str(proof).startswith("proved: 10 of 108 sources")
    rows.values[:] = 0
    with pytest.raises(VerificationError):
        verify(rows, sample=1)


@given(st.data())
def test_any_single_change_to_distances_is_caught(data: st.DataObject) -> None:
    """Distances are unique, so no change to any of them may pass."""
    n = data.draw(st.integers(1, 8))
    arcs = data.draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 5)), max_size=20
        )
    )
    s, t, w = zip(*arcs, strict=True) if arcs else ((), (), ())
    g = kl.Graph.from_edges(s, t, np.array(w, dtype=np.int32), n=n)
    predecessors = data.draw(st.booleans())
    result = kl.sssp(g, data.draw(st.integers(0, n - 1)), predecessors=predecessors)
    rows = rows_of(result)
    v = data.draw(st.integers(0, n - 1))
    new = data.draw(st.one_of(st.integers(-3, 30), st.just(int(result.no_path))))
    if new == rows.values[0, v]:
        verify(rows)
    else:
        rows.values[0, v] = new
        with pytest.raises(VerificationError):
            verify(rows)
