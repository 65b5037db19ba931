"""The near-far search where frontiers are small and paths long; ``kernels/sssp_narrow.cu``.

On roads and grids a path has thousands of hops, and what counts is how long one takes: a barrier,
and one access to memory after the other, some three microseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Argument, Array, Device, ceil_div, ctype
from kleene.backends.cuda.sssp_lists import Lists

__all__ = ["Narrow"]

_BLOCKS, _THREADS = 2, 256  # of a multiprocessor, of a block (kThreads)
_FEW_THREADS, _FEW_BLOCKS = 64, 4  # of each block, where a graph has work for so few only
_EACH_BLOCK = 1024  # vertices and arcs that are worth one more block
_NEAR_ENTRIES, _FAR_ENTRIES = 2**21, 2**23  # in all lists
_DELTA = 8.0  # mean lengths by which the threshold rises at least
_LOCALS = 3  # hops that a block goes on by itself before it meets the others
_FEW, _MANY = 512, 4096  # near vertices between two barriers: with fewer, delta grows

#: Hops of one launch: a third of a second at most, so that Ctrl-C gets through.
_HOPS = 2**16

_CONTROL = np.dtype(
    [
        ("met", "2u8"), ("threshold", "u8"), ("horizon", "u8"), ("expanded", "u8"),
        ("overflow", "u8"), ("delta", "f8"), ("entries", "i8"), ("rounds", "i8"),
        ("near", "i4"), ("spilled", "i4"), ("done", "i4"), ("hop", "i4"), ("bucket", "i4"),
        ("turn", "i4"), ("sweeps", "i4"), ("unused", "i4"), ("rises", "9u8"),
    ]
)  # fmt: skip


class Narrow:
    """Searches on one graph, in words that have the order of their numbers."""

    def __init__(
        self,
        device: Device,
        graph: DeviceGraph,
        lengths: Array,
        numbers: np.dtype[Any],
        mean: float,
        targets: Array | None,
    ) -> None:
        self.device = device
        self.counts: dict[str, int | float] = {}
        n, m = graph.n, graph.m
        word = np.dtype(f"u{numbers.itemsize}")
        file = device.kernels("sssp_narrow", KL_TYPE=ctype(numbers))
        self._begin, self._kernel = file["sssp_narrow_begin"], file["sssp_narrow"]
        useful = ceil_div(n + m, _EACH_BLOCK)
        most = min(_BLOCKS * device.multiprocessors, self._kernel.resident_blocks(_THREADS))
        blocks = min(useful, most)
        self._shape = (blocks,), (_THREADS if useful > _FEW_BLOCKS else _FEW_THREADS,)
        lists = Lists(device, n, word, blocks, min(n + m, _NEAR_ENTRIES), _FAR_ENTRIES)
        self.words = lists.words
        self._control = device.empty(_CONTROL.itemsize // 8, np.uint64, "control")
        self._told = device.pinned(self._control.shape, np.uint64)
        meeting = device.empty(2, np.uint64, "meeting")
        self._begin_shape = (min(ceil_div(n, 256), 8 * device.multiprocessors),), (256,)
        self._begin_args: list[Argument] = [
            0, n, self.words, lists.spilled, *lists.far, blocks, self._control, meeting,
        ]  # fmt: skip
        delta = _DELTA * mean
        self._args: list[Argument] = [
            *graph.csr, lengths, n, 0, delta if numbers.kind == "f" else max(1.0, delta), _HOPS,
            _LOCALS, _FEW, _MANY, targets, 0 if targets is None else targets.size,
            *lists.arguments, self._control, meeting,
        ]  # fmt: skip

    def run(self, source: int, limit: int) -> Any:
        """Search, and return what there is to tell about it; the limit is a word."""
        self._begin_args[0], self._args[4] = source, limit
        self._begin.launch(*self._begin_shape, self._begin_args)
        told: Any = self._told.view(_CONTROL)
        launches = 0
        while True:
            self._kernel.launch(*self._shape, self._args, cooperative=True)
            launches += 1
            self.device.download(self._control, self._told)
            if told["done"][0] or told["overflow"][0]:
                break
        names = {"hops": "hop", "thresholds": "bucket"}
        self.counts = {
            name: told[names.get(name, name)][0].item()
            for name in ("hops", "thresholds", "expanded", "sweeps", "delta")
        }
        self.counts["launches"] = launches
        return told[0]
