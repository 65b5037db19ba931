"""Histograms of distances near edges: what rounding explains is accepted, and nothing else."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.proofs.counts import CountBounds
from kleene.proofs.rows import ProvedRow

EDGES = np.array([0.0, 1.0, 2.0, 4.0])


class Row(ProvedRow):
    """A row whose distances may be off by so much."""

    slack: Any = None


def row(values: list[float], slack: float) -> Row:
    """Return the distances from vertex 0, whose own comes first."""
    made = Row(kl.generate.path(1), "min_plus", 0, np.array([0.0, *values]), np.empty(0))
    made.__dict__["slack"] = np.append(0.0, np.full(len(values), slack))
    made.__dict__["short"] = np.zeros(len(values) + 1, bool)
    return made


def histogram(values: Any) -> list[int]:
    below = [int((np.asarray(values) < edge).sum()) for edge in EDGES]
    return np.diff(below).tolist()


NEAR = st.sampled_from([0.5, 0.95, 1.0, 1.05, 1.5, 1.95, 2.0, 2.05, 3.0, 3.95, 4.0, 4.05, 9.0])


@given(st.lists(NEAR, max_size=4), st.sampled_from([0.0, 0.07]))
def test_a_histogram_is_accepted_if_rounding_explains_it(values: list[float], slack: float) -> None:
    """Each distance is where it is, or beyond the edge that it is near."""
    moved = [sorted({v - slack, v, v + slack}) for v in values]
    possible = {tuple(histogram(each)) for each in product(*moved)}
    bounds = CountBounds(EDGES)
    bounds.add(row(values, slack), own=False)
    for counts in product(range(-1, len(values) + 2), repeat=3):
        accepted = bounds.first_wrong(np.array(counts)) is None
        assert accepted == (counts in possible), counts
        enough = any(np.all(np.array(counts) >= each) for each in possible)
        assert (bounds.first_wrong(np.array(counts), some=True) is None) == enough, counts


def test_the_source_itself() -> None:
    for own in (False, True):
        bounds = CountBounds(EDGES)
        bounds.add(row([1.5], 0.1), own=own)
        assert bounds.first_wrong(np.array([int(own), 1, 0])) is None
        assert bounds.first_wrong(np.array([1 - int(own), 1, 0])) == 0


@pytest.mark.parametrize(
    ("counts", "some", "rounded"),
    [
        ([1, 1, 0], False, False),
        ([0, 1, 0], False, True),
        ([1, 0, 1], False, True),
        ([2, 1, 0], False, True),
        ([2, 2, 1], False, True),
        ([0, 0, 0], False, True),
        ([2, 2, 1], True, False),
        ([1, 1, 0], True, False),
        ([0, 2, 1], True, True),
    ],
)
def test_counts_that_rounding_explains(counts: list[int], some: bool, rounded: bool) -> None:
    """More pairs need no rounding if they may be those of other rows."""
    bounds = CountBounds(EDGES)
    bounds.add(row([1.5, 0.95], 0.1), own=False)
    assert bounds.rounded(np.array(counts), some) == rounded


def test_integers_beyond_the_floats() -> None:
    far = 2**60
    g = kl.Graph.from_edges([0, 1], [1, 2], [far, 1])
    edges = np.array([0, far, far + 1, far + 2])
    h = kl.distance_histogram(g, sources=[0], bins=edges)
    assert h.counts.tolist() == [0, 1, 1]
    h.verify()
    h.counts = np.array([0, 2, 0])
    with pytest.raises(kl.VerificationError, match="bin 1 has 2 pairs"):
        h.verify()


# ---- answers ------------------------------------------------------------------------------------


def test_no_count_is_wrong_because_lengths_are_on_edges() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.5, 2.0, 1.0, 1.0])
    h = kl.distance_histogram(g)
    h.verify()
    h.counts = np.zeros_like(h.counts)
    with pytest.raises(kl.VerificationError, match="has 0 pairs"):
        h.verify()
    r = kl.reduce_distances(g, bins=5)
    r.verify()
    r.histogram = r.histogram + np.array([0, 0, 0, 0, 2])
    with pytest.raises(kl.VerificationError, match=r"vertices in bin 4, expected"):
        r.verify()


def test_counts_that_do_not_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_MEMORY", "100M")
    g = kl.generate.grid(60, 60)
    with pytest.raises(kl.MemoryBudgetError, match="3,600 sources in 50,000 bins needs"):
        kl.reduce_distances(g, bins=50_000)
    for call in (kl.reduce_distances, kl.distance_histogram):
        with pytest.raises(kl.MemoryBudgetError, match="take fewer bins"):
            call(g, bins=10**12)
    few = kl.reduce_distances(g, bins=50)
    assert few.plan.memory >= few.histogram.nbytes
    weighted = kl.generate.grid(60, 60, weights=(1, 9), seed=1)
    counted = kl.distance_histogram(weighted, bins=50_000, sources=range(600))
    assert counted.counts.sum() == 600 * 3599
