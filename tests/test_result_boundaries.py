"""Results and their proofs at the borders: chains of every length, first and last rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.errors import VerificationError
from kleene.results.claim import PathValues
from kleene.results.verify import verify


@pytest.mark.parametrize("n", [*range(1, 20), 31, 32, 33, 34, 63, 64, 65, 66, 67, 100, 130])
def test_next_hops_along_chains(n: int) -> None:
    """Chains are followed in rounds, each twice as far: all must be there for the longest."""
    path = kl.Graph.from_edges(range(n - 1), range(1, n), np.ones(max(n - 1, 0)), n=n)
    hops = kl.sssp(path, 0, predecessors=True).next_hops
    assert hops.tolist() == [-1] + [1] * (n - 1)
    assert kl.bfs(path, n - 1, predecessors=True).next_hops.tolist() == [-1] * n


def claim(g: kl.Graph, values: Any, dtype: Any = np.int64, **fields: Any) -> PathValues:
    values = np.array(values, dtype)
    sources = np.zeros(len(values), np.int32)
    return PathValues(g, SEMIRINGS["min_plus"], sources, values, None, None, False, **fields)


PATH = kl.Graph.from_edges([0, 1], [1, 2], np.array([1, 1]))
NONE = np.iinfo(np.int64).max


def test_each_horizon_is_within_the_limit() -> None:
    rows = claim(PATH, [[0, 1, NONE], [0, 1, NONE]], limit=1)
    verify(replace(rows, horizons=np.array([1, 1])))
    for horizons in ([1, 2], [2, 1], [2, 2]):
        with pytest.raises(VerificationError, match="beyond the limit 1"):
            verify(replace(rows, horizons=np.array(horizons)))


def test_predecessors_beside_the_range_of_vertices() -> None:
    rows = claim(PATH, [[0, 1, 2]])
    verify(replace(rows, predecessors=np.array([[-1, 0, 1]], np.int32)))
    for wrong in (-2, 3, 4):
        with pytest.raises(VerificationError, match="which is no vertex"):
            verify(replace(rows, predecessors=np.array([[-1, 0, wrong]], np.int32)))


def test_room_for_the_largest_weight() -> None:
    """A length that leaves too little room for a further arc says so, on either side of zero."""
    room = int(NONE) - 1
    for length in (room, -room):
        with pytest.raises(VerificationError, match=r"vertex 2 .* too much"):
            verify(claim(PATH, [[0, 1, length]]))
    for length in (room - 1, 1 - room):
        with pytest.raises(VerificationError, match=r"vertex 2 (?!.* too much)"):
            verify(claim(PATH, [[0, 1, length]]))
