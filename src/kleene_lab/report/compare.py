"""What got faster or slower between two records, and whether that is more than noise.

Times of one point vary by a factor, so their logarithms are compared. A change counts if

* it is unlikely by chance: a t-test on the logarithms, corrected for the number of comparisons
  (Benjamini and Hochberg: of the changes reported, one in a hundred is expected to be none);
* and it is large enough to matter: above a floor, which is wider where either side's own times
  spread widely. Repeats within one run share the state of the machine (clock, memory, other
  programs), so that two runs of one program differ by more than their repeats do; the floor is
  there for that.

Few repeats say little about their own variance. So it is mixed with what is usual, the median over
all points of the comparison, as if that had been seen in four more repeats (the idea of Smyth's
moderated t-test, 2004). Below three repeats on either side nothing is claimed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kleene.errors import RequestError
from kleene_lab.harness.record import Point, Record, Run, place

__all__ = ["Change", "Comparison", "Summary", "compare"]

#: Smaller changes may be the state of the machine.
FLOOR = 0.05
#: The expected share of reported changes that are none (the false discovery rate).
_FALSE = 0.01
_FEWEST = 3
_USUAL = 4  # repeats that the usual variance counts for
_DRIFT = 5  # points from which a drift of the machine is inferred


@dataclass(frozen=True)
class Change:
    """One point in both records."""

    experiment: str
    panel: str
    series: str
    device: str
    x: float
    before: float  # medians, seconds
    after: float
    repeats: tuple[int, int]
    machines: tuple[str, str]
    chance: float | None  # how likely by chance, corrected; None: too few repeats to tell
    verdict: str  # "faster", "slower", "the same" or "too few repeats to tell"

    @property
    def ratio(self) -> float:
        """How long it takes now, as a multiple of before."""
        return self.after / self.before

    @property
    def significant(self) -> bool:
        """Whether the change is more than noise."""
        return self.verdict in ("faster", "slower")


@dataclass(frozen=True)
class Summary:
    """One experiment."""

    experiment: str
    ratio: float  # the geometric mean of the ratios
    points: int
    faster: int
    slower: int


@dataclass(frozen=True)
class Comparison:
    """Two records side by side; significant changes come first, the greatest at the top."""

    changes: list[Change]
    only_before: int  # points that are in one record
    only_after: int
    same_machines: bool
    notes: list[str] = field(default_factory=list)

    @property
    def summaries(self) -> list[Summary]:
        """Every experiment, the one that changed most at the top."""
        by_experiment: dict[str, list[Change]] = {}
        for change in self.changes:
            by_experiment.setdefault(change.experiment, []).append(change)
        made = [
            Summary(
                name,
                math.exp(statistics.fmean(math.log(change.ratio) for change in some)),
                len(some),
                sum(change.verdict == "faster" for change in some),
                sum(change.verdict == "slower" for change in some),
            )
            for name, some in by_experiment.items()
        ]
        return sorted(made, key=lambda one: -abs(math.log(one.ratio)))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists."""
        from dataclasses import asdict

        return {
            "same_machines": self.same_machines,
            "notes": self.notes,
            "only_before": self.only_before,
            "only_after": self.only_after,
            "experiments": [asdict(one) for one in self.summaries],
            "changes": [asdict(change) | {"ratio": change.ratio} for change in self.changes],
        }


def compare(before: Record, after: Record, floor: float = FLOOR) -> Comparison:
    """Compare all points that two records have in common.

    Points are compared on the same machine. If the records have no machine in common, and one
    machine each, these are compared, and ``same_machines`` is False.

    Parameters
    ----------
    before, after : Record
    floor : float
        The least change that is reported: 0.05 is five per cent.

    Returns
    -------
    Comparison
    """
    if not floor >= 0:
        raise RequestError(f"floor must be 0 or more, not {floor}")
    old, new = before.latest(), after.latest()
    pairs = _machine_pairs(old, new)
    same = all(a == b for a, b in pairs.items())
    olds = {(pairs.get(place(old.runs[p.run])), *p.key): p for p in old.points if p.times}
    news = {(place(new.runs[p.run]), *p.key): p for p in new.points if p.times}
    both = [key for key in olds if key in news]
    samples = [_samples(olds[key], news[key]) for key in both]
    chances = _corrected(_chances(samples))
    changes = []
    for key, sample, chance in zip(both, samples, chances, strict=True):
        a, b = olds[key], news[key]
        machines = (old.runs[a.run].place, new.runs[b.run].place)
        changes.append(_change(a, sample, machines, chance, floor))
    changes.sort(key=lambda change: (not change.significant, -abs(math.log(change.ratio))))
    notes = [*_notes(old, new, same), *_drifts(changes, floor)]
    return Comparison(changes, len(olds) - len(both), len(news) - len(both), same, notes)


# ---- which with which ---------------------------------------------------------------------------


