"""The progress of ``kleene lab run``."""

from __future__ import annotations

import re

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from kleene.cli.output import seconds
from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.record import Line, Point, Skip
from kleene_lab.harness.runner import Listener

__all__ = ["RunProgress"]


class RunProgress(Listener):
    """Prints points line by line, and a progress bar at a terminal."""

    def __init__(self, silent: bool, device: str = "auto") -> None:
        self._device = device
        self._console = Console(stderr=True, highlight=False, quiet=silent)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
        self._bar = Progress(
            *columns, console=self._console, transient=True,
            disable=silent or not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None, left="")

    def __enter__(self) -> None:
        self._bar.start()

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def experiment_started(
        self, experiment: Experiment, number: int, total: int, plans: int
    ) -> None:
        self._console.print(f"[bold]{experiment.id}[/bold]  {experiment.question}", soft_wrap=True)
        title = f"{number + 1} of {total}"
        self._bar.update(self._task, description=title, total=max(1, plans), completed=0, left="")

    def advanced(self, done: int, left: float) -> None:
        text = f"at most {seconds(max(0.0, left))} left for this one"
        self._bar.update(self._task, completed=done, left=text)

    def recorded(self, line: Line) -> None:
        if isinstance(line, Point):
            spread = f" ({len(line.times)})" if len(line.times) > 1 else ""
            where = f"{line.panel}  " if line.panel else ""
            what = f"{where}{self._named(line.series):32} {line.x:>10g}"
            text = f"  {what}  {seconds(line.median):>9}{spread}"
        elif isinstance(line, Skip):
            where = f"{line.panel}  " if line.panel else ""
            what = "" if line.series is None else f"{where}{self._named(line.series)} {line.x:g}: "
            text = f"  {'FAILED' if line.failed else 'skipped'}: {what}{line.why}"
        self._console.print(text, markup=False, soft_wrap=True, style=None)

    def _named(self, series: str) -> str:
        """Return the name of a series, with what ran it: the emulator is no GPU."""
        return re.sub(r"\bGPU\b", "emulator", series) if self._device == "emulated" else series
