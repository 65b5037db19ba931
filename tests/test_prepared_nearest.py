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
from test_prepared_pairs import prepare
from test_within import small_graphs

import kleene as kl
from kleene.prepared.nearest import nearest

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
