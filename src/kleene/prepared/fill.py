"""How much elimination makes of a graph, and how much is too much."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import Code, KleeneError, MemoryBudgetError, RequestError, Text
from kleene.system.formatting import format_bytes
from kleene.system.machine import available_memory

__all__ = [
    "BYTES_A_PAIR",
    "BYTES_A_VERTEX",
    "MOST_TRIANGLES",
    "Fill",
    "fill_of",
    "require_affordable",
    "too_much",
]

Array = NDArray[Any]

#: Bytes that a pair takes: a head, its entry in the transposed form, and two values of 64 bits.
BYTES_A_PAIR = 4 + 8 + 16

#: Bytes that a vertex takes: order, rank, parent, depth, size, and two offsets.
BYTES_A_VERTEX = 5 * 4 + 2 * 8

#: Of the free memory, what a prepared graph may take.
_MEMORY_SHARE = 0.5

#: More triangles are refused: one core takes some minutes for these, for each set of weights.
MOST_TRIANGLES = 10**12

_ADVICE = (
    "search the graph as it is, by kl.sssp or kl.apsp: graphs without small separators, such as "
    "social networks, do not gain by elimination",
    Text("pass a better ", Code("order=")),
)


class Fill(NamedTuple):
    """What elimination makes of a graph."""

    pairs: int  # vertices joined to an upward neighbor
    triangles: int  # relaxed for each set of weights
    depth: int  # of the elimination tree: the most ancestors of a vertex
    bytes: int  # of the prepared graph with values of 64 bits in both directions

    @staticmethod
    def of(n: int, pairs: int, triangles: int, depth: int) -> Fill:
        """Return the fill of n vertices with its memory."""
        return Fill(pairs, triangles, depth, BYTES_A_PAIR * pairs + BYTES_A_VERTEX * (n + 1))


def fill_of(parents: Array, offsets: Array) -> Fill:
    """Return the fill, by the elimination tree and the offsets of each rank's pairs."""
    degrees = np.diff(offsets).astype(np.float64)  # triangles may exceed 64 bits
    return Fill.of(
        len(parents),
        pairs=int(offsets[-1]),
        triangles=int((degrees * (degrees - 1)).sum() / 2),
        depth=int(_native.prepared_depths(parents).max(initial=0)),
    )


def too_much(
    fill: Fill, most_bytes: int | None = None, about: str = "", slack: float = 1.0
) -> KleeneError | None:
    """Return the error for a prepared graph that takes too much memory or time, or None.

    ``most_bytes`` is half of the free memory by default. Estimates may exceed limits by ``slack``.
    """
    joins = f"elimination would join {about}{fill.pairs:,} pairs of vertices"
    if most_bytes is None:
        free = available_memory()
        most_bytes = 2**62 if free is None else int(_MEMORY_SHARE * free)
    if fill.bytes > slack * most_bytes:
        return MemoryBudgetError(
            f"{joins}, which take {about}{format_bytes(fill.bytes)}; a prepared graph may take "
            f"{format_bytes(most_bytes)} here",
            advice=_ADVICE,
        )
    if fill.triangles > slack * MOST_TRIANGLES:
        return RequestError(
            f"{joins} and relax {about}{fill.triangles:.2g} triangles for each set of weights, "
            f"more than {MOST_TRIANGLES:.0e}",
            advice=_ADVICE,
        )
    return None


def require_affordable(fill: Fill, most_bytes: int | None = None) -> None:
    """Raise if a prepared graph takes too much memory, or its weights too much time."""
    if error := too_much(fill, most_bytes):
        raise error
