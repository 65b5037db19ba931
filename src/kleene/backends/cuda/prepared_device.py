"""Prepared graphs on a device: copied on first use, and kept as long as they live.

The pairs of an elimination are on the device in the order that they have on the host, so that
values go there and back as they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cuda.device_graph import Placed, deriving
from kleene.backends.cuda.prepared_layout import piece_layout
from kleene.backends.cuda.runtime.interface import Array, Device, ctype, require_memory
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.device_names import device_name

__all__ = [
    "DeviceElimination",
    "PairArrays",
    "place_elimination",
    "variant",
]

HostArray = NDArray[Any]

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
