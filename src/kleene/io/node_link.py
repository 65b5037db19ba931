"""Graphs of files that list nodes and edges with attributes: GraphML and GML.

A reader adds nodes and edges in the order of the file, and attributes of the one added last.
Vertices are numbered in order of first appearance; table rows are the edges, in the order of the
file. Names become integers if all of them are integers in the usual notation.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, Text
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.graph.convert import no_such_weight
from kleene.graph.labels import NAME_BYTES
from kleene.graph.weight_names import NumbersLeft, is_weight_name, named_weight
from kleene.io.attributes import Column, LineColumn, is_missing
from kleene.io.build import X_NAMES, Y_NAMES, build_graph, weight_options
from kleene.io.source import Source
from kleene.io.text import excerpt

__all__ = ["NodesAndEdges", "are_read_as_integers", "labels_of_names"]

Array = NDArray[Any]

_CANONICAL = re.compile(r"0|-?[1-9][0-9]{0,18}")
_EDGE_BYTES = 100  # bound on the memory that an edge takes while the graph is built
_ADVICE = Text("pass ", Code('labels="id"'), " to name vertices by their ids")
_MOST_KNOWN = 20  # attributes that a message lists


class NodesAndEdges:
    """The nodes and edges of a file, while it is read.

    Attributes
    ----------
    label : str or None
        The attribute that names vertices; None for their ids.
    """

    def __init__(
        self,
        source: Source,
        weight: str | None,
        weighted: bool | None,
        label: str | None,
        label_is_optional: bool = False,
    ) -> None:
        self.label = None if label == "id" else label
        self._label_is_optional = label_is_optional
        self._source = source
        self._weight, weighted = weight_options(weight, weighted)
        self._required, self._wanted = weighted is True, weighted is not False
        self._numbers: dict[str, int] = {}  # of ids
        self._undeclared: dict[int, int] = {}  # numbers of ids that only edges have, and a line
        self._node = self._line = 0  # the node, and the line, that was added last
        self._sources, self._targets, self._directions = array("q"), array("q"), array("b")
        self._edge_lines = array("q")
        self._weights: dict[str, Column] = {}
        self._positions = {name: Column(source) for name in (*X_NAMES, *Y_NAMES)}
        self._geometry = LineColumn(source)
        self._names: dict[int, str] = {}  # of vertices
        self._known: dict[str, bool | None] = {}  # attributes of edges: whether they are numbers

    # ---- while the file is read -------------------------------------------------------------

    def add_node(self, name: str, line: int) -> None:
        """Add a node with this id."""
        self._line, new = line, len(self._numbers)
        self._node = self._numbers.setdefault(name, new)
        if self._node != new and self._undeclared.pop(self._node, None) is None:
            self._source.fail(f"found a second node with the id {_quoted(name)}", line)

    def add_edge(self, source: str, target: str, direction: int, line: int) -> None:
        """Add an edge: from source to target (1), or in both directions (0)."""
        self._line = line
        for name, ends in ((source, self._sources), (target, self._targets)):
            number = self._numbers.get(name)
            if number is None:
                number = self._numbers[name] = len(self._numbers)
                self._undeclared[number] = line
            ends.append(number)
        self._directions.append(direction)
        self._edge_lines.append(line)

    def wants(self, name: str, of_node: bool) -> bool:
        """Return whether an attribute is read; one of an edge is known from then on."""
        if of_node:
            return name == self.label or name.lower() in self._positions
        if name not in self._known and len(self._known) < _MOST_KNOWN:
            self._known[name] = None
        return self._is_weight(name) or name == "geometry" or self._known.get(name, True) is None

    def _is_weight(self, name: str) -> bool:
        """Return whether an attribute of edges may be the weight."""
        return self._wanted and (
            is_weight_name(name) if self._weight is None else name == self._weight
        )

    def set_of_node(self, name: str, text: str) -> None:
        """Set a wanted attribute of the last node."""
        if name == self.label and self._names.setdefault(self._node, text) is not text:
            self._source.fail(f"found two values of {name!r}, expected one", self._line)
        column = self._positions.get(name.lower())
        if column is not None and (len(column.rows) or _is_number(text)):
            column.add(self._node, text, self._line)

    def set_of_edge(self, name: str, text: str) -> None:
        """Set a wanted attribute of the last edge."""
        row = len(self._sources) - 1
        if self._known.get(name, True) is None and not is_missing(text):
            self._known[name] = _is_number(text)
        if self._is_weight(name):
            self._weights.setdefault(name, Column(self._source)).add(row, text, self._line)
        elif name == "geometry":
            self._geometry.add(row, text, self._line)

    def require_memory(self, more: int = 0) -> None:
        """Raise if there is not enough memory to make a graph of what was read so far."""
        columns = (*self._weights.values(), *self._positions.values(), self._geometry)
        require_memory(
            NAME_BYTES * (len(self._numbers) + len(self._names))
            + _EDGE_BYTES * len(self._sources)
            + 2 * sum(column.nbytes for column in columns)
            + more
            + (1 << 25),  # what a piece of the file adds
            f"reading {self._source.name}",
            "use a machine with more memory, or convert the file to .npz on one",
        )

    # ---- at its end -------------------------------------------------------------------------

    @property
    def has_edges(self) -> bool:
        """Whether there is an edge."""
        return len(self._sources) > 0

    def graph(self, defaults: Mapping[str, str], directed: bool | None) -> Graph:
        """Return the graph.

        ``defaults`` are values of edges without one; ``directed`` holds for all edges, if given.
        """
        self.require_memory()
        for number, line in self._undeclared.items():
            name = list(self._numbers)[number]
            self._source.fail(f"found an edge at {_quoted(name)}, expected a node of this id", line)
        weights = self._weight_column(defaults)
        positions = self._position_columns()
        lines = self._geometry.lines(len(self._sources))
        return build_graph(
            self._source,
            np.asarray(self._sources),
            np.asarray(self._targets),
            weights,
            len(self._numbers),
            np.asarray(self._directions, np.int8) if directed is None else directed,
            labels=self._vertex_names(),
            positions=positions,
            lines=lines,
            left=self._numbers_left(defaults),
        )

    def _weight_column(self, defaults: Mapping[str, str]) -> Array | None:
        m = len(self._sources)
        given = [*self._weights, *(name for name in defaults if name not in self._weights)]
        name = named_weight(filter(self._is_weight, given), "edge attributes")
        name = self._weight if name is None and self._weight in given else name
        if name is None or not self._wanted:
            if self._required and m:
                raise no_such_weight(self._weight or "weight", "edge attribute", list(self._known))
            return None
        column = self._weights.get(name, Column(self._source))
        values = column.values(m, defaults.get(name))
        if values is None:
            lacking = int(np.setdiff1d(np.arange(m), np.asarray(column.rows))[0])
            self._source.fail(
                Text(
                    f"found an edge without {name!r}, which {len(column.rows):,} of {m:,} edges "
                    "have, expected it on all; pass ",
                    Code("weight=None"),
                    " for an unweighted graph",
                ),
                self._edge_lines[lacking],
            )
        return values

    def _numbers_left(self, defaults: Mapping[str, str]) -> NumbersLeft | None:
        """Return the attributes of edges that are numbers, and may have been meant as weights."""
        if self._weight is not None or not self._wanted:
            return None
        names = [name for name, is_number in self._known.items() if is_number]
        undecided = (name for name in defaults if self._known.get(name) is None)
        names += [name for name in undecided if _is_number(defaults[name])]
        return NumbersLeft(names) if names else None

    def _position_columns(self) -> Array | None:
        """Return x and y of every node, or None."""
        n = len(self._numbers)
        for pair in zip(X_NAMES, Y_NAMES, strict=True):
            columns = [self._positions[name] for name in pair]
            if n and all(len(column.rows) == n for column in columns):
                return np.stack([np.asarray(c.values(n), np.float64) for c in columns], axis=1)
        return None

    def _vertex_names(self) -> Any:
        if self.label is None or (self._label_is_optional and not self._names):
            return labels_of_names(list(self._numbers))
        if len(self._names) < len(self._numbers):
            lacking = next(n for name, n in self._numbers.items() if n not in self._names)
            name = list(self._numbers)[lacking]
            self._source.fail(
                f"found no {self.label} on the node {_quoted(name)}, expected it on all; {_ADVICE}"
            )
        names = [self._names[number] for number in range(len(self._numbers))]
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            self._source.fail(
                f"found two nodes with the {self.label} {_quoted(twice)}, expected one; {_ADVICE}"
            )
        return labels_of_names(names)


def are_read_as_integers(names: list[str]) -> bool:
    """Return whether all names are integers of 64 bits in the usual notation."""
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return all(_CANONICAL.fullmatch(name) and low <= int(name) <= high for name in names)


def labels_of_names(names: list[str]) -> Array | list[str] | None:
    """Return labels: integers if all names are; None if they are 0 .. n - 1."""
    if not are_read_as_integers(names):
        return names
    labels = np.fromiter(map(int, names), np.int64, count=len(names))
    return None if np.array_equal(labels, np.arange(len(labels))) else labels


def _quoted(name: str) -> str:
    return excerpt(name.encode(errors="replace"))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
