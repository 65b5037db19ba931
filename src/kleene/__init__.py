"""Shortest paths, traversals and path closures of graphs, on all CPU cores and NVIDIA GPUs.

>>> import kleene as kl
>>> g = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
>>> r = kl.sssp(g, 0)
>>> r.distances.tolist(), r.path(2)
([0, 4, 7], [0, 1, 2])
"""

from kleene import datasets, generate
from kleene.api import apsp, bfs, closure, explain, methods, sssp
from kleene.errors import (
    DeviceError,
    FormatError,
    GraphError,
    KleeneError,
    MemoryBudgetError,
    NegativeCycleError,
    RequestError,
    VerificationError,
)
from kleene.graph import Graph
from kleene.product import spmv
from kleene.result import Result

__version__ = "0.1.0"
from kleene.io import read, write

__all__ = [
    "DeviceError",
    "FormatError",
    "Graph",
    "GraphError",
    "KleeneError",
    "MemoryBudgetError",
    "NegativeCycleError",
    "RequestError",
    "Result",
    "VerificationError",
    "apsp",
    "bfs",
    "closure",
    "datasets",
    "explain",
    "generate",
    "methods",
    "read",
    "spmv",
    "sssp",
    "write",
]
