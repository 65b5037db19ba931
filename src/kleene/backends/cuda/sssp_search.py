"""Single-source shortest paths on a GPU: what all methods share.

A method is a class whose ``run`` computes the distances from one source; predecessors are recovered
from the distances afterwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kleene.backends.cuda.device_graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype, open_device, scalar
from kleene.backends.cuda.runtime.prefault import prefault
from kleene.backends.cuda.sssp_predecessors import recover_predecessors
from kleene.backends.task import Answer, Task

__all__ = ["SsspSearch", "sssp_rows"]

_THREADS = 256


class SsspSearch(ABC):
    """Searches from one source at a time on one graph; created once per call.

    When ``run`` begins, ``distances`` is 0 at the source and no_path elsewhere.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.no_limit = task.semiring.zero(task.dtype)
        self.negative = bool(task.graph.stats.negative)
        self.distances = device.empty(graph.n, task.dtype, "distances")
        self._steps = device.kernels("sssp_predecessors", KL_TYPE=ctype(task.dtype))

    @abstractmethod
    def run(self, source: int, limit: Any) -> Any | None:
        """Compute distances up to a limit, in their own type; ``no_limit`` is no limit.

        At the end every arc is relaxed in floating-point arithmetic: each distance within the limit
        is the least ``distance[u] + length`` of the incoming arcs. Entries beyond the limit may be
        any value beyond it.

        Returns the horizon, the largest complete distance, if the search stopped at its targets;
        None if it ran to the end or the limit.
        """

    def recover_predecessors_of(self, source: int, predecessors: Array) -> None:
        """Fill in the predecessors after ``run``; beyond the limit distances are no_path."""
        recover_predecessors(
            self.device, self.graph, self.distances, source, predecessors, negative=self.negative
        )

    def init_distances(self, source: int) -> None:
        """Set distances to 0 at the source, no_path elsewhere."""
        self.launch_over_vertices("sssp_init_distances", self.distances, source)

    def apply_limit(self, limit: Any) -> None:
        """Set all distances beyond a limit to no_path."""
        if limit != self.no_limit:
            self.launch_over_vertices("sssp_apply_limit", self.distances, limit)

    def launch_over_vertices(self, name: str, distances: Array, number: Any) -> None:
        """Launch a kernel with a thread per vertex."""
        blocks = (ceil_div(self.graph.n, _THREADS),)
        self._steps[name].launch(blocks, (_THREADS,), (distances, self.graph.n, number))


def sssp_rows(task: Task, method: type[SsspSearch]) -> Answer:
    """Search from each source by this method."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    if task.graph.n:
        device = open_device(task.device)
        search = method(task, device, get_device_graph(task.graph, device))
        limit = search.no_limit if task.limit is None else scalar(task.dtype, task.limit)
        found = None
        if predecessors is not None:
            found = device.empty(task.graph.n, predecessors.dtype, "predecessors")
        for row, source in enumerate(task.sources.tolist()):
            search.init_distances(source)
            rows = (values[row], None if predecessors is None else predecessors[row])
            with prefault(task.threads, *rows), device.timer.span("compute", device.main):
                horizon = search.run(source, limit)
            horizons[row] = limit if horizon is None else horizon
            search.apply_limit(horizons[row].item())
            if predecessors is not None and found is not None:
                with device.timer.span("compute", device.main):
                    search.recover_predecessors_of(source, found)
                device.download(found, predecessors[row])
            device.download(search.distances, values[row])
            task.report(row + 1, len(task.sources))
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
