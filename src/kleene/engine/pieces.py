"""Pieces: ranges of rows that are computed, written and recorded together, and how large they are.

A piece should take some seconds, so that a process that ends loses little and overheads are
comparatively small; and its rows should take a small part of the memory, since a piece is written
while the next one is computed.
"""

from __future__ import annotations

import math
import os
from typing import NamedTuple

from kleene.errors import RequestError

__all__ = ["Piece", "choose_block_rows", "shrinking", "split"]

#: Seconds that a piece should take by the plan's estimate, which may be off by a factor of two; the
#: variable KLEENE_PIECE_SECONDS of the environment sets another number.
_SECONDS = 2.5

#: The part of the memory that the rows of a piece may take, and bytes they never exceed.
_PART, _MOST_BYTES = 1 / 32, 2**30

#: Methods search from so many sources at once; whole batches are faster than broken ones.
_BATCHES = (1024, 512, 256, 64, 16, 8)

#: Sources that a device takes at once, at the least, where there are so many for each: a full batch
#: of searches without weights. Not measured on several GPUs yet.
_LEAST = 1024


class Piece(NamedTuple):
    """The rows ``first`` to ``stop``, without the latter."""

    index: int  # type: ignore[assignment]  # tuples have a method of this name
    first: int
    stop: int


def split(rows: int, block_rows: int) -> list[Piece]:
    """Return the pieces of a number of rows."""
    firsts = range(0, rows, block_rows)
    return [Piece(i, first, min(first + block_rows, rows)) for i, first in enumerate(firsts)]


def shrinking(rows: int, devices: int) -> list[Piece]:
    """Return pieces for several devices, smaller towards the end but not too small.

    Examples
    --------
    >>> from kleene.engine.pieces import shrinking
    >>> [piece.stop - piece.first for piece in shrinking(10_000, 2)]
    [2500, 1875, 1407, 1055, 1024, 1024, 1024, 91]
    """
    pieces: list[Piece] = []
    least, first = min(_LEAST, -(-rows // devices)), 0
    while first < rows:
        left = rows - first
        stop = first + min(left, max(least, -(-left // (2 * devices))))
        pieces.append(Piece(len(pieces), first, stop))
        first = stop
    return pieces


def _piece_seconds() -> float:
    text = os.environ.get("KLEENE_PIECE_SECONDS", "")
    try:
        seconds = float(text or _SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise RequestError(f"KLEENE_PIECE_SECONDS must be a number above 0, not {text!r}")
    return seconds


def choose_block_rows(
    rows: int, row_bytes: int, seconds: float, memory: int, target: float | None = None
) -> int:
    """Return how many rows a piece should have.

    Parameters
    ----------
    rows, row_bytes : int
        How many rows there are, and the bytes of one, predecessors included.
    seconds : float
        What all of them are expected to take.
    memory : int
        Bytes of the machine.
    target : float, optional
        Seconds that a piece should take; 2.5 by default, or what KLEENE_PIECE_SECONDS says.

    Examples
    --------
    >>> from kleene.engine.pieces import choose_block_rows
    >>> choose_block_rows(100_000, 800_000, seconds=1000.0, memory=8 * 2**30)
    192
    """
    target = _piece_seconds() if target is None else target
    most = min(_MOST_BYTES, int(_PART * memory))
    fit = most // max(1, row_bytes)
    timely = int(target * rows / seconds) if seconds > 0 else rows
    wanted = max(1, min(rows, fit, timely))
    if wanted >= rows:  # all in one, which may have room for more
        return max(1, rows + -rows % _BATCHES[-1])
    batch = next((size for size in _BATCHES if size <= wanted), 1)
    return wanted - wanted % batch
