"""Lattice-linear predicate detection for shortest paths; see ``kernels/classic/sssp_llp.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.load_balance import ARCS_PER_ENTRY, round_grid
from kleene.backends.cuda.runtime.interface import Device, ctype, scalar
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.sssp.search import SsspSearch, sssp_rows
from kleene.backends.cuda.tuning import sssp as tuning
from kleene.backends.task import Task

__all__ = ["llp"]

_FILE = "sssp_llp"
_OPEN, _ROUND = constant(_FILE, "kOpen"), constant(_FILE, "kRound")
_WORDS = _ROUND + 1  # of the state


class _Lattice(SsspSearch):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        n, kind = graph.n, task.dtype
        self._kernel = device.kernels(_FILE, KL_TYPE=ctype(kind))["sssp_llp_rounds"]
        self._bounds = device.empty(n, kind, "bounds")
        self._states = device.empty(n, np.int32, "states")
        self._open = device.empty((2, n), np.int32, "open")
        self._betas = device.empty(2, kind, "betas")
        self._state = device.empty(_WORDS, np.uint64, "state")
        capacity = n + graph.m // ARCS_PER_ENTRY + 1
        self._params = struct_type(_FILE, "LlpParams", KL_TYPE=ctype(kind)).pack(
            offsets=graph.csr.offsets,
            neighbors=graph.csr.neighbors,
            lengths=graph.lengths(kind),
            incoming_offsets=graph.csc.offsets,
            incoming_tails=graph.csc.neighbors,
            incoming_lengths=graph.lengths(kind, incoming=True),
            offers=self.distances,
            bounds=self._bounds,
            states=self._states,
            even=self._open[0],
            odd=self._open[1],
            newly_fixed=device.empty(capacity, np.int64, "newly fixed"),
            betas=self._betas,
            state=self._state,
            barrier=device.zeros(1, np.uint32, "barrier"),
            round=0,
            rounds=tuning.LLP_ROUNDS,
            limit=scalar(kind, 0),
        )

    def run(self, source: int, limit: Any) -> None:
        """Fix vertices round by round until none is open."""
        device = self.device
        device.fill(self._bounds, 0)
        device.fill(self._states, 0)
        device.copy(self._states[source : source + 1], np.array([_OPEN], np.int32))
        device.copy(self._open[0, :1], np.array([source], np.int32))
        device.copy(self._betas, np.full(2, self.no_limit, self.task.dtype))
        device.copy(self._state, np.array([1, 0, 0, 0], np.uint64))
        grid = round_grid(device, self._kernel, self.graph.n)
        round_, size = 0, 1
        while size:
            self._params.update(round=round_, limit=limit)
            self._kernel.launch(*grid, (self._params,), cooperative=True)
            state = device.download(self._state)
            round_ = int(state[_ROUND])
            size = int(state[round_ % 2])


def llp(task: Task) -> Answer:
    """Raise lower bounds until they equal the best paths found."""
    return sssp_rows(task, _Lattice)
