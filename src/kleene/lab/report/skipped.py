"""What was not measured and why, told once for each reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kleene.lab.experiment import Axis
from kleene.lab.record import Skip
from kleene.lab.report.data import x_words
from kleene.lab.report.html import Html, join, tag

__all__ = ["grouped", "skip_list"]


def skip_list(skips: Sequence[Skip], axis: Axis) -> Html:
    """Return a list of reasons with what they kept from being measured."""
    items = []
    for group in grouped(skips):
        first = group[0]
        alike = all(skip.why == first.why for skip in group)
        why = first.why if alike else f"{first.why} (the first; the others likewise)"
        loud = tag("strong", "failed: ") if first.failed else None
        items.append(tag("li", _whats(group, axis), ": ", loud, why))
    return tag("ul", *items, class_="skips")


def grouped(skips: Sequence[Skip]) -> list[list[Skip]]:
    """Return skips by reason, failures first; reasons that differ in numbers only are one."""
    groups: dict[tuple[bool, str], list[Skip]] = {}
    for skip in skips:
        groups.setdefault((not skip.failed, re.sub(r"[\d.,]+", "#", skip.why)), []).append(skip)
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0][0])]


def _whats(group: Sequence[Skip], axis: Axis) -> Html:
    """Return the series of a group, each with its x."""
    by_series: dict[str, list[float]] = {}
    for skip in group:
        name = ", ".join(filter(None, (skip.series, skip.panel))) or "the whole experiment"
        by_series.setdefault(name, []).extend([] if skip.x is None else [skip.x])
    told = [
        tag("span", name, f" ({', '.join(x_words(axis, sorted(places)))})" if places else "")
        for name, places in by_series.items()
    ]
    return join(told, ", ")
