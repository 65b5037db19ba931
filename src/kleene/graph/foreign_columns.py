"""Columns of Arrow and Polars as NumPy arrays, in which no null is a value; tensors that may be.

What these libraries give NumPy by themselves is not safe: a null of a chunked dictionary takes the
dictionary's last value (the code of a null is -1), and texts of fixed width lose the NULs that they
end in. Here a null is None, NaN or NaT, as the rest of the column allows, and a text is an object.
No library is imported: that of an existing column is imported already.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError

__all__ = ["as_numpy", "held_value", "require_plain"]

Array = NDArray[Any]


def as_numpy(values: Any, name: str) -> Any:
    """Return a column or table of Arrow or Polars as a NumPy array, anything else unchanged."""
    library = type(values).__module__.partition(".")[0]
    if library == "torch":
        require_plain(values, name)
    try:
        if library == "pyarrow" and hasattr(values, "null_count"):
            return _from_arrow(values)
        if library == "pyarrow" and hasattr(values, "column_names"):
            columns = [_from_arrow(column) for column in values.columns]
            return np.stack(columns, axis=1) if columns else np.empty((values.num_rows, 0))
        if library == "polars" and hasattr(values, "to_numpy"):
            return values.to_numpy()
    except MemoryError:
        raise
    except _errors_of(library) as error:
        kind = getattr(values, "type", getattr(values, "dtype", type(values).__name__))
        raise GraphError(
            f"{name} has the type {kind}, which NumPy does not have",
            advice=["cast it to integers of 64 bits, float64 or text"],
        ) from error
    return values


def held_value(thing: Any) -> Any:
    """Return the value that a scalar of Arrow holds, None for a null; anything else unchanged."""
    if type(thing).__module__.partition(".")[0] == "pyarrow" and hasattr(thing, "as_py"):
        return thing.as_py()
    return thing


def require_plain(values: Any, name: str) -> None:
    """Refuse tensors of PyTorch that an answer would lose something of: gradients, or indices."""
    if getattr(values, "requires_grad", False):
        raise GraphError(
            f"{name} requires gradients, which are not computed here",
            advice=["pass tensor.detach()"],
        )
    if not str(getattr(values, "layout", "torch.strided")).endswith("strided"):
        raise GraphError(
            f"{name} is a sparse tensor",
            advice=[
                "make a graph of its arcs, with t = tensor.coalesce(): "
                "Graph.from_edges(*t.indices(), t.values())"
            ],
        )


def _errors_of(library: str) -> tuple[type[Exception], ...]:
    """Return what a library raises for a type that NumPy does not have."""
    module: Any = sys.modules[library]
    own = module.ArrowException if library == "pyarrow" else module.exceptions.PolarsError
    return TypeError, ValueError, own


def _from_arrow(column: Any) -> Array:
    """Return an Arrow array, whole or in chunks, as a NumPy array."""
    types = sys.modules["pyarrow"].types
    if hasattr(column.type, "storage_type"):  # of an extension
        column = column.cast(column.type.storage_type)
    if not types.is_dictionary(column.type):
        return np.asarray(column)
    whole = column.combine_chunks() if hasattr(column, "chunks") else column
    values, codes = _from_arrow(whole.dictionary), whole.indices
    if codes.null_count:
        codes = codes.cast("int64").fill_null(len(values))
        values = np.append(values, _null(values.dtype))
    taken: Array = values[codes.to_numpy(zero_copy_only=False)]
    return taken


def _null(dtype: np.dtype[Any]) -> Any:
    """Return what stands for a null beside values of this type."""
    if dtype.kind in "mM":
        return np.array("NaT", dtype)
    return np.nan if dtype.kind in "iuf" else None
