"""No proof takes "no path" of another type or problem, or what is no number, for a distance."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edited_results import edited

import kleene as kl
from kleene.backends.common.walks import Walks
from kleene.backends.semiring import SEMIRINGS
from kleene.errors import VerificationError
from kleene.proofs.claim import PathValues
from kleene.proofs.pairs import PairValues, verify_pairs
from kleene.proofs.paths import verify

#: A path of two arcs from 0, and a vertex that nothing leads to.
TAILS, HEADS, FAR = [0, 1], [1, 2], 3
TYPES = ("int32", "int64", "float32", "float64")

#: What some type or problem calls "no path", and sums that no path has.
WRONG: tuple[Any, ...] = (
    -1, -2, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63), np.inf, -np.inf, np.nan,
    float(np.finfo(np.float32).max), float(np.finfo(np.float64).max),
)  # fmt: skip


def _graph(dtype: str) -> kl.Graph:
    return kl.Graph.from_edges(TAILS, HEADS, np.array([4, 5], dtype), n=4)


def _wrong_for(values: Any, right: Any) -> list[Any]:
    """Return the wrong values that the type can hold, as scalars of it."""
    integer = values.dtype.kind == "i"
    fits = np.iinfo(values.dtype) if integer else np.finfo(values.dtype)
    found = []
    for wrong in WRONG:
        if integer and (not np.isfinite(wrong) or not fits.min <= int(wrong) <= fits.max):
            continue
        if not integer and np.isfinite(wrong) and abs(wrong) > float(fits.max):
            continue
        value = values.dtype.type(wrong)
        if value != right:
            found.append(value)
    return found


def _changed(values: Any, at: int, value: Any) -> Any:
    copied = values.copy()
    copied.reshape(-1)[at] = value
    return copied


#: Calls whose distances a file holds, and options that leave out a part of the answer.
CALLS: dict[str, Callable[[kl.Graph], kl.Result]] = {
    "a row": lambda g: kl.sssp(g, 0),
    "a row without predecessors": lambda g: kl.sssp(g, 0, predecessors=False),
    "hops": lambda g: kl.bfs(g, 0),
    "hops without predecessors": lambda g: kl.bfs(g, 0, predecessors=False),
    "hops to a row": lambda g: kl.bfs(g, 2, reverse=True),
    "hops in floats": lambda g: kl.bfs(g, 0, dtype="float32"),
    "hops within a limit": lambda g: kl.bfs(g, 0, limit=5),
    "all pairs": lambda g: kl.apsp(g),
    "some columns": lambda g: kl.sssp(g, 0, targets=[0, 1, 2, 3]),
    "hops of pairs": lambda g: kl.bfs(g, pairs=[(0, v) for v in range(4)]),
    "pairs": lambda g: kl.sssp(g, pairs=[(0, v) for v in range(4)]),
    "pairs without paths": lambda g: kl.sssp(
        g, pairs=[(0, v) for v in range(4)], predecessors=False
    ),
    "a prepared tree": lambda g: kl.prepare(g).tree(0),
    "a prepared matrix": lambda g: kl.prepare(g).matrix([0], [0, 1, 2, 3]),
    "prepared pairs": lambda g: kl.sssp(kl.prepare(g), pairs=[(0, v) for v in range(4)]),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", CALLS)
def test_no_path_of_another_kind_is_no_distance_in_a_file(
    name: str, dtype: str, tmp_path: Path
) -> None:
    result = CALLS[name](_graph(dtype))
    assert edited(result, tmp_path).verify()
    values = np.load(tmp_path / "result.npz")["values"]
    for at in range(4):
        for wrong in _wrong_for(values, values.reshape(-1)[at]):
            loaded = edited(result, tmp_path, values=_changed(values, at, wrong))
            with pytest.raises(VerificationError):
                loaded.verify()


def test_a_hop_count_is_less_than_the_number_of_vertices(tmp_path: Path) -> None:
    """2,147,483,647 is "no path" of int32 lengths; it read as such, and stayed a hop count."""
    g = kl.Graph.from_edges([0], [1], n=4)
    for count in (2**31 - 1, 4):
        for predecessors in (True, False):
            values = np.array([[0, 1, -1, count]], np.int32)
            spoiled = edited(kl.bfs(g, 0, predecessors=predecessors), tmp_path, values=values)
            with pytest.raises(VerificationError, match="no path over 4 vertices has so many"):
                spoiled.verify()
    chain = kl.bfs(kl.generate.path(4), 0)
    assert chain.distances.max() == 3, "as many as there can be"
    assert chain.verify()


@pytest.mark.parametrize("targets", [None, [0, 1, 2, 3]])
def test_no_path_of_lengths_is_no_hop_count_in_a_store(targets: Any, tmp_path: Path) -> None:
    g = kl.Graph.from_edges([0], [1], n=4)
    zarr, path = pytest.importorskip("zarr"), tmp_path / "hops.zarr"
    assert kl.bfs(g, sources=[0, 1], targets=targets, out=path).verify()
    for name, array in zarr.open_group(path).arrays():
        if name == "distances":
            array[0, 3] = 2**31 - 1
    with pytest.raises(VerificationError):
        kl.Result.load(path, g).verify()


def test_a_pair_is_not_off_by_a_difference_that_wraps() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([2**40, 3], np.int64))
    for predecessors in (True, False):
        r = kl.sssp(g, pairs=[(0, 2)], predecessors=predecessors)
        claim = _pairs_of(r)
        verify_pairs(claim)
        wrong = replace(claim, values=claim.values + np.iinfo(np.int64).min)
        with pytest.raises(VerificationError, match="holds another value"):
            verify_pairs(wrong)


def test_a_path_that_goes_round_until_its_sum_wraps_is_refused() -> None:
    """Sixteen arcs of 2^60 come to 2^64, which is nothing in int64."""
    round_trip = np.array([2**60, 2**60], np.int64)
    g = kl.Graph.from_edges([0, 1, 0], [1, 0, 2], np.append(round_trip, 5), n=40)
    claim = _pairs_of(kl.sssp(g, pairs=[(0, 2)]))
    vertices = np.array([0, 1] * 8 + [0, 2], np.int32)
    walks: Walks = (vertices, np.array([0, len(vertices)]))
    with pytest.raises(VerificationError, match="its path visits a vertex twice"):
        verify_pairs(replace(claim, walks=walks))


def _pairs_of(r: Any) -> PairValues:
    return PairValues(
        r.graph, r.problem == "bfs", r._sources, r._targets, r.distances, r._stored_walks,
        r._limit, r._by_target,
    )  # fmt: skip


def _labels(answer: Any, at: int, value: Any) -> None:
    answer._distances = _changed(answer._distances, at, value)


def _reached(answer: Any, at: int, value: Any) -> None:
    distances = _changed(answer._answer.distances, at, value)
    answer._answer = answer._answer._replace(distances=distances)


def _attribute(name: str) -> Callable[[Any, int, Any], None]:
    def spoil(answer: Any, at: int, value: Any) -> None:
        setattr(answer, name, _changed(getattr(answer, name), at, value))

    return spoil


#: Answers in memory, where their distances are, and what puts another there.
ANSWERS: dict[str, tuple[Callable[[kl.Graph], Any], Callable[[Any], Any], Any]] = {
    "nearest": (lambda g: kl.nearest(g, [2]), lambda r: r._distances, _labels),
    "nearest by hops": (
        lambda g: kl.nearest(g, [2], hops=True), lambda r: r._distances, _labels
    ),
    "two nearest": (lambda g: kl.nearest(g, [2, 1], 2), lambda r: r._distances, _labels),
    "nearest of some": (
        lambda g: kl.prepare(g).nearest([0, 1, 2, 3], [2]), lambda r: r._distances, _labels
    ),
    "two nearest of some": (
        lambda g: kl.prepare(g).nearest([0, 1, 2, 3], [2, 1], 2), lambda r: r._distances, _labels
    ),
    "within": (
        lambda g: kl.within(g, [0], limit=20), lambda r: r._answer.distances, _reached
    ),
    "within some hops": (
        lambda g: kl.within(g, [0], limit=2, hops=True), lambda r: r._answer.distances, _reached
    ),
    "within, prepared": (
        lambda g: kl.prepare(g).within([0], 20), lambda r: r._answer.distances, _reached
    ),
    "path counts": (
        lambda g: kl.path_counts(g, 0), lambda r: r.distances, _attribute("distances")
    ),
    "eccentricity": (
        lambda g: kl.eccentricity(g, unreachable="ignore"), lambda r: r.values,
        _attribute("values"),
    ),
    "maxima": (kl.reduce_distances, lambda r: r.maxima, _attribute("maxima")),
    "sums": (kl.reduce_distances, lambda r: r.sums, _attribute("sums")),
    "closeness": (kl.closeness, lambda r: r.totals, _attribute("totals")),
    "harmonic": (kl.harmonic, lambda r: r.totals, _attribute("totals")),
    "betweenness": (kl.betweenness, lambda r: r.values, _attribute("values")),
}  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ANSWERS)
def test_no_path_of_another_kind_is_no_distance_in_memory(name: str, dtype: str) -> None:
    call, distances, spoil = ANSWERS[name]
    answer = call(_graph(dtype))
    right = distances(answer)
    assert answer.verify()
    for at in range(right.size):
        for wrong in _wrong_for(right, right.reshape(-1)[at]):
            spoiled = copy.copy(answer)
            spoil(spoiled, at, wrong)
            with pytest.raises(VerificationError):
                spoiled.verify()


#: Measures, and their arrays in memory, of which each must have a number for each vertex or bin.
MEASURES: dict[str, tuple[Callable[[kl.Graph], Any], tuple[str, ...]]] = {
    "closeness": (kl.closeness, ("values", "totals", "reached")),
    "harmonic": (kl.harmonic, ("values", "totals", "reached")),
    "eccentricity": (lambda g: kl.eccentricity(g, unreachable="ignore"), ("values",)),
    "path counts": (lambda g: kl.path_counts(g, 0), ("values", "distances")),
    "betweenness": (kl.betweenness, ("values",)),
    "loads": (lambda g: kl.loads(g, ([0], [1], [2.0])), ("arcs",)),
    "histogram": (kl.distance_histogram, ("counts", "edges")),
    "sums": (
        lambda g: kl.reduce_distances(g, bins=[0, 5, 50]),
        ("sums", "maxima", "reached", "histogram", "edges"),
    ),
}

_SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda held: held[:-1],
    lambda held: np.concatenate([held, held[-1:] + 1]),
    lambda held: held[None],
)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("name", "field"), [(n, f) for n in MEASURES for f in MEASURES[n][1]])
def test_numbers_that_belong_to_nothing_are_refused(name: str, field: str, dtype: str) -> None:
    answer = MEASURES[name][0](_graph(dtype))
    right = getattr(answer, field)
    kinds = {"reached": "integers", "counts": "integers", "histogram": "integers", "edges": ""}
    assert answer.verify()
    for change in _SHAPES:
        setattr(answer, field, change(right))
        with pytest.raises(VerificationError, match=f"should be {kinds.get(field, 'numbers')}"):
            answer.verify()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("name", "field"), [("histogram", "counts"), ("sums", "histogram")])
@pytest.mark.filterwarnings("error")
def test_no_count_is_no_number(name: str, field: str, dtype: str) -> None:
    answer = MEASURES[name][0](_graph(dtype))
    right = getattr(answer, field)
    for at in range(right.size):
        for wrong, kind, what in ((np.nan, float, "should be integers"), (2**63 - 1, int, "bin")):
            spoiled = right.astype(kind)
            spoiled.reshape(-1)[at] = wrong
            setattr(answer, field, spoiled)
            with pytest.raises(VerificationError, match=what):
                answer.verify()


@pytest.mark.parametrize("name", ["histogram", "sums"])
@pytest.mark.parametrize(("at", "edge"), [(0, np.nan), (0, 1e9), (0, np.inf), (-1, np.nan)])
def test_edges_of_bins_ascend(name: str, at: int, edge: float) -> None:
    answer = MEASURES[name][0](_graph("float64"))
    right = answer.edges.astype(float)
    for wrong in (edge, right[1] if at == 0 else right[-2]):  # equal edges do not ascend either
        answer.edges = right.copy()
        answer.edges[at] = wrong
        with pytest.raises(VerificationError, match="edges of the bins do not ascend"):
            answer.verify()
    answer.edges = right[None]
    with pytest.raises(VerificationError, match="edges are float64 of shape"):
        answer.verify()


def test_integers_that_floats_cannot_tell_apart_are_compared_as_they_are() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 0], np.array([2**60, 1], np.int64))
    for call, name in ((kl.eccentricity, "values"), (kl.reduce_distances, "maxima")):
        answer: Any = call(g)
        assert answer.verify().tolerance == "exact"
        setattr(answer, name, getattr(answer, name) + 1)
        with pytest.raises(VerificationError):
            answer.verify()


def test_a_pair_of_one_arc_at_its_limit_is_not_missing(tmp_path: Path) -> None:
    """No other order adds one number, or two, to anything else."""
    g = kl.Graph.from_edges([0, 1], [1, 2], [0.1, 0.2])
    for end, limit in ((0, 0.0), (1, 0.1), (2, 0.1 + 0.2)):
        for predecessors in (True, False):
            r = kl.sssp(g, pairs=[(0, end)], limit=limit, predecessors=predecessors)
            assert edited(r, tmp_path).verify().tolerance == "exact in float64"
            empty: dict[str, Any] = {"values": np.array([np.inf])}
            if predecessors:
                offsets = np.zeros(2, np.int64)
                empty |= {"vertices": np.empty(0, np.int32), "offsets": offsets}
            with pytest.raises(VerificationError, match="but there is a path"):
                edited(r, tmp_path, **empty).verify()


def test_a_vertex_of_one_arc_at_the_limit_is_not_missing_beside_one_that_rounds() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 4], [0.3, 0.2, 0.1, 0.6])
    rounds = 0.3 + (0.2 + 0.1)  # 0.6 and one bit, and no less by the arcs one by one
    values = np.array([[0, 0.3, 0.5, rounds, 0.6]])
    rows = PathValues(
        g, SEMIRINGS["min_plus"], np.array([0]), values, None, np.array([rounds]), False,
        limit=rounds,
    )  # fmt: skip
    assert verify(rows).tolerance.startswith("up to rounding")
    at_limit = np.array([[0, np.nextafter(0.3, 0), 0.5, np.inf, np.inf]])
    missing = replace(rows, values=at_limit, horizons=np.array([0.6]), limit=0.6)
    with pytest.raises(VerificationError, match="vertex 4 holds inf, but the arc 0 -> 4 offers"):
        verify(missing)
    at_limit[0, 4] = 0.6
    assert verify(missing)


def test_measures_count_what_is_exactly_as_far_as_the_limit() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [0.5, 0.1])
    for call in (kl.closeness, kl.harmonic):
        right: Any = call(g, limit=0.5)
        assert right.verify().tolerance == "exact in float64"
        spoiled, other = copy.copy(right), call(g, limit=0.25)
        for name in ("reached", "totals", "values"):
            setattr(spoiled, name, getattr(other, name))
        with pytest.raises(VerificationError, match="has 0 vertices in reach, expected 1"):
            spoiled.verify()


def test_a_count_that_rounding_explains_is_not_exact() -> None:
    g = kl.Graph.from_edges([0, 2, 3, 4], [1, 3, 4, 5], [0.5, 0.3, 0.2, 0.1])
    edges = [0.0, 0.5, np.nextafter(0.6, 1), 1.0]
    h: Any = kl.distance_histogram(g, bins=edges)
    assert h.counts.tolist() == [4, 3, 0]
    assert h.verify().tolerance == "exact in float64"
    h.counts = h.counts + np.array([0, -1, 1])  # 0.6 in another order
    assert h.verify().tolerance == "up to rounding"


def test_a_facility_exactly_as_far_as_the_limit_is_not_missing() -> None:
    g = kl.Graph.from_edges([0, 2, 3, 4], [1, 3, 4, 5], [0.5, 0.3, 0.2, 0.1])
    ready = kl.prepare(g)
    for start, limit, wrong in ((0, 0.5, True), (2, 0.3 + 0.2 + 0.1, False)):
        near: Any = ready.nearest([start], [1, 5], limit=limit)
        assert near.verify().tolerance.startswith("exact" if wrong else "up to rounding")
        near._which, near._distances = np.full((1, 1), -1), np.full((1, 1), np.inf)
        if not wrong:
            assert near.verify().tolerance.startswith("up to rounding")
            continue
        with pytest.raises(VerificationError, match="expected"):
            near.verify()
