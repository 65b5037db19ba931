"""Shortest paths, traversals and path closures of graphs, on all CPU cores and NVIDIA GPUs.

>>> import kleene as kl
>>> g = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
>>> r = kl.sssp(g, 0)
>>> r.distances.tolist(), r.path(2)
([0, 4, 7], [0, 1, 2])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kleene.api import (
    TurnGraph,
    apsp,
    bfs,
    close_distances,
    closure,
    components,
    distance_encodings,
    explain,
    geodesic_distances,
    isochrones,
    k_shortest,
    methods,
    nearest,
    spmv,
    sssp,
    within,
)
from kleene.errors import (
    DeviceError,
    FormatError,
    GraphError,
    KleeneError,
    MemoryBudgetError,
    NegativeCycleError,
    PathOverflowError,
    RequestError,
    StorageError,
    VerificationError,
)
from kleene.graph import Graph
from kleene.interop.sklearn import patch_sklearn, unpatch_sklearn
from kleene.io import read, write
from kleene.results.isochrones import Isochrones
from kleene.results.nearest import Nearest
from kleene.results.pairs import PairsResult
from kleene.results.reach import Reach
from kleene.results.result import Result

if TYPE_CHECKING:
    from kleene import csgraph, datasets, generate
    from kleene.viz.draw import draw

    __version__: str

__all__ = [
    "DeviceError",
    "FormatError",
    "Graph",
    "GraphError",
    "Isochrones",
    "KleeneError",
    "MemoryBudgetError",
    "Nearest",
    "NegativeCycleError",
    "PairsResult",
    "PathOverflowError",
    "Reach",
    "RequestError",
    "Result",
    "StorageError",
    "TurnGraph",
    "VerificationError",
    "apsp",
    "bfs",
    "close_distances",
    "closure",
    "components",
    "csgraph",
    "datasets",
    "distance_encodings",
    "draw",
    "explain",
    "generate",
    "geodesic_distances",
    "isochrones",
    "k_shortest",
    "methods",
    "nearest",
    "patch_sklearn",
    "read",
    "spmv",
    "sssp",
    "unpatch_sklearn",
    "within",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import what few programs need (a third of the time of ``import kleene``) at first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("kleene")
    if name in ("csgraph", "datasets", "generate"):
        return import_module(f"kleene.{name}")
    if name == "draw":
        return import_module("kleene.viz.draw").draw
    from kleene.interop.names import missing_attribute

    raise AttributeError(missing_attribute(name, __all__))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
