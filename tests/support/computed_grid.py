"""A grid whose arcs are computed instead of stored: a form of a graph that Kleene does not have."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends import devices
from kleene.backends.answer import Answer
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.engine.call import Call, Part
from kleene.engine.work import run_rows
from kleene.planning.ask import Ask
from kleene.planning.plan import Plan
from kleene.registry.method import PartForm

Array = NDArray[Any]


class ComputedGrid:
    """Vertices in a square, joined to those beside, above and below: no arc is stored anywhere."""

    dtype = np.dtype(np.int32)
    id_dtype = np.dtype(np.int32)
    weight_dtype, device, has_csc = None, "cpu", False

    def __init__(self, side: int) -> None:
        self.side, self.n, self.m = side, side * side, 4 * side * (side - 1)
        self.graph = self
        self.stats = SimpleNamespace(negative=False, min_weight=1, max_weight=1, path_bound=self.n)

    def label(self, positions: Array) -> Array:
        return positions

    def _digest(self) -> str:
        return f"grid {self.side}"

    def _answers(self, ask: Ask) -> tuple[PartForm, ...]:
        return () if ask.what.limited or ask.what.problem not in ("bfs", "sssp") else ("rows",)

    def _plan(self, ask: Ask, entries: int) -> Plan:
        where = ask.where
        device = "cpu" if where.device == "auto" else where.device
        return Plan(
            ask.what.problem, "computed", device, "min_plus", "int32", 1, 4 * entries, None,
            ("computed",), devices=where.devices, form="grid",
        )  # fmt: skip

    def _compute(self, call: Call, plan: Plan, memory: Array | None, report: Any) -> Part:
        task = Task(
            self, SEMIRINGS[plan.semiring], call.sources, None, None,  # type: ignore[arg-type]
            call.ask.what.predecessors, self.dtype, 1, report, memory, plan.first_device,
        )  # fmt: skip
        answer = run_rows(self._rows, plan, call, task)
        kept = call.ask.output.keep == "device"
        return Part(devices.on_device(task, answer) if kept else answer)

    def _rows(self, task: Task) -> Answer:
        """Return rows of a task: those of one device, where several share them."""
        values, links = task.empty_values(), task.empty_predecessors()
        down, right = np.divmod(np.arange(self.n), self.side)
        for row, source in enumerate(task.sources):
            own_down, own_right = divmod(int(source), self.side)
            values[row] = np.abs(down - own_down) + np.abs(right - own_right)
            if links is not None:
                step = np.where(down == own_down, np.sign(own_right - right), 0)
                step += self.side * np.sign(own_down - down)
                links[row] = np.arange(self.n) + step
                links[row, source] = -1
            task.report(row + 1, len(task.sources))
        return Answer(values, links)

    def _packed(self) -> tuple[dict[str, Any], Callable[[str], Any]]:
        return {"side": np.array(self.side)}, open_grid


def open_grid(path: str) -> ComputedGrid:
    with np.load(path) as entries:
        return ComputedGrid(int(entries["side"].item()))
