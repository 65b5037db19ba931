"""Graphs on which calls on a cluster are compared with calls here."""

from __future__ import annotations

import kleene as kl

CITY = kl.generate.grid(30, 30, weights=(1, 9), seed=3)
SOCIAL = kl.generate.rmat(scale=9, edge_factor=8, seed=2, weights=(0.5, 2.0))
PLACES = kl.Graph.from_edges(
    [0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 5, 5], [2, 2, 5, 1, 7, 3], labels=list("abcdef")
)
