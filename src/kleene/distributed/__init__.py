"""Answers and graphs that outgrow memory, one GPU or one machine.

Stores and ledgers keep answers of any size on disk; Dask and MPI run the same calls on several
machines. The names of MPI are public here: see :mod:`kleene.distributed.mpi`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.distributed.mpi.bfs import bfs
    from kleene.distributed.mpi.communicator import Communicator, MpiCommunicator
    from kleene.distributed.mpi.generate import rmat
    from kleene.distributed.mpi.graph import DistributedGraph
    from kleene.distributed.mpi.partition import Partition
    from kleene.distributed.mpi.reading import read
    from kleene.distributed.mpi.result import DistributedResult
    from kleene.distributed.mpi.sssp import sssp
    from kleene.distributed.mpi.verify import verify
    from kleene.distributed.mpi.writing import write

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
    return getattr(import_module(f"kleene.distributed.mpi.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
