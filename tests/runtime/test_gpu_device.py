"""The device itself, that is copies, launches, streams, graphs, errors, threads.

On a real GPU, and in the emulator where there is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime import loader
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, Kernel
from kleene.backends.cuda.runtime.structs import struct_type
from kleene.errors import KernelError
from kleene.system.machine import this_machine

DEVICE = "cuda" if "cuda" in this_machine().devices else "emulated"
SOURCES = Path(__file__).parents[2] / "native" / "emulator" / "tests"


@pytest.fixture(scope="module")
def device() -> Device:
    if DEVICE == "cuda":
        return open_device(DEVICE)
    from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice

    pytest.importorskip("kleene._emulator_tests")
    return EmulatedDevice(module="_emulator_tests")


def kernels(device: Any, file: str) -> Mapping[str, Kernel]:
    """Return the kernels of a file of the emulator's tests, compiled now."""
    if DEVICE != "cuda":
        return device.kernels(file)  # type: ignore[no-any-return]
    from kleene.backends.cuda.runtime.cuda_kernel import compile_image, kernels_in

    arch = 10 * device.capability[0] + device.capability[1]
    text = (SOURCES / f"{file}.cu").read_text()
    return kernels_in(device, compile_image(text, f"{file}.cu", {}, arch), f"{file}.cu")


@pytest.fixture(scope="module")
def barriers(device: Device) -> Mapping[str, Kernel]:
    return kernels(device, "barriers")


def test_copies(device: Device) -> None:
    host = np.arange(48, dtype=np.int16).reshape(6, 8)
    a, b = device.upload(host), device.zeros((3, 4), np.int16)
    device.copy(b, a[1:4, 2:6])
    assert device.download(b).tolist() == host[1:4, 2:6].tolist()
    device.copy(a[0:2, 0:2], host[4:6, 6:8])  # a rectangle of each
    device.copy(a[4:6, 1:3], a[2:4, 5:7])
    device.copy(a[2:4, 0:4], np.ascontiguousarray(host[0:2, 0:4]))
    wanted = host.copy()
    wanted[0:2, 0:2], wanted[4:6, 1:3] = host[4:6, 6:8], host[2:4, 5:7]
    wanted[2:4, 0:4] = host[0:2, 0:4]
    assert device.download(a).tolist() == wanted.tolist()
    device.fill(a[2:, 1:3], 0xFF)
    wanted[2:, 1:3] = -1
    part, into = np.zeros((2, 3), np.int16), np.zeros((9, 9), np.int16)
    device.copy(part, a[3:5, 2:5])
    device.copy(into[1:7, 1:9], a)
    device.synchronize()
    assert part.tolist() == wanted[3:5, 2:5].tolist()
    assert into[1:7, 1:9].tolist() == wanted.tolist()
    pinned = device.pinned((6, 8), np.int16)
    assert device.download(a, out=pinned).tolist() == wanted.tolist()
    frozen = np.arange(5.0)
    frozen.flags.writeable = False
    assert device.download(device.upload(frozen)).tolist() == frozen.tolist()
    assert device.download(device.zeros(0, np.float32)).shape == (0,)


