"""Vertices on the command line: a text is the label that it spells, as in Python.

The type of the labels says how a text is read; ``graph.index`` says whether there is such a vertex,
and which are near. Without labels, a vertex is its position.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["names", "parse_vertex", "parse_vertices"]

_NUMBER = re.compile(r"-?[0-9]{1,19}")  # int64 has no more digits


def parse_vertex(graph: Graph, text: str) -> Any:
    """Return the label that a text spells, or raise with near labels."""
    from kleene.errors import GraphError, RequestError, message_of

    labels = graph.labels
    label: Any = int(text) if _NUMBER.fullmatch(text) else text
    # Labels that are not all integers may be strings of digits, or of several types.
    if labels is not None and labels.dtype.kind not in "iu" and not _is_label(graph, label):
        label = text
    try:
        graph.index(label)
    except GraphError as error:
        raise RequestError(message_of(error)) from None
    return label


def parse_vertices(graph: Graph, texts: Sequence[str] | None) -> list[Any] | None:
    """Return the labels that texts spell; a text may be a comma-separated list.

    A label may contain commas, so a text is first looked up as a whole.
    """
    if not texts:
        return None
    found = []
    for text in texts:
        if "," not in text or _is_label(graph, text):
            found.append(parse_vertex(graph, text))
        else:
            found += [parse_vertex(graph, word.strip()) for word in text.split(",")]
    return found


def _is_label(graph: Graph, label: Any) -> bool:
    from kleene.errors import GraphError

    try:
        graph.index(label)
    except GraphError:
        return False
    return True


def names(graph: Graph, positions: Any) -> Any:
    """Return the labels of positions as plain Python objects: one, or a list."""
    found = graph.label(positions)
    return found.tolist() if hasattr(found, "tolist") else found
