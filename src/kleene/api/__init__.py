"""The calls that users make: arguments are checked here, once, then planned and run."""

from kleene.api.apsp import apsp
from kleene.api.arguments import Out, Progress, Vertices
from kleene.api.bfs import bfs
from kleene.api.ceiling import relaxation_ceiling
from kleene.api.close_distances import close_distances
from kleene.api.closure import closure
from kleene.api.components import components
from kleene.api.devices import (
    DeviceMemory,
    device_facts,
    device_memory,
    kernel_digest,
    reset_device_peak,
    spmv_kernel_timer,
)
from kleene.api.distance_encodings import distance_encodings
from kleene.api.explain import explain
from kleene.api.geodesic_distances import geodesic_distances
from kleene.api.isochrones import isochrones
from kleene.api.k_shortest import k_shortest
from kleene.api.nearest import nearest
from kleene.api.spmv import spmv
from kleene.api.sssp import sssp
from kleene.api.turns import TurnGraph
from kleene.api.within import within
from kleene.registry import methods

__all__ = [
    "DeviceMemory",
    "Out",
    "Progress",
    "TurnGraph",
    "Vertices",
    "apsp",
    "bfs",
    "close_distances",
    "closure",
    "components",
    "device_facts",
    "device_memory",
    "distance_encodings",
    "explain",
    "geodesic_distances",
    "isochrones",
    "k_shortest",
    "kernel_digest",
    "methods",
    "nearest",
    "relaxation_ceiling",
    "reset_device_peak",
    "spmv",
    "spmv_kernel_timer",
    "sssp",
    "within",
]
