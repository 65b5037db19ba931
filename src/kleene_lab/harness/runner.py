"""Runs experiments within a time budget, and records each point as soon as it is measured.

Points of one chart at one x are measured together, in turns. The time of a point is extrapolated
from the points before it in its series, of graphs of its family; one that would take longer than
what is left is skipped, and the reason recorded. A record that has points of this machine, version
and kernels is resumed: those are not measured again.
"""

from __future__ import annotations

import secrets
import time
from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from math import inf, log2
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any, TextIO

import kleene as kl
from kleene.calls.programs import kernel_digest
from kleene_lab.harness import record as records
from kleene_lab.harness.environment import Environment, describe
from kleene_lab.harness.experiment import Experiment, Plan, Skipped
from kleene_lab.harness.formatting import duration
from kleene_lab.harness.measure import Measured, measure
from kleene_lab.harness.record import Check, Line, Point, Run, Skip
from kleene_lab.harness.trial import Trial

__all__ = ["Clock", "Listener", "Runner", "Summary"]

#: Seconds that the runs of one series at one point may take, as a share of the experiment's.
_SHARE = 1 / 12
_MOST, _LEAST = 4.0, 0.1

_first = itemgetter(0)

#: Repeats in a quick run.
_QUICK = 1


class Listener:
    """Receives the progress of a run; this one ignores it."""

    def experiment_started(
        self, experiment: Experiment, number: int, total: int, plans: int
    ) -> None:
        """An experiment starts."""

    def recorded(self, line: Line) -> None:
        """A point was measured or skipped."""

    def advanced(self, done: int, left: float) -> None:
        """``done`` points of the experiment are finished; at most ``left`` seconds remain."""


@dataclass
class Summary:
    """Counts of a run."""

    measured: int = 0
    kept: int = 0  # points that the record had already
    skipped: int = 0
    failed: int = 0
    seconds: dict[str, float] = field(default_factory=dict)  # of each experiment


