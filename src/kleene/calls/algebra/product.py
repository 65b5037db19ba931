"""Products of matrices over a semiring: the tile engine of dense closures, for other programs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import ProductTask
from kleene.calls.algebra.factors import (
    Factor,
    as_dtype,
    as_factor,
    choose_type,
    no_path_in,
    reach,
    require_shapes,
)
from kleene.calls.arguments import Progress, as_devices
from kleene.engine.arrays import caller_memory
from kleene.engine.planned import plan_value
from kleene.engine.value import run_value
from kleene.errors import Code, MemoryBudgetError, RequestError, in_words_of
from kleene.graph.checks import as_flag
from kleene.graph.dlpack import is_foreign, on_gpu, to_library, to_numpy
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import Plan
from kleene.registry.algebra import PRODUCT_SEMIRINGS
from kleene.system.formatting import format_bytes
from kleene.system.machine import as_threads
from kleene.system.suggestions import no_such

__all__ = ["product"]

Array = NDArray[Any]

#: Inner positions are int32.
_MOST_INNER = 2**31 - 1


def product(
    A: Any,
    B: Any,
    semiring: str = "min_plus",
    *,
    argmin: bool = False,
    out: Any = None,
    dtype: Any = None,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Multiply two matrices over a semiring: ``C[i, j]`` is the best ``A[i, k]`` with ``B[k, j]``.

    A path closure repeats this product until nothing changes: with ``"min_plus"``, ``C`` has the
    lengths of the shortest paths of two arcs, the first from ``A`` and the second from ``B``.

    Parameters
    ----------
    A, B : matrix
        Of shapes (rows, inner) and (inner, columns), any of which may be 0: of NumPy or anything
        that becomes such an array, of PyTorch, CuPy or another library with DLPack, in host memory
        or on a GPU. Types are int16, int32, int64, float32 and float64, and bool or integers (where
        0 is False) for ``"boolean"``. NaN is refused, and so are entries that a semiring gives no
        meaning to: -inf with ``"min_plus"``, inf with ``"max_plus"``, negative numbers and inf with
        ``"max_times"``.
    semiring : {"min_plus", "max_plus", "max_min", "max_times", "boolean"}
        How entries are combined, and which is best: the smallest or the largest sum, the largest
        minimum, the largest product, or whether there is a k for which both are True.
    argmin : bool
        Whether to return which k was chosen as well, also where the largest is best: the smallest
        k among equals. Takes about twice as long.
    out : array, optional
        Where to put the values: an array of the right shape and type, contiguous, which shares no
        memory with ``A`` and ``B``; on the GPU where they are there.
    dtype : optional
        The type of the values. By default that which NumPy gives to ``A`` and ``B`` together
        (float64 for products of integers), or a wider one where sums may exceed it.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to multiply; ``"auto"`` is the GPU of the arrays, and for arrays in host memory a GPU
        where one is there and pays.
    threads : int, optional
        How many threads may be used on the CPU; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    array, or pair of arrays
        The values, of the library of ``A`` and on its device: ``out`` if that is given. "No path"
        is infinity or the largest integer for ``"min_plus"``, minus infinity or the smallest
        integer for ``"max_plus"`` and ``"max_min"``, 0 for ``"max_times"`` and False for
        ``"boolean"``, in ``A`` and ``B`` as in the answer, each in its own type. With ``argmin``
        also an int32 array of the same shape: the k of each value, -1 where there is no path.

    Raises
    ------
    PathOverflowError
        Values may exceed what is safe in the widest type: for sums of integers half of the largest
        int64, less the lowest entry where that is negative.
    MemoryBudgetError
        The matrices need more memory than there is.

    See Also
    --------
    closure : The best paths of any number of arcs.
    close_distances : The same in a matrix of lengths, in place.

    Notes
    -----
    On a GPU, matrices of floats, and of int32 and int64 with ``"max_min"``, stay there; both must
    have the same type. Others go through the host. Sums of floats beyond their type are refused in
    host memory, and become infinite on a GPU.

    Examples
    --------
    >>> import kleene as kl, numpy as np
    >>> inf = np.inf
    >>> first = np.array([[2.0, 5.0], [inf, 1.0]])
    >>> second = np.array([[4.0, inf, 3.0], [0.0, inf, 2.0]])
    >>> kl.product(first, second).tolist()
    [[5.0, inf, 5.0], [1.0, inf, 3.0]]
    >>> values, inner = kl.product(first, second, argmin=True)
    >>> inner.tolist()
    [[1, -1, 0], [1, -1, 1]]
    >>> kl.product([[True, False]], [[False, True], [True, True]], "boolean").tolist()
    [[False, True]]
    """
    if not isinstance(semiring, str) or semiring not in PRODUCT_SEMIRINGS:
        raise RequestError(no_such("semiring", semiring, PRODUCT_SEMIRINGS), option="semiring")
    argmin = as_flag(argmin, "argmin")
    if on_gpu(A) or on_gpu(B):
        from kleene.calls.algebra.product_on_gpu import product_on_gpu  # few arrays are on a GPU

        there = partial(product, threads=threads)
        return product_on_gpu(A, B, semiring, argmin, out, dtype, device, progress, there)
    team = as_threads(threads)
    a, b = as_factor(A, "A", semiring, team), as_factor(B, "B", semiring, team)
    require_shapes(a.matrix.shape, b.matrix.shape)
    kind = choose_type(semiring, a, b, dtype)
    plan = _plan(a, b, semiring, kind, argmin, out is not None, device, team)
    memory = _out_memory(out, (a.matrix.shape[0], b.matrix.shape[1]), kind, (a, b))
    values, inner = _multiply(a, b, semiring, kind, argmin, plan, memory, progress)
    answer = to_library(values, A) if out is None else out
    return answer if inner is None else (answer, to_library(inner, A))


