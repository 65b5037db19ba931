"""Graphs to eliminate: the zoo, and shapes that are hard for one step or another."""

from __future__ import annotations

import graphs
import numpy as np

import kleene as kl


def chain(n: int) -> kl.Graph:
    return kl.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)


def star(n: int) -> kl.Graph:
    return kl.Graph.from_edges(np.zeros(n - 1, int), np.arange(1, n), n=n)


def clique(n: int) -> kl.Graph:
    return kl.Graph.from_dense(np.ones((n, n)) - np.eye(n))


def ladder(n: int) -> kl.Graph:
    return kl.generate.grid(2, n)


def two_hubs(n: int) -> kl.Graph:
    """Two vertices with n common neighbors."""
    return kl.Graph.from_edges(np.repeat([0, 1], n), np.tile(np.arange(2, n + 2), 2))


def cliques(count: int, size: int) -> kl.Graph:
    """Components that no vertex can be peeled from."""
    s, t = np.nonzero(~np.eye(size, dtype=bool))
    first = size * np.arange(count)[:, None]
    return kl.Graph.from_edges((first + s).ravel(), (first + t).ravel())


def tree(n: int) -> kl.Graph:
    rng = np.random.default_rng(3)
    return kl.Graph.from_edges(np.arange(1, n), [int(rng.integers(v)) for v in range(1, n)], n=n)


def random_graph(n: int, m: int, seed: int) -> kl.Graph:
    rng = np.random.default_rng(seed)
    return kl.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), n=n)


SHAPES: dict[str, kl.Graph] = {
    **{name: graphs.graph(name) for name in graphs.names()},
    "chain": chain(50),
    "star": star(40),
    "clique": clique(12),
    "ladder": ladder(30),
    "two_hubs": two_hubs(30),
    "cliques": cliques(5, 4),
    "tree": tree(80),
    "grid_7x9": kl.generate.grid(7, 9),
    "random": random_graph(60, 130, 1),
    "dense_random": random_graph(40, 500, 2),
}
