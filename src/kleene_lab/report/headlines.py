"""The headlines of the report: an experiment's own, or its greatest ratio, or its first finding.

An experiment without a headline of its own is compared with its baseline, if it names one, or with
its document: our fastest with the document's fastest, at the greatest size that both have. A ratio
below 1.5 gives way to the first finding. A machine has four headlines, so that those of three
machines fit one screen: the first of each suite, then the second of each, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.formatting import duration
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.report.chart_data import published_in, x_labels

__all__ = ["Headline", "headlines"]

_MOST = 4  # of a machine
_LEAST_RATIO = 1.5


@dataclass(frozen=True)
class Headline:
    """One sentence, the experiment that it is about, and how strong it is."""

    experiment: Experiment
    sentence: str
    ratio: float


def headlines(measurements: Sequence[Measurements], problems: list[str]) -> list[Headline]:
    """Return the headlines of a machine: own ones by suite, then by ratio, then findings."""
    own, computed, findings = [], [], []
    for results in measurements:
        sentence = _own(results, problems)
        best = max(_ratios(results), key=lambda line: line.ratio, default=None)
        if sentence:
            own.append(Headline(results.experiment, sentence, float("inf")))
        elif best is not None and best.ratio >= _LEAST_RATIO:
            computed.append(best)
        else:
            findings += _finding(results)
    computed.sort(key=lambda line: -line.ratio)
    return [*_by_suite(own), *computed, *findings][:_MOST]


def _by_suite(lines: Sequence[Headline]) -> list[Headline]:
    """Return the first line of each suite, then the second of each, and so on."""
    seen: Counter[tuple[str, ...]] = Counter()
    turns = []
    for line in lines:
        turns.append(seen[line.experiment.suites])
        seen[line.experiment.suites] += 1
    return [line for _, line in sorted(zip(turns, lines, strict=True), key=lambda pair: pair[0])]


def _own(results: Measurements, problems: list[str]) -> str | None:
    if results.experiment.headline is None:
        return None
    try:
        return results.experiment.headline(results)
    except Exception as error:
        where = f"{results.experiment.id}: headline on {results.run.place}"
        problems.append(f"{where}: {type(error).__name__}: {error}")
        return None


def _finding(results: Measurements) -> list[Headline]:
    try:
        first = next(iter(results.experiment.findings(results)), None)
    except Exception:  # its section reports it
        return []
    text = f"{results.experiment.title}: {first}"
    return [] if first is None else [Headline(results.experiment, text, 0)]


def _ratios(results: Measurements) -> list[Headline]:
    compared = _over_baseline if results.experiment.baseline else _over_document
    made = [compared(results, panel) for panel in results.panels]
    return [line for line in made if line is not None]


def _over_document(results: Measurements, panel: str) -> Headline | None:
    ours = {point.x for point in results.of(panel=panel)}
    published = published_in(results.experiment, panel)
    shared = ours & {x for one in published for x in one.x}
    if not shared:
        return None
    x = max(shared)
    fastest = results.fastest(x, panel)
    assert fastest is not None
    theirs, name = min(
        (dict(zip(p.x, p.y, strict=True))[x], p.series + ", " + p.machine)
        for p in published
        if x in p.x
    )
    ratio = theirs / results.time(fastest)
    sentence = (
        f"{_where(results, x, panel)}: {fastest.series} takes {duration(results.time(fastest))}, "
        f"{times_as(ratio)} as fast as the document's best ({name}: {duration(theirs)})."
    )
    return Headline(results.experiment, sentence, ratio)


def _over_baseline(results: Measurements, panel: str) -> Headline | None:
    baseline = results.experiment.baseline
    places = results.shared(baseline, panel=panel)
    if not places:
        return None
    slow, fast = results.at(baseline, places[-1], panel), results.fastest(places[-1], panel)
    if slow is None or fast is None or slow is fast:
        return None
    ratio = results.time(slow) / max(results.time(fast), 1e-12)
    sentence = (
        f"{_where(results, slow.x, panel)}: {fast.series} takes {duration(results.time(fast))}, "
        f"{times_as(ratio)} as fast as {baseline} ({duration(results.time(slow))})."
    )
    return Headline(results.experiment, sentence, ratio)


def _where(results: Measurements, x: float, panel: str) -> str:
    axis = results.experiment.x
    at = x_labels(axis, [x])[0] if axis.labels else f"{x_labels(axis, [x])[0]} {axis.name}"
    return ", ".join(filter(None, (results.experiment.title, panel, at)))
