"""Bellman-Ford on a GPU, with negative cycles; kernels in ``kernels/sssp/sssp_bellman_ford.cu``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.johnson import RISE, is_negative
from kleene.backends.common.native_search import search
from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.load_balance import WorkQueues
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, ceil_div, ctype, scalar
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.sssp.predecessors import recover_predecessors
from kleene.backends.cuda.sssp.search import SsspSearch, sssp_rows
from kleene.backends.cuda.tuning import sssp as tuning
from kleene.backends.task import Task
from kleene.errors import NegativeCycleError

__all__ = ["bellman_ford", "bellman_ford_plain"]

_FILE = "sssp_bellman_ford"
_THREADS = 256
_ROUND, _WORK, _TOO_LOW = (constant(_FILE, name) for name in ("kRound", "kWork", "kTooLow"))
_WORDS = _TOO_LOW + 1  # of the state


class _BellmanFord(SsspSearch):
    """Relaxation rounds until no distance changes.

    A cycle of predecessors is a negative cycle. The check costs O(n log n), so it runs each time
    that as much work has been done (Cherkassky and Goldberg 1999).

    Rounding may make a cycle of length zero seem negative. Such a search is repeated with biased
    sums (see :mod:`kleene.backends.common.johnson`), and distances are summed along its tree.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.kernels = device.kernels(_FILE, KL_TYPE=ctype(task.dtype))
        self.exact = task.dtype.kind == "i"
        self.bias = scalar(task.dtype, 0)
        self.predecessors = (
            device.empty(graph.n, np.int32, "predecessors") if self.negative else None
        )

    def run(self, source: int, limit: Any) -> None:
        """Run rounds to the end, and again with a bias if rounding keeps a cycle changing."""
        self.bias = scalar(self.task.dtype, 0)
        if self._converges(source, limit):
            return
        if not self.exact:
            self.bias = RISE * float(np.finfo(self.task.dtype).eps)
            self.init_distances(source)
            if self._converges(source, self.no_limit):
                return
        self._run_on_cpu(source)

    def recover_predecessors_of(self, source: int, predecessors: Array) -> None:
        """Fill in the predecessors; after a convergence check they are known already."""
        if self.negative and not self.exact:
            assert self.predecessors is not None
            self.device.copy(predecessors, self.predecessors)
        else:
            super().recover_predecessors_of(source, predecessors)

    def _converges(self, source: int, limit: Any) -> bool:
        """Search once; False if rounding keeps a non-negative cycle changing."""
        if self.predecessors is not None:
            self.device.fill(self.predecessors, 0xFF)
        self.start(source)
        round_, unchecked, state = 0, 0, None
        most = tuning.BELLMAN_FORD_ROUNDS
        while state is None or state[round_ % 3]:
            # A change after n rounds comes from a cycle.
            rounds = min(most, self.graph.n - round_) if self.negative else most
            state = self.launch(round_, rounds, limit)
            round_, low = int(state[_ROUND]), bool(state[_TOO_LOW])
            unchecked += int(state[_WORK])
            if not self.negative or not (low or state[round_ % 3]):
                continue
            certain = low or round_ >= self.graph.n
            if certain or unchecked >= self.graph.n:
                unchecked = 0
                cycle = self._find_cycle()
                if cycle and is_negative(self.task.graph, cycle, self.task.dtype):
                    raise NegativeCycleError(cycle)
                if certain or (cycle and not self.exact):
                    return False
        return not self.negative or self.exact or self._forms_tree(source)

    @abstractmethod
    def start(self, source: int) -> None:
        """Prepare round 0."""

    @abstractmethod
    def launch(self, round_: int, rounds: int, limit: Any) -> HostArray:
        """Run some rounds; return the state."""

    # ---- negative cycles -------------------------------------------------------------------------

    def _run_on_cpu(self, source: int) -> None:
        """Use the result of the CPU, or its negative cycle, which racing predecessors hid here."""
        own = np.array([source], self.task.sources.dtype)
        task = replace(self.task, sources=own, predecessors=True, out=None, progress=None)
        answer = search("bellman_ford", task)
        assert self.predecessors is not None
        assert answer.predecessors is not None
        self.device.copy(self.distances, answer.values[0])
        self.device.copy(self.predecessors, answer.predecessors[0])

    def _find_cycle(self) -> list[int]:
        """Return the vertices of a predecessor cycle in arc order; [] if there is none."""
        device, n, predecessors = self.device, self.graph.n, self.predecessors
        assert predecessors is not None
        grid = ((ceil_div(n, _THREADS),), (_THREADS,))
        found = device.upload(np.array([-1], np.int32), "found")
        ancestors, doubled = predecessors, device.empty(n, np.int32, "ancestors")
        spare = device.empty(n, np.int32, "ancestors")
        for _ in range(n.bit_length()):
            self.kernels["sssp_bellman_ford_double_ancestors"].launch(
                *grid, (ancestors, doubled, n)
            )
            ancestors, doubled, spare = doubled, spare, doubled
        self.kernels["sssp_bellman_ford_find_cycle"].launch(*grid, (ancestors, n, found))
        vertex = int(device.download(found)[0])
        if vertex < 0:
            return []
        chain, cycle = device.download(predecessors), [vertex]
        while (u := int(chain[cycle[-1]])) != vertex:
            cycle.append(u)
        return cycle[::-1]

    def _forms_tree(self, source: int) -> bool:
        """Return whether the predecessors form a tree; rounding may also stop a cycle changing."""
        if self.device.download(self.distances[source : source + 1])[0] != 0:
            return False
        assert self.predecessors is not None
        sums = None
        if self.bias:
            sums = self.device.empty(self.graph.n, self.task.dtype, "sums")
            self.launch_over_vertices("sssp_init_distances", sums, source)
        missing = recover_predecessors(
            self.device,
            self.graph,
            self.distances,
            source,
            self.predecessors,
            negative=True,
            bias=self.bias,
            sums=sums,
        )
        if sums is not None:
            self.device.copy(self.distances, sums)
        return missing == 0