def _machine_pairs(old: Record, new: Record) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return which machine of the new record each machine of the old one is compared with."""
    ours = {place(old.runs[point.run]) for point in old.points}
    theirs = {place(new.runs[point.run]) for point in new.points}
    common = ours & theirs
    if common or not ours or not theirs:
        return {machine: machine for machine in common}
    if len(ours) == len(theirs) == 1:
        return {ours.pop(): theirs.pop()}
    raise RequestError(
        "the records have no machine in common, and more than one machine each: "
        f"{_names(ours)} against {_names(theirs)}; compare files of one machine each"
    )


def _names(machines: Iterable[tuple[str, ...]]) -> str:
    return ", ".join(sorted(machine[-1] for machine in machines))


def _samples(a: Point, b: Point) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the times to compare: of the algorithm if both know them, else of whole calls."""
    if bool(a.compute) != bool(b.compute) and a.seconds and b.seconds:
        return a.seconds, b.seconds
    return a.times, b.times


def _notes(old: Record, new: Record, same: bool) -> Iterable[str]:
    if not same:
        yield (
            f"different machines: {_names(map(place, old.runs.values()))} before, "
            f"{_names(map(place, new.runs.values()))} after"
        )
    for record, when in ((old, "before"), (new, "after")):
        for run in record.runs.values():
            load, cores = run.machine.get("load"), run.machine.get("cores")
            if isinstance(load, int | float) and isinstance(cores, int) and load > cores / 2:
                yield f"{run.place} was busy {when}: a load of {load:.1f} on {cores} cores"
    for what in ("kleene", "kernels"):
        a, b = _told(old.runs.values(), what), _told(new.runs.values(), what)
        if a and b and a != b:
            name = "Kleene" if what == "kleene" else "CUDA sources"
            yield f"{name}: {', '.join(sorted(a))} before, {', '.join(sorted(b))} after"


def _drifts(changes: Sequence[Change], floor: float) -> Iterable[str]:
    """Yield a doubt about each machine on which all moved together."""
    by_machine: dict[tuple[str, str], list[float]] = {}
    for change in changes:
        by_machine.setdefault(change.machines, []).append(change.ratio)
    for machines, ratios in by_machine.items():
        middle = statistics.median(ratios)
        if len(ratios) >= _DRIFT and abs(math.log(middle)) > math.log1p(floor):
            yield (
                f"{machines[1]}: the median of all {len(ratios)} ratios is {middle:.2f}; if only a "
                "part of the program has changed, that is the machine (its clock, other programs)"
            )


def _told(runs: Iterable[Run], what: str) -> set[str]:
    return {getattr(run, what)[:12] for run in runs if getattr(run, what)}


# ---- whether it is more than noise --------------------------------------------------------------

Sample = tuple[Sequence[float], Sequence[float]]


def _logs(times: Sequence[float]) -> list[float]:
    return [math.log(max(seconds, 1e-12)) for seconds in times]


def _chances(samples: Sequence[Sample]) -> list[float | None]:
    """Return how likely each difference is by chance."""
    from scipy.special import stdtr

    logs = [(_logs(a), _logs(b)) for a, b in samples]
    freedom = [len(a) + len(b) - 2 for a, b in logs]
    own = [
        sum(sum((x - statistics.fmean(side)) ** 2 for x in side) for side in pair) / max(d, 1)
        for pair, d in zip(logs, freedom, strict=True)
    ]
    enough = [min(len(a), len(b)) >= _FEWEST for a, b in logs]
    usual = statistics.median([v for v, many in zip(own, enough, strict=True) if many] or [0.0])
    chances: list[float | None] = []
    for (a, b), d, variance, many in zip(logs, freedom, own, enough, strict=True):
        if not many:
            chances.append(None)
            continue
        mixed = (d * variance + _USUAL * usual) / (d + _USUAL)
        error = math.sqrt(max(mixed, 1e-12) * (1 / len(a) + 1 / len(b)))
        t = abs(statistics.fmean(a) - statistics.fmean(b)) / error
        chances.append(float(2 * stdtr(d + _USUAL, -t)))
    return chances


def _corrected(chances: Sequence[float | None]) -> list[float | None]:
    """Correct for many comparisons, by Benjamini and Hochberg."""
    known = sorted((c, at) for at, c in enumerate(chances) if c is not None)
    corrected: list[float | None] = [None] * len(chances)
    least = 1.0
    for rank in range(len(known), 0, -1):
        chance, at = known[rank - 1]
        least = min(least, chance * len(known) / rank)
        corrected[at] = least
    return corrected


def _change(
    a: Point, sample: Sample, machines: tuple[str, str], chance: float | None, floor: float
) -> Change:
    before, after = (max(statistics.median(times), 1e-12) for times in sample)
    needed = max(math.log1p(floor), sum(map(_half_spread, sample)))
    if chance is None:
        verdict = "too few repeats to tell"
    elif chance < _FALSE and abs(math.log(after / before)) > needed:
        verdict = "faster" if after < before else "slower"
    else:
        verdict = "the same"
    repeats = (len(sample[0]), len(sample[1]))
    return Change(
        a.experiment, a.panel, a.series, a.device, a.x,
        before, after, repeats, machines, chance, verdict,
    )  # fmt: skip


def _half_spread(times: Sequence[float]) -> float:
    """Return half of what the middle half of the logarithms spans."""
    if len(times) < _FEWEST:
        return 0.0
    low, _, high = statistics.quantiles(_logs(times), n=4, method="inclusive")
    return (high - low) / 2
