"""Vertices as the command line names them: by label where the graph has labels, else by id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["parse_vertex", "parse_vertices", "vertex_name"]


_NUMBER = re.compile(r"-?[0-9]{1,19}")  # int64 has no more digits


def parse_vertex(graph: Graph, text: str) -> int:
    """Return the id of the vertex that the user wrote."""
    from kleene.errors import RequestError

    found = _known(graph, text)
    if found is not None:
        return found
    if graph.labels is not None:
        first, last = graph.labels[[0, -1]].tolist() if graph.n else ("", "")
        known = f"its {graph.n:,} vertices are named {first!r} to {last!r}"
    else:
        known = f"its vertices are 0 to {graph.n - 1}" if graph.n else "it has none"
    shown = text if len(text) <= 60 else text[:57] + "..."
    raise RequestError(f"no vertex {shown!r} in the graph: {known}")


def parse_vertices(graph: Graph, texts: Sequence[str] | None) -> list[int] | None:
    """Return the ids of all vertices that the user wrote, one by one or with commas between.

    A label may hold commas itself, so a text is one vertex if it can be.
    """
    if not texts:
        return None
    found = []
    for text in texts:
        whole = _known(graph, text)
        if whole is not None:
            found.append(whole)
        else:
            found += [parse_vertex(graph, word.strip()) for word in text.split(",")]
    return found


def _known(graph: Graph, text: str) -> int | None:
    """Return the id of the vertex that is written so, if there is one."""
    from kleene.errors import GraphError

    spellings: list[str | int] = [] if graph.labels is None else [text]
    if _NUMBER.fullmatch(text):
        spellings.append(int(text))
    for spelling in spellings:
        try:
            return graph.index(spelling)
        except GraphError:
            pass
    return None


def vertex_name(graph: Graph, vertex: int) -> Any:
    """Return what the file calls a vertex, as a plain Python object."""
    if graph.labels is None:
        return int(vertex)
    label = graph.labels[vertex]
    return label.item() if hasattr(label, "item") else label