def test_a_launch_with_shared_memory(device: Device, barriers: Mapping[str, Kernel]) -> None:
    kernel = barriers["block_sum"]
    n, threads = 1000, 128
    blocks = -(-n // threads)
    values = np.random.default_rng(1).integers(-9, 9, n).astype(np.int32)
    source, out = device.upload(values), device.zeros(blocks, np.int32)
    wanted = np.add.reduceat(values, range(0, n, threads)).tolist()
    for shared in (4 * threads, 60_000):  # more than a block has without opt-in
        device.fill(out, 0)
        kernel.launch((blocks,), (threads,), (source, out, n), shared)
        assert device.download(out).tolist() == wanted
    assert kernel.resident_blocks(threads, 4 * threads) >= device.multiprocessors
    assert 1 <= kernel.resident_blocks(threads, 60_000) <= kernel.resident_blocks(threads)


def test_a_cooperative_launch(device: Device, barriers: Mapping[str, Kernel]) -> None:
    kernel, threads, rounds = barriers["grid_rounds"], 64, 5
    blocks = min(kernel.resident_blocks(threads), 200)
    values = np.arange(blocks * threads, dtype=np.int32) % 7
    a, b = device.upload(values), device.zeros(values.size, np.int32)
    state = device.zeros(16, np.uint32)
    kernel.launch((blocks,), (threads,), (a, b, rounds, state), cooperative=True)
    for _ in range(rounds):
        values = values + np.roll(values, -threads)
    assert (device.download(a) == values).all()
    with pytest.raises(KernelError):
        kernel.launch((10**6,), (threads,), (a, b, rounds, state), cooperative=True)


def test_a_struct_and_a_number(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernels(device, "structs")["structs_add"]
    monkeypatch.setattr(loader, "FOLDER", SOURCES)
    record = device.zeros(1, struct_type("structs", "Record").dtype, "record")
    values = device.upload(np.arange(5, dtype=np.int32), "values")
    params = struct_type("structs", "AddParams").pack(
        values=values, record=record, n=5, factor=0.5, twice=True, bias=2**40
    )
    for more in (3, np.int32(3), -3):
        kernel.launch((1,), (32,), (params, more))
        found = device.download(record)[0]
        assert (found["flag"], found["total"]) == (7, 2**40 + 20)
        assert found["inner"].item() == (0.5, True)
        assert (found["first"], found["second"]) == (more, -more)
    params.update(bias=1, twice=False)
    kernel.launch((1,), (32,), (params, 4))
    assert device.download(record)[0]["total"] == 11
    with pytest.raises(TypeError):
        kernel.launch((1,), (32,), (params,))
    with pytest.raises(TypeError):
        kernel.launch((1,), (32,), (params, params))


def test_streams_events_and_graphs(device: Device, barriers: Mapping[str, Kernel]) -> None:
    one, two = device.stream(), device.stream(urgent=True)
    pinned = device.pinned(256, np.int32)
    source, out = device.zeros(256, np.int32), device.zeros(2, np.int32)
    answer = device.pinned(2, np.int32)
    pinned[...], before = 1, one.record()
    device.copy(source, pinned, one)
    two.wait(one.record())
    barriers["block_sum"].launch((2,), (128,), (source, out, 256), 512, two)
    assert device.download(out, stream=two).tolist() == [128, 128]
    assert 0 <= two.record().milliseconds_since(before) < 10_000
    with one.capture() as captured:
        device.copy(source, pinned, one)
        two.wait(one.record())
        for _ in range(10):
            barriers["block_sum"].launch((2,), (128,), (source, out, 256), 512, two)
        one.wait(two.record())
        device.copy(answer, out, one)
    del source, out  # the graph keeps them
    for value in (3, 4):
        pinned[...] = value
        captured.graph.launch(one)
        one.synchronize()
        assert answer.tolist() == [128 * value] * 2
    with pytest.raises(ZeroDivisionError), one.capture():
        raise ZeroDivisionError
    one.synchronize()  # it is usable again


def test_refused_launches_and_memory(
    device: Device, barriers: Mapping[str, Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = device.zeros(4, np.int32)
    with pytest.raises(KernelError, match="block_sum"):
        barriers["block_sum"].launch((1,), (64, 64), (out, out, 4))
    with pytest.raises(KernelError):
        barriers["block_sum"].launch((1,), (32,), (out, out, 4), shared=2**20)
    with pytest.raises(kl.MemoryBudgetError, match="requested"):
        device.empty(2**50, np.uint8)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1M")
    with pytest.raises(kl.MemoryBudgetError, match="requested"):
        device.empty(2**21, np.uint8)
    monkeypatch.delenv("KLEENE_DEVICE_MEMORY")
    before = device.allocated
    some: Array | None = device.empty(2**16, np.float32)
    assert device.allocated == before + 2**18
    some = None  # noqa: F841 - it is freed
    assert device.allocated == before
    assert device.download(out).tolist() == [0] * 4, "it still works"


@pytest.mark.skipif(DEVICE != "cuda", reason="the emulator runs one launch at a time")
def test_threads_share_a_kernel(device: Any, barriers: Mapping[str, Kernel]) -> None:
    failures: list[str] = []

    def work(value: int) -> None:
        open_device(DEVICE)  # makes it current in this thread
        stream, kernel = device.stream(), barriers["block_sum"]
        source = device.upload(np.full(128, value, np.int32), stream=stream)
        for count in range(1, 120):
            out = device.empty(1, np.int32)
            kernel.launch((1,), (128,), (source, out, count), 512, stream)
            if device.download(out, stream=stream)[0] != value * count:
                failures.append(f"{value} x {count}")

    threads = [threading.Thread(target=work, args=(value,)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_another_thread_reads_and_frees(device: Device) -> None:
    """An answer may outlive its call in a thread that never opened the device."""
    before = device.allocated
    arrays = [device.upload(np.arange(5)), device.empty(2**25, np.uint8)]
    free, found = device.free_memory(), []
    for work in (lambda: found.append(device.download(arrays[0]).tolist()), arrays.clear):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [[0, 1, 2, 3, 4]]
    assert device.allocated == before
    assert device.free_memory() >= free + 2**25


@pytest.mark.skipif(DEVICE != "cuda", reason="needs a GPU")
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_an_array_of_another_library(library: str) -> None:
    """Distances in place, of a matrix that the other library is still computing."""
    other = pytest.importorskip(library)
    n = 1500
    lengths = np.random.default_rng(1).integers(1, 1000, (n, n)).astype(np.float32)
    on_gpu = other.asarray(lengths) if library == "cupy" else other.asarray(lengths).cuda()
    for _ in range(50):
        on_gpu = on_gpu + (on_gpu @ on_gpu) * 0
    found = kl.close_distances(on_gpu)
    host = found.get() if library == "cupy" else found.cpu().numpy()
    assert (host == kl.close_distances(lengths.copy())).all()


CRASH = """
import numpy as np, pytest
from test_gpu_device import kernels, open_device
from kleene.errors import KernelError
device = open_device("cuda")
out = device.zeros(32, np.int32)
kernels(device, "barriers")["bad_trap"].launch((1,), (32,), (out,))
for wait in (device.synchronize, lambda: device.download(out), device.main.synchronize):
    with pytest.raises(KernelError, match=device.name):
        wait()
"""


@pytest.mark.skipif(DEVICE != "cuda", reason="the emulator has tests of its own")
def test_a_kernel_that_fails() -> None:
    """The device is lost with it, so this is another process, which also ends in order."""
    done = subprocess.run(
        [sys.executable, "-c", CRASH], cwd=Path(__file__).parent, timeout=600, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(DEVICE != "cuda", reason="needs a GPU")
def test_a_build_without_the_emulator(tmp_path: Path) -> None:
    """Kernels are compiled and run with no module of the emulator in reach."""
    code = """
import sys
for name in ("_emulator", "_emulator_checked", "_emulator_tests"):
    sys.modules[f"kleene.{name}"] = None
import kleene as kl
g = kl.generate.uniform(1000, 8000, weights=(1, 9), seed=1)
for call in (kl.bfs, kl.sssp):
    r = call(g, 0, device="cuda")
    assert r.plan.device == "cuda"
    r.verify()
"""
    environment = {**os.environ, "KLEENE_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], timeout=600, check=True, env=environment)
    assert list(tmp_path.glob("*.cubin"))
