"""The report: records in, one page for people out, and the figures as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kleene.lab.experiment import Experiment
from kleene.lab.found import found_in
from kleene.lab.record import Record
from kleene.lab.report.data import charts_of
from kleene.lab.report.figure import whole_figure
from kleene.lab.report.html import slug
from kleene.lab.report.page import page_of
from kleene.system.atomic_file import atomic_path

__all__ = ["Written", "write_figures", "write_report"]


@dataclass(frozen=True)
class Written:
    """What a report consists of, and what went wrong in declarations while it was made."""

    page: Path
    figures: tuple[Path, ...]
    problems: tuple[str, ...]


def write_report(
    record: Record,
    experiments: Sequence[Experiment],
    path: str | Path,
    figures: str | Path | None = None,
    formats: Sequence[str] = ("svg",),
) -> Written:
    """Write one page about a record, and each experiment's figure as a file if a folder is given.

    The page needs nothing beside it. A sentence or a column that an experiment cannot make is
    told in ``problems`` and in the page, and breaks nothing.
    """
    path = Path(path)
    problems: list[str] = []
    text = page_of(record, experiments, problems)
    with atomic_path(path) as beside:
        beside.write_text(text, encoding="utf-8")
    drawn = [] if figures is None else write_figures(record, experiments, figures, formats)
    return Written(path, tuple(drawn), tuple(problems))


def write_figures(
    record: Record,
    experiments: Sequence[Experiment],
    folder: str | Path,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """Write the figure of each experiment that was measured."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for experiment in experiments:
        founds = found_in(record, experiment)
        if founds:
            figure = whole_figure(experiment, charts_of(experiment, founds))
            for suffix in formats:
                written.append(folder / f"{slug(experiment.id)}.{suffix}")
                figure.write(written[-1])
    return written
