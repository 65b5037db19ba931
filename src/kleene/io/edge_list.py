"""Edge lists: SNAP, TSV, CSV and similar, one arc per line, with or without a weight.

The first line that is not a comment determines the separator, whether vertices are numbers or
names, and whether there is a weight; options override each. It is a header if it has no number
where the next line has one, or if it calls the ends as tables do (see below) and they are no
vertices. The vertices are the numbers that occur, in increasing order, or the names in order of
first appearance; they become the labels of the graph unless they are 0 .. n - 1.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, FormatError, GraphError, GraphWarning, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.convert import no_such_weight
from kleene.graph.labels import ids_from_numbers
from kleene.graph.missing import DROP, MissingRows
from kleene.graph.weight_names import NumbersLeft, choose_weight, level_of_user
from kleene.io.attributes import (
    SEPARATORS,
    guess_separator,
    is_integer,
    is_missing,
    is_number,
    split_fields,
    unquoted,
)
from kleene.io.build import build_graph, directions_of, weight_options
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source, printable
from kleene.io.text import Arcs, ColumnLayout, TextReader, VertexNames, write_arcs

__all__ = [
    "EDGE_LIST",
    "FirstLine",
    "find_layout",
    "first_line",
    "known_ends",
]

#: Lines in which a value is looked for where the first one has none: takes 10 ms.
_MOST_LINES = 1_000


class Found(NamedTuple):
    """What the first lines of a text say."""

    layout: ColumnLayout
    oneway: int  # the column of directions, -1 for none
    left: NumbersLeft | None  # columns of numbers that may be weights
    first: FirstLine | None  # what the first line may be instead
    titles: Sequence[str] | None  # of the columns


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
    drop_missing: bool = False,
) -> Graph:
    text, dropping = TextReader(source), as_flag(drop_missing, "drop_missing")
    direction: bool | NDArray[Any]
    oneway, direction = (directed, True) if isinstance(directed, str) else (None, directed)
    layout_of = partial(
        find_layout, text, weight, weighted, relabel, names, columns,
        separator=separator, comments=comments, oneway=oneway, dropping=dropping,
    )  # fmt: skip
    found = layout_of(header=header)
    if found is None:
        return Graph.from_edges([], [], n=0, directed=direction, name=source.stem)
    first, read = found.first, _rows(text, found, dropping)
    if read is None:  # the first line is not a header
        found = layout_of(header=False)
        assert found is not None
        read = _complete_rows(text, found, dropping)
    arcs, missing = read
    if first is not None and first.offset == text.offset:
        _warn_of_header(source, first, arcs)
    sources, targets, weights, labels = arcs
    if oneway is not None:
        direction = _directions(text, found.layout, oneway, found.oneway)
    n: int | None = None
    kept: Any = labels
    if labels is not None:
        n = len(labels)
    elif relabel:
        sources, targets, kept, n = ids_from_numbers(sources, targets)
    return build_graph(
        source, sources, targets, weights, n, direction, labels=kept, keep_rows=keep_rows,
        left=found.left,
        complete=None if missing is None else missing.drop(printable(source.name)),
    )  # fmt: skip


def _rows(text: TextReader, found: Found, dropping: bool) -> tuple[Arcs, MissingRows | None] | None:
    """Return the arcs; None, at the first line again, if the supposed header is an arc itself."""
    first = found.first
    if first is None or not first.is_header:
        return _complete_rows(text, found, dropping)
    try:
        read = _complete_rows(text, found, dropping)
    except FormatError:
        if first.kind != "above integers":
            raise
        read = None  # names follow the integers
    if read is not None:
        names = read[0].names
        if names is None or not any(word in names for word in first.words):
            return read
    text.offset, text.line = first.offset, first.line
    return None


def _complete_rows(
    text: TextReader, found: Found, dropping: bool
) -> tuple[Arcs, MissingRows | None]:
    """Return the arcs, and the rows that were dropped since they have no value, if that is asked.

    Otherwise an error about such a row says how many there are.
    """
    missing = None
    if dropping:
        missing, lines = text.without_value(found.layout, found.titles)
        text.leave_out(lines)
    try:
        return text.arcs(found.layout), missing
    except FormatError as error:
        missing, _ = text.without_value(found.layout, found.titles)
        if dropping or not missing or error.line != missing.line:
            raise
        counted = FormatError(error.problem, f": {missing}", advice=DROP)
        counted.line = error.line
        raise counted from None


def _warn_of_header(source: Source, first: FirstLine, arcs: Arcs) -> None:
    """Warn if the ends of the first line occur in no other line, and so may be a header."""
    if arcs.names is None:
        return
    tail, head = arcs.sources[0], arcs.targets[0]
    others = arcs.sources[1:], arcs.targets[1:]
    if any(np.any(column == end) for column in others for end in (tail, head)):
        return
    words = printable(" and ".join(map(repr, first.words)))
    warnings.warn(
        GraphWarning(
            Text(
                f"{printable(source.name)}:{first.line}: took the first line for an edge between "
                f"{words}, which no other line has; pass ",
                Code("header=True"),
                " if it names the columns, ",
                Code("header=False"),
                " if not",
            )
        ),
        stacklevel=level_of_user(),
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
    dropping: bool = False,
) -> Found | None:
    """Return what the first lines say; None for a text without lines.

    The text is then at its first line behind the header.
    """
    weight, weighted = weight_options(weight, weighted, columns)
    line = text.peek(comments)
    if line is None:
        return None
    if separator is None:
        separator = guess_separator(line)
    elif len(separator) != 1 or not separator.isascii() or separator in '\r\n"':
        raise RequestError(
            Code("separator"), f" must be a single ASCII character, not {separator!r}"
        )
    fields = split_fields(line, separator)
    titles = [unquoted(field) for field in fields]
    named = [c for c in (*(columns or ()), weight, oneway) if isinstance(c, str)]
    first: FirstLine | None = None
    if header is None:
        below = _unquoted_fields(next(text.lines_below(comments), ""), separator)
        given = (columns or ())[:2]
        numbers = [c for c in given if isinstance(c, int)]
        tail, head = numbers if len(numbers) == 2 else (0, 1)
        first = first_line(titles, below, (tail, head), text.offset, text.line)
        header = bool(named) or first.is_header
        if named or first.kind in ("header", "edge"):
            first = None
    column_names = titles if header else None
    if header:
        text.skip_line()
        line = text.peek(comments)
        fields = fields if line is None else split_fields(line, separator)
    oneway_column = -1 if oneway is None else _column_index(oneway, column_names)
    ends = _find_ends(text, columns, column_names, fields)
    weight_column, left = _find_weight(
        text, columns, column_names, fields, weight, weighted, ends, oneway_column,
        (_unquoted_fields(below, separator) for below in text.lines_below(comments)),
    )  # fmt: skip
    indices = (*ends, weight_column)
    last = max(*indices, oneway_column)
    if last >= len(fields):
        text.fail_at(line, f"at least {last + 1} columns")
    if names is None:
        others = (_unquoted_fields(each, separator) for each in text.lines_below(comments))
        names = _are_names(_complete(fields, others, indices) if dropping else fields, indices)
    layout = ColumnLayout(
        *indices,
        separator=separator,
        comments=comments,
        exact=last + 1 == len(fields) and oneway is None,
        low=np.iinfo(np.int64).min if relabel else 0,
        names=bool(names),
    )
    return Found(layout, oneway_column, left, first, column_names)


def _complete(
    fields: list[str], below: Iterator[list[str]], indices: tuple[int, int, int]
) -> list[str]:
    """Return the fields of the first line that has values in all of these columns."""
    lines = (line for line in (fields, *islice(below, _MOST_LINES)) if len(line) > max(indices))
    complete = (line for line in lines if not any(is_missing(line[i]) for i in indices if i >= 0))
    return next(complete, fields)


def _are_names(fields: list[str], indices: tuple[int, int, int]) -> bool:
    """Return whether the vertices are names: not integers, or quoted.

    If the weight is quoted too, quotes do not count: some programs quote every field.
    """
    *ends, weight = (fields[i] if i >= 0 else "" for i in indices)
    quoted = any(field.startswith('"') for field in ends) and not weight.startswith('"')
    return quoted or not all(is_integer(unquoted(field)) for field in ends)


def _find_ends(
    text: TextReader,
    columns: Sequence[str | int] | None,
    names: list[str] | None,
    fields: list[str],
) -> tuple[int, int]:
    """Return the columns of source and target."""
    if columns is not None:
        if len(columns) not in (2, 3):
            raise RequestError(
                Code("columns"), " must give the source, the target and optionally the weight"
            )
        indices = [_column_index(column, names) for column in columns]
        if len(set(indices)) < len(indices):
            raise RequestError(Code("columns"), " must be distinct")
        return indices[0], indices[1]
    known = known_ends(names or [])
    if known is not None:
        return known
    if len(fields) < 2:
        text.fail_at(text.peek(comments=""), "two columns: a source and a target")
    return 0, 1


def _find_weight(
    text: TextReader,
    columns: Sequence[str | int] | None,
    names: list[str] | None,
    fields: list[str],
    weight: str | None,
    weighted: bool | None,
    ends: tuple[int, int],
    oneway: int,
    below: Iterator[list[str]],
) -> tuple[int, NumbersLeft | None]:
    """Return the column of the weight, or -1 and the columns of numbers that are left."""
    if weight is not None:
        if weight not in (names or []):
            raise no_such_weight(weight, "column", names or [])
        at = (names or []).index(weight)
        if at in ends:
            end = "source" if at == ends[0] else "target"
            raise RequestError(
                f"column {weight!r} was taken as the {end} and cannot be the weight, too: name the "
                "columns of the ends, ",
                Code("columns=['from', 'to']"),
            )
        return at, None
    if columns is not None and len(columns) == 3:
        return (-1 if weighted is False else _column_index(columns[2], names)), None
    if weighted is False:
        return -1, None
    present = _first_present([unquoted(field) for field in fields], below)
    titles: Sequence[Any] = names if names is not None else range(_width(present))
    chosen = choose_weight(
        titles, ends, oneway, lambda i: i < len(present) and is_number(present[i])
    )
    rest = [i for i in range(len(titles)) if i not in (*ends, oneway)]
    if chosen.at is not None:
        return chosen.at, None
    if names is None and rest and not chosen.others:
        return rest[0], None  # no number: the parser says so
    if weighted:
        if rest and (len(rest) > 1 or rest[0] < max(ends)):
            listed = ", ".join(map(str, titles))
            text.fail(f"the columns {listed}", "a column named 'weight'")
        return (rest[0] if rest else len(fields)), None  # missing: the caller reports it
    if not chosen.others:
        return -1, None
    advice = "" if names is not None else f"columns={[*ends, chosen.others[0]]}"
    return -1, NumbersLeft([titles[i] for i in chosen.others], advice)


def _first_present(fields: list[str], below: Iterator[list[str]]) -> list[str]:
    """Return the fields of a line, those that are missing from the first line that has one."""
    missing = [i for i, field in enumerate(fields) if is_missing(field)]
    for others in islice(below, _MOST_LINES if missing else 0):
        for i in missing:
            if i < len(others) and not is_missing(others[i]):
                fields[i] = others[i]
        missing = [i for i in missing if is_missing(fields[i])]
        if not missing:
            break
    return fields


def _unquoted_fields(line: str, separator: str) -> list[str]:
    return [unquoted(field) for field in split_fields(line, separator)]


def _width(fields: list[str]) -> int:
    """Return how many columns there are; a separator may end the line."""
    return len(fields) - (len(fields) > 2 and not fields[-1])


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
        raise RequestError(
            Code("separator"), f" must be a space, tab, comma or semicolon, not {separator!r}"
        )
    names = _vertex_names(graph, separator)
    if not table:
        sink.write(_comment(graph).encode())
    if header is None:
        header = table or names.characters is not None
    if header:
        columns = [*_titles(graph), *["weight"] * (graph.weights is not None)]
        sink.write((separator.join(columns) + "\n").encode())
    directions = "all" if graph.directed else "upward"
    write_arcs(graph, sink, names=names, separator=separator, directions=directions)


def _comment(graph: Graph) -> str:
    kind = "Directed graph, one arc" if graph.directed else "Undirected graph, one edge"
    title = f": {graph.name}" if graph.name and graph.name.isprintable() else ""
    edges = graph.m if graph.directed else graph.m // 2
    return f"# {kind} a line{title}\n# Nodes: {graph.n} Edges: {edges}\n"


def _titles(graph: Graph) -> tuple[str, str]:
    """Return known names of the ends that are not vertices."""
    labels = set() if graph.labels is None else set(graph.labels.tolist())
    source, target = "source", "target"
    while labels & {source, target}:
        source, target = f"{source}_id", f"{target}_id"
    return source, target


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


# ---- Whether the first line of a table is a header ----------------------------------------------
# It is one if it has no number where the next line has some. It is one by its words if both ends
# are called as tables call them (source and target, from and to, start and end, node_a and node_b,
# ...), unless such a word is a vertex elsewhere: the reader looks. Other words may be a header or
# an edge.

_THING = "(?:node|vertex|id|name|stop|station|stn|label|idx|index|no|key|code|osmid|point)*"
_SOURCE = re.compile(
    rf"{_THING}(?:source|src|from|start|begin|origin|orig|init|tail){_THING}|u|a(?:node|vertex)|"
    "(?:node|vertex)a"
)
_TARGET = re.compile(
    rf"{_THING}(?:target|tgt|trg|to|end|destination|dest|dst|term|head){_THING}|v|b(?:node|vertex)|"
    "(?:node|vertex)b"
)


class FirstLine(NamedTuple):
    """The first line of a table."""

    kind: Literal["header", "known", "above integers", "unknown", "edge"]
    words: tuple[str, ...]  # of the ends
    offset: int
    line: int

    @property
    def is_header(self) -> bool:
        """Whether it is taken for a header; of the known and unknown, the vertices decide."""
        return self.kind in ("header", "known", "above integers")


def known_ends(titles: Sequence[str]) -> tuple[int, int] | None:
    """Return the first columns with known names of the source and the target, if both are there."""
    plain = [re.sub(r"[^0-9a-z]", "", title.lower()) for title in titles]
    found = [
        next((i for i, title in enumerate(plain) if known.fullmatch(title)), -1)
        for known in (_SOURCE, _TARGET)
    ]
    return None if -1 in found else (found[0], found[1])


def first_line(
    titles: list[str], below: list[str], ends: tuple[int, int], offset: int, line: int
) -> FirstLine:
    """Return what the first line is, by the fields of the next; ``ends`` unless it names them."""
    known = known_ends(titles)
    ends = known or ends
    words = tuple(titles[i] for i in ends if i < len(titles))

    def is_what() -> Literal["header", "known", "above integers", "unknown", "edge"]:
        if len(words) < 2 or any(map(is_number, titles)):
            return "edge"
        if any(is_number(field) for i, field in enumerate(below) if i not in ends):
            return "header"
        if known is not None:
            return "known"
        if max(ends) < len(below) and all(is_integer(below[i]) for i in ends):
            return "above integers"
        return "unknown"

    return FirstLine(is_what(), words, offset, line)
