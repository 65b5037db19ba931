"""The dense engine by itself: trials of it on a GPU, and ceilings on both devices.

A trial takes a matrix from the host, closes it and brings it back; the copies and the closing are
timed apart, by the GPU's clock. Rows of the answer, chosen at random, are found again on the host
before a time counts. A ceiling is the rate of the engine's inner operation with all operands at
hand: in the nearest cache of a CPU, in registers of a GPU.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kleene import _native
from kleene.backends.cuda import closure_streamed
from kleene.backends.cuda.closure_predecessors import recover, recovery_bytes
from kleene.backends.cuda.closure_tiled import TiledClosure, TileLayout
from kleene.backends.cuda.runtime.device import Device
from kleene.backends.cuda.runtime.timing import timed_call
from kleene.graph.checks import format_bytes
from kleene.lab.experiment import Unable
from kleene.lab.matrices import Array, Case, Weights
from kleene.lab.rows import best_row, require_paths, require_row
from kleene.lab.setting import Setting
from kleene.lab.trial import Trial
from kleene.results.result import Timings
from kleene.system.machine import cores

__all__ = ["cpu_ceiling", "gpu_ceiling", "registers_only", "resident", "streamed"]


class Closed(NamedTuple):
    """What a run found, and how long its parts took."""

    matrix: Array
    last: Array | None
    stats: Timings


# ---- a matrix on the GPU ------------------------------------------------------------------------


def resident(setting: Setting, case: Case, n: int, most: int) -> Trial:
    """Return the trial of a matrix that fits; ``most`` is the largest n of the experiment."""
    device = _device(setting)
    layout = case.layout(n)
    _require_room(device, layout.bytes + (recovery_bytes(layout) if case.paths else 0))
    weights = _weights(setting, most)
    matrix = weights.matrix(case, n)
    begin = None
    if case.paths and not case.recovered:
        begin = np.broadcast_to(np.arange(n, dtype=np.int32)[:, None], (n, n)).copy()
    closed = np.ones(matrix.shape, matrix.dtype)  # touched: the system need not give it by pages
    last = np.ones((n, n), np.int32) if case.paths else None
    closer = TiledClosure(device, layout)

    def run() -> Closed:
        began = time.perf_counter()
        with timed_call(device.kind) as meter:
            arcs = closer.upload(matrix, begin, keep=case.recovered)
            assert closer.run(_silent), f"{case.name}: no cycle is negative"
            found = closer.predecessors
            if arcs is not None:
                with device.timer.span("compute", device.main):
                    found = recover(device, arcs, closer.matrix, n)
                    assert found is not None, f"{case.name}: no predecessors were found"
            closer.download(closed, None)
            if last is not None and found is not None:
                device.download(found[:n, :n], last)
        there, inside, back = map(meter.seconds, ("copy_in", "compute", "copy_out"))
        stats = Timings(there or 0.0, inside or 0.0, back or 0.0, time.perf_counter() - began)
        return Closed(closed, last, stats)

    return _trial(run, setting, case, matrix, weights, layout)


def streamed(setting: Setting, case: Case, n: int, times: float) -> Trial:
    """Return the trial of a matrix so many times as large as the memory that may be used."""
    device = _device(setting)
    layout = case.layout(n)
    _require_room(device, int(layout.bytes / times))
    weights = _weights(setting, n)
    arcs = weights.matrix(case, n)
    matrix = np.ones(arcs.shape, arcs.dtype)
    task: Any = _Task()

    def run() -> Closed:
        np.copyto(matrix, arcs)
        with _budget(device.allocated + int(layout.bytes / times)):
            began = time.perf_counter()
            assert closure_streamed.close(device, layout, task, matrix, None)
            taken = time.perf_counter() - began
        return Closed(matrix, None, Timings(compute=taken, total=taken))

    return _trial(run, setting, case, arcs, weights, layout)


def _trial(
    run: Any, setting: Setting, case: Case, matrix: Array, weights: Weights, layout: TileLayout
) -> Trial:
    n = layout.n
    known = weights.rows

    def check(found: Closed) -> str:
        rows = np.random.default_rng(0).integers(0, n, 1 if n > 8192 else 2).tolist()
        for source in rows:
            key = (case.name, n, source)
            if key not in known:
                known[key] = best_row(case, matrix, source, weights.heights)
            require_row(case, found.matrix[source], known[key], source)
            if found.last is not None:
                require_paths(case, matrix, found.matrix[source], found.last[source], source)
        return f"{len(rows)} of {n} rows found again by Dijkstra's algorithm"

    return Trial(
        run, check, lambda found: found.stats, n, n * n, "tiled", case.inside, None,
        float(n) ** 3, "relaxations", gpu_ceiling(setting, layout), 3 if n > 2048 else 9,
    )  # fmt: skip


class _Task:
    """What a streamed closure wants of a task."""

    threads = cores()

    def report(self, done: int, total: int) -> None:
        """Say nothing."""


def _silent(done: int, total: int) -> None:
    """Say nothing."""


def _device(setting: Setting) -> Device:
    assert setting.device is not None
    setting.unplace()  # its memory is wanted
    return setting.device


def _require_room(device: Device, nbytes: int) -> None:
    if nbytes > device.free_memory():
        free = format_bytes(device.free_memory())
        raise Unable(f"needs {format_bytes(nbytes)} on the GPU, and {free} are free there")


def _weights(setting: Setting, most: int) -> Weights:
    needed = 12 * most * most  # weights, a matrix of its own, the answer
    if needed > setting.memory:
        raise Unable(f"needs {format_bytes(needed)}; {format_bytes(setting.memory)} are free")
    return setting.last("weights", most, lambda: Weights(most))


@contextmanager
def _budget(nbytes: int) -> Iterator[None]:
    """Let no more of a GPU's memory be used."""
    before = os.environ.get("KLEENE_DEVICE_MEMORY")
    os.environ["KLEENE_DEVICE_MEMORY"] = str(nbytes)
    try:
        yield
    finally:
        del os.environ["KLEENE_DEVICE_MEMORY"]
        if before is not None:
            os.environ["KLEENE_DEVICE_MEMORY"] = before


