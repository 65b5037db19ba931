"""Vertices on the command line: by label if the graph has labels, otherwise by id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["parse_vertex", "parse_vertices", "vertex_name"]


_NUMBER = re.compile(r"-?[0-9]{1,19}")  # int64 has no more digits


def parse_vertex(graph: Graph, text: str) -> Any:
    """Return the vertex that a text names."""
    from kleene.errors import RequestError

    vertex = _lookup(graph, text)
    if vertex is not None:
        return vertex_name(graph, vertex)
    if graph.labels is not None:
        first, last = graph.labels[[0, -1]].tolist() if graph.n else ("", "")
        known = f"its {graph.n:,} vertices are labelled {first!r} to {last!r}"
    else:
        known = f"its vertices are 0 to {graph.n - 1}" if graph.n else "it has none"
    shortened = text if len(text) <= 60 else text[:57] + "..."
    raise RequestError(f"no vertex {shortened!r} in the graph: {known}")


def parse_vertices(graph: Graph, texts: Sequence[str] | None) -> list[Any] | None:
    """Return the vertices that texts name; a text may be a comma-separated list.

    A label may contain commas, so a text is first looked up as a whole.
    """
    if not texts:
        return None
    ids = []
    for text in texts:
        whole = _lookup(graph, text)
        if whole is not None:
            ids.append(vertex_name(graph, whole))
        else:
            ids += [parse_vertex(graph, word.strip()) for word in text.split(",")]
    return ids


def _lookup(graph: Graph, text: str) -> int | None:
    """Return the id of the vertex with this name, or None."""
    from kleene.errors import GraphError

    spellings: list[str | int] = [] if graph.labels is None else [text]
    if _NUMBER.fullmatch(text):
        spellings.append(int(text))
    for spelling in spellings:
        try:
            return int(graph.index(spelling))
        except GraphError:
            pass
    return None


def vertex_name(graph: Graph, vertex: int) -> Any:
    """Return the label or id of a vertex, as a plain Python object."""
    if graph.labels is None:
        return int(vertex)
    label = graph.labels[vertex]
    return label.item() if hasattr(label, "item") else label
