"""Streets on which elimination pays, for tests of calls that prepare their graph."""

from __future__ import annotations

from typing import Any

import numpy as np

import kleene as kl
from kleene.prepared.known import known_of


def streets(seed: int = 1, directed: bool = True, dtype: Any = np.int32) -> kl.Graph:
    """A grid of 60 x 60 without a third of its streets, some of them slower in one direction."""
    tails, heads, _ = kl.generate.grid(60, 60).coo
    rng = np.random.default_rng(seed)
    kept = (tails < heads) & (rng.random(len(tails)) < 0.67)
    s, t = tails[kept], heads[kept]
    there = rng.integers(1, 99, len(s)).astype(dtype)
    if not directed:
        return kl.Graph.from_edges(s, t, there, n=3600, directed=False)
    ends = np.concatenate([s, t]), np.concatenate([t, s])
    return kl.Graph.from_edges(*ends, np.concatenate([there, there + there % 5]), n=3600)


def copy_of(g: kl.Graph) -> kl.Graph:
    """The same graph in other arrays, about which nothing is known."""
    return kl.Graph.from_csr(g.offsets.copy(), g.neighbors.copy(), _copied(g.weights))


def _copied(array: Any) -> Any:
    return None if array is None else array.copy()


def is_eliminated(g: kl.Graph) -> bool:
    known = known_of(g)
    return known is not None and known.step == "eliminated"


#: One thread makes searches slow enough for elimination to pay on a graph of this size.
ONE = {"threads": 1}
