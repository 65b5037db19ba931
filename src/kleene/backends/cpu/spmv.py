"""Matrix-vector products on the CPU; the loops are in ``native/core/spmv``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import SpmvTask
from kleene.graph import Graph
from kleene.graph.forms import CSR, csr_to_dense
from kleene.graph.no_path import no_path

__all__ = ["spmv"]

Array = NDArray[Any]


def spmv(task: SpmvTask) -> Array:
    """Return x A; ``x`` has the type of the answer, and weights are converted to it."""
    g, x, semiring, form = task.graph, task.x, task.semiring, task.form
    dtype = x.dtype
    offsets, tails, ids, weights = None, None, g.neighbors, g.weights
    if form == "csr":
        offsets = g.offsets
    elif form == "csc":
        offsets, ids, weights = g.csc
    elif form == "coo":
        tails, ids, weights = g.coo
    elif form == "ell":
        ids, weights = g.ell
    if semiring == "boolean":  # weights do not matter
        weights = None
    if form == "dense":
        weights = _matrix(g, weights, dtype)
    y = np.empty(g.n, dtype=dtype)
    _native.spmv(
        semiring,
        form,
        offsets,
        ids.reshape(-1),
        tails,
        None if weights is None else weights.astype(dtype, copy=False).reshape(-1),
        no_path(dtype),
        x,
        y,
        task.threads,
    )
    return y


def _matrix(g: Graph, weights: Array | None, dtype: np.dtype[Any]) -> Array:
    """Return the dense form in this type: the graph's own where it serves."""
    own = np.dtype(np.int32) if g.weights is None else g.weights.dtype
    if weights is g.weights and own == dtype:
        return g.dense
    g.require_dense(dtype)
    values = None if weights is None else weights.astype(dtype, copy=False)
    return csr_to_dense(CSR(g.offsets, g.neighbors, values), dtype, no_path(dtype), 0)
