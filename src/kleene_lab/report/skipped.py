"""What was skipped and why, once for each reason; and the experiments that were not measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kleene_lab.harness.experiment import Axis, Experiment
from kleene_lab.harness.record import Record, Skip
from kleene_lab.report.chart_data import x_labels
from kleene_lab.report.html import Html, join, tag

__all__ = ["not_measured", "skip_list"]


def skip_list(skips: Sequence[Skip], axis: Axis) -> Html:
    """Return a list of reasons, each with what was skipped for it."""
    items = []
    for group in _grouped(skips):
        first = group[0]
        alike = all(skip.why == first.why for skip in group)
        why = _readable(first.why) + ("" if alike else " (the first; the others likewise)")
        failed = tag("strong", "failed: ") if first.failed else None
        items.append(tag("li", _series(group, axis), ": ", failed, why))
    return tag("ul", *items, class_="skips")


def _grouped(skips: Sequence[Skip]) -> list[list[Skip]]:
    """Return skips by reason, failures first; reasons that differ in numbers only are one."""
    groups: dict[tuple[bool, str], list[Skip]] = {}
    for skip in skips:
        groups.setdefault((not skip.failed, re.sub(r"[\d.,]+", "#", skip.why)), []).append(skip)
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0][0])]


def _readable(why: str) -> str:
    """Return a reason without the exponents that records of earlier versions have.

    >>> _readable("a call would take about 4.63e+05 s")
    'a call would take about 463,000 s'
    """
    return re.sub(r"\d[\d.]*e\+\d+", lambda number: f"{float(number[0]):,.0f}", why)


def _series(group: Sequence[Skip], axis: Axis) -> Html:
    """Return the series of a group, each with its x."""
    by_series: dict[str, list[float]] = {}
    for skip in group:
        name = ", ".join(filter(None, (skip.series, skip.panel))) or "the whole experiment"
        by_series.setdefault(name, []).extend([] if skip.x is None else [skip.x])
    series = [
        tag("span", name, f" ({', '.join(x_labels(axis, sorted(places)))})" if places else "")
        for name, places in by_series.items()
    ]
    return join(series, ", ")


def not_measured(experiments: Iterable[Experiment], record: Record) -> Html | None:
    """Return one list of the experiments without a point, with the reasons."""
    items = []
    for experiment in experiments:
        skips = [skip for skip in record.skips if skip.experiment == experiment.id]
        reasons = [_readable(group[0].why) for group in _grouped(skips)] or ["not run"]
        name = tag("code", experiment.id)
        items.append(tag("li", name, f" {experiment.title}: {'; '.join(reasons)}"))
    if not items:
        return None
    return tag(
        "section",
        tag("h2", "Not measured"),
        tag("ul", *items, class_="skips"),
        id="about-not-measured",
    )
