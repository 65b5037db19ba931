"""What calls ask of devices with memory of their own; CUDA is imported where one is used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kleene.backends.answer import Answer, WholeRows
from kleene.backends.task import Task

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kleene.backends.cuda.runtime.timing import CallTimer
    from kleene.prepared.sweeps import PreparedRows

__all__ = [
    "MEASURED", "calls_of", "free_idle", "meter", "on_device", "open_device", "sweep",
    "sweep_on_device",
]  # fmt: skip

#: Devices on which copies and kernels are timed.
MEASURED = ("cuda", "emulated")


def meter() -> AbstractContextManager[CallTimer]:
    """Return a timer of copies and kernels; within a call that is timed, that of the call."""
    from kleene.backends.cuda.runtime.timing import timed_call

    return timed_call()


@contextmanager
def calls_of(deriving: threading.RLock) -> Iterator[CallTimer]:
    """Time the calls of this thread on one device, and keep copies of graphs between them.

    Threads with the same lock derive what they need of a graph one after the other.
    """
    from kleene.backends.cuda.graph import calls_of_a_device

    with calls_of_a_device(deriving), meter() as timer:
        yield timer


def open_device(device: str) -> None:
    """Open a device, or raise DeviceError."""
    from kleene.backends.cuda.runtime.device import open_device as opened

    opened(device)


def free_idle(devices: tuple[str, ...], needed: int | None = None) -> bool:
    """Free what placed graphs keep for later calls, or only if as much as needed is not free."""
    if not devices:
        return False
    from kleene.backends.cuda.graph import free_idle as free

    freed = [free(device, needed) for device in devices]
    return any(freed)


def on_device(task: Task, answer: Answer) -> Answer:
    """Return an answer that stays on the device of its task."""
    from kleene.backends.cuda.answer import to_device
    from kleene.backends.cuda.runtime.device import open_device

    return to_device(task, open_device(task.device), answer)


def sweep(
    rows: PreparedRows, device: str, sources: Any, targets: Any | None, values: Any, progress: Any
) -> None:
    """Fill rows of values of a prepared graph, or those of some targets, by sweeps on a device."""
    from kleene.backends.cuda.prepared import batches

    parts = (rows.elimination, rows.customization)
    where: dict[str, Any] = {"device": device, "reverse": rows.reverse, "threads": rows.threads}
    if targets is None:
        batches.trees(*parts, sources, values, progress=progress, **where)
    else:
        batches.matrix(*parts, sources, targets, values, progress=progress, **where)


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
    from kleene.backends.cuda.answer import kept_answer
    from kleene.backends.cuda.prepared import batches

    parts = (rows.elimination, rows.customization)
    where: dict[str, Any] = {"device": device, "reverse": rows.reverse, "progress": progress}
    if targets is None:
        kept = batches.trees_on_device(*parts, sources, predecessors=paths, **where)
        return kept_answer(kept)
    kept = batches.matrix_on_device(*parts, sources, targets, **where)
    return kept_answer(kept, rest=WholeRows(sources, targets, source, paths))
