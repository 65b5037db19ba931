"""Answers that stay on the device where they were computed, for ``keep="device"``."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.common.on_demand import MatrixAnswer, RowSource
from kleene.backends.cuda.runtime.device import Array, Device, HostArray
from kleene.backends.cuda.runtime.host_buffers import answer_buffer
from kleene.backends.task import Answer, KeptRows, Task
from kleene.errors import Code, MemoryBudgetError
from kleene.system.cached_property import cached_property

__all__ = ["DeviceAnswer", "DeviceMatrixAnswer", "answer_rows_on_device", "to_device", "to_host"]


class DeviceAnswer(Answer):
    """An answer on a device; whatever reads its arrays gets copies, made once, on the host.

    A copy or a pickle of it is an answer on the host.
    """

    def __init__(self, rows: KeptRows, horizons: HostArray | None) -> None:
        self.__dict__.update(_rows=rows, horizons=horizons)

    @property
    def kept(self) -> KeptRows:
        """The rows on the device."""
        rows: KeptRows = self.__dict__["_rows"]
        return rows

    @cached_property
    def values(self) -> HostArray:
        """The values on the host."""
        return to_host(self.kept.device, self.kept.values)

    @cached_property
    def predecessors(self) -> HostArray | None:
        """The predecessors on the host, if there are any."""
        found = self.kept.predecessors
        return None if found is None else to_host(self.kept.device, found)

    def __reduce__(self) -> tuple[Any, ...]:
        return Answer, (self.values, self.predecessors, self.horizons)


class DeviceMatrixAnswer(MatrixAnswer):
    """The values of some targets on a device, copied to the host when something reads them.

    A copy or a pickle of it is an answer on the host.
    """

    def __init__(
        self,
        rows: KeptRows,
        sources: HostArray,
        targets: HostArray,
        source_rows: RowSource,
        paths: bool,
    ) -> None:
        super().__init__(None, sources, targets, source_rows, paths)
        self.__dict__["_rows"] = rows

    @property
    def kept(self) -> KeptRows:
        """The matrix on the device."""
        rows: KeptRows = self.__dict__["_rows"]
        return rows

    @cached_property
    def matrix(self) -> HostArray:
        """The values of the targets, on the host."""
        return to_host(self.kept.device, self.kept.values)

    def __reduce__(self) -> tuple[Any, ...]:
        more = self._sources, self._targets, self._source_rows, self.paths
        return MatrixAnswer, (self.matrix, *more)


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
    device.copy(rows.values, np.ascontiguousarray(answer.values))
    if rows.predecessors is not None:
        assert answer.predecessors is not None
        device.copy(rows.predecessors, np.ascontiguousarray(answer.predecessors, np.int32))
    device.synchronize()
    kept = DeviceAnswer(rows, answer.horizons)
    kept.__dict__.update(values=answer.values, predecessors=answer.predecessors)
    return kept