def _plan(
    a: Factor,
    b: Factor,
    semiring: str,
    kind: np.dtype[Any],
    argmin: bool,
    out: bool,
    device: str,
    threads: int | None,
) -> Plan:
    """Choose the device, and refuse what does not fit in memory."""
    (rows, inner), columns = a.matrix.shape, b.matrix.shape[1]
    if argmin and inner > _MOST_INNER:
        raise RequestError(
            f"A has {inner:,} columns, more than argmin can number: leave out argmin"
        )
    facts = Facts(columns, a.matrix.size + b.matrix.size, str(kind), 0, 0, 0)
    name, devices = as_devices(device, None)
    ask = Ask.of(
        "product", semiring=semiring, device=name, sources=rows, predecessors=argmin,
        dtype=str(kind), threads=threads, given=out, devices=devices,
    )  # fmt: skip
    try:
        return plan_value(facts, ask)
    except MemoryBudgetError as error:
        raise in_words_of(
            error,
            f"the product of {a.matrix.shape} and {b.matrix.shape} needs "
            f"{format_bytes(error.needed)} and {format_bytes(error.available)} are available",
            advice=["fewer rows of A at a time", *([Code("argmin=False")] if argmin else [])],
        ) from None


def _out_memory(
    out: Any, shape: tuple[int, int], kind: np.dtype[Any], factors: tuple[Factor, Factor]
) -> Array | None:
    """Return the caller's memory for the values."""
    if out is None:
        return None
    # NumPy reads what comes by DLPack, and may not let us write; PyTorch shares its memory.
    shared = hasattr(out, "detach") and hasattr(out, "numpy")
    array = out.detach().numpy() if shared else to_numpy(out) if is_foreign(out) else out
    if not isinstance(array, np.ndarray):
        raise RequestError(Code("out"), f" must be an array, not {type(out).__name__}")
    memory = caller_memory(array, shape, kind)
    if any(np.may_share_memory(array, factor.matrix) for factor in factors):
        raise RequestError(Code("out"), " shares memory with A or B", advice=["pass another array"])
    return memory


def _multiply(
    a: Factor,
    b: Factor,
    semiring: str,
    kind: np.dtype[Any],
    argmin: bool,
    plan: Plan,
    out: Array | None,
    progress: Progress,
) -> tuple[Array, Array | None]:
    """Run the method of a plan; without entries there is nothing but "no path"."""
    (rows, inner), columns = a.matrix.shape, b.matrix.shape[1]
    none = no_path_in(semiring, kind)
    if 0 in (rows, inner, columns):
        values = np.empty((rows, columns), kind) if out is None else out
        values[...] = none
        return values, np.full((rows, columns), -1, np.int32) if argmin else None
    entries = min(a.low, b.low), max(a.high, b.high)
    task = ProductTask(
        as_dtype(a.matrix, semiring, kind), as_dtype(b.matrix, semiring, kind), semiring, none,
        reach(semiring, a, b), entries, argmin, plan.threads, plan.first_device, out=out,
    )  # fmt: skip
    answer: tuple[Array, Array | None] = run_value(plan, task, progress=progress)[0]
    return answer
