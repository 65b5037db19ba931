"""The plugin that opens a graph on every worker, also on those that join or restart later."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from dask.distributed import WorkerPlugin

from kleene.distributed.dask_graphs import SharedGraph, drop_graph, find_graph

__all__ = ["GraphPlugin"]


class GraphPlugin(WorkerPlugin):  # type: ignore[misc]
    """Maps the file of a graph when a worker starts, and lets go of it at the end."""

    def __init__(self, shared: SharedGraph) -> None:
        self.shared = shared

    def setup(self, worker: Any) -> None:
        """Open the graph, unless this worker does not see its file: then a task says so."""
        with suppress(Exception):  # a worker must start; a task reports the error
            find_graph(self.shared, worker)

    def teardown(self, worker: Any) -> None:
        """Let go of the graph."""
        drop_graph(self.shared, worker)
