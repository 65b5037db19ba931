"""What verify() lets pass as rounding, to the last bit, and what it decides exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import graph, names

import kleene as kl
from kleene import VerificationError
from kleene.backends.semiring import SEMIRINGS
from kleene.proofs.paths import PathValues, Proof, verify

EPS = 2.0**-52
INF = np.inf


def prove(
    g: kl.Graph,
    values: Any,
    tree: Any = None,
    *,
    semiring: str = "min_plus",
    limit: float | None = None,
    targets: Any = None,
    horizon: float | None = None,
    hops: bool = False,
    dtype: Any = np.float64,
) -> Proof:
    """Prove one row, from source 0."""
    return verify(
        PathValues(
            g,
            SEMIRINGS[semiring],
            np.array([0]),
            np.array([values], dtype),
            None if tree is None else np.array([tree], np.int32),
            None if horizon is None else np.array([horizon], dtype),
            hops,
            None if targets is None else np.array(targets),
            limit,
        )
    )


def chain(*weights: float, dtype: Any = np.float64) -> kl.Graph:
    n = len(weights)
    return kl.Graph.from_edges(range(n), range(1, n + 1), np.array(weights, dtype))


def test_floats_that_a_search_adds_up_are_exact() -> None:
    for name in names():
        g = graph(name)
        if g.n and g.weight_dtype == np.float64 and not g.stats.negative:
            assert kl.sssp(g, 0).verify().tolerance == "exact in float64"
            assert kl.sssp(g, 0, predecessors=False).verify().tolerance == "exact in float64"
    assert prove(chain(0.1, 0.2), [0, 0.1, 0.1 + 0.2], [-1, 0, 1]).tolerance == "exact in float64"
    assert kl.closure(chain(0.1, 0.2), "max_min").verify().tolerance == "exact"
    assert kl.bfs(chain(0.1, 0.2), 0, dtype=float).verify().tolerance == "exact"


# One arc of 1 may be off by 2 eps for each of two arcs: the longest chain, and one more.
@pytest.mark.parametrize("tree", [[-1, 0], None])
def test_one_arc(tree: Any) -> None:
    for sign in (1, -1):
        proof = prove(chain(1.0), [0, 1 + sign * 4 * EPS], tree)
        assert proof.tolerance == "up to rounding, 1e-15 relative to the magnitudes added"
        with pytest.raises(VerificationError, match="vertex 1 holds"):
            prove(chain(1.0), [0, 1 + sign * 5 * EPS], tree)


@pytest.mark.parametrize("tree", [[-1, 0, 1, 2], None])
def test_slack_grows_with_the_chain_and_the_value(tree: Any) -> None:
    for g in (chain(1.0, 1.0, 1.0), chain(1.0, 1.0, 1.0, 1e18)):
        more = [3 + 1e18] * (g.n - 4)
        tree = tree and [-1, *range(g.n - 1)]
        prove(g, [0, 1, 2, 3 + 24 * EPS, *more], tree)  # 2 eps, 4 arcs or 5, a sum of 3
        prove(g, [0, 1 + 8 * EPS, 2, 3, *more], tree)
        with pytest.raises(VerificationError, match="vertex 3 holds"):
            prove(g, [0, 1, 2, 3 + 32 * EPS, *more], tree)
        with pytest.raises(VerificationError, match="vertex 1 holds"):
            prove(g, [0, 1 + 12 * EPS, 2, 3, *more], tree)


def test_an_arc_that_improves_by_more_than_rounding() -> None:
    """Fact 2 alone: the tree is tight, and another arc is better."""
    for better, fits in ((3 * EPS, True), (4 * EPS, False), (9 * EPS, False)):
        g = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [0.5, 1.0, 0.5 - better])
        values = [0, 0.5, 1.0]
        if fits:
            prove(g, values, [-1, 0, 0])
        else:
            with pytest.raises(VerificationError, match="but the arc 1 -> 2 offers"):
                prove(g, values, [-1, 0, 0])


@pytest.mark.parametrize("tree", [[-1, 0, 1], None])
def test_negative_weights_have_more_room(tree: Any) -> None:
    g = chain(1.0, -0.25)
    assert prove(g, [0, 1, 0.75], tree).tolerance == "exact in float64"
    prove(g, [0, 1 + 48 * EPS, 0.75], tree)  # 8 eps, three arcs, the power of two beyond 1
    with pytest.raises(VerificationError, match="vertex 1 holds"):
        prove(g, [0, 1 + 49 * EPS, 0.75], tree)


def test_sums_that_cancel_round_by_the_largest() -> None:
    """The way to vertex 2 passes 1000, so that what is left may be off by its rounding."""
    g = chain(1000.0, -999.9)
    left = 1000.0 - 999.9
    prove(g, [0, 1000.0, left], [-1, 0, 1])
    prove(g, [0, 1000.0, left + 1000 * 8 * EPS], [-1, 0, 1])
    with pytest.raises(VerificationError, match="vertex 2 holds"):
        prove(g, [0, 1000.0, left + 2100 * 24 * EPS], [-1, 0, 1])


def tie(huge: float) -> kl.Graph:
    """Two ways to vertex 2 cancel, one of them from far up; then there is an arc of 7."""
    tails, heads = [0, 1, 0, 3, 2], [1, 2, 3, 2, 4]
    return kl.Graph.from_edges(tails, heads, [huge, -huge, 1.0, -1.0, 7.0])


def test_not_proved_where_rounding_hides_everything() -> None:
    g = tie(1e18)
    assert kl.sssp(g, 0).verify().tolerance == "exact in float64"
    for tree in ([-1, 0, 1, 0, 2], [-1, 0, 3, 0, 2], None):
        with pytest.raises(VerificationError, match="not proved: over 3 arcs, rounding in float64"):
            prove(g, [0, 1e18, 0, 1, 900.0], tree)
        with pytest.raises(VerificationError, match="vertex 4 holds 100000"):
            prove(g, [0, 1e18, 0, 1, 1e5], tree)
    prove(tie(1e3), [0, 1e3, 0, 1, 7 + 64 * EPS], [-1, 0, 3, 0, 2])


def test_not_proved_over_a_long_chain_of_float32() -> None:
    n = 3000
    g = kl.Graph.from_edges(range(n), range(1, n + 1), np.ones(n, np.float32))
    tree = [-1, *range(n)]
    right = np.arange(n + 1, dtype=np.float32)
    assert prove(g, right, tree, dtype=np.float32).tolerance == "exact in float32"
    nearly = right.copy()
    nearly[1::2] *= 1 + 2.0**-20
    assert "up to rounding, 0.00" in prove(g, nearly, tree, dtype=np.float32).tolerance
    far = right.copy()
    far[1::2] *= 1.0005
    with pytest.raises(VerificationError, match="not proved: over 3,000 arcs, rounding in float32"):
        prove(g, far, tree, dtype=np.float32)


def test_a_huge_weight_that_leads_nowhere_widens_nothing() -> None:
    g = kl.Graph.from_edges([0, 0, 1, 0], [1, 2, 2, 3], [5.0, 7.0, -1.0, 1e18])
    for tree in ([-1, 0, 1, 0], None):
        prove(g, [0, 5, 4, 1e18], tree)
        prove(g, [0, 5 * (1 + 8 * EPS), 4, 1e18], tree)
        for off in (1e-10, 1.0, 895.0):
            for wrong in ([0, 5 + off, 4, 1e18], [0, 5, 4 - off, 1e18], [0, 5, 4 + off, 1e18]):
                with pytest.raises(VerificationError, match=r"vertex [12] holds"):
                    prove(g, wrong, tree)


def test_weights_are_rounded_to_the_type_of_the_values() -> None:
    g = chain(0.1, 0.2)
    for dtype in (np.float32, np.float64):
        first = dtype(0.1)
        values = [0, first, first + dtype(0.2)]
        name = np.dtype(dtype).name
        assert prove(g, values, [-1, 0, 1], dtype=dtype).tolerance == f"exact in {name}"


# ---- products -----------------------------------------------------------------------------------


def test_products() -> None:
    g = chain(0.5, 0.5)
    one = {"semiring": "max_times"}
    assert prove(g, [1, 0.5, 0.25], [-1, 0, 1], **one).tolerance == "exact in float64"  # type: ignore[arg-type]
    for tree in ([-1, 0, 1], None):
        prove(g, [1, 0.5, 0.25 * (1 + 6 * EPS)], tree, semiring="max_times")
        for wrong in (0.25 * (1 + 7 * EPS), 0.25 * (1 - 7 * EPS), 0.0, 0.3):
            with pytest.raises(VerificationError):
                prove(g, [1, 0.5, wrong], tree, semiring="max_times")


def test_products_that_underflow() -> None:
    g = chain(1e-200, 1e-120, 0.5, 0.5)
    for row in kl.methods("closure"):
        if row.device in ("cpu", "reference") and "max_times" in row.semirings:
            for tree in (True, False):
                options: Any = {"method": row.name, "device": row.device, "predecessors": tree}
                kl.closure(g, "max_times", **options).verify()
    product = 1e-200 * 1e-120
    last = 0.5 * (0.5 * product)
    tiny = 5e-324
    right = [1, 1e-200, product, 0.5 * product, last]
    prove(g, right, semiring="max_times")
    prove(g, [*right[:-1], last + 4 * tiny], semiring="max_times")
    with pytest.raises(VerificationError):
        prove(g, [*right[:-1], last + 20 * tiny], semiring="max_times")
    with pytest.raises(VerificationError, match=r"vertex 1 holds 0.0, but the arc 0 -> 1"):
        prove(g, [1, 0, 0, 0, 0], semiring="max_times")


# ---- limits -------------------------------------------------------------------------------------

TENTHS = chain(0.1, 0.2, 0.3)
LAST = 0.1 + 0.2 + 0.3  # 0.6 and one bit


def test_a_limit_equal_to_a_distance() -> None:
    """Where all else is exact, so is the limit."""
    for tree in ([-1, 0, 1, 2], None):
        prove(TENTHS, [0, 0.1, 0.1 + 0.2, LAST], tree, limit=LAST, horizon=LAST)
    for tree in ([-1, 0, 1, -1], None):
        cut = [0, 0.1, 0.1 + 0.2, INF]
        prove(TENTHS, cut, tree, limit=0.6, horizon=0.6)
        with pytest.raises(VerificationError, match="vertex 3 holds inf, but the arc 2 -> 3 offer"):
            prove(TENTHS, cut, tree, limit=LAST, horizon=LAST)
        with pytest.raises(VerificationError, match="vertex 3 holds inf, but the arc 2 -> 3 offer"):
            prove(TENTHS, cut, tree, limit=5.0, horizon=5.0)


def test_a_limit_within_rounding_of_a_distance() -> None:
    """Where values come from another order of addition, what is as close as that stays open."""
    first = np.nextafter(0.1, 0)
    for tree in ([-1, 0, 1, -1], None):
        cut = [0, first, 0.1 + 0.2, INF]
        prove(TENTHS, cut, tree, limit=LAST, horizon=LAST)
        with pytest.raises(VerificationError, match="vertex 3 holds inf, but the arc 2 -> 3 offer"):
            prove(TENTHS, cut, tree, limit=0.6 + 1e-14, horizon=0.6 + 1e-14)
    for tree in ([-1, 0, -1, -1], None):
        with pytest.raises(VerificationError, match="vertex 2 holds inf, but the arc 1 -> 2 offer"):
            prove(TENTHS, [0, first, INF, INF], tree, limit=LAST, horizon=LAST)


def test_values_beyond_the_limit() -> None:
    values, tree = [0, 0.1, 0.1 + 0.2, LAST], [-1, 0, 1, 2]
    for horizon in (None, 0.6, INF):
        with pytest.raises(VerificationError, match=r"vertex 3 holds 0.6\d*, beyond the limit 0.6"):
            prove(TENTHS, values, tree, limit=0.6, horizon=horizon)
    prove(TENTHS, values, tree, limit=LAST, horizon=INF)
    prove(TENTHS, values, tree, limit=LAST)
    with pytest.raises(VerificationError, match="vertex 3 holds inf"):  # complete, it says
        prove(TENTHS, [*values[:3], INF], [-1, 0, 1, -1], limit=0.6)


def test_horizons() -> None:
    cut, tree = [0, 0.1, 0.1 + 0.2, INF], [-1, 0, 1, -1]
    prove(TENTHS, cut, tree, targets=[2], horizon=0.1 + 0.2)
    prove(TENTHS, cut, tree, targets=[2, 0], horizon=0.5, limit=9.0)
    with pytest.raises(VerificationError, match=r"stopped at 0.5, too early"):
        prove(TENTHS, cut, tree, targets=[3, 2], horizon=0.5)
    with pytest.raises(VerificationError, match=r"stopped at 0.5, too early"):
        prove(TENTHS, cut, tree, limit=0.55, horizon=0.5)
    with pytest.raises(VerificationError, match=r"vertex 2 holds 0.3\d*, beyond the horizon 0.2"):
        prove(TENTHS, cut, tree, targets=[1], horizon=0.2)
    with pytest.raises(VerificationError, match=r"horizons hold 0.6, beyond the limit 0.5"):
        prove(TENTHS, cut, tree, limit=0.5, horizon=0.6)
    with pytest.raises(VerificationError, match="there is no limit and no targets to stop at"):
        prove(TENTHS, cut, tree, horizon=0.6)


def test_hops_are_whole_and_so_are_their_limits() -> None:
    options: Any = {"hops": True, "limit": 2.5}
    for horizon in (2.0, 2.5):
        prove(TENTHS, [0, 1, 2, -1], [-1, 0, 1, -1], horizon=horizon, **options)
        with pytest.raises(VerificationError, match=r"vertex 3 holds 3.0, beyond the limit 2"):
            prove(TENTHS, [0, 1, 2, 3], [-1, 0, 1, 2], horizon=horizon, **options)
        with pytest.raises(VerificationError, match="vertex 2 holds"):
            prove(TENTHS, [0, 1, -1, -1], [-1, 0, -1, -1], horizon=horizon, **options)
    with pytest.raises(VerificationError, match=r"stopped at 1.0, too early"):
        prove(TENTHS, [0, 1, -1, -1], [-1, 0, -1, -1], horizon=1.9, **options)
    for limit in (2, 2.5):
        r = kl.bfs(TENTHS, 0, limit=limit, dtype="float64", device="cpu")
        assert r.distances.tolist() == [0, 1, 2, -1]
        r.verify()


def test_sums_that_overflow_are_not_proved() -> None:
    g = chain(1e308, 1e308)
    for values in ([0, 1e308, INF], [0, INF, INF]):
        with pytest.raises(VerificationError, match="values are float64: "):
            prove(g, values)
    with pytest.raises(VerificationError, match="values are float32: "):
        prove(chain(1e38, 3e38), [0, 1e38, INF], dtype=np.float32)


# ---- right answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["even", "uneven", "cancelling", "chain"])
def test_right_answers_of_all_orders_of_addition(kind: str, dtype: Any) -> None:
    rng = np.random.default_rng(11)
    methods = [row for row in kl.methods("apsp") if row.device == "cpu"]
    for n in (9, 25):
        tails, heads = rng.integers(0, n, (2, 4 * n))
        weights = rng.random(4 * n)
        if kind == "uneven":
            weights = rng.lognormal(0, 5, 4 * n)
        elif kind == "cancelling":
            height = rng.normal(size=n) * np.geomspace(1, 1e4, n)
            weights += height[heads] - height[tails] + 0.01
        elif kind == "chain":
            tails, heads = np.arange(4 * n), np.arange(1, 4 * n + 1)
        g = kl.Graph.from_edges(tails, heads, weights.astype(dtype))
        for row in methods:
            if not row.negative and g.stats.negative:
                continue
            for tree in (True, False):
                options: Any = {"method": row.name, "device": "cpu", "predecessors": tree}
                kl.apsp(g, **options).verify()


# ---- several rows -------------------------------------------------------------------------------


def test_one_wrong_horizon_among_several() -> None:
    answer = kl.sssp(TENTHS, sources=[0, 1], limit=0.4)
    assert answer._answer.horizons is not None
    answer.verify()
    answer._answer.horizons[0] = 0.5
    with pytest.raises(VerificationError, match=r"horizons hold 0.5, beyond the limit 0.4"):
        answer.verify()
    answer._answer.horizons[:] = 0.4, -1
    with pytest.raises(VerificationError, match=r"horizons hold -1.0, expected"):
        answer.verify()


def test_hop_counts_are_lengths() -> None:
    with pytest.raises(VerificationError, match="hop counts require min_plus"):
        prove(TENTHS, [0, 1, 2, 3], hops=True, semiring="max_min")


def test_the_least_that_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sample, as many rows as seconds allow, but sixteen."""
    answer = kl.apsp(graph("grid"))
    monkeypatch.setattr("kleene.proofs.paths._WORK", 1)
    assert answer.verify().rows == 16
    assert answer.verify(sample=3).rows == 3
    work = 20 * (answer.graph.m + answer.graph.n)
    monkeypatch.setattr("kleene.proofs.paths._WORK", work)
    assert answer.verify().rows == 20


