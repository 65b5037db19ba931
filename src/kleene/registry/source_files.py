"""Which file has the algorithm of a method: its kernel, its C++, or its Python.

A name that begins with ``native/`` is that of a file of the repository, every other one is in the
package, also where it is installed.
"""

from __future__ import annotations

__all__ = ["source_file"]

_BACKENDS = "kleene.backends."

#: Of functions of the native core and of kernels, by the function of the backend that calls them;
#: "native/core/<module>/<function>.cpp" where nothing is said.
_FILES = {
    "cpu.bfs:spmv": "native/core/bfs/sweep.cpp",
    "cpu.bfs:edge": "native/core/bfs/sweep.cpp",
    "cpu.bfs:vertex_push": "native/core/bfs/sweep.cpp",
    "cpu.bfs:vertex_pull": "native/core/bfs/sweep.cpp",
    "cpu.bfs:privatized": "native/core/bfs/frontier.cpp",
    "cpu.sssp:batched": "native/core/sssp/lane_search.hpp",
    "cpu.sssp:delta_stepping": "native/core/sssp/delta_stepping.hpp",
    "cpu.sssp:johnson": "backends/common/johnson.py",
    "cpu.closure:rkleene_quadtree": "native/core/closure/rkleene.cpp",
    "cpu.prepared:rows": "native/core/prepared/sweeps/sweep.cpp",
    "cpu.prepared:nearest": "native/core/prepared/near/nearest.cpp",
    "cpu.near:yen": "native/core/sssp/k_shortest_paths.cpp",
    "cpu.near:bounded_dijkstra": "native/core/sssp/bounded_search.cpp",
    "cpu.near:k_labels": "native/core/sssp/k_nearest.cpp",
    "cpu.distance_encodings:batched": "native/core/apsp/distance_encodings.cpp",
    "cpu.components:afforest": "native/core/components/weak.cpp",
    "cpu.components:forward_backward": "native/core/components/strong.cpp",
    "cpu.betweenness:lanes": "native/core/measures/betweenness_lanes.cpp",
    "cpu.betweenness:dijkstra": "native/core/measures/weighted_brandes.cpp",
    "cpu.betweenness:sampled": "native/core/measures/kadabra.cpp",
    "cpu.loads:searches": "native/core/measures/loads.cpp",
    "cpu.loads:prepared": "native/core/prepared/pairs/flows.cpp",
    "cpu.product:tiled": "native/core/closure/product.cpp",
    "cuda.bfs.multi": "bfs/bfs_multi.cu",
    "cuda.bfs.direction": "bfs/bfs_direction.cu",
    "cuda.sssp.near_far": "sssp/sssp_near_far.cu",
    "cuda.sssp.batched": "sssp/sssp_batched.cu",
    "cuda.sssp.bellman_ford": "sssp/sssp_bellman_ford.cu",
    "cuda.closure.naive": "closure/apsp_naive.cu",
    "cuda.closure.tiled": "closure/closure_tiled.cu",
    "cuda.product": "closure/closure_tiled.cu",
    "cuda.prepared.batches": "prepared/prepared_trees.cu",
    "cuda.betweenness.hops": "betweenness/betweenness_rounds.cu",
    "cuda.betweenness.weighted": "betweenness/betweenness_tight.cu",
    "cuda.spmv": "spmv.cu",
    "cuda.classic.sweeps": "classic/bfs_sweeps.cu",
    "cuda.classic.frontiers": "classic/bfs_frontiers.cu",
    "cuda.classic.scan": "classic/bfs_scan.cu",
    "cuda.classic.llp": "classic/sssp_llp.cu",
    "cuda.classic.products": "classic/apsp_products.cu",
    "cuda.classic.blocked": "classic/apsp_blocked_shared.cu",
    "cuda.classic.blocked:blocked_multi": "classic/apsp_blocked_multi.cu",
    "cuda.classic.blocked:blocked_1_0": "classic/apsp_blocked_global.cu",
    "cuda.classic.blocked:blocked_1_1": "classic/apsp_blocked_global.cu",
    "cuda.classic.blocked:blocked_1_2": "classic/apsp_blocked_global.cu",
}


def source_file(entry: str) -> str:
    """Return the file of a method, by its ``"module:function"``.

    Examples
    --------
    >>> from kleene.registry.source_files import source_file
    >>> source_file("kleene.backends.cpu.sssp:dijkstra")
    'native/core/sssp/dijkstra.cpp'
    >>> source_file("kleene.backends.reference.sssp:dijkstra")
    'backends/reference/sssp.py'
    """
    name = entry.removeprefix(_BACKENDS)
    module, _, function = name.partition(":")
    backend, _, problem = module.partition(".")
    if backend == "cuda":
        return f"backends/cuda/kernels/{_FILES.get(name, _FILES.get(module, ''))}"
    if backend == "cpu":
        known = _FILES.get(name, _FILES.get(module))
        return known or f"native/core/{problem}/{function}.cpp"
    return f"backends/{backend}/{problem}.py"
