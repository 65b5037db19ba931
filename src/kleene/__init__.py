"""Shortest paths, traversals and path closures of graphs, on all CPU cores and NVIDIA GPUs.

>>> import kleene as kl
>>> g = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
>>> r = kl.sssp(g, 0)
>>> r.distances.tolist(), r.path(2)
([0, 4, 7], [0, 1, 2])
"""

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene import csgraph, datasets, distributed, generate
    from kleene.calls.algebra.close_distances import close_distances
    from kleene.calls.algebra.product import product
    from kleene.calls.algebra.spmv import spmv
    from kleene.calls.apsp import apsp
    from kleene.calls.betweenness import betweenness
    from kleene.calls.bfs import bfs
    from kleene.calls.closeness import closeness, efficiency, harmonic, wiener_index
    from kleene.calls.closure import closure
    from kleene.calls.components import components
    from kleene.calls.distance_encodings import distance_encodings
    from kleene.calls.distance_histogram import distance_histogram
    from kleene.calls.eccentricity import center, diameter, eccentricity, periphery, radius
    from kleene.calls.explain import explain
    from kleene.calls.geodesic_distances import geodesic_distances
    from kleene.calls.isochrones import isochrones
    from kleene.calls.k_shortest import k_shortest
    from kleene.calls.loads import loads
    from kleene.calls.nearest import nearest
    from kleene.calls.path_counts import path_counts
    from kleene.calls.prepare import load_prepared, prepare
    from kleene.calls.prepared_graph import PreparedGraph
    from kleene.calls.reduce_distances import reduce_distances
    from kleene.calls.sssp import sssp
    from kleene.calls.turns import TurnGraph
    from kleene.calls.within import ego, within
    from kleene.errors import (
        ClusterError,
        DeviceError,
        FormatError,
        GraphError,
        GraphWarning,
        KleeneError,
        MemoryBudgetError,
        NegativeCycleError,
        PathOverflowError,
        RequestError,
        StorageError,
        StoreError,
        VerificationError,
    )
    from kleene.graph import Graph
    from kleene.interop.sklearn import patch_sklearn, unpatch_sklearn
    from kleene.io import read, write
    from kleene.measures.betweenness import Betweenness
    from kleene.measures.loads import Loads
    from kleene.measures.path_counts import PathCounts
    from kleene.registry import methods
    from kleene.results.distance_reduction import DistanceReduction
    from kleene.results.isochrones import Isochrones
    from kleene.results.nearest import Nearest
    from kleene.results.pairs import PairsResult
    from kleene.results.reach import Reach
    from kleene.results.result import Result
    from kleene.viz.draw import draw

    __version__: str

#: The module of each public name, imported at its first use: ``import kleene`` itself takes a
#: millisecond, and a program waits for what it calls.
_MODULES = {
    **dict.fromkeys(("csgraph", "datasets", "distributed", "generate"), "kleene"),
    **{
        name: f"kleene.calls.{name}"
        for name in (
            "apsp", "betweenness", "bfs", "closeness", "closure", "components",
            "distance_encodings", "distance_histogram", "eccentricity",
            "explain", "geodesic_distances", "isochrones", "k_shortest", "loads", "nearest",
            "path_counts", "reduce_distances", "sssp", "within",
        )
    },
    **{name: f"kleene.calls.algebra.{name}" for name in ("close_distances", "product", "spmv")},
    **dict.fromkeys(("center", "diameter", "periphery", "radius"), "kleene.calls.eccentricity"),
    **dict.fromkeys(
        (
            "ClusterError", "DeviceError", "FormatError", "GraphError", "GraphWarning",
            "KleeneError", "MemoryBudgetError", "NegativeCycleError", "PathOverflowError",
            "RequestError", "StorageError", "StoreError", "VerificationError",
        ),
        "kleene.errors",
    ),
    "Betweenness": "kleene.measures.betweenness",
    "DistanceReduction": "kleene.results.distance_reduction",
    "Graph": "kleene.graph",
    "Isochrones": "kleene.results.isochrones",
    "Loads": "kleene.measures.loads",
    "Nearest": "kleene.results.nearest",
    "PairsResult": "kleene.results.pairs",
    "PathCounts": "kleene.measures.path_counts",
    "PreparedGraph": "kleene.calls.prepared_graph",
    "Reach": "kleene.results.reach",
    "Result": "kleene.results.result",
    "TurnGraph": "kleene.calls.turns",
    "draw": "kleene.viz.draw",
    "efficiency": "kleene.calls.closeness",
    "ego": "kleene.calls.within",
    "harmonic": "kleene.calls.closeness",
    "load_prepared": "kleene.calls.prepare",
    "methods": "kleene.registry",
    "patch_sklearn": "kleene.interop.sklearn",
    "prepare": "kleene.calls.prepare",
    "read": "kleene.io",
    "unpatch_sklearn": "kleene.interop.sklearn",
    "wiener_index": "kleene.calls.closeness",
    "write": "kleene.io",
}  # fmt: skip

__all__ = [
    "Betweenness",
    "ClusterError",
    "DeviceError",
    "DistanceReduction",
    "FormatError",
    "Graph",
    "GraphError",
    "GraphWarning",
    "Isochrones",
    "KleeneError",
    "Loads",
    "MemoryBudgetError",
    "Nearest",
    "NegativeCycleError",
    "PairsResult",
    "PathCounts",
    "PathOverflowError",
    "PreparedGraph",
    "Reach",
    "RequestError",
    "Result",
    "StorageError",
    "StoreError",
    "TurnGraph",
    "VerificationError",
    "apsp",
    "betweenness",
    "bfs",
    "center",
    "close_distances",
    "closeness",
    "closure",
    "components",
    "csgraph",
    "datasets",
    "diameter",
    "distance_encodings",
    "distance_histogram",
    "distributed",
    "draw",
    "eccentricity",
    "efficiency",
    "ego",
    "explain",
    "generate",
    "geodesic_distances",
    "harmonic",
    "isochrones",
    "k_shortest",
    "load_prepared",
    "loads",
    "methods",
    "nearest",
    "patch_sklearn",
    "path_counts",
    "periphery",
    "prepare",
    "product",
    "radius",
    "read",
    "reduce_distances",
    "spmv",
    "sssp",
    "unpatch_sklearn",
    "wiener_index",
    "within",
    "write",
]


def _import(name: str) -> Any:
    """Import a public name at its first use."""
    module = _MODULES.get(name)
    if module == "kleene":
        return import_module(f"kleene.{name}")
    if module is not None:
        found = getattr(import_module(module), name)
        if isinstance(found, FunctionType):
            from kleene.system.hints import hinted

            found = hinted(found)
            found.__module__ = __name__  # where pickles find it
        globals()[name] = found
        return found
    if name == "__version__":
        from importlib.metadata import version

        return version("kleene")
    from kleene.system.hints import missing_attribute

    raise AttributeError(missing_attribute(name, __all__))


if not TYPE_CHECKING:  # checkers of types report names that are not here
    __getattr__ = _import


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
