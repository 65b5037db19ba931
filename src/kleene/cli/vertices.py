"""Vertices on the command line: a text is the label that it spells, as in Python.

The type of the labels says how a text is read; ``graph.index`` says whether there is such a vertex,
and which are near. Without labels, a vertex is its position. Lists of vertices come as several
texts, with commas, or in text files: one on a line, origins and destinations, turns.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from kleene import Graph

__all__ = [
    "names",
    "parse_vertex",
    "parse_vertices",
    "read_demand",
    "read_pairs",
    "read_table",
]

_TEXT_FILES = (".txt", ".csv", ".tsv")
_NUMBER = re.compile(r"-?[0-9]{1,19}")  # int64 has no more digits
#: Other names of columns.
_SAME = {
    "source": "origin", "src": "origin", "from": "origin",
    "target": "destination", "dst": "destination", "to": "destination", "trips": "volume",
}  # fmt: skip


def parse_vertex(graph: Graph, text: str) -> Any:
    """Return the label that a text spells, or raise with near labels."""
    from kleene.errors import GraphError, RequestError, message_of

    labels = graph.labels
    label: Any = int(text) if _NUMBER.fullmatch(text) else text
    # Labels that are not all integers may be strings of digits, or of several types.
    if labels is not None and labels.dtype.kind not in "iu" and not _is_label(graph, label):
        label = text
    try:
        graph.index(label)
    except GraphError as error:
        raise RequestError(message_of(error)) from None
    return label


def parse_vertices(graph: Graph, texts: Sequence[str]) -> list[Any]:
    """Return the labels that texts spell.

    A text is a label, which may contain commas; or labels with commas between them; or the name of
    a file with a label on each line, where ``-`` is standard input.
    """
    found: list[Any] = []
    for text in texts:
        if _is_label(graph, text) or not (text == "-" or _is_file(text)):
            words = [text] if _is_label(graph, text) else text.split(",")
            found += [parse_vertex(graph, word.strip() if words[1:] else word) for word in words]
        else:
            parsers = {"vertex": partial(parse_vertex, graph)}
            found += read_table(text, parsers, separator="\n")["vertex"]
    return found


def _is_file(text: str) -> bool:
    """Return whether a text that is no label names a file, or looks as if it should."""
    name = Path(text)
    try:
        return name.is_file() or (name.suffix in _TEXT_FILES and not name.is_dir())
    except (OSError, ValueError):  # too long, or a null character
        return False


def _is_label(graph: Graph, label: Any) -> bool:
    from kleene.errors import GraphError

    try:
        graph.index(label)
    except GraphError:
        return False
    return True


def names(graph: Graph, positions: Any) -> Any:
    """Return the labels of positions as plain Python objects: one, or a list."""
    found = graph.label(positions)
    return found.tolist() if hasattr(found, "tolist") else found


# ---- text files ----------------------------------------------------------------------------------


def read_pairs(graph: Graph, path: str) -> list[tuple[Any, Any]]:
    """Return the pairs of origins and destinations in a file; ``-`` is standard input."""
    parsers = dict.fromkeys(("origin", "destination"), partial(parse_vertex, graph))
    table = read_table(path, parsers, same=_SAME)
    return list(zip(table["origin"], table["destination"], strict=True))


def read_demand(graph: Graph, path: str) -> dict[str, list[Any]]:
    """Return the columns of a demand in a file; without volumes, each line is a trip."""
    parsers = dict.fromkeys(("origin", "destination"), partial(parse_vertex, graph))
    return read_table(path, parsers, {"volume": _as_volume}, same=_SAME, others=False)


def _as_volume(text: str) -> float:
    """Return the volume of a trip."""
    try:
        volume = float(text)
    except ValueError:
        volume = math.nan
    if not 0 <= volume < math.inf:
        raise ValueError(f"volume must be a non-negative number, not {text!r}")
    return volume


def read_table(
    path: str,
    parsers: Mapping[str, Callable[[str], Any]],
    optional: Mapping[str, Callable[[str], Any]] | None = None,
    *,
    separator: str | None = None,
    same: Mapping[str, str] | None = None,
    others: bool = True,
) -> dict[str, list[Any]]:
    """Return columns of a text table, parsed; errors name file and line.

    The first line may be a header, which names two of the columns, or the only one. Without it,
    columns come in the order of ``parsers`` and ``optional``. Other columns are ignored, or
    without ``others`` refused where a column is missing.
    """
    from kleene.errors import FormatError, RequestError, message_of

    name = "<stdin>" if path == "-" else path
    known = {**parsers, **(optional or {})}
    columns: dict[str, int] = {}
    table: dict[str, list[Any]] = {}
    for number, row in _rows(path, name, separator):
        if not columns:
            header = [(same or {}).get(cell.lower(), cell.lower()) for cell in row]
            is_header = len(set(header) & set(known)) >= min(2, len(parsers))
            given = header if is_header else list(known)[: max(len(parsers), len(row))]
            columns = {column: given.index(column) for column in given if column in known}
            table = {column: [] for column in columns}
            if is_header:
                missing, unknown = set(known) - set(columns), set(header) - set(known)
                if missing and unknown and not others:
                    raise FormatError(
                        f"{name}:{number}: no column {', '.join(sorted(missing))}, but "
                        f"{', '.join(sorted(unknown))}: rename the one that it is, or leave the "
                        "others out"
                    )
                continue
        if len(row) <= max(columns.values()):
            raise FormatError(
                f"{name}:{number}: found {len(row)} column(s), expected {', '.join(columns)}"
            )
        try:
            for column, at in columns.items():
                table[column].append(known[column](row[at]))
        except (RequestError, ValueError) as error:
            raise FormatError(f"{name}:{number}: ", message_of(error)) from None
    if not any(table.values()):
        raise FormatError(f"{name}: found no rows, expected lines of {', '.join(parsers)}")
    return table


def _rows(path: str, name: str, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line; the first line shows what separates them."""
    from kleene.errors import FormatError
    from kleene.io.attributes import guess_separator, split_fields, unquoted

    with _opened(path) as file:
        try:
            for number, text in enumerate(file, start=1):
                line = text.rstrip("\r\n")
                if not line.strip() or line.startswith("#"):
                    continue
                separator = separator or guess_separator(line)
                yield number, [unquoted(field) for field in split_fields(line, separator)]
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{name}: not UTF-8 text: {error.reason}; expected a text table, such as CSV"
            ) from None


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    if path == "-":
        yield sys.stdin
    else:
        with open(path, encoding="utf-8-sig") as file:
            yield file
