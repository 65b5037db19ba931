"""The graph: construction, storage forms, checks and statistics."""

from kleene.graph.core import Graph
from kleene.graph.forms import COO, CSC, CSR, ELL
from kleene.graph.statistics import Statistics

__all__ = ["COO", "CSC", "CSR", "ELL", "Graph", "Statistics"]
