"""Shortest distances in a matrix that exists already, in host memory or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.calls.arguments import check_call, make_ask
from kleene.calls.execution import solve
from kleene.engine.planned import plan_value
from kleene.engine.value import run_in_place
from kleene.errors import Code, NegativeCycleError, RequestError
from kleene.graph import Graph
from kleene.graph.checks import is_masked
from kleene.graph.dense import dense_arcs
from kleene.planning.facts import Facts
from kleene.results.result import Result

__all__ = ["close_distances"]

Matrix = TypeVar("Matrix")
Array = NDArray[Any]
Progress = Callable[[int, int], object]

_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


def close_distances(
    lengths: Matrix, *, threads: int | None = None, progress: Progress | None = None
) -> Matrix:
    """Turn a matrix of arc lengths into shortest distances, in place, on its device.

    A NumPy array is worked on by the CPU, without a second matrix unless some length is negative.
    An array on a GPU (of CuPy, PyTorch or any library with ``__cuda_array_interface__``) stays
    there: only a few numbers cross the bus.

    Parameters
    ----------
    lengths : array of float32 or float64, n x n
        Entry (i, j) is the length of the arc from i to j, ``inf`` where there is none. Lengths may
        be negative; the diagonal is ignored, unless it is negative. On a GPU, NaN is not checked
        for, and stays where it is; sums beyond the type become infinite there, and are refused
        on the CPU.
    threads : int, optional
        How many threads the CPU may use.
    progress : function, optional
        Called with (done, total) now and then.

    Returns
    -------
    array
        ``lengths`` itself, with zeros on its diagonal.

    Raises
    ------
    NegativeCycleError
        There is a cycle of negative length; ``lengths`` is then unchanged.

    Examples
    --------
    >>> import kleene as kl, numpy as np
    >>> d = np.array([[0, 4, 9], [np.inf, 0, 3], [np.inf, np.inf, 0]])
    >>> kl.close_distances(d).tolist()
    [[0.0, 4.0, 7.0], [inf, 0.0, 3.0], [inf, inf, 0.0]]
    """
    if hasattr(lengths, "__cuda_array_interface__"):
        _close_on_gpu(lengths, progress)
    elif is_masked(lengths):
        raise RequestError("lengths is a masked array", advice=["pass lengths.filled(numpy.inf)"])
    elif isinstance(lengths, np.ndarray):
        _require_matrix(lengths.shape, lengths.dtype)
        if not lengths.flags.writeable:
            raise RequestError(
                "lengths is read-only, but the distances overwrite it: pass lengths.copy()"
            )
        _close_on_host(lengths, threads, progress)
    else:
        raise RequestError(
            Code("lengths"),
            f" must be an array of NumPy, CuPy or PyTorch, not {type(lengths).__name__}",
        )
    return lengths


def _require_matrix(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise RequestError(Code("lengths"), f" must be a square matrix, not of shape {shape}")
    if dtype not in _TYPES:
        raise RequestError(Code("lengths"), f" must be float32 or float64, not {dtype}")


def _close_on_host(lengths: Array, threads: int | None, progress: Progress | None) -> None:
    out = lengths if lengths.flags.c_contiguous and lengths.dtype.isnative else None
    own_diagonal = lengths.diagonal().copy()
    try:
        arcs = dense_arcs(lengths, np.inf, out)
        if out is not None and arcs.min_weight < 0:
            # A failed closure overwrites the matrix, so keep one to name the cycle from.
            arcs = dense_arcs(lengths, np.inf)
        found = _apsp(
            Graph._from_matrix(arcs), method="tiled", dtype=lengths.dtype, threads=threads,
            progress=progress, out=out,
        )  # fmt: skip
    except BaseException as error:
        if isinstance(error, NegativeCycleError):
            np.copyto(lengths, arcs.matrix)
        np.fill_diagonal(lengths, own_diagonal)
        raise
    if out is None:
        lengths[...] = found.distances


def _apsp(graph: Graph, **options: Any) -> Result:
    """Return the distances of all pairs on the CPU; advice names no keywords of :func:`apsp`."""
    call = check_call("apsp", graph, device="cpu", predecessors=False, **options)
    return solve(call._replace(ask=call.ask._replace(keywords=())))


def _unseen(done: int, total: int) -> None:
    """Take progress that the caller does not ask for."""


def _close_on_gpu(lengths: Any, progress: Progress | None) -> None:
    from kleene.backends.cuda.runtime.device import open_device
    from kleene.backends.cuda.runtime.interface import Array as DeviceArray

    array = DeviceArray.of(lengths)
    _require_matrix(array.shape, array.dtype)
    if array.shape[0] and array.strides[1] != array.dtype.itemsize:
        raise RequestError("the rows of lengths must be contiguous on a GPU")
    n = array.shape[0]
    facts = Facts(n, n * n, str(array.dtype), -np.inf, np.inf, 0, device="cuda")  # signs unknown
    ask = make_ask(
        "closure", semiring="min_plus", method="tiled", device="cuda", predecessors=False, out=True
    )
    plan = plan_value(facts, ask._replace(keywords=()))
    device = open_device(plan.device)
    array = DeviceArray.of(lengths, device)
    others = [each for name in plan.devices if (each := open_device(name)) is not device]
    if not run_in_place(plan, device, array, progress=progress or _unseen, others=others):
        # The CPU names the cycle, or finds that it is negative by rounding only.
        lost = Graph.from_dense(device.download(array), null_value=np.inf)
        found = _apsp(lost, dtype=array.dtype)
        device.copy(array, np.ascontiguousarray(found.distances))
        device.synchronize()
