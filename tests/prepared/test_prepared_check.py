"""The native check of an elimination from a file, beside its definition in sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import prepared_reference
import pytest

import kleene as kl
from kleene import _native
from kleene.prepared.elimination import Elimination


def is_elimination(e: Elimination, graph: kl.Graph) -> bool:
    """Whether arrays are an elimination, by definition."""
    n, offsets = e.n, e.offsets.tolist()
    order, ranks = e.order.tolist(), e.ranks.tolist()
    if sorted(order) != list(range(n)) or any(ranks[v] != r for r, v in enumerate(order)):
        return False
    if offsets != sorted(offsets) or offsets[0] != 0 or offsets[-1] != len(e.heads):
        return False
    rows = [e.heads[a:b].tolist() for a, b in pairwise(offsets)]
    for v, row in enumerate(rows):
        if row != sorted(set(row)) or any(not v < u < n for u in row):
            return False
        if e.parents[v] != (row[0] if row else -1):
            return False
        if row and not set(row[1:]) <= set(rows[row[0]]):
            return False
    below: list[set[int]] = [{v} for v in range(n)]
    for v in range(n):
        if rows[v]:
            below[rows[v][0]] |= below[v]
    if any(below[v] != set(range(v - len(below[v]) + 1, v + 1)) for v in range(n)):
        return False
    arcs = zip(e.ranks[graph.coo.sources].tolist(), e.ranks[graph.neighbors].tolist(), strict=True)
    return all(max(u, v) in rows[min(u, v)] for u, v in arcs if u != v)


def checked(e: Elimination, graph: kl.Graph, threads: int = 2) -> tuple[str, int] | None:
    arrays = e.order, e.ranks, e.parents, e.offsets, e.heads
    return _native.prepared_check_elimination(*arrays, graph.offsets, graph.neighbors, threads)


@pytest.mark.parametrize("seed", range(30))
def test_the_check_follows_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    g = kl.generate.uniform(n, int(rng.integers(0, 2 * n)), seed=seed)
    e = prepared_reference.eliminate(g, rng.permutation(n).tolist())
    assert checked(e, g) is None
    assert is_elimination(e, g)
    for _ in range(40):
        arrays = [getattr(e, f).copy() for f in ("order", "ranks", "parents", "offsets", "heads")]
        chosen = arrays[rng.integers(5)]
        if len(chosen):
            values = rng.integers(-1, max(n, len(e.heads)) + 1, 2)
            chosen[rng.integers(len(chosen), size=2)] = values if rng.random() < 0.5 else values[0]
        other = Elimination(*arrays)
        assert (checked(other, g) is None) == is_elimination(other, g)


def test_the_order_of_vertices_may_be_another() -> None:
    """Swapping two vertices of an order leaves everything right but the arcs."""
    g = kl.generate.path(9)
    e = prepared_reference.eliminate(g, list(range(9)))
    order = e.order.copy()
    order[[0, 5]] = order[[5, 0]]
    ranks = np.argsort(order).astype(np.int32)
    assert checked(Elimination(order, ranks, e.parents, e.offsets, e.heads), g) == ("arcs", 0)


def test_ranks_that_are_no_postorder() -> None:
    """Two paths whose ranks take turns: heads are right, subtrees are not runs."""
    g = kl.Graph.from_edges([0, 1], [2, 3])
    heads, offsets = np.array([2, 3], np.int32), np.array([0, 1, 2, 2, 2])
    parents, same = np.array([2, 3, -1, -1], np.int32), np.arange(4, dtype=np.int32)
    assert checked(Elimination(same, same, parents, offsets, heads), g) == ("postorder", 1)


def test_long_rows_are_searched() -> None:
    """A vertex of many neighbors below a clique: rows of hundreds, and one head that is missing."""
    n = 400
    g = kl.generate.complete(n)
    e = prepared_reference.eliminate(g, list(range(n)))
    assert checked(e, g) is None
    for drop in (n - 1, n // 2, 3):  # of the row of rank 1
        at = int(e.offsets[1]) + drop - 2
        heads = np.delete(e.heads, at)
        offsets = e.offsets - (np.arange(n + 1) > 1)
        fault = checked(Elimination(e.order, e.ranks, e.parents, offsets, heads), g)
        assert fault == ("fill", 0)


def test_the_first_fault_is_reported_by_any_number_of_threads() -> None:
    g = kl.generate.path(50_000)
    same = np.arange(g.n, dtype=np.int32)
    heads = same[1:].copy()
    offsets = np.minimum(np.arange(g.n + 1), g.n - 1)
    parents = np.append(heads, np.int32(-1))
    assert checked(Elimination(same, same, parents, offsets, heads), g) is None
    heads[[7000, 21_000, 49_000]] = 3
    for threads in (1, 2, 5):
        fault = checked(Elimination(same, same, parents, offsets, heads), g, threads)
        assert fault == ("heads", 7000)


def test_arrays_of_wrong_lengths_are_refused() -> None:
    g = kl.generate.grid(6, 7)
    e = prepared_reference.eliminate(g, list(range(g.n)))
    with pytest.raises(TypeError):
        checked(Elimination(e.order[1:], e.ranks, e.parents, e.offsets, e.heads), g)
