"""The sentences of the first page: what an experiment says of itself, or its most telling ratio.

An experiment without a sentence of its own is compared with its baseline, if it names one, or
with its document: our fastest with that, or with the document's fastest, at the greatest size that
both have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kleene.lab.experiment import Experiment
from kleene.lab.found import Found, times_as
from kleene.lab.report.data import published_in, x_words
from kleene.lab.words import duration

__all__ = ["Headline", "headlines"]

_MOST = 7


@dataclass(frozen=True)
class Headline:
    """One sentence, the experiment that it is about, and how strong it is."""

    experiment: Experiment
    sentence: str
    ratio: float


def headlines(founds: Sequence[Found], problems: list[str]) -> list[Headline]:
    """Return the most telling sentences about one machine: own ones first, then by ratio."""
    own, computed = [], []
    for found in founds:
        told = _own(found, problems)
        if told:
            own.append(Headline(found.experiment, told, float("inf")))
        else:
            best = max(_ratios(found), key=lambda line: line.ratio, default=None)
            computed.extend([best] if best is not None and best.ratio >= 1.5 else [])
    computed.sort(key=lambda line: -line.ratio)
    return [*own, *computed][: max(_MOST, len(own))]


def _own(found: Found, problems: list[str]) -> str | None:
    if found.experiment.headline is None:
        return None
    try:
        return found.experiment.headline(found)
    except Exception as error:
        problems.append(
            f"{found.experiment.id}: headline on {found.run.place}: {type(error).__name__}: {error}"
        )
        return None


def _ratios(found: Found) -> list[Headline]:
    compared = _over_baseline if found.experiment.baseline else _over_document
    made = [compared(found, panel) for panel in found.panels]
    return [line for line in made if line is not None]


def _over_document(found: Found, panel: str) -> Headline | None:
    ours = {point.x for point in found.of(panel=panel)}
    told = published_in(found.experiment, panel)
    shared = ours & {x for published in told for x in published.x}
    if not shared:
        return None
    x = max(shared)
    fastest = found.fastest(x, panel)
    assert fastest is not None
    theirs, published = min(
        (dict(zip(p.x, p.y, strict=True))[x], p.series + ", " + p.machine) for p in told if x in p.x
    )
    ratio = theirs / found.time(fastest)
    sentence = (
        f"{_where(found, x, panel)}: {fastest.series} takes {duration(found.time(fastest))}, "
        f"{times_as(ratio)} as fast as the document's best ({published}: {duration(theirs)})."
    )
    return Headline(found.experiment, sentence, ratio)


def _over_baseline(found: Found, panel: str) -> Headline | None:
    baseline = found.experiment.baseline
    places = found.shared(baseline, panel=panel)
    if not places:
        return None
    slow, fast = found.at(baseline, places[-1], panel), found.fastest(places[-1], panel)
    if slow is None or fast is None or slow is fast:
        return None
    ratio = found.time(slow) / max(found.time(fast), 1e-12)
    sentence = (
        f"{_where(found, slow.x, panel)}: {fast.series} takes {duration(found.time(fast))}, "
        f"{times_as(ratio)} as fast as {baseline} ({duration(found.time(slow))})."
    )
    return Headline(found.experiment, sentence, ratio)


def _where(found: Found, x: float, panel: str) -> str:
    axis = found.experiment.x
    at = x_words(axis, [x])[0] if axis.words else f"{x_words(axis, [x])[0]} {axis.name}"
    return ", ".join(filter(None, (found.experiment.title, panel, at)))
