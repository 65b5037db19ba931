"""Calls whose answer has no rows: methods on tasks, and steps of several, reported and timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeVar

from kleene.backends.task import Progress as Report
from kleene.engine.call import Progress, Timings
from kleene.engine.work import with_idle_memory
from kleene.planning.plan import Plan
from kleene.system.progress import reporter

__all__ = ["run_in_place", "run_value", "timed"]

T = TypeVar("T")


def run_value(plan: Plan, task: Any, *, progress: Progress = None) -> tuple[Any, Timings]:
    """Run the method of a plan on a task, and return what it gives and how long it took.

    ``task.progress`` is set where the user asked for progress.
    """
    run = plan._row.load()
    began = perf_counter()
    if progress is None and not plan.devices:  # microseconds count
        found = run(task)
    elif progress is None:
        found = with_idle_memory(plan, lambda: run(task))
    else:
        with reporter(progress, f"{plan.problem} by {plan.method}") as report:
            shown = replace(task, progress=report)
            found = with_idle_memory(plan, lambda: run(shown))
    seconds = perf_counter() - began
    return found, Timings(compute=seconds, total=seconds)


def run_in_place(plan: Plan, *arguments: Any, progress: Progress = None, **more: Any) -> Any:
    """Run the method of a plan on arrays that are on its device, and return what it gives."""
    run = plan._row.load_in_place()
    found, _ = timed(lambda report: run(*arguments, report=report, **more), progress, plan.problem)
    return found


def timed(
    work: Callable[[Report | None], T], progress: Progress = None, title: str = ""
) -> tuple[T, Timings]:
    """Return what some work gives, which reports to the user, and how long it took."""
    began = perf_counter()
    if progress is None:  # microseconds count
        found = work(None)
    else:
        with reporter(progress, title) as report:
            found = work(report)
    return found, Timings(total=perf_counter() - began)
