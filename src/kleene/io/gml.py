"""GML ``.gml``: nodes and edges with attributes, in nested lists ``key [ key value ... ]``.

Written by NetworkX, igraph, Gephi and Cytoscape; Mark Newman's collection has this form. ``graph``
has ``directed 1`` or 0, ``node [ id 1 label "a" ]`` and ``edge [ source 1 target 2 ]``; a string
may contain line ends, and characters as ``&amp;`` or ``&#228;``. The file is cut into tokens piece
by piece. See M. Himsolt, GML: A portable graph file format, University of Passau, 1997.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import unescape
from typing import NoReturn

from kleene.graph import Graph
from kleene.io.attributes import LONGEST_VALUE
from kleene.io.format import Format
from kleene.io.node_link import NodesAndEdges
from kleene.io.source import Source
from kleene.io.text import excerpt

__all__ = ["GML"]

CHUNK = 1 << 20  # bytes that are cut into tokens at a time
_DEEPEST = 200  # lists inside each other
# Line ends, a comment, a word, a string, a bracket; the last is a string that is not closed yet.
_TOKEN = re.compile(r'\n+|#[^\n]*|[^\s"\[\]]+|"[^"]*"|[\[\]]|"[^"]*\Z')
_WANTED = {("graph", "node"), ("graph", "edge"), ("graph", "node", "graphics")}
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_CLAIM = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|\#[^\n]*+\n|(?!graph\b)\w++\s++(?:\"[^\"]*+\"|[\w.+-]++)\s)*+"
    rb"graph\s*+\["
)


def read(
    source: Source,
    *,
    directed: bool | None = None,
    weight: str | None = "auto",
    weighted: bool | None = None,
    labels: str | None = None,
) -> Graph:
    source.require_utf8()
    label, optional = ("label", True) if labels is None else (labels, False)
    found = NodesAndEdges(source, weight, weighted, label, optional)
    parser = _Parser(source, found)
    parser.parse()
    return found.graph({}, parser.directed if directed is None else directed)


class _Parser:
    """Passes nodes, edges and wanted attributes to ``found``."""

    def __init__(self, source: Source, found: NodesAndEdges) -> None:
        self.directed = False
        self._source, self._found = source, found
        self._line = 1
        self._open: list[str] = []  # the keys of the lists around this place
        self._graphs = 0
        self._lists: list[list[str] | None] = []  # their keys and values, of those that are wanted
        self._values: list[str] | None = None  # the last of these

    def parse(self) -> None:
        key = ""
        for token in self._tokens():
            first = token[0]
            if first == "\n":
                self._line += len(token)
            elif first == "[":
                if not key:
                    self._fail("'['", "a key before it")
                self._begin(key)
                key = ""
            elif first == "]":
                if key or not self._open:
                    self._fail("']'", f"a value of {excerpt(key.encode())}" if key else "a key")
                self._end()
            elif first == "#":
                pass
            elif not key:
                if first == '"':
                    self._fail(excerpt(token.encode()), "a key")
                key = token
            elif first == '"' and not _is_whole(token):
                self._fail(excerpt(token.encode()), "the string to be closed")
            else:
                if self._values is not None:
                    self._values += (key, token)
                elif key == "directed" and self._open == ["graph"]:
                    self._set_directed(token)
                key = ""
                if first == '"':
                    self._line += token.count("\n")
        if key or self._open:
            self._fail("the end of the file", "a value" if key else "']'")
        if not self._graphs:
            self._source.fail("found no graph, expected 'graph [ ... ]'")

    def _set_directed(self, token: str) -> None:
        if token not in ("0", "1"):
            self._fail(f"directed {excerpt(token.encode())}", "0 or 1")
        self.directed = token == "1"

    # ---- tokens -----------------------------------------------------------------------------

    def _tokens(self) -> Iterator[str]:
        """Yield the tokens; one is never empty."""
        decode = codecs.getincrementaldecoder("utf-8-sig")()
        report, done, rest = self._source.progress, 0, ""
        with self._source.open() as file:
            while True:
                chunk, bad = file.read(CHUNK), ""
                try:
                    text = rest + decode.decode(chunk, final=not chunk)
                except UnicodeDecodeError as error:  # after what comes before it
                    text = rest + error.object[: error.start].decode("utf-8-sig")
                    bad = excerpt(error.object[error.start : error.end])
                cut = (
                    len(text) if not (chunk or bad) else 1 + max(text.rfind("\n"), text.rfind(" "))
                )
                tokens = _TOKEN.findall(text, 0, cut)
                rest = text[cut:]
                if tokens and (chunk or bad) and not _is_whole(tokens[-1]):
                    rest = tokens.pop() + rest
                yield from tokens
                if bad:
                    self._line += rest.count("\n")
                    self._fail(bad, "text in UTF-8")
                if len(rest) > LONGEST_VALUE:
                    self._fail(f"a word of more than {LONGEST_VALUE:,} characters", "less")
                if not chunk:
                    break
                done += len(chunk)
                self._found.require_memory(64 * len(self._values or ()))
                if report is not None:
                    report(done, self._source.size)

    def _fail(self, found: str, expected: str) -> NoReturn:
        self._source.fail(f"found {found}, expected {expected}", self._line)

    # ---- lists ------------------------------------------------------------------------------

    def _begin(self, key: str) -> None:
        self._open.append(key)
        if len(self._open) > _DEEPEST:
            self._fail(f"more than {_DEEPEST} lists inside each other", "fewer")
        if self._open == ["graph"]:
            self._graphs += 1
            if self._graphs > 1:
                self._fail("a second graph", "one")
        wanted = tuple(self._open) in _WANTED
        self._values = [] if wanted else None
        self._lists.append(self._values)

    def _end(self) -> None:
        values = self._lists.pop()
        around = self._lists[-1] if self._lists else None
        if values is not None:
            match self._open:
                case "graph", "node":
                    self._end_node(values)
                case "graph", "edge":
                    self._end_edge(values)
                case "graph", "node", "graphics" if around is not None:
                    around += [
                        word for pair in _pairs(values) if pair[0] in ("x", "y") for word in pair
                    ]
        self._open.pop()
        self._values = around

    def _end_node(self, values: list[str]) -> None:
        self._found.add_node(self._id(values, "id"), self._line)
        for key, token in _pairs(values):
            if self._found.wants(key, of_node=True):
                self._found.set_of_node(key, _text(token))

    def _end_edge(self, values: list[str]) -> None:
        self._found.add_edge(self._id(values, "source"), self._id(values, "target"), 0, self._line)
        for key, token in _pairs(values):
            if key not in ("source", "target") and self._found.wants(key, of_node=False):
                self._found.set_of_edge(key, _text(token))

    def _id(self, values: list[str], key: str) -> str:
        """Return an id of a node."""
        held = [token for name, token in _pairs(values) if name == key]
        if len(held) != 1:
            self._fail(f"{len(held)} values of {key!r} in this {self._open[-1]}", "one")
        return str(int(held[0])) if _INTEGER.fullmatch(held[0]) else _text(held[0])


def _is_whole(token: str) -> bool:
    """Return whether the token ends where it ends; not if a comment or string may go on."""
    return token[0] != "#" and (token[0] != '"' or (len(token) > 1 and token[-1] == '"'))


def _pairs(values: list[str]) -> Iterator[tuple[str, str]]:
    return zip(values[::2], values[1::2], strict=True)


def _text(token: str) -> str:
    if token[0] != '"':
        return token
    return unescape(token[1:-1]) if "&" in token else token[1:-1]


GML = Format(
    "gml",
    "GML .gml",
    (".gml",),
    read,
    claims=lambda head: _CLAIM.match(head) is not None,
    text=True,
)
