"""Shortest paths on a GPU, one source after the other: what all forms share.

A form is a class with a ``run`` that fills in distances; who comes before whom is found afterwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kleene.backends.cuda.device_graph import DeviceGraph, on_device
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype, open_device
from kleene.backends.cuda.runtime.prefault import touched
from kleene.backends.cuda.sssp_predecessors import recover_tree
from kleene.backends.task import Answer, Task

__all__ = ["LengthSearch", "length_rows"]

_THREADS = 256


class LengthSearch(ABC):
    """Searches from one source at a time on one graph; made once for a call.

    ``distances`` has "no path" everywhere and 0 at the source when ``run`` begins.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.farthest = task.semiring.zero(task.dtype)
        self.negative = bool(task.graph.stats.negative)
        self.distances = device.empty(graph.n, task.dtype, "distances")
        self._steps = device.kernels("sssp_tree", KL_TYPE=ctype(task.dtype))

    @abstractmethod
    def run(self, source: int, limit: Any) -> Any | None:
        """Find distances up to a limit, in their own type; ``farthest`` is no limit.

        Every arc is satisfied at the end, as the machine adds: no distance within the limit is
        larger than ``distance[u] + length`` of an arc into its vertex, and one is as large. What
        is beyond the limit may hold anything that is beyond it.

        Returns the last distance that is complete, if the search stopped there because it had
        found all targets; None if it went on to the end or the limit.
        """

    def tree(self, source: int, parents: Array) -> None:
        """Fill in who comes before whom, after ``run``; beyond the limit there is "no path"."""
        recover_tree(
            self.device, self.graph, self.distances, source, parents, negative=self.negative
        )

    def begin(self, source: int) -> None:
        """Set all distances."""
        self.launch_each("sssp_begin", self.distances, source)

    def cut(self, limit: Any) -> None:
        """Set all distances beyond a limit to "no path"."""
        if limit != self.farthest:
            self.launch_each("sssp_cut", self.distances, limit)

    def launch_each(self, name: str, distances: Array, number: Any) -> None:
        """Launch a kernel for all of some distances."""
        blocks = (ceil_div(self.graph.n, _THREADS),)
        self._steps[name].launch(blocks, (_THREADS,), (distances, self.graph.n, number))


def length_rows(task: Task, form: type[LengthSearch]) -> Answer:
    """Search from each source by this form."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    if task.graph.n:
        device = open_device(task.device)
        search = form(task, device, on_device(task.graph, device))
        limit = search.farthest if task.limit is None else task.limit
        parents = None
        if predecessors is not None:
            parents = device.empty(task.graph.n, predecessors.dtype, "parents")
        for row, source in enumerate(task.sources.tolist()):
            search.begin(source)
            rows = (values[row], None if predecessors is None else predecessors[row])
            with touched(task.threads, *rows), device.meter.span("compute", device.main):
                horizon = search.run(source, limit)
            horizons[row] = limit if horizon is None else horizon
            search.cut(horizons[row].item())
            if predecessors is not None and parents is not None:
                with device.meter.span("compute", device.main):
                    search.tree(source, parents)
                device.download(parents, predecessors[row])
            device.download(search.distances, values[row])
            task.report(row + 1, len(task.sources))
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
