"""Measures that a proof, or a count, with one small mistake would judge otherwise."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene import VerificationError
from kleene.engine.searched_rows import SearchedRows
from kleene.measures import betweenness as betweenness_module
from kleene.measures import distance_measure
from kleene.measures.betweenness import Betweenness, _compare, _smaller
from kleene.measures.distance_histogram import _MOST_BINS, Bins
from kleene.proofs.row_arcs import follow_chains
from kleene.proofs.rows import ProvedRow
from kleene.results.distance_reduction import Reduced

Patch = pytest.MonkeyPatch

EMPTY = kl.Graph.from_edges([], [], n=0)
CHAIN = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.1, 0.2, 0.3])


# ---- eccentricity -------------------------------------------------------------------------------


def test_a_graph_without_vertices_has_no_center() -> None:
    found = kl.eccentricity(EMPTY)
    for name in ("diameter", "radius"):
        with pytest.raises(kl.GraphError, match="neither diameter nor radius"):
            getattr(found, name)
    assert not len(found.center)
    assert not len(found.periphery)
    assert found.verify().rows == 0


def test_an_eccentricity_rounds_as_its_longest_path() -> None:
    row = ProvedRow(
        CHAIN, "min_plus", 0, np.array([0, 0.1, 0.3, 0.6]), np.array([-1, 0, 1, 2], np.int32)
    )
    found = kl.eccentricity(CHAIN, unreachable="ignore")
    found.values = np.full(4, np.nextafter(0.6, 1))
    assert found._compare(0, row) is False
    found.values = np.full(4, 0.6)
    assert found._compare(0, row) is True
    found.values = np.full(4, 0.6 + 2 * row.slack.max())
    with pytest.raises(VerificationError, match="has the eccentricity"):
        found._compare(0, row)


# ---- closeness ----------------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_a_closeness_is_searched_against_its_direction(reverse: bool, monkeypatch: Patch) -> None:
    seen: list[tuple[Any, ...]] = []
    real = distance_measure.verify_rows
    monkeypatch.setattr(
        distance_measure, "verify_rows", lambda *given: seen.append(given) or real(*given)
    )
    kl.closeness(CHAIN, reverse=reverse).verify()
    ((*_, against, hops),) = seen
    assert (against, hops) == (not reverse, False)


def total_of(
    distances: Any,
    slack: Any,
    held: float,
    count: int,
    limit: Any = 2.0,
    exact: bool = False,
    short: Any = (False, False),
) -> bool:
    """Compare a total and a count with those of some distances that may be off by a slack."""

    def refuse(what: str) -> None:
        raise VerificationError(what)

    row = SimpleNamespace(
        values=np.array(distances),
        slack=np.array(slack),
        exact=exact,
        refuse=refuse,
        short=np.array(short)[: len(distances)],
    )
    measure = SimpleNamespace(
        _measured=SimpleNamespace(limit=limit), _terms=lambda numbers: numbers,
        totals=np.array([held]), reached=np.array([count]),
    )  # fmt: skip
    compare: Any = distance_measure.DistanceMeasure._compare_floats
    return bool(compare(measure, 0, row, np.arange(len(distances))))


def test_rounding_decides_only_near_the_limit() -> None:
    assert total_of([1.0, 2.0], [0.0, 0.5], 1.0, 1) is False
    assert total_of([1.0, 2.0], [0.0, 0.5], 3.0, 2) is True
    assert total_of([1.0, 2.5], [0.0, 0.5], 3.5, 2) is False  # at the end of the slack
    for distance, slack, count in ((2.0, 0.5, 1), (2.6, 0.5, 2)):
        with pytest.raises(VerificationError, match=r"has \d vertices in reach"):
            total_of([1.0, distance], [0.0, slack], 1.0, count, exact=distance == 2.0)
    with pytest.raises(VerificationError, match="has 1 vertices in reach, expected 2"):
        total_of([1.0, 2.0], [0.0, 0.5], 1.0, 1, short=[False, True])  # no order adds up to more
    assert total_of([1.0, 2.1], [0.0, 0.5], 3.1, 2, short=[True, True]) is False  # to less, perhaps


def test_a_total_is_off_by_the_slack_of_its_terms() -> None:
    assert total_of([4.0], [1e-3], 4.0, 1, None) is True
    assert total_of([4.0], [1e-3], 4.0019, 1, None) is False
    for held in (4.0025, 3.9975, 4.01):  # a 4000th, twice, of four
        with pytest.raises(VerificationError, match="has the total"):
            total_of([4.0], [1e-3], held, 1, None)
    assert total_of([1.0, 2.0], [0.1, 0.5], 4.0, 2) is False  # 1, perhaps 2 more, and half of all
    with pytest.raises(VerificationError, match="has the total"):
        total_of([1.0, 2.0], [0.1, 0.5], 4.6, 2)


# ---- reductions ---------------------------------------------------------------------------------


def test_the_closeness_of_two_vertices() -> None:
    for weight in (2.0, 0.5):
        g = kl.Graph.from_edges([0], [1], [weight])
        assert kl.reduce_distances(g).closeness.tolist() == [1 / weight, 0]


def test_what_only_one_part_counts_is_not_entered() -> None:
    edges = np.arange(3)
    for whole, some in ((None, edges), (edges, None)):
        held = Reduced.empty(2, np.dtype(np.int32), whole)
        part = Reduced.empty(1, np.dtype(np.int32), some)
        part.reached[:] = 7
        held.put(1, part)
        assert held.reached.tolist() == [0, 7]


@pytest.mark.parametrize("bins", [None, 3])
def test_sums_that_differ_in_the_last_bit_are_the_same_up_to_rounding(bins: int | None) -> None:
    row = ProvedRow(
        CHAIN, "min_plus", 0, np.array([0, 0.1, 0.3, 0.6]), np.array([-1, 0, 1, 2], np.int32)
    )
    found = kl.reduce_distances(CHAIN, bins=bins)
    sums = np.array([0, 0.1, 0.3, 0.6]).sum()
    for held, same in ((sums, True), (np.nextafter(sums, 2), False)):
        found.sums = np.full(4, held)
        found.maxima = np.full(4, 0.6)
        assert found._compare(0, row) is same


@pytest.mark.parametrize(("semiring", "dtype"), [("max_min", "int64"), ("boolean", "bool")])
def test_rows_of_a_closure_are_searched(semiring: str, dtype: str) -> None:
    g = kl.generate.grid(3, 3, weights=(1, 9), seed=1)
    found = SearchedRows(g, semiring, np.dtype(dtype), False).rows(np.array([4]))
    assert np.array_equal(found.values[0, :4], kl.closure(g, semiring).values[4, :4])


# ---- histograms ---------------------------------------------------------------------------------


def test_levels_fall_into_bins_that_were_given() -> None:
    bins = Bins(np.array([1, 2, 4]), True, True)
    bins.add_levels(np.array([7, 3, 2, 5, 11, 13]))
    assert bins.counts.tolist() == [3, 7]


def test_bins_grow_with_lengths() -> None:
    bins = Bins(None, False, True)
    assert not len(bins.counts)
    bins.reach(3)
    bins._counts += [1, 2, 3, 4]
    bins.reach(5)
    assert bins.counts.tolist() == [1, 2, 3, 4, 0, 0]
    bins.reach(_MOST_BINS - 1)
    assert bins.edges[:2].tolist() == [0, 1]
    bins.reach(_MOST_BINS)
    assert bins.edges[:2].tolist() == [0, 2]
    assert bins.counts[:3].tolist() == [3, 7, 0]
    assert len(bins.counts) == _MOST_BINS // 2 + 1
    odd = Bins(None, False, True)
    odd.reach(2)
    odd._counts += [1, 2, 3]
    odd.reach(_MOST_BINS)
    assert odd.counts[:3].tolist() == [3, 3, 0]


def test_bins_of_several_parts_are_added() -> None:
    def part(counts: list[int], most: float) -> Bins:
        bins = Bins(None, False, True)
        bins.reach(most)
        bins._counts[: len(counts)] += np.array(counts, np.int64)
        return bins

    wide = part([1, 2, 3], 3 * _MOST_BINS)  # of width 4
    for first, second in ((part([5, 6, 7, 8, 9], 5), wide), (wide, part([5, 6, 7, 8, 9], 5))):
        total = first.add(second)
        assert total.edges[:3].tolist() == [0, 4, 8]
        assert total.counts[:4].tolist() == [27, 11, 3, 0]
        assert len(total.counts) == 3 * _MOST_BINS // 4 + 1
        wide = part([1, 2, 3], 3 * _MOST_BINS)
    hops = part([], 2).add(part([1, 2], 1))
    assert hops.counts.tolist() == [1, 2, 0]


def test_hops_have_a_bin_each() -> None:
    bins = Bins(None, True, True)
    bins.reach(2 * _MOST_BINS)
    assert bins.edges.tolist() == list(range(2 * _MOST_BINS + 2))


def test_lengths_of_zero_have_one_bin() -> None:
    bins = Bins(None, False, False)
    bins.reach(0.0)
    assert bins.counts.tolist() == [0]
    assert bins.edges.tolist() == [0.0, 1.0]


def test_a_histogram_of_integers_is_exact() -> None:
    g = kl.generate.grid(3, 3, weights=(1, 9), seed=1)
    assert kl.distance_histogram(g).verify().tolerance == "exact"


# ---- betweenness --------------------------------------------------------------------------------


GRID = kl.generate.grid(4, 4)


def test_the_engine_is_run_again_for_the_sample(monkeypatch: Patch) -> None:
    found, real = kl.betweenness(GRID), betweenness_module.run_method
    assert 0 <= found.verify(sample=2).seconds < 60
    monkeypatch.setattr(
        betweenness_module, "run_method", lambda plan, task: (real(plan, task)[0] + 1, None)
    )
    with pytest.raises(VerificationError, match="but the plain method gives"):
        found.verify(sample=2)


def test_the_sum_of_all_numbers_is_checked_as_long_as_that_takes_seconds(
    monkeypatch: Patch,
) -> None:
    found = kl.betweenness(GRID, normalized=False)
    found._sums = (found._sums[0] + 1, None)
    found.values = found._vertices()
    work = GRID.n * (GRID.n + GRID.m)
    monkeypatch.setattr(betweenness_module, "_SEARCH_WORK", work - 1)
    found.verify(sample=2)
    monkeypatch.setattr(betweenness_module, "_SEARCH_WORK", work)
    with pytest.raises(VerificationError, match="the sums of all vertices add up to"):
        found.verify(sample=2)


def of_sums(graph: kl.Graph, sums: Any, **more: Any) -> Any:
    """Return what the steps of a proof read of a betweenness."""
    return SimpleNamespace(
        graph=graph, _task=SimpleNamespace(endpoints=True), _sums=(np.array(sums, float), None),
        **more,
    )  # fmt: skip


def test_estimates_are_compared_by_hoeffding(monkeypatch: Patch) -> None:
    graph = kl.Graph.from_edges([0], [1], n=2)
    compare: Any = Betweenness._compare_estimates
    plain = (np.zeros(2), None)
    own = math.sqrt(math.log(2e6 * 3) / 2) * 2
    with pytest.raises(VerificationError, match=f"{own:.3g} that a check of 1 sources"):
        compare(of_sums(graph, [99, 0], error=0.01), plain, 1)
    larger = kl.generate.path(5)
    own = math.sqrt(math.log(2e6 * (5 + larger.m)) / 6) * 5 / 4
    with pytest.raises(VerificationError, match=f"{own:.3g} that a check of 3 sources"):
        compare(of_sums(larger, [999, 0, 0, 0, 0], error=0.01), (np.zeros(5), None), 3)
    compare(of_sums(graph, [4, 0], error=0.5), plain, 1)  # within the error of the sample
    compare(of_sums(graph, [0, 0], error=0.0), plain, 2)
    monkeypatch.setattr(betweenness_module, "_ROUNDING", 0.0)
    compare(of_sums(graph, [0, 0], error=0.0), plain, 2)


def test_the_vertex_whose_number_is_not_its_sum_is_named() -> None:
    held = of_sums(
        GRID, np.zeros(16), values=np.arange(16) // 9 * 1.0, arcs=None,
        _vertices=lambda: np.zeros(16), _arcs=lambda: None,
    )  # fmt: skip
    check: Any = Betweenness._check_scaling
    with pytest.raises(VerificationError, match="vertex 9 has 1, but its sum gives 0"):
        check(held)


def test_sums_are_compared_up_to_rounding(monkeypatch: Patch) -> None:
    check: Any = Betweenness._check_identity
    for pairs, sums in ((1e6, [1e6 + 5e-4]), (0.25, [0.25 + 5e-10])):
        monkeypatch.setattr(
            betweenness_module, "_pairs_and_distances", lambda task, pairs=pairs: (pairs, 0.0)
        )
        check(of_sums(GRID, sums))
    monkeypatch.setattr(betweenness_module, "_pairs_and_distances", lambda task: (0.0, 0.0))
    monkeypatch.setattr(betweenness_module, "_ROUNDING", 0.0)
    check(of_sums(GRID, [0.0]))
    _compare(GRID, (np.ones(2), None), (np.ones(2), None))


def test_the_smaller_of_two_sums() -> None:
    low, high = np.array([1.0, 5.0]), np.array([2.0, 3.0])
    of_vertices, of_arcs = _smaller((low, high), (high, low))
    assert of_arcs is not None
    assert of_vertices.tolist() == of_arcs.tolist() == [1, 3]
    for one, other in ((None, None), (None, low), (low, None)):
        assert _smaller((low, one), (high, other))[1] is None


# ---- chains of predecessors ---------------------------------------------------------------------


def test_a_chain_that_leads_nowhere() -> None:
    assert follow_chains(np.array([1, 2]), np.array([0, 1]), 0, 3) == (2, None)
    assert follow_chains(np.array([1, 2]), np.array([2, 1]), 0, 3) == (0, 1)
