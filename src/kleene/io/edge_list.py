"""Edge lists: SNAP, TSV, CSV and similar, one arc per line, with or without a weight.

The first line that is not a comment determines the separator, whether that line is a header,
whether vertices are numbers or names, and whether there is a weight; options override each. The
vertices are the numbers that occur, in increasing order, or the names in order of first appearance;
they become the labels of the graph unless they are 0 .. n - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.convert import no_such_weight
from kleene.graph.labels import ids_from_numbers
from kleene.io.build import WEIGHT_NAMES, build_graph, directions_of, weight_options
from kleene.io.fields import (
    SEPARATORS,
    guess_separator,
    is_integer,
    is_number,
    split_fields,
    unquoted,
)
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source, printable
from kleene.io.text import ColumnLayout, TextReader, VertexNames, write_arcs

__all__ = ["EDGE_LIST", "find_layout"]

_COLUMN_NAMES = (
    ("source", "src", "from", "fromnodeid", "u"),
    ("target", "dst", "to", "tonodeid", "v"),
    WEIGHT_NAMES,
)


def read(
    source: Source,
    *,
    directed: bool | str = True,
    weight: str | None = "auto",
    weighted: bool | None = None,
    relabel: bool = True,
    names: bool | None = None,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    comments: str = "#%",
    keep_rows: bool = True,
) -> Graph:
    text = TextReader(source)
    direction: bool | NDArray[Any]
    oneway, direction = (directed, True) if isinstance(directed, str) else (None, directed)
    found = find_layout(
        text, weight, weighted, relabel, names, columns, header, separator, comments, oneway
    )
    if found is None:
        return Graph.from_edges([], [], n=0, directed=direction, name=source.stem)
    layout, oneway_column = found
    sources, targets, weights, labels = text.arcs(layout)
    if oneway is not None:
        direction = _directions(text, layout, oneway, oneway_column)
    n: int | None = None
    kept: Any = labels
    if labels is not None:
        n = len(labels)
    elif relabel:
        sources, targets, kept, n = ids_from_numbers(sources, targets)
    return build_graph(
        source, sources, targets, weights, n, direction, labels=kept, keep_rows=keep_rows
    )


def _directions(text: TextReader, layout: ColumnLayout, name: str, column: int) -> NDArray[Any]:
    """Return the direction of each row, by a column such as "oneway"."""
    codes, _, _, words = text.arcs(
        replace(layout, source=column, target=-1, weight=-1, names=True, exact=False)
    )
    return directions_of(text.source, codes, words or [], name)


# ---- detection --------------------------------------------------------------------------------


def find_layout(
    text: TextReader,
    weight: str | None = "auto",
    weighted: bool | None = None,
    relabel: bool = True,
    names: bool | None = None,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    comments: str = "#%",
    oneway: str | None = None,
) -> tuple[ColumnLayout, int] | None:
    """Return the layout of the lines and the column of directions, -1 if there is none.

    None for a text without lines. The text is then at its first line behind the header.
    """
    weight, weighted = weight_options(weight, weighted, columns)
    first = text.peek(comments)
    if first is None:
        return None
    if separator is None:
        separator = guess_separator(first)
    elif len(separator) != 1 or not separator.isascii() or separator in '\r\n"':
        raise RequestError(f"separator must be a single ASCII character, not {separator!r}")
    fields = split_fields(first, separator)
    if header is None:
        header = weight is not None or oneway is not None or _is_header(fields, columns)
    column_names = [unquoted(field) for field in fields] if header else None
    if header:
        text.skip_line()
        first = text.peek(comments)
        fields = fields if first is None else split_fields(first, separator)
    indices = _find_columns(text, columns, column_names, fields, weight, weighted)
    oneway_column = -1 if oneway is None else _column_index(oneway, column_names)
    last = max(*indices, oneway_column)
    if last >= len(fields):
        text.fail_at(first, f"at least {last + 1} columns")
    if names is None:
        names = _are_names(fields, indices)
    layout = ColumnLayout(
        *indices,
        separator=separator,
        comments=comments,
        exact=last + 1 == len(fields) and oneway is None,
        low=np.iinfo(np.int64).min if relabel else 0,
        names=bool(names),
    )
    return layout, oneway_column


def _is_header(fields: list[str], columns: Sequence[str | int] | None) -> bool:
    """Return whether the first line is a header.

    It is if ``columns`` gives names, or if it has known names for both ends and no number. Names of
    one letter do not count, since vertices may have such names.
    """
    if columns is not None and any(isinstance(column, str) for column in columns):
        return True
    lower = [unquoted(field).lower() for field in fields]
    return not any(is_number(field) for field in lower) and all(
        any(len(name) > 1 and name in lower for name in known) for known in _COLUMN_NAMES[:2]
    )


def _are_names(fields: list[str], indices: tuple[int, int, int]) -> bool:
    """Return whether the vertices are names: not integers, or quoted.

    If the weight is quoted too, quotes do not count: some programs quote every field.
    """
    *ends, weight = (fields[i] if i >= 0 else "" for i in indices)
    quoted = any(field.startswith('"') for field in ends) and not weight.startswith('"')
    return quoted or not all(is_integer(unquoted(field)) for field in ends)


def _find_columns(
    text: TextReader,
    columns: Sequence[str | int] | None,
    names: list[str] | None,
    fields: list[str],
    weight: str | None,
    weighted: bool | None,
) -> tuple[int, int, int]:
    """Return the indices of source, target and weight; -1 for no weight."""
    if columns is not None:
        if len(columns) not in (2, 3):
            raise RequestError("columns must give the source, the target and optionally the weight")
        indices = [_column_index(column, names) for column in columns]
        if len(set(indices)) < len(indices):
            raise RequestError("columns must be distinct")
        if weighted and weight is None and len(indices) == 2:
            raise RequestError("weighted=True needs a third entry in columns, for the weight")
    else:
        indices = _known_columns(names, fields, weighted) or list(range(min(len(fields), 3)))
    if len(indices) < 2:
        text.fail_at(text.peek(comments=""), "two columns: a source and a target")
    if weight is not None:
        if weight not in (names or []):
            raise no_such_weight(weight, "column", names or [])
        indices = [*indices[:2], (names or []).index(weight)]
        if indices[2] in indices[:2]:
            end = "source" if indices[2] == indices[0] else "target"
            raise RequestError(
                f"the column {weight!r} is taken for the {end}, and cannot be the weight: say "
                "which columns are the ends, columns=['from', 'to']"
            )
    elif weighted is False:
        indices = indices[:2]
    elif weighted and len(indices) == 2:
        if len(fields) > 2:
            text.fail(f"the columns {', '.join(names or [])}", "a column named 'weight'")
        indices.append(2)  # missing: the caller reports it
    return indices[0], indices[1], indices[2] if len(indices) == 3 else -1


def _known_columns(names: list[str] | None, fields: list[str], weighted: bool | None) -> list[int]:
    """Return the indices of columns with known names; empty unless both ends are found.

    A third column without a known name is the weight if it holds numbers.
    """
    lower = [name.lower() for name in names or []]
    indices = [next((lower.index(n) for n in known if n in lower), -1) for known in _COLUMN_NAMES]
    if -1 in indices[:2]:
        return []
    if indices[2] >= 0:
        return indices
    unnamed = len(lower) == 3 and 2 not in indices and len(fields) > 2
    is_weight = unnamed and (weighted or is_number(unquoted(fields[2])))
    return [*indices[:2], 2] if is_weight else indices[:2]


def _column_index(column: str | int, names: list[str] | None) -> int:
    if not isinstance(column, str):
        if not isinstance(column, int) or column < 0:
            raise RequestError(f"columns are names or numbers from 0, not {column!r}")
        return column
    if names is None:
        raise RequestError(f"column {column!r} needs a header line; without one, pass numbers")
    if column not in names:
        has = printable(", ".join(names))
        raise RequestError(f"no column {column!r}; the columns are {has}")
    return names.index(column)


# ---- writing ----------------------------------------------------------------------------------


def write(
    graph: Graph, sink: Sink, *, separator: str | None = None, header: bool | None = None
) -> None:
    table = sink.suffix == ".csv"
    separator = separator or ("," if table else "\t")
    if separator not in (" ", *SEPARATORS):
        raise RequestError(f"separator must be a space, tab, comma or semicolon, not {separator!r}")
    names = _vertex_names(graph, separator)
    if not table:
        sink.write(_comment(graph).encode())
    if header is None:
        header = table or _may_look_like_header(graph)
    if header:
        columns = ["source", "target"] + ["weight"] * (graph.weights is not None)
        sink.write((separator.join(columns) + "\n").encode())
    directions = "all" if graph.directed else "upward"
    write_arcs(graph, sink, names=names, separator=separator, directions=directions)


def _comment(graph: Graph) -> str:
    kind = "Directed graph, one arc" if graph.directed else "Undirected graph, one edge"
    title = f": {graph.name}" if graph.name and graph.name.isprintable() else ""
    edges = graph.m if graph.directed else graph.m // 2
    return f"# {kind} a line{title}\n# Nodes: {graph.n} Edges: {edges}\n"


def _may_look_like_header(graph: Graph) -> bool:
    """Return whether a line of labels could be mistaken for a header."""
    known = {name for names in _COLUMN_NAMES[:2] for name in names}
    labels = [] if graph.labels is None else graph.labels.tolist()
    return any(isinstance(label, str) and label.lower() in known for label in labels)


def _vertex_names(graph: Graph, separator: str) -> VertexNames:
    if graph.labels is None:
        return VertexNames()
    labels = graph.labels.tolist()
    if graph.labels.dtype.kind in "iu":
        return VertexNames(numbers=graph.labels.astype(np.int64))
    for label in labels:
        if not isinstance(label, str) or "\n" in label or "\r" in label:
            raise GraphError(
                f"label {label!r} cannot be written to an edge list: labels must be integers or "
                "single-line strings"
            )
    return VertexNames.from_strings([_quoted(label, separator).encode() for label in labels])


def _quoted(name: str, separator: str) -> str:
    plain = (
        name
        and not is_integer(name)
        and not name.startswith(("#", "%", "\ufeff"))
        and not any(c in name for c in (separator, " ", "\t", ",", ";", '"'))
    )
    return name if plain else '"' + name.replace('"', '""') + '"'


EDGE_LIST = Format(
    "edge_list",
    "edge list",
    (".txt", ".tsv", ".csv", ".el", ".wel", ".edges", ".edgelist", ".snap"),
    read,
    write,
    text=True,
)