class Runner:
    """Measures experiments into a record."""

    def __init__(
        self,
        environment: Environment,
        path: str | Path,
        budget: float | None = None,
        again: bool = False,
        listener: Listener | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.environment, self.path = environment, Path(path)
        self.budget = budget
        self.listener = listener or Listener()
        self.summary = Summary()
        self.run = Run(
            secrets.token_hex(4),
            f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            describe(environment.gpu),
            kl.__version__,
            kernel_digest(),
            {**(options or {}), "quick": environment.quick},
        )
        self._known = {} if again else self._measured_before()
        self._file: TextIO | None = None
        self._begun = False

    def _measured_before(self) -> dict[tuple[Any, ...], Point]:
        """Return the points of the record from the same machine, version and kernels."""
        if not self.path.exists():
            return {}
        old = records.read(self.path)
        same = {run.id for run in old.runs.values() if _comparable(run, self.run)}
        return {point.key: point for point in old.points if point.run in same}

    # ---- experiments ----------------------------------------------------------------------------

    def measure(self, experiments: Sequence[Experiment]) -> Summary:
        """Run experiments in order; each point is recorded at once."""
        with self._open() as self._file:
            end = None if self.budget is None else time.monotonic() + self.budget
            for number, experiment in enumerate(experiments):
                ahead = sum(one.budget for one in experiments[number:])
                left = experiment.budget
                if end is not None:  # time that others left over is shared
                    left = (end - time.monotonic()) * experiment.budget / ahead
                self._experiment(experiment, number, len(experiments), left)
        return self.summary

    def check(self, name: str, passed: int, failed: int, details: Iterable[str] = ()) -> None:
        """Record checks."""
        with self._open() as file:
            records.append(file, Check(self.run.id, name, passed, failed, tuple(details)))
        self.summary.failed += failed

    def _open(self) -> TextIO:
        records.mend(self.path)
        file = self.path.open("a", encoding="utf-8")
        if not self._begun:
            records.append(file, self.run)
            self._begun = True
        return file

    def _experiment(self, experiment: Experiment, number: int, total: int, left: float) -> None:
        began = time.monotonic()
        clock = Clock(began + left, experiment.patience)
        try:
            plans = list(experiment.plans(self.environment))
        except Skipped as why:
            self.listener.experiment_started(experiment, number, total, 0)
            self._record(Skip(self.run.id, experiment.id, str(why)))
            return
        self.listener.experiment_started(experiment, number, total, len(plans))
        done = 0
        for _, group in groupby(plans, key=lambda plan: (plan.panel, plan.x)):
            together = list(group)
            self._together(experiment, together, clock)
            done += len(together)
            self.listener.advanced(done, clock.left)
        self.summary.seconds[experiment.id] = time.monotonic() - began

    # ---- points ---------------------------------------------------------------------------------

    def _together(self, experiment: Experiment, plans: list[Plan], clock: Clock) -> None:
        """Measure the points of one chart at one x."""
        trials: dict[str, Trial] = {}
        chosen: dict[str, Plan] = {}
        for plan in plans:
            name = f"{plan.series}\0{plan.device}"
            known = self._known.get(self._key(experiment, plan))
            if known is not None:
                clock.observe(plan, known.median)
                self.summary.kept += 1
                continue
            why = clock.reason_to_skip(plan)
            if why is not None:
                self._skip(experiment, plan, why)
                continue
            try:
                trials[name], chosen[name] = plan.trial(), plan
                if self.environment.quick:
                    trials[name].repeats = min(_QUICK, trials[name].repeats)
            except Skipped as reason:
                self._skip(experiment, plan, str(reason))
            except Exception as error:
                self._fail(experiment, plan, error)
        if not trials:
            return
        each = _each(clock.left)
        results = measure(
            trials,
            each,
            self.environment.gpu if any(p.device != "cpu" for p in chosen.values()) else None,
            lambda name, error: self._fail(experiment, chosen[name], error),
        )
        for name, measured in results.items():
            plan, trial = chosen[name], trials[name]
            clock.observe(plan, median(measured.seconds))  # an interrupted call does not count
            self._record(self._point(experiment, plan, trial, measured))

    def _point(self, experiment: Experiment, plan: Plan, trial: Trial, results: Measured) -> Point:
        on_gpu = plan.device != "cpu"
        return Point(
            self.run.id,
            experiment.id,
            plan.series,
            plan.x,
            plan.panel,
            plan.device,
            plan.threads if plan.threads is not None else None if on_gpu else trial.threads,
            trial.method,
            trial.dtype,
            trial.n,
            trial.m,
            tuple(results.seconds),
            results.compute,
            results.cold,
            results.median("copy_in") if on_gpu else None,
            results.median("copy_out") if on_gpu else None,
            results.peak,
            results.device_peak if on_gpu else None,
            trial.work,
            trial.unit,
            trial.ceiling,
            results.checked,
            trial.facts | trial.summary(results.compute or results.seconds),
        )

    def _key(self, experiment: Experiment, plan: Plan) -> tuple[Any, ...]:
        return (experiment.id, plan.panel, plan.series, plan.device, plan.x)

    def _skip(self, experiment: Experiment, plan: Plan, why: str, failed: bool = False) -> None:
        skip = Skip(self.run.id, experiment.id, why, plan.panel, plan.series, plan.x, failed)
        self._record(skip)

    def _fail(self, experiment: Experiment, plan: Plan, error: Exception) -> None:
        if isinstance(error, kl.MemoryBudgetError):  # refused before it ran
            self._skip(experiment, plan, str(error))
            return
        message = " ".join(str(error).split())[:300]
        self._skip(experiment, plan, f"{type(error).__name__}: {message}", failed=True)

    def _record(self, line: Point | Skip) -> None:
        if isinstance(line, Point):
            self.summary.measured += 1
        elif line.failed:
            self.summary.failed += 1
        else:
            self.summary.skipped += 1
        assert self._file is not None
        records.append(self._file, line)
        self.listener.recorded(line)


class Clock:
    """The time an experiment has left, and estimates for its next points."""

    def __init__(self, end: float, patience: float) -> None:
        self._end, self._patience = end, patience
        #: Of each series and family: sizes, ascending, and the seconds of a call.
        self._known: dict[tuple[str, str, str, str], list[tuple[float, float]]] = {}

    @property
    def left(self) -> float:
        """Seconds."""
        return self._end - time.monotonic()

    def observe(self, plan: Plan, seconds: float) -> None:
        """Note how long a call took."""
        known = self._known.setdefault(_series(plan), [])
        insort(known, (_size(plan), seconds), key=_first)

    def reason_to_skip(self, plan: Plan) -> str | None:
        """Return why a point is skipped, or None."""
        expected = self.expected(plan)
        if expected > self._patience:
            return f"a call would take about {duration(expected)}"
        # The first call is the only one, if it takes as long as all may.
        needed = (1 if expected >= _each(self.left) else 3) * expected + plan.setup
        if needed > self.left:
            return f"needs about {duration(needed)}, and {duration(max(0.0, self.left))} are left"
        return None

    def expected(self, plan: Plan) -> float:
        """Return the seconds that a call may take."""
        known = self._known.get(_series(plan), [])
        size = _size(plan)
        if not known or plan.size == 0:
            return plan.guess
        at = bisect_right(known, size, key=_first)
        smaller = known[:at]
        most = known[at][1] if at < len(known) else inf  # as a larger one
        if not smaller:
            return most
        (last, seconds), growth = smaller[-1], plan.growth
        if size == last or last <= 0:
            return min(seconds, most)
        if len(smaller) > 1 and 0 < smaller[-2][0] < last:
            # Growth per doubling of the size; short calls are noise.
            before, faster = smaller[-2]
            if seconds > 1e-3:
                seen = (seconds / faster) ** (1 / _doublings(before, last))
                growth = min(plan.growth, max(1.5, seen))
        return min(float(seconds * growth ** _doublings(last, size)), most)


def _each(left: float) -> float:
    """Return the seconds for the runs of one series, of those that an experiment has left."""
    return min(_MOST, max(_LEAST, left * _SHARE))


def _size(plan: Plan) -> float:
    return plan.x if plan.size is None else plan.size


def _doublings(a: float, b: float) -> float:
    return max(log2(b / a), 1e-9)


def _series(plan: Plan) -> tuple[str, str, str, str]:
    return (plan.panel, plan.series, plan.device, plan.family)


def _comparable(a: Run, b: Run) -> bool:
    """Return whether two runs are of the same machine, version, kernels and sizes."""
    same = (records.place(a), a.kleene, a.kernels) == (records.place(b), b.kleene, b.kernels)
    return same and a.options.get("quick") == b.options.get("quick")
