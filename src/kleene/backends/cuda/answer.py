"""Answers that stay on the device where they were computed, for ``keep="device"``."""

from __future__ import annotations

import numpy as np

from kleene.backends.answer import Answer, KeptRows, LateRows, WholeRows
from kleene.backends.cuda.runtime.host_buffers import answer_buffer
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray
from kleene.backends.task import Task
from kleene.errors import Code, MemoryBudgetError
from kleene.system.cached_property import cached_property

__all__ = ["KeptArray", "answer_rows_on_device", "kept_answer", "to_device", "to_host"]


class KeptArray(LateRows):
    """An array on a device; whatever reads it gets a copy, made once, on the host.

    ``host`` is that copy, where there is one already.
    """

    def __init__(self, device: Device, rows: Array, host: HostArray | None = None) -> None:
        self._device, self._rows, self._host = device, rows, host

    @cached_property
    def array(self) -> HostArray:
        """The copy on the host."""
        return to_host(self._device, self._rows) if self._host is None else self._host


def kept_answer(
    rows: KeptRows, horizons: HostArray | None = None, rest: WholeRows | None = None
) -> Answer:
    """Return the answer that is left on a device."""
    device, values, found = rows
    links = None if found is None else KeptArray(device, found)
    return Answer(KeptArray(device, values), links, horizons, rest, rows)


def to_host(device: Device, rows: Array) -> HostArray:
    """Return a copy on the host, in page-locked memory unless it is small or large."""
    buffer = answer_buffer(device, rows.shape, rows.dtype)
    # Another library may write to the array in a stream of its own.
    device.synchronize()
    device.download(rows, buffer.target)
    return buffer.array


def answer_rows_on_device(task: Task, device: Device) -> KeptRows:
    """Return memory on the device for all rows of the answer, or raise a MemoryBudgetError."""
    shape = (len(task.sources), task.graph.n)
    try:
        values = device.empty(shape, task.dtype, "kept values")
        found = device.empty(shape, np.int32, "kept predecessors") if task.predecessors else None
    except MemoryBudgetError as error:
        raise MemoryBudgetError(
            "the answer does not fit on the device: ",
            error.problem,
            advice=[Code("keep='host'"), "fewer sources"],
        ) from error
    return KeptRows(device, values, found)


def to_device(task: Task, device: Device, answer: Answer) -> Answer:
    """Copy an answer to the device, if its method brought it to the host."""
    if answer.kept is not None:
        return answer
    rows = answer_rows_on_device(task, device)
    values, links = answer.whole_values, answer.whole_predecessors
    device.copy(rows.values, np.ascontiguousarray(values))
    if rows.predecessors is not None:
        assert links is not None
        device.copy(rows.predecessors, np.ascontiguousarray(links, np.int32))
    device.synchronize()
    found = None if links is None else KeptArray(device, rows.predecessors, links)
    return Answer(KeptArray(device, rows.values, values), found, answer.horizons, kept=rows)
