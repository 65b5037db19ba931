"""Positions of vertices from their labels, and what to say about a label that no vertex has.

A vertex of a graph with labels is its label, whatever its type; without labels it is its position,
0 .. n - 1. Integer labels are found by binary search, others in a dict.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, Text
from kleene.graph.checks import id_dtype, require_unmasked
from kleene.graph.foreign_columns import as_numpy
from kleene.system.cached_property import cached_property

__all__ = ["LabelIndex", "describe_labels", "is_one_vertex", "range_of_labels"]

Array = NDArray[Any]

#: The most labels that are compared with one that is unknown: takes a tenth of a second.
_MOST_COMPARED = 20_000


def is_one_vertex(vertex: Any) -> bool:
    """Return whether this is one vertex: a number, a text, a tuple or another hashable object."""
    if isinstance(vertex, (str, bytes, int, float, tuple, np.generic)):
        return True
    if hasattr(vertex, "__array__"):
        return getattr(vertex, "ndim", 1) == 0
    return isinstance(vertex, Hashable) and not isinstance(vertex, range)


class LabelIndex:
    """Finds the positions of labels; without labels, checks positions."""

    def __init__(self, labels: Array | None, n: int) -> None:
        self._labels, self._n = labels, n

    def position(self, label: Any) -> int:
        """Return the position of a label."""
        labels = self._labels
        integer = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
        if labels is None:
            if integer and 0 <= label < self._n:
                return int(label)
        elif labels.dtype.kind in "iu":
            if integer and self._n:
                values, order = self._sorted
                at = int(np.searchsorted(values, label))
                if at < self._n and values[at] == label:
                    return at if order is None else int(order[at])
        else:
            try:
                found = self._positions.get(label)
            except TypeError:  # not hashable
                found = None
            if found is not None and isinstance(label, bool) == isinstance(labels[found], bool):
                return found  # True == 1, but they are not the same label
        if hasattr(label, "__array__") and not isinstance(label, np.generic) and label.ndim == 0:
            return self.position(label.item())  # an array or tensor of one number, without axes
        self._refuse(label)

    def positions(self, labels: Iterable[Any]) -> Array:
        """Return the positions of several labels."""
        require_unmasked(labels, "vertices", "leave them out")
        labels = as_numpy(labels, "vertices")
        given = labels if isinstance(labels, np.ndarray) else list(labels)
        dtype = id_dtype(self._n)
        numbers = self._labels is None or self._labels.dtype.kind in "iu"
        array = _as_array(given) if numbers and len(given) else None
        if array is None or array.dtype.kind not in "iu" or array.ndim != 1:
            if array is not None and array.ndim != 1:
                raise GraphError(f"vertices must be one-dimensional, not of shape {array.shape}")
            if array is not None and array.dtype.kind == "f" and np.isnan(array).any():
                self._refuse(np.nan)  # of a column of integers with nulls
            return np.fromiter(map(self.position, given), dtype, count=len(given))
        if self._labels is None:
            wrong = (array < 0) | (array >= self._n)
            found = array
        else:
            values, order = self._sorted
            at = np.minimum(np.searchsorted(values, array), max(self._n - 1, 0))
            wrong = values[at] != array if self._n else np.ones(len(array), bool)
            found = at if order is None else order[at]
        if wrong.any():
            self._refuse(array[wrong.argmax()].item())
        return found.astype(dtype)

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        assert self._labels is not None
        return {label: i for i, label in enumerate(self._labels.tolist())}

    @cached_property
    def _sorted(self) -> tuple[Array, Array | None]:
        """The integer labels in increasing order, and their positions (None: in this order)."""
        assert self._labels is not None
        if (self._labels[1:] > self._labels[:-1]).all():
            return self._labels, None
        order = np.argsort(self._labels, kind="stable")
        return self._labels[order], order

    def _refuse(self, label: Any) -> NoReturn:
        shown = repr(label.item() if isinstance(label, np.generic) else label)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        advice = Text()
        if self._labels is None:
            if not isinstance(label, (int, np.integer)):
                advice = Text("; this graph has no labels")
            raise GraphError(f"no vertex {shown}: {describe_labels(None, self._n)}", advice)
        near = [repr(name) for name in self._near(label)]
        if near:
            advice = Text(f"; did you mean {' or '.join(near)}?")
        elif isinstance(label, (int, np.integer)) and 0 <= label < self._n:
            advice = Text("; for vertices by position use ", Code("graph.unlabelled()"))
        raise GraphError(f"no vertex {shown}: {describe_labels(self._labels, self._n)}", advice)

    def _near(self, label: Any) -> list[Any]:
        """Return up to three labels that look like this one."""
        from difflib import get_close_matches

        assert self._labels is not None
        if not isinstance(label, (str, int, np.integer)):
            return []
        names: dict[str, Any] = {}
        for name in self._labels[:_MOST_COMPARED].tolist():
            names.setdefault(str(name).casefold(), name)
        text = str(label).strip().casefold()
        if text in names:
            return [names[text]]
        if self._labels.dtype.kind in "iu":
            return []
        return [names[near] for near in get_close_matches(text, names, n=3, cutoff=0.7)]


def _as_array(vertices: Any) -> Array | None:
    """Return vertices as an array, or None where they are not of one shape."""
    try:
        return np.asarray(vertices)
    except ValueError:
        return None


def describe_labels(labels: Array | None, n: int) -> str:
    """Return what the vertices are called: vertices are labelled 1 to 3353."""
    if n == 0:
        return "the graph is empty"
    if labels is None:
        return f"the graph's vertices are 0 to {n - 1}"
    return f"vertices are {range_of_labels(labels)}"


def range_of_labels(labels: Array) -> str:
    """Return the first and the last label, for display: a range only where numbers ascend."""
    if not len(labels):
        return "labelled"
    first, last = (_short(label) for label in labels[[0, -1]].tolist())
    if len(labels) > 1 and labels.dtype.kind in "iu" and (labels[1:] > labels[:-1]).all():
        return f"labelled {first} to {last}"
    shown = [first, "...", last] if len(labels) > 2 else [first, last][: len(labels)]
    return f"labelled {', '.join(shown)}"


def _short(label: Any) -> str:
    text = repr(label)
    return text if len(text) <= 24 else text[:21] + "..."
