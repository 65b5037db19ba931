"""Sparse matrix-vector products over semirings on a GPU; kernels in ``kernels/spmv.cu``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cuda.graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.load_balance import arc_grid
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Argument, Array, Kernel, ceil_div, ctype
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import spmv as tuning
from kleene.backends.task import SpmvTask

__all__ = ["multiplier", "spmv"]

HostArray = NDArray[Any]

_ALGEBRAS = {
    "plus_times": constant("spmv", "kPlusTimes"),
    "min_plus": constant("spmv", "kMinPlus"),
    "boolean": constant("spmv", "kBoolean"),
    "max_min": constant("spmv", "kMaxMin"),
    "max_times": constant("spmv", "kMaxTimes"),
}


def spmv(task: SpmvTask) -> HostArray:
    """Return x A; weights are converted to the type of ``x``."""
    device, graph, x = open_device(task.device), task.graph, task.x
    if graph.n == 0:
        return x.copy()
    there, y = device.upload(x, "x"), device.empty(graph.n, x.dtype, "y")
    multiplier(get_device_graph(graph, device), x.dtype, task.semiring, task.form)(there, y)
    return device.download(y)


def multiplier(
    g: DeviceGraph, dtype: np.dtype[Any], algebra: str, form: str
) -> Callable[[Array, Array], None]:
    """Return a function of device arrays x and y that launches y = x A asynchronously.

    The arrays of the graph are on the device when this returns.
    """
    kernels = g.device.kernels("spmv", KL_TYPE=ctype(dtype))
    init, kernel, number = kernels["spmv_init"], kernels[f"spmv_{form}"], _ALGEBRAS[algebra]
    vertices = ((ceil_div(g.n, tuning.THREADS),), (tuning.THREADS,))
    weighted = g.weighted and algebra != "boolean"  # else every arc has weight 1
    grid, block, arcs, sizes = _FORMS[form](kernel, g, dtype, weighted)

    def multiply(x: Array, y: Array) -> None:
        init.launch(*vertices, (number, g.n, y))
        if g.m:
            kernel.launch(grid, block, (number, *arcs, x, *sizes, y))

    return multiply


_Arguments = tuple[Argument, ...]
_Launch = tuple[tuple[int, ...], tuple[int], _Arguments, _Arguments]


def _csr(kernel: Kernel, g: DeviceGraph, dtype: np.dtype[Any], weighted: bool) -> _Launch:
    weights = g.lengths(dtype) if weighted else None
    return *arc_grid(kernel, g.m), (*g.csr, weights), (g.n,)


def _csc(kernel: Kernel, g: DeviceGraph, dtype: np.dtype[Any], weighted: bool) -> _Launch:
    weights = g.lengths(dtype, incoming=True) if weighted else None
    return *arc_grid(kernel, g.m), (*g.csc, weights), (g.n,)


def _coo(kernel: Kernel, g: DeviceGraph, dtype: np.dtype[Any], weighted: bool) -> _Launch:
    weights = g.lengths(dtype) if weighted else None
    blocks = min(
        ceil_div(g.m, tuning.THREADS), tuning.COO_BLOCKS * kernel.resident_blocks(tuning.THREADS)
    )
    return (blocks,), (tuning.THREADS,), (g.tails, g.csr.neighbors, weights), (g.m,)


def _ell(kernel: Kernel, g: DeviceGraph, dtype: np.dtype[Any], weighted: bool) -> _Launch:
    weights = g.ell_lengths(dtype) if weighted else None
    blocks = (ceil_div(g.n, tuning.THREADS),)
    return blocks, (tuning.THREADS,), (g.ell, weights), (g.n, g.ell.shape[0])


def _dense(kernel: Kernel, g: DeviceGraph, dtype: np.dtype[Any], weighted: bool) -> _Launch:
    blocks = (ceil_div(g.n, tuning.THREADS), ceil_div(g.n, tuning.DENSE_ROWS))
    return blocks, (tuning.THREADS,), (g.matrix(dtype, weighted),), (g.n, tuning.DENSE_ROWS)


_FORMS = {"csr": _csr, "csc": _csc, "coo": _coo, "ell": _ell, "dense": _dense}
