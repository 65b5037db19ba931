"""The near-far search for small frontiers and long paths: road networks and grids.

The kernels are in ``kernels/sssp_near_far_narrow.cu``. A path has thousands of hops there, and the
time of a hop decides: a grid barrier and a chain of dependent memory accesses, some 3 us.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div, ctype
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.sssp_near_far_buffers import NearFarBuffers, Outcome
from kleene.backends.cuda.tuning import sssp as tuning

__all__ = ["NarrowEngine"]

_FILE = "sssp_near_far_narrow"
_INIT_THREADS = 256


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
        file = device.kernels(_FILE, KL_TYPE=ctype(numbers))
        self._init = file["sssp_near_far_narrow_init"]
        self._kernel = file["sssp_near_far_narrow_hops"]
        threads = constant(_FILE, "kNarrowThreads")
        useful = ceil_div(n + m, tuning.WORK_PER_BLOCK)
        most = tuning.NARROW_BLOCKS * device.multiprocessors
        blocks = min(useful, most, self._kernel.resident_blocks(threads))
        if useful <= tuning.FEW_BLOCKS:
            threads = tuning.NARROW_FEW_THREADS
        self._shape = (blocks,), (threads,)
        initial = min(ceil_div(n, _INIT_THREADS), 8 * device.multiprocessors)
        self._init_shape = (initial,), (_INIT_THREADS,)
        near = min(n + m, tuning.NARROW_NEAR_ENTRIES)
        lists = NearFarBuffers(device, n, numbers, blocks, near, tuning.NARROW_FAR_ENTRIES)
        self.words = lists.words
        self._control = device.empty(1, struct_type(_FILE, "Control").dtype, "control")
        self._host_control = device.pinned(1, self._control.dtype)
        delta = tuning.NARROW_DELTA * mean
        self._params = struct_type(_FILE, "NarrowParams", KL_TYPE=ctype(numbers)).pack(
            offsets=graph.csr.offsets,
            neighbors=graph.csr.neighbors,
            lengths=lengths,
            n=n,
            **lists.fields,
            blocks=blocks,
            targets=targets,
            target_count=0 if targets is None else targets.size,
            control=self._control,
            barrier_words=device.empty(2, np.uint64, "barrier words"),
            hops=tuning.NARROW_HOPS,
            local_hops=tuning.NARROW_LOCAL_HOPS,
            few_per_hop=tuning.NARROW_FEW,
            many_per_hop=tuning.NARROW_MANY,
            source=0,
            limit=0,
            least=delta if numbers.kind == "f" else max(1.0, delta),
        )

    def run(self, source: int, limit: int) -> Outcome:
        """Search; the limit is a word."""
        self._params.update(source=source, limit=limit)
        self._init.launch(*self._init_shape, (self._params,))
        state, launches = self._host_control[0]["state"], 0
        while True:
            self._kernel.launch(*self._shape, (self._params,), cooperative=True)
            launches += 1
            self.device.download(self._control, self._host_control)
            if state["done"] or state["overflow"]:
                break
        self.counts = {
            "hops": int(state["hop"]),
            "thresholds": int(state["bucket"]),
            "expanded": int(state["expanded"]),
            "sweeps": int(state["sweeps"]),
            "delta": float(state["delta"]),
            "launches": launches,
        }
        return Outcome(int(state["done"]), int(state["horizon"]), bool(state["overflow"]))
