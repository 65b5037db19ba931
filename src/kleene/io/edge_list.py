"""Edge lists: SNAP, TSV, CSV and similar, one arc per line, with or without a weight.

The first line that is not a comment determines the separator, whether that line is a header,
whether vertices are numbers or names, and whether there is a weight; options override each. The
vertices are the numbers that occur, in increasing order, or the names in order of first appearance;
they become the labels of the graph unless they are 0 .. n - 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.labels import ids_from_numbers
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.io.text import ColumnLayout, TextReader, VertexNames, write_arcs

__all__ = ["EDGE_LIST"]

_SEPARATORS = "\t,;"  # besides the space
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_COLUMN_NAMES = (
    ("source", "src", "from", "fromnodeid", "u"),
    ("target", "dst", "to", "tonodeid", "v"),
    ("weight", "w", "cost", "length", "distance"),
)


def read(
    source: Source,
    *,
    directed: bool = True,
    weighted: bool | None = None,
    relabel: bool = True,
    names: bool | None = None,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    comments: str = "#%",
) -> Graph:
    text = TextReader(source)
    first = text.peek(comments)
    if first is None:
        return Graph.from_edges([], [], n=0, directed=directed, name=source.stem)
    if separator is None:
        separator = _guess_separator(first)
    elif len(separator) != 1 or not separator.isascii() or separator in '\r\n"':
        raise RequestError(f"separator must be a single ASCII character, not {separator!r}")
    fields = _split(first, separator)
    if header is None:
        header = _is_header(fields, columns)
    column_names = [_unquoted(field) for field in fields] if header else None
    if header:
        text.skip_line()
        first = text.peek(comments)
        fields = fields if first is None else _split(first, separator)
    indices = _find_columns(text, columns, column_names, fields, weighted)
    if max(indices) >= len(fields):
        text.fail_at(first, f"at least {max(indices) + 1} columns")
    if names is None:
        names = _are_names(fields, indices)
    layout = ColumnLayout(
        *indices,
        separator=separator,
        comments=comments,
        exact=max(indices) + 1 == len(fields),
        low=np.iinfo(np.int64).min if relabel else 0,
        names=bool(names),
    )
    sources, targets, weights, labels = text.arcs(layout)
    n: int | None = None
    kept: Any = labels
    if labels is not None:
        n = len(labels)
    elif relabel:
        sources, targets, kept, n = ids_from_numbers(sources, targets)
    return Graph.from_edges(
        sources,
        targets,
        weights,
        n,
        directed,
        labels=kept,
        name=source.stem,
        threads=source.threads,
    )


# ---- detection --------------------------------------------------------------------------------


def _guess_separator(line: str) -> str:
    unquoted = _QUOTED.sub('""', line)
    separator = next((c for c in _SEPARATORS if c in unquoted), " ")
    # Tabs between numbers count as whitespace; names between tabs may contain spaces.
    if separator == "\t" and all(_is_number(field) for field in unquoted.split()):
        return " "
    return separator


def _split(line: str, separator: str) -> list[str]:
    """Return the fields as written; a quoted field may contain separators."""
    if separator == " ":
        line = line.strip(" \t\r")
    masked = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
    gaps = re.finditer("[ \t]+" if separator == " " else re.escape(separator), masked)
    edges = [0, *(edge for gap in gaps for edge in gap.span()), len(line)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [line[begin:end].strip(" \t\r") for begin, end in pairs]


def _unquoted(field: str) -> str:
    """Return a field without its quotes."""
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field


def _is_integer(field: str) -> bool:
    digits = field[1:] if field[:1] in ("+", "-") else field
    return digits.isascii() and digits.isdigit()


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def _is_header(fields: list[str], columns: Sequence[str | int] | None) -> bool:
    """Return whether the first line is a header.

    It is if ``columns`` gives names, or if it has known names for both ends and no number. Names of
    one letter do not count, since vertices may have such names.
    """
    if columns is not None and any(isinstance(column, str) for column in columns):
        return True
    lower = [_unquoted(field).lower() for field in fields]
    return not any(_is_number(field) for field in lower) and all(
        any(len(name) > 1 and name in lower for name in known) for known in _COLUMN_NAMES[:2]
    )


def _are_names(fields: list[str], indices: tuple[int, int, int]) -> bool:
    """Return whether the vertices are names: not integers, or quoted.

    If the weight is quoted too, quotes do not count: some programs quote every field.
    """
    *ends, weight = (fields[i] if i >= 0 else "" for i in indices)
    quoted = any(field.startswith('"') for field in ends) and not weight.startswith('"')
    return quoted or not all(_is_integer(_unquoted(field)) for field in ends)


def _find_columns(
    text: TextReader,
    columns: Sequence[str | int] | None,
    names: list[str] | None,
    fields: list[str],
    weighted: bool | None,
) -> tuple[int, int, int]:
    """Return the indices of source, target and weight; -1 for no weight."""
    if columns is not None:
        if len(columns) not in (2, 3):
            raise RequestError("columns must give the source, the target and optionally the weight")
        indices = [_column_index(column, names) for column in columns]
        if len(set(indices)) < len(indices):
            raise RequestError("columns must be distinct")
        if weighted and len(indices) == 2:
            raise RequestError("weighted=True needs a third entry in columns, for the weight")
    else:
        indices = _known_columns(names, fields, weighted) or list(range(min(len(fields), 3)))
    if len(indices) < 2:
        text.fail_at(text.peek(comments=""), "two columns: a source and a target")
    if weighted is False:
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
    is_weight = unnamed and (weighted or _is_number(_unquoted(fields[2])))
    return [*indices[:2], 2] if is_weight else indices[:2]


def _column_index(column: str | int, names: list[str] | None) -> int:
    if not isinstance(column, str):
        if not isinstance(column, int) or column < 0:
            raise RequestError(f"columns are names or numbers from 0, not {column!r}")
        return column
    if names is None:
        raise RequestError(f"column {column!r} needs a header line; without one, pass numbers")
    if column not in names:
        raise RequestError(f"no column {column!r}; the columns are {', '.join(names)}")
    return names.index(column)


# ---- writing ----------------------------------------------------------------------------------


def write(
    graph: Graph, sink: Sink, *, separator: str | None = None, header: bool | None = None
) -> None:
    table = sink.suffix == ".csv"
    separator = separator or ("," if table else "\t")
    if separator not in (" ", *_SEPARATORS):
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
        and not _is_integer(name)
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
