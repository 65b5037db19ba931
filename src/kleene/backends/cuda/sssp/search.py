"""Single-source shortest paths on a GPU: what all methods share.

A method is a class whose ``run`` computes the distances from one source; predecessors are recovered
from the distances afterwards.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from kleene.backends.answer import Answer
from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.rows import AnswerRows, RowSearch, run_search
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div, ctype, scalar
from kleene.backends.cuda.sssp.predecessors import recover_predecessors
from kleene.backends.task import Task

__all__ = ["SsspSearch", "sssp_rows"]

_THREADS = 256


class SsspSearch(RowSearch):
    """Searches from one source at a time on one graph.

    When ``run`` begins, ``distances`` is 0 at the source and no_path elsewhere.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.no_limit = task.semiring.zero(task.dtype)
        self.negative = bool(task.graph.stats.negative)
        self._steps = device.kernels("sssp_predecessors", KL_TYPE=ctype(task.dtype))

    @abstractmethod
    def run(self, source: int, limit: Any) -> Any | None:
        """Compute distances up to a limit, in their own type; ``no_limit`` means none.

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
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    return run_search(task, open_device(task.device), method, _search_rows)


def _search_rows(search: SsspSearch) -> Answer:
    """Search from each source of the task; copy distances while predecessors are recovered."""
    task, tree = search.task, search.tree
    limit = search.no_limit if task.limit is None else scalar(task.dtype, task.limit)
    complete = task.limit is None and task.targets is None
    horizons = None if complete else task.new_horizons()
    rows = AnswerRows(task, search.device)
    for row, source in enumerate(task.sources.tolist()):
        search.staged = False
        search.init_distances(source)
        with rows.prefault(row), search.timed():
            horizon = search.run(source, limit)
        if horizons is not None:
            horizons[row] = limit if horizon is None else horizon
            search.apply_limit(horizons[row].item())
        copied = rows.copy_beside(row, search) if tree is not None else None
        if tree is not None:
            with search.timed():
                search.recover_predecessors_of(source, tree)
        rows.copy(row, search, copied)
        task.report(row + 1, len(task.sources))
    rows.wait(search)
    return rows.answer(horizons)
