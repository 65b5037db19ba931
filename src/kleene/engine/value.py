"""Calls whose answer has no rows: a plan, its method on a task, progress, and the time it took."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from kleene.engine.call import Progress, Timings
from kleene.engine.work import with_idle_memory
from kleene.planning.plan import Plan
from kleene.registry import find
from kleene.system.progress import reporter

__all__ = ["run_value"]


def run_value(
    plan: Plan, task: Any, *more: Any, progress: Progress = None, title: str = ""
) -> tuple[Any, Timings]:
    """Run the method of a plan on a task, and return what it gives and how long it took.

    ``more`` are arguments that only this method takes. ``task.progress`` is set where the user
    asked for progress.
    """
    method = find(plan.problem, plan.method, plan.device)
    assert method is not None
    run = method.load()
    began = perf_counter()
    if progress is None:
        found = with_idle_memory(plan, lambda: run(task, *more))
    else:
        with reporter(progress, title or f"{plan.problem} by {plan.method}") as report:
            shown = replace(task, progress=report)
            found = with_idle_memory(plan, lambda: run(shown, *more))
    seconds = perf_counter() - began
    return found, Timings(compute=seconds, total=seconds)
