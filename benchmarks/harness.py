"""What all benchmarks share: the clock, the machine, and the file of results.

Contestants take turns, so that all see the same machine, and the median of each counts. Nothing is
timed that was not checked before.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kleene import _native
from kleene.machine import available_memory, cores

Run = Callable[[], Any]

#: The numbers of threads that are measured: one, and all cores.
THREADS = tuple(dict.fromkeys((1, cores())))


#: Seconds. Another library has just had the caches, and its idle threads may still spin.
WARM_UP = 0.02


def seconds(run: Run) -> float:
    """Time one run; a short one is repeated until it is warm, and the last counts."""
    start = time.perf_counter()
    while True:
        began = time.perf_counter()
        run()
        ended = time.perf_counter()
        if ended - start >= WARM_UP:
            return ended - began


def medians(runs: Mapping[str, Run], repeats: int, budget: float = 10.0) -> dict[str, float]:
    """Time each in turn, ``repeats`` times or until its runs have taken ``budget`` seconds."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            if sum(times[name]) < budget:
                times[name].append(seconds(run))
    return {name: statistics.median(taken) for name, taken in times.items()}


def ceiling(semiring: str, dtype: str, paths: bool, threads: int) -> float:
    """Relaxations a second of the dense micro-kernel alone, its operands in the nearest cache.

    One relaxation is one triple (i, k, j); a closure of n vertices has n^3 of them.
    """
    rate = _native.dense_ceiling
    return statistics.median(rate(semiring, dtype, paths, threads) for _ in range(3))


def machine() -> dict[str, Any]:
    """Describe where the measurement was made."""
    names = (line for line in _lines("/proc/cpuinfo") if line.startswith("model name"))
    return {
        "processor": next(names, "unknown").partition(":")[2].strip() or "unknown",
        "cores": cores(),
        "simd": _native.simd(),
        "memory": available_memory(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }


def machine_in_words() -> str:
    facts = machine()
    return (
        f"{facts['processor']}, {facts['cores']} cores, {facts['simd']}, load {facts['load']:.2f}"
    )


def save(path: str | None, document: dict[str, Any]) -> None:
    """Write results and machine to a JSON file, if one was named."""
    if path is not None:
        Path(path).write_text(json.dumps({"machine": machine(), **document}, indent=1) + "\n")


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:  # not on this system
        return []
