"""Lattice-linear predicate detection for shortest paths; kernels in ``kernels/sssp_llp.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.load_balance import ARCS_PER_ENTRY, round_grid
from kleene.backends.cuda.runtime.device import Device, ctype
from kleene.backends.cuda.sssp_search import SsspSearch, sssp_rows
from kleene.backends.task import Answer, Task

__all__ = ["llp"]

_ROUNDS = 64  # per launch; each may visit all arcs
_ROUND, _WORDS = 3, 4
_OPEN = 1  # kOpen


class _Lattice(SsspSearch):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        n = graph.n
        self._kernel = device.kernels("sssp_llp", KL_TYPE=ctype(task.dtype))["sssp_llp_rounds"]
        self._bounds = device.empty(n, task.dtype, "bounds")
        self._states = device.empty(n, np.int32, "states")
        self._open = device.empty((2, n), np.int32, "open")
        self._newly_fixed = device.empty(n + graph.m // ARCS_PER_ENTRY + 1, np.int64, "newly fixed")
        self._betas = device.empty(2, task.dtype, "betas")
        self._state = device.empty(_WORDS, np.uint64, "state")
        self._barrier = device.zeros(1, np.uint32, "barrier")

    def run(self, source: int, limit: Any) -> None:
        """Fix vertices round by round until none is open."""
        device, graph, dtype = self.device, self.graph, self.task.dtype
        device.fill(self._bounds, 0)
        device.fill(self._states, 0)
        device.copy(self._states[source : source + 1], np.array([_OPEN], np.int32))
        device.copy(self._open[0, :1], np.array([source], np.int32))
        device.copy(self._betas, np.full(2, self.no_limit, dtype))
        device.copy(self._state, np.array([1, 0, 0, 0], np.uint64))
        incoming = (*graph.csc, graph.lengths(dtype, incoming=True))
        arcs = (*graph.csr, graph.lengths(dtype), *incoming)
        outputs = (self.distances, self._bounds, self._states, limit)
        lists = (self._open[0], self._open[1], self._newly_fixed, self._betas, self._state)
        grid = round_grid(device, self._kernel, graph.n)
        round_, size = 0, 1
        while size:
            args = (*arcs, *outputs, *lists, round_, _ROUNDS, self._barrier)
            self._kernel.launch(*grid, args, cooperative=True)
            state = device.download(self._state)
            round_ = int(state[_ROUND])
            size = int(state[round_ % 2])


def llp(task: Task) -> Answer:
    """Raise lower bounds until they equal the best paths found."""
    return sssp_rows(task, _Lattice)
