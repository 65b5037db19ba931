"""Shortest paths, traversals and path closures of graphs."""

from kleene import datasets
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
    "VerificationError",
    "datasets",
    "read",
    "write",
]
