"""Results as tables: long ones with a row per pair, wide ones with a row per source.

A long table comes in blocks, so that a large result is never there twice. A block is a dict of
columns, NumPy arrays; a masked array has missing entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.graph import Graph

__all__ = [
    "BLOCK",
    "Block",
    "arrow_batches",
    "arrow_table",
    "label_column",
    "pandas_table",
    "polars_table",
    "wide_frame",
]

Array = NDArray[Any]
Block = dict[str, Array]

#: Pairs in a block, at most.
BLOCK = 2**18


def label_column(graph: Graph, positions: Array) -> Array:
    """Return the labels of vertices as a column; a position of -1 is missing."""
    labels = positions if graph.labels is None else graph.labels[positions]  # the last for -1
    missing = positions == -1
    return np.ma.MaskedArray(labels, missing) if missing.any() else labels


def _joined(blocks: Iterable[Block]) -> Block:
    """Return one block of all."""
    parts = list(blocks)
    join: Any = np.ma.concatenate
    return {name: join([part[name] for part in parts]) for name in parts[0]}


def _split(column: Array) -> tuple[Array, Array | None]:
    """Return the values of a column, and which are missing, if any."""
    mask = np.ma.getmaskarray(column)
    return np.ma.getdata(column), mask if mask.any() else None


def pandas_table(blocks: Iterable[Block]) -> Any:
    """Return a pandas DataFrame; missing integers make the type ``Int64``, which has them."""
    pd = _library("pandas", "to_pandas")
    columns: dict[str, Any] = {}
    for name, column in _joined(blocks).items():
        values, missing = _split(column)
        if missing is None:
            columns[name] = values
        elif values.dtype.kind == "i":
            columns[name] = pd.arrays.IntegerArray(values.astype(np.int64), missing)
        else:
            none: Any = np.nan if values.dtype.kind == "f" else None
            columns[name] = np.where(missing, none, values)
    return pd.DataFrame(columns)


def arrow_batches(blocks: Iterable[Block]) -> Iterator[Any]:
    """Yield record batches, all of the same types."""
    pa = _library("pyarrow", "to_arrow")
    for block in blocks:
        arrays = {}
        for name, column in block.items():
            values, missing = _split(column)
            kind = pa.string() if values.dtype == object else None
            arrays[name] = pa.array(_as_text(values), kind, mask=missing)
        yield pa.RecordBatch.from_pydict(arrays)


def _as_text(values: Array) -> Array:
    """Return labels of Python types as text, unless they are text already."""
    if values.dtype != object:
        return values
    return np.array([x if isinstance(x, str) else str(x) for x in values.tolist()], dtype=object)


def arrow_table(blocks: Iterable[Block]) -> Any:
    """Return a PyArrow table."""
    return _library("pyarrow", "to_arrow").Table.from_batches(list(arrow_batches(blocks)))


def polars_table(blocks: Iterable[Block]) -> Any:
    """Return a Polars DataFrame."""
    pl = _library("polars", "to_polars")
    columns = []
    for name, column in _joined(blocks).items():
        values, missing = _split(column)
        series = pl.Series(
            name, _as_text(values), dtype=pl.String if values.dtype == object else None
        )
        if missing is not None:
            series = pl.select(pl.when(pl.Series(~missing)).then(series).alias(name))[name]
        columns.append(series)
    return pl.DataFrame(columns)


def wide_frame(graph: Graph, values: Array, reached: Array, ends: tuple[Array, Array]) -> Any:
    """Return a pandas DataFrame of path values by (source, target), missing where no path is.

    ``ends`` are the positions of the sources, one per row, and of the targets, one per column.
    """
    pd = _library("pandas", "to_frame")
    if values.dtype != bool:  # whether there is a path is never missing
        values = np.where(reached, values, np.nan)
    index = pd.Index(graph.label(ends[0]), name="source")
    return pd.DataFrame(values, index, pd.Index(graph.label(ends[1]), name="target"))


def _library(name: str, what: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise RequestError(
            f"{what} needs {name}, which is not installed: pip install {name}"
        ) from error
