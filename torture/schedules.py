"""Distributed searches on fake ranks, whose messages are delayed and reordered by a seed.

The ranks, and what they notice, are those of ``tests/support/fake_communicator.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import kleene as kl
from kleene.distributed import Communicator, DistributedGraph, Partition
from tests.support.fake_communicator import run_ranks
from torture.campaign import Budget, Outcome
from torture.random_graphs import Spec, random_spec

__all__ = ["run"]

MOST_RANKS = 9


def run(budget: Budget) -> Outcome:
    """Try one seed after the other."""
    failures: list[str] = []
    cases = 0
    while budget.left() > 0 and len(failures) < 20:
        seed = budget.seed + cases
        cases += 1
        try:
            failures += [f"seed {seed}: {wrong}" for wrong in run_seed(seed)]
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failures.append(f"seed {seed}: {type(error).__name__}: {error}")
    return Outcome(cases, failures)


def run_seed(seed: int) -> list[str]:
    """Return what is wrong with the searches of this seed."""
    random = np.random.default_rng(seed)
    problem = str(random.choice(["bfs", "sssp"]))
    spec = random_spec(seed, problem)
    if spec.n == 0 or (problem == "sssp" and min(spec.weights or (0,)) < 0):
        return []
    ranks, source = int(random.integers(1, MOST_RANKS + 1)), int(random.integers(spec.n))
    cuts = np.sort(random.integers(0, spec.n + 1, ranks - 1))
    partition = Partition([0, *cuts, spec.n]) if random.random() < 0.5 else None
    brings = random.integers(0, ranks, len(spec.ends))
    incoming = bool(random.random() < 0.5)

    def work(communicator: Communicator) -> Any:
        own = brings == communicator.rank
        tails, heads = spec.columns()
        weights = spec.weight_array()
        graph = DistributedGraph.from_arcs(
            communicator, spec.n, tails[own], heads[own],
            None if weights is None else weights[own], spec.directed, partition,
        )  # fmt: skip
        if incoming:
            assert graph.incoming.m == graph.m
        result = getattr(kl.distributed, problem)(graph, source)
        return result.gather(), result.path(spec.n - 1)

    limit = int(random.choice([1, 50, 2**30]))
    what = f"{problem} from {source} on {ranks} ranks, {spec}"
    try:
        wanted = getattr(kl, problem)(spec.graph(), source)
    except kl.PathOverflowError:
        try:
            run_ranks(ranks, work, seed, round_bytes=limit)
        except kl.PathOverflowError:
            return []
        return [f"no PathOverflowError: {what}"]
    answers = run_ranks(ranks, work, seed, round_bytes=limit)
    return [f"{wrong}: {what}" for wrong in _compared(spec, problem, source, wanted, answers)]


def _compared(
    spec: Spec, problem: str, source: int, wanted: kl.Result, answers: list[Any]
) -> list[str]:
    """Return what differs from the answer of one machine."""
    (distances, before), path = answers[0]
    if distances.dtype != wanted.distances.dtype or (distances != wanted.distances).any():
        return ["distances"]
    if any(answer[1] != path for answer in answers) or bool(path) != bool(wanted.reached[-1]):
        return ["paths"]
    lengths = {(u, v): 1 if problem == "bfs" else w for u, v, w in spec.arcs()}
    add = distances.dtype.type
    for v in np.flatnonzero(wanted.reached).tolist():
        u = int(before[v])
        if v == source and u == -1:
            continue
        if (u, v) not in lengths or add(distances[u] + add(lengths[u, v])) != distances[v]:
            return ["predecessors"]
    return []
