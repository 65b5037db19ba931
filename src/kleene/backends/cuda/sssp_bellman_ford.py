"""Bellman-Ford on a GPU; kernels in ``kernels/sssp_bellman_ford.cu``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from kleene.backends.common.cycles import RISE, is_negative
from kleene.backends.common.native_sssp import search
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.frontiers import Queues
from kleene.backends.cuda.runtime.device import Array, Device, HostArray, ceil_div, ctype
from kleene.backends.cuda.sssp_predecessors import recover_tree
from kleene.backends.cuda.sssp_search import LengthSearch, length_rows
from kleene.backends.task import Answer, Task
from kleene.errors import NegativeCycleError

__all__ = ["bellman_ford", "bellman_ford_plain"]

_THREADS = 256
_BLOCKS = 8  # of a multiprocessor, for all arcs
_ROUNDS = 1024  # of a launch, which then takes some milliseconds
_ENTRIES = 2**20  # of queues that a launch takes, about, for the same reason
_ARCS = 2**28  # that a launch relaxes, about
_ROUND, _WORK, _TOO_LOW, _WORDS = 3, 4, 5, 6  # of the state


class _BellmanFord(LengthSearch):
    """Rounds until nothing changes.

    A closed chain of predecessors tells of a negative cycle. It takes O(n log n) to look for one,
    so that is done each time that as much work has been done (Cherkassky and Goldberg 1999).

    Rounding may make a cycle of length zero seem negative. Such a search is repeated with sums that
    rise (:mod:`kleene.backends.common.cycles` says why); distances are added up along its tree.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.kernels = device.kernels("sssp_bellman_ford", KL_TYPE=ctype(task.dtype))
        self.exact = task.dtype.kind == "i"
        self.rise: int | float = 0
        self.parents = device.empty(graph.n, np.int32, "notes") if self.negative else None

    def run(self, source: int, limit: Any) -> None:
        """Run rounds to the end, and once more if rounding goes round in circles."""
        self.rise = 0
        if self._settles(source, limit):
            return
        if not self.exact:
            self.rise = RISE * float(np.finfo(self.task.dtype).eps)
            self.begin(source)
            if self._settles(source, self.farthest):
                return
        self._ask_cpu(source)

    def tree(self, source: int, parents: Array) -> None:
        """Fill in the tree; it is there already if it had to show that nothing is a circle."""
        if self.negative and not self.exact:
            assert self.parents is not None
            self.device.copy(parents, self.parents)
        else:
            super().tree(source, parents)

    def _settles(self, source: int, limit: Any) -> bool:
        """Search once; False when it went round in circles that are no negative cycle."""
        if self.parents is not None:
            self.device.fill(self.parents, 0xFF)
        self.start(source)
        turn, unchecked, state = 0, 0, None
        while state is None or state[turn % 3]:
            # Whatever changes after n rounds has gone round a cycle.
            rounds = min(_ROUNDS, self.graph.n - turn) if self.negative else _ROUNDS
            state = self.launch(turn, rounds, limit)
            turn, low = int(state[_ROUND]), bool(state[_TOO_LOW])
            unchecked += int(state[_WORK])
            if not self.negative or not (low or state[turn % 3]):
                continue
            certain = low or turn >= self.graph.n
            if certain or unchecked >= self.graph.n:
                unchecked = 0
                cycle = self._closed_chain()
                if cycle and is_negative(self.task.graph, cycle, self.task.dtype):
                    raise NegativeCycleError(cycle)
                if certain or (cycle and not self.exact):
                    return False
        return not self.negative or self.exact or self._hangs(source)

    @abstractmethod
    def start(self, source: int) -> None:
        """Prepare round 0."""

    @abstractmethod
    def launch(self, turn: int, rounds: int, limit: Any) -> HostArray:
        """Run some rounds and return the state."""

    # ---- negative cycles -------------------------------------------------------------------------

    def _ask_cpu(self, source: int) -> None:
        """Take the CPU's answer, or its negative cycle, where notes that came late hid it here."""
        own = np.array([source], self.task.sources.dtype)
        task = replace(self.task, sources=own, predecessors=True, out=None, progress=None)
        answer = search("bellman_ford", task)
        assert self.parents is not None
        assert answer.predecessors is not None
        self.device.copy(self.distances, answer.values[0])
        self.device.copy(self.parents, answer.predecessors[0])

    def _closed_chain(self) -> list[int]:
        """Return vertices whose predecessors form a circle, in the order of arcs; or none."""
        device, n, notes = self.device, self.graph.n, self.parents
        assert notes is not None
        grid = ((ceil_div(n, _THREADS),), (_THREADS,))
        found = device.upload(np.array([-1], np.int32), "found")
        here, there = notes, device.empty(n, np.int32, "ancestors")
        spare = device.empty(n, np.int32, "ancestors")
        for _ in range(n.bit_length()):
            self.kernels["bellman_ford_chains"].launch(*grid, (here, there, n))
            here, there, spare = there, spare, there
        self.kernels["bellman_ford_circles"].launch(*grid, (here, n, found))
        at = int(device.download(found)[0])
        if at < 0:
            return []
        parents, cycle = device.download(notes), [at]
        while (u := int(parents[cycle[-1]])) != at:
            cycle.append(u)
        return cycle[::-1]

    def _hangs(self, source: int) -> bool:
        """Does every vertex hang on the source? Rounding may also bring a circle to rest."""
        if self.device.download(self.distances[source : source + 1])[0] != 0:
            return False
        assert self.parents is not None
        sums = None
        if self.rise:
            sums = self.device.empty(self.graph.n, self.task.dtype, "sums")
            self.launch_each("sssp_begin", sums, source)
        left = recover_tree(
            self.device,
            self.graph,
            self.distances,
            source,
            self.parents,
            negative=True,
            rise=self.rise,
            sums=sums,
        )
        if sums is not None:
            self.device.copy(self.distances, sums)
        return left == 0


