"""Results and their proofs at the borders: chains of every length, first and last rows."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.errors import RequestError, VerificationError
from kleene.proofs.claim import PathValues
from kleene.proofs.paths import verify


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
        with pytest.raises(VerificationError, match="which is not a vertex"):
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


def test_room_for_the_most_negative_weight() -> None:
    falls = kl.Graph.from_edges([0, 1], [1, 2], np.array([1, -5]))
    room = int(NONE) - 5
    for length in (room, -room):
        with pytest.raises(VerificationError, match=r"vertex 2 .* too much"):
            verify(claim(falls, [[0, 1, length]]))
    for length in (room - 1, 1 - room):
        with pytest.raises(VerificationError, match=r"vertex 2 (?!.* too much)"):
            verify(claim(falls, [[0, 1, length]]))


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_a_circle_beside_a_tree(dtype: Any) -> None:
    """All arcs are tight and no arc improves anything, but the circle hangs on nothing."""
    g = kl.Graph.from_edges([0, 2, 3], [1, 3, 2], np.array([1, 0, 0], dtype))
    island = claim(g, [[0, 1, 5, 5]], dtype)
    with pytest.raises(VerificationError, match=r"vertex 2 holds 5.*, but no path attains that"):
        verify(island)
    tree = np.array([[-1, 0, 3, 2]], np.int32)
    with pytest.raises(VerificationError, match="vertex 2 never lead to the source"):
        verify(replace(island, predecessors=tree))


@pytest.mark.parametrize("n", [*range(2, 18), 31, 32, 33, 64, 65])
def test_chains_of_any_length_end_at_the_source(n: int) -> None:
    """Arcs of weight zero: values do not tell, so that chains are followed."""
    g = kl.Graph.from_edges(range(n - 1), range(1, n), np.zeros(n - 1, int), n=n)
    rows = claim(g, [[0] * n])
    verify(rows)
    verify(replace(rows, predecessors=np.arange(-1, n - 1, dtype=np.int32)[None]))


# ---- samples ------------------------------------------------------------------------------------


def test_a_sample_has_no_row_twice() -> None:
    """All rows but one are chosen, and two are wrong: one of them is always seen."""
    values = np.tile([0, 1, 2], (40, 1))
    values[7], values[23] = 9, 9
    rows = claim(PATH, values)
    for seed in range(50):
        with pytest.raises(VerificationError):
            verify(rows, sample=39, seed=seed)


def test_rows_of_the_smallest_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of one vertex and no arc counts as one arc."""
    monkeypatch.setattr("kleene.proofs.paths._WORK", 20)
    rows = claim(kl.Graph.from_edges([], [], np.array([], int), n=1), [[0]] * 30)
    assert verify(rows).rows == 20


def test_a_proof_says_how_long_it_took() -> None:
    began = time.perf_counter()
    proof = verify(claim(PATH, [[0, 1, 2]]))
    assert 0 <= proof.seconds <= time.perf_counter() - began


# ---- paths --------------------------------------------------------------------------------------


def test_paths_to_the_targets_and_to_no_others() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([1, 1]), n=4)
    everywhere = kl.sssp(g, 0).paths()
    assert everywhere.vertices.tolist() == [0, 0, 1, 0, 1, 2]
    assert everywhere.offsets.tolist() == [0, 1, 3, 6, 6]
    some = kl.sssp(g, 0, targets=[2, 3])
    assert some.paths().vertices.tolist() == [0, 1, 2]
    assert some.paths().offsets.tolist() == [0, 3, 3]
    assert some.paths([3]).vertices.tolist() == []
    with pytest.raises(RequestError, match="vertex 1 is not among the targets"):
        some.paths([2, 1])
