"""What distributed searches must send, predicted from the whole graph.

Written from the protocols at the head of ``clusters/mpi/bfs.py`` and ``sssp.py``, with sets and
dicts, and with the answers of ``kleene.bfs``: no code is shared with the searches.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

import kleene as kl

__all__ = ["Prediction", "predict_bfs", "predict_sssp"]

Arcs = dict[int, list[tuple[int, Any]]]


class Prediction(NamedTuple):
    """As the ``stats`` of a result."""

    messages: int
    bytes: int
    rounds: int
    collectives: int
    pulled: int = 0


def arcs_by_tail(graph: kl.Graph) -> Arcs:
    weights = [1] * graph.m if graph.weights is None else graph.weights.tolist()
    arcs: Arcs = defaultdict(list)
    ends = zip(graph.coo.sources.tolist(), graph.coo.targets.tolist(), weights, strict=True)
    for tail, head, weight in ends:
        arcs[tail].append((head, weight))
    return arcs


class _Count:
    """Adds up the messages of exchanges."""

    def __init__(self, record_bytes: int) -> None:
        self.messages = self.bytes = self.collectives = 0
        self.record_bytes = record_bytes

    def exchange(self, sent: list[dict[int, set[int]]]) -> None:
        """Count vertices sent by each rank to each other."""
        targets = [vertices for by_rank in sent for vertices in by_rank.values() if vertices]
        self.messages += len(targets)
        self.bytes += self.record_bytes * sum(map(len, targets))
        self.collectives += 2 if targets else 1  # without data, there is the header only


def predict_bfs(
    graph: kl.Graph, bounds: list[int], source: int, predecessors: bool = True, pull: bool = False
) -> Prediction:
    """Predict the traffic of a search; ``pull`` if incoming arcs are there."""
    arcs, depths = arcs_by_tail(graph), kl.bfs(graph, source).distances
    owner = np.searchsorted(bounds, np.arange(graph.n), side="right") - 1
    ranks, degrees = len(bounds) - 1, np.diff(graph.offsets)
    sent: list[set[int]] = [set() for _ in range(ranks)]  # what a rank need not send again
    count = _Count(8 if predecessors else 4)
    unexplored, size, pulling, pulled = graph.m, 0, False, 0
    for depth in range(int(depths.max()) + 1):
        frontier = np.flatnonzero(depths == depth)
        last, size, leaving = size, len(frontier), int(degrees[frontier].sum())
        if pulling:
            pulling = size >= last or size > graph.n // 18
        else:
            pulling = pull and leaving > unexplored // 15 and leaving > graph.n // 8
        unexplored -= leaving
        count.collectives += 1  # the reduction
        if pulling:
            pulled += 1
            sizes = [math.ceil(part / 8) for part in np.diff(bounds)]
            count.messages += sum(1 for s in sizes if s) * (ranks - 1)
            count.bytes += sum(sizes) * (ranks - 1)
            count.collectives += 1
            if not graph.directed:
                for known in sent:
                    known |= set(frontier.tolist())
            continue
        said: list[dict[int, set[int]]] = [defaultdict(set) for _ in range(ranks)]
        for tail in frontier.tolist():
            rank = int(owner[tail])
            for head, _ in arcs[tail]:
                if owner[head] != rank and head not in sent[rank]:
                    said[rank][int(owner[head])].add(head)
        for rank, by_rank in enumerate(said):
            sent[rank] |= set().union(*by_rank.values())
        count.exchange(said)
    rounds = int(depths.max()) + 1
    return Prediction(count.messages, count.bytes, rounds, count.collectives + 1, pulled)


def predict_sssp(
    graph: kl.Graph, bounds: list[int], source: int, delta: float, item: int, before: int = 4
) -> Prediction:
    """Predict the traffic of a search with distances of ``item`` bytes."""
    arcs = arcs_by_tail(graph)
    owner = (np.searchsorted(bounds, np.arange(graph.n), side="right") - 1).tolist()
    ranks = len(bounds) - 1
    best: list[dict[int, Any]] = [{} for _ in range(ranks)]
    pending: list[set[int]] = [set() for _ in range(ranks)]
    best[owner[source]][source] = 0
    pending[owner[source]].add(source)
    count, rounds = _Count(4 + before + item), 0
    while any(pending):
        nearest = min(best[rank][v] for rank in range(ranks) for v in pending[rank])
        fallen: list[dict[int, set[int]]] = [defaultdict(set) for _ in range(ranks)]
        for rank in range(ranks):
            while near := {v for v in pending[rank] if best[rank][v] <= nearest + delta}:
                pending[rank] -= near
                for tail in near:
                    for head, weight in arcs[tail]:
                        through = best[rank][tail] + weight
                        if through < best[rank].get(head, math.inf):
                            best[rank][head] = through
                            if owner[head] == rank:
                                pending[rank].add(head)
                            else:
                                fallen[rank][owner[head]].add(head)
        for rank, by_rank in enumerate(fallen):
            for to, vertices in by_rank.items():
                for v in vertices:
                    if best[rank][v] < best[to].get(v, math.inf):
                        best[to][v] = best[rank][v]
                        pending[to].add(v)
        count.collectives += 1
        count.exchange(fallen)
        rounds += 1
    return Prediction(count.messages, count.bytes, rounds, count.collectives + 1)
