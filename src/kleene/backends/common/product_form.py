"""How the engines of dense closures see the factors of a product.

They have no max-plus: it is min-plus of the negated factors. Integers that are added use half of
the maximum of their type for "no path", in the narrowest type in which no sum wraps; booleans are
bits, or integers where the inner position is asked for. All else is computed as the user sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.task import ProductTask
from kleene.system.threads import for_each

__all__ = [
    "adds_safely", "decoded", "encoded", "engine_shape", "float_form", "new_values", "product_form",
    "safe_sum",
]  # fmt: skip

Array = NDArray[Any]

#: Bytes of a matrix that a thread encodes at a time: they stay in its cache.
_BAND_BYTES = 2**18

_NARROW = (np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64))


def product_form(task: ProductTask) -> MatrixForm:
    """Return the form in which the engines compute a product."""
    dtype = task.left.dtype
    if task.semiring == "boolean":
        if not task.argmin:
            return MatrixForm("tiled", "boolean", np.dtype(np.uint64), 0)
        ends = np.iinfo(np.int32)  # the position is that of any path, however wide
        return MatrixForm("tiled", "max_min", np.dtype(np.int32), ends.min)
    if dtype.kind == "f":
        return float_form(task.semiring, dtype)
    if task.semiring == "max_min":
        dtype = max(dtype, np.dtype(np.int32))  # no engine compares narrower ones
        return MatrixForm("tiled", "max_min", dtype, np.iinfo(dtype).min)
    low, high = _negated(task, task.ends)
    safe = (d for d in _NARROW[task.argmin :] if adds_safely(d, _negated(task, task.entries), high))
    dtype = next(safe)  # the widest was checked before
    return MatrixForm("tiled", "min_plus", dtype, np.iinfo(dtype).max // 2, low, high)


def float_form(semiring: str, dtype: np.dtype[Any]) -> MatrixForm:
    """Return the form of a product of floats: what the user sees, negated for max-plus."""
    none = {"min_plus": np.inf, "max_plus": np.inf, "max_min": -np.inf, "max_times": 0.0}
    engine = "min_plus" if semiring == "max_plus" else semiring
    return MatrixForm("tiled", engine, dtype, none[semiring])


def adds_safely(dtype: np.dtype[Any], entries: tuple[int, int], highest: int) -> bool:
    """Return whether sums of entries neither wrap nor meet those with "no path", half the maximum.

    >>> adds_safely(np.dtype(np.int16), (0, 8000), 16000)
    True
    >>> adds_safely(np.dtype(np.int16), (-1000, 8000), 16000)
    False
    """
    none = int(np.iinfo(dtype).max) // 2
    low, high = entries
    return -none <= low and high <= none and highest <= safe_sum(dtype, low)


def safe_sum(dtype: np.dtype[Any], low: int) -> int:
    """Return the largest sum that is less than "no path" and the lowest entry together."""
    return int(np.iinfo(dtype).max) // 2 + min(0, low) - 1


def _negated(task: ProductTask, ends: tuple[Any, Any]) -> tuple[Any, Any]:
    return (-ends[1], -ends[0]) if task.semiring == "max_plus" else ends


# ---- in and out ---------------------------------------------------------------------------------


def engine_shape(form: MatrixForm, rows: int, columns: int) -> tuple[int, int]:
    """Return the shape of a matrix in this form; bits pack 64 columns."""
    return rows, -(-columns // 64) if form.dtype == np.uint64 else columns


def new_values(task: ProductTask, form: MatrixForm) -> Array:
    """Return memory for the product in the form of the engine, all "no path"."""
    values = task.new_values()
    if form.dtype != values.dtype:
        values = np.empty(engine_shape(form, *task.shape), form.dtype)
    _each_band(task, values, lambda rows: values[rows].fill(form.no_path))
    return values


def encoded(task: ProductTask, form: MatrixForm, factor: Array) -> Array:
    """Return a factor in the form of the engine: itself where that is the same."""
    if form.dtype == factor.dtype and form.highest is None and task.semiring != "max_plus":
        return factor
    made = np.empty(engine_shape(form, *factor.shape), form.dtype)
    _each_band(task, made, lambda rows: _encode(task, form, factor[rows], made[rows]))
    return made


def decoded(task: ProductTask, form: MatrixForm, values: Array, chosen: Array | None) -> Array:
    """Return the values as the user sees them, and correct the positions of "no path" to -1.

    Values may be those of the task's memory already.
    """
    answer = task.new_values() if values.dtype != task.left.dtype else values
    if answer is values and form.highest is None and task.semiring != "max_plus":
        return answer

    def decode(rows: slice) -> None:
        _decode(task, form, values[rows], answer[rows], None if chosen is None else chosen[rows])

    _each_band(task, answer, decode)
    return answer


def _encode(task: ProductTask, form: MatrixForm, factor: Array, to: Array) -> None:
    if form.dtype == np.uint64:
        to.fill(0)
        packed = np.packbits(factor, axis=1, bitorder="little")
        to.view(np.uint8)[:, : packed.shape[1]] = packed
        return
    sign = -1 if task.semiring == "max_plus" else 1
    np.multiply(factor, sign, out=to, casting="unsafe")  # what is no path may wrap
    if factor.dtype.kind != "f":
        to[factor == task.no_path] = form.no_path


def _decode(
    task: ProductTask, form: MatrixForm, values: Array, answer: Array, chosen: Array | None
) -> None:
    if form.dtype == np.uint64:
        bits = np.unpackbits(values.view(np.uint8), axis=1, bitorder="little")
        answer[...] = bits[:, : answer.shape[1]]
        return
    absent = None
    if answer.dtype.kind != "f":  # integers may hold a sum with a negative entry
        absent = values == form.no_path if form.highest is None else values > form.highest
    if task.semiring == "max_plus":
        np.subtract(0, values, out=answer, casting="unsafe")  # no zero gets a sign
    else:
        np.copyto(answer, values, "unsafe")
    if absent is not None:
        answer[absent] = task.no_path
        if chosen is not None:
            chosen[absent] = -1


def _each_band(task: ProductTask, matrix: Array, work: Callable[[slice], None]) -> None:
    """Call a function for bands of rows of a matrix, on several threads if that pays."""
    rows = len(matrix)
    step = max(1, rows * _BAND_BYTES // max(1, matrix.nbytes))
    bands = [slice(top, top + step) for top in range(0, rows, step)]
    for_each(work, bands, min(task.threads, len(bands)))
