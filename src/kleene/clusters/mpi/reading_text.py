"""Edge lists in parts: each rank reads a range of bytes, and moves both its ends to ends of lines.

The first line decides the layout, as when one process reads the file; every rank looks at it. A
wrong line is reported with its number in the file: only then do the ranks count their lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed
from kleene.clusters.mpi.arcs import PartArcs
from kleene.clusters.mpi.collective import redistribute, require_part_memory
from kleene.clusters.mpi.communicator import Communicator
from kleene.clusters.mpi.partition import Partition
from kleene.errors import FormatError
from kleene.graph.checks import id_dtype
from kleene.graph.labels import ids_from_numbers
from kleene.graph.weight_names import NumbersLeft
from kleene.io.edge_list import find_layout
from kleene.io.source import Source
from kleene.io.text import Arcs, ColumnLayout, TextReader

__all__ = [
    "read_edge_list",
    "renumber",
]

Array = NDArray[Any]

_HEAD = 1 << 16  # bytes in which the first line is sought first
_LINE_BYTES = 8  # of a line of a large file, at least
_NEWLINE = ord("\n")


def read_edge_list(
    comm: Communicator,
    source: Source,
    *,
    directed: bool = True,
    relabel: bool = True,
    **options: Any,
) -> PartArcs:
    """Return the arcs of this rank's lines; vertices are numbered as one process would."""
    body, layout, left = agreed(comm, lambda: _layout(source, relabel, options))
    if layout is None:
        nothing = np.empty(0, np.int32)
        return PartArcs(0, nothing, nothing, None, directed, False, name=source.stem)
    lines = agreed(comm, lambda: _own_lines(source, body, comm.rank, comm.size))
    text = lines[1] - lines[0]
    require_part_memory(
        comm, 0, text // _LINE_BYTES, f"a part of {source.name}", "use more machines", 2 * text
    )
    arcs = _parse(comm, source, layout, body, lines)
    weights = _same_type(comm, arcs.weights)
    if relabel:
        tails, heads, labels, n = renumber(comm, arcs.sources, arcs.targets)
    else:
        tails, heads, labels = arcs.sources, arcs.targets, None
        most = max(int(tails.max(initial=-1)), int(heads.max(initial=-1)))
        n = 1 + max(comm.gather_all(most))
    return PartArcs(n, tails, heads, weights, directed, False, labels, source.stem, left)


def _layout(
    source: Source, relabel: bool, options: dict[str, Any]
) -> tuple[int, ColumnLayout | None, NumbersLeft | None]:
    """Return where the lines of arcs begin, their layout, and columns that may be weights."""
    size = _HEAD
    while True:
        text = TextReader(source, (0, min(size, source.size)))
        whole = size >= source.size
        found = None
        try:
            found = find_layout(text, relabel=relabel, **options)
        except FormatError:
            if whole:
                raise
        # The lines that decide must be there to their end.
        seen = found is not None and bool((text.data[text.offset :] == _NEWLINE).any())
        if whole or seen:
            break
        size *= 4
    if found is None:
        return text.offset, None, None
    layout = found.layout
    if layout.names:
        source.fail(
            "found vertex names, expected numbers: ranks cannot number names in parts; convert the "
            "file with `kleene convert` to .npz, which keeps them as labels"
        )
    return text.offset, layout, found.left


