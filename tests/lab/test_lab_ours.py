"""Our own experiments: each runs, checks its answers, and says only what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_samples import unhurried

import kleene as kl
from kleene_lab import experiments
from kleene_lab.experiments import inputs, peers, startup
from kleene_lab.harness import record as records
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Experiment, Skipped
from kleene_lab.harness.graphs import grid, highways, hub_of, made, rmat, sources_in
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.peers import PEERS, SciPy
from kleene_lab.harness.runner import Runner
from kleene_lab.harness.searches import searches_of
from kleene_lab.report.chart_data import format_value, y_title

OURS = [one for one in experiments.EXPERIMENTS if "ours" in one.suites]
IDS = [one.id for one in OURS]

#: Why a point may be missing where everything is tiny.
MISSING = re.compile(r"not installed|would take too long")


@pytest.mark.parametrize("experiment", OURS, ids=IDS)
def test_an_experiment_runs_and_its_findings_hold(experiment: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    done = Runner(Environment("emulated", quick=True), path).measure([unhurried(experiment)])
    record = records.read(path)
    assert done.failed == 0, [skip.why for skip in record.skips]
    assert done.measured > 0
    assert all(MISSING.search(skip.why) for skip in record.skips)
    assert all(point.checked and point.times for point in record.points)
    [results] = measurements_in(record, experiment)
    assert {"cpu", "emulated"} >= {point.device for point in results.points}
    assert_sentences(results)
    for column in experiment.columns:
        assert all(isinstance(column[1](point), str) for point in results.points)
    on_cpu = tuple(point for point in results.points if point.device == "cpu")
    assert_sentences(replace(results, points=on_cpu))
    for missing in range(len(results.points)):
        points = results.points[:missing] + results.points[missing + 1 :]
        assert_sentences(replace(results, points=points))


def assert_sentences(results: Measurements) -> None:
    """Whatever was measured, sentences are whole, and no value is made up."""
    for sentence in results.experiment.findings(results):
        assert sentence.endswith("."), sentence
        assert "nan" not in re.findall(r"[a-z]+", sentence), sentence
        assert "inf " not in sentence, sentence
    for point in results.points:
        assert results.value(point) > 0


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("experiment", OURS, ids=IDS)
def test_plans_are_made_without_a_gpu(experiment: Experiment, device: str) -> None:
    """Points have a device that is there, and bars where x is no number."""
    if (experiment.id, device) == ("dense-out-of-core", "cpu"):
        with pytest.raises(Skipped, match="needs a GPU"):
            list(experiment.plans(Environment(device)))
        return
    plans = list(experiment.plans(Environment(device)))
    assert {plan.device for plan in plans} <= {"cpu", device}
    assert "cpu" in {plan.device for plan in plans} or experiment.id == "dense-out-of-core"
    if experiment.x.labels:
        assert experiment.kind == "bars"
    if device == "cuda" and "gpu" in experiment.suites:
        assert "cuda" in {plan.device for plan in plans}


def test_budgets_are_what_was_promised() -> None:
    """Our part of the suite for GPUs leaves room for the documents' in nine minutes."""
    assert sum(one.budget for one in OURS) <= 1000
    assert sum(one.budget for one in OURS if "gpu" in one.suites) <= 500


# ---- answers that are wrong ---------------------------------------------------------------------


def test_searches_of_all_devices_are_held_against_one_proof() -> None:
    environment = Environment("emulated", quick=True)
    searches = searches_of(environment, "sssp", grid(6))
    assert searches_of(environment, "sssp", grid(6)) is searches
    for graph, device in (
        (searches.graph, "cpu"),
        (environment.placed(searches.graph), "emulated"),
    ):
        one = searches.trial(graph, paths=True, device=device)
        result = one.run()
        assert "verified" in one.check(result)
        result.distances[7] += 1
        with pytest.raises(AssertionError, match="other distances"):
            one.check(result)
        result = one.run()
        result.predecessors[7] = 7
        spoiled = searches.trial(graph, paths=True, device=device)
        with pytest.raises(kl.VerificationError):
            spoiled.check(result)


def test_sources_lie_in_the_largest_part() -> None:
    # A star of 9 has the vertex of highest degree, a path of 30 the most vertices.
    s = np.concatenate([np.zeros(9, int), 10 + np.arange(29)])
    t = np.concatenate([1 + np.arange(9), 11 + np.arange(29)])
    g = kl.Graph.from_edges(s, t, n=40, directed=False)
    assert (sources_in(g, 8) >= 10).all()
    assert len(sources_in(g, 100)) == 30
    assert hub_of(g) == 11  # the first of degree 2; vertex 0 has 9