class _Frontier(_BellmanFord):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self._queues = Queues(device, graph, _WORDS)
        self._stamps = device.empty(graph.n, np.int32, "stamps")

    def start(self, source: int) -> None:
        offsets = self.task.graph.offsets
        self._queues.begin(source, int(offsets[source + 1] - offsets[source]))
        self.device.fill(self._stamps, 0)

    def launch(self, turn: int, rounds: int, limit: Any) -> HostArray:
        queues, kernel = self._queues, self.kernels["bellman_ford_rounds"]
        most = self.graph.n if self.negative else max(self.graph.n, _ENTRIES)
        arcs = (*self.graph.csr, self.graph.lengths(self.task.dtype))
        labels = (self.distances, self.parents, self._stamps, limit, self.rise)
        queued = (queues.even, queues.odd, queues.sizes, turn, rounds, most, queues.barrier)
        kernel.launch(*queues.grid(kernel), (*arcs, *labels, *queued), cooperative=True)
        return queues.look()


class _Plain(_BellmanFord):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self._state = device.zeros(_WORDS, np.uint64, "state")
        self._barrier = device.zeros(1, np.uint32, "barrier")

    def start(self, source: int) -> None:
        self.device.copy(self._state, np.array([1, 0, 0, 0, 0, 0], np.uint64))

    def launch(self, turn: int, rounds: int, limit: Any) -> HostArray:
        graph, kernel = self.graph, self.kernels["bellman_ford_sweeps"]
        arcs = (graph.tails, graph.csr.neighbors, graph.lengths(self.task.dtype), graph.m)
        labels = (self.distances, self.parents, limit, self.rise)
        bound = min(rounds, max(1, _ARCS // max(1, graph.m)))
        most = min(kernel.resident_blocks(_THREADS), _BLOCKS * self.device.multiprocessors)
        blocks = min(most, max(1, ceil_div(graph.m, _THREADS)))
        rest = (self._state, turn, bound, self._barrier)
        kernel.launch((blocks,), (_THREADS,), (*arcs, *labels, *rest), cooperative=True)
        return self.device.download(self._state)


def bellman_ford(task: Task) -> Answer:
    """Relax what changed, round after round."""
    return length_rows(task, _Frontier)


def bellman_ford_plain(task: Task) -> Answer:
    """Relax all arcs in each round."""
    return length_rows(task, _Plain)
