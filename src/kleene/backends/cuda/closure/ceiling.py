"""The rate of the tiled closure's arithmetic with its operands in registers."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.cuda.closure.kernels import TileLayout
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Device, HostArray
from kleene.backends.cuda.runtime.structs import constant

__all__ = ["across", "layout_for", "measure_ceiling", "run_in_registers", "start_values"]

_DOWN = constant("closure_ceiling", "kDown")
_ACROSS = {size: constant("closure_ceiling", f"kAcross{size}") for size in (4, 8)}
_THREADS = constant("closure_ceiling", "kThreads")
_FACTORS = constant("closure_ceiling", "kFactors")
_REPEATS = 3


def measure_ceiling(
    kind: str, semiring: str, dtype: np.dtype[Any], nonnegative: bool, seconds: float
) -> float:
    """Return relaxations per second on a device, the median of launches of so many seconds."""
    device, layout = open_device(kind), layout_for(semiring, dtype, nonnegative)
    if kind == "emulated":
        return run_in_registers(device, layout, rounds=2, blocks=1)[0]
    rounds = 1000
    rate, _ = run_in_registers(device, layout, rounds)
    blocks = _kernel(device, layout).resident_blocks(_THREADS)
    per_round = blocks * _THREADS * _relaxations(layout) / rate
    rounds = max(rounds, round(seconds / (_REPEATS + 1) / per_round))
    return run_in_registers(device, layout, rounds)[0]


def layout_for(semiring: str, dtype: np.dtype[Any], nonnegative: bool) -> TileLayout:
    """Return the layout of a matrix that is closed in this type; bool is bits."""
    kept = np.dtype(np.uint64) if dtype.kind == "b" else dtype
    return TileLayout.of(MatrixForm("tiled", semiring, kept, 0), 1, nonnegative, False)


def run_in_registers(
    device: Device, layout: TileLayout, rounds: int, blocks: int = 0
) -> tuple[float, HostArray]:
    """Run the loop of the kernel; return its rate and the values that it computed."""
    kernel = _kernel(device, layout)
    blocks = blocks or kernel.resident_blocks(_THREADS)
    given = device.upload(start_values(layout.word))
    values = device.empty(blocks * _THREADS, layout.word)
    by = layout.word.type(0.999 if "TIMES" in layout.algebra else 1)
    times = []
    for _ in range(_REPEATS + 1):  # the first is a warm-up
        begun = device.main.record()
        kernel.launch((blocks,), (_THREADS,), (given, by, rounds, values))
        times.append(device.main.record().milliseconds_since(begun))
    seconds = max(statistics.median(times[1:]), 1e-6) / 1e3
    rate = blocks * _THREADS * rounds * _relaxations(layout) / seconds
    return rate, device.download(values)


def _kernel(device: Device, layout: TileLayout) -> Any:
    return device.kernels("closure_ceiling", KL_ALGEBRA=layout.algebra)["closure_ceiling"]


def _relaxations(layout: TileLayout) -> int:
    """Return the relaxations of a thread in a round."""
    return 2 * 2 * _DOWN * across(layout) * layout.lanes


def across(layout: TileLayout) -> int:
    """Return the words across in the registers of a thread: kAcross."""
    return _ACROSS[layout.word.itemsize]


def start_values(word: np.dtype[Any]) -> HostArray:
    """Return the factors that the loop starts with."""
    words = np.random.default_rng(2).permutation(_FACTORS) + 1
    return (words / _FACTORS).astype(word) if word.kind == "f" else words.astype(word)
