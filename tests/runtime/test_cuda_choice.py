"""Whether device "cuda" opens and is chosen, and what is said when something is missing."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from graphs import graph

import kleene as kl
from kleene.backends.cuda.runtime.cuda_startup import open_cuda
from kleene.backends.cuda.runtime.device import open_device
from kleene.planning import device_choice
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
from kleene.registry import methods
from kleene.system import devices as nvidia
from kleene.system import machine

if TYPE_CHECKING:
    from fake_gpu import FakeGpu


def test_an_old_gpu(cuda: FakeGpu) -> None:
    cuda.choose(1)
    with pytest.raises(kl.DeviceError, match=r"GPU \(cuda:1\) has compute capability 6\.1, and"):
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
    tiled = make_plan(facts, Ask.of("apsp", method="tiled", predecessors=False), box)
    assert tiled.device_memory > 2**31
    assert (tiled.device, tiled.streams) == ("cuda", True)
    small = replace(box, gpu_memory=2**20)
    plan = make_plan(facts, Ask.of("apsp", method="tiled", predecessors=False), small)
    assert plan.device == "cpu"
    assert "the GPU has 1.0 MiB free, and " in plan.reasons[0]
    closed = make_plan(facts, Ask.of("apsp", predecessors=False), replace(box, gpu_memory=None))
    assert closed.device == "cpu"
    assert "the GPU does not open" in closed.reasons[0]


def test_betweenness_goes_where_it_is_faster() -> None:
    box = machine.Machine(16, 2**37, "avx512", ("cuda", "cpu", "reference"), gpu_memory=2**36)
    small, large = Facts(2**14, 426_482, None, 1, 1, 2**14, True), 31_399_818

    def device(facts: Facts, sources: int) -> str:
        ask = Ask.of("betweenness", sources=sources, predecessors=False)
        return make_plan(facts, ask, box).device

    assert device(small, 1024) == "cpu"  # 45 ms, and opening the GPU takes 350
    assert device(replace(small, device="cuda"), 1024) == "cuda"
    assert device(Facts(2**20, large, None, 1, 1, 2**20, True), 256) == "cuda"
    assert device(Facts(2**18, 7_610_750, "int32", 1, 9, 9 * 2**18, True), 2**14) == "cuda"


def test_auto_never_chooses_the_emulator() -> None:
    facts = Facts(1000, 10**6, "float32", 0, 1, 1000)
    box = machine.Machine(4, None, "avx2", ("emulated", "reference"))
    assert make_plan(facts, Ask.of("apsp"), box).device == "reference"
    plan = make_plan(facts, Ask.of("apsp", device="emulated"), box)
    assert (plan.device, plan.method) == ("emulated", "tiled")


def test_rows_come_in_pairs() -> None:
    def names(device: str) -> list[tuple[str, str]]:
        rows = methods(device=device)
        return [(row.problem, row.name) for row in rows if not row.unrecorded]

    assert names("cuda") == names("emulated")
    assert re.search(r"naive +emulated", repr(kl.methods("apsp")))


def test_a_plan_has_the_device_memory() -> None:
    facts = Facts(1000, 10**6, "float32", 0, 1, 1000)
    box = machine.Machine(4, None, "avx2", ("cuda", "cpu", "emulated"))
    real = make_plan(facts, Ask.of("apsp", method="naive", device="cuda"), box)
    assert real.device_memory == 8 * 1000**2
    assert "on GPU   7.6 MiB" in str(real)
    assert "streamed" not in str(real)
    tiled = make_plan(facts, Ask.of("apsp", method="tiled", device="cuda"), box)
    assert "7.6 MiB; streamed from the host if less is free" in str(tiled)
    emulated = make_plan(facts, Ask.of("apsp", method="naive", device="emulated"), box)
    assert emulated.memory == real.memory + real.device_memory
    assert emulated.device_memory == 0


def test_settings_that_make_no_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "-1")
    with pytest.raises(kl.DeviceError, match="non-negative integer"):
        open_device("emulated")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "")
    monkeypatch.setenv("KLEENE_EMULATOR", "nonesuch")
    with pytest.raises(kl.DeviceError, match="does not have the emulator"):
        open_device("emulated")
