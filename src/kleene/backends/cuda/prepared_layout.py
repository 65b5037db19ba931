"""The elimination tree in pieces that blocks work on, and the order of the pieces.

A subtree of at most ``PIECE_VERTICES`` is never cut; several below the same piece are one piece.
What is above them is cut where the size of the subtree passes a power of ``PIECE_RATIO``: mostly
chains, the separators of nested dissection. A piece comes after its parent, which has the parents
of its uppermost vertices; so all ancestors of its vertices are in pieces before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cuda.runtime.structs import struct_type
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.prepared.elimination import Elimination

__all__ = ["Layout", "piece_layout"]

Array = NDArray[Any]

_VERTEX = struct_type("prepared.cuh", "PreparedVertex").dtype


class Layout(NamedTuple):
    """The vertices of an elimination by pieces and levels."""

    vertices: Array  # PreparedVertex
    levels: Array  # int32, the first vertex of each level; then the number of vertices
    counts: Array  # int32, vertices of each level
    piece_levels: Array  # int32, the first level of each piece; then the number of levels
    piece_parents: Array  # int32, -1 where there is none
    piece_children: Array  # int32, how many

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return len(self.piece_parents)


def piece_layout(elimination: Elimination) -> Layout:
    """Cut the elimination tree into pieces."""
    parents, depths = elimination.parents.astype(np.int64), elimination.depths
    tops, pieces, piece_parents = _pieces(parents, elimination.sizes.astype(np.int64))
    order = np.lexsort((depths - depths[tops], pieces))  # stable: by rank within a level
    level, piece = (depths - depths[tops])[order], pieces[order]
    starts = np.flatnonzero(_changes(piece) | _changes(level))
    levels = np.append(starts, len(order)).astype(np.int32)
    piece_levels = np.searchsorted(piece[starts], np.arange(len(piece_parents) + 1))
    vertices = np.empty(len(order), _VERTEX)
    vertices["first"] = elimination.offsets[order]
    vertices["pairs"] = np.diff(elimination.offsets)[order]
    vertices["rank"] = order
    vertices["depth"] = depths[order]
    vertices["subtree"] = elimination.sizes[order]
    children = np.bincount(piece_parents[piece_parents >= 0], minlength=len(piece_parents))
    return Layout(
        vertices,
        levels,
        np.diff(levels),
        piece_levels.astype(np.int32),
        piece_parents.astype(np.int32),
        children.astype(np.int32),
    )


def _pieces(parents: Array, sizes: Array) -> tuple[Array, Array, Array]:
    """Return the uppermost vertex over each one in its piece, its piece, and the pieces' parents.

    A piece of several subtrees has several uppermost vertices.
    """
    tiers = _tiers(sizes)
    own = np.arange(len(parents))
    is_top = (parents < 0) | (tiers[parents] != tiers)
    tops = _last(np.where(is_top, own, parents))
    upper = np.flatnonzero(is_top & (tiers > 0))
    upper = upper[np.argsort(-tiers[upper], kind="stable")]
    lower = np.flatnonzero(is_top & (tiers == 0))
    above = np.where(parents[lower] < 0, -1, tops[parents[lower]])
    lower = lower[np.argsort(above, kind="stable")]
    numbers = np.zeros(len(parents), np.int64)
    numbers[upper] = np.arange(len(upper))
    numbers[lower] = len(upper) + _bins(np.sort(above), sizes[lower])
    pieces = numbers[tops]
    piece_parents = np.full(len(upper) + _count(numbers[lower]), -1)
    with_parents = own[is_top & (parents >= 0)]
    piece_parents[pieces[with_parents]] = pieces[parents[with_parents]]
    return tops, pieces, piece_parents


def _tiers(sizes: Array) -> Array:
    """Return 0 for small subtrees, and else how many powers of the ratio a subtree is larger."""
    bounds = [tuning.PIECE_VERTICES]
    while bounds[-1] < len(sizes):
        bounds.append(bounds[-1] * tuning.PIECE_RATIO)
    return np.searchsorted(bounds, sizes)


def _last(following: Array) -> Array:
    """Return where chains end that lead from each number to another, or to itself at the end."""
    while True:
        beyond = following[following]
        if np.array_equal(beyond, following):
            return following
        following = beyond


def _bins(above: Array, sizes: Array) -> Array:
    """Number consecutive subtrees below the same piece: a new number after PIECE_VERTICES."""
    before = np.cumsum(sizes) - sizes
    starts = np.flatnonzero(_changes(above))
    within = before - np.repeat(before[starts], np.diff(np.append(starts, len(above))))
    return np.cumsum(_changes(above) | _changes(within // tuning.PIECE_VERTICES)) - 1


def _changes(numbers: Array) -> Array:
    """Return where a number differs from the one before; the first does."""
    return np.append(np.ones(min(1, len(numbers)), bool), numbers[1:] != numbers[:-1])


def _count(numbers: Array) -> int:
    """Return how many different numbers there are, of consecutive ascending ones."""
    return int(numbers[-1] - numbers[0]) + 1 if len(numbers) else 0
