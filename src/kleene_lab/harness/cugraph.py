"""RAPIDS cuGraph through pylibcugraph, its layer without data frames: a peer on the GPU.

The graph is made on the GPU before, renumbered by degree as cuGraph prefers. A call returns arrays
on the GPU, of the vertices that have arcs. https://docs.rapids.ai/api/cugraph
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.harness.peers import Peer, PeerCall

__all__ = ["CuGraph", "CuGraphOnDevice"]

Array = NDArray[Any]

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
