"""The CUDA device: what it does when all is there, and what it says when something is missing."""

from __future__ import annotations

import gc
import math
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulators import needs_checked
from fake_driver import CONTEXT, FakeGpu, fake_gpu
from graphs import graph

import kleene as kl
from kleene.backends.cuda.runtime import cuda_startup
from kleene.backends.cuda.runtime.cuda_startup import open_cuda
from kleene.backends.cuda.runtime.device import Array, open_device, require_memory
from kleene.errors import KernelError
from kleene.planning import device_choice
from kleene.planning import machine as planning_machine
from kleene.planning import plan as planning
from kleene.planning.plan import make_plan
from kleene.planning.request import Facts, Request
from kleene.registry import PATH_PROBLEMS, methods
from kleene.system import machine, nvidia

# ---- every method, watched ----------------------------------------------------------------------

ROWS = [
    (row, s)
    for row in methods(device="emulated")
    if row.problem in PATH_PROBLEMS
    for s in row.semirings
]
IDS = [f"{row.problem}-{row.name}-{semiring}" for row, semiring in ROWS]


@needs_checked
@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("name", ["complete", "negative_floats", "disconnected", "zero_cycle"])
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


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeGpu]:
    with fake_gpu(monkeypatch, tmp_path) as fake:
        yield fake


