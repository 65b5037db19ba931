"""Products of arrays of other libraries that are on a GPU, where they stay.

The library of the arrays looks for their ends and negates them, which CuPy, PyTorch and JAX do by
the same names; the product is Kleene's. What needs another encoding goes through the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.product_form import float_form
from kleene.backends.cuda.product import is_nonnegative_matrix
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device
from kleene.calls.algebra.factors import (
    require_entries,
    require_matrix,
    require_shapes,
    require_type,
)
from kleene.calls.arguments import Progress
from kleene.engine.planned import show
from kleene.engine.value import run_in_place
from kleene.errors import Code, RequestError
from kleene.graph.dlpack import library_of, on_gpu, to_library, to_numpy
from kleene.planning.plan import Plan
from kleene.results.device_arrays import DeviceArray
from kleene.system.devices import count_from, device_name, split_name

__all__ = ["product_on_gpu"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_INTEGERS = (np.dtype(np.int32), np.dtype(np.int64))


def product_on_gpu(
    left: Any,
    right: Any,
    semiring: str,
    argmin: bool,
    out: Any,
    dtype: Any,
    device: str,
    progress: Progress,
    on_host: Callable[..., Any],
) -> Any:
    """Multiply two arrays on a GPU; ``on_host`` multiplies NumPy arrays."""
    for name, value in (("A", left), ("B", right), ("out", left if out is None else out)):
        if not on_gpu(value):
            raise RequestError(
                f"{name} is in host memory, but another matrix is on a GPU: bring both to one place"
            )
    kind, _ = split_name(device)
    if kind not in ("auto", "cuda"):
        raise RequestError(
            f"A and B are on a GPU: device must be 'auto' or 'cuda', not {device!r}",
            advice=["bring them to host memory to multiply elsewhere"],
        )
    factors = [_rows(each) for each in (left, right)]
    arrays = [Array.of(each) for each in factors]
    for name, array in zip("AB", arrays, strict=True):
        require_matrix(array.shape, name)
        require_type(array.dtype, name, semiring)
    require_shapes(arrays[0].shape, arrays[1].shape)
    form = _form(arrays, semiring, dtype, argmin)
    lowest = None if form is None else _lowest(factors, semiring, form)
    if form is None or lowest is None:
        host = [to_numpy(each) for each in factors]
        found = on_host(
            *host, semiring, argmin=argmin, dtype=dtype, device="cuda", progress=progress
        )
        gpu = _device_of(left)
        made = [_sent(each, gpu, left) for each in (found if argmin else (found,))]
        answer = _stored((made[0], made[-1]), out, gpu)
    else:
        answer = _multiply(factors, semiring, form, lowest, argmin, out, progress)
    return answer if argmin else answer[0]


def _form(arrays: list[Array], semiring: str, dtype: Any, argmin: bool) -> MatrixForm | None:
    """Return the form of arrays that need no other encoding, and have entries; None for others."""
    kind, other = arrays[0].dtype, arrays[1].dtype
    if 0 in (*arrays[0].shape, *arrays[1].shape) or semiring == "boolean":
        return None
    if kind != other:
        raise RequestError(f"A is {kind} and B is {other}: on a GPU both must have the same type")
    if dtype is not None and np.dtype(dtype) != kind:
        raise RequestError(f"A and B are {kind}: on a GPU dtype must be the same, not {dtype!r}")
    if kind in _FLOATS:
        return float_form(semiring, kind)
    if kind in _INTEGERS and semiring == "max_min":
        return MatrixForm("tiled", "max_min", kind, np.iinfo(kind).min)
    return None


def _rows(array: Any) -> Any:
    """Return an array whose rows are contiguous: itself, or a copy by its library."""
    view = Array.of(array)
    if len(view.shape) != 2 or 0 in view.shape or view.strides[1] == view.dtype.itemsize:
        return array
    return array.contiguous() if hasattr(array, "contiguous") else array.copy("C")


def _device_of(array: Any) -> Device:
    """Return the GPU that an array is on."""
    if not hasattr(array, "__dlpack_device__"):
        return open_device("cuda")
    parts = count_from("KLEENE_DEVICES_PER_GPU")
    return open_device(device_name("cuda", int(array.__dlpack_device__()[1]) * parts))


def _multiply(
    factors: list[Any],
    semiring: str,
    form: MatrixForm,
    lowest: float,
    argmin: bool,
    out: Any,
    progress: Progress,
) -> tuple[Any, Any]:
    """Return the product and the inner positions as arrays of the factors' library."""
    reasons = ("device: both matrices are there", "tiled: the only method on arrays of a GPU")
    kind = str(form.dtype)
    plan = show(Plan("product", "tiled", "cuda", semiring, kind, 0, 0, None, reasons))
    negated, signs = semiring == "max_plus", argmin and form.dtype.kind == "f"
    if negated:
        factors = [-each for each in factors]
    elif signs and semiring == "max_min":
        factors = [each + 0 for each in factors]  # zeros are compared by their bits
    like, device = factors[0], _device_of(factors[0])
    arrays = [Array.of(each, device) for each in factors]
    made = run_in_place(plan, device, form, *arrays, lowest, argmin, progress=progress)
    values: Any = _as_library(made[0], device, like)
    inner = _as_library(made[1], device, like) if argmin else None
    return _stored((0 - values if negated else values, inner), out, device)


def _lowest(factors: list[Any], semiring: str, form: MatrixForm) -> float | None:
    """Return the lowest entry of both factors, of the negated ones for max-plus, if all is well.

    Arrays of libraries without arithmetic, such as those that Kleene's results keep on a device,
    are looked at for signs; None where that does not suffice.
    """
    if not all(hasattr(each, "min") for each in factors):
        device = _device_of(factors[0])
        device.synchronize()
        lengths = semiring == "min_plus" and form.dtype == np.float32
        checked = lengths and all(
            is_nonnegative_matrix(device, Array.of(each, device)) for each in factors
        )
        return 0.0 if checked else None
    lowest = []
    for name, factor in zip("AB", factors, strict=True):
        low, high = factor.min().item(), factor.max().item()
        if low != low or high != high:
            raise RequestError(f"{name} holds nan", advice=["replace it"])
        require_entries(low, high, name, semiring)
        lowest.append(-high if semiring == "max_plus" else low)
    return float(min(lowest))


def _as_library(array: Array, device: Device, like: Any) -> Any:
    """Return an array on the device as one of the library of ``like``, without a copy."""
    shared, library = DeviceArray(array, device), library_of(like)
    return library.from_dlpack(shared) if hasattr(library, "from_dlpack") else shared


def _sent(array: NDArray[Any], device: Device, like: Any) -> Any:
    """Return an array of the host on the device, as one of the library of ``like``."""
    if hasattr(library_of(like), "asarray"):
        return to_library(array, like)
    return DeviceArray(device.upload(np.ascontiguousarray(array)), device)


def _stored(answer: tuple[Any, Any], out: Any, device: Device) -> tuple[Any, Any]:
    """Copy the values to ``out``, if that is given."""
    if out is None:
        return answer
    values, to = Array.of(answer[0], device), Array.of(out, device)
    if to.shape != values.shape or to.dtype != values.dtype:
        raise RequestError(
            Code("out"),
            f" must be a {values.dtype} array of shape {values.shape}, not a {to.dtype} "
            f"array of shape {to.shape}",
        )
    if to.size and to.strides[1] != to.dtype.itemsize:
        raise RequestError("the rows of out must be contiguous")
    device.synchronize()  # the library has streams of its own
    device.copy(to, values)
    device.synchronize()
    return out, answer[1]
