"""The GAP Benchmark Suite beside Kleene: found or not, run, read, its answers checked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lab_samples import unhurried

from kleene.cli.commands.lab import chosen
from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.harness import record as records
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Experiment, Skipped
from kleene_lab.harness.gap import VARIABLE, Program, best_delta, programs, read_output
from kleene_lab.harness.measurements import measurements_in
from kleene_lab.harness.runner import Runner, Summary

[GAP] = [one for one in EXPERIMENTS if one.id == "peers-gap"]
[BETWEENNESS] = [one for one in EXPERIMENTS if one.id == "betweenness-gap"]

#: What `sssp -g 12 -n 3 -r 5 -v -a -d 4` and `bfs -g 12 -n 2 -r 9 -a` print.
SSSP = """\
Generate Time:       0.00519
Build Time:          0.01040
Graph has 4096 nodes and 48386 undirected edges for degree: 11
Trial Time:          0.00334
Verification:           PASS
Verification Time:   0.00401
Trial Time:          0.00121
Verification:           PASS
Verification Time:   0.00400
Trial Time:          0.00119
SSSP Tree reaches 3216 nodes
Verification:           PASS
Verification Time:   0.00400
Average Time:        0.00191
"""
BFS = """\
Read Time:           0.00002
Graph has 4096 nodes and 48386 undirected edges for degree: 11
Trial Time:          0.00007
Trial Time:          0.00005
BFS Tree has 3216 nodes and 86144 edges
Average Time:        0.00006
"""

#: A program that prints what GAP would for a connected graph; it notes its arguments.
FAKE = """\
#!{python}
import os, sys
arguments = sys.argv[1:]
with open(__file__ + ".log", "a") as log:
    print(os.environ["OMP_NUM_THREADS"], *arguments, file=log)
with open(arguments[arguments.index("-f") + 1], "rb") as file:
    nodes = int.from_bytes(file.read(17)[9:], "little")
delta = int(arguments[arguments.index("-d") + 1]) if "-d" in arguments else 16
for trial in range(int(arguments[arguments.index("-n") + 1])):
    print(f"Trial Time:          {{0.003 + 1e-5 * abs(delta - 16) - 0.001 * trial:.5f}}")
    if "-v" in arguments:
        print("Verification:           {verdict}")
if "{tree}":
    print(f"{tree} {{nodes - {lost}}} nodes")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that installs programs in place of GAP's."""

    def install(verdict: str = "PASS", lost: int = 0, load: float = 0) -> Path:
        for name, tree in (("bfs", "BFS Tree has"), ("sssp", "SSSP Tree reaches"), ("bc", "")):
            program = tmp_path / name
            program.write_text(
                FAKE.format(python=sys.executable, verdict=verdict, tree=tree, lost=lost)
            )
            program.chmod(0o755)
        monkeypatch.setenv(VARIABLE, str(tmp_path))
        monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
        return tmp_path

    return install


def run(path: Path, experiment: Experiment = GAP) -> tuple[Summary, records.Record]:
    done = Runner(Environment("cpu", quick=True), path).measure([unhurried(experiment)])
    return done, records.read(path)


def test_output_is_read() -> None:
    searches = read_output(SSSP)
    assert searches.seconds == (0.00334, 0.00121, 0.00119)
    assert (searches.reached, searches.verified) == (3216, True)
    searches = read_output(BFS)
    assert (searches.seconds, searches.reached, searches.verified) == ((7e-5, 5e-5), 3216, None)
    assert read_output(SSSP.replace("PASS", "FAIL", 1)).verified is False


@pytest.mark.parametrize("text", ["", SSSP.replace("Trial", "")])
def test_output_without_times_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no time"):
        read_output(text)


def test_betweenness_prints_no_number_of_nodes() -> None:
    trials = read_output("Trial Time:          0.00334\nVerification:           PASS\n")
    assert (trials.seconds, trials.reached, trials.verified) == ((0.00334,), None, True)


def test_without_gap_the_experiment_is_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    done, record = run(tmp_path / "record.jsonl")
    assert (done.measured, done.failed, done.skipped) == (0, 0, 1)
    assert "not installed; set KLEENE_GAP to the folder" in record.skips[0].why
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(Skipped, match="no program bfs in KLEENE_GAP="):
        programs("bfs", "sssp")