def test_peers_must_agree_with_what_was_proved() -> None:
    entry = peers.Entry("sssp", kl.generate.grid(5, 5, seed=1, weights=(1, 9)))
    peer_call = SciPy(entry.graph).sssp_lengths(*entry.start)
    answer = peer_call.run()
    assert entry.check(peer_call.distances, answer).startswith("the same")
    answer[3] += 1
    with pytest.raises(AssertionError):
        entry.check(peer_call.distances, answer)


@pytest.mark.parametrize("kind", PEERS, ids=lambda kind: kind.name)
def test_a_peer_takes_part_or_says_why(kind: Any) -> None:
    g = kl.generate.grid(4, 4, seed=1, weights=(1, 9))
    why = kind.refuses("sssp", g)
    assert (why is None) == kind.installed()
    assert SciPy.refuses("apsp", g) is None
    if kind.name == "GraphBLAS" and kind.installed():
        assert kind.refuses("sssp", kl.generate.grid(400, 400)) == "would take too long"


def test_files_and_generators_notice_other_arcs() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([4, 5, 6], np.int32))
    assert inputs._same_arcs(g, g.to_scipy().tocoo())
    for wrong in (g.reweight(arcs=np.array([4, 5, 7], np.int32)), g.transpose()):
        with pytest.raises(AssertionError):
            inputs._same_arcs(g, wrong)
        with pytest.raises(AssertionError):
            inputs.same_graph(g, wrong)
    arcs = iter([100, 95, 50])
    other = inputs._Other("it", "scipy", lambda lib: None, lambda results: next(arcs))
    one = inputs._other_making(other)
    for _ in range(2):
        one.check(None)
    with pytest.raises(AssertionError, match="50 arcs, and 100 before"):
        one.check(None)


def test_a_new_process_that_fails_is_reported() -> None:
    one = startup._process("import kleene; print(0.1, 7)", True, False)
    with pytest.raises(AssertionError, match="sum is 7"):
        one.check(one.run())
    with pytest.raises(RuntimeError, match="oh no"):
        startup._process("raise SystemExit('oh no')", False, True).run()


# ---- the setting --------------------------------------------------------------------------------


def test_missing_files_are_reported_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Skipped, match=r"world-highways.npz: benchmarks/highways.py makes it"):
        highways().get(Environment("cpu", data=tmp_path))
    kl.write(kl.generate.grid(3, 3, weights=(1, 9)), tmp_path / "world-highways.npz")
    assert highways().get(Environment("cpu", data=tmp_path)).n == 9


def test_what_was_made_last_serves_again() -> None:
    environment, times = Environment("cpu"), []
    make: Callable[[], int] = lambda: times.append(1) or len(times)  # type: ignore[func-returns-value]  # noqa: E731
    assert [environment.last("a", key, make) for key in (1, 1, 2, 1)] == [1, 1, 2, 3]
    assert environment.last("b", 1, make) == 4
    with pytest.raises(kl.RequestError, match="no device 'gpu'"):
        Environment("gpu")


def test_graphs_have_names() -> None:
    assert rmat(21, 48).name == "R-MAT 21 x 48"
    assert rmat(25).name == "R-MAT 25, no weights"
    tiny = made("tiny", 4, lambda: kl.generate.path(3))
    assert tiny.get(Environment("cpu")).n == 3
    assert tiny.setup(Environment("cpu")) < 1e-3


def test_a_speedup_is_relative_to_the_first_point() -> None:
    scaling = next(one for one in OURS if one.y == "speedup")
    run = records.Run("r", "2026-01-01T00:00:00Z", {"cores": 4}, "0", "0")
    points = tuple(
        records.Point("r", scaling.id, "BFS", threads, seconds=(seconds,))
        for threads, seconds in ((1, 8.0), (2, 4.0), (4, 2.5))
    )
    results = Measurements(scaling, run, points)
    assert [results.value(point) for point in points] == [1.0, 2.0, 3.2]
    assert format_value(results.value(points[2]), scaling.y) == "3.2 x"
    assert y_title(scaling.y, "") == "speedup"
    [texts] = scaling.findings(results)
    assert texts == "With 4 cores the best to scale is BFS, 3.2 times as fast."


def test_no_planning_ids() -> None:
    """Documents are cited by their authors, not by the ids of our plans."""
    root = Path(__file__).parents[2]
    texts = [root / "README.md", *(root / "src").rglob("*.*"), *(root / "docs").rglob("*.*")]
    named = [
        str(file)
        for file in texts
        if file.suffix in (".py", ".md", ".cu", ".cuh", ".js", ".css", ".yml")
        and re.search(r"\bS[0-4][a-g]\b", file.read_text(encoding="utf-8"))
    ]
    assert named == []
