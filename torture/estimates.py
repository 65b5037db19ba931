"""Betweenness within an error: the error is kept as often as the call says.

Each case is a random graph, an error and a confidence, and the answers of many seeds. An answer
misses if any number is off by more than the error, which is allowed for a part 1 - confidence of
them. More than chance explains (less than once in 10^9) are a fault.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

import kleene as kl
from torture.campaign import Budget, Outcome

__all__ = ["run"]

_SEEDS = 200
_BY_CHANCE = 1e-9

_SHAPES: tuple[Callable[[int, Any, int], kl.Graph], ...] = (
    lambda n, weights, seed: kl.generate.uniform(n, 2 * n, weights=weights, seed=seed),
    lambda n, weights, seed: kl.generate.uniform(
        n, 2 * n, directed=False, weights=weights, seed=seed
    ),
    lambda n, weights, seed: kl.generate.grid(4, n // 4, weights=weights, seed=seed),
    lambda n, weights, seed: kl.generate.tree(n, weights=weights, seed=seed),
    lambda n, weights, seed: kl.generate.star(n, weights=weights, seed=seed),
    lambda n, weights, seed: kl.generate.rmat(5, 3, weights=weights, seed=seed),
)


def run(budget: Budget) -> Outcome:
    """Sample graphs with many seeds until the time is up."""
    failures: list[str] = []
    cases = misses = 0
    largest = 0.0
    while budget.left() > 0 or not cases:
        seed = budget.seed + cases
        count, confidence, what = _misses(seed)
        cases += 1
        misses += count
        largest = max(largest, count / _SEEDS / (1 - confidence))
        if binom.sf(count - 1, _SEEDS, 1 - confidence) < _BY_CHANCE:
            failures.append(f"seed {seed}: {count} of {_SEEDS} answers are wrong: {what}")
    facts = {
        "answers": f"{cases * _SEEDS:,}",
        "beyond the error": f"{misses:,}",
        "most, of those allowed": f"{largest:.0%}",
    }
    return Outcome(cases, failures, facts)


def _misses(seed: int) -> tuple[int, float, str]:
    """Return how many answers for one graph miss the error, the confidence, and what was asked."""
    rng = np.random.default_rng(seed)
    shape, n = int(rng.integers(len(_SHAPES))), int(rng.integers(12, 60))
    g = _SHAPES[shape](n, None if rng.random() < 0.5 else (1, 3), seed)
    error, confidence = float(rng.choice([0.03, 0.08])), float(rng.choice([0.5, 0.9]))
    ask = functools.partial(kl.betweenness, g, edges=True, endpoints=bool(rng.random() < 0.3))
    exact = ask(device="reference")
    count = 0
    for trial in range(_SEEDS):
        found = ask(error=error, confidence=confidence, seed=trial, threads=1 + trial % 2)
        off = [abs(ours - right).max(initial=0) for ours, right in zip(
            (found.values, found.arcs), (exact.values, exact.arcs), strict=True
        )]  # fmt: skip
        count += max(off) > error
    return count, confidence, f"{g!r}, {error=}, {confidence=}, {ask.keywords}"
