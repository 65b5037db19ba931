"""Betweenness where the numbers of shortest paths exceed a double."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from test_betweenness import agree

import kleene as kl
from kleene import Graph

# ---- counts that no double holds ----------------------------------------------------------------


def doubling_chain(count: int) -> Graph:
    """Return diamonds in a row: the number of shortest paths doubles with each."""
    first = 3 * np.arange(count)
    tails = np.concatenate([first, first, first + 1, first + 2])
    heads = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    return Graph.from_edges(tails, heads, directed=False)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [890, 1100])
def test_numbers_of_paths_may_overflow(count: int, threads: int) -> None:
    """Through the middle vertices of a diamond lead half of the paths that pass it."""
    g = doubling_chain(count)
    b = kl.betweenness(
        g, sources=[0], targets=[3 * count], normalized=False, edges=True, threads=threads
    )
    passed = np.full(g.n, 0.5)
    passed[3::3] = 1
    passed[[0, -1]] = 0
    agree(b.values, passed / 2)
    assert b.arcs is not None
    agree(b.arcs, np.full(g.m, 0.25))


def test_a_large_grid_overflows_and_is_right() -> None:
    """Corner to corner of 520 x 520, the vertex (i, j) is passed by a part that binomials give."""
    side = 520
    g = kl.generate.grid(side, side)
    b = kl.betweenness(g, sources=[0], targets=[side * side - 1], normalized=False)
    assert np.isfinite(b.values).all()
    last = side - 1
    for i, j in ((1, 1), (100, 400), (259, 260), (519, 0), (0, 300)):
        ways = comb(i + j, i) * comb(2 * last - i - j, last - i)
        right = ways / comb(2 * last, last) / 2
        np.testing.assert_allclose(b.values[i * side + j], right, rtol=1e-9)
