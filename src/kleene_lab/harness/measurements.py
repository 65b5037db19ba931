"""The measurements of an experiment on one machine: medians, spreads and ratios of its points."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kleene_lab.harness.experiment import Experiment, Published
from kleene_lab.harness.record import Point, Record, Run, Skip, place

__all__ = ["Measurements", "Spread", "finding", "measurements_in", "times_as"]


@dataclass(frozen=True)
class Spread:
    """The spread of a point's values."""

    low: float
    high: float
    kind: str  # "99 % interval", "quartiles", or "range" of fewer than four values


@dataclass(frozen=True)
class Measurements:
    """The points of one experiment that were measured on one machine."""

    experiment: Experiment
    run: Run  # the latest
    points: tuple[Point, ...]
    skips: tuple[Skip, ...] = ()

    @property
    def series(self) -> tuple[str, ...]:
        """The names of all series, in the order in which they were measured."""
        return tuple(dict.fromkeys(point.series for point in self.points))

    @property
    def panels(self) -> tuple[str, ...]:
        """The names of all charts."""
        return tuple(dict.fromkeys(point.panel for point in self.points))

    def of(self, series: str | None = None, panel: str | None = None) -> tuple[Point, ...]:
        """Return points by rising x."""
        chosen = [
            point
            for point in self.points
            if series in (None, point.series) and panel in (None, point.panel)
        ]
        return tuple(sorted(chosen, key=lambda point: point.x))

    def at(self, series: str, x: float, panel: str | None = None) -> Point | None:
        """Return one point, if it was measured."""
        return next((point for point in self.of(series, panel) if point.x == x), None)

    def value(self, point: Point) -> float:
        """Return the value of a point in the charts."""
        return self._shown(point, self.time(point))

    def spread(self, point: Point) -> Spread:
        """Return the spread of a point in the charts."""
        around = self.time_spread(point)
        low, high = sorted(self._shown(point, seconds) for seconds in (around.low, around.high))
        return Spread(low, high, around.kind)

    def time_spread(self, point: Point) -> Spread:
        """Return the spread of the seconds.

        A 99 % interval, if the experiment has one, is the fact ``interval``, in seconds.
        """
        times = self.times(point) or (math.nan,)
        interval = point.facts.get("interval")
        if isinstance(interval, tuple | list) and len(interval) == 2:
            low, high = interval
            return Spread(low, high, "99 % interval")
        if len(times) < 4:
            return Spread(min(times), max(times), "range")
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
        return Spread(low, high, "quartiles")

    def time(self, point: Point) -> float:
        """Return the median of the seconds that this experiment is about."""
        times = self.times(point)
        return statistics.median(times) if times else math.nan

    def _shown(self, point: Point, seconds: float) -> float:
        """Return the rate or the share that goes with a time, or the time."""
        if self.experiment.y == "seconds":
            return seconds
        if self.experiment.y == "speedup":
            first = self.of(point.series, point.panel)[0]
            return self.time(first) / max(seconds, 1e-12)
        rate = (point.work or math.nan) / max(seconds, 1e-12)
        return rate if self.experiment.y == "rate" else rate / (point.ceiling or math.nan)

    def times(self, point: Point) -> tuple[float, ...]:
        """Return the seconds that this experiment is about."""
        if self.experiment.quantity == "seconds":
            return point.seconds or point.compute
        return point.times

    def shared(self, *series: str, panel: str | None = None) -> tuple[float, ...]:
        """Return the x at which all of these were measured, rising."""
        sets = [{point.x for point in self.of(name, panel)} for name in series]
        return tuple(sorted(set.intersection(*sets))) if sets else ()

    def speedups(
        self, slow: str, fast: str, panel: str | None = None
    ) -> Iterator[tuple[float, float]]:
        """Yield x and how many times as fast the second series is as the first, by rising x."""
        for x in self.shared(slow, fast, panel=panel):
            a, b = self.at(slow, x, panel), self.at(fast, x, panel)
            assert a is not None
            assert b is not None
            yield x, self._time(a) / self._time(b)

    def over_published(self, published: Published, series: str) -> Iterator[tuple[float, float]]:
        """Yield x and how many times as fast a series is as the document's numbers."""
        for x, seconds in zip(published.x, published.y, strict=True):
            point = self.at(series, x, published.panel or None)
            if point is not None:
                yield x, seconds / self._time(point)

    def fastest(self, x: float, panel: str | None = None) -> Point | None:
        """Return the fastest point at x."""
        here = [point for point in self.of(panel=panel) if point.x == x]
        return min(here, key=self._time, default=None)

    def _time(self, point: Point) -> float:
        return max(self.time(point), 1e-12)


def measurements_in(record: Record, experiment: Experiment) -> list[Measurements]:
    """Return the measurements of each machine, in the order of the runs."""
    record = record.latest()
    by_machine: dict[tuple[str, ...], list[Point]] = {}
    for point in record.points:
        if point.experiment == experiment.id:
            by_machine.setdefault(place(record.runs[point.run]), []).append(point)
    results = []
    for machine, points in by_machine.items():
        runs = [record.runs[point.run] for point in points]
        latest = max(runs, key=lambda run: run.began)
        skips = [
            skip
            for skip in record.skips
            if skip.experiment == experiment.id and place(record.runs[skip.run]) == machine
        ]
        results.append(Measurements(experiment, latest, tuple(points), tuple(skips)))
    return results


def times_as(ratio: float) -> str:
    """Return a ratio as text.

    >>> times_as(212.3), times_as(3.14159), times_as(0.5)
    ('212 times', '3.1 times', '0.50 times')
    """
    digits = 0 if ratio >= 10 else 1 if ratio >= 1 else 2
    return f"{ratio:,.{digits}f} times"


def finding(*parts: str) -> Callable[[Measurements], str | None]:
    """Return a headline: the first finding that contains the first part, or else the next part.

    Without parts it is the first finding.
    """

    def headline(results: Measurements) -> str | None:
        findings = list(results.experiment.findings(results))
        for part in parts or ("",):
            for sentence in findings:
                if part in sentence:
                    return f"{results.experiment.title}: {sentence}"
        return None

    return headline
