"""How experiments are run: within a budget, each answer checked, gone on with after a stop."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kleene as kl
from kleene.cli.commands import lab as lab_run
from kleene.cli.main import app
from kleene_lab import experiments
from kleene_lab.harness import measure as harness
from kleene_lab.harness import record as records
from kleene_lab.harness import runner
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.measure import measure
from kleene_lab.harness.runner import Clock, Listener, Runner, Summary
from kleene_lab.harness.trial import Trial, solve


def trial(run: Callable[[], Any] = lambda: 1, wanted: Any = 1, **more: Any) -> Trial:
    """A trial whose answer must be ``wanted``."""

    def check(answer: Any) -> str:
        assert answer == wanted, "a wrong answer"
        return "compared"

    return Trial(run, check, repeats=more.pop("repeats", 3), **more)


def experiment(*plans: Plan, id: str = "try", **more: Any) -> Experiment:
    made: Callable[[Environment], Iterable[Plan]] = lambda environment: plans  # noqa: E731
    return Experiment(
        id, id, "Why?", Axis("x"), made, lambda results: (), ("ours",), **{"budget": 10, **more}
    )


def run(path: Path, *every: Experiment, again: bool = False, **more: Any) -> Summary:
    return Runner(Environment("cpu"), path, again=again, **more).measure(every)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.jsonl"


class Time:
    """Time that passes where a trial sleeps, whatever else the machine does."""

    def __init__(self) -> None:
        self.now = 1000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def monotonic(self) -> float:
        self.now += 1e-6
        return self.now

    perf_counter = monotonic


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The clock of the lab."""
    passing = Time()
    for module in (harness, runner):
        monkeypatch.setattr(module, "time", passing)
    return passing


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short calls are not repeated for 20 ms."""
    monkeypatch.setattr(harness, "WARM_UP", 0.0)


# ---- the harness --------------------------------------------------------------------------------


def test_contestants_take_turns() -> None:
    order: list[str] = []
    both = {
        name: trial(lambda name=name: order.append(name) or 1)  # type: ignore[misc]
        for name in "ab"
    }
    results = measure(both, 10.0)
    assert "".join(order) == "abababab"  # each once cold, then three times
    assert [len(one.seconds) for one in results.values()] == [3, 3]


def test_the_first_call_is_cold_and_does_not_count(clock: Time) -> None:
    calls = count()

    def run() -> int:
        clock.sleep(0.2 if next(calls) == 0 else 0.001)
        return 1

    results = measure({"": trial(run)}, 10.0)[""]
    assert results.cold >= 0.2
    assert min(results.seconds) < 0.2


def test_a_short_call_counts_once_it_is_warm(clock: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "WARM_UP", 0.02)
    began: list[float] = []

    def run() -> int:
        began.append(clock.perf_counter())
        clock.sleep(0.001)
        return 1

    results = measure({"": trial(run, repeats=1)}, 10.0)[""]
    assert began[-1] - began[1] > 0.019  # from the first that is not cold to the one that counts
    assert len(results.seconds) == 1


def test_a_long_call_is_not_repeated(clock: Time) -> None:
    results = measure({"": trial(lambda: clock.sleep(0.03) or 1, repeats=9)}, 0.02)[""]  # type: ignore[func-returns-value]
    assert results.seconds == [results.cold]


def test_a_wrong_answer_is_never_timed() -> None:
    failed: list[tuple[str, str]] = []
    both = {"right": trial(), "wrong": trial(lambda: 2)}
    results = measure(both, 1.0, failed=lambda name, error: failed.append((name, str(error))))
    assert list(results) == ["right"]
    assert failed[0][0] == "wrong"
    with pytest.raises(AssertionError):
        measure(both, 1.0)


def test_a_last_answer_that_is_wrong_is_not_reported() -> None:
    answers = count(1)
    failed: list[str] = []
    results = measure({"": trial(lambda: next(answers))}, 1.0, failed=lambda n, e: failed.append(n))
    assert (results, failed) == ({}, [""])


@pytest.mark.skipif(harness._start_peak() is None, reason="the system does not say")
def test_the_peak_of_memory_sees_an_allocation() -> None:
    # In a process of its own: no other test leaves memory that is freed, or taken, meanwhile.
    program = """
import numpy as np
from kleene_lab.harness.measure import measure
from kleene_lab.harness.trial import Trial

run = lambda: int(np.ones(2**26, np.uint8)[0])
measured = measure({"": Trial(run, lambda answer: "compared", repeats=1)}, 1.0)[""]
assert 0.95 * 2**26 <= measured.peak < 2**27, measured.peak
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_answers_of_ours_are_proved_and_must_agree() -> None:
    one = solve("sssp", kl.generate.grid(4, 4, seed=1, weights=(1, 9)), 0, device="cpu")
    result = one.run()
    assert one.check(result).startswith("verified")
    spoiled = one.run()
    spoiled.distances[3] += 1
    with pytest.raises(AssertionError, match="differ"):
        one.check(spoiled)
    other = solve("sssp", result.graph, 0, device="cpu")
    with pytest.raises(kl.VerificationError):
        other.check(spoiled)


