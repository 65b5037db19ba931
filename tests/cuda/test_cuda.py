"""The CUDA methods under the checked emulator, and the device "cuda" over a driver of the tests."""

from __future__ import annotations

import gc
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from emulators import needs_checked
from graphs import graph

import kleene as kl
from kleene.backends.cuda.runtime import cuda_startup
from kleene.backends.cuda.runtime.cuda_startup import open_cuda
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, require_memory
from kleene.backends.cuda.tuning import transfers
from kleene.errors import KernelError
from kleene.registry import PATH_PROBLEMS, methods

if TYPE_CHECKING:
    from fake_gpu import FakeGpu

# ---- every method, watched ----------------------------------------------------------------------

ROWS = [
    (row, s)
    for row in methods(device="emulated")
    if row.problem in PATH_PROBLEMS
    for s in row.semirings
]
IDS = [f"{row.problem}-{row.name}-{semiring}" for row, semiring in ROWS]


@needs_checked
@pytest.mark.parametrize(
    ("name", "seed"),
    [("complete", 0), ("complete", 5), ("negative_floats", 5), ("disconnected", 0),
     ("zero_cycle", 5)],
)  # fmt: skip
@pytest.mark.parametrize(("row", "semiring"), ROWS, ids=IDS)
def test_methods_under_the_checked_emulator(
    row: Any, semiring: str, name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No access out of range, no conflict, no work that only the usual order makes right."""
    g = graph(name)
    if semiring == "max_times" or (g.stats.negative and not row.negative):
        g = graph("probabilities")
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    options: dict[str, Any] = {"method": row.name, "device": "emulated", "predecessors": True}
    if row.problem in ("bfs", "sssp"):
        options["sources"] = range(g.n)
    if row.problem == "closure":
        options["semiring"] = semiring
    getattr(kl, row.problem)(g, **options).verify()


# ---- the device on cuda.core --------------------------------------------------------------------


def all_given_back(cuda: FakeGpu) -> bool:
    """Is no memory held, but what the device keeps for later?"""
    gc.collect()
    d = open_cuda()
    d.blocks.clear()
    d.pages.clear()
    return d.allocated == 0 and cuda.free() == cuda.memory


def test_a_method_runs_on_the_gpu(cuda: FakeGpu, gpu_machine: None) -> None:
    g = graph("complete")
    result = kl.apsp(g, method="naive", device="cuda")
    assert result.plan.device == "cuda"
    assert result.distances.tolist() == kl.apsp(g, device="cpu").distances.tolist()
    result.verify()
    assert kl.apsp(g, method="naive").plan.device == "cuda", "the one place that has it"
    assert all_given_back(cuda)


def test_copies_streams_and_graphs(cuda: FakeGpu) -> None:
    d = open_device("cuda")
    assert d.kind == "cuda"
    assert (d.name, d.capability, d.multiprocessors) == ("Fake GPU", (9, 0), 4)
    host = np.arange(48, dtype=np.int16).reshape(6, 8)
    a, b = d.upload(host), d.zeros((3, 4), np.int16)
    d.copy(b, a[1:4, 2:6])
    assert d.download(b).tolist() == host[1:4, 2:6].tolist()
    d.copy(a[0:2, 0:2], host[4:6, 6:8])
    d.copy(a[4:6, 1:3], a[2:4, 5:7])
    wanted = host.copy()
    wanted[0:2, 0:2], wanted[4:6, 1:3] = host[4:6, 6:8], host[2:4, 5:7]
    assert d.download(a).tolist() == wanted.tolist()
    d.fill(a[2:, 1:3], 0xFF)
    assert d.download(a)[3].tolist() == [24, -1, -1, 27, 28, 29, 30, 31]
    assert d.download(a, out=d.pinned((6, 8), np.int16)).shape == (6, 8)
    with pytest.raises(TypeError, match="copy of int16"):
        d.copy(a, host[:2])
    one, two, pinned = d.stream(), d.stream(), d.pinned(4, np.int32)
    c = d.zeros(4, np.int32)
    with one.capture() as captured:
        two.wait(one.record())
        d.copy(c, pinned, two)
        one.wait(two.record())
    for value in (3, 4):
        pinned[...] = value
        captured.graph.launch(one)
        assert d.download(c).tolist() == [value] * 4
    assert two.record().milliseconds_since(one.record()) == 1.5
    with pytest.raises(ZeroDivisionError), one.capture():
        raise ZeroDivisionError
    del a, b, c, pinned, captured, one, two
    assert all_given_back(cuda)
    gc.collect()
    assert {kind for kind, _ in cuda.live} == {"stream"}, "that of the device"


def test_launches(cuda: FakeGpu) -> None:
    d = open_cuda()
    kernels = d.kernels("apsp_naive", KL_TYPE="int", KL_PATHS=0)
    assert kernels is d.kernels("apsp_naive", KL_PATHS=0, KL_TYPE="int")
    step = kernels["apsp_naive_step"]
    matrix = d.upload(np.array([[0, 5], [7, 0]], np.int32))
    cycle = d.zeros(1, np.int32)
    args = (matrix, None, 2, 0, cycle)
    step.launch((1,), (32, 8), args)
    step.launch((1,), (32, 8), args, shared=60_000)
    assert 60_000 in cuda.most_shared.values()
    assert step.resident_blocks(256) == 8
    assert step.registers == 32
    with pytest.raises(KernelError, match=r"launched as \(1,\) x \(64, 64\) .*INVALID_VALUE"):
        step.launch((1,), (64, 64), args)
    with pytest.raises(TypeError, match="takes 5 arguments, not 4"):
        step.launch((1,), (32,), (matrix, None, 2, 0))
    with pytest.raises(TypeError, match=r"argument 2 .* bytes, and is given as int16"):
        step.launch((1,), (32,), (matrix, None, np.int16(2), 0, cycle))
    with pytest.raises(LookupError, match="no variant"):
        d.kernels("apsp_naive", KL_TYPE="half")


def test_kernels_are_compiled_once(cuda: FakeGpu, tmp_path: Path) -> None:
    for _ in range(2):
        open_cuda().kernels("apsp_naive", KL_TYPE="long long", KL_PATHS=1)
        cuda_startup._opened.clear()
    assert cuda.compiled == ["sm_90"]
    [file] = tmp_path.iterdir()
    file.write_bytes(b"half of")  # a broken file is made again
    open_cuda().kernels("apsp_naive", KL_TYPE="long long", KL_PATHS=1)
    assert cuda.compiled == ["sm_90", "sm_90"]


def test_a_gpu_newer_than_the_compiler(cuda: FakeGpu) -> None:
    """NVRTC itself, which needs no GPU: PTX for the newest GPU that it knows."""
    from kleene.backends.cuda.runtime.cuda_kernel import compiler_version

    if compiler_version() == "no compiler":
        pytest.skip("NVRTC is not installed")
    text = "KL_TYPE twice(KL_TYPE x) { return x + x; }\n"
    text += 'extern "C" __global__ void kernel(KL_TYPE* x) { *x = twice(*x); }'
    defines = {"KL_TYPE": "long long"}
    assert cuda.nvrtc(text, "kernel.cu", defines, 90).startswith(b"\x7fELF")
    assert b".entry kernel" in cuda.nvrtc(text, "kernel.cu", defines, 122)
    with pytest.raises(KernelError, match=r"(?s)kernel.cu does not compile for sm_90.*KL_TYPE"):
        cuda.nvrtc(text, "kernel.cu", {}, 90)


def test_memory(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    d = open_cuda()
    with pytest.raises(kl.MemoryBudgetError, match=r"512\.0 MiB requested on Fake GPU"):
        d.empty(2**27, np.float32)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1M")
    kept = d.empty(2**17, np.float32)
    assert d.free_memory() == 2**19
    with pytest.raises(kl.MemoryBudgetError, match="KiB free"):
        d.empty(2**18, np.float32)
    with pytest.raises(kl.MemoryBudgetError, match=r"apsp needs .* device='cpu'"):
        require_memory(d, 2**20, "apsp")
    del kept
    assert d.free_memory() == 2**20
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "much")
    with pytest.raises(kl.DeviceError, match="must be bytes, as in 800M"):
        d.free_memory()


def test_small_allocations_are_reused(cuda: FakeGpu) -> None:
    d = open_cuda()
    first = d.empty(1000, np.float32)
    address, d.peak = first.address, 0
    del first
    assert d.allocated == 0
    assert d.free_memory() == cuda.memory, "what is kept can be had"
    assert "cuCtxSynchronize" not in cuda.log
    again = d.empty(500, np.float64)
    assert again.address == address
    assert cuda.log.count("cuCtxSynchronize") == 1, "others may still have been at work there"
    assert d.peak == 4000
    pinned = d.pinned(8, np.int32)
    page = pinned.ctypes.data
    del pinned
    assert d.pinned(4, np.int64).ctypes.data == page
    each, in_all = transfers.POOL
    large = d.empty(each + 1, np.uint8)
    del large, again
    assert cuda.free() > cuda.memory - 2**16, "large pieces go at once"
    for size in range(1, 2**7):  # more than is kept in all
        d.empty(size * 2**17, np.uint8)
    assert d.blocks.kept <= in_all
    whole = d.empty(cuda.memory - 2**12, np.uint8)  # what was kept makes room
    assert d.blocks.kept == 0
    del whole
    assert all_given_back(cuda)


def test_the_parts_of_a_call_are_timed(
    cuda: FakeGpu, gpu_machine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "PINNED_LEAST", 0)  # small searches use the host's clock
    g = graph("complete")
    stats = kl.apsp(g, method="naive", device="cuda", predecessors=False).stats
    assert stats.copy_in == pytest.approx(1.5e-3), "one matrix, by the device's clock"
    assert stats.copy_out == pytest.approx(3e-3), "the matrix and a flag"
    assert stats.compute == pytest.approx(1.5e-3), "all steps"
    placed = kl.bfs(g, 0, device="cuda").stats
    assert placed.compute == pytest.approx(1.5e-3), "the search alone"
    assert open_device("cuda").timer.current is None


def test_an_answer_that_the_device_does_not_hold(
    cuda: FakeGpu, gpu_machine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1K")
    with pytest.raises(kl.MemoryBudgetError, match="apsp by naive on 33 vertices needs"):
        kl.apsp(graph("complete"), method="naive", device="cuda")


@pytest.mark.parametrize("semiring", ["min_plus", "max_min"])
def test_a_matrix_is_streamed_through_the_gpu(
    cuda: FakeGpu, gpu_machine: None, semiring: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1M")
    g = kl.generate.uniform(300, 2000, weights=(1.0, 2.0), seed=1)
    got = kl.closure(
        g, semiring, method="tiled", device="cuda", predecessors=False, dtype="float32"
    )
    wanted = kl.closure(g, semiring, device="cpu", predecessors=False, dtype="float32")
    np.testing.assert_allclose(got.values, wanted.values, rtol=1e-5)
    del got
    assert all_given_back(cuda)


def test_errors_of_the_device(cuda: FakeGpu) -> None:
    d = open_cuda()
    cuda.failing["cuStreamSynchronize"] = 700
    with pytest.raises(KernelError, match="Fake GPU: CUDA_ERROR_ILLEGAL"):
        d.main.synchronize()
    with pytest.raises(KernelError, match="Fake GPU: CUDA_ERROR_ILLEGAL"):
        d.download(d.zeros(1, np.int32))
    cuda.failing["cuMemAlloc"] = 700
    with pytest.raises(kl.DeviceError, match="Fake GPU: CUDA_ERROR_ILLEGAL"):
        d.empty(7, np.int64)


def test_the_gpu_that_is_current(cuda: FakeGpu) -> None:
    """Every call makes its GPU current again; each thread has its own."""
    d = open_cuda()
    cuda.choose(1)
    assert open_cuda() is d
    assert cuda.current.context == 64
    there: list[int] = []

    def work() -> None:
        open_cuda().stream().synchronize()
        there.append(cuda.current.context)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert there == [64]


def test_other_threads_read_and_free(cuda: FakeGpu) -> None:
    """An answer may outlive its call in any thread, which has no current GPU."""
    d = open_cuda()
    arrays = [d.upload(np.arange(4)), d.empty(2**25, np.uint8), d.pinned(2**25, np.uint8)]
    found: list[Any] = []

    def work() -> None:
        d.synchronize()
        found.append(d.download(arrays[0]).tolist())
        found.append(d.zeros(3, np.int8).shape)

    for target in (work, arrays.clear):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    assert found == [[0, 1, 2, 3], (3,)]
    assert all_given_back(cuda)


def test_an_array_that_is_still_written(cuda: FakeGpu, gpu_machine: None) -> None:
    """Another library's stream is unknown: all work is waited for before the array is read."""

    class Foreign:
        def __init__(self, array: Array) -> None:
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    d = open_cuda()
    there = d.upload(np.array([[0, 1, 9], [9, 0, 1], [9, 9, 0]], np.float32))
    cuda.log.clear()
    kl.close_distances(Foreign(there))
    used = next(i for i, name in enumerate(cuda.log) if re.match("cuLaunch|cuMemcpy", name))
    assert "cuCtxSynchronize" in cuda.log[:used]
    assert d.download(there).tolist() == [[0, 1, 2], [9, 0, 1], [9, 9, 0]]


def test_an_array_of_another_library() -> None:
    whole = Array.new(4096, (4, 6), np.float32, None)
    for array in (whole, whole[1:3, 2:]):
        again = Array.of(array)
        assert (again.address, again.shape, again.strides) == (
            (array.address, array.shape, array.strides)
        )
        assert again.contiguous == array.contiguous
    assert whole.reshape(3, 8).pitch == 8
    assert whole.view(np.float64).shape == (12,)
    with pytest.raises(ValueError, match="no shape"):
        whole[:, 1:].reshape(20)
    with pytest.raises(ValueError, match="no view"):
        whole[:, 1:].view(np.int32)
    with pytest.raises(IndexError):
        whole[::2]
