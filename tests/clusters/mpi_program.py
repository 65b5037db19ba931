"""A program for mpiexec: searches a graph that every rank brings a part of, and prints JSON.

``mpi_program.py MODE``: ``searches`` prints answers and traffic; ``check`` has an argument that is
wrong on one rank; ``fail`` has a rank that runs out of memory during a search.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import kleene as kl
from kleene import _native
from kleene.distributed import DistributedGraph, MpiCommunicator, bfs, sssp


def edges() -> tuple[int, Any, Any, Any]:
    """Return vertices, tails, heads and weights of the graph of the tests."""
    random = np.random.default_rng(7)
    return 300, *random.integers(0, 300, (2, 1500)), random.integers(0, 50, 1500)


def main(mode: str) -> None:
    communicator = MpiCommunicator()
    n, tails, heads, weights = edges()
    own = slice(communicator.rank, None, communicator.size)
    graph = DistributedGraph.from_arcs(
        communicator, n, tails[own], heads[own], weights[own], directed=False
    )
    if mode == "check":
        try:
            bfs(graph, n if communicator.rank == 1 else 0)
        except kl.GraphError as error:
            said = communicator.gather_all(str(error))  # the ranks are still together
            if communicator.rank == 0:
                print(json.dumps(said))
            return
    if mode == "fail" and communicator.rank == 1:

        def failing(*arguments: Any) -> Any:
            raise MemoryError("no room")

        _native.part_sssp_settle = failing
    hops, lengths = bfs(graph, 3), sssp(graph, 3)
    path = lengths.path(n - 1)
    gathered = [hops.gather(), lengths.gather()]
    tiny = DistributedGraph.from_arcs(communicator, 2, [0], [1], [5], directed=False)
    few = [bfs(tiny, 1).gather(), sssp(tiny, 1).gather()]  # with parts that are empty
    if communicator.rank == 0:
        answer = {
            "size": communicator.size,
            "distances": [found.distances.tolist() for found in gathered if found],
            "predecessors": [found.predecessors.tolist() for found in gathered if found],
            "stats": [hops.stats, lengths.stats],
            "path": path,
            "few": [found.distances.tolist() for found in few if found],
        }
        print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