def _own_lines(source: Source, body: int, rank: int, ranks: int) -> tuple[int, int]:
    """Return the bytes of this rank's lines."""
    length = source.size - body
    return (
        _line_start(source, body, body + length * rank // ranks),
        _line_start(source, body, body + length * (rank + 1) // ranks),
    )


def _line_start(source: Source, body: int, at: int) -> int:
    """Return the first byte, from ``at`` on, at which a line begins, or the end."""
    if at <= body:
        return body
    at, width = at - 1, 1 << 12  # a line begins at ``at`` if the byte before it ends one
    while at < source.size:
        window = source.read(np.dtype(np.uint8), min(width, source.size - at), at)
        ends = np.flatnonzero(window == _NEWLINE)
        if len(ends):
            return at + int(ends[0]) + 1
        at += len(window)
        width *= 2
    return source.size


def _parse(
    comm: Communicator, source: Source, layout: ColumnLayout, body: int, lines: tuple[int, int]
) -> Arcs:
    """Return the arcs of some lines; a wrong line has its number in the file."""
    arcs: Arcs | None = None
    wrong: Exception | None = None
    text: TextReader | None = None
    try:
        text = TextReader(source, lines)
        arcs = text.arcs(layout)
    except Exception as error:
        wrong = error
    if any(comm.gather_all(isinstance(wrong, FormatError))):
        counted = 0 if text is None else int(np.count_nonzero(text.data == _NEWLINE))
        before = sum(comm.gather_all(counted)[: comm.rank])
        if text is not None and isinstance(wrong, FormatError):
            header = TextReader(source, (0, body))
            text.line = 1 + int(np.count_nonzero(header.data == _NEWLINE)) + before
            try:
                text.arcs(layout)
            except FormatError as error:
                wrong = error

    def result() -> Arcs:
        if wrong is not None:
            raise wrong
        assert arcs is not None
        return arcs

    return agreed(comm, result)


def _same_type(comm: Communicator, weights: Array | None) -> Array | None:
    """Return weights in the narrowest type that holds those of all ranks."""
    kinds = comm.gather_all(None if weights is None else weights.dtype.name)
    if weights is None:
        return None
    widest = max(kinds, key=("int32", "int64", "float64").index)
    return weights.astype(widest, copy=False)


# ---- vertices 0 .. n - 1 from numbers -----------------------------------------------------------
# Vertices 0 .. n - 1 from numbers, as in ``kleene.graph.labels``, by ranks that know some each.
#
# The numbers are split into ranges, one a rank, by a sample of them. Each rank sends the numbers
# that it knows to the ranks of their ranges; these sort them, count, and send their positions back.
# So a rank holds the numbers that it knows and those of one range, never all.

_SAMPLE = 256  # numbers of each rank that decide the ranges


def renumber(
    comm: Communicator, tails: Array, heads: Array
) -> tuple[Array, Array, Array | None, int]:
    """Return (tails, heads, labels, n): positions of the numbers among all, in increasing order.

    Labels are those of this rank's part, or None on all ranks when the numbers are 0 .. n - 1.
    """
    tails, heads, names, known = agreed(comm, lambda: ids_from_numbers(tails, heads))
    own = (np.arange(known) if names is None else names).astype(np.int64)  # in increasing order
    cuts = np.searchsorted(own, _splitters(comm, own))
    received = comm.exchange(np.split(own, cuts))
    held = np.unique(np.concatenate(received))
    bounds = np.concatenate([[0], np.cumsum(comm.gather_all(len(held)))])
    n = int(bounds[-1])
    base = bounds[comm.rank]
    answers = comm.exchange([base + np.searchsorted(held, asked) for asked in received])
    positions = np.concatenate(answers).astype(id_dtype(n))
    plain = len(held) == 0 or (held[0] == base and held[-1] == base + len(held) - 1)
    labels = None
    if not all(comm.gather_all(bool(plain))):
        wanted = Partition.even(n, comm.size)
        labels = redistribute(comm, held, bounds.tolist(), list(wanted.bounds))
    return positions[tails], positions[heads], labels, n


def _splitters(comm: Communicator, own: Array) -> Array:
    """Return the first numbers of all ranges but the lowest, by a sample of all ranks."""
    chosen = np.linspace(0, len(own) - 1, min(len(own), _SAMPLE)).astype(np.int64)
    sample = np.sort(np.concatenate(comm.gather_all(own[chosen])))
    if not len(sample):
        return np.zeros(comm.size - 1, np.int64)
    return sample[len(sample) * np.arange(1, comm.size) // comm.size]
