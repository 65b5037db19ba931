"""Vertex ids 0 .. n - 1 from the names that a table or file uses for vertices.

The vertices are the names that occur. Integers are numbered in increasing order, so a table that
uses exactly 0 .. n - 1 keeps its numbers and needs no labels; other names are numbered in order of
first appearance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from contextlib import suppress
from itertools import islice
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import Code, GraphError, Text
from kleene.graph.checks import id_dtype, require_memory, require_unmasked
from kleene.graph.foreign_columns import as_numpy, held_value
from kleene.graph.forms import adopt, frozen
from kleene.graph.rows import in_order
from kleene.system.cached_property import cached_property
from kleene.system.machine import threads_for

__all__ = [
    "NAME_BYTES",
    "LabelIndex",
    "as_labels",
    "describe_labels",
    "ids_from_names",
    "ids_from_numbers",
    "is_missing",
    "is_one_vertex",
    "range_of_labels",
    "unwritable_label",
]

Array = NDArray[Any]

#: Bound on the memory of a name until it is a label, besides its characters: the string, lists of
#: strings, and the set that finds duplicates.
NAME_BYTES = 300


def as_labels(labels: Iterable[Any] | Array, n: int) -> Array:
    """Return labels as a frozen array of length ``n``: integers, or Python objects."""
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise GraphError(Code("labels"), f" must be one-dimensional, but has shape {labels.shape}")
    require_unmasked(labels, "labels", "give every vertex a label")
    labels = as_numpy(in_order(labels, n, None, "labels", "vertices"), "labels")
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        array: Array = frozen(labels.astype(labels.dtype.newbyteorder("="), copy=False))
    else:
        array = adopt(_from_sequence(labels, n))
    if len(array) != n:
        least = f"more than {n}" if len(array) > n else len(array)  # of a generator
        count = len(labels) if isinstance(labels, Sized) else least
        raise GraphError(f"got {count} labels for {n} vertices")
    _require_all_named(array)
    rising = array.dtype.kind in "iu" and bool((array[1:] > array[:-1]).all())
    try:
        distinct = n if rising else len(set(array.tolist()))
    except TypeError as error:
        raise GraphError(Code("labels"), f" must be hashable: {error}") from None
    if distinct != n:
        raise GraphError(
            Code("labels"), f" must be unique, but only {distinct} of {n} are distinct"
        )
    return array


def _require_all_named(labels: Array) -> None:
    """Raise for a label that is missing: None, NaN or NaT, by which no vertex can be found."""
    if labels.dtype.kind in "iu" or {str, int, tuple}.issuperset(map(type, labels)):
        return
    at = next((at for at, label in enumerate(labels) if is_missing(label)), None)
    if at is not None:
        raise GraphError(
            f"the label of vertex {at} is missing ({labels[at]})",
            advice=["give every vertex a label of its own, or pass no labels"],
        )


def _from_sequence(labels: Iterable[Any], n: int) -> Array:
    """Return up to n + 1 labels, perhaps of a generator, as integers if all are, else objects."""
    try:
        given = list(islice(labels, n + 1))
    except TypeError:
        kind = type(labels).__name__
        raise GraphError(Code("labels"), f" must be a sequence of {n} names, not {kind}") from None
    if given and {type(label) for label in given} == {int}:
        with suppress(OverflowError):
            return np.array(given, dtype=np.int64)
    return np.fromiter(given, dtype=object, count=len(given))


def unwritable_label(error: UnicodeEncodeError) -> GraphError:
    """Return the error for a label that UTF-8 cannot hold."""
    return GraphError(
        f"label {error.object!r} cannot be written: {error.object[error.start]!r} is a lone "
        "surrogate, which has no UTF-8 encoding"
    )


def ids_from_numbers(sources: Array, targets: Array) -> tuple[Array, Array, Array | None, int]:
    """Return (source ids, target ids, labels, n) from integer names.

    Labels are None when the names are 0 .. n - 1.
    """
    if len(sources) == 0:
        return sources, targets, None, 0
    low = min(int(sources.min()), int(targets.min()))
    span = max(int(sources.max()), int(targets.max())) - low + 1
    sparse = span > 8 * len(sources) + 1024  # too sparse for a table of the whole range
    require_memory(  # both ends and the order of them, several times; or the table and new ends
        128 * len(sources) if sparse else 9 * span + 32 * len(sources),
        f"numbering the vertices of {len(sources):,} arcs",
        Text("pass ", Code("relabel=False"), " if the vertices are numbered 0 .. n - 1"),
    )
    if sparse:
        names, inverse = np.unique(np.concatenate([sources, targets]), return_inverse=True)
        inverse = inverse.astype(np.int32 if len(names) < 2**31 else np.int64)
        return inverse[: len(sources)], inverse[len(sources) :], names, len(names)
    if sources.dtype != targets.dtype:
        sources, targets = sources.astype(np.int64), targets.astype(np.int64)
    renumbered = _native.renumber(sources, targets, low, span, threads_for(len(sources)))
    if renumbered is None:
        return sources, targets, None, span
    return *renumbered, len(renumbered[2])


def is_missing(name: Any) -> bool:
    """Return whether a name is None, NaN, NaT or pandas.NA, which is not equal to itself."""
    if name is None:
        return True
    try:
        return bool(name != name)  # only NaN differs from itself
    except TypeError:  # pandas.NA, whose comparisons have no truth
        return True
    except ValueError:  # an array
        return False


def ids_from_names(sources: Sequence[Any], targets: Sequence[Any]) -> tuple[Array, Array, Array]:
    """Return (source ids, target ids, labels) from hashable names."""
    for names, end in ((sources, "source"), (targets, "target")):
        for row, name in enumerate(names):
            if is_missing(name):
                raise GraphError(f"the {end} in row {row} is missing ({name})")
    ids: dict[Any, int] = {}
    try:
        pairs = [
            (ids.setdefault(s, len(ids)), ids.setdefault(t, len(ids)))
            for s, t in zip(sources, targets, strict=True)
        ]
    except TypeError as error:
        raise GraphError(f"vertex names must be hashable: {error}") from error
    array = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return array[:, 0].copy(), array[:, 1].copy(), as_labels(list(ids), len(ids))


# ---- positions of vertices from their labels ----------------------------------------------------
# Positions of vertices from their labels, and what to say about a label that no vertex has.
#
# A vertex of a graph with labels is its label, whatever its type; without labels it is its
# position, 0 .. n - 1. Integer labels are found by binary search, others in a dict.

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

    def _refuse(self, given: Any) -> NoReturn:
        label = held_value(given)
        shown = repr(label.item() if isinstance(label, np.generic) else label)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        if label is not given and label is not None:
            raise GraphError(
                f"a vertex is given as a scalar of Arrow, which holds {shown}; pass ",
                Code("scalar.as_py()"),
            )
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