def test_gap_is_measured_by_its_own_clock(install, tmp_path: Path) -> None:
    folder = install()
    done, record = run(tmp_path / "record.jsonl")
    assert (done.failed, done.skipped) == (0, 0), [skip.why for skip in record.skips]
    [results] = measurements_in(record, GAP)
    assert set(results.panels) == {"breadth-first search", "shortest paths"}
    places = ["one core"] if Environment("cpu").cores == 1 else ["all cores", "one core"]
    for panel in results.panels:
        for place in places:
            assert results.at(f"Kleene, {place}", 0, panel) is not None
            point = results.at(f"GAP, {place}", 0, panel)
            assert point is not None
            assert results.time(point) == 0.001  # the last of 3, 2 and 1 ms
            assert point.peak is None
            assert point.checked.startswith("GAP's own verification")
    assert point.facts == {"delta": 16}
    assert [column(point) for _, column in GAP.columns] == ["16"]
    sentences = list(GAP.findings(results))
    assert sum("as fast as GAP." in sentence for sentence in sentences) == 2 * len(places)
    # The first start of each series verifies, the others do not.
    starts = [start.split() for start in (folder / "bfs.log").read_text().splitlines()]
    assert {start[0] for start in starts} == {str(n) for n in Environment("cpu").threads}
    assert sum("-v" in start for start in starts) == len(places) < len(starts)


def test_betweenness_is_measured_beside_bc(install, tmp_path: Path) -> None:
    folder = install()
    done, record = run(tmp_path / "record.jsonl", BETWEENNESS)
    assert (done.failed, done.skipped) == (0, 0), [skip.why for skip in record.skips]
    [results] = measurements_in(record, BETWEENNESS)
    for series in ("Kleene, one core", "GAP, one core"):
        assert results.at(series, 0) is not None
    assert results.time(results.at("GAP, one core", 0)) == pytest.approx(0.002)  # the mean
    assert any("as fast as GAP." in sentence for sentence in BETWEENNESS.findings(results))
    starts = (folder / "bc.log").read_text().splitlines()
    assert all(" -i 4 " in start for start in starts)
    install(verdict="FAIL")
    done, record = run(tmp_path / "wrong.jsonl", BETWEENNESS)
    assert {skip.series.split(",")[0] for skip in record.skips} == {"GAP"}
    assert all("GAP's own verification failed" in skip.why for skip in record.skips)


def test_a_busy_machine_does_not_measure_gap_on_all_cores(install, tmp_path: Path) -> None:
    install(load=100)
    environment = Environment("cpu", quick=True)
    environment.cores = 2
    path = tmp_path / "record.jsonl"
    Runner(environment, path).measure([unhurried(GAP)])
    record = records.read(path)
    assert {skip.series for skip in record.skips} == {"GAP, all cores"}
    assert all("the load is 100.0 on 2 cores" in skip.why for skip in record.skips)
    assert "GAP, one core" in {point.series for point in record.points}


@pytest.mark.parametrize(
    ("wrong", "why"), [({"verdict": "FAIL"}, "verification failed"), ({"lost": 3}, "GAP reached")]
)
def test_a_wrong_answer_of_gap_is_a_failure(wrong, why: str, install, tmp_path: Path) -> None:
    install(**wrong)
    done, record = run(tmp_path / "record.jsonl")
    assert done.failed == 2 * len(Environment("cpu").threads)
    assert all(why in skip.why for skip in record.skips)
    assert not any(point.series.startswith("GAP") for point in record.points)


def test_a_program_that_fails_says_how(install) -> None:
    folder = install()
    program = Program("bfs", folder / "missing.sg", 1, "-r", "0")
    with pytest.raises(RuntimeError, match=r"missing\.sg"):
        program.run()


@pytest.mark.parametrize("best", [1, 4, 64, 16384])
def test_the_best_delta_is_found(best: int) -> None:
    tried: list[int] = []

    def time(delta: int) -> float:
        tried.append(delta)
        bump = 0.5 if delta == 4 * best else 0  # a step that is worse than the next
        return abs(delta.bit_length() - best.bit_length()) + bump

    assert best_delta(time, 256) == best
    assert len(set(tried)) == len(tried)


@pytest.mark.parametrize("time", [lambda delta: 1.0, lambda delta: 1 / delta])
def test_the_search_for_the_best_delta_ends(time) -> None:
    """Times may all be the same, on a tiny graph, or fall as far as GAP counts."""
    tried: list[int] = []

    def noted(delta: int) -> float:
        tried.append(delta)
        return time(delta)

    best_delta(noted, 16)
    assert len(tried) < 20
    assert max(tried) <= 2**30


def test_the_suite_has_these_experiments_alone() -> None:
    assert [one.id for one in chosen([], "gap")] == ["peers-gap", "betweenness-gap"]


def test_more_threads_get_series_where_there_are_cores(
    install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    environment = Environment("cpu", quick=True)
    environment.cores = 12
    series = {plan.series for plan in GAP.plans(environment)}
    places = ("all cores", "8 cores", "2 cores", "one core")
    assert series == {f"{who}, {place}" for who in ("Kleene", "GAP") for place in places}
