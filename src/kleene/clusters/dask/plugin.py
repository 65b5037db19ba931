"""The plugin that opens a graph on every worker, also on those that join or restart later."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dask.distributed import WorkerPlugin

if TYPE_CHECKING:
    from kleene.clusters.dask.graphs import SharedGraph

__all__ = ["GraphPlugin"]

#: What is done with a graph on a worker.
Step = Callable[["SharedGraph", Any], object]


class GraphPlugin(WorkerPlugin):  # type: ignore[misc]
    """Maps the file of a graph when a worker starts, and lets go of it at the end."""

    def __init__(self, shared: SharedGraph, find: Step, drop: Step) -> None:
        self.shared, self._find, self._drop = shared, find, drop

    def setup(self, worker: Any) -> None:
        """Open the graph, unless this worker does not see its file: then a task says so."""
        with suppress(Exception):  # a worker must start; a task reports the error
            self._find(self.shared, worker)

    def teardown(self, worker: Any) -> None:
        """Let go of the graph."""
        self._drop(self.shared, worker)
