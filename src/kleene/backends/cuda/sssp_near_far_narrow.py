"""The near-far search for small frontiers and long paths: road networks and grids.

The kernels are in ``kernels/sssp_near_far_narrow.cu``. A path has thousands of hops there, and the
time of a hop decides: a grid barrier and a chain of dependent memory accesses, some 3 us.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Argument, Array, Device, ceil_div, ctype
from kleene.backends.cuda.sssp_near_far_buffers import NearFarBuffers

__all__ = ["NarrowEngine"]

_BLOCKS, _THREADS = 2, 256  # per multiprocessor, per block (kThreads)
_FEW_THREADS, _FEW_BLOCKS = 64, 4  # per block, for graphs with work for few blocks only
_WORK_PER_BLOCK = 1024  # vertices and arcs that are worth one more block
_NEAR_ENTRIES, _FAR_ENTRIES = 2**21, 2**23  # in all lists
_DELTA = 8.0  # least increment of the threshold, in mean lengths
_LOCAL_HOPS = 3  # hops of a block alone between two grid barriers
_FEW, _MANY = 512, 4096  # near vertices per hop: delta doubles below, is halved above

#: Hops per launch: a third of a second at most, so that Ctrl-C works.
_HOPS = 2**16

_CONTROL = np.dtype(
    [
        ("barrier_values", "2u8"), ("threshold", "u8"), ("horizon", "u8"), ("expanded", "u8"),
        ("overflow", "u8"), ("delta", "f8"), ("entries", "i8"), ("rounds", "i8"),
        ("near", "i4"), ("spilled", "i4"), ("done", "i4"), ("hop", "i4"), ("bucket", "i4"),
        ("barrier_index", "i4"), ("sweeps", "i4"), ("unused", "i4"), ("threshold_totals", "9u8"),
    ]
)  # fmt: skip


class NarrowEngine:
    """Searches on one graph; distances are words in the order of their values."""

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
        file = device.kernels("sssp_near_far_narrow", KL_TYPE=ctype(numbers))
        self._init, self._kernel = (
            file["sssp_near_far_narrow_init"],
            file["sssp_near_far_narrow_hops"],
        )
        useful = ceil_div(n + m, _WORK_PER_BLOCK)
        most = min(_BLOCKS * device.multiprocessors, self._kernel.resident_blocks(_THREADS))
        blocks = min(useful, most)
        self._shape = (blocks,), (_THREADS if useful > _FEW_BLOCKS else _FEW_THREADS,)
        lists = NearFarBuffers(device, n, word, blocks, min(n + m, _NEAR_ENTRIES), _FAR_ENTRIES)
        self.words = lists.words
        self._control = device.empty(_CONTROL.itemsize // 8, np.uint64, "control")
        self._host_state = device.pinned(self._control.shape, np.uint64)
        barrier_words = device.empty(2, np.uint64, "barrier words")
        self._init_shape = (min(ceil_div(n, 256), 8 * device.multiprocessors),), (256,)
        self._init_args: list[Argument] = [
            0, n, self.words, lists.spilled, *lists.far, blocks, self._control, barrier_words,
        ]  # fmt: skip
        delta = _DELTA * mean
        self._args: list[Argument] = [
            *graph.csr, lengths, n, 0, delta if numbers.kind == "f" else max(1.0, delta), _HOPS,
            _LOCAL_HOPS, _FEW, _MANY, targets, 0 if targets is None else targets.size,
            *lists.arguments, self._control, barrier_words,
        ]  # fmt: skip

    def run(self, source: int, limit: int) -> Any:
        """Search; return the control record. The limit is a word."""
        self._init_args[0], self._args[4] = source, limit
        self._init.launch(*self._init_shape, self._init_args)
        state: Any = self._host_state.view(_CONTROL)
        launches = 0
        while True:
            self._kernel.launch(*self._shape, self._args, cooperative=True)
            launches += 1
            self.device.download(self._control, self._host_state)
            if state["done"][0] or state["overflow"][0]:
                break
        names = {"hops": "hop", "thresholds": "bucket"}
        self.counts = {
            name: state[names.get(name, name)][0].item()
            for name in ("hops", "thresholds", "expanded", "sweeps", "delta")
        }
        self.counts["launches"] = launches
        return state[0]