# ---- the runner ---------------------------------------------------------------------------------


def reasons(path: Path) -> list[str]:
    return [skip.why for skip in records.read(path).skips]


def test_points_are_written_as_they_come(path: Path) -> None:
    seen: list[int] = []

    class Noting(Listener):
        def recorded(self, line: records.Line) -> None:
            seen.append(len(path.read_text().splitlines()))

    plans = [Plan("a", x, trial, panel="p", threads=2) for x in (1, 2, 3)]
    results = run(path, experiment(*plans), listener=Noting())
    assert seen == [2, 3, 4]  # after the head
    assert (results.measured, results.skipped, results.failed) == (3, 0, 0)
    record = records.read(path)
    assert [(point.series, point.x, point.threads) for point in record.points] == [
        ("a", 1, 2), ("a", 2, 2), ("a", 3, 2),
    ]  # fmt: skip
    assert {point.checked for point in record.points} == {"compared"}
    assert record.points[0].cold is not None


def test_what_does_not_fit_is_skipped_with_the_reason(path: Path, clock: Time) -> None:
    slow = lambda: trial(lambda: clock.sleep(0.05) or 1)  # type: ignore[func-returns-value]  # noqa: E731
    results = run(
        path,
        experiment(
            Plan("no patience", 1, trial, guess=60),
            Plan("no time", 2, trial, setup=1000),
            Plan("grows", 1, slow),
            Plan("grows", 64, slow),
            Plan("grows slowly", 1, slow, growth=1.0),
            Plan("grows slowly", 64, slow, growth=1.0),
        ),
    )
    assert (results.measured, results.skipped, results.failed) == (3, 3, 0)
    patience, time_, grows = reasons(path)
    assert patience == "a call would take about 60 s"
    assert time_.startswith("needs about 1,000 s, and ")
    assert grows.startswith("a call would take about ")


def test_estimates_need_no_order_of_sizes(clock: Time) -> None:
    left = Clock(clock.monotonic() + 60, 5)
    plans = {size: Plan("a", 0, trial, guess=0.5, size=size, growth=4) for size in (1, 2, 8, 16)}
    assert left.expected(plans[8]) == 0.5
    left.observe(plans[8], 0.3)
    assert left.expected(plans[16]) == 0.3 * 4
    assert left.expected(plans[2]) == 0.3, "not more than a larger one"
    left.observe(plans[1], 0.01)
    assert left.expected(plans[2]) == 0.01 * 4
    assert left.expected(plans[8]) == 0.3
    other = replace(plans[16], family="grid")
    assert left.expected(other) == 0.5
    left.observe(other, 0.7)
    assert left.expected(plans[16]) == pytest.approx(0.3 * (0.3 / 0.01) ** (1 / 3))


def test_a_budget_for_everything_is_shared(path: Path, clock: Time) -> None:
    slow = lambda: trial(lambda: clock.sleep(0.2) or 1, repeats=1)  # type: ignore[func-returns-value]  # noqa: E731
    every = [experiment(*(Plan("a", x, slow) for x in range(1, 33)), id=name) for name in "ab"]
    began = clock.now
    results = run(path, *every, budget=4)  # of 13 seconds
    assert clock.now - began < 4.5
    record = records.read(path)
    measured = [point.experiment for point in record.points]
    assert min(measured.count("a"), measured.count("b")) > 6  # each had its share
    assert results.skipped > 0
    assert all("s are left" in why or "would take" in why for why in reasons(path))


def test_what_cannot_take_place_says_why(path: Path) -> None:
    def unable() -> Trial:
        raise Skipped("there is no file x.txt")

    def none(environment: Environment) -> Iterator[Plan]:
        raise Skipped("no GPU here")

    def too_large() -> Trial:
        raise kl.MemoryBudgetError("needs 1 TiB")

    whole = replace(experiment(id="whole"), plans=none)
    every = experiment(Plan("a", 1, unable), Plan("b", 1, too_large), Plan("c", 1, trial))
    results = run(path, whole, every)
    assert (results.measured, results.skipped, results.failed) == (1, 3, 0)
    assert reasons(path) == ["no GPU here", "there is no file x.txt", "needs 1 TiB"]
    assert records.read(path).skips[0].series is None


def test_errors_are_recorded_and_the_others_run(path: Path) -> None:
    def broken() -> Trial:
        raise ZeroDivisionError("oh\nno")

    wrong = lambda: trial(lambda: 2)  # noqa: E731
    plans = [Plan("broken", 1, broken), Plan("wrong", 1, wrong), Plan("right", 1, trial)]
    results = run(path, experiment(*plans))
    assert (results.measured, results.failed) == (1, 2)
    record = records.read(path)
    assert [point.series for point in record.points] == ["right"]
    assert [(skip.series, skip.failed) for skip in record.skips] == [
        ("broken", True), ("wrong", True),
    ]  # fmt: skip
    assert reasons(path)[0] == "ZeroDivisionError: oh no"
    assert "a wrong answer" in reasons(path)[1]


