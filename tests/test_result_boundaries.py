"""Results and their proofs at the borders: chains of every length, first and last rows."""

from __future__ import annotations

import numpy as np
import pytest

import kleene as kl


@pytest.mark.parametrize("n", [*range(1, 20), 31, 32, 33, 34, 63, 64, 65, 66, 67, 100, 130])
def test_next_hops_along_chains(n: int) -> None:
    """Chains are followed in rounds, each twice as far: all must be there for the longest."""
    path = kl.Graph.from_edges(range(n - 1), range(1, n), np.ones(max(n - 1, 0)), n=n)
    hops = kl.sssp(path, 0, predecessors=True).next_hops
    assert hops.tolist() == [-1] + [1] * (n - 1)
    assert kl.bfs(path, n - 1, predecessors=True).next_hops.tolist() == [-1] * n
