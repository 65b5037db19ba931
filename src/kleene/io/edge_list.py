"""Edge lists: SNAP, TSV, CSV and their like, one arc a line, with or without a weight.

What a file looks like is read off its first line that is no comment: the separator, whether that
line is a header, whether vertices are numbers or names, and whether there is a weight. Options say
it outright. The vertices are the numbers that occur, in increasing order, or the names, as they
appear; they become the labels of the graph unless they are 0 .. n - 1 already.
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

_SEPARATORS = "\t,;"  # beside the blank
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
        raise RequestError(f"separator must be one ASCII character, not {separator!r}")
    fields = _split(first, separator)
    if header is None:
        header = _is_header(fields, columns)
    titles = [_bare(field) for field in fields] if header else None
    if header:
        text.skip_line()
        first = text.peek(comments)
        fields = fields if first is None else _split(first, separator)
    where = _find_columns(text, columns, titles, fields, weighted)
    if max(where) >= len(fields):
        text.fail_at(first, f"at least {max(where) + 1} columns")
    if names is None:
        names = _are_names(fields, where)
    layout = ColumnLayout(
        *where,
        separator=separator,
        comments=comments,
        exact=max(where) + 1 == len(fields),
        low=np.iinfo(np.int64).min if relabel else 0,
        names=names,
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


# ---- what a file looks like -------------------------------------------------------------------


def _guess_separator(line: str) -> str:
    bare = _QUOTED.sub('""', line)
    separator = next((c for c in _SEPARATORS if c in bare), " ")
    # Numbers between tabs are numbers between blanks; names between tabs may hold blanks.
    if separator == "\t" and all(_is_number(field) for field in bare.split()):
        return " "
    return separator


def _split(line: str, separator: str) -> list[str]:
    """Return the fields as they are written; one in quotes may hold separators."""
    if separator == " ":
        line = line.strip(" \t\r")
    hidden = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
    gaps = re.finditer("[ \t]+" if separator == " " else re.escape(separator), hidden)
    edges = [0, *(edge for gap in gaps for edge in gap.span()), len(line)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [line[begin:end].strip(" \t\r") for begin, end in pairs]


def _bare(field: str) -> str:
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
    """Is the first line one of titles? Yes if asked for by title, or if it says what we know.

    Not if there is a number among them, nor for titles of one letter: vertices are called so.
    """
    if columns is not None and any(isinstance(column, str) for column in columns):
        return True
    lower = [_bare(field).lower() for field in fields]
    return not any(_is_number(field) for field in lower) and all(
        any(len(title) > 1 and title in lower for title in known) for known in _COLUMN_NAMES[:2]
    )


def _are_names(fields: list[str], where: tuple[int, int, int]) -> bool:
    """Are the vertices names? Yes if they are no whole numbers, or if they stand in quotes.

    Quotes around the weight too say nothing: some programs put them everywhere.
    """
    *ends, weight = (fields[i] if i >= 0 else "" for i in where)
    quoted = any(field.startswith('"') for field in ends) and not weight.startswith('"')
    return quoted or not all(_is_integer(_bare(field)) for field in ends)


def _find_columns(
    text: TextReader,
    columns: Sequence[str | int] | None,
    titles: list[str] | None,
    fields: list[str],
    weighted: bool | None,
) -> tuple[int, int, int]:
    """Return the places of source, target and weight; -1 for no weight."""
    if columns is not None:
        if len(columns) not in (2, 3):
            raise RequestError("columns must name the source, the target and, if any, the weight")
        found = [_place(column, titles) for column in columns]
        if len(set(found)) < len(found):
            raise RequestError("columns must be different ones")
        if weighted and len(found) == 2:
            raise RequestError("weighted=True needs a third of the columns")
    else:
        found = _titled(titles, fields, weighted) or list(range(min(len(fields), 3)))
    if len(found) < 2:
        text.fail_at(text.peek(comments=""), "two columns: a source and a target")
    if weighted is False:
        found = found[:2]
    elif weighted and len(found) == 2:
        if len(fields) > 2:
            text.fail(f"the columns {', '.join(titles or [])}", "a column titled 'weight'")
        found.append(2)  # which is missing
    return found[0], found[1], found[2] if len(found) == 3 else -1


def _titled(titles: list[str] | None, fields: list[str], weighted: bool | None) -> list[int]:
    """Return the places of the columns that have titles we know; empty without both ends.

    Where there is one column more, behind the ends, it is the weight if it holds numbers.
    """
    lower = [title.lower() for title in titles or []]
    places = [next((lower.index(t) for t in known if t in lower), -1) for known in _COLUMN_NAMES]
    if -1 in places[:2]:
        return []
    if places[2] >= 0:
        return places
    other = len(lower) == 3 and 2 not in places and len(fields) > 2
    takes = other and (weighted or _is_number(_bare(fields[2])))
    return [*places[:2], 2] if takes else places[:2]


def _place(column: str | int, titles: list[str] | None) -> int:
    if not isinstance(column, str):
        if not isinstance(column, int) or column < 0:
            raise RequestError(f"columns count from 0; there is no column {column}")
        return column
    if titles is None:
        raise RequestError(f"column {column!r} needs a header line; without one, give numbers")
    if column not in titles:
        raise RequestError(f"there is no column {column!r}; there are {', '.join(titles)}")
    return titles.index(column)


# ---- writing ----------------------------------------------------------------------------------


def write(
    graph: Graph, sink: Sink, *, separator: str | None = None, header: bool | None = None
) -> None:
    table = sink.suffix == ".csv"
    separator = separator or ("," if table else "\t")
    if separator not in (" ", *_SEPARATORS):
        raise RequestError(f"separator must be a blank, tab, comma or semicolon: {separator!r}")
    names = _vertex_names(graph, separator)
    if not table:
        sink.write(_comment(graph).encode())
    if header is None:
        header = table or _may_be_titles(graph)
    if header:
        titles = ["source", "target"] + ["weight"] * (graph.weights is not None)
        sink.write((separator.join(titles) + "\n").encode())
    directions = "all" if graph.directed else "upward"
    write_arcs(graph, sink, names=names, separator=separator, directions=directions)


def _comment(graph: Graph) -> str:
    kind = "Directed graph, one arc" if graph.directed else "Undirected graph, one edge"
    title = f": {graph.name}" if graph.name and graph.name.isprintable() else ""
    edges = graph.m if graph.directed else graph.m // 2
    return f"# {kind} a line{title}\n# Nodes: {graph.n} Edges: {edges}\n"


def _may_be_titles(graph: Graph) -> bool:
    """Could a line of labels be taken for one of titles?"""
    known = {title for titles in _COLUMN_NAMES[:2] for title in titles}
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
                f"label {label!r} cannot be written to an edge list: labels must be integers, or "
                "strings of one line each"
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
