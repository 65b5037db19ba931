"""The opening of the page: headlines, contents, machines, checks and what was skipped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.formatting import duration, size
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.harness.record import Record, Run, place
from kleene_lab.report.chart_data import published_in, x_labels
from kleene_lab.report.html import Html, join, slug, table, tag

__all__ = [
    "checks", "contents", "headline_lists", "headlines", "machine_lists", "machines_of",
    "skipped_summary",
]  # fmt: skip

# ---- headlines -----------------------------------------------------------------------------------
# An experiment without a headline of its own is compared with its baseline, if it names one, or
# with its document: our fastest with the document's fastest, at the greatest size that both have. A
# ratio below 1.5 gives way to the first finding. A machine has four headlines, so that those of
# three machines fit one screen: the first of each suite, then the second of each, and so on.

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


def machines_of(record: Record) -> list[Run]:
    """Return the latest run of each machine, in the order of their first runs."""
    runs = sorted(record.runs.values(), key=lambda run: run.began)
    return list({place(run): run for run in runs}.values())


def headline_lists(
    machines: Sequence[Run], measurements: Sequence[Measurements], problems: list[str]
) -> Html:
    """Return the headlines, machine by machine."""
    parts = []
    for run in machines:
        lines = headlines([f for f in measurements if place(f.run) == place(run)], problems)
        if lines:
            items = [
                tag("li", _strong(line.sentence), " ",
                    tag("a", "→", href=f"#{slug(line.experiment.id)}",
                        aria_label=f"to {line.experiment.title}"))
                for line in lines
            ]  # fmt: skip
            parts.append(tag("div", tag("h3", run.place), tag("ul", *items)))
    if not parts:
        return tag("p", "Nothing was measured yet.")
    return tag("div", *parts, class_="columns headlines")


def _strong(sentence: str) -> Html:
    """Return a sentence with its ratios in bold."""
    parts = re.split(r"([\d.,]*\d times)", sentence)
    return join(tag("b", part) if at % 2 else part for at, part in enumerate(parts))


# ---- machines -----------------------------------------------------------------------------------


def machine_lists(machines: Sequence[Run]) -> Html:
    """Return each machine as a list of names and values."""
    made = []
    for run in machines:
        facts = [("measured", run.began[:10]), *_facts(run.machine), ("kleene", run.kleene)]
        seen = dict(reversed(facts))  # the first of a name counts
        items = [
            join((tag("dt", name), tag("dd", seen.pop(name)))) for name, _ in facts if name in seen
        ]
        made.append(tag("div", tag("h3", run.place), tag("dl", *items)))
    return tag("div", *made, class_="columns")


def _facts(machine: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in machine.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            inner = "" if key == "versions" else f"{name} "
            yield from _facts(value, inner)
        elif value not in (None, "", [], ()):
            yield name, _fact(key, value)


def _fact(key: str, value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if key == "clock" and isinstance(value, int | float):
        return f"{value:,.0f} MHz"
    if isinstance(value, int) and not isinstance(value, bool):
        return size(value) if value >= 1 << 24 and "memory" in key else f"{value:,}"
    return str(value)


# ---- checks -------------------------------------------------------------------------------------


def checks(record: Record) -> Html | None:
    """Return the checks that ran besides those of timed answers."""
    if not record.checks:
        return None
    passed = sum(check.passed for check in record.checks)
    failed = sum(check.failed for check in record.checks)
    text = f"{passed:,} checks passed" + (
        f" and {failed:,} failed." if failed else ", none failed."
    )
    by_machine: dict[str, list[list[str]]] = {}
    for check in record.checks:
        row = [check.name, f"{check.passed:,}", f"{check.failed:,}", "; ".join(check.details)]
        by_machine.setdefault(record.runs[check.run].place, []).append(row)
    heads = ["group", "passed", "failed", "details"]
    return tag(
        "div",
        tag("p", tag("strong", text) if failed else text),
        tag("details", tag("summary", f"{len(record.checks)} groups of checks"),
            table("Checks", heads, list(by_machine.items()), text=("details",)),
            open=bool(failed)),
    )  # fmt: skip


# ---- contents -----------------------------------------------------------------------------------


def contents(experiments: Sequence[Experiment]) -> Html:
    """Return links to the experiments, with their questions, by document."""
    groups: dict[str, list[Html]] = {}
    for experiment in experiments:
        link = tag("a", experiment.title, href=f"#{slug(experiment.id)}")
        item = tag("li", link, tag("span", experiment.question))
        groups.setdefault(document_of(experiment), []).append(item)
    made = [tag("div", tag("h3", name), tag("ol", *items)) for name, items in groups.items()]
    return tag("nav", *made, class_="contents", aria_label="Experiments")


def document_of(experiment: Experiment) -> str:
    """Return where an experiment comes from, for a heading."""
    document = experiment.document
    if document is None:
        return "Our own experiments"
    return ", ".join(filter(None, (document.authors, document.title, document.year)))


def skipped_summary(record: Record, experiments: Sequence[Experiment]) -> Html | None:
    """Return how many points were skipped, with links to the reasons."""
    if not record.skips:
        return None
    titles = {experiment.id: experiment.title for experiment in experiments}
    amounts: dict[str, int] = {}
    for skip in record.skips:
        amounts[skip.experiment] = amounts.get(skip.experiment, 0) + 1
    links = [
        join((tag("a", titles[name], href=f"#{slug(name)}-skipped"), f" ({number})"))
        for name, number in amounts.items()
        if name in titles
    ]
    failed = sum(skip.failed for skip in record.skips)
    text = f"{len(record.skips):,} points or experiments were skipped"
    text += f", {failed:,} of them because of an error. " if failed else ". "
    return tag("p", text, "Reasons: " if links else "", join(links, ", "), "." if links else "")
