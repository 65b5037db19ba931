"""The lab's experiments on prepared graphs: they run, and wrong answers are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_samples import unhurried
from test_lab_ours import assert_sentences

import kleene as kl
from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.experiments import prepared as prepared_experiments
from kleene_lab.experiments.prepared_peers import ROUTING_PEERS, Pandana, PyRoutingKit
from kleene_lab.harness import prepared
from kleene_lab.harness import record as records
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Experiment, Skipped
from kleene_lab.harness.graphs import delaunay, grid, made, split
from kleene_lab.harness.measurements import measurements_in
from kleene_lab.harness.runner import Runner

PREPARED = [one for one in EXPERIMENTS if "prepared" in one.suites]
IDS = [one.id for one in PREPARED]


@pytest.mark.parametrize("experiment", PREPARED, ids=IDS)
def test_an_experiment_runs_and_its_findings_hold(experiment: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    done = Runner(Environment("cpu", quick=True), path).measure([unhurried(experiment)])
    record = records.read(path)
    assert done.failed == 0, [skip.why for skip in record.skips]
    assert done.measured > 0
    assert all("not installed" in skip.why for skip in record.skips)
    assert all(point.checked and point.times for point in record.points)
    [results] = measurements_in(record, experiment)
    assert list(experiment.findings(results))
    assert_sentences(results)
    for _, column in experiment.columns:
        assert all(isinstance(column(point), str) for point in results.points)
    for missing in range(len(results.points)):
        points = results.points[:missing] + results.points[missing + 1 :]
        assert_sentences(replace(results, points=points))


def test_the_suite_takes_forty_minutes() -> None:
    assert sum(one.budget for one in PREPARED) <= 2400


# ---- wrong answers -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def asked() -> prepared.Asked:
    return prepared.Asked(kl.generate.grid(9, 9, seed=1, weights=(1, 9)))


def test_wrong_pairs_rows_and_paths_are_found(asked: prepared.Asked) -> None:
    p = kl.prepare(asked.graph)
    distances = p.distances(asked.pairs)
    assert "as plain searches" in asked.check_pairs(distances)
    distances[7] += 1
    with pytest.raises(AssertionError, match="pairs have other distances"):
        asked.check_pairs(distances)

    rows = np.array(p.trees(asked.sources).distances)
    assert "rows as plain searches" in asked.check_rows(rows)
    rows[1, 3] -= 1
    with pytest.raises(AssertionError, match="a row has other distances"):
        asked.check_rows(rows)

    paths = [p.path(s, t) for s, t in asked.pairs[:20].tolist()]
    assert "20 paths" in asked.check_paths(paths)
    far = int(np.argmax(asked.lengths[:20]))
    for wrong, message in (
        (paths[far][:-1], "longer"),
        ([*paths[far], paths[far][0]], "not there"),
        ([], "longer"),
    ):
        spoiled = [*paths]
        spoiled[far] = wrong
        with pytest.raises(AssertionError, match=message):
            asked.check_paths(spoiled)


def test_one_wrong_pair_of_many_is_found() -> None:
    environment = Environment("cpu", quick=True)
    trial = prepared_experiments._million_trial(environment, grid(8))
    distances = np.array(trial.run())
    assert "none different" in trial.check(distances)
    distances[501] += 1
    with pytest.raises(AssertionError, match="1 of 1,000 pairs differ"):
        trial.check(distances)


def test_graphs_that_cannot_be_prepared_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(graph: kl.Graph) -> Any:
        raise kl.MemoryBudgetError("too many pairs")

    monkeypatch.setattr(kl, "prepare", refuse)
    with pytest.raises(Skipped, match="too many pairs"):
        prepared.prepared_of(Environment("cpu", quick=True), grid(5))


# ---- graphs and peers ----------------------------------------------------------------------------


def test_split_edges_keep_distances() -> None:
    g = kl.datasets.rome().unlabelled()
    longer = split(g, 10)
    assert longer.m == 10 * g.m
    assert longer.n == g.n + 9 * len({tuple(sorted(ends)) for ends in zip(*g.coo[:2], strict=True)})
    for source in (0, 77):
        distances = kl.sssp(longer, source).distances[: g.n]
        assert np.array_equal(distances, kl.sssp(g, source).distances)


def test_triangulations_are_planar_and_placed() -> None:
    g = delaunay(500).get(Environment("cpu", quick=True))
    assert g.positions is not None
    assert 1450 < g.m // 2 <= 3 * g.n - 6


@pytest.mark.parametrize("kind", ROUTING_PEERS)
def test_peers_say_why_they_do_not_take_part(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kleene_lab.experiments.prepared_peers.find_spec", lambda name: None)
    with pytest.raises(Skipped, match=f"not installed; pip install {kind.name}"):
        kind(kl.generate.grid(3, 3))
    monkeypatch.setattr("kleene_lab.experiments.prepared_peers.find_spec", lambda name: object())
    with pytest.raises(Skipped, match="coordinates"):
        kind(kl.generate.grid(3, 3))
    monkeypatch.setattr(kind, "most_vertices", 8)
    with pytest.raises(Skipped, match="too long"):
        kind(kl.generate.grid(3, 3))


@pytest.mark.parametrize("kind", [PyRoutingKit, Pandana])
def test_peers_answer_as_plain_searches(kind: Any, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(kind.name)
    far = kl.Graph.from_edges([0, 1], [1, 0], [4, 3], n=3).with_positions([(0, 0), (1, 0), (2, 2)])
    for g in (delaunay(60).get(Environment("cpu", quick=True)), far):
        right = prepared.plain_rows(g, np.arange(g.n)).astype(np.int64)
        peer: Any = kind(g)
        peer.prepare()
        if hasattr(peer, "customize"):
            peer.customize()
        ids = np.arange(g.n)
        none = np.iinfo(prepared.plain_rows(g, ids[:1]).dtype).max
        right[right == none] = np.iinfo(np.int64).max
        assert np.array_equal(peer.matrix(ids, ids), right)
        pairs = np.array([[0, 1], [1, 0]])
        assert peer.distances(pairs).tolist() == [right[0, 1], right[1, 0]]
        assert peer.paths(pairs)[0][0] == 0
    assert capfd.readouterr().out == ""


def test_matrices_of_all_series_must_be_the_same() -> None:
    from kleene_lab.experiments.prepared_peers import _check_matrix

    environment, named = (
        Environment("cpu", quick=True),
        made("g", 9, lambda: kl.generate.grid(6, 6)),
    )
    ids = np.arange(30)
    right = prepared.plain_rows(named.get(environment), ids)[:, ids]
    assert "16 rows" in _check_matrix(environment, named, ids, right)
    wrong = right.copy()
    wrong[0, 1] += 1  # a row that is searched
    with pytest.raises(AssertionError, match="other distances"):
        _check_matrix(environment, named, ids, wrong)
    wrong = right.copy()
    wrong[2, 1] += 1  # one that is not
    with pytest.raises(AssertionError, match="two matrices"):
        _check_matrix(environment, named, ids, wrong)
