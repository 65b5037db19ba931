"""The lab's experiments on measures: they run, and wrong answers are found."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_samples import CPU, point, unhurried
from lab_samples import experiment as sample
from test_lab_ours import MISSING, assert_sentences

import kleene as kl
from kleene_lab.experiments import EXPERIMENTS, searches
from kleene_lab.experiments.measures import Case, plans_of
from kleene_lab.experiments.peers import findings_beside
from kleene_lab.harness import record as records
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.graphs import made
from kleene_lab.harness.measure_peers import MEASURE_PEERS, MeasurePeer
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.runner import Clock, Runner

MEASURES = [one for one in EXPERIMENTS if "measures" in one.suites]
IDS = [one.id for one in MEASURES]
INSTALLED = [kind for kind in MEASURE_PEERS if kind.installed()]


@pytest.mark.parametrize("experiment", MEASURES, ids=IDS)
def test_an_experiment_runs_and_its_findings_hold(experiment: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    done = Runner(Environment("cpu", quick=True), path).measure([unhurried(experiment)])
    record = records.read(path)
    assert done.failed == 0, [skip.why for skip in record.skips]
    assert done.measured > 0
    assert all(MISSING.search(skip.why) for skip in record.skips)
    assert all(point.checked and point.times for point in record.points)
    [results] = measurements_in(record, experiment)
    assert_sentences(results)
    for _, column in experiment.columns:
        assert all(isinstance(column(point), str) for point in results.points)
    for missing in range(len(results.points)):
        points = results.points[:missing] + results.points[missing + 1 :]
        assert_sentences(replace(results, points=points))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("experiment", MEASURES, ids=IDS)
def test_plans_are_made_without_a_gpu(experiment: Experiment, device: str) -> None:
    plans = list(experiment.plans(Environment(device)))
    on_cpu = experiment.id in ("betweenness-by-error", "closeness", "diameter")
    assert {plan.device for plan in plans} == ({"cpu"} if on_cpu else {"cpu", device})


def test_the_suite_takes_25_minutes() -> None:
    assert sum(one.budget for one in MEASURES) <= 1500


#: Medians of `betweenness-sources` on an H200 and on 16 and one cores beside it, in seconds: of an
#: R-MAT graph, of a grid and of an R-MAT graph again, of 16 times the arcs and sources.
RECORDED = {
    "Kleene, GPU": (0.008383, 0.02164, 0.08241),
    "Kleene, all cores": (0.04052, 0.74405, 1.896),
    "Kleene, one core": (0.2661, 0.5438, 17.8),
}


@pytest.mark.parametrize("series", RECORDED)
def test_estimates_are_of_the_same_family(series: str) -> None:
    """By the grid, the GPU's third call was to take 57 s, and those of the cores 33 and 24 min."""
    [declared] = [one for one in MEASURES if one.id == "betweenness-sources"]
    environment = Environment("cuda")
    environment.cores = 16
    plans = {(plan.series, plan.x): plan for plan in declared.plans(environment)}
    small, grid, large = (plans[series, x] for x in range(3))
    clock = Clock(time.monotonic() + declared.budget, declared.patience)
    took = RECORDED[series]
    clock.observe(small, took[0])
    assert clock.expected(grid) == grid.guess
    clock.observe(grid, took[1])
    assert took[2] / 5 < clock.expected(large) < 5 * took[2]
    assert clock.reason_to_skip(large) is None
    alone = Clock(time.monotonic() + declared.budget, declared.patience)
    alone.observe(replace(grid, family=large.family), took[1])
    assert alone.expected(large) > 50 * took[2]


# ---- wrong answers ------------------------------------------------------------------------------


def graph(weighted: bool) -> kl.Graph:
    return kl.generate.grid(5, 6, seed=1, weights=(1, 3) if weighted else None)


def spoiled(answer: Any) -> Any:
    numbers = np.array(answer, float)
    return numbers + 0.5


@pytest.mark.parametrize("measure", ["betweenness", "closeness", "diameter"])
def test_wrong_answers_are_found(measure: str) -> None:
    case = Case(measure, made("grid", 98, lambda: graph(True)), 0, 30)
    for plan in plans_of(Environment("cpu", quick=True), case):
        if plan.series.startswith("Kleene"):
            trial = plan.trial()
            answer = trial.run()
            assert trial.check(answer)
            with pytest.raises(AssertionError, match="other numbers"):
                trial.check(spoiled(answer))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", INSTALLED)
def test_numbers_of_peers_are_ours(kind: type[MeasurePeer], weighted: bool) -> None:
    g = graph(weighted)
    ours: dict[str, Any] = {"betweenness": kl.betweenness(g).values}
    ours |= {"closeness": kl.closeness(g).values, "diameter": kl.diameter(g)}
    if weighted and kind.name == "NetworKit":
        del ours["closeness"]  # it does not normalize those
    for measure, right in ours.items():
        call = getattr(kind(g), measure)()
        assert np.allclose(call.distances(call.run()), right), measure


def test_estimates_within_an_error() -> None:
    case = Case("sampled", made("grid", 98, lambda: graph(False)), 0.2, 30, error=0.2)
    plans = list(plans_of(Environment("cpu", quick=True), case))
    assert plans
    for plan in plans:
        trial = plan.trial()
        assert trial.check(trial.run())


def test_sentences_name_a_panel_only_where_there_is_one() -> None:
    points = [point("Kleene, all cores", 0, 1.0), point("igraph, all cores", 0, 3.0)]
    points += [point("igraph, all cores", 1, 1.0), point("Kleene, all cores", 1, 2.0)]
    results = Measurements(sample(), CPU, tuple(points))
    others, place = ["igraph, all cores"], "all cores"
    said = list(findings_beside(("Enron", "Rome"), ("",), others, place, results))
    assert said == [
        "Kleene on all cores is 0.5 to 3.0 times as fast as igraph.",
        "igraph, all cores is faster than Kleene on Rome.",
    ]


def test_rates_are_no_powers_of_ten() -> None:
    assert searches._gteps(point("a", 1, 1.0, work=1.11e12)) == "1.11 T arcs a second"
    assert searches._gteps(point("a", 1, 1.0, work=4.2e9)) == "4.2 G arcs a second"
