"""Nearest facilities and what is within a limit, on eliminated graphs, beside plain searches."""

from __future__ import annotations

import math
import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs import WITH_NEGATIVE_CYCLE, graph, names
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import small_graphs
from test_prepared_pairs import prepare

import kleene as kl
from kleene.errors import MemoryBudgetError
from kleene.prepared import near as prepared_within
from kleene.prepared.customization import customize
from kleene.prepared.elimination import eliminate
from kleene.prepared.near import nearest, within

POSITIVE = [
    name
    for name in names()
    if graph(name).n and not graph(name).stats.negative and name not in WITH_NEGATIVE_CYCLE
]


def dtype_of(g: kl.Graph) -> Any:
    """Return the type of the lengths of paths."""
    return kl.nearest(g, [0]).distances.dtype


def check_nearest(
    g: kl.Graph, found: tuple[Any, Any], sources: list[int], wanted: kl.Nearest
) -> None:
    """The rows of the sources are those of the search; floats, up to rounding."""
    distances, which = found
    shape = (g.n, wanted.k)
    rows, owners = wanted.distances.reshape(shape)[sources], wanted.which.reshape(shape)[sources]
    assert distances.dtype == wanted.distances.dtype
    assert distances.shape == which.shape == (len(sources), wanted.k)
    if distances.dtype.kind == "i":
        assert distances.tolist() == rows.tolist()
        assert which.tolist() == owners.tolist()
        return
    assert ((which < 0) == (owners < 0)).all()
    np.testing.assert_allclose(distances, rows, rtol=1e-5)
    for (r, c), owner in np.ndenumerate(which):  # the facility has the distance that is claimed
        assert owner == owners[r, c] or math.isclose(
            distances[r, c], dict(zip(owners[r], rows[r], strict=True)).get(owner, distances[r, c]),
            rel_tol=1e-5,
        )  # fmt: skip


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("reverse", [False, True])
def test_nearest_of_the_zoo(name: str, k: int, reverse: bool) -> None:
    g = graph(name)
    elimination, customization = prepare(g, dtype=dtype_of(g))
    places = [v % g.n for v in (0, g.n // 2, g.n - 1, 0, 3)]
    sources = [*range(g.n), g.n - 1, 0]
    for limit in (None, 0, 3):
        found = nearest(
            elimination, customization, np.array(sources), np.array(places), k,
            limit=limit, reverse=reverse,
        )  # fmt: skip
        check_nearest(g, found, sources, kl.nearest(g, places, k, limit=limit, reverse=reverse))


@settings(max_examples=100)
@given(case=small_graphs(), data=st.data())
def test_nearest_of_any_small_graph(case: tuple[kl.Graph, list[int]], data: Any) -> None:
    g, sources = case
    elimination, customization = prepare(g, dtype=dtype_of(g), seed=data.draw(st.integers(0, 99)))
    ends = st.integers(0, g.n - 1)
    places = data.draw(st.lists(ends, min_size=1, max_size=6))
    k, reverse = data.draw(st.integers(1, 8)), data.draw(st.booleans())
    limit = data.draw(st.sampled_from([None, 0, 1, 2, math.inf]))
    found = nearest(
        elimination, customization, np.array(sources, dtype=np.int32), np.array(places), k,
        limit=None if limit == math.inf else limit, reverse=reverse, threads=2,
    )  # fmt: skip
    check_nearest(g, found, sources, kl.nearest(g, places, k, limit=limit, reverse=reverse))


def test_nearest_of_all_vertices_in_narrow_integers() -> None:
    """Answers of 64 bits from values of 32; every vertex is a facility, and none is near."""
    weights = np.random.default_rng(0).integers(1, 9, 400)
    tails, heads = np.random.default_rng(1).integers(0, 90, (2, 400))
    g = kl.Graph.from_edges(tails, heads, weights, n=100)
    elimination, customization = prepare(g, dtype=np.int32)
    wide = replace(customization, dtype=np.dtype(np.int64))
    places = np.random.default_rng(2).permutation(g.n)
    found = nearest(elimination, wide, np.arange(g.n), places, 12)
    check_nearest(g, found, list(range(g.n)), kl.nearest(g, places, 12))


def test_nearest_reports_and_stops() -> None:
    g = graph("grid")
    elimination, customization = prepare(g)
    sources = np.random.default_rng(0).integers(0, g.n, 100_000)
    seen: list[tuple[int, int]] = []
    args = elimination, customization, sources, np.array([0, 50]), 2
    nearest(*args, progress=lambda *at: seen.append(at))
    assert seen[-1] == (len(sources), len(sources))
    with pytest.raises(KeyboardInterrupt):
        nearest(*args, progress=lambda *_: signal.raise_signal(signal.SIGINT))


# ---- within a limit ------------------------------------------------------------------------------


def check_within(found: Any, wanted: kl.Reach) -> None:
    """Entry by entry the same as a search, and of the same types."""
    for ours, theirs in zip(found, wanted._answer, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.dtype == theirs.dtype
            assert ours.tolist() == theirs.tolist()


def limits(g: kl.Graph) -> list[Any]:
    most = int(kl.sssp(g, 0).floats[kl.sssp(g, 0).reached].max())
    return [0, 1, most // 3, most, None]


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("reverse", [False, True])
def test_within_of_the_zoo(name: str, reverse: bool) -> None:
    g = graph(name)
    elimination, customization = prepare(g, dtype=dtype_of(g))
    sources = np.arange(g.n)[::-1].repeat(2)[: 2 * min(g.n, 20)]
    for limit in limits(g):
        for keep in (False, True):
            found = within(
                elimination, customization, sources, limit, predecessors=keep, reverse=reverse
            )
            bound = math.inf if limit is None else limit
            wanted = kl.within(g, sources, bound, predecessors=keep, reverse=reverse)
            check_within(found, wanted)


@settings(max_examples=100)
@given(case=small_graphs(), data=st.data())
def test_within_of_any_small_graph(case: tuple[kl.Graph, list[int]], data: Any) -> None:
    g, sources = case
    elimination, customization = prepare(g, dtype=dtype_of(g), seed=data.draw(st.integers(0, 99)))
    keep, reverse = data.draw(st.booleans()), data.draw(st.booleans())
    limit = data.draw(st.sampled_from([0, 1, 2, 4]))
    rows = np.array(sources, dtype=np.int32)
    found = within(
        elimination, customization, rows, limit, predecessors=keep, reverse=reverse, threads=2
    )
    check_within(found, kl.within(g, rows, limit, predecessors=keep, reverse=reverse))


def test_within_sweeps_skip_subtrees_and_many_rows() -> None:
    """A long grid: rows that are sorted, and rows that are read off words; 32 and 64 bits."""
    g = kl.generate.grid(4, 600)
    g = g.reweight(arcs=np.arange(g.m) % 7 + 1)
    order = np.argsort([bin(v % 600 + 1024)[::-1].index("1") for v in range(g.n)], kind="stable")
    elimination = eliminate(g, order)
    sources = np.array([0, 1200, 2399])
    for dtype in (np.int32, np.int64):
        customization = customize(elimination, g, dtype=dtype)
        for limit in (3, 40, 4000):
            found = within(elimination, customization, sources, limit)
            wanted = kl.within(g, sources, limit)
            assert found.distances.dtype == dtype
            assert [a.tolist() for a in found] == [a.tolist() for a in wanted._answer]


@pytest.mark.parametrize("limit", [2, 10**6])
def test_within_by_sweeps_or_searches(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sources reach little, searches answer; where they reach much, sweeps."""
    g = graph("long_path").reweight(arcs=np.ones(256, dtype=np.int32))
    elimination, customization = prepare(g)
    sources = np.zeros(100, dtype=np.int32)
    wanted = kl.within(g, sources, limit)
    searches: list[int] = []
    search, sweep = prepared_within.bounded_search, prepared_within._sweep

    def counted(task: Any, *rest: Any) -> Any:
        searches.append(len(task.sources))
        return search(task, *rest)

    def refused(*args: Any) -> Any:
        assert limit > 2
        return sweep(*args)

    monkeypatch.setattr(prepared_within, "bounded_search", counted)
    monkeypatch.setattr(prepared_within, "_sweep", refused)
    check_within(within(elimination, customization, sources, limit), wanted)
    assert searches == ([9, 100] if limit == 2 else [9])


def test_within_refuses_reports_and_stops() -> None:
    g = graph("grid")
    elimination, customization = prepare(g)
    sources = np.random.default_rng(0).integers(0, g.n, 3000)
    args = elimination, customization, sources, 10**6
    with pytest.raises(MemoryBudgetError, match=r"what 3,000 sources reach needs .* smaller limit"):
        within(*args, available=10_000)
    seen: list[tuple[int, int]] = []
    within(*args, progress=lambda *at: seen.append(at))
    assert seen[-1] == (len(sources), len(sources))
    with pytest.raises(KeyboardInterrupt):
        within(*args, progress=lambda *_: signal.raise_signal(signal.SIGINT))
    none = within(elimination, customization, sources[:0], 5)
    assert none.offsets.tolist() == [0]
