"""Vertices as the command line names them: by label where the graph has labels, else by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["find", "find_all", "name"]


def find(graph: Graph, text: str) -> int:
    """Return the id of the vertex that the user wrote."""
    from kleene.errors import GraphError, RequestError

    number = int(text) if text.lstrip("-").isdecimal() else None
    spellings = [s for s in (text, number) if s is not None]
    if graph.labels is None:
        spellings = spellings[1:]
    for spelling in spellings:
        try:
            return graph.index(spelling)
        except GraphError:
            pass
    if graph.labels is not None:
        first, last = graph.labels[[0, -1]].tolist() if graph.n else ("", "")
        known = f"its {graph.n:,} vertices are named {first!r} to {last!r}"
    else:
        known = f"its vertices are 0 to {graph.n - 1}" if graph.n else "it has none"
    raise RequestError(f"no vertex {text!r} in the graph: {known}")


def find_all(graph: Graph, texts: Sequence[str] | None) -> list[int] | None:
    """Return the ids of all vertices that the user wrote, one by one or with commas between."""
    if not texts:
        return None
    return [find(graph, word.strip()) for text in texts for word in text.split(",")]


def name(graph: Graph, vertex: int) -> Any:
    """Return what the file calls a vertex, as a plain Python object."""
    if graph.labels is None:
        return int(vertex)
    label = graph.labels[vertex]
    return label.item() if hasattr(label, "item") else label
