"""Elimination by the book: sets and dictionaries, for graphs of up to some hundred vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination


def postordered(joined: dict[int, set[int]], order: list[int]) -> list[int]:
    """Return the order that eliminates children before parents, subtree by subtree."""
    rank = {v: i for i, v in enumerate(order)}
    children: dict[int, list[int]] = {v: [] for v in order}
    roots = []
    for v in order:
        higher = [u for u in joined[v] if rank[u] > rank[v]]
        if higher:
            children[min(higher, key=rank.__getitem__)].append(v)
        else:
            roots.append(v)
    found: list[int] = []
    stack = [(v, False) for v in reversed(roots)]
    while stack:
        v, done = stack.pop()
        if done:
            found.append(v)
        else:
            stack.append((v, True))
            stack += [(u, False) for u in reversed(children[v])]
    return found


def eliminate(graph: kl.Graph, order: list[int]) -> Elimination:
    """Eliminate the vertices in this order, or in an equivalent one that is a postorder."""
    tails, heads, _ = graph.coo
    joined: dict[int, set[int]] = {v: set() for v in range(graph.n)}
    for u, v in zip(tails.tolist(), heads.tolist(), strict=True):
        if u != v:
            joined[u].add(v)
            joined[v].add(u)
    left = set(range(graph.n))
    for v in order:
        left.discard(v)
        around = joined[v] & left
        for u in around:
            joined[u] |= around - {u}
    final = postordered(joined, order)
    rank = {v: i for i, v in enumerate(final)}
    up = [sorted(rank[u] for u in joined[v] if rank[u] > rank[v]) for v in final]
    ranks = np.empty(graph.n, dtype=np.int32)
    ranks[final] = np.arange(graph.n)
    return Elimination(
        np.array(final, dtype=np.int32),
        ranks,
        np.array([row[0] if row else -1 for row in up], dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(row) for row in up])]).astype(np.int64),
        np.array([u for row in up for u in row], dtype=np.int32),
    )


def customize(
    graph: kl.Graph, elimination: Elimination, semiring: str = "min_plus", dtype: Any = None
) -> Customization:
    """Relax all triangles of the elimination, from the lowest rank up."""
    algebra = SEMIRINGS[semiring]
    dtype = np.dtype(dtype or graph.weight_dtype or np.int32)
    zero = algebra.zero(dtype)
    values: dict[tuple[int, int], Any] = {}

    def offer(u: int, v: int, value: Any) -> None:
        if u != v and algebra.better(value, values.get((u, v), zero)):
            values[u, v] = value

    tails, heads, weights = graph.coo
    if weights is None or dtype.kind == "b":  # an arc of length 0 is an arc
        weights = np.ones(graph.m, dtype=dtype)
    ranks = elimination.ranks
    for u, v, w in zip(
        ranks[tails].tolist(), ranks[heads].tolist(), weights.astype(dtype), strict=True
    ):
        offer(u, v, w)
    rows = [
        elimination.heads[a:b].tolist()
        for a, b in zip(elimination.offsets[:-1], elimination.offsets[1:], strict=True)
    ]
    for v, row in enumerate(rows):
        for a in row:
            for b in row:
                if (a, v) in values and (v, b) in values:
                    offer(a, b, algebra.times(values[a, v], values[v, b]))
    absent = zero // 2 if semiring == "min_plus" and dtype.kind == "i" else zero
    compute = np.uint8 if dtype.kind == "b" else dtype
    pairs = [(v, u) for v, row in enumerate(rows) for u in row]
    up = np.array([values.get((v, u), absent) for v, u in pairs], dtype=compute)
    down = np.array([values.get((u, v), absent) for v, u in pairs], dtype=compute)
    negative = bool(len(weights)) and bool((weights < 0).any())
    return Customization(semiring, dtype, negative, up, down)
