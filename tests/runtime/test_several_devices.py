"""Several devices: names, memory and streams of each, copies between them; emulated, and GPUs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from emulators import needs_checked

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device, visible_devices
from kleene.backends.cuda.runtime.interface import Device, copy_between
from kleene.errors import KernelError
from kleene.system.devices import split_name

if TYPE_CHECKING:
    from fake_gpu import FakeGpu

pytest.importorskip("kleene._emulator")


@pytest.fixture(params=["0", "7"], ids=["in order", "shuffled"])
def devices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[Device]:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", request.param)
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "4")
    return [open_device(name) for name in visible_devices("emulated")]


@pytest.fixture(params=["two GPUs", "parts of one"])
def gpus(cuda: FakeGpu, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield two devices of the driver that the tests provide."""
    if request.param == "two GPUs":
        return open_device("cuda:0"), open_device("cuda:2")
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "2")
    return open_device("cuda:0"), open_device("cuda:1")


# ---- names --------------------------------------------------------------------------------------


def test_names(devices: list[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    assert visible_devices("emulated") == tuple(f"emulated:{i}" for i in range(4))
    assert [device.index for device in devices] == [0, 1, 2, 3]
    assert len(set(map(id, devices))) == 4
    assert open_device("emulated") is devices[0]
    assert open_device("emulated:3") is devices[3]
    assert [device.name for device in devices[:2]] == ["the emulator", "the emulator (emulated:1)"]
    with pytest.raises(kl.DeviceError, match=r"no device 'emulated:4': there are 4"):
        open_device("emulated:4")
    monkeypatch.delenv("KLEENE_EMULATOR_DEVICES")
    assert visible_devices("emulated") == ("emulated:0",)
    with pytest.raises(kl.DeviceError, match="there is 1, counted from 0"):
        open_device("emulated:1")
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "none")
    with pytest.raises(kl.DeviceError, match="KLEENE_EMULATOR_DEVICES must be an integer"):
        open_device("emulated")


@pytest.mark.parametrize("name", ["cuda:x", "cuda:-1", "cpu:0", "cuda:", "tpu:1", "cuda:1:2"])
def test_names_that_mean_nothing(name: str) -> None:
    with pytest.raises(kl.RequestError, match=r"no device .*'cuda:1' for one of several"):
        split_name(name)


def test_gpus_by_index(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visible_devices("cuda") == ("cuda:0", "cuda:2"), "the second is too old"
    third = open_device("cuda:2")
    assert (third.index, third.ordinal, third.name) == (2, 2, "Fake GPU (cuda:2)")
    assert cuda.current.context == 64 + 2
    first = open_device("cuda")
    assert first.index == 2, "the one that is current"
    assert first is third
    assert open_device("cuda:0").index == 0
    with pytest.raises(kl.DeviceError, match=r"GPU \(cuda:1\) has compute capability 6"):
        open_device("cuda:1")
    with pytest.raises(kl.DeviceError, match=r"no device 'cuda:3': CUDA sees 3 devices"):
        open_device("cuda:3")
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "2")
    assert visible_devices("cuda") == ("cuda:0", "cuda:1", "cuda:4", "cuda:5")
    assert [open_device(f"cuda:{i}").ordinal for i in (0, 1, 4, 5)] == [0, 0, 2, 2]


def test_no_gpus(cuda: FakeGpu) -> None:
    cuda.failing["cuDeviceGetCount"] = 100
    assert visible_devices("cuda") == ()


# ---- memory -------------------------------------------------------------------------------------


def test_memory_of_each(devices: list[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1M")
    before = [device.allocated for device in devices]
    held = [devices[1].empty(2**19, np.uint8), devices[2].empty(2**20, np.uint8)]
    assert [device.allocated for device in devices] == [
        before[0], before[1] + 2**19, before[2] + 2**20, before[3],
    ]  # fmt: skip
    assert devices[0].free_memory() == 2**20 - before[0]
    assert devices[2].free_memory() == 0
    with pytest.raises(kl.MemoryBudgetError, match=r"on the emulator \(emulated:2\), 0 B free"):
        devices[2].empty(1, np.uint8)
    held.clear()
    assert [device.allocated for device in devices] == before


def test_a_share_of_a_gpu(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "4")
    one, other = open_device("cuda:0"), open_device("cuda:1")
    share = cuda.memory // 4
    assert one.free_memory() == share
    held = one.empty(share - 2**10, np.uint8)
    assert one.free_memory() == 2**10
    assert other.free_memory() == share
    with pytest.raises(kl.MemoryBudgetError, match="requested"):
        one.empty(2**11, np.uint8)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1M")
    assert (one.free_memory(), other.free_memory()) == (0, 2**20)
    del held


def test_each_gpu_is_current_for_its_work(cuda: FakeGpu) -> None:
    """The driver of the tests refuses launches and streams of a GPU that is not current."""
    one, other = open_device("cuda:0"), open_device("cuda:2")
    arrays = [device.upload(np.arange(6, dtype=np.int32)) for device in (one, other)]
    sizes = {64: cuda.memory, 66: cuda.memory}
    for address, room in cuda.rooms.items():
        sizes[cuda.context_of[address]] -= len(room)
    assert sizes[64] < cuda.memory
    assert sizes[66] < cuda.memory
    for device, array in zip((one, other, one, other), arrays * 2, strict=True):
        values = device.zeros((2, 2), np.int32)
        step = device.kernels("apsp_naive", KL_TYPE="int", KL_PATHS=0)["apsp_naive_step"]
        step.launch((1,), (32, 8), (values, None, 2, 0, device.zeros(1, np.int32)))
        event = device.main.record()
        assert device.download(array).tolist() == list(range(6))
        event.synchronize()
    arrays.pop(0)  # freed on its own GPU; the other one stays current
    assert cuda.current.context == 66
    assert other.download(arrays[0])[5] == 5


# ---- kernels and copies -------------------------------------------------------------------------


def test_arrays_of_another_device(devices: list[Device]) -> None:
    one, other = devices[:2]
    matrix = other.zeros((2, 2), np.int32, "matrix")
    step = one.kernels("apsp_naive", KL_TYPE="int", KL_PATHS=0)["apsp_naive_step"]
    with pytest.raises(KernelError, match=r"apsp_naive_step .* uses array 'matrix' of .*:1"):
        step.launch((1,), (32, 8), (matrix, None, 2, 0, one.zeros(1, np.int32)))
    with pytest.raises(KernelError, match="a copy on the emulator uses array 'matrix'"):
        one.copy(one.zeros((2, 2), np.int32), matrix)
    with pytest.raises(KernelError, match="a copy on the emulator uses array 'matrix'"):
        one.download(matrix)


def copies_between(one: Device, other: Device) -> None:
    host = np.arange(48, dtype=np.int16).reshape(6, 8)
    source, to = one.upload(host, "source"), other.zeros((6, 8), np.int16, "to")
    stream = other.stream()
    ready, cleared = one.main.record(), other.main.record()
    stream.wait(ready)
    stream.wait(cleared)
    copy_between(to[2:5, 1:4], source[0:3, 5:8], stream)
    copy_between(to[0], source[5], stream)
    other.main.wait(stream.record())
    wanted = np.zeros_like(host)
    wanted[2:5, 1:4], wanted[0] = host[0:3, 5:8], host[5]
    assert other.download(to).tolist() == wanted.tolist()
    copy_between(source, to)  # and back
    one.main.wait(other.main.record())
    other.main.synchronize()
    copy_between(source, to)
    assert one.download(source).tolist() == wanted.tolist()
    with pytest.raises(TypeError, match="copy of int16"):
        copy_between(to, source[:2])
    copy_between(to[:0], source[:0])


def test_copies_between_emulated_devices(devices: list[Device]) -> None:
    copies_between(devices[2], devices[1])


def test_copies_between_gpus(gpus: Any, cuda: FakeGpu) -> None:
    copies_between(*gpus)
    if gpus[0].ordinal != gpus[1].ordinal:
        assert cuda.peers == {(64, 66), (66, 64)}
        assert {"cuMemcpyPeerAsync", "cuMemcpy3DPeerAsync"} <= set(cuda.log)


def test_threads_of_several_devices(devices: list[Device]) -> None:
    """Launches on all devices at once, and each waits for work of the one before it."""
    left = [device.upload(np.full(5000, i, np.int32)) for i, device in enumerate(devices)]
    events = [device.main.record() for device in devices]
    found: dict[int, Any] = {}

    def work(i: int) -> None:
        device = devices[i]
        own = device.empty(5000, np.int32)
        device.main.wait(events[i - 1])
        copy_between(own, left[i - 1])
        found[i] = device.download(own)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {i: set(values.tolist()) for i, values in found.items()} == {
        0: {3}, 1: {0}, 2: {1}, 3: {2},
    }  # fmt: skip


@needs_checked
def test_checked_launches_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    g = kl.generate.uniform(60, 300, weights=(1, 9), seed=1)
    wanted = kl.sssp(g, 3, device="cpu").distances
    failures: list[Any] = []

    def work(name: str) -> None:
        for _ in range(3):
            found = kl.sssp(g, 3, device=name).distances
            failures.extend(np.flatnonzero(found != wanted))

    threads = [threading.Thread(target=work, args=(f"emulated:{i}",)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
