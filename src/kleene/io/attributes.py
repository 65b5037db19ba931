"""Attributes of nodes and edges in GraphML and GML: columns of text that become numbers.

A column takes the text of an attribute while the file is read. Every so often the native core
parses what was collected, by the rules of all text formats: an error names the line, and memory
holds numbers rather than strings.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.graph.positions import LINESTRING
from kleene.graph.rows import Lines
from kleene.io.source import Source
from kleene.io.text import ColumnLayout, excerpt

__all__ = [
    "LONGEST_VALUE",
    "SEPARATORS",
    "Column",
    "LineColumn",
    "guess_separator",
    "is_integer",
    "is_missing",
    "is_number",
    "numbers_in",
    "split_fields",
    "unquoted",
]

Array = NDArray[Any]

LONGEST_VALUE = 1 << 24  # characters of one attribute that is read
_PENDING = 1 << 22  # characters that are collected before they are parsed


def numbers_in(source: Source, texts: list[str], lines: list[int], column: int = 0) -> Array:
    """Return the number in a column of each text, which came from these lines of the file."""
    try:
        *_, numbers, _, _ = _native.parse_arcs(
            np.frombuffer("\n".join(texts).encode(errors="replace") + b"\n", np.uint8),
            **asdict(ColumnLayout(-1, -1, column, exact=False)),
            begin=0,
            line=1,
            grain=1 << 20,
            threads=1,
            progress=None,
        )
    except _native.BadLine as bad:
        row, *_, expected = bad.args
        found = excerpt(texts[min(row, len(texts)) - 1].encode(errors="replace"))
        source.fail(f"found {found}, expected {expected}", lines[min(row, len(texts)) - 1])
    assert numbers is not None
    if len(numbers) != len(texts):
        at = next(i for i, text in enumerate(texts) if not text.strip())
        source.fail("found an empty value, expected a number", lines[at])
    return np.asarray(numbers)


class Column:
    """Numbers for some of the nodes or edges."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._texts: list[str] = []
        self._lines: list[int] = []  # of the texts
        self._size = 0  # of the texts
        self._parts: list[Array] = []
        self.rows = array("q")

    def add(self, row: int, text: str, line: int) -> None:
        """Set the entry of a row, which is the last or one after it."""
        if len(self.rows) and self.rows[-1] == row:
            self._source.fail("found two values of one attribute, expected one", line)
        self.rows.append(row)
        self._texts.append(" ".join(text.split()))
        self._lines.append(line)
        self._size += len(text) + 64
        if self._size > _PENDING:
            self._parse_pending()

    def _parse_pending(self) -> None:
        if self._texts:
            self._parts.append(self._parsed(self._texts, self._lines))
        self._texts, self._lines, self._size = [], [], 0

    def _parsed(self, texts: list[str], lines: list[int]) -> Array:
        return numbers_in(self._source, texts, lines)

    @property
    def nbytes(self) -> int:
        """Bound on the memory held."""
        return 2 * self._size + 16 * len(self.rows) + sum(part.nbytes for part in self._parts)

    def values(self, count: int, default: str | None = None) -> Array | None:
        """Return the entries of rows 0 .. count - 1; None if one has no value and no default."""
        self._parse_pending()
        values = np.concatenate(self._parts) if self._parts else np.empty(0, np.int32)
        if len(values) < count and default is None:
            return None
        rows = np.asarray(self.rows)
        if len(values) == count and (rows[1:] > rows[:-1]).all():
            return values
        filled = values if default is None else numbers_in(self._source, [default], [1])
        whole = np.full(count, filled[0], np.result_type(values.dtype, filled.dtype))
        whole[rows] = values
        return whole


class LineColumn(Column):
    """Street geometry, as OSMnx writes it: ``LINESTRING (12.5 41.9, 12.6 41.8)``.

    A value of another kind says nothing.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._counts = array("q")  # of the points of each line

    def add(self, row: int, text: str, line: int) -> None:
        if text.lstrip()[:10].upper() == "LINESTRING":
            super().add(row, text, line)

    def _parsed(self, texts: list[str], lines: list[int]) -> Array:
        points: list[str] = []
        point_lines: list[int] = []
        for text, line in zip(texts, lines, strict=True):
            matched = LINESTRING.fullmatch(text)
            if matched is None:
                self._source.fail(
                    f"found {excerpt(text.encode())}, expected 'LINESTRING (<x> <y>, ...)'", line
                )
            held = [] if matched[1] is None else matched[1].split(",")
            points += held
            point_lines += [line] * len(held)
            self._counts.append(len(held))
        pairs = [numbers_in(self._source, points, point_lines, column) for column in (0, 1)]
        coordinates = np.stack([np.asarray(pair, np.float64) for pair in pairs], axis=1)
        if not np.isfinite(coordinates).all():
            at = int(np.argmin(np.isfinite(coordinates).all(axis=1)))
            self._source.fail("found an infinite coordinate, expected a number", point_lines[at])
        return coordinates

    def lines(self, count: int) -> Lines | None:
        """Return a line for each of the rows 0 .. count - 1, empty if it has none."""
        self._parse_pending()
        if not len(self.rows):
            return None
        counts = np.zeros(count + 1, np.int64)
        counts[1 + np.asarray(self.rows)] = self._counts
        return Lines(np.cumsum(counts), np.concatenate(self._parts))


# ---- The fields of a line of text: separators, quotes, numbers ----------------------------------

SEPARATORS = "\t,;"  # besides the space
_MISSING = ("", "na", "n/a", "<na>", "nan", "null", "none")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def guess_separator(line: str) -> str:
    """Return the separator of the fields of a line; a space stands for any run of blanks."""
    bare = _QUOTED.sub('""', line)
    separator = next((c for c in SEPARATORS if c in bare), " ")
    # Tabs between numbers count as whitespace; names between tabs may contain spaces.
    if separator == "\t" and all(is_number(field) for field in bare.split()):
        return " "
    return separator


def split_fields(line: str, separator: str) -> list[str]:
    """Return the fields as written; a quoted field may contain separators."""
    if separator == " ":
        line = line.strip(" \t\r")
    masked = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
    gaps = re.finditer("[ \t]+" if separator == " " else re.escape(separator), masked)
    edges = [0, *(edge for gap in gaps for edge in gap.span()), len(line)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [line[begin:end].strip(" \t\r") for begin, end in pairs]


def unquoted(field: str) -> str:
    """Return a field without its quotes."""
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field


def is_integer(field: str) -> bool:
    """Return whether a field is an integer."""
    digits = field[1:] if field[:1] in ("+", "-") else field
    return digits.isascii() and digits.isdigit()


def is_number(field: str) -> bool:
    """Return whether a field is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_missing(field: str) -> bool:
    """Return whether a field stands for no value, as programs write that."""
    return field.strip().lower() in _MISSING
