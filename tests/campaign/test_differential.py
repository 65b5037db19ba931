"""The campaign's differential part finds faults, and makes them small."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import kleene as kl
from kleene.backends.common import limits

sys.path.insert(0, str(Path(__file__).parents[2]))

from torture import differential
from torture.campaign import Budget
from torture.random_graphs import random_spec

SEEDS = range(40)


def failures_of(seeds: Any) -> list[str]:
    return [line for seed in seeds for line in differential.run_seed(seed)[1]]


def test_some_seeds_pass() -> None:
    assert failures_of(SEEDS) == []


def test_a_seed_is_the_same_graph_each_time() -> None:
    for seed in SEEDS:
        assert random_spec(seed, "apsp") == random_spec(seed, "apsp")


def test_a_wrong_distance_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoiled(*args: Any, **keywords: Any) -> kl.Result:
        result = apsp(*args, **keywords)
        values = result._answer.values
        far = (values != result.no_path) & (values > 0)
        if keywords.get("method") == "rkleene" and far.any():
            values[far] += 1
        return result

    apsp = kl.apsp
    monkeypatch.setattr(kl, "apsp", spoiled)
    found = failures_of(range(200, 230))
    assert found
    assert all("apsp rkleene/" in line and "again: python -m torture" in line for line in found)
    assert any(line.count("(") < 4 for line in found)  # one arc is enough


def test_a_limit_by_another_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_search_again", lambda *args: None)
    assert failures_of([2649])  # a long path, with its length as the limit


def test_an_unexpected_error_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **keywords: Any) -> kl.Result:
        raise kl.RequestError("no")

    monkeypatch.setattr(kl, "bfs", broken)
    assert any("RequestError: no" in line for line in failures_of(SEEDS))


def test_a_run_ends_at_its_budget() -> None:
    outcome = differential.run(Budget(seconds=4, seed=1, jobs=1))
    assert outcome.cases > 0
    assert outcome.failures == []
    assert outcome.facts["graphs"] > 0
