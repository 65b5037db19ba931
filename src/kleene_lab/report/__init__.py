"""The report: records in, one page for people out, and the figures as files.

Charts are Altair's, drawn by vl-convert; both come with the extra ``report`` and are imported when
a report is written, so that the rest of the lab works without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kleene.calls.programs import atomic_path
from kleene.errors import RequestError
from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.record import Record

__all__ = ["Written", "write_figures", "write_report"]


@dataclass(frozen=True)
class Written:
    """The files of a report, and the errors in declarations that occurred on the way."""

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

    The page needs nothing beside it. A sentence or a column that raises is reported in
    ``problems`` and in the page, and does not stop the report.
    """
    _require_charts()
    from kleene_lab.report.page import page_of

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
    """Write the figure of each experiment that was measured, as SVG, PNG or PDF."""
    _require_charts()
    from kleene_lab.report.chart_data import charts_of, styles_of
    from kleene_lab.report.charts import figure_spec
    from kleene_lab.report.html import slug
    from kleene_lab.report.render import write_figure

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    results, styles = styles_of(record, experiments)
    written = []
    for experiment in experiments:
        if results[experiment.id]:
            charts = charts_of(experiment, results[experiment.id], styles)
            spec = figure_spec(experiment, charts)
            for suffix in formats:
                written.append(folder / f"{slug(experiment.id)}.{suffix}")
                write_figure(spec, written[-1])
    return written


def _require_charts() -> None:
    if any(find_spec(name) is None for name in ("altair", "markupsafe", "vl_convert")):
        raise RequestError('a report needs Altair and vl-convert: pip install "kleene[report]"')
