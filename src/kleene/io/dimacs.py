"""DIMACS ``.gr``: the format of the 9th DIMACS Implementation Challenge, Shortest Paths.

``c`` lines are comments, one line ``p sp <vertices> <arcs>`` comes before the arcs, and each line
``a <source> <target> <weight>`` is an arc. Vertices are numbered from 1, and are labelled so. See http://www.diag.uniroma1.it/challenge9/format.shtml.
"""

from __future__ import annotations

import re

from kleene.graph import Graph
from kleene.io.build import build_graph, labels_from_one
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.io.text import ColumnLayout, TextReader, VertexNames, write_arcs

__all__ = ["DIMACS"]

_HEADER = re.compile(r"p\s+sp\s+(\d{1,18})\s+(\d{1,18})\s*")
_FIRST_LINES = re.compile(rb"(?:\xef\xbb\xbf)?(?:c[^\n]*\n|[ \t\r]*\n)*+p[ \t]+sp[ \t]")


def read(source: Source, *, directed: bool = True, weighted: bool = True) -> Graph:
    text = TextReader(source)
    line = text.peek(comments="c")
    header = _HEADER.fullmatch(line or "")
    if header is None:
        text.fail_at(line, "the header 'p sp <vertices> <arcs>' before the arcs")
    n, declared = int(header[1]), int(header[2])
    header_line = text.line
    text.skip_line()
    layout = ColumnLayout(1, 2, 3, comments="c", tag="a", low=1, high=n, base=1)
    sources, targets, weights, _ = text.arcs(layout)
    if len(sources) != declared:
        text.fail(f"{len(sources)} arcs", f"{declared} as declared on this line", header_line)
    text.require_vertices(n, header_line)
    return build_graph(
        source,
        sources,
        targets,
        weights if weighted else None,
        n,
        directed,
        labels=labels_from_one(n),
        keep_rows=False,
    )


def write(graph: Graph, sink: Sink) -> None:
    title = f"c {graph.name}\n" if graph.name and graph.name.isprintable() else ""
    sink.write(f"{title}p sp {graph.n} {graph.m}\n".encode())
    write_arcs(graph, sink, names=VertexNames(base=1), prefix="a ", constant="1")


DIMACS = Format(
    "dimacs",
    "DIMACS .gr",
    (".gr",),
    read,
    write,
    claims=lambda head: _FIRST_LINES.match(head) is not None,
    text=True,
    numbered_from=1,
)