@pytest.fixture
def gpu_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let plans see a GPU."""

    def forget() -> None:
        machine.this_machine.cache_clear()
        planning_machine.live_machine.cache_clear()
        planning_machine._gpu_opens.cache_clear()
        planning._PLANS.clear()

    forget()
    monkeypatch.setattr(nvidia, "missing", lambda: None)
    yield
    forget()


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
    assert cuda.waits == 0
    again = d.empty(500, np.float64)
    assert again.address == address
    assert cuda.waits == 1, "others may still have been at work there"
    assert d.peak == 4000
    pinned = d.pinned(8, np.int32)
    page = pinned.ctypes.data
    del pinned
    assert d.pinned(4, np.int64).ctypes.data == page
    large = d.empty(2**24 + 1, np.uint8)
    del large, again
    assert cuda.free() > cuda.memory - 2**16, "large pieces go at once"
    for size in range(1, 2**7):  # more than is kept in all
        d.empty(size * 2**17, np.uint8)
    assert d.blocks.kept <= 2**26
    whole = d.empty(cuda.memory - 2**12, np.uint8)  # what was kept makes room
    assert d.blocks.kept == 0
    del whole
    assert all_given_back(cuda)


def test_the_parts_of_a_call_are_timed(cuda: FakeGpu, gpu_machine: None) -> None:
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


# ---- what is missing ----------------------------------------------------------------------------


def test_an_old_gpu(cuda: FakeGpu) -> None:
    cuda.choose(1)
    with pytest.raises(kl.DeviceError, match=r"Fake GPU has compute capability 6\.1, and 7\.0"):
        open_cuda()


def test_cuda_that_does_not_start(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.backends.cuda.runtime import cuda_device

    def fails(text: str) -> Any:
        def device(*given: int) -> None:
            raise RuntimeError(text)

        return device

    monkeypatch.setattr(cuda_device, "CoreDevice", fails("CUDA_ERROR_NO_DEVICE: none"))
    with pytest.raises(kl.DeviceError, match="sees no GPU; is CUDA_VISIBLE_DEVICES empty"):
        open_cuda()
    monkeypatch.setattr(cuda_device, "CoreDevice", fails("CUDA_ERROR_SYSTEM_NOT_READY: wait"))
    with pytest.raises(kl.DeviceError, match=r"CUDA does not start: .*NOT_READY.* `kleene doctor`"):
        open_cuda()


def test_a_broken_cuda_core(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kleene.backends.cuda.runtime.cuda_device", None)
    with pytest.raises(kl.DeviceError, match=r"cuda-core is installed but cannot be imported"):
        open_cuda()


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
    assert cuda.current.context == CONTEXT
    there: list[int] = []

    def work() -> None:
        open_cuda().stream().synchronize()
        there.append(cuda.current.context)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert there == [CONTEXT]


def test_a_gpu_needs_no_emulator(
    cuda: FakeGpu, gpu_machine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_no_emulator", lambda: "there is none")
    assert machine.this_machine.__wrapped__().devices == ("cuda", "cpu", "reference")


class Driver:
    def __init__(self, version: int, status: int = 0) -> None:
        self.version, self.status = version, status

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = self.version
        return self.status


@pytest.mark.parametrize(
    ("driver", "packages", "gpus", "reason"),
    [
        (None, {}, 1, "no NVIDIA driver was found; install it"),
        (Driver(12040, 1), {}, 1, "does not report its version"),
        (Driver(12040), {}, 0, "sees no GPU"),
        (Driver(11080), {}, 1, "runs CUDA 11.8, and 12.4 or newer is needed"),
        (Driver(12030), {}, 1, "runs CUDA 12.3, and 12.4 or newer is needed"),
        (Driver(12040), {}, 1, 'cuda-core is not installed; pip install "kleene[cuda12]"'),
        (Driver(13000), {}, 1, 'cuda-core is not installed; pip install "kleene[cuda13]"'),
        (Driver(13000), {"cuda-core": "1.2"}, 1, "cuda-bindings is not installed"),
        (Driver(13000), {"cuda-core": "0.4", "cuda-bindings": "13.0"}, 1, "0.4 is too old"),
        (Driver(12040), {"cuda-core": "1.2", "cuda-bindings": "13.0"}, 1, "not for CUDA 12.4"),
        (Driver(13000), {"cuda-core": "1.2", "cuda-bindings": "12.9"}, 1, None),
        (Driver(13000), {"cuda-core": "1.2", "cuda-bindings": "13.5"}, 1, None),
    ],
)  # fmt: skip
def test_what_is_missing(
    driver: Any, packages: dict[str, str], gpus: int, reason: str | None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for gpu in range(gpus):
        (tmp_path / str(gpu)).mkdir()
    monkeypatch.setattr(nvidia, "_GPUS", tmp_path)
    monkeypatch.setattr(nvidia, "library", lambda: driver)
    monkeypatch.setattr(nvidia, "version", packages.get)
    why = nvidia.missing.__wrapped__()
    assert (why is None) if reason is None else (reason in why)


def test_an_explicit_device_raises_and_auto_does_not() -> None:
    g = graph("complete")
    if "cuda" in machine.this_machine().devices:
        pytest.skip("there is a GPU")
    with pytest.raises(kl.DeviceError, match=r"not available here: .*; device='emulated' runs"):
        kl.apsp(g, device="cuda")
    with pytest.raises(kl.DeviceError, match="'cuda'"):
        kl.apsp(g, method="naive")
    assert kl.apsp(g).plan.device == "cpu"


def test_auto_falls_back_when_the_gpu_does_not_open(
    cuda: FakeGpu, gpu_machine: None, monkeypatch: pytest.MonkeyPatch, recwarn: Any, capfd: Any
) -> None:
    cuda.choose(1)
    monkeypatch.setattr(device_choice, "cpu_seconds", lambda *given: math.inf)
    result = kl.apsp(graph("complete"))
    assert result.plan.device == "cpu"
    assert not recwarn.list
    assert capfd.readouterr() == ("", "")
    with pytest.raises(kl.DeviceError, match="compute capability"):
        kl.apsp(graph("complete"), device="cuda")


def test_auto_falls_back_when_the_gpu_is_full(
    cuda: FakeGpu, gpu_machine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_choice, "cpu_seconds", lambda *given: math.inf)
    assert kl.apsp(graph("complete")).plan.device == "cuda"
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "1K")
    assert kl.apsp(graph("complete")).plan.device == "cpu"


def test_auto_requires_all_the_memory_unless_the_method_streams() -> None:
    facts = Facts(2**15, 2**24, "float32", 0, 1, 1000)
    box = machine.Machine(4, None, "avx2", ("cuda", "cpu"), gpu_memory=2**31)
    tiled = make_plan(facts, Request("apsp", method="tiled", predecessors=False), box)
    assert tiled.device_memory > 2**31
    assert (tiled.device, tiled.streams) == ("cuda", True)
    small = replace(box, gpu_memory=2**20)
    plan = make_plan(facts, Request("apsp", method="tiled", predecessors=False), small)
    assert plan.device == "cpu"
    assert "the GPU has 1.0 MiB free, and " in plan.reasons[0]
    closed = make_plan(facts, Request("apsp", predecessors=False), replace(box, gpu_memory=None))
    assert closed.device == "cpu"
    assert "the GPU does not open" in closed.reasons[0]


def test_auto_never_chooses_the_emulator() -> None:
    facts = Facts(1000, 10**6, "float32", 0, 1, 1000)
    box = machine.Machine(4, None, "avx2", ("emulated", "reference"))
    assert make_plan(facts, Request("apsp"), box).device == "reference"
    plan = make_plan(facts, Request("apsp", device="emulated"), box)
    assert (plan.device, plan.method) == ("emulated", "tiled")


def test_rows_come_in_pairs() -> None:
    def names(device: str) -> list[tuple[str, str]]:
        return [(row.problem, row.name) for row in methods(device=device)]

    assert names("cuda") == names("emulated")
    assert re.search(r"naive +emulated", repr(kl.methods("apsp")))


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


def test_a_plan_has_the_device_memory() -> None:
    facts = Facts(1000, 10**6, "float32", 0, 1, 1000)
    box = machine.Machine(4, None, "avx2", ("cuda", "cpu", "emulated"))
    real = make_plan(facts, Request("apsp", method="naive", device="cuda"), box)
    assert real.device_memory == 8 * 1000**2
    assert "on GPU   7.6 MiB" in str(real)
    assert "streamed" not in str(real)
    tiled = make_plan(facts, Request("apsp", method="tiled", device="cuda"), box)
    assert "7.6 MiB; streamed from the host if less is free" in str(tiled)
    emulated = make_plan(facts, Request("apsp", method="naive", device="emulated"), box)
    assert emulated.memory == real.memory + real.device_memory
    assert emulated.device_memory == 0


def test_settings_that_make_no_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "-1")
    with pytest.raises(kl.DeviceError, match="non-negative integer"):
        open_device("emulated")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "")
    monkeypatch.setenv("KLEENE_EMULATOR", "nonesuch")
    with pytest.raises(kl.DeviceError, match="no such emulator"):
        open_device("emulated")
