"""Experiments, series and columns have names of their own: a reader tells them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from lab_samples import experiment as sample

from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Experiment, Skipped
from kleene_lab.report.tables import column_names

IDS = [one.id for one in EXPERIMENTS]


def twice(names: Iterable[object]) -> list[object]:
    """Return what is there more than once, letters in upper case or lower."""
    counts = Counter(name.casefold() if isinstance(name, str) else name for name in names)
    return [name for name, count in counts.items() if count > 1]


@pytest.mark.parametrize("part", ["id", "title", "question"])
def test_experiments_differ(part: str) -> None:
    assert len(EXPERIMENTS) > 50
    assert twice(getattr(one, part) for one in EXPERIMENTS) == []


@pytest.mark.parametrize("device", ["cpu", "cuda", "emulated"])
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=IDS)
def test_points_and_series_differ(experiment: Experiment, device: str) -> None:
    """A point is known by its chart, series and x, and series by name, published ones included."""
    try:
        plans = list(experiment.plans(Environment(device)))
    except Skipped:
        plans = []
    assert twice((plan.panel, plan.series, plan.x) for plan in plans) == []
    published = {one.series for one in experiment.published}
    assert twice([*{plan.series for plan in plans}, *published]) == []
    if experiment.x.labels:
        assert {plan.x for plan in plans} <= set(range(len(experiment.x.labels)))


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=IDS)
def test_columns_differ(experiment: Experiment) -> None:
    assert twice(column_names(experiment)) == []


def test_equal_names_are_seen() -> None:
    declared = replace(sample(), columns=(("Cold", str), ("method", str)))
    assert twice(column_names(declared)) == ["cold"]
    assert twice(["a", "A", "b"]) == ["a"]
