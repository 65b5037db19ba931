"""What calls ask of devices with memory of their own; CUDA is imported where one is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kleene.backends.answer import Answer, WholeRows
from kleene.backends.task import Task

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kleene.backends.cuda.runtime.timing import CallTimer
    from kleene.prepared.rows import PreparedRows

__all__ = ["MEASURED", "free_idle", "meter", "on_device", "run_split", "sweep", "sweep_on_device"]

#: Devices on which copies and kernels are timed.
MEASURED = ("cuda", "emulated")


def meter() -> AbstractContextManager[CallTimer]:
    """Return a timer of copies and kernels."""
    from kleene.backends.cuda.runtime.timing import timed_call

    return timed_call()


def free_idle(devices: tuple[str, ...], needed: int | None = None) -> bool:
    """Free what placed graphs keep for later calls, or only if as much as needed is not free."""
    if not devices:
        return False
    from kleene.backends.cuda.device_graph import free_idle as free

    freed = [free(device, needed) for device in devices]
    return any(freed)


def on_device(task: Task, answer: Answer) -> Answer:
    """Return an answer that stays on the device of its task."""
    from kleene.backends.cuda.device_answer import to_device
    from kleene.backends.cuda.runtime.device import open_device

    return to_device(task, open_device(task.device), answer)


def run_split(
    run: Callable[[Task], Answer],
    devices: tuple[str, ...],
    every: bool,
    meter: CallTimer | None,
    task: Task,
) -> Answer:
    """Run a method on several devices, each for some of the sources."""
    from kleene.backends.cuda import source_split

    answer, shares = source_split.run_split(run, task, devices, every=every)
    if meter is not None:
        meter.add_shares(shares)
    return answer


def sweep(
    rows: PreparedRows,
    devices: tuple[str, ...],
    every: bool,
    sources: Any,
    targets: Any | None,
    values: Any,
    progress: Any,
) -> None:
    """Fill rows of values of a prepared graph, or those of some targets, by sweeps on devices."""
    from kleene.backends.cuda import prepared_trees
    from kleene.backends.cuda.source_split import split_rows

    parts = (rows.elimination, rows.customization)

    def fill(device: str, part: slice, report: Any) -> None:
        where: dict[str, Any] = {"device": device, "reverse": rows.reverse, "threads": rows.threads}
        if targets is None:
            prepared_trees.trees(*parts, sources[part], values[part], progress=report, **where)
        else:
            prepared_trees.matrix(
                *parts, sources[part], targets, values[part], progress=report, **where
            )

    if len(devices) > 1:
        split_rows(devices, len(sources), fill, progress, every=every)
    else:
        fill(devices[0], slice(None), progress)


def sweep_on_device(
    rows: PreparedRows,
    device: str,
    sources: Any,
    targets: Any | None,
    paths: bool,
    source: Any,
    progress: Any,
) -> Answer:
    """Return rows of a prepared graph that stay on the device, whole ones with predecessors."""
    from kleene.backends.cuda import prepared_trees
    from kleene.backends.cuda.device_answer import kept_answer

    parts = (rows.elimination, rows.customization)
    where: dict[str, Any] = {"device": device, "reverse": rows.reverse, "progress": progress}
    if targets is None:
        kept = prepared_trees.trees_on_device(*parts, sources, predecessors=paths, **where)
        return kept_answer(kept)
    kept = prepared_trees.matrix_on_device(*parts, sources, targets, **where)
    return kept_answer(kept, rest=WholeRows(sources, targets, source, paths))
