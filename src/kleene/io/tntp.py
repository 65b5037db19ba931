"""TNTP ``_net.tntp``: road networks of transport research.

Metadata in lines ``<NAME> value`` up to ``<END OF METADATA>``; a line that begins with ``~`` names
the columns; then one link a line, ended by ``;``: init_node, term_node, capacity, length,
free_flow_time, b, power, speed, toll, link_type. Nodes below ``<FIRST THRU NODE>`` are zones, where
trips begin and end but which no path may pass. See
https://github.com/bstabler/TransportationNetworks.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.convert import no_such_weight
from kleene.graph.labels import ids_from_numbers
from kleene.io.build import build_graph, labels_from_one
from kleene.io.format import Format
from kleene.io.source import Source
from kleene.io.text import ColumnLayout, TextReader

__all__ = ["TNTP"]

Array = NDArray[Any]

_COLUMNS = (
    *("init_node", "term_node", "capacity", "length", "free_flow_time", "b", "power", "speed"),
    *("toll", "link_type"),
)
_METADATA = re.compile(r"\s*<([^<>]*)>\s*(.*?)\s*")
_CLAIM = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<(?:NUMBER OF |FIRST THRU NODE|END OF METADATA)")
_SIZES = ("NUMBER OF NODES", "NUMBER OF LINKS", "FIRST THRU NODE")


class Metadata(NamedTuple):
    """What the metadata declares, each with its line; None if it does not."""

    nodes: tuple[int, int] | None
    links: tuple[int, int] | None
    first_through: tuple[int, int] | None


def read(
    source: Source,
    *,
    weight: str | None = "free_flow_time",
    weighted: bool = True,
    through: bool | None = None,
) -> Graph:
    text = TextReader(source)
    metadata = _read_metadata(text)
    columns = _read_columns(text)
    at = -1
    if weighted and weight is not None:
        if weight not in columns[2:]:
            raise no_such_weight(weight, "column", columns[2:])
        at = columns.index(weight, 2)  # the first two are the ends, whatever they are called
    layout = ColumnLayout(0, 1, at, comments="~", exact=False, low=1)
    sources, targets, weights, _ = text.arcs(layout)
    if metadata.links is not None and len(sources) != metadata.links[0]:
        text.fail(
            f"{len(sources)} links", f"{metadata.links[0]} as declared here", metadata.links[1]
        )
    sources, targets, labels = _numbered(text, metadata, sources, targets)
    zones = _zones(text, metadata, labels, sources, targets, through)
    if len(zones):
        targets, labels = _split(targets, labels, zones)
    return build_graph(source, sources, targets, weights, len(labels), True, labels=labels)


def _read_metadata(text: TextReader) -> Metadata:
    found: dict[str, tuple[int, int]] = {}
    while True:
        line = text.peek(comments="")
        matched = _METADATA.fullmatch(line or "")
        if matched is None:
            text.fail_at(line, "metadata, as in '<NUMBER OF NODES> 24', up to <END OF METADATA>")
        name = matched[1].strip().upper()
        if name in _SIZES:
            if not re.fullmatch(r"[0-9]{1,18}", matched[2]):
                text.fail_at(line, f"'<{name}> <number>'")
            found[name] = int(matched[2]), text.line
        text.skip_line()
        if name == "END OF METADATA":
            return Metadata(*map(found.get, _SIZES))


def _read_columns(text: TextReader) -> list[str]:
    """Return the names of the columns: of the line that begins with ~, if there is one."""
    line = text.peek(comments="")
    if line is None or not line.lstrip().startswith("~"):
        return list(_COLUMNS)
    titles = line.strip().strip("~;").strip().split("\t")
    names = [re.sub(r"\(.*?\)", "", title).strip().lower().replace(" ", "_") for title in titles]
    return names if len(names) > 2 else list(_COLUMNS)


def _numbered(
    text: TextReader, metadata: Metadata, sources: Array, targets: Array
) -> tuple[Array, Array, Array]:
    """Return the ends as positions, and the labels: 1 .. n, or the numbers that occur."""
    largest = max(int(sources.max(initial=0)), int(targets.max(initial=0)))
    if metadata.nodes is not None and largest <= metadata.nodes[0]:
        n, line = metadata.nodes
        text.require_vertices(n, line)
        return sources - 1, targets - 1, labels_from_one(n)
    sources, targets, labels, _ = ids_from_numbers(sources, targets)
    if labels is None:  # there are none: numbers begin at 1
        labels = labels_from_one(0)
    if metadata.nodes is not None and len(labels) > metadata.nodes[0]:
        n, line = metadata.nodes
        text.fail(f"{len(labels)} nodes in the links", f"{n} as declared here", line)
    return sources, targets, labels


def _zones(
    text: TextReader,
    metadata: Metadata,
    labels: Array,
    sources: Array,
    targets: Array,
    through: bool | None,
) -> Array:
    """Return the positions of zones that must not be passed, and could be."""
    if metadata.first_through is None or through:
        return np.empty(0, np.int64)
    first, line = metadata.first_through
    below = np.flatnonzero(labels < first)
    left, reached = (np.isin(below, ends) for ends in (sources, targets))
    zones = below[left & reached]
    if len(zones) and through is None:
        raise RequestError(
            f"{text.source.name}:{line}: paths may not pass zones, nodes below {first}, and "
            f"{len(zones):,} of them have links in and out. Pass ",
            Code("through=False"),
            " to forbid it: links to zone z then end at a vertex -z, and a trip from zone 1 "
            "to zone 2 is a path from 1 to -2. Or pass ",
            Code("through=True"),
            " to let paths pass zones",
        )
    return zones


def _split(targets: Array, labels: Array, zones: Array) -> tuple[Array, Array]:
    """Return targets and labels where links to zone z end at a vertex of their own, labelled -z."""
    ends = np.arange(len(labels), dtype=targets.dtype)
    ends[zones] = len(labels) + np.arange(len(zones))
    return ends[targets], np.concatenate([labels, -labels[zones]])


TNTP = Format(
    "tntp",
    "TNTP .tntp",
    (".tntp",),
    read,
    claims=lambda head: _CLAIM.match(head) is not None,
    text=True,
    name_in_tables=np.abs,  # -z is where links to zone z end
)
