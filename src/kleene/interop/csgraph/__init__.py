"""``scipy.sparse.csgraph`` with Kleene's methods: see ``kleene.csgraph``."""

from __future__ import annotations

from kleene.interop.csgraph.errors import NegativeCycleError
from kleene.interop.csgraph.shortest import (
    bellman_ford,
    dijkstra,
    floyd_warshall,
    johnson,
    shortest_path,
)
from kleene.interop.csgraph.traversal import (
    breadth_first_order,
    breadth_first_tree,
    connected_components,
)
from kleene.interop.csgraph.yen import yen

__all__ = [
    "NegativeCycleError", "bellman_ford", "breadth_first_order", "breadth_first_tree",
    "connected_components", "dijkstra", "floyd_warshall", "johnson", "shortest_path", "yen",
]  # fmt: skip
