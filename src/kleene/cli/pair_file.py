"""Lists of origins and destinations: a text table with two columns, and perhaps more."""

from __future__ import annotations

import csv
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
_SEPARATORS = "\t,;"  # besides the space


def read_pairs(graph: Graph, path: str) -> list[tuple[Any, Any]]:
    """Return the pairs of labels in a file; ``-`` is standard input.

    The first two columns are the ends, unless a header names others; further columns are ignored.
    """
    from kleene.errors import FormatError, RequestError

    pairs: list[tuple[Any, Any]] = []
    ends = (0, 1)
    name = "<stdin>" if path == "-" else path
    with _opened(path) as file:
        for number, row in enumerate(_rows(file), start=1):
            if not row or row[0].startswith("#"):
                continue
            if number == 1:
                header = _header(row)
                ends = header or ends
                if header is not None:
                    continue
            if len(row) <= max(ends):
                raise FormatError(
                    f"{name}:{number}: found {len(row)} column(s), expected an origin and a "
                    "destination"
                )
            try:
                origin, destination = (parse_vertex(graph, row[at]) for at in ends)
            except RequestError as error:
                raise FormatError(f"{name}:{number}: {error}") from None
            pairs.append((origin, destination))
    if not pairs:
        raise FormatError(f"{name}: found no pairs, expected lines of origin and destination")
    return pairs


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    from kleene.errors import FormatError

    try:
        if path == "-":
            yield sys.stdin
        else:
            with open(path, newline="", encoding="utf-8-sig") as file:
                yield file
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 text: {error.reason}") from None
    except csv.Error as error:
        raise FormatError(f"{path}: {error}") from None


def _rows(file: TextIO) -> Iterator[list[str]]:
    """Yield the cells of each line; the first line shows what separates them."""
    first = file.readline()
    separator = next((c for c in _SEPARATORS if c in first), " ")

    def lines() -> Iterator[str]:
        yield first
        yield from file

    for row in csv.reader(lines(), delimiter=separator, skipinitialspace=True):
        yield [cell.strip() for cell in row if cell or separator != " "]


def _header(row: list[str]) -> tuple[int, int] | None:
    """Return the columns of the ends if this is a header."""
    lower = [cell.lower() for cell in row]
    origin, destination = (
        next((lower.index(name) for name in known if name in lower), None)
        for known in (_ORIGINS, _DESTINATIONS)
    )
    return None if origin is None or destination is None else (origin, destination)