class _Frontier(_BellmanFord):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self._kernel = self.kernels["sssp_bellman_ford_rounds"]
        self._queues = queues = WorkQueues(device, graph, _WORDS)
        self._enqueued_round = device.empty(graph.n, np.int32, "enqueued round")
        kind = task.dtype
        self._params = struct_type(_FILE, "FrontierParams", KL_TYPE=ctype(kind)).pack(
            offsets=graph.csr.offsets,
            neighbors=graph.csr.neighbors,
            lengths=graph.lengths(kind),
            distances=self.distances,
            predecessors=self.predecessors,
            enqueued_round=self._enqueued_round,
            even=queues.even,
            odd=queues.odd,
            state=queues.sizes,
            barrier=queues.barrier,
            round=0,
            most=graph.n if self.negative else max(graph.n, tuning.BELLMAN_FORD_ENTRIES),
            rounds=1,
            limit=scalar(kind, 0),
            bias=self.bias,
        )

    def start(self, source: int) -> None:
        offsets = self.task.graph.offsets
        self._queues.begin(source, int(offsets[source + 1] - offsets[source]))
        self.device.fill(self._enqueued_round, 0)

    def launch(self, round_: int, rounds: int, limit: Any) -> HostArray:
        queues, kernel = self._queues, self._kernel
        self._params.update(round=round_, rounds=rounds, limit=limit, bias=self.bias)
        kernel.launch(*queues.grid(kernel), (self._params,), cooperative=True)
        return queues.read_sizes()


class _Plain(_BellmanFord):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self._kernel = self.kernels["sssp_bellman_ford_plain_rounds"]
        self._state = device.zeros(_WORDS, np.uint64, "state")
        kind = task.dtype
        self._params = struct_type(_FILE, "PlainParams", KL_TYPE=ctype(kind)).pack(
            tails=graph.tails,
            neighbors=graph.csr.neighbors,
            lengths=graph.lengths(kind),
            distances=self.distances,
            predecessors=self.predecessors,
            state=self._state,
            barrier=device.zeros(1, np.uint32, "barrier"),
            m=graph.m,
            round=0,
            rounds=1,
            limit=scalar(kind, 0),
            bias=self.bias,
        )

    def start(self, source: int) -> None:
        state = np.zeros(_WORDS, np.uint64)
        state[0] = 1
        self.device.copy(self._state, state)

    def launch(self, round_: int, rounds: int, limit: Any) -> HostArray:
        m, kernel = self.graph.m, self._kernel
        bound = min(rounds, max(1, tuning.BELLMAN_FORD_ARCS // max(1, m)))
        most = min(
            kernel.resident_blocks(_THREADS),
            tuning.BELLMAN_FORD_BLOCKS * self.device.multiprocessors,
        )
        blocks = min(most, max(1, ceil_div(m, _THREADS)))
        self._params.update(round=round_, rounds=bound, limit=limit, bias=self.bias)
        kernel.launch((blocks,), (_THREADS,), (self._params,), cooperative=True)
        return self.device.download(self._state)


def bellman_ford(task: Task) -> Answer:
    """Relax the arcs of the vertices that changed, round by round."""
    return sssp_rows(task, _Frontier)


def bellman_ford_plain(task: Task) -> Answer:
    """Relax all arcs in each round."""
    return sssp_rows(task, _Plain)
