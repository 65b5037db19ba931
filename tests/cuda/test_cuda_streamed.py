"""Matrices that a device does not hold, streamed through it in bands of rows."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulators import needs_checked

import kleene as kl
from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, engine_form
from kleene.backends.cuda.closure import tiled as closure
from kleene.backends.cuda.closure.kernels import TileLayout
from kleene.backends.cuda.closure.streamed import BandSplit, StreamedClosure
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.runtime.interface import Array
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task

#: (semiring, type of the values, weights from, weights to); integers up to 2^14 run as int16.
ALGEBRAS = [
    ("min_plus", "float32", 0, 64),
    ("min_plus", "float32", -3, 64),
    ("min_plus", "float64", -3, 64),
    ("min_plus", "int32", 0, 20),
    ("min_plus", "int32", -3, 2000),
    ("min_plus", "int64", -3, 2000),
    ("boolean", "bool", 0, 1),
    ("max_min", "float32", -64, 64),
    ("max_min", "float64", -64, 64),
    ("max_min", "int32", -64, 64),
    ("max_min", "int64", -64, 64),
    ("max_times", "float32", 0, 1),
    ("max_times", "float64", 0, 1),
]

#: Panels of one band and of several, bands of several blocks, ragged ends, 2 to 4 buffers.
CUTS = [
    BandSplit(128, 3, 1, 2),
    BandSplit(128, 3, 2, 3),
    BandSplit(256, 2, 1, 4),
    BandSplit(128, 3, 3, 2),
    BandSplit(128, 3, 1, 4),
]


def sample(n: int, low: float = 0, high: float = 64, dtype: str = "float32") -> kl.Graph:
    """No negative cycle; sums of few weights, so that they agree whatever their order."""
    rng = np.random.default_rng([n, int(high)])
    source, target = rng.integers(0, n, (2, 4 * n))
    weights = rng.integers(0, max(high, 2), 4 * n).astype(np.float64)
    if low < 0:  # by potentials, which leave cycles as they are
        heights = rng.integers(low, -low, n)
        weights += heights[source] - heights[target]
    if high <= 1:
        weights = np.exp2(-weights)
    kind = np.dtype("int32" if dtype == "bool" else dtype)
    return kl.Graph.from_edges(source, target, weights.astype(kind), n=n)


def task(g: kl.Graph, semiring: str = "min_plus", dtype: str = "float32", **options: Any) -> Task:
    options = {"predecessors": False, "threads": 2} | options
    sources = np.arange(g.n, dtype=np.int32)
    return Task(g, SEMIRINGS[semiring], sources, None, None, dtype=np.dtype(dtype), **options)


def streamed(device: EmulatedDevice, cut: BandSplit, request: Task) -> Answer:
    form = engine_form("tiled", request)

    def engine(matrix: Any, predecessors: Any) -> bool:
        positive = bool(request.graph.stats.min_weight >= 0)
        layout = TileLayout.of(form, request.graph.n, positive, predecessors is not None)
        return StreamedClosure(device, layout, cut).run(request, matrix, predecessors)

    return close_matrix(engine, form, request)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave less than half of what 400 vertices and the work on them take as float32."""
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1200K")


# ---- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("semiring", "dtype", "low", "high"), ALGEBRAS)
def test_every_algebra(semiring: str, dtype: str, low: int, high: int) -> None:
    number = ALGEBRAS.index((semiring, dtype, low, high))
    g = sample(300, low, high, dtype)
    wanted = kl.closure(g, semiring, predecessors=False, device="cpu").values
    request = task(g, semiring, dtype)
    for seed, cut in ((0, CUTS[number % 3]), (7 + number, CUTS[(number + 1) % 3])):
        got = streamed(EmulatedDevice(seed), cut, request)
        assert np.array_equal(got.values, wanted), (seed, cut)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("seed", [0, 3, 11])
def test_every_cut_and_several_schedules(cut: BandSplit, seed: int) -> None:
    g = sample(290)
    wanted = kl.apsp(g, predecessors=False, device="cpu").distances
    assert np.array_equal(streamed(EmulatedDevice(seed), cut, task(g)).values, wanted)


@pytest.mark.parametrize(
    ("semiring", "dtype", "seed"), [("min_plus", "float64", 0), ("max_min", "int32", 5)]
)
def test_predecessors(semiring: str, dtype: str, seed: int, monkeypatch: Any) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "2300K" if dtype == "float64" else "1600K")
    monkeypatch.setattr(closure, "TiledClosure", None)
    g = sample(260, -3, 64, dtype)
    kl.closure(g, semiring, method="tiled", device="emulated").verify()


@needs_checked
@pytest.mark.parametrize("paths", [False, True])
def test_under_the_checked_emulator(paths: bool) -> None:
    g = sample(140)
    request = task(g, predecessors=paths)
    got = streamed(EmulatedDevice(5, "_emulator_checked"), BandSplit(128, 2, 1, 2), request)
    assert np.array_equal(got.values, kl.apsp(g, device="cpu").distances)


# ---- by the public functions --------------------------------------------------------------------


