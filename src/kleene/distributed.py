"""Answers and graphs that outgrow memory, one GPU or one machine.

Stores and ledgers keep answers of any size on disk; Dask and MPI run the same calls on several
machines. The names of MPI are public here: see :mod:`kleene.clusters.mpi`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.clusters.mpi.bfs import bfs
    from kleene.clusters.mpi.communicator import Communicator, MpiCommunicator
    from kleene.clusters.mpi.generate import rmat
    from kleene.clusters.mpi.graph import DistributedGraph
    from kleene.clusters.mpi.partition import Partition
    from kleene.clusters.mpi.reading import read
    from kleene.clusters.mpi.result import DistributedResult
    from kleene.clusters.mpi.sssp import sssp
    from kleene.clusters.mpi.verify import verify
    from kleene.clusters.mpi.writing import write

#: The module of each public name, imported at its first use.
_MODULES = {
    "Communicator": "communicator",
    "DistributedGraph": "graph",
    "DistributedResult": "result",
    "MpiCommunicator": "communicator",
    "Partition": "partition",
    "bfs": "bfs",
    "read": "reading",
    "rmat": "generate",
    "sssp": "sssp",
    "verify": "verify",
    "write": "writing",
}

__all__ = [
    "Communicator",
    "DistributedGraph",
    "DistributedResult",
    "MpiCommunicator",
    "Partition",
    "bfs",
    "read",
    "rmat",
    "sssp",
    "verify",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kleene.clusters.mpi.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
