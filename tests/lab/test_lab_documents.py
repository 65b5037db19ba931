"""The documents' experiments: each runs and checks, and its findings hold whatever is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab_samples import unhurried

import kleene as kl
from kleene_lab.experiments import EXPERIMENTS, bfs, paths_by_size, spmv_by_format
from kleene_lab.experiments.documents import ALL, GPU, ONE, SharedCheck, entrants
from kleene_lab.harness import environment as environments
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Experiment, Skipped
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.record import Record, read
from kleene_lab.harness.runner import Runner

DOCUMENTS = [one for one in EXPERIMENTS if "documents" in one.suites]
BY_ID = {one.id: one for one in DOCUMENTS}


def named(experiment: Experiment) -> str:
    return experiment.id


def run(experiment: Experiment, environment: Environment, path: Path) -> Record:
    Runner(environment, path / "lab.jsonl").measure([unhurried(experiment)])
    return read(path / "lab.jsonl")


@pytest.mark.parametrize("experiment", DOCUMENTS, ids=named)
def test_an_experiment_runs_and_its_findings_hold(experiment: Experiment, tmp_path: Path) -> None:
    """Also where points are missing: the last or first ones, whole series, a device."""
    record = run(experiment, Environment("emulated", quick=True), tmp_path)
    assert record.points
    assert not record.skips
    assert all(point.checked and point.median > 0 for point in record.points)
    (results,) = measurements_in(record, experiment)
    assert any(point.device == "emulated" for point in results.points)
    sentences = list(experiment.findings(results))
    assert sentences
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)

    def texts(kept: tuple[object, ...]) -> list[str]:
        return list(experiment.findings(replace(results, points=kept)))  # type: ignore[arg-type]

    for end in range(len(results.points)):
        texts(results.points[:end])
        texts(results.points[end:])
    for series in results.series:
        texts(tuple(point for point in results.points if point.series != series))
        texts(tuple(point for point in results.points if point.series == series))
    assert texts(()) == []
    for device in ("cpu", "emulated"):
        for sentence in texts(tuple(point for point in results.points if point.device == device)):
            assert "nan" not in sentence
            assert "inf" not in sentence.split()


@pytest.mark.parametrize("experiment", DOCUMENTS, ids=named)
def test_without_a_gpu_there_are_series_of_the_cpu(experiment: Experiment) -> None:
    environment = Environment("cpu")
    if experiment.id == "elements-per-thread":
        with pytest.raises(Skipped, match="GPU"):
            list(experiment.plans(environment))
        return
    plans = list(experiment.plans(environment))
    assert plans
    assert {plan.device for plan in plans} == {"cpu"}
    assert not any("GPU" in plan.series for plan in plans)


@pytest.mark.parametrize("experiment", DOCUMENTS, ids=named)
def test_what_was_published_is_beside_what_is_measured(experiment: Experiment) -> None:
    plans = list(experiment.plans(Environment("emulated")))
    for published in experiment.published:
        assert len(published.x) == len(published.y)
        there = {plan.x for plan in plans if plan.panel == published.panel}
        assert set(published.x) <= there
        assert all(1e-6 < seconds < 1000 for seconds in published.y)


def test_who_takes_part_where(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [("a", "x", ONE), ("a", "x", ALL), ("a", "x", GPU)]
    names = [one.series for one in entrants(Environment("emulated"), listed)]
    assert names == ["a, one core", "a, all cores", "a, GPU"]
    monkeypatch.setattr(environments, "cores", lambda: 1)
    assert [one.series for one in entrants(Environment("cpu"), listed)] == ["a, one core"]


# ---- checks -------------------------------------------------------------------------------------


def test_one_proof_serves_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    proved = []
    verify = kl.Result.verify
    monkeypatch.setattr(
        kl.Result, "verify", lambda self, **k: proved.append(self) or verify(self, **k)
    )
    g, h = kl.generate.grid(4, 4), kl.generate.grid(4, 5)
    shared_check = SharedCheck()
    check = shared_check.about("g")
    for method in ("queue", "edge"):
        check(kl.bfs(g, 0, method=method, device="cpu"))
    assert len(proved) == 1
    check(kl.bfs(g, 1))
    shared_check.about("h")(kl.bfs(h, 0))
    assert len(proved) == 3
    check(kl.bfs(g, 0))
    assert len(proved) == 4, "the graph before is forgotten"
    for seed, graph in enumerate((g, h)):
        shared_check.about("two", seed)(kl.bfs(graph, 0))
        shared_check.about("two", 0)(kl.bfs(g, 0))
    assert len(proved) == 6, "several graphs of one size are not"


def test_an_answer_that_differs_from_the_proved_one() -> None:
    g = kl.generate.grid(4, 4)
    shared_check = SharedCheck()
    right, wrong = kl.bfs(g, 0), kl.bfs(g, 0)
    check = shared_check.about("g")
    check(right)
    wrong.distances[3] += 1
    with pytest.raises(AssertionError, match="other distances"):
        check(wrong)
    with pytest.raises(kl.VerificationError):
        SharedCheck().about("g")(wrong)
    with pytest.raises(TypeError, match="verify each"):
        check(kl.sssp(g.reweight(arcs=np.full(g.m, 0.1)), 0))


def test_a_wrong_product_is_noticed() -> None:
    wanted = np.array([1.0, 2.0])
    assert "SciPy" in spmv_by_format._check(wanted, np.array([1.0, 2.0], np.float32))
    with pytest.raises(AssertionError):
        spmv_by_format._check(wanted, np.array([1.0, 2.1], np.float32))


def test_graphs_that_do_not_fit_are_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Environment, "memory", 1000)
    record = run(BY_ID["bfs-by-size"], Environment("cpu", quick=True), tmp_path)
    assert not record.points
    assert all("are free" in skip.why and not skip.failed for skip in record.skips)
    assert record.skips


# ---- three graphs a point -----------------------------------------------------------------------


def test_the_interval_of_three_graphs() -> None:
    """Half of it is t s / sqrt(3), with t for 99 % and two degrees of freedom."""
    from scipy.special import stdtrit

    times = [1.0, 2.0, 6.0, 3.0, 2.0, 4.0]  # two runs of each graph: 2, 2 and 5 on average
    texts = paths_by_size.interval(times)
    assert texts["mean"] == 3.0
    deviation = np.std([2.0, 2.0, 5.0], ddof=1)
    half = stdtrit(2, 0.995) * deviation / np.sqrt(3)
    assert texts["interval"] == pytest.approx(half, rel=1e-3)
    assert "interval" not in paths_by_size.interval(times[:2]), "two graphs were not timed"


def test_graphs_take_turns_and_all_are_checked_first(tmp_path: Path) -> None:
    experiment = BY_ID["paths-by-size"]
    plan = next(iter(experiment.plans(Environment("cpu", quick=True))))
    trial = plan.trial()
    seen = []
    for _ in range(4):
        again, answer = trial.run(), trial.run()
        assert again[1].graph is answer[1].graph, "a warm-up is of the same graph"
        trial.check(answer)
        seen.append(answer[1].graph.name)
        trial.parts(answer)
    assert len(set(seen[:3])) == 3
    assert seen[3] == seen[0]


def test_intervals_are_in_the_record(tmp_path: Path) -> None:
    (small, *_) = BY_ID["paths-by-size"].plans(Environment("cpu", quick=True))
    experiment = replace(BY_ID["paths-by-size"], plans=lambda environment: [small])
    record = run(experiment, Environment("cpu"), tmp_path)
    (point,) = record.points
    assert point.facts["graphs"] == 3
    (_, column) = experiment.columns[0]
    assert column(point).startswith("±")
    assert column(replace(point, facts={})) == ""


def test_changes_by_density_use_shared_ends() -> None:
    """A series that stopped early must not be compared over another range."""
    experiment = BY_ID["bfs-by-density"]
    record = read_made(experiment, {"queue, one core": {20: 1.0, 80: 4.0}})
    assert "factor of 4 (queue" in " ".join(experiment.findings(record))
    both = {"queue, one core": {20: 1.0, 40: 2.0, 80: 4.0}, bfs._LINEAR: {20: 1.0, 40: 3.0}}
    (sentence,) = experiment.findings(read_made(experiment, both))
    assert "From 20 to 40 %" in sentence
    assert "2 (queue" in sentence
    assert "3 (prefix" in sentence


def read_made(experiment: Experiment, times: dict[str, dict[float, float]]) -> Measurements:
    """Return what would be found with these times."""
    from kleene_lab.harness.record import Point, Run

    points = [
        Point("r", experiment.id, series, x, seconds=(seconds,))
        for series, by_x in times.items()
        for x, seconds in by_x.items()
    ]
    return Measurements(experiment, Run("r", "", {}, "", ""), tuple(points))
