"""The difference of two answers as a drawing: more, less, and what only one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.measures.edge_table import EdgeTable
from kleene.measures.loads import Loads
from kleene.measures.measure import Measure
from kleene.results.nearest import Nearest
from kleene.results.reach import Reach
from kleene.results.result import Result
from kleene.system.formatting import counted, type_name
from kleene.viz.colouring import Differences, Magnitudes, Scale, change
from kleene.viz.flow import Flow
from kleene.viz.legend import Entry, Sample, cross, ring
from kleene.viz.subject import Options, Subject, subject_of, title_of, unit_of

__all__ = ["difference"]

Array = NDArray[Any]
Part = tuple[Graph, Array]  # a graph, and a number for each of its arcs

#: Sums of floats in another order differ by less than this part of the largest.
_ROUNDING = 1e-9

#: What only one of two answers has: in words, and as it is drawn.
_ONLY: tuple[tuple[str, str, Sample], ...] = (
    ("only in the first", "rings", ring),
    ("only in the second", "crosses", cross),
)

_KINDS = (Result, Reach, Nearest, Measure, Loads, EdgeTable)


def difference(what: object, minus: object, options: Options) -> Subject:
    """Return what is to be drawn of the numbers of an answer minus those of another."""
    kind = next((kind for kind in _KINDS if isinstance(what, kind)), None)
    if kind is None or not isinstance(minus, kind):
        raise RequestError(
            Code("minus"),
            f" compares two answers of one kind, distances, measures or loads, not "
            f"{type_name(what)} and {type_name(minus)}",
        )
    subject = _numbers(what, options)
    other = _numbers(minus, options._replace(target=None))
    _require_same_vertices(subject.graph, other.graph)
    subject.start = None  # what only the other reaches may be in another component
    subject.title = _title(subject, other)
    subject.marked = list(dict.fromkeys([*subject.marked, *other.marked]))
    notes = subject.notes if options.target is not None else []
    if isinstance(subject.colouring, Flow) and isinstance(other.colouring, Flow):
        subject.notes = [*_subtract_flows(subject, other.colouring), *notes]
    else:
        subject.notes = [*_subtract(subject, other, options.unit), *notes]
    return subject


def _numbers(answer: object, options: Options) -> Subject:
    """Return the subject of an answer, coloured by its numbers; one row is compared with any."""
    if isinstance(answer, (Result, Reach)) and len(answer._sources) == 1:
        options = options._replace(row=0)
    subject = subject_of(answer, options)
    if isinstance(answer, Nearest):
        distances = np.zeros(answer.graph.n, answer._distances.dtype)
        distances[answer._places] = answer._distances[:, 0]
        unit = unit_of(options, answer.graph, answer.hops)
        assert subject.reached is not None
        facilities = counted(len(subject.marked), "facility", "facilities")
        way, what = "from" if answer.reverse else "to", "hops" if unit == "hops" else "distances"
        subject.title = title_of(answer.graph, f"{what} {way} the nearest of {facilities}")
        subject.colouring = Scale(distances, subject.reached, unit)
    return subject


def _require_same_vertices(graph: Graph, other: Graph) -> None:
    ours, theirs = graph.labels, other.labels
    if ours is None or theirs is None:
        same = graph.n == other.n and ours is theirs
    else:
        same = np.array_equal(ours, theirs)
    if not same:
        raise RequestError(
            Code("minus"), " must be about a graph of the same vertices in the same order; "
            "streets may differ",
        )  # fmt: skip


def _title(subject: Subject, other: Subject) -> str:
    if subject.title == other.title:
        return f"{subject.title}, difference"
    return f"{subject.title}, minus {other.title.removeprefix(f'{other.graph.name}: ')}"


def _subtract(subject: Subject, other: Subject, unit: str | None) -> Iterator[str]:
    """Colour vertices by how much more or less they have; yield that in words."""
    pair = []
    for colouring in (subject.colouring, other.colouring):
        assert isinstance(colouring, (Scale, Magnitudes))
        if isinstance(colouring, Scale):
            unit = unit or colouring.unit
        numbers = colouring.distances if isinstance(colouring, Scale) else colouring.numbers
        try:
            pair.append((numbers.astype(np.float64), colouring.known))
        except OverflowError:
            raise RequestError("numbers beyond floats cannot be compared in a picture") from None
    (ours, has), (theirs, had) = pair
    both, only = has & had, (np.flatnonzero(has & ~had), np.flatnonzero(had & ~has))
    differences = np.zeros(len(ours))
    differences[both] = _minus(ours[both], theirs[both])
    unit = unit or ""
    found = [(len(some), *look) for some, look in zip(only, _ONLY, strict=True) if len(some)]
    samples = [Entry(text, sample) for _, text, _, sample in found]
    subject.colouring = colouring = Differences(differences, both, unit, samples)
    subject.sizes = None if subject.sizes is None else np.abs(colouring.parts)
    subject.only, subject.reached = only, has | had
    subject.grey = f"{subject.grey} in both"
    yield from _changes(differences[both], unit)
    for count, text, look, _ in found:
        yield f"{count:,} {text} ({look})"


def _subtract_flows(subject: Subject, other: Flow) -> Iterator[str]:
    """Colour arcs by how much more or less they carry; yield that in words."""
    flow = subject.colouring
    assert isinstance(flow, Flow)
    [(graph, ours)], [(second, theirs)] = flow.parts, other.parts
    keys, their_keys = _keys(graph), _keys(second)
    at = np.minimum(np.searchsorted(their_keys, keys), max(0, len(their_keys) - 1))
    same = their_keys[at] == keys if len(their_keys) else np.zeros(len(keys), bool)
    differences = ours.astype(np.float64)
    differences[same] = _minus(differences[same], theirs[at[same]])
    gone = np.where(np.isin(their_keys, keys), np.nan, -theirs)
    parts: Sequence[Part] = [(graph, differences), (second, gone)]
    subject.colouring = Flow(parts, flow.unit, signed=True, beside=flow.beside)
    numbers = np.concatenate([differences, gone[np.isfinite(gone)]])
    yield from _changes(numbers[np.isfinite(numbers)], flow.unit)
    lone = (np.isfinite(differences) & ~same, np.isfinite(gone))
    for which, (text, *_) in zip(lone, _ONLY, strict=True):
        if which.any():
            yield f"{counted(int(which.sum()), 'arc')} {text}"


def _minus(ours: Array, theirs: Array) -> Array:
    """Return differences, 0 where sums in another order may differ by so much."""
    largest = max(np.nanmax(np.abs(some), initial=0.0) for some in (ours, theirs))
    differences: Array = ours - theirs
    return np.where(np.abs(differences) <= _ROUNDING * largest, 0.0, differences)


def _keys(graph: Graph) -> Array:
    """Return a number for each arc that says its ends, in order."""
    return graph.coo.sources.astype(np.int64) * graph.n + graph.coo.targets


def _changes(numbers: Array, unit: str) -> Iterator[str]:
    """Say how many are larger, smaller and the same."""
    more, less = numbers[numbers > 0], numbers[numbers < 0]
    if len(more):
        yield f"{len(more):,} more, up to {change(float(more.max()), unit)}"
    if len(less):
        yield f"{len(less):,} less, down to {change(float(less.min()), unit)}"
    same = len(numbers) - len(more) - len(less)
    if same:
        yield f"{same:,} the same"
