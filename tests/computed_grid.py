"""A grid whose arcs are computed instead of stored: a form of a graph that Kleene does not have."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.engine.call import Call, Part
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
        return Plan(
            ask.what.problem, "computed", "cpu", "min_plus", "int32", 1, 4 * entries, None,
            ("computed",), form="grid",
        )  # fmt: skip

    def _compute(self, call: Call, plan: Plan, memory: Array | None, report: Any) -> Part:
        down, right = np.divmod(np.arange(self.n), self.side)
        values = np.empty((len(call.sources), self.n), np.int32) if memory is None else memory
        for row, source in zip(values, call.sources, strict=True):
            own_down, own_right = divmod(int(source), self.side)
            row[:] = np.abs(down - own_down) + np.abs(right - own_right)
        if not call.ask.what.predecessors:
            return Part(Answer(values, None))
        links = np.empty(values.shape, np.int32)
        for row, source in zip(links, call.sources, strict=True):
            own_down, own_right = divmod(int(source), self.side)
            step = np.where(down == own_down, np.sign(own_right - right), 0)
            step += self.side * np.sign(own_down - down)
            row[:] = np.arange(self.n) + step
            row[source] = -1
        return Part(Answer(values, links))

    def _packed(self) -> tuple[dict[str, Any], Callable[[str], Any]]:
        return {"side": np.array(self.side)}, open_grid


def open_grid(path: str) -> ComputedGrid:
    with np.load(path) as entries:
        return ComputedGrid(int(entries["side"].item()))
