"""The libraries that Kleene is measured beside, each in the way its own manual recommends.

A peer is made from a graph, outside the clock. Its methods are named by problem and work:
``bfs_lengths``, ``sssp_paths``; a method returns the call to time and a function that reads the
distances from what the call returned, infinity for "no path". *Lengths* are distances alone,
*paths* are predecessors too (or instead, where a library offers nothing else). A peer without the
method does not do that work; one whose ``most`` is exceeded would take too long, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import cores

__all__ = ["NOT_INSTALLED", "PEERS", "CuGraph", "CuGraphOnDevice", "Peer", "PeerCall"]

Array = NDArray[Any]

NOT_INSTALLED = "not installed; pip install 'kleene[peers]'"


class PeerCall(NamedTuple):
    """What is timed, and how to read distances from its answer."""

    run: Callable[[], Any]
    distances: Callable[[Any], Array]


class Peer:
    """One library's form of one graph."""

    name: str
    module: str
    most: ClassVar[dict[str, float]] = {}  # arcs looked at (arcs times sources), by problem
    matrices_only: ClassVar[bool] = False  # all pairs of dense graphs alone
    taken_over: ClassVar[float]  # seconds for an arc to be put into its form, about
    look: ClassVar[dict[str, float]] = {"bfs": 1e-7, "sssp": 1e-7, "apsp": 1e-9}  # and to be seen

    def __init__(self, g: kl.Graph) -> None:
        self.g = g

    @classmethod
    def installed(cls) -> bool:
        """Is the library there?"""
        return find_spec(cls.module) is not None

    @classmethod
    def refuses(cls, problem: str, g: kl.Graph) -> str | None:
        """Say why this library does not take part, or return None."""
        if not cls.installed():
            return NOT_INSTALLED
        looks = g.m * (g.n if problem == "apsp" else 1)
        too_many = looks > cls.most.get(problem, np.inf)
        if problem == "apsp" and cls.matrices_only and not is_dense(g):
            too_many = True
        return "would take too long" if too_many else None

    @property
    def weights(self) -> Array:
        """The weights as float64; ones, if there are none."""
        weights = self.g.weights
        return np.ones(self.g.m) if weights is None else weights.astype(np.float64)


def is_dense(g: kl.Graph) -> bool:
    """Is it a matrix rather than a list of arcs?"""
    return 4 * g.m > g.n * g.n


class SciPy(Peer):
    """One core."""

    name, module = "SciPy", "scipy"
    taken_over: ClassVar[float] = 2e-7

    def __init__(self, g: kl.Graph) -> None:
        from scipy.sparse import csgraph

        super().__init__(g)
        self.csgraph = csgraph
        self.matrix = g.reweight(arcs=self.weights).to_scipy()
        self.full = np.where(np.isinf(g.dense), 0, g.dense) if is_dense(g) else None

    def bfs_paths(self, source: int) -> PeerCall:
        run = partial(self.csgraph.breadth_first_order, self.matrix, source)
        return PeerCall(run, lambda results: _levels(results[0], results[1], source))

    def sssp_lengths(self, source: int) -> PeerCall:
        return PeerCall(partial(self.csgraph.dijkstra, self.matrix, indices=source), np.asarray)

    def sssp_paths(self, source: int) -> PeerCall:
        search = partial(self.csgraph.dijkstra, self.matrix, indices=source)
        return PeerCall(partial(search, return_predecessors=True), lambda results: results[0])

    def apsp_lengths(self) -> PeerCall:
        return PeerCall(self._all_pairs(), np.asarray)

    def apsp_paths(self) -> PeerCall:
        return PeerCall(self._all_pairs(return_predecessors=True), lambda results: results[0])

    def _all_pairs(self, **options: Any) -> Callable[[], Any]:
        if self.full is not None:
            return partial(self.csgraph.floyd_warshall, self.full, **options)
        unweighted = self.g.weights is None
        return partial(self.csgraph.dijkstra, self.matrix, unweighted=unweighted, **options)


def _levels(order: Array, predecessors: Array, source: int) -> Array:
    """Count hops from a breadth-first tree; vertices come in order, so predecessors come before."""
    levels = [float("inf")] * len(predecessors)
    levels[source] = 0.0
    above = predecessors.tolist()
    for v in order[1:].tolist():
        levels[v] = levels[above[v]] + 1
    return np.array(levels)


class IGraph(Peer):
    """One core."""

    name, module = "igraph", "igraph"
    taken_over: ClassVar[float] = 1.5e-6
    most: ClassVar[dict[str, float]] = {"apsp": 1e9}

    def __init__(self, g: kl.Graph) -> None:
        import igraph

        super().__init__(g)
        ends = np.column_stack([g.coo.sources, g.coo.targets]).astype(np.int64)
        self.graph = igraph.Graph(n=g.n, edges=ends, directed=True)
        self.graph.es["weight"] = self.weights.tolist()

    def bfs_lengths(self, source: int) -> PeerCall:
        return PeerCall(partial(self.graph.distances, source), lambda rows: np.array(rows[0]))

    def sssp_lengths(self, source: int) -> PeerCall:
        run = partial(self.graph.distances, source, weights="weight")
        return PeerCall(run, lambda rows: np.array(rows[0]))

    def apsp_lengths(self) -> PeerCall:
        weights = None if self.g.weights is None else "weight"
        return PeerCall(partial(self.graph.distances, weights=weights), np.array)


