"""The elimination tree in pieces that blocks work on, and the order of the pieces.

A subtree of at most ``PIECE_VERTICES`` is never cut; several below the same piece are one piece.
What is above them is cut where the size of the subtree passes a power of ``PIECE_RATIO``: mostly
chains, the separators of nested dissection. A piece comes after its parent, which has the parents
of its uppermost vertices; so all ancestors of its vertices are in pieces before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cuda.graph import Placed, deriving
from kleene.backends.cuda.runtime.interface import Array, Device, ctype, require_memory
from kleene.backends.cuda.runtime.structs import struct_type
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.devices import device_name

__all__ = [
    "DeviceElimination",
    "Layout",
    "PairArrays",
    "piece_layout",
    "place_elimination",
    "variant",
]

HostArray = NDArray[Any]

_VERTEX = struct_type("prepared/prepared.cuh", "PreparedVertex").dtype


class Layout(NamedTuple):
    """The vertices of an elimination by pieces and levels."""

    vertices: HostArray  # PreparedVertex
    levels: HostArray  # int32, the first vertex of each level; then the number of vertices
    counts: HostArray  # int32, vertices of each level
    piece_levels: HostArray  # int32, the first level of each piece; then the number of levels
    piece_parents: HostArray  # int32, -1 where there is none
    piece_children: HostArray  # int32, how many

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


def _pieces(parents: HostArray, sizes: HostArray) -> tuple[HostArray, HostArray, HostArray]:
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


def _tiers(sizes: HostArray) -> HostArray:
    """Return 0 for small subtrees, and else how many powers of the ratio a subtree is larger."""
    bounds = [tuning.PIECE_VERTICES]
    while bounds[-1] < len(sizes):
        bounds.append(bounds[-1] * tuning.PIECE_RATIO)
    return np.searchsorted(bounds, sizes)


def _last(following: HostArray) -> HostArray:
    """Return where chains end that lead from each number to another, or to itself at the end."""
    while True:
        beyond = following[following]
        if np.array_equal(beyond, following):
            return following
        following = beyond


def _bins(above: HostArray, sizes: HostArray) -> HostArray:
    """Number consecutive subtrees below the same piece: a new number after PIECE_VERTICES."""
    before = np.cumsum(sizes) - sizes
    starts = np.flatnonzero(_changes(above))
    within = before - np.repeat(before[starts], np.diff(np.append(starts, len(above))))
    return np.cumsum(_changes(above) | _changes(within // tuning.PIECE_VERTICES)) - 1


def _changes(numbers: HostArray) -> HostArray:
    """Return where a number differs from the one before; the first does."""
    return np.append(np.ones(min(1, len(numbers)), bool), numbers[1:] != numbers[:-1])


def _count(numbers: HostArray) -> int:
    """Return how many different numbers there are, of consecutive ascending ones."""
    return int(numbers[-1] - numbers[0]) + 1 if len(numbers) else 0


# ---- Prepared graphs on a device: copied on first use, and kept as long as they live ------------
# The pairs of an elimination are on the device in the order that they have on the host, so that
# values go there and back as they are.

_SEMIRINGS = {
    "min_plus": "KL_MIN_PLUS",
    "boolean": "KL_MAX_MIN",  # of bytes
    "max_min": "KL_MAX_MIN",
    "max_times": "KL_MAX_TIMES",
}


def variant(semiring: str, dtype: np.dtype[Any]) -> dict[str, str | int]:
    """Return the macros of the kernels for values of this type."""
    return {"KL_SEMIRING": _SEMIRINGS[semiring], "KL_TYPE": ctype(dtype)}


class PairArrays(NamedTuple):
    """Numbers for each pair of an elimination, in both directions."""

    up: Array
    down: Array  # the same array where both directions are alike


class DeviceElimination(Placed):
    """An elimination on a device, with the values and the last vertices of its pairs."""

    def __init__(self, elimination: Elimination, device: Device) -> None:
        super().__init__(device)
        self.n, self.pairs = elimination.n, elimination.arcs
        self.tree_levels = int(elimination.depths.max(initial=-1)) + 1
        layout = piece_layout(elimination)
        self.pieces, self.level_count = layout.pieces, len(layout.counts)
        self.offsets = self._upload(elimination.offsets, "pair offsets")
        self.heads = self._upload(elimination.heads, "upward neighbors")
        self.parents = self._upload(elimination.parents, "tree parents")
        self.depths = self._upload(elimination.depths, "tree depths")
        self.ranks = self._upload(elimination.ranks, "ranks")
        self.vertices = self._upload(layout.vertices, "vertices by piece")
        self.levels = self._upload(layout.levels, "levels")
        self.counts = self._upload(layout.counts, "level counts")
        self.piece_levels = self._upload(layout.piece_levels, "piece levels")
        self.piece_parents = self._upload(layout.piece_parents, "piece parents")
        self.piece_children = self._upload(layout.piece_children, "piece children")
        self._values: WeakKeyDictionary[Customization, PairArrays] = WeakKeyDictionary()
        self._last: WeakKeyDictionary[Customization, PairArrays] = WeakKeyDictionary()
        self.arcs: Any = None  # those of the last graph that was customized

    def values(self, customization: Customization) -> PairArrays:
        """Return the values of the pairs."""
        found = self._values.get(customization)
        if found is None:
            found = self._both(customization.up, customization.down, "values")
            self._values[customization] = found
        return found

    def keep_values(self, customization: Customization, values: PairArrays) -> None:
        """Keep values that were computed here."""
        self._values[customization] = values

    def last_vertices(self, elimination: Elimination, customization: Customization) -> PairArrays:
        """Return the vertices before the ends of the pairs."""
        found = self._last.get(customization)
        if found is None:
            with deriving():
                last = customization.last_vertices(elimination)
            found = self._both(*last, "last vertices")
            self._last[customization] = found
        return found

    def _both(self, up: HostArray, down: HostArray, name: str) -> PairArrays:
        there = self._upload(up, f"{name}, up")
        return PairArrays(there, there if down is up else self._upload(down, f"{name}, down"))

    def _upload(self, host: HostArray, name: str) -> Array:
        what = f"a prepared graph of {self.n:,} vertices and {self.pairs:,} pairs"
        require_memory(self.device, host.nbytes, what)
        return self.device.upload(host, name)


_PLACED: WeakKeyDictionary[Elimination, dict[str, DeviceElimination]] = WeakKeyDictionary()


def place_elimination(elimination: Elimination, device: Device) -> DeviceElimination:
    """Return the copy of an elimination on a device, made at the first call."""
    placed, name = _PLACED.setdefault(elimination, {}), device_name(device.kind, device.index)
    there = placed.get(name)
    if there is None or there.device is not device:
        there = placed[name] = DeviceElimination(elimination, device)
    return there