def test_a_cycle_of_about_zero_rounds_by_its_own_weights() -> None:
    """0.3 - 0.1 - 0.2 is not quite zero: a path round it may reach vertex 1 a little lower."""
    cycle = [0, 2, 3, 0], [2, 3, 0, 1], [0.3, -0.1, -0.2, 0.0]
    g = kl.Graph.from_edges(*cycle)
    second = 0.3 - 0.1
    lower = second - 0.2
    values = [0, lower, 0.3, second]
    assert lower < 0
    for tree in ([-1, 0, 0, 2], None):
        assert "up to rounding" in prove(g, values, tree).tolerance
        with pytest.raises(VerificationError, match="vertex 1 holds"):
            prove(g, [0, -1e-13, 0.3, second], tree)
    with pytest.raises(VerificationError, match="vertex 1 holds"):  # without the cycle
        prove(kl.Graph.from_edges(*(part[:2] + part[3:] for part in cycle)), values)


@pytest.mark.parametrize("tree", [None, [-1, 0, 0]])
def test_the_head_rounds_by_the_largest_path_that_is_as_long(tree: Any) -> None:
    """Vertex 1 may hold the sum over 4096, whatever its predecessor; elsewhere 4096 is nothing."""
    tails, heads, weights = [0, 0, 2], [1, 2, 1], np.array([1.0, 4096.0, -4095.0])
    g = kl.Graph.from_edges(tails, heads, weights)
    most = 8 * 2 * 2**13 * EPS  # 8 eps, two arcs, the power of two beyond 4096 + 4095
    prove(g, [0, 1 + most - EPS, 4096], [-1, 0, 0])
    with pytest.raises(VerificationError, match="vertex 1 holds"):
        prove(g, [0, 1 + most + 2 * EPS, 4096], [-1, 0, 0])
    apart = kl.Graph.from_edges(tails, heads, np.array([1.0, 4096.0, -4000.0]))  # leads nowhere
    with pytest.raises(VerificationError, match="vertex 1 holds"):
        prove(apart, [0, 1 + 100 * EPS, 4096], tree)


def test_answers_of_every_way_where_cycles_weigh_about_zero() -> None:
    """Weights are differences of potentials, so that all paths are as long but for rounding."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 30))
        tails, heads = rng.integers(0, n, (2, 3 * n))
        tails, heads = np.append(tails, heads), np.append(heads, tails)
        height = rng.normal(size=n) * 10.0 ** rng.integers(-2, 4)
        weights = (height[heads] - height[tails]).astype(["float32", "float64"][seed % 2])
        different = tails != heads
        g = kl.Graph.from_edges(tails[different], heads[different], weights[different], n=n)
        prepared, pairs = kl.prepare(g), [(0, v) for v in range(n)]
        for result in (
            prepared.trees([0, 1, 2]),
            prepared.trees([0, 1, 2], reverse=True),
            prepared.matrix([0, 1, 2], range(n)),
            kl.sssp(prepared, pairs=pairs),
            kl.sssp(prepared, pairs=pairs, predecessors=False),
            kl.apsp(g),
        ):
            assert result.verify()