def test_after_an_interruption_it_resumes(path: Path) -> None:
    calls: list[float] = []
    pressed = [True]

    def plan(x: float) -> Plan:
        def go() -> int:
            calls.append(x)
            if x == 2 and pressed[0]:
                raise KeyboardInterrupt
            return 1

        return Plan("a", x, lambda: trial(go, repeats=1))

    every = experiment(*(plan(x) for x in (1.0, 2.0, 3.0)))
    with pytest.raises(KeyboardInterrupt):
        run(path, every)
    with path.open("a") as file:
        file.write('{"kind":"poi')  # the line that was being written
    assert {point.x for point in records.read(path).points} == {1.0}
    pressed[0] = False
    calls.clear()
    results = run(path, every)
    assert (results.kept, results.measured) == (1, 2)
    assert 1.0 not in calls
    assert sorted(point.x for point in records.read(path).latest().points) == [1.0, 2.0, 3.0]
    results = run(path, every, again=True)
    assert (results.kept, results.measured) == (0, 3)


@pytest.mark.parametrize("field", ["kleene", "kernels", "quick"])
def test_a_record_of_another_version_is_measured_again(path: Path, field: str) -> None:
    every = experiment(Plan("a", 1, trial))
    first = Runner(Environment("cpu"), path)
    other = {"options": {"quick": True}} if field == "quick" else {field: "other"}
    first.run = replace(first.run, **other)  # type: ignore[arg-type]
    first.measure([every])
    results = run(path, every)
    assert (results.kept, results.measured) == (0, 1)
    assert run(path, every).kept == 1


def test_checks_stand_in_a_record_of_their_own(path: Path) -> None:
    runner = Runner(Environment("cpu"), path)
    runner.check("tests", 12, 0)
    runner.check("sanitizer", 3, 1, ["a race"])
    record = records.read(path)
    assert [(c.name, c.passed, c.failed, c.details) for c in record.checks] == [
        ("tests", 12, 0, ()), ("sanitizer", 3, 1, ("a race",)),
    ]  # fmt: skip
    assert runner.measure([experiment(Plan("a", 1, trial))]).failed == 1
    assert list(records.read(path).runs) == [runner.run.id]  # one head


# ---- the command --------------------------------------------------------------------------------


@pytest.fixture
def command(path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def call(*arguments: str, every: tuple[Experiment, ...] = ()) -> Any:
        if every:
            monkeypatch.setattr(experiments, "EXPERIMENTS", every)
        device = () if "--device" in arguments else ("--device", "cpu")
        full = ["lab", "run", "--record", str(path), *device, *arguments]
        return CliRunner().invoke(app, full)

    return call


def test_unknown_names_are_reported(command: Callable[..., Any]) -> None:
    done = command("bfs-by-skale")
    assert done.exit_code == 2
    assert "no experiment is called 'bfs-by-skale'; see `kleene lab list`" in done.stderr
    done = command("--suite", "mine")
    assert done.exit_code == 2
    assert "no suite is called 'mine'; there are all, " in done.stderr
    done = command("--device", "abacus")
    assert done.exit_code == 2
    assert "no device 'abacus'" in done.stderr


def test_the_command_fails_if_an_answer_was_wrong(command: Callable[..., Any]) -> None:
    right, wrong = Plan("right", 1, trial), Plan("wrong", 1, lambda: trial(lambda: 2))
    done = command(every=(experiment(right),))
    assert done.exit_code == 0, done.output
    assert "1 points measured" in done.stdout
    done = command(every=(experiment(right, wrong),))
    assert done.exit_code == 1
    assert "1 already in the record" in done.stdout
    assert "1 FAILED" in done.stdout


@pytest.mark.skipif(find_spec("kleene._emulator") is None, reason="built without the emulator")
def test_the_emulator_is_no_gpu(command: Callable[..., Any], path: Path) -> None:
    plans = Plan("tiled, GPU", 1, trial), Plan("naive, GPU", 1, lambda: trial(lambda: 2))
    done = command("--device", "cpu", every=(experiment(*plans),))
    assert "tiled, GPU" in done.stderr
    path.unlink()
    done = command("--device", "emulated", every=(experiment(*plans),))
    assert "tiled, emulator" in done.stderr
    assert "naive, emulator 1: " in done.stderr
    assert "GPU" not in done.stderr
    assert {point.series for point in records.read(path).points} == {"tiled, GPU"}


def test_ctrl_c_says_how_to_resume(command: Callable[..., Any], path: Path) -> None:
    def pressed() -> Trial:
        raise KeyboardInterrupt

    done = command(every=(experiment(Plan("a", 1, trial), Plan("a", 2, pressed)),))
    assert done.exit_code == 130
    assert f"the points so far are in {path}; the same command resumes" in done.stderr
    assert len(records.read(path).points) == 1


def test_a_suite_is_chosen_by_name() -> None:
    ours = lab_run.chosen([], "ours")
    assert ours
    assert all("ours" in one.suites for one in ours)
    assert lab_run.chosen([ours[1].id, ours[0].id], "all") == ours[:2]  # in the report's order
