"""Common code of the text formats: headers are read here, bodies are parsed and written natively.

A format describes its lines by a :class:`ColumnLayout`; the native core parses them on all cores.
It reports an error as an offset and what it expected there, which becomes a ``file:line:`` message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.graph.labels import NAME_BYTES
from kleene.graph.missing import MissingRows
from kleene.io.sink import Sink
from kleene.io.source import Source, printable
from kleene.system.machine import threads_for

__all__ = [
    "Arcs",
    "ColumnLayout",
    "TextReader",
    "VertexNames",
    "excerpt",
    "write_arcs",
    "write_rows",
]

Array = NDArray[Any]

GRAIN = 1 << 20  # bytes of text that a thread parses at a time
ARCS_AT_A_TIME = 1 << 21  # arcs (or vertices) formatted before they are written
LONGEST_HEADER = 1 << 16  # bytes of a header line that are read
INT64 = np.iinfo(np.int64)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONE_RETURN = re.compile(rb"\r(?!\n|\Z)")


class Arcs(NamedTuple):
    """Parsed arcs; ``names`` only if the vertices are names."""

    sources: Array
    targets: Array
    weights: Array | None
    names: list[str] | None


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a line. Columns are numbered from 0; -1 means none."""

    source: int = 0
    target: int = 1
    weight: int = -1
    separator: str = " "  # a space stands for any run of spaces and tabs
    comments: str = ""  # characters that start a comment line
    tag: str = ""  # required content of the first column
    exact: bool = True  # no field may follow the last column
    kind: str = "any"  # type of the weights: "any", "integer" or "real"
    low: int = INT64.min  # the smallest and the largest vertex as written in the file
    high: int = INT64.max
    base: int = 0  # subtracted from every vertex
    names: bool = False  # vertices are names, not numbers

    def __post_init__(self) -> None:
        given = self.columns
        if len(set(given)) < len(given):  # the second would stay undefined
            raise ValueError(f"a column is read once, and {given} name one twice")

    @property
    def columns(self) -> list[int]:
        """The columns that are read: of the source, the target and the weight."""
        return [at for at in (self.source, self.target, self.weight) if at >= 0]


#: How programs write that there is no number.
_NO_NUMBER = rb"na|n/a|<na>|nan|null|none"


def _line_without_value(layout: ColumnLayout) -> re.Pattern[bytes]:
    """Return what matches a line without a value in a column that is read, with a group for each.

    A name has a value unless its field is empty.
    """
    if layout.separator == " ":
        between, blank, inside = rb"[ \t]++", rb"[ \t]*+", rb"(?=[ \t])"
        field = rb'(?:"(?:[^"\r\n]|"")*+"|[^ \t\r\n]++)'
        number, name = rb'(?:"(?:%s)?"|%s)' % (_NO_NUMBER, _NO_NUMBER), rb"(?!)"
    else:
        between = re.escape(layout.separator.encode())
        blank = rb" *+" if layout.separator == "\t" else rb"[ \t]*+"
        inside, other = rb"(?=%s%s)" % (blank, between), rb"[^\r\n%s]*+" % between
        field = rb'%s(?:"(?:[^"\r\n]|"")*+"%s|%s)' % (blank, other, other)
        number, name = rb'(?:"(?:%s)?"|(?:%s)?)' % (_NO_NUMBER, _NO_NUMBER), rb""
    at_end = rb"(?:%s|(?=[ \t]*\r?$))" % inside
    missing = []
    for at in layout.columns:
        value = name if layout.names and at != layout.weight else number
        behind = at_end if at == max(layout.columns) else inside
        missing.append(rb"((?:%s%s){%d}%s%s%s)" % (field, between, at, blank, value, behind))
    comment = rb"(?![%s])" % re.escape(layout.comments.encode()) if layout.comments else b""
    return re.compile(rb"^%s%s(?:%s)[^\n]*" % (blank, comment, rb"|".join(missing)), re.M | re.I)


