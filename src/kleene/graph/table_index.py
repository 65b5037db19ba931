"""The index of a pandas table, by which a column that was sorted in between is noticed.

A graph keeps rows in the order of its table. A column of pandas has an index, which says what row
each entry belongs to, whatever their order. Where the index of the table is 0, 1, 2 ..., that of a
column must number the same rows, and its entries are taken in their order. Any other index is known
by a digest, and a column must have the same one. A column with an entry for each vertex is likewise
in the order of the vertices if its index is 0, 1, 2 ...; any other index names vertices.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "in_one_order",
    "in_order",
    "in_order_of_vertices",
    "index_digest",
    "require_same_axes",
]


def index_digest(table: Any) -> int | None:
    """Return a number for the index of a pandas table or column, None if it is 0, 1, 2 ...

    None also for everything that has no index.
    """
    index = _index(table)
    if index is None or _is_plain(index):
        return None
    import pandas as pd

    hashes = pd.util.hash_pandas_object(index, index=False).to_numpy()
    digest = hashlib.blake2b(hashes.tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def in_order(column: Any, count: int, digest: int | None, name: str, of: str = "rows") -> Any:
    """Return the entries of a column in the order of the rows; what has no index, as it is.

    ``digest`` is that of the table. Raises GraphError if the index names other rows.
    """
    index = _index(column)
    if index is None or len(index) != count or index_digest(column) == digest:
        return column
    if digest is None and index.dtype.kind in "iu":
        order = np.argsort(index.to_numpy(), kind="stable")
        if _is_plain(index[order]):
            return column.iloc[order]
    sorting = ", else sort them first: column.loc[table.index]" if of == "rows" else ""
    raise _refused(name, of, sorting)


def in_order_of_vertices(column: Any, graph: Graph, name: str) -> Any:
    """Return the entries of a column, or rows of a table, in the order of the vertices.

    What has no index, or the index 0, 1, 2 ..., is in that order.
    """
    index = _index(column)
    if index is None or len(index) != graph.n or _is_plain(index):
        return column
    try:
        order = np.argsort(graph.index(index.tolist()))
    except GraphError:
        raise _refused(name, "vertices") from None
    if not index.is_unique:
        raise _refused(name, "vertices")
    return column.iloc[order]


def require_same_axes(matrix: Any) -> None:
    """Raise for a square table of pandas whose rows are in another order than its columns."""
    rows = _index(matrix)
    columns = getattr(matrix, "columns", None)
    if rows is None or columns is None or rows.equals(columns):
        return
    if set(rows) == set(columns):
        raise GraphError(
            "the rows of the matrix are in another order than its columns; pass "
            "matrix.loc[matrix.columns]"
        )


def _refused(name: str, of: str, sorting: str = "") -> GraphError:
    return GraphError(
        f"{name}= has an index that does not match the {of}; if its entries are in the order of "
        f"the {of}, pass {name}=column.to_numpy(){sorting}"
    )


def in_one_order(columns: Any) -> Any:
    """Return a dict of columns with those of pandas in the order of the first one of them.

    All other tables have one index, or none, and are returned as they are.
    """
    if not isinstance(columns, Mapping):
        return columns
    first = next((each for each in columns.values() if _index(each) is not None), None)
    if first is None:
        return columns
    count, digest = len(first), index_digest(first)
    return {name: in_order(each, count, digest, name) for name, each in columns.items()}


def _index(table: Any) -> Any:
    """Return the index of a pandas Series or DataFrame, without importing pandas."""
    pd = sys.modules.get("pandas")
    kinds = () if pd is None else (pd.Series, pd.DataFrame)
    return table.index if isinstance(table, kinds) else None


def _is_plain(index: Any) -> bool:
    numbers: NDArray[np.int64] = np.arange(len(index))
    return index.nlevels == 1 and index.dtype.kind in "iu" and np.array_equal(index, numbers)
