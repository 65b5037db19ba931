"""The table rows of a graph in Kleene's ``.npz``: their ends, directions, weights and geometry.

Entries begin with ``rows_`` and are there only if the graph has them. They are checked for what
calls rely on: positions of vertices, lengths, and increasing offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.checks import as_ids, as_weights, id_dtype, require_memory
from kleene.graph.frozen import adopt
from kleene.graph.rows import EdgeRows, Lines

__all__ = ["ROW_ENTRIES", "entries_of_rows", "rows_of_entries"]

Arrays = dict[str, NDArray[Any]]

_COLUMNS = ("sources", "targets", "direction", "weights", "numbers", "closed")
_FACTS = ("undirected", "flipped", "count", "combine")
_LATER_FACTS = ("by_arc", "index")  # files may lack them
_LINES = ("line_offsets", "line_coordinates")
ROW_ENTRIES = tuple(f"rows_{name}" for name in (*_COLUMNS, *_FACTS, *_LATER_FACTS, *_LINES))


def entries_of_rows(rows: EdgeRows | None) -> dict[str, Any]:
    """Return the entries that hold these rows; None for what they do not have."""
    if rows is None:
        return {}
    lines = rows.lines or Lines(None, None)  # type: ignore[arg-type]
    named = {name: getattr(rows, name) for name in (*_COLUMNS, *_FACTS, *_LATER_FACTS)}
    named.update(zip(_LINES, lines, strict=True))
    return {f"rows_{name}": value for name, value in named.items()}


def rows_of_entries(arrays: Arrays, n: int) -> EdgeRows | None:
    """Return the rows that these entries hold, for a graph of ``n`` vertices, or None."""
    names = (*_COLUMNS, *_FACTS, *_LATER_FACTS, *_LINES)
    held = {name: arrays.get(f"rows_{name}") for name in names}
    if held["sources"] is None:
        return None
    require_memory(  # copies in other types
        sum(array.nbytes for array in held.values() if array is not None),
        "the rows of the graph",
        "use a machine with more memory",
    )
    facts = [held[name] for name in _FACTS]
    if any(fact is None or fact.ndim for fact in facts):
        raise GraphError("the table rows lack an entry")
    undirected, flipped, count, combine = (fact.item() for fact in facts)  # type: ignore[union-attr]
    if combine not in ("min", "max", "sum") or not isinstance(count, int) or count < 0:
        raise GraphError(f"the table rows are {count!r}, combined by {combine!r}")
    sources = _integers(held["sources"], n, None, "sources")
    rows = EdgeRows(
        sources,
        _integers(held["targets"], n, len(sources), "targets"),
        bool(undirected),
        _direction(held["direction"], len(sources)),
        _weights(held["weights"], len(sources)),
        combine,
        None
        if held["numbers"] is None
        else _integers(held["numbers"], count, len(sources), "numbers").astype(np.int64),
        count,
        flipped=bool(flipped),
        closed=_closed(held["closed"], len(sources)),
        by_arc=bool(_later_fact(held["by_arc"], "b") or False),
        index=_later_fact(held["index"], "i"),
    )
    if held["numbers"] is None and count != len(sources):
        raise GraphError(f"the table has {count} rows, and {len(sources)} are there")
    return _with_lines(rows, held["line_offsets"], held["line_coordinates"])


def _integers(array: Any, below: int, length: int | None, name: str) -> NDArray[Any]:
    values = as_ids([] if array is None else array, f"the rows' {name}")
    _require_length(values, length, name)
    if len(values) and (values.min() < 0 or values.max() >= below):
        raise GraphError(f"the rows' {name} must be from 0 to {below - 1}")
    kept: NDArray[Any] = adopt(values.astype(id_dtype(below), copy=False))
    return kept


def _require_length(values: NDArray[Any], length: int | None, name: str) -> None:
    if length is not None and values.shape != (length,):
        raise GraphError(f"the rows' {name} have shape {values.shape}, not ({length},)")


def _direction(array: Any, length: int) -> Any:
    if array is None:
        return None
    _require_length(array, length, "direction")
    if array.dtype != np.int8 or not np.isin(array, (-1, 0, 1)).all():
        raise GraphError("the rows' direction must be -1, 0 or 1")
    return adopt(array)


def _closed(array: Any, length: int) -> Any:
    if array is None:
        return None
    _require_length(array, length, "closed")
    if array.dtype != bool:
        raise GraphError("the rows' closed must be true or false")
    return adopt(array)


def _later_fact(array: Any, kind: str) -> Any:
    if array is None:
        return None
    if array.ndim or array.dtype.kind != kind:
        raise GraphError("the table rows have an entry of another type")
    return array.item()


def _weights(array: Any, length: int) -> Any:
    values = as_weights(array, "the rows' weights")
    if values is not None:
        _require_length(values, length, "weights")
        if np.isnan(values).any():
            raise GraphError("the rows' weights hold NaN")
    return None if values is None else adopt(values)


def _with_lines(rows: EdgeRows, offsets: Any, coordinates: Any) -> EdgeRows:
    if offsets is None or coordinates is None:
        return rows
    starts = as_ids(offsets, "the rows' line_offsets")
    places = as_weights(coordinates, "the rows' line_coordinates")
    assert places is not None
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise GraphError("the rows' line_coordinates must be pairs of numbers")
    if not len(starts) or (starts[1:] < starts[:-1]).any():
        raise GraphError("the rows' line_offsets must not decrease")
    return rows.with_lines(Lines(starts.astype(np.int64), places.astype(np.float64)))
