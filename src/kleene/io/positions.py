"""Coordinates of vertices from a file beside the graph's: DIMACS ``.co``, or a table.

A table has a line per vertex: its name, x and y, in CSV, TSV, TNTP's ``_node.tntp`` or Parquet.
Columns are known by name (id, node; x, lon, longitude; y, lat, latitude), or are the first three.
Vertices that the graph does not have are skipped; each that it has needs a line.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, message_of
from kleene.graph import Graph
from kleene.io.attributes import guess_separator, is_number, split_fields, unquoted
from kleene.io.build import X_NAMES, Y_NAMES
from kleene.io.parquet import is_parquet, read_columns
from kleene.io.source import PathOrFile, Source
from kleene.io.text import ColumnLayout, TextReader

__all__ = ["with_positions_from"]

Array = NDArray[Any]

_ID_NAMES = ("id", "node", "node_id", "nodeid", "vertex", "osmid", "name", "label")
_CO_HEADER = re.compile(r"\s*p\s+aux\s+sp\s+co\s+(\d{1,18})\s*")
_CO_LINES = re.compile(rb"(?:\xef\xbb\xbf)?(?:c[^\n]*\n|[ \t\r]*\n)*+p[ \t]+aux[ \t]")


def with_positions_from(path: PathOrFile, graph: Graph, names: Array, threads: int | None) -> Graph:
    """Return the graph with positions from a file, which calls its vertices ``names``."""
    with Source(path, threads) as source:
        if source.size == 0:
            source.fail("found an empty file, expected the positions of vertices")
        numbers = names.dtype.kind in "iu"
        if is_parquet(source):
            ids, *places = _read_parquet(source)
        else:
            ids, *places = _read_text(source, numbers)
        rows = _rows_of(source, ids, names)
        xy = np.stack([np.asarray(place, np.float64)[rows] for place in places], axis=1)
        try:
            return graph.with_positions(xy)
        except GraphError as error:
            source.fail(message_of(error))


def _read_text(source: Source, numbers: bool) -> tuple[Any, Array, Array]:
    """Return the names of vertices, x and y."""
    text = TextReader(source)
    declared: int | None = None
    if source.suffix == ".co" or _CO_LINES.match(source.head()):
        line = text.peek(comments="c")
        header = _CO_HEADER.fullmatch(line or "")
        if header is None:
            text.fail_at(line, "the header 'p aux sp co <vertices>'")
        declared, declared_line = int(header[1]), text.line
        text.skip_line()
        (at, x, y), layout = (1, 2, 3), ColumnLayout(comments="c", tag="v", exact=False)
    else:
        (at, x, y), separator = _find_columns(text)
        layout = ColumnLayout(separator=separator, comments="#%", exact=False, names=not numbers)
    parsed = [text.arcs(replace(layout, source=at, target=-1, weight=place)) for place in (x, y)]
    ids, _, xs, names = parsed[0]
    ys = parsed[1].weights
    assert xs is not None
    assert ys is not None
    if declared is not None and len(ids) != declared:
        text.fail(f"{len(ids)} positions", f"{declared} as declared here", declared_line)
    return ids if names is None else [names[i] for i in ids.tolist()], xs, ys


def _find_columns(text: TextReader) -> tuple[tuple[int, int, int], str]:
    """Return the columns of name, x and y, and the separator; skip the header."""
    line = (text.peek(comments="#%") or "").rstrip(" \t;\r")  # TNTP ends its lines by ;
    titles = [unquoted(field).lower() for field in split_fields(line, guess_separator(line))]
    columns = _known_columns(titles)
    if columns is not None:
        text.skip_line()
    first = text.peek(comments="#%")
    separator = guess_separator((first or "").rstrip(" \t;\r"))
    if columns is None:
        columns = (0, 1, 2)
        fields = split_fields(first or "", separator)
        if len(fields) < 3 or not all(is_number(unquoted(field)) for field in fields[1:3]):
            text.fail_at(first, "a vertex, x and y; or a header with the columns id, x and y")
    return columns, separator


def _known_columns(titles: list[str]) -> tuple[int, int, int] | None:
    """Return the indices of the columns of name, x and y, if x and y are there."""
    for x, y in zip(X_NAMES, Y_NAMES, strict=True):
        if x in titles and y in titles:
            places = titles.index(x), titles.index(y)
            known = [titles.index(name) for name in _ID_NAMES if name in titles]
            first = next(i for i in range(len(titles) + 1) if i not in places)
            return (known or [first])[0], *places
    return None


def _read_parquet(source: Source) -> tuple[Any, ...]:
    def choose(titles: list[str]) -> list[str]:
        columns = _known_columns([title.lower() for title in titles])
        if columns is None or max(columns) >= len(titles):
            source.fail(f"found the columns {', '.join(titles)}, expected id, x and y")
        return [titles[i] for i in columns]

    ids, xs, ys = read_columns(source, choose)
    return ids, xs, ys


def _rows_of(source: Source, ids: Any, names: Array) -> Array:
    """Return the row of each vertex."""
    if names.dtype.kind in "iu" and isinstance(ids, np.ndarray):
        order = np.argsort(ids, kind="stable")
        known = ids[order]
        twice = known[1:][known[1:] == known[:-1]]
        at = np.minimum(np.searchsorted(known, names), max(len(known) - 1, 0))
        lacking = names[known[at] != names] if len(known) else names
        rows = order[at] if len(known) else at
    else:
        places = {name: row for row, name in enumerate(ids)}
        twice = [name for row, name in enumerate(ids) if places[name] != row]
        lacking = [name for name in names.tolist() if name not in places]
        rows = np.array([places.get(name, 0) for name in names.tolist()], np.int64)
    if len(twice):
        source.fail(f"found two positions of vertex {_shown(twice[0])}, expected one")
    if len(lacking):
        source.fail(
            f"found no position of vertex {_shown(lacking[0])}, expected one for each of the "
            f"{len(names):,} vertices; {len(lacking):,} have none"
        )
    return rows


def _shown(name: Any) -> str:
    return repr(name.item() if isinstance(name, np.generic) else name)
