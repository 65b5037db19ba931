"""The tiled closure over several devices: memory, plans, GPUs, answers that stay, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_bands import ALL, ONE, assert_equal_bits, sample

import kleene as kl
from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.cuda.closure import bands as closure_devices
from kleene.backends.cuda.closure import engine, streamed, tiled
from kleene.backends.cuda.closure.kernels import BLOCK, TileLayout
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.tuning import closure as tuning
from kleene.errors import MemoryBudgetError
from kleene.planning import device_choice
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import make_plan
from kleene.registry import Size
from kleene.registry.memory import band_on_gpu, copied_between
from kleene.system.formatting import format_bytes
from kleene.system.machine import Machine


@pytest.fixture(autouse=True)
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "4")


# ---- memory -------------------------------------------------------------------------------------


def peaks() -> list[int]:
    return [open_device(f"emulated:{index}").peak for index in range(4)]


def reset_peaks() -> None:
    for index in range(4):
        device = open_device(f"emulated:{index}")
        device.peak = device.allocated


def no_streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "close", None)


@pytest.mark.parametrize("predecessors", [False, True])
def test_a_matrix_that_fits_no_single_device(
    predecessors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each device has less memory than the matrix, all together have more."""
    g, budget = sample(700, "float32"), "5M" if predecessors else "3.5M"
    options = {"method": "tiled", "predecessors": predecessors}
    wanted = kl.closure(g, "max_min", **options, **ONE)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", budget)
    layout = TileLayout.of(
        MatrixForm("tiled", "max_min", np.dtype("f4"), -np.inf), 700, True, predecessors
    )
    first = open_device("emulated:0")
    assert layout.bytes > first.free_memory()
    no_streaming(monkeypatch)
    reset_peaks()
    assert_equal_bits(kl.closure(g, "max_min", **options, **ALL), wanted)
    assert all(2**20 < peak <= first.free_memory() for peak in peaks()[:3])


def test_bands_follow_the_memory_of_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where other arrays take memory of one device, and nearly all of another."""
    g = sample(700, "float32")
    wanted = kl.apsp(g, method="tiled", predecessors=False, **ONE)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "4M")
    no_streaming(monkeypatch)
    held = [
        open_device("emulated:1").empty(5 * 2**18, np.uint8, "held"),
        open_device("emulated:2").empty(3 * 2**20, np.uint8, "held"),
    ]
    made, bands = engine.make_bands, []
    monkeypatch.setattr(engine, "make_bands", lambda *args: (bands.extend(made(*args)), bands)[1])
    got = kl.apsp(g, method="tiled", predecessors=False, **ALL)
    assert_equal_bits(got, wanted)
    assert [band.device.index for band in bands] == [0, 1, 3]
    heights = [len(band.vertices) for band in bands]
    assert heights == [384, 128, 256]
    del held


def test_a_matrix_larger_than_all_devices_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    g = sample(700, "float32")
    wanted = kl.apsp(g, method="tiled", predecessors=False, device="cpu")
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "2M")
    held = open_device("emulated:0").empty(2**16, np.uint8, "held")
    got = kl.apsp(g, method="tiled", predecessors=False, **ALL)
    assert got.plan.reasons[-1] == "split: 700 rows by emulated:1"  # has the most memory
    del held
    np.testing.assert_allclose(got.distances, wanted.distances, rtol=1e-5)


# ---- plans --------------------------------------------------------------------------------------


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize(("semiring", "dtype"), [("max_min", "int64"), ("boolean", "int32")])
def test_a_plan_tells_the_memory_and_the_copies(
    semiring: str, dtype: str, predecessors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the devices have them, but for padding and what is small."""
    g = sample(512, dtype)  # whole blocks
    options: dict[str, Any] = {"method": "tiled", "predecessors": predecessors, **ALL}
    plan = kl.explain(g, "closure", semiring=semiring, **options)
    facts, ask = graph_facts(g), Ask.of("closure", semiring=semiring, predecessors=predecessors)
    size = Size.of(facts, ask, np.dtype(plan.dtype).itemsize)
    copied, copy = [0], closure_devices.copy_between

    def counted(to: Any, source: Any, stream: Any) -> None:
        copied[0] += 0 if to.name == "cycle" else to.nbytes
        copy(to, source, stream)

    monkeypatch.setattr(closure_devices, "copy_between", counted)
    reset_peaks()
    before = peaks()
    got = kl.closure(g, semiring, **options)
    assert copied[0] == copied_between(size, 4)
    for peak, held in zip(peaks(), before, strict=True):
        assert peak - held <= band_on_gpu(size, 4) + 2**18
    said = plan.reasons[-1]
    assert f"up to {format_bytes(band_on_gpu(size, 4))}, and {format_bytes(copied[0])} are" in said
    assert "over 4 devices, emulated:0 to emulated:3, in bands of about 128 rows" in said
    assert got.plan.reasons[-1] == "split: " + ", ".join(
        f"128 rows by emulated:{index}" for index in range(4)
    )


def test_gpus_share_a_matrix_where_it_pays() -> None:
    """By estimates alone: until copies between GPUs take longer than the computation."""
    machine = Machine(16, 2**42, "", ("cuda", "cpu"), gpus=8)
    ask = Ask.of("apsp", method="tiled", device="cuda", predecessors=False)

    def facts(n: int) -> Facts:
        return Facts(n, n * n, "float32", 0, 1, n)

    counts = [len(make_plan(facts(2**k), ask, machine).devices) for k in range(7, 19)]
    assert counts[:6] == [1] * 6
    assert counts == sorted(counts)
    assert counts[-1] == 8
    plan = make_plan(facts(2**16), ask.but(devices=("cuda:5", "cuda:2")), machine)
    assert plan.devices == ("cuda:5", "cuda:2")
    assert "bands of about 32,768 rows" in str(plan)
    alone = make_plan(facts(2**16), ask.but(devices=("cuda:5",)), machine)
    assert 0.5 * alone.device_memory < plan.device_memory < 0.6 * alone.device_memory
    assert plan.memory == alone.memory
    assert device_choice._BLOCK == BLOCK
    small = make_plan(facts(100), ask.but(devices=("cuda:5", "cuda:2")), machine)
    assert small.devices == ("cuda:5",)
    assert "one device: the matrix has one block of up to 128 rows" in small.reasons


