"""Shortest paths, traversals and path closures of graphs."""

from kleene import generate
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
    "generate",
]