class TextReader:
    """A text file, or whole lines of one, and a position in it."""

    def __init__(self, source: Source, lines: tuple[int, int] | None = None) -> None:
        begin, end = lines or (0, source.size)
        if begin == 0:
            source.require_utf8()
        self.source = source
        self.data = (
            source.data if lines is None else source.read(np.dtype(np.uint8), end - begin, begin)
        )
        self._whole = self.data  # also the lines that are left out
        marked = begin == 0 and bytes(self.data[:3]) == _BYTE_ORDER_MARK
        self.offset = len(_BYTE_ORDER_MARK) if marked else 0
        self.line = 1

    def fail(self, found: str, expected: str, line: int | None = None) -> NoReturn:
        """Raise the error for a line, by default the current one."""
        self.source.fail(f"found {found}, expected {expected}", self.line if line is None else line)

    def fail_at(self, line: str | None, expected: str) -> NoReturn:
        """Raise the error for what :meth:`peek` returned."""
        self.fail("the end of the file" if line is None else excerpt(line.encode()), expected)

    def peek(self, comments: str) -> str | None:
        """Return the next line that is neither blank nor a comment, or None, without consuming it.

        A line longer than any header is cut.
        """
        begin = self.offset
        self.offset, self.line = _native.skip_comments(
            self.data, begin=begin, line=self.line, comments=comments
        )
        end = min(self._line_end(self.offset), self.offset + LONGEST_HEADER)
        if _LONE_RETURN.search(self.data[begin : end + 1].data):
            self.fail("a lone carriage return", r"lines that end in \n or \r\n")
        if self.offset == len(self.data):
            return None
        return bytes(self.data[self.offset : end]).decode("utf-8", "backslashreplace")

    def lines_below(self, comments: str) -> Iterator[str]:
        """Return the lines after the one that :meth:`peek` returned."""
        at = self.offset
        while True:
            begin = min(self._line_end(at) + 1, len(self.data))
            at, _ = _native.skip_comments(self.data, begin=begin, line=0, comments=comments)
            if at == len(self.data):
                return
            end = min(self._line_end(at), at + LONGEST_HEADER)
            yield bytes(self.data[at:end]).decode("utf-8", "backslashreplace")

    def skip_line(self) -> None:
        """Advance past the line that :meth:`peek` returned."""
        self.offset = min(self._line_end(self.offset) + 1, len(self.data))
        self.line += 1

    def _line_end(self, begin: int) -> int:
        width = 1 << 12
        while begin < len(self.data):
            newlines = np.flatnonzero(self.data[begin : begin + width] == ord("\n"))
            if len(newlines):
                return begin + int(newlines[0])
            begin += width
            width *= 2
        return len(self.data)

    def require_vertices(self, n: int, line: int) -> None:
        """Raise if the number of vertices declared on this line does not fit in memory."""
        require_memory(
            17 * (n + 1),  # the offsets, the labels, and what checks them
            f"{self.source.name}:{line}: a graph of {n:,} vertices",
            "correct the line if there are fewer, or use a machine with more memory",
        )

    # ---- bodies ---------------------------------------------------------------------------

    def arcs(self, layout: ColumnLayout) -> Arcs:
        """Parse the rest of the text as one arc per line."""
        self.source.require_memory(len(self.data))
        try:
            sources, targets, weights, characters, starts = _native.parse_arcs(
                self.data, **asdict(layout), **self._parse_arguments()
            )
        except _native.BadLine as bad:
            raise self._line_error(bad) from None
        self._finish()
        names = self._decode_names(characters, starts) if layout.names else None
        return Arcs(sources, targets, weights, names)

    def without_value(
        self, layout: ColumnLayout, titles: Sequence[str] | None
    ) -> tuple[MissingRows, list[tuple[int, int]]]:
        """Return the rows that have no value in a column of the layout, and where they are."""
        text, blank = self._whole.data, " " if layout.separator == "\t" else "[ \t]"
        found = list(_line_without_value(layout).finditer(text, self.offset))
        columns = sorted({layout.columns[int(line.lastindex or 1) - 1] for line in found})
        titled = len(titles or ())  # a header may be shorter than the rows
        names = [titles[at] if titles and at < titled else at for at in columns]
        comment = f"(?:[{re.escape(layout.comments)}][^\n]*)?" if layout.comments else ""
        no_row = re.compile(rf"^{blank}*+{comment}+\r?$".encode(), re.M)
        others = [line.start() for line in no_row.finditer(text, self.offset)]
        ends = self.offset + np.flatnonzero(self._whole[self.offset :] == ord("\n"))
        begins = np.array([line.start() for line in found], np.int64)
        lines = np.searchsorted(ends, begins)
        rows, count = lines - np.searchsorted(others, begins), len(ends) + 1 - len(others)
        first = self.line + int(lines[0]) if found else None
        return MissingRows(rows, count, names, first), [line.span() for line in found]

    def leave_out(self, lines: Sequence[tuple[int, int]]) -> None:
        """Leave out what is in these lines; all others keep their numbers."""
        self.data = self._whole.copy() if lines else self._whole
        for begin, end in lines:
            self.data[begin:end] = ord(" ")

    def rows(
        self, n: int, skipped: int, weighted: bool, comments: str
    ) -> tuple[Array, Array, Array | None]:
        """Parse the rest of the text as one vertex per line, into CSR arrays."""
        # Besides the arcs: offsets, also of the reverse arcs. Each vertex has a line.
        self.source.require_memory(len(self.data), 24 * (min(n, len(self.data)) + 1))
        try:
            csr = _native.parse_rows(
                self.data,
                n=n,
                skipped=skipped,
                weighted=weighted,
                comments=comments,
                **self._parse_arguments(),
            )
        except _native.BadLine as bad:
            raise self._line_error(bad) from None
        self._finish()
        return csr

    def _parse_arguments(self) -> dict[str, Any]:
        return {
            "begin": self.offset,
            "line": self.line,
            "grain": GRAIN,
            "threads": threads_for(len(self.data) // 16, self.source.threads),
            "progress": self.source.progress,
        }

    def _finish(self) -> None:
        if self.source.progress is not None:
            self.source.progress(len(self.data), len(self.data))

    def _line_error(self, bad: _native.BadLine) -> Exception:
        line, begin, end, expected = bad.args
        piece = excerpt(bytes(self.data[begin : min(end, begin + 200)]))
        start = begin
        while start > max(0, begin - 200) and self.data[start - 1] != ord("\n"):
            start -= 1
        context = excerpt(bytes(self.data[start : min(self._line_end(begin), start + 200)]))
        found = piece
        if begin == len(self.data) and context == "''":
            found = "the end of the file"
        elif begin == end:
            ends = begin == len(self.data) or self.data[begin] in b"\r\n"
            found = "the end of the line" if ends else "nothing"
        within = "" if context in (piece, "''") else f" in {context}"
        return self.source.error(f"found {found}{within}, expected {expected}", line)

    def _decode_names(self, characters: Array, starts: Array) -> list[str]:
        """Return the names whose characters begin at the starts."""
        require_memory(
            NAME_BYTES * len(starts) + 4 * len(characters),
            f"the {len(starts) - 1:,} names in {self.source.name}",
            "use a machine with more memory",
        )
        whole = characters.tobytes()
        try:
            return [whole[a:b].decode().replace('""', '"') for a, b in pairwise(starts.tolist())]
        except UnicodeDecodeError as error:
            name = error.object
            before = self.data.tobytes().find(name)
            line = 1 + int(np.count_nonzero(self.data[:before] == ord("\n")))
            raise self.source.error(
                f"found {excerpt(name)}, expected a name in UTF-8", line
            ) from None


def excerpt(piece: bytes, most: int = 60) -> str:
    """Return a piece of a file in quotes, shortened and escaped, for a message."""
    text = piece.strip(b" \t\r\n").decode("utf-8", "backslashreplace")
    if len(text) > most:
        text = text[: most - 3] + "..."
    return f"'{printable(text)}'"


# ---- writing ----------------------------------------------------------------------------------


class VertexNames(NamedTuple):
    """The names of vertices in a file: their id plus ``base``, numbers, or strings."""

    base: int = 0
    numbers: Array | None = None
    characters: Array | None = None
    starts: Array | None = None

    @classmethod
    def from_strings(cls, names: Sequence[bytes]) -> VertexNames:
        """Concatenate the names."""
        starts = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in names], out=starts[1:])
        characters = np.frombuffer(b"".join(names) or b"\0", dtype=np.uint8)
        return cls(characters=characters, starts=starts)


def write_arcs(
    graph: Graph,
    sink: Sink,
    *,
    names: VertexNames,
    prefix: str = "",
    separator: str = " ",
    constant: str = "",
    directions: str = "all",
) -> None:
    """Write the arcs, one per line."""
    for begin, end in _spans(graph.m, sink):
        pieces = _native.write_arcs(
            *graph.csr,
            begin=begin,
            end=end,
            **names._asdict(),
            prefix=prefix,
            separator=separator,
            constant=constant,
            directions=directions,
            threads=threads_for(end - begin, sink.threads),
        )
        for lines in pieces:
            sink.write(lines.data)


def write_rows(graph: Graph, sink: Sink) -> None:
    """Write one line per vertex: its neighbours, numbered from 1."""
    for begin, end in _spans(graph.n, sink):
        pieces = _native.write_rows(
            *graph.csr, begin=begin, end=end, threads=threads_for(end - begin, sink.threads)
        )
        for lines in pieces:
            sink.write(lines.data)


def _spans(count: int, sink: Sink) -> Iterator[tuple[int, int]]:
    for begin in range(0, count, ARCS_AT_A_TIME):
        end = min(begin + ARCS_AT_A_TIME, count)
        yield begin, end
        sink.report(end, count)
