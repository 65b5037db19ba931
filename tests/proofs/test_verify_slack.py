"""How much rounding explains: the loosest comparison, sums that rise and fall, and underflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_verify_rounding import EPS, INF, chain, prove

import kleene as kl
from kleene.errors import VerificationError

# ---- how loose a proof is -----------------------------------------------------------------------


def test_the_loosest_comparison_counts() -> None:
    values = [0, 1 + 8 * EPS, 2 + 10 * EPS, 3 + 10 * EPS]  # off by 8 eps of 1, and 2 eps of 2
    proof = prove(chain(1.0, 1.0, 1.0), values, [-1, 0, 1, 2])
    assert (
        proof.tolerance == "up to rounding, 6e-15 relative to the magnitudes added"
    )  # 3 arcs of 8.5 eps
    proof = prove(chain(1.0, -0.25), [0, 1 + 24 * EPS, 0.75], [-1, 0, 1])
    assert (
        proof.tolerance == "up to rounding, 1e-14 relative to the magnitudes added"
    )  # 2 arcs of 24.5 eps


def test_what_is_left_open_may_be_as_much_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    g, values, tree = chain(1.0, 1.0), [0, 1, 2 + 2 * EPS], [-1, 0, 1]
    assert (
        prove(g, values, tree).tolerance == "up to rounding, 7e-16 relative to the magnitudes added"
    )
    left_open = 2 * (EPS + EPS / 2)  # two arcs, each off by eps, and its own rounding
    monkeypatch.setattr("kleene.proofs.row_checker._MOST_LEFT_OPEN", left_open)
    prove(g, values, tree)
    monkeypatch.setattr("kleene.proofs.row_checker._MOST_LEFT_OPEN", np.nextafter(left_open, 0))
    with pytest.raises(VerificationError, match="not proved: over 2 arcs"):
        prove(g, values, tree)


@pytest.mark.parametrize(("better", "words"), [(1, "3e-16"), (3, "5e-16")])
def test_a_missing_vertex_beside_an_arc_that_rounding_explains(better: int, words: str) -> None:
    """Vertex 3 is missing at the limit; the arc 2 -> 1 seems to improve vertex 1 a little."""
    second = 1.9 - better * EPS - 1.0
    g = kl.Graph.from_edges([0, 0, 2, 1], [1, 2, 1, 3], [1.9, 1.0, second, 1.0])
    assert 1.9 - (1.0 + second) == better * EPS
    proof = prove(g, [0, 1.9, 1.0, INF], [-1, 0, 0, -1], limit=2.9, horizon=2.9)
    assert proof.tolerance == f"up to rounding, {words} relative to the magnitudes added"


def test_a_limit_just_beyond_rounding_of_a_distance() -> None:
    g = chain(1.0, 1 - EPS)
    values, tree = [0, 1 + EPS, INF], [-1, 0, -1]
    near, beyond = 2 + 6 * EPS, 2 + 8 * EPS  # the arc offers 2, and may be off by 8 eps
    prove(g, values, tree, limit=near, horizon=near)
    with pytest.raises(VerificationError, match="vertex 2 holds inf, but the arc 1 -> 2 offers"):
        prove(g, values, tree, limit=beyond, horizon=beyond)


@pytest.mark.parametrize(
    ("leaves", "off", "words"), [(2, 4, "1e-15"), (5, 4, "1e-15"), (5, 7, "5e-15")]
)
def test_without_a_tree_chains_are_taken_for_no_longer_than_needed(
    leaves: int, off: int, words: str
) -> None:
    """A star; one vertex is off by as much as chains of one or of two to three arcs explain."""
    g = kl.Graph.from_edges([0] * leaves, range(1, leaves + 1), [1.0] * leaves)
    proof = prove(g, [0, 1 + off * EPS, *[1] * (leaves - 1)])
    assert proof.tolerance == f"up to rounding, {words} relative to the magnitudes added"


# ---- sums that rise and fall again --------------------------------------------------------------


def fallen(*more: tuple[int, int, float]) -> tuple[kl.Graph, list[float], list[int]]:
    """Return a graph with the path 0 -> 1 -> 2 -> 3, which passes 600; and its values and tree."""
    arcs = [(0, 1, 600.0), (1, 2, -599.75), (2, 3, 0.25), *more]
    tails, heads, weights = zip(*arcs, strict=True)
    return kl.Graph.from_edges(tails, heads, weights), [0, 600.0, 0.25, 0.5], [-1, 0, 1, 2]


NEAR = 48_000 * EPS  # 8 eps, 4 arcs, and 2048, which is the size of 600 + 599.75
FAR = 70_000 * EPS


def prove_up_to_the_slack(g: kl.Graph, values: list[float], tree: list[int]) -> None:
    """Vertex 3 may be off by what rounding explains, and by no more."""
    prove(g, values, tree)
    values[3] = 0.5 + NEAR
    prove(g, values, tree)
    values[3] = 0.5 + FAR
    with pytest.raises(VerificationError, match="vertex 3 holds"):
        prove(g, values, tree)


def test_each_size_counts_behind_a_larger_one() -> None:
    g, values, tree = fallen((0, 4, 1e18))
    values, tree = [*values, 1e18], [*tree, 0]
    prove_up_to_the_slack(g, values, tree)


def test_paths_of_one_size_of_which_one_was_larger_before() -> None:
    g, values, tree = fallen((0, 4, 1e6), (4, 5, -999_999.5), (5, 6, 1500.0))
    values, tree = [*values, 1e6, 0.5, 1500.5], [*tree, 0, 4, 5]
    prove_up_to_the_slack(g, values, tree)


def test_which_arcs_pass_on_how_large_a_sum_was() -> None:
    """The way over 1000 misses vertex 2 by as much as rounding explains, or by one bit more."""
    most = 8 * EPS * 4 * 2048
    for miss, passes in ((most, True), (most + 2.0**-43, False)):
        way = [1000.0, miss - 1000.0, 1.0, -1.0, 7.0]
        g = kl.Graph.from_edges([0, 1, 0, 3, 2], [1, 2, 3, 2, 4], way)
        assert 1000.0 + way[1] == miss
        values, tree = [0, 1000.0, 0, 1, 7 + 60_000 * EPS], [-1, 0, 3, 0, 2]
        if passes:
            prove(g, values, tree)
        else:
            with pytest.raises(VerificationError, match="vertex 4 holds"):
                prove(g, values, tree)


def test_an_arc_that_adds_nothing_has_no_size() -> None:
    """It is not taken for one of size one, whether or not there is another of that size."""
    arcs = [(0, 1, 0.0), (1, 2, 3e-10), (2, 3, -1e-10)]
    for more in ([], [(0, 4, 0.75)]):
        tails, heads, weights = zip(*arcs, *more, strict=True)
        g = kl.Graph.from_edges(tails, heads, weights)
        last = 3e-10 - 1e-10
        values, tree = [0, 0, 3e-10, last, *[0.75] * len(more)], [-1, 0, 1, 2, *[0] * len(more)]
        prove(g, values, tree)
        values[3] = last + 1e-15
        with pytest.raises(VerificationError, match="vertex 3 holds"):
            prove(g, values, tree)


def test_a_wrong_value_of_the_largest_size() -> None:
    """No power of two above it is a number."""
    for tree in ([-1, 0, 1], None):
        with pytest.raises(VerificationError, match=r"vertex 1 holds 1e\+308, but"):
            prove(chain(1.0, -0.25), [0, 1e308, 0.75], tree)


def test_weights_of_arcs_from_elsewhere_do_not_count() -> None:
    """As above, with a tiny weight that no path from the source goes over."""
    tails, heads = [0, 2, 3, 0, 4], [2, 3, 0, 1, 0]
    g = kl.Graph.from_edges(tails, heads, [0.3, -0.1, -0.2, 0.0, 1e-17])
    second = 0.3 - 0.1
    values = [0, second - 0.2, 0.3, second, INF]
    for tree in ([-1, 0, 0, 2, -1], None):
        assert "up to rounding" in prove(g, values, tree).tolerance


# ---- products that underflow --------------------------------------------------------------------

TINY = 5e-324


@pytest.mark.parametrize("tree", [[-1, 0, 1, 2, 3], None])
def test_products_lose_a_bit_for_each_arc_and_one_more(tree: Any) -> None:
    g = chain(1e-200, 1e-120, 0.5, 0.5)
    product = 1e-200 * 1e-120
    right = [1, 1e-200, product, 0.5 * product]
    last = 0.5 * right[-1]
    proof = prove(g, [*right, last + 5 * TINY], tree, semiring="max_times")
    assert "up to rounding" in proof.tolerance
    with pytest.raises(VerificationError, match="vertex 4 holds"):
        prove(g, [*right, last + 6 * TINY], tree, semiring="max_times")


def test_products_that_vanish() -> None:
    g = chain(1e-200, 1e-200)
    prove(g, [1, 1e-200, TINY], [-1, 0, 1], semiring="max_times")
    for tree in ([-1, -1], None):
        prove(chain(TINY), [1, 0], tree, semiring="max_times")
        with pytest.raises(VerificationError, match=r"vertex 1 holds 0.0, but the arc 0 -> 1"):
            prove(chain(2 * TINY), [1, 0], tree, semiring="max_times")