# ---- ceilings -----------------------------------------------------------------------------------


@cache
def cpu_ceiling(semiring: str, dtype: str, paths: bool, threads: int, seconds: float) -> float:
    """Return relaxations a second of the CPU's kernel, its operands in the nearest cache."""
    rates = (_native.closure_peak_rate(semiring, dtype, paths, threads, seconds) for _ in range(3))
    return statistics.median(rates)


_DOWN, _THREADS, _GIVEN = 8, 256, 64  # kDown, kThreads, kFactors
_KNOWN: dict[tuple[str, str], float] = {}


def gpu_ceiling(setting: Setting, layout: TileLayout) -> float:
    """Return relaxations a second of a loop that has everything in registers."""
    assert setting.device is not None
    key = (setting.device.kind, layout.algebra)
    if key not in _KNOWN:
        rounds, blocks = (10_000, 0) if setting.device.kind == "cuda" else (2, 1)
        _KNOWN[key] = registers_only(setting.device, layout, rounds, blocks)[0]
    return _KNOWN[key]


def registers_only(
    device: Device, layout: TileLayout, rounds: int, blocks: int = 0
) -> tuple[float, Array]:
    """Run that loop; returns its rate and what it found."""
    kernel = device.kernels("closure_ceiling", KL_ALGEBRA=layout.algebra)["closure_ceiling"]
    blocks = blocks or kernel.resident_blocks(_THREADS)
    given = device.upload(given_words(layout.word))
    found = device.empty(blocks * _THREADS, layout.word)
    by = 0.999 if "TIMES" in layout.algebra else 1
    times = []
    for _ in range(4):
        begun = device.main.record()
        kernel.launch((blocks,), (_THREADS,), (given, by, rounds, found))
        times.append(device.main.record().milliseconds_since(begun))
    each = 2 * 2 * _DOWN * across(layout) * layout.lanes  # relaxations of a thread in a round
    seconds = max(statistics.median(times[1:]), 1e-6) / 1e3
    return blocks * _THREADS * rounds * each / seconds, device.download(found)


def across(layout: TileLayout) -> int:
    """Words across in the registers of a thread: kAcross."""
    return 4 if layout.word.itemsize == 8 else 16


def given_words(word: np.dtype[Any]) -> Array:
    """Return the factors that the loop begins with."""
    words = np.random.default_rng(2).permutation(_GIVEN) + 1
    return (words / _GIVEN).astype(word) if word.kind == "f" else words.astype(word)
