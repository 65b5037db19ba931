"""GraphML ``.graphml``: nodes and edges with attributes, in XML.

Written by NetworkX, OSMnx, igraph, Gephi, yEd and others. ``<key>`` declares an attribute and its
default, ``<data>`` holds a value. Expat parses the file piece by piece. A document type is refused,
so there are no entities to expand and nothing external to load; nesting and the length of tags are
limited. See http://graphml.graphdrawing.org/specification.html.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from kleene.errors import GraphError, KleeneError
from kleene.graph import Graph
from kleene.io.attributes import LONGEST_VALUE
from kleene.io.format import Format
from kleene.io.node_link import NodesAndEdges, are_read_as_integers
from kleene.io.sink import Sink
from kleene.io.source import Source, printable

__all__ = ["GRAPHML"]

CHUNK = 1 << 20  # bytes that are parsed at a time
_DEEPEST = 200  # elements inside each other
_CLAIM = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:\w+:)?graphml\b", re.S
)
_DIRECTIONS = {
    "edgedefault": {"directed": 1, "undirected": 0},
    "directed": {"true": 1, "false": 0},
}
_KNOWN = ("graph", "node", "edge", "data", "key", "default")
_UNWRITABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
_TYPES = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}
_AT_A_TIME = 1 << 16  # nodes or edges that are formatted before they are written


def read(
    source: Source,
    *,
    directed: bool | None = None,
    weight: str | None = "auto",
    weighted: bool | None = None,
    labels: str | None = None,
) -> Graph:
    source.require_utf8("UTF-16")  # which XML parsers read as well
    found = NodesAndEdges(source, weight, weighted, labels)
    parser = _Parser(source, found)
    parser.parse()
    if directed is None and not found.has_edges:
        directed = parser.directed
    return found.graph(parser.defaults, directed)


class _Key(NamedTuple):
    """A declared attribute."""

    name: str
    is_of_edge: bool


class _Parser:
    """Passes nodes, edges and wanted attributes to ``found`` while Expat parses the file."""

    def __init__(self, source: Source, found: NodesAndEdges) -> None:
        self.directed = False  # the outermost graph
        self.defaults: dict[str, str] = {}  # of attributes of edges
        self._source, self._found = source, found
        self._keys: dict[str, _Key] = {}
        self._open: list[str] = []  # the elements around this place
        self._directions: list[int] = []  # of the graphs around this place
        self._graphs = 0
        self._item = ""  # the node or edge around this place
        self._key: _Key | None = None  # that a default is for
        self._texts: list[str] | None = None  # of the value that is being read
        self._size = 0  # of these texts
        self._data = ""  # the name of the attribute that is being read
        parser = self._expat = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype

    def parse(self) -> None:
        size, done = self._source.size, 0
        report = self._source.progress
        with self._source.open() as file:
            try:
                while chunk := file.read(CHUNK):
                    self._expat.Parse(chunk, False)
                    done += len(chunk)
                    if done - self._expat.CurrentByteIndex > LONGEST_VALUE:
                        self._fail(f"a tag or comment of more than {LONGEST_VALUE:,} bytes", "less")
                    self._found.require_memory()
                    if report is not None:
                        report(done, size)
                self._expat.Parse(b"", True)
            except (KleeneError, MemoryError):
                raise
            except expat.ExpatError as error:
                if error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]:
                    raise MemoryError from None
                self._fail_damaged(expat.ErrorString(error.code), error.lineno)
            except (LookupError, ValueError) as error:  # of encodings; others would be our mistakes
                if isinstance(error, (IndexError, KeyError, UnicodeError)):
                    raise
                self._fail_damaged(str(error), None)
        if not self._graphs:
            self._source.fail("found no <graph>, expected one")

    def _fail_damaged(self, what: str, line: int | None) -> NoReturn:
        self._source.fail(f"found damaged XML ({what}), expected a GraphML file", line)

    def _fail(self, found: str, expected: str) -> NoReturn:
        self._source.fail(f"found {found}, expected {expected}", self._expat.CurrentLineNumber)

    # ---- events -----------------------------------------------------------------------------

    def _doctype(self, *_: Any) -> None:
        self._fail("a document type (<!DOCTYPE ...>)", "none: remove it; Kleene reads no entities")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if ":" in tag:
            tag = tag.rpartition(":")[2]
        around = self._open[-1] if self._open else ""
        self._open.append(tag)
        if len(self._open) > _DEEPEST:
            self._fail(f"more than {_DEEPEST} elements inside each other", "fewer")
        if not around and tag != "graphml":
            self._fail(f"<{printable(tag)}>", "<graphml>")
        if tag == "data" and around in ("node", "edge"):
            self._start_data(attributes)
        elif tag == "node" and around == "graph":
            self._item = tag
            self._found.add_node(self._required(attributes, "id"), self._expat.CurrentLineNumber)
        elif tag == "edge" and around == "graph":
            self._item = tag
            self._start_edge(attributes)
        elif tag == "graph" and around in ("graphml", "node"):
            self._start_graph(attributes)
        elif tag == "key" and around == "graphml":
            self._start_key(attributes)
        elif tag == "default" and around == "key":
            self._texts, self._size = [], 0
        elif tag == "Geometry" and self._item == "node" and {"x", "y"} <= attributes.keys():  # yEd
            for name in ("x", "y"):
                self._found.set_of_node(name, attributes[name])
        elif tag == "hyperedge":
            self._fail("<hyperedge>", "edges between two nodes")
        elif tag in _KNOWN and around:
            self._open[-1] = f"{tag} elsewhere"  # says nothing, as all other elements

    def _end(self, _: str) -> None:
        tag = self._open.pop()
        if tag == "data" or tag == "default":
            self._end_value(tag)
        elif tag == "graph":
            self._directions.pop()
            self._item = ""  # what follows belongs to the node around it

    def _characters(self, text: str) -> None:
        if self._texts is not None and self._open[-1] in ("data", "default"):
            self._size += len(text)
            if self._size > LONGEST_VALUE:
                self._fail(f"a value of more than {LONGEST_VALUE:,} characters", "less")
            self._texts.append(text)

    # ---- elements ---------------------------------------------------------------------------

    def _required(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            self._fail(f"<{self._open[-1]}> without {name!r}", "it")
        return attributes[name]

    def _direction(self, attributes: dict[str, str], name: str, inherited: int) -> int:
        if name not in attributes:
            return inherited
        known = _DIRECTIONS[name]
        if attributes[name] not in known:
            self._fail(f"{name}={attributes[name]!r}", " or ".join(known))
        return known[attributes[name]]

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if not self._directions:
            self._graphs += 1
            if self._graphs > 1:
                self._fail("a second graph", "one")
        inherited = self._directions[-1] if self._directions else 0
        self._directions.append(self._direction(attributes, "edgedefault", inherited))
        self.directed = bool(self._directions[0])

    def _start_key(self, attributes: dict[str, str]) -> None:
        if self._graphs:
            self._fail("<key> after <graph>", "all keys before it")
        name = self._required(attributes, "id")
        is_of_edge = attributes.get("for", "all") in ("edge", "all")
        self._key = self._keys[name] = _Key(attributes.get("attr.name", name), is_of_edge)

    def _start_edge(self, attributes: dict[str, str]) -> None:
        direction = self._direction(attributes, "directed", self._directions[-1])
        ends = self._required(attributes, "source"), self._required(attributes, "target")
        self._found.add_edge(*ends, direction, self._expat.CurrentLineNumber)

    def _start_data(self, attributes: dict[str, str]) -> None:
        key = self._keys.get(self._required(attributes, "key"))
        if key is None:
            self._fail(f"data of {attributes['key']!r}", "a key that the file declares")
        if self._item and self._found.wants(key.name, self._item == "node"):
            self._data, self._texts, self._size = key.name, [], 0

    def _end_value(self, tag: str) -> None:
        if self._texts is None:
            return
        text = "".join(self._texts).strip()
        self._texts = None
        if tag == "default":
            if self._key is not None and self._key.is_of_edge:
                self.defaults[self._key.name] = text
        elif self._item == "node":
            self._found.set_of_node(self._data, text)
        else:
            self._found.set_of_edge(self._data, text)


# ---- writing ------------------------------------------------------------------------------------


def write(graph: Graph, sink: Sink) -> None:
    names = _node_names(graph)
    keys = [("x", "node", "double"), ("y", "node", "double")] * (graph.positions is not None)
    if graph.weights is not None:
        keys.append(("weight", "edge", _TYPES[graph.weights.dtype.name]))
    declared = "".join(
        f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n'
        for name, of, kind in keys
    )
    default = "directed" if graph.directed else "undirected"
    sink.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{declared}'
        f'  <graph edgedefault="{default}">\n'.encode()
    )
    for begin in range(0, graph.n, _AT_A_TIME):
        sink.write(_nodes(graph, names, slice(begin, begin + _AT_A_TIME)).encode())
    for begin in range(0, graph.m, _AT_A_TIME):
        sink.write(_edges(graph, names, slice(begin, begin + _AT_A_TIME)).encode())
        sink.report(min(begin + _AT_A_TIME, graph.m), graph.m)
    sink.write(b"  </graph>\n</graphml>\n")


def _node_names(graph: Graph) -> list[str]:
    """Return the ids of the nodes as they are written, in quotes."""
    if graph.labels is None:
        return [f'"{i}"' for i in range(graph.n)]
    labels = graph.labels.tolist()
    integers = graph.labels.dtype.kind in "iu"
    for label in labels:
        if not integers and (not isinstance(label, str) or _UNWRITABLE.search(label)):
            raise GraphError(
                f"label {label!r} cannot be written to GraphML: labels must be integers, or "
                "strings without control characters"
            )
    if not integers and graph.n and are_read_as_integers(labels):
        raise GraphError(
            f"labels such as {labels[0]!r} cannot be written to GraphML: strings that are all "
            "integers are read as integers",
            advice=["use integers as labels, or write .npz or .csv"],
        )
    return [quoteattr(str(label)) for label in labels]


def _nodes(graph: Graph, names: list[str], part: slice) -> str:
    if graph.positions is None:
        return "".join(f"    <node id={name}/>\n" for name in names[part])
    return "".join(
        f'    <node id={name}><data key="x">{x!r}</data><data key="y">{y!r}</data></node>\n'
        for name, (x, y) in zip(names[part], graph.positions[part].tolist(), strict=True)
    )


def _edges(graph: Graph, names: list[str], part: slice) -> str:
    sources, targets = graph.coo.sources[part].tolist(), graph.coo.targets[part].tolist()
    ends = zip(sources, targets, strict=True)
    once = not graph.directed
    if graph.weights is None:
        return "".join(
            f"    <edge source={names[u]} target={names[v]}/>\n"
            for u, v in ends
            if not (once and u > v)
        )
    return "".join(
        f'    <edge source={names[u]} target={names[v]}><data key="weight">{w!r}</data></edge>\n'
        for (u, v), w in zip(ends, graph.weights[part].tolist(), strict=True)
        if not (once and u > v)
    )


GRAPHML = Format(
    "graphml",
    "GraphML .graphml",
    (".graphml",),
    read,
    write,
    claims=lambda head: _CLAIM.match(head) is not None,
    text=True,
)
