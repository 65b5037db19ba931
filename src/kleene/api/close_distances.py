"""Shortest distances in a matrix that is already there, in host memory or on a GPU."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from kleene.api.solve import apsp
from kleene.backends.task import Progress
from kleene.errors import RequestError
from kleene.graph import Graph

__all__ = ["close_distances"]

Matrix = TypeVar("Matrix")

_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


def close_distances(
    lengths: Matrix, *, threads: int | None = None, progress: Progress | None = None
) -> Matrix:
    """Turn a matrix of arc lengths into shortest distances, in place, where it is.

    An array of NumPy is worked on by the CPU. An array on a GPU (of CuPy, PyTorch or any library
    with ``__cuda_array_interface__``) stays there: nothing but a few numbers crosses the bus.

    Parameters
    ----------
    lengths : array of float32 or float64, n x n
        Entry (i, j) is the length of the arc from i to j, ``inf`` where there is none. Lengths may
        be negative; the diagonal counts for nothing, unless it is negative. On a GPU nobody looks
        for NaN, which stays where it is.
    threads : int, optional
        How many threads the CPU may use.
    progress : function, optional
        Is told (done, total) now and then.

    Returns
    -------
    array
        ``lengths`` itself, with zeros in its diagonal.

    Raises
    ------
    NegativeCycleError
        There is a cycle of negative length; ``lengths`` is then as it was.

    Examples
    --------
    >>> import kleene as kl, numpy as np
    >>> d = np.array([[0, 4, 9], [np.inf, 0, 3], [np.inf, np.inf, 0]])
    >>> kl.close_distances(d).tolist()
    [[0.0, 4.0, 7.0], [inf, 0.0, 3.0], [inf, inf, 0.0]]
    """
    if hasattr(lengths, "__cuda_array_interface__"):
        _close_on_gpu(lengths, progress)
    elif isinstance(lengths, np.ndarray):
        _require_matrix(lengths.shape, lengths.dtype)
        if not lengths.flags.writeable:
            raise RequestError("lengths is read-only, and the distances would be written there")
        _close_on_host(lengths, threads, progress)
    else:
        raise RequestError(
            f"lengths must be an array of NumPy, CuPy or PyTorch, not {type(lengths).__name__}"
        )
    return lengths


def _require_matrix(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise RequestError(f"lengths must be a square matrix, not of shape {shape}")
    if dtype not in _TYPES:
        raise RequestError(f"lengths must be float32 or float64, not {dtype}")


def _close_on_host(
    lengths: np.ndarray[Any, Any], threads: int | None, progress: Progress | None
) -> None:
    g = Graph.from_dense(lengths)
    told: Any = progress
    found = apsp(
        g, method="tiled", device="cpu", predecessors=False, dtype=lengths.dtype,
        threads=threads, progress=told,
    )  # fmt: skip
    lengths[...] = found.distances


def _close_on_gpu(lengths: Any, progress: Progress | None) -> None:
    from kleene.backends.cuda.closure_tiled import close_in_place
    from kleene.backends.cuda.runtime.device import Array, open_device

    array = Array.of(lengths)
    _require_matrix(array.shape, array.dtype)
    if array.shape[0] and array.strides[1] != array.dtype.itemsize:
        raise RequestError("the rows of lengths must be contiguous on a GPU")
    device = open_device("cuda")
    if not close_in_place(device, array, progress or (lambda done, total: None)):
        # The CPU names the cycle, or finds that it is negative by rounding only.
        lost = Graph.from_dense(device.download(array))
        found = apsp(lost, device="cpu", predecessors=False, dtype=array.dtype)
        device.copy(array, np.ascontiguousarray(found.distances))
        device.synchronize()