# ---- on GPUs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["two GPUs", "parts of one"])
def test_two_gpus(kind: str, cuda: Any, gpu_machine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the driver that the tests provide: each is current for its work."""
    names = ["cuda:0", "cuda:2"]
    if kind == "parts of one":
        monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "2")
        names = ["cuda:0", "cuda:1"]
    for semiring, predecessors in (("min_plus", True), ("max_min", True), ("boolean", False)):
        g = sample(300, "float32")
        options: dict[str, Any] = {"method": "tiled", "predecessors": predecessors}
        wanted = kl.closure(g, semiring, **options, device="emulated", devices=[0])
        got = kl.closure(g, semiring, **options, devices=names)
        assert_equal_bits(got, wanted)
        assert got.plan.devices == tuple(names)
        assert cuda.current.context == 64, "the first one is current afterwards"
    assert ("cuMemcpyPeerAsync" in cuda.log) == (kind == "two GPUs")


def test_an_array_of_another_library(
    cuda: Any, gpu_machine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is closed in place, by its GPU and another one."""

    class Foreign:
        def __init__(self, array: Any) -> None:
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    lengths = np.random.default_rng(3).random((300, 300)).astype(np.float32)
    emulated, first = open_device("emulated"), open_device("cuda:0")
    wanted = emulated.upload(lengths)
    assert tiled.close_in_place(emulated, wanted, lambda done, total: None)
    monkeypatch.setattr(device_choice, "_WORTH", 1e9)  # several always pay
    there = first.upload(lengths)
    kl.close_distances(Foreign(there))
    assert "cuMemcpyPeerAsync" in cuda.log
    assert cuda.current.context == 64
    assert np.array_equal(first.download(there), emulated.download(wanted))


# ---- on the device ------------------------------------------------------------------------------


@pytest.mark.parametrize(("semiring", "dtype"), [("min_plus", "float32"), ("boolean", "int32")])
def test_an_answer_that_stays_is_gathered_on_the_first_device(semiring: str, dtype: str) -> None:
    g = sample(500, dtype)
    options = {"method": "tiled", "predecessors": False}
    wanted = kl.closure(g, semiring, **options, **ONE)
    first = open_device("emulated:2")
    before = first.allocated
    got = kl.closure(g, semiring, **options, device="emulated", devices=[2, 1, 0], keep="device")
    assert first.allocated - before == got.device_arrays.distances.nbytes
    assert_equal_bits(got, wanted)


def test_an_answer_that_does_not_fit_on_the_first_device(monkeypatch: pytest.MonkeyPatch) -> None:
    g = sample(700, "float32")
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1.8M")
    with pytest.raises(MemoryBudgetError, match="keep='host'"):
        kl.apsp(g, method="tiled", predecessors=False, keep="device", **ALL)


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_in_place(dtype: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a part of a larger array; unchanged on a negative cycle."""
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    rng = np.random.default_rng(1)
    lengths = rng.random((400, 410)).astype(dtype)
    first, *others = [open_device(f"emulated:{index}") for index in range(4)]
    there = [first.upload(lengths)[:, 5:405] for _ in range(2)]
    assert tiled.close_in_place(first, there[0], lambda done, total: None)
    assert tiled.close_in_place(first, there[1], lambda done, total: None, others)
    wanted, got = (first.download(array) for array in there)
    assert got.tobytes() == wanted.tobytes()
    lengths[399, 5], lengths[0, 404] = -3, 1
    cyclic = first.upload(lengths)[:, 5:405]
    assert not tiled.close_in_place(first, cyclic, lambda done, total: None, others)
    assert np.array_equal(first.download(cyclic), lengths[:, 5:405])


# ---- interruption and errors --------------------------------------------------------------------


def test_progress_and_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds are counted once; memory is free again after Ctrl-C."""
    monkeypatch.setattr(tuning, "ROUNDS_AHEAD", 1)
    g, steps = sample(700, "float32"), []
    options = {"method": "tiled", "predecessors": False}
    kl.apsp(g, progress=lambda done, total: steps.append((done, total)), **options, **ALL)
    assert steps == [(done, 6) for done in range(1, 7)]

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    before = [open_device(f"emulated:{index}").allocated for index in range(4)]
    with pytest.raises(KeyboardInterrupt):
        kl.apsp(g, progress=stop, **options, **ALL)
    assert [open_device(f"emulated:{index}").allocated for index in range(4)] == before


def test_an_allocation_that_fails_on_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that another process took meanwhile: the matrix is streamed through one device."""
    g = sample(500, "float32")
    wanted = kl.apsp(g, method="tiled", predecessors=False, device="cpu")
    empty = EmulatedDevice.empty

    def refuse(self: EmulatedDevice, shape: Any, dtype: Any, name: str = "") -> Any:
        if self.index == 3 and name == "matrix":
            raise MemoryBudgetError("taken")
        return empty(self, shape, dtype, name)

    monkeypatch.setattr(EmulatedDevice, "empty", refuse)
    got = kl.apsp(g, method="tiled", predecessors=False, **ALL)
    np.testing.assert_allclose(got.distances, wanted.distances, rtol=1e-5)