def test_a_budget_is_kept(little: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure, "TiledClosure", None)  # not to be made
    g, steps = sample(400), []
    got = kl.apsp(
        g, method="tiled", device="emulated", predecessors=False,
        progress=lambda done, total: steps.append((done, total)),
    )  # fmt: skip
    assert np.array_equal(got.distances, kl.apsp(g, device="cpu").distances)
    total = steps[-1][1]
    assert steps == [(done, total) for done in range(1, total + 1)]
    assert total == 4 * 4


def test_large_matrices_are_streamed_though_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "STREAMED_LEAST", 0)
    monkeypatch.setattr(closure, "TiledClosure", None)  # not to be made
    g = sample(400)
    got = kl.apsp(g, method="tiled", device="emulated", predecessors=False)
    assert np.array_equal(got.distances, kl.apsp(g, device="cpu").distances)


def test_a_matrix_in_a_file(little: None, tmp_path: Path) -> None:
    g, file = sample(400), tmp_path / "distances.npy"
    options: dict[str, Any] = {"method": "tiled", "device": "emulated", "predecessors": False}
    got = kl.apsp(g, out=file, **options)
    assert isinstance(got.distances, np.memmap)
    wanted = kl.apsp(g, device="cpu").distances
    assert np.array_equal(np.load(file), wanted)
    mapped = np.memmap(tmp_path / "raw", np.float32, "w+", shape=(400, 400))
    kl.apsp(g, out=mapped, **options)
    assert np.array_equal(mapped, wanted)


@pytest.mark.parametrize("seed", [0, 2])
def test_negative_cycles(little: None, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    options: dict[str, Any] = {"method": "tiled", "device": "emulated", "predecessors": False}
    chain = np.arange(399)
    cycle = kl.Graph.from_edges(
        [*chain, 399], [*(chain + 1), 130], np.array([1.0] * 399 + [-300], np.float32)
    )
    with pytest.raises(kl.NegativeCycleError) as raised:
        kl.apsp(cycle, **options)
    assert sorted(raised.value.cycle) == list(range(130, 400))
    one = kl.Graph.from_edges([*chain, 10], [*(chain + 1), 9], np.array([1.0] * 399 + [-2]))
    with pytest.raises(kl.NegativeCycleError):
        kl.apsp(one, dtype="float32", **options)
    # None of these sources leads there.
    rows = kl.apsp(one, sources=[200, 399], dtype="float32", **options).distances
    assert rows[0, 399] == 199


def test_too_little_for_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "500K")
    with pytest.raises(kl.MemoryBudgetError, match=r"400 vertices does not fit .* even in pieces"):
        kl.apsp(sample(400), method="tiled", device="emulated", predecessors=False)


class Crowded(EmulatedDevice):
    """A device that has less than it says."""

    def empty(self, shape: Any, dtype: Any, name: str = "") -> Array:
        if self.allocated + np.prod(shape) * np.dtype(dtype).itemsize > 1_200_000:
            raise kl.MemoryBudgetError("allocated by another process")
        return super().empty(shape, dtype, name)


def test_memory_that_is_gone_when_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Crowded(memory=4_000_000)
    monkeypatch.setattr(closure, "open_device", lambda kind: device)
    g = sample(400)
    got = kl.apsp(g, method="tiled", device="emulated", predecessors=False)
    assert np.array_equal(got.distances, kl.apsp(g, device="cpu").distances)
    assert device.allocated == 0


@pytest.mark.parametrize("seed", [0, 4])
def test_an_interrupted_call_leaves_nothing_behind(seed: int) -> None:
    device = EmulatedDevice(seed)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        streamed(device, CUTS[0], task(sample(300), progress=stop))
    gc.collect()
    assert device.allocated == 0
    assert not any(stream.queue for stream in device._all_streams())
    assert not [t for t in threading.enumerate() if t.name.startswith("kleene-carrier")]


# ---- the order ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [*CUTS, BandSplit(128, 11, 4, 3), BandSplit(128, 7, 5, 4)])
def test_all_bands_come_and_go_once_a_round(cut: BandSplit) -> None:
    visits = list(cut.visits())
    for first in range(0, cut.bands, cut.panel):
        here = [v for v in visits if v.first == first]
        for side in ("enters", "leaves"):
            assert sorted(v.band for v in here if getattr(v, side)) == list(range(cut.bands))


def test_cuts_use_what_there_is() -> None:
    kind = np.dtype(np.float32)
    for n in (1000, 20_000, 200_000):
        layout = TileLayout("KL_MIN_PLUS_LENGTH", kind, kind, 1, n, False, False)
        for share in (0.9, 0.5, 0.25, 0.1):
            memory = int(share * layout.bytes)
            cut = BandSplit.fit(layout, memory)
            if cut is None:
                assert n == 1000
                continue
            rows = (cut.panel + cut.buffers) * cut.height
            held = rows * layout.words * 4 + 2 * cut.panel * cut.height**2 * 4
            assert held <= memory
            assert cut.panel * cut.height >= 0.4 * share * n or n == 1000
