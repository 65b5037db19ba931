"""Vertex ids 0 .. n - 1 from the names that a table or file uses for vertices.

The vertices are the names that occur. Integers are numbered in increasing order, so a table that
uses exactly 0 .. n - 1 keeps its numbers and needs no labels; other names are numbered in order of
first appearance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import Code, GraphError, Text
from kleene.graph.checks import require_memory, require_unmasked
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.frozen import adopt, frozen
from kleene.graph.table_index import in_order
from kleene.system.machine import threads_for

__all__ = [
    "NAME_BYTES",
    "as_labels",
    "ids_from_names",
    "ids_from_numbers",
    "is_missing",
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
            f"the label of vertex {at} is missing ({labels[at]}); give every vertex a label of its "
            "own, or pass no labels"
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
