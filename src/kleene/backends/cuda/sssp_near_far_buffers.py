"""Device buffers of the near-far search, shared by its two engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.runtime.device import Argument, Device, ceil_div, require_memory

__all__ = ["NearFarBuffers"]

_SHORTEST_LIST = 2048  # entries of a block, if there are so many


def _share(entries: int, blocks: int) -> int:
    """Return the entries of the list of one block: more than its share if that is small."""
    return max(ceil_div(entries, blocks), min(entries, _SHORTEST_LIST))


class NearFarBuffers:
    """Distances as words; near entries per block, twice; far entries; a spill bit per vertex."""

    def __init__(
        self, device: Device, n: int, word: np.dtype[Any], blocks: int, near: int, far: int
    ) -> None:
        near, far = _share(near, blocks), _share(min(4 * n, far), blocks)
        needed = 32 * near * blocks + (4 + word.itemsize) * far * blocks + word.itemsize * n
        require_memory(device, needed, f"sssp on {n:,} vertices")
        self.words = device.empty(n, word, "distances")
        self.spilled = device.empty(ceil_div(n, 32), np.uint32, "spilled")
        self.far = (
            device.empty(far * blocks, np.int32, "far vertices"),
            device.empty(far * blocks, word, "far distances"),
            device.zeros(blocks, np.int32, "far counts"),
        )
        self.arguments: tuple[Argument, ...] = (
            self.words,
            device.empty((2 * near * blocks, 4), np.int32, "queue"),
            device.empty(2 * blocks, np.int32, "counts"),
            near, *self.far, far, self.spilled,
        )  # fmt: skip
