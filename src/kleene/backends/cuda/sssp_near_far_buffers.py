"""Device buffers and outcome of the near-far search, shared by its two engines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.runtime.interface import Argument, Device, ceil_div, require_memory
from kleene.backends.cuda.tuning import sssp as tuning

__all__ = ["NearFarBuffers", "Outcome"]


class Outcome(NamedTuple):
    """How a search ended."""

    done: int  # kExhausted or kEarlyExit
    horizon: int  # largest final distance, at an early exit; a word
    overflow: bool  # a sum overflowed, and the distances are worthless


def _share(entries: int, blocks: int) -> int:
    """Return the entries of the list of one block: more than its share if that is small."""
    return max(ceil_div(entries, blocks), min(entries, tuning.SHORTEST_LIST))


class NearFarBuffers:
    """Distances as words; near entries per block, twice; far entries; a spill bit per vertex."""

    def __init__(
        self, device: Device, n: int, numbers: np.dtype[Any], blocks: int, near: int, far: int
    ) -> None:
        word = np.dtype(f"u{numbers.itemsize}")
        near, far = _share(near, blocks), _share(min(4 * n, far), blocks)
        needed = 32 * near * blocks + (4 + word.itemsize) * far * blocks + word.itemsize * n
        require_memory(device, needed, f"sssp on {n:,} vertices")
        self.words = device.empty(n, word, "distances")
        self.spilled = device.empty(ceil_div(n, 32), np.uint32, "spilled")
        #: Fields of the parameters of both engines.
        self.fields: dict[str, Argument] = {
            "distances": self.words,
            "entries": device.empty((2 * near * blocks, 4), np.int32, "queue"),
            "counts": device.empty(2 * blocks, np.int32, "counts"),
            "capacity": near,
            "far_vertices": device.empty(far * blocks, np.int32, "far vertices"),
            "far_distances": device.empty(far * blocks, word, "far distances"),
            "far_counts": device.zeros(blocks, np.int32, "far counts"),
            "far_capacity": far,
            "spilled": self.spilled,
        }