class NetworKit(Peer):
    """Searches run on one core, all pairs on all of them."""

    name, module = "NetworKit", "networkit"
    taken_over: ClassVar[float] = 3e-7
    most: ClassVar[dict[str, float]] = {"apsp": 1e9}

    def __init__(self, g: kl.Graph) -> None:
        import networkit

        super().__init__(g)
        self.nk = networkit
        networkit.setNumberOfThreads(cores())
        # It takes ids for 64 bits wide without looking: others crash it (11.2).
        ends = tuple(ids.astype(np.uint64) for ids in (g.coo.sources, g.coo.targets))
        weighted = g.weights is not None
        self.graph = networkit.GraphFromCoo(
            (self.weights, ends), n=g.n, weighted=weighted, directed=True
        )

    def bfs_lengths(self, source: int) -> PeerCall:
        search = partial(self.nk.distance.BFS, self.graph, source, storePaths=False)
        return PeerCall(lambda: search().run(), self._read)

    def sssp_lengths(self, source: int) -> PeerCall:
        search = partial(self.nk.distance.Dijkstra, self.graph, source, storePaths=False)
        return PeerCall(lambda: search().run(), self._read)

    def apsp_lengths(self) -> PeerCall:
        return PeerCall(lambda: self.nk.distance.APSP(self.graph).run(), self._read)

    @staticmethod
    def _read(search: Any) -> Array:
        results = np.array(search.getDistances())
        distances: Array = np.where(results > 1e300, np.inf, results)
        return distances


class NetworkX(Peer):
    """Plain Python: its graph of more arcs than this takes minutes to make."""

    name, module = "NetworkX", "networkx"
    taken_over: ClassVar[float] = 5e-6
    look: ClassVar[dict[str, float]] = {"bfs": 1e-6, "sssp": 1e-6, "apsp": 4e-9}
    most: ClassVar[dict[str, float]] = {"bfs": 1e6, "sssp": 1e6, "apsp": 2e8}
    matrices_only: ClassVar[bool] = True

    def __init__(self, g: kl.Graph) -> None:
        import networkx

        super().__init__(g)
        self.nx = networkx
        self.graph = networkx.from_scipy_sparse_array(
            g.reweight(arcs=self.weights).to_scipy(), create_using=networkx.DiGraph
        )

    def bfs_lengths(self, source: int) -> PeerCall:
        search = self.nx.single_source_shortest_path_length
        return PeerCall(partial(search, self.graph, source), self._read)

    def sssp_lengths(self, source: int) -> PeerCall:
        search = self.nx.single_source_dijkstra_path_length
        return PeerCall(partial(search, self.graph, source), self._read)

    def apsp_lengths(self) -> PeerCall:
        return PeerCall(partial(self.nx.floyd_warshall_numpy, self.graph), np.asarray)

    def _read(self, results: dict[int, Any]) -> Array:
        distances = np.full(self.g.n, np.inf)
        distances[list(results)] = list(results.values())
        return distances


