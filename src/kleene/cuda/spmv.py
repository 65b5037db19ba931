"""Matrix-vector products on a GPU; kernels in ``kernels/spmv.cu``."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kleene.cuda.frontiers import arc_grid
from kleene.cuda.resident import DeviceGraph, on_device
from kleene.cuda.runtime import Argument, Array, Kernel, ceil_div, ctype, open_device
from kleene.graph import Graph

__all__ = ["spmv"]

HostArray = NDArray[Any]

_ALGEBRAS = ("plus_times", "min_plus", "boolean", "max_min", "max_times")  # as in the kernels
_THREADS = 256
_ROWS = 64  # of a dense matrix, for a thread


def spmv(graph: Graph, x: HostArray, algebra: str, form: str, kind: str) -> HostArray:
    """Return x A; ``x`` has the type of the answer, and weights are converted to it."""
    device = open_device(kind)
    if graph.n == 0:
        return x.copy()
    number, there = _ALGEBRAS.index(algebra), on_device(graph, device)
    kernels = device.kernels("spmv", KL_TYPE=ctype(x.dtype))
    vector, y = device.upload(x, "x"), device.empty(graph.n, x.dtype, "y")
    kernels["spmv_begin"].launch((ceil_div(graph.n, _THREADS),), (_THREADS,), (number, graph.n, y))
    if graph.m:
        kernel = kernels[f"spmv_{form}"]
        weighted = algebra != "boolean" and graph.weights is not None
        grid, block, args = _FORMS[form](kernel, there, vector, weighted)
        kernel.launch(grid, block, (number, *args, y))
    return device.download(y)


_Launch = tuple[tuple[int, ...], tuple[int], tuple[Argument, ...]]


def _csr(kernel: Kernel, g: DeviceGraph, x: Array, weighted: bool) -> _Launch:
    weights = g.lengths(x.dtype) if weighted else None
    return *arc_grid(kernel, g.m), (*g.csr, weights, x, g.n)


def _csc(kernel: Kernel, g: DeviceGraph, x: Array, weighted: bool) -> _Launch:
    weights = g.lengths(x.dtype, incoming=True) if weighted else None
    return *arc_grid(kernel, g.m), (*g.csc, weights, x, g.n)


def _coo(kernel: Kernel, g: DeviceGraph, x: Array, weighted: bool) -> _Launch:
    weights = g.lengths(x.dtype) if weighted else None
    blocks = min(ceil_div(g.m, _THREADS), 4 * kernel.resident_blocks(_THREADS))
    return (blocks,), (_THREADS,), (g.tails, g.csr.neighbors, weights, x, g.m)


def _ell(kernel: Kernel, g: DeviceGraph, x: Array, weighted: bool) -> _Launch:
    weights = g.ell_lengths(x.dtype) if weighted else None
    blocks = (ceil_div(g.n, _THREADS),)
    return blocks, (_THREADS,), (g.ell, weights, x, g.n, g.ell.shape[0])


def _dense(kernel: Kernel, g: DeviceGraph, x: Array, weighted: bool) -> _Launch:
    blocks = (ceil_div(g.n, _THREADS), ceil_div(g.n, _ROWS))
    return blocks, (_THREADS,), (g.matrix(x.dtype, weighted), x, g.n, _ROWS)


_FORMS = {"csr": _csr, "csc": _csc, "coo": _coo, "ell": _ell, "dense": _dense}
