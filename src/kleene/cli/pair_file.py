"""Lists of origins and destinations: a text table with two columns, and perhaps more."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from kleene.cli.vertices import parse_vertex

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["read_pairs"]

_ORIGINS = ("origin", "source", "from", "src")
_DESTINATIONS = ("destination", "target", "to", "dst")


def read_pairs(graph: Graph, path: str) -> list[tuple[Any, Any]]:
    """Return the pairs of labels in a file; ``-`` is standard input.

    The first two columns are the ends, unless a header names others; further columns are ignored.
    """
    from kleene.errors import FormatError, RequestError

    pairs: list[tuple[Any, Any]] = []
    ends: tuple[int, int] | None = None
    name = "<stdin>" if path == "-" else path
    for number, row in _rows(path, name):
        if ends is None:
            header = _header(row)
            ends = header or (0, 1)
            if header is not None:
                continue
        if len(row) <= max(ends):
            raise FormatError(
                f"{name}:{number}: found {len(row)} column(s), expected an origin and a destination"
            )
        try:
            origin, destination = (parse_vertex(graph, row[at]) for at in ends)
        except RequestError as error:
            raise FormatError(f"{name}:{number}: {error}") from None
        pairs.append((origin, destination))
    if not pairs:
        raise FormatError(f"{name}: found no pairs, expected lines of origin and destination")
    return pairs


def _rows(path: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line; the first line shows what separates them."""
    from kleene.errors import FormatError
    from kleene.io.fields import guess_separator, split_fields, unquoted

    separator: str | None = None
    with _opened(path) as file:
        try:
            for number, text in enumerate(file, start=1):
                line = text.rstrip("\r\n")
                if not line.strip() or line.startswith("#"):
                    continue
                separator = separator or guess_separator(line)
                yield number, [unquoted(field) for field in split_fields(line, separator)]
        except UnicodeDecodeError as error:
            raise FormatError(f"{name}: not UTF-8 text: {error.reason}") from None


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    if path == "-":
        yield sys.stdin
    else:
        with open(path, encoding="utf-8-sig") as file:
            yield file


def _header(row: list[str]) -> tuple[int, int] | None:
    """Return the columns of the ends if this is a header."""
    lower = [cell.lower() for cell in row]
    origin, destination = (
        next((lower.index(name) for name in known if name in lower), None)
        for known in (_ORIGINS, _DESTINATIONS)
    )
    return None if origin is None or destination is None else (origin, destination)