class GraphBLAS(Peer):
    """SuiteSparse through python-graphblas: a search is a product of vector and matrix a round."""

    name, module = "GraphBLAS", "graphblas"
    taken_over: ClassVar[float] = 5e-8
    look: ClassVar[dict[str, float]] = {"bfs": 1e-7, "sssp": 1e-7, "apsp": 3e-8}
    most: ClassVar[dict[str, float]] = {"apsp": 5e7}
    matrices_only: ClassVar[bool] = True

    def __init__(self, g: kl.Graph) -> None:
        import graphblas

        super().__init__(g)
        self.gb = graphblas
        graphblas.ss.config["nthreads"] = cores()
        self.matrix = graphblas.Matrix.from_csr(
            g.offsets.astype(np.uint64), g.neighbors.astype(np.uint64), self.weights, ncols=g.n
        )

    @classmethod
    def refuses(cls, problem: str, g: kl.Graph) -> str | None:
        """Add that a round for each step along roads or grids is too many."""
        thin = problem == "sssp" and g.m < 6 * g.n and g.n > 1e5
        return super().refuses(problem, g) or ("would take too long" if thin else None)

    def bfs_lengths(self, source: int) -> PeerCall:
        return PeerCall(partial(self._bfs, source), self._read)

    def _bfs(self, source: int) -> Any:
        """Give each level its number; the next is what it leads to and has no number yet."""
        gb, n = self.gb, self.g.n
        levels, frontier = gb.Vector(int, n), gb.Vector(bool, n)
        frontier[source] = True
        depth = 0
        while frontier.nvals:
            levels(frontier.S) << depth
            frontier(~levels.S, replace=True) << gb.semiring.any_pair(frontier @ self.matrix)
            depth += 1
        return levels

    def sssp_lengths(self, source: int) -> PeerCall:
        return PeerCall(partial(self._sssp, source), self._read)

    def _sssp(self, source: int) -> Any:
        """Bellman-Ford: extend the distances that improved, until none do."""
        gb, n = self.gb, self.g.n
        distances, frontier = gb.Vector(float, n), gb.Vector(float, n)
        distances[source] = frontier[source] = 0.0
        while frontier.nvals:
            step = gb.semiring.min_plus(frontier @ self.matrix).new()
            no_better = gb.binary.ge(step & distances).new()
            frontier(~no_better.V, replace=True) << step
            distances(gb.binary.min) << frontier
        return distances

    def apsp_lengths(self) -> PeerCall:
        return PeerCall(self._apsp, lambda results: results.to_dense(np.inf))

    def _apsp(self) -> Any:
        """Square the matrix until paths of n arcs have been seen."""
        gb, n = self.gb, self.g.n
        distances = self.matrix.dup()
        distances.setdiag(0.0)
        for _ in range(n.bit_length()):
            distances(gb.binary.min) << gb.semiring.min_plus(distances @ distances)
        return distances

    @staticmethod
    def _read(results: Any) -> Array:
        return np.asarray(results.to_dense(np.inf, dtype=float))


PEERS: tuple[type[Peer], ...] = (SciPy, IGraph, NetworKit, NetworkX, GraphBLAS)


# ---- RAPIDS cuGraph through pylibcugraph ---------------------------------------------------------
# pylibcugraph is the layer without data frames. The graph is made on the GPU before, renumbered by
# degree as cuGraph prefers. A call returns arrays on the GPU, of the vertices that have arcs.
# https://docs.rapids.ai/api/cugraph


NOT_INSTALLED = "not installed; pip install pylibcugraph-cu13 cupy-cuda13x (or cu12, cuda12x)"

_NO_LIMIT = -1  # of the depth


class CuGraph(Peer):
    """Distances on the host, as Kleene's."""

    name, module = "pylibcugraph", "pylibcugraph"
    taken_over: ClassVar[float] = 5e-8

    def __init__(self, g: kl.Graph) -> None:
        import cupy
        import pylibcugraph

        super().__init__(g)
        self.cupy, self.library = cupy, pylibcugraph
        self.symmetric = bool(g.stats.symmetric)
        self.handle = pylibcugraph.ResourceHandle()
        ends = [cupy.asarray(ids.astype(np.int32)) for ids in (g.coo.sources, g.coo.targets)]
        properties = pylibcugraph.GraphProperties(is_symmetric=self.symmetric, is_multigraph=False)
        self.graph = pylibcugraph.SGGraph(
            self.handle, properties, *ends, cupy.asarray(self.weights.astype(np.float32)),
            store_transposed=False, renumber=True, do_expensive_check=False,
        )  # fmt: skip

    @classmethod
    def installed(cls) -> bool:
        """Are the library and CuPy there?"""
        return all(find_spec(module) is not None for module in (cls.module, "cupy"))

    def bfs_lengths(self, source: int) -> PeerCall:
        return PeerCall(partial(self._bfs, source), self._read)

    def sssp_lengths(self, source: int) -> PeerCall:
        return PeerCall(partial(self._sssp, source), self._read)

    def _bfs(self, source: int) -> Any:
        start = self.cupy.asarray([source], dtype=np.int32)  # the call may change it
        distances, _, vertices = self.library.bfs(
            self.handle, self.graph, start, self.symmetric, _NO_LIMIT, False, False
        )
        return self._finish(vertices, distances)

    def _sssp(self, source: int) -> Any:
        vertices, distances, _ = self.library.sssp(
            self.handle, self.graph, source, float(np.finfo(np.float32).max), True, False
        )
        return self._finish(vertices, distances)

    def _finish(self, vertices: Any, distances: Any) -> tuple[Any, Any]:
        return vertices.get(), distances.get()

    def _read(self, answer: tuple[Any, Any]) -> Array:
        """Return distances by vertex; the largest value of a type means "no path"."""
        vertices, found = (array.get() if hasattr(array, "get") else array for array in answer)
        limits = np.finfo(found.dtype) if found.dtype.kind == "f" else np.iinfo(found.dtype)
        distances = np.full(self.g.n, np.inf)
        distances[vertices] = np.where(found == limits.max, np.inf, found)
        return distances


class CuGraphOnDevice(CuGraph):
    """Distances stay on the GPU."""

    name = "pylibcugraph, answer on the GPU"

    def _finish(self, vertices: Any, distances: Any) -> tuple[Any, Any]:
        self.cupy.cuda.runtime.deviceSynchronize()
        return vertices, distances
