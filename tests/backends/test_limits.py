"""A limit: the same vertices lie within it by every method, to the last bit.

The rule is in ``kleene.backends.common.limits``: lengths are added one by one from the source.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_methods import ROWS, label, solve

import kleene as kl
from kleene.backends.common import limits
from kleene.registry import Method

SEARCHES = [row for row in ROWS if row.problem in ("sssp", "apsp")]
HOPS = [row for row in ROWS if row.problem == "bfs"]
MATRICES = [row for row in SEARCHES if row.problem == "apsp" and row.device == "cpu"]

Arc = tuple[int, int, Any]


def lengths_from(source: int, n: int, arcs: list[Arc], kind: Any) -> list[Any]:
    """Relax every arc until nothing changes, in the type of the values; None for no path."""
    found: list[Any] = [None] * n
    found[source] = kind(0)
    changed = True
    while changed:
        changed = False
        for u, v, w in arcs:
            if found[u] is not None and (found[v] is None or found[u] + w < found[v]):
                found[v], changed = found[u] + w, True
    return found


@st.composite
def limited(draw: st.DrawFn) -> tuple[kl.Graph, list[list[Any]], float, Any]:
    """A graph, its lengths by the rule, a limit among them or as near as floats go, their type."""
    kind = draw(st.sampled_from([np.float64, np.float32]))
    n = draw(st.integers(2, 8))
    ends = st.integers(0, n - 1)
    weights = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0, 1e-9]) | st.floats(0, 10, width=32)
    some = draw(st.lists(st.tuples(ends, ends, weights), min_size=1, max_size=3 * n))
    some += [(v, v + 1, draw(weights)) for v in range(n - 1)]  # paths of many arcs
    g = kl.Graph.from_edges(
        [s for s, _, _ in some], [t for _, t, _ in some],
        np.array([w for _, _, w in some], dtype=kind), n=n, directed=draw(st.booleans()),
    )  # fmt: skip
    tails, heads, held = g.coo
    assert held is not None
    arcs = list(zip(tails.tolist(), heads.tolist(), held, strict=True))
    rows = [lengths_from(source, n, arcs, kind) for source in range(n)]
    backwards = [(v, u, w) for u, v, w in arcs]
    other_order = [lengths_from(target, n, backwards, kind) for target in range(n)]
    all_lengths = {v for row in (*rows, *other_order) for v in row if v is not None}
    limit = draw(st.sampled_from(sorted(all_lengths)))
    limit = draw(st.sampled_from([limit, np.nextafter(limit, kind(np.inf)), limit / 2]))
    if limit > 0 and draw(st.booleans()):
        limit = np.nextafter(limit, kind(0))
    return g, rows, float(limit), kind


@pytest.mark.parametrize("row", SEARCHES, ids=label)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_distance_as_a_limit(row: Method, kind: Any) -> None:
    n = 17  # more than a block of most methods
    weights = np.random.default_rng(2).choice([0.1, 0.2, 0.3, 0.7], n - 1).astype(kind)
    g = kl.Graph.from_edges(range(n - 1), range(1, n), weights, directed=False)
    whole = kl.sssp(g, sources=range(n), device="reference").distances
    for limit in np.unique(whole)[:: 2 if row.device == "cpu" else 9].tolist():
        r = solve(row, g, "min_plus", limit=limit, predecessors=False)
        assert (r.reached == (whole <= limit)).all()
        r.verify()


@pytest.mark.parametrize("row", SEARCHES, ids=label)
@settings(max_examples=20)
@given(case=limited(), predecessors=st.booleans())
def test_every_method_reaches_the_same(
    row: Method, case: tuple[kl.Graph, list[list[Any]], float, Any], predecessors: bool
) -> None:
    g, rows, limit, kind = case
    r = solve(row, g, "min_plus", limit=limit, predecessors=predecessors)
    assert r.distances.dtype == kind
    assert r.reached.tolist() == [[v is not None and v <= limit for v in values] for values in rows]
    assert (r.distances[r.reached] <= limit).all()
    if r.predecessors is not None:
        assert ((r.predecessors >= 0) == (r.reached & ~np.eye(g.n, dtype=bool))).all()
    r.verify()


def test_rows_that_need_no_search_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "search", None)
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.1, 0.2, 0.3])
    r = kl.apsp(g, limit=0.4, method="tiled", device="cpu")
    assert r.reached[0].tolist() == [True, True, True, False]
    halves = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.5, 1.25, 2.0])
    for row in MATRICES:  # on a limit, but sums are exact
        assert solve(row, halves, "min_plus", limit=1.75).reached[0].tolist() == [1, 1, 1, 0]
    whole = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3])
    for row in MATRICES:
        assert solve(row, whole, "min_plus", limit=3, dtype="float32").reached[0].sum() == 3


@pytest.mark.parametrize("predecessors", [True, False])
def test_rows_in_a_file_are_replaced_block_by_block(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, predecessors: bool
) -> None:
    monkeypatch.setattr(limits, "_BLOCK", 100)
    rng = np.random.default_rng(3)
    g = kl.Graph.from_dense(rng.choice([0.1, 0.2, 0.3, 0.7, np.inf], (40, 40)))
    whole = kl.sssp(g, sources=range(40), method="dijkstra", device="cpu")
    for limit in np.unique(whole.distances)[1:4].tolist():
        out = tmp_path / f"{limit}.npy"
        asked: Any = {"limit": limit, "method": "tiled", "device": "cpu", "out": out}
        r = kl.apsp(g, predecessors=predecessors, **asked)
        assert (r.reached == (whole.distances <= limit)).all()
        assert (np.load(out) == r.distances).all()
        r.verify()


@pytest.mark.parametrize("row", HOPS, ids=label)
@pytest.mark.parametrize("dtype", [None, "int64", "float32", "float64"])
def test_hops_are_whole(row: Method, dtype: str | None) -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    for limit in (2, 2.5, np.float32(2.9), np.float16(2.5), Fraction(5, 2), np.int8(2)):
        r = solve(row, g, "min_plus", sources=[0], limit=limit, dtype=dtype)
        assert r.distances.tolist() == [[0, 1, 2, -1, -1]]
        r.verify()


@pytest.mark.parametrize("row", SEARCHES, ids=label)
def test_limits_of_any_type(row: Method) -> None:
    for dtype in (np.int32, np.float32, np.float64):
        g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 2, 3], dtype=dtype))
        for limit in (3, 3.5, np.float16(3), np.float32(3.5), Fraction(7, 2), np.uint8(3)):
            r = solve(row, g, "min_plus", sources=[0], limit=limit)
            assert r.reached.tolist() == [[True, True, True, False]]
            r.verify()


ROUNDED = pytest.mark.parametrize(
    ("limit", "within"), [(0.1, True), (np.float32(0.1), True), (0.09, False)]
)


@ROUNDED
@pytest.mark.parametrize("heavy", [0.2, 3e38])  # of the second, sums are float64
def test_a_limit_is_rounded_to_float32_weights_in_every_call(
    limit: Any, within: bool, heavy: float
) -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([0.1, heavy], np.float32), directed=False)
    found: dict[str, Any] = {
        "sssp": kl.sssp(g, 0, limit=limit),
        "reference": kl.sssp(g, 0, limit=limit, device="reference"),
        "apsp": kl.apsp(g, limit=limit),
        "pairs": kl.sssp(g, pairs=[(0, 1)], limit=limit),
        "within": kl.within(g, [0], limit),
        "nearest": kl.nearest(g, [0], limit=limit),
        "two nearest": kl.nearest(g, [0, 2], 2, limit=limit),
        "prepared within": kl.prepare(g).within([0], limit),
        "prepared nearest": kl.prepare(g).nearest([1], [0], limit=limit),
        "closeness": kl.closeness(g, sources=[0], limit=limit),
        "harmonic": kl.harmonic(g, sources=[0], limit=limit),
        "histogram": kl.distance_histogram(g, sources=[0], limit=limit),
        "reduced": kl.reduce_distances(g, sources=[0], limit=limit),
        "path_counts": kl.path_counts(g, 0, limit=limit),
        "loads": kl.loads(g, [(0, 1)], limit=limit),
        "betweenness": kl.betweenness(g, edges=True, sources=[0], limit=limit),
    }
    for result in found.values():
        result.verify()
    near = {
        "sssp": found["sssp"].reached[1],
        "reference": found["reference"].reached[1],
        "apsp": found["apsp"].reached[0, 1],
        "pairs": np.isfinite(found["pairs"].distances[0]),
        "within": len(found["within"].reached(0)) == 2,
        "nearest": np.isfinite(found["nearest"].distances[1]),
        "two nearest": np.isfinite(found["two nearest"].distances[1, 0]),
        "prepared within": len(found["prepared within"].reached(0)) == 2,
        "prepared nearest": np.isfinite(found["prepared nearest"].distances[0]),
        "ego": kl.ego(g, 0, limit).n == 2,
        "closeness": found["closeness"].reached[1],
        "harmonic": found["harmonic"].reached[1],
        "histogram": found["histogram"].counts.sum(),
        "reduced": found["reduced"].reached[0] == 2,
        "path_counts": found["path_counts"][1],
        "loads": found["loads"].arcs[0],
        "betweenness": found["betweenness"].arcs[0],
    }
    assert {name: bool(np.all(value)) for name, value in near.items()} == dict.fromkeys(
        near, within
    )


@ROUNDED
@pytest.mark.parametrize("row", SEARCHES, ids=label)
def test_a_limit_is_rounded_to_float32_weights_by_every_method(
    row: Method, limit: Any, within: bool
) -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([0.1, 0.2], np.float32), directed=False)
    r = solve(row, g, "min_plus", sources=[0], limit=limit, dtype="float64")
    assert r.distances.dtype == np.float64
    assert r.reached.tolist() == [[True, within, False]]
    r.verify()


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_stores_keep_the_rounded_limit(tmp_path: Path, suffix: str) -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([0.1, 3e38], np.float32))
    out = tmp_path / f"d.{suffix}"
    asked: Any = {"sources": [0, 1], "targets": [1, 2], "out": out}
    first = kl.sssp(g, limit=0.1, **asked)
    again = kl.sssp(g, limit=np.float32(0.1), **asked)  # the same call
    for r in (first, again, kl.Result.load(out, g)):
        assert np.isfinite(r.distances).tolist() == [[True, False], [True, False]]
        r.verify()
    with pytest.raises(kl.errors.StoreError, match="limit"):
        kl.sssp(g, limit=0.09, **asked)


def test_limits_beyond_float32_are_kept_where_values_are_wider() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([3e38, 3e38, 3e38], np.float32))
    assert kl.sssp(g, 0, limit=6.5e38).reached.tolist() == [True, True, True, False]
    assert kl.sssp(g, 0, limit=10**400).reached.all()
