"""``kleene doctor``: works on every machine, and gives the right advice."""

from __future__ import annotations

import ctypes
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kleene.cli.main import app
from kleene.system import devices as nvidia
from kleene.system import doctor, machine
from kleene.system.doctor import Gpu, examine

PACKAGES = {"networkx": "3.2", "matplotlib": "3.8"}
PAIR = "cuda-core 1.2.2, cuda-bindings 13.5.0"
H200 = Gpu("NVIDIA H200", 150 * 2**30, "9.0")


def test_the_report_is_complete() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["command"] == "doctor"
    assert 1 <= found["cores"] <= found["cores_present"]
    assert found["devices"]
    assert set(found) > {"kleene", "python", "platform", "simd", "memory", "gpus", "packages"}
    page = CliRunner().invoke(app, ["doctor"]).output
    for title in ("Kleene", "Machine", "NVIDIA", "Optional packages"):
        assert f"{title}\n" in page


def test_memory_is_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_system_available", lambda: 3 * 2**30)
    monkeypatch.setattr(machine, "_cgroup_memory", lambda: [])
    monkeypatch.setattr(machine, "_limits_available", lambda: None)
    page = CliRunner().invoke(app, ["doctor"]).output
    assert "  memory  3.0 GiB available\n" in page
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert found["memory"] == 3 * 2**30
    monkeypatch.setattr(machine, "_system_available", lambda: None)
    assert "  memory  unknown available\n" in CliRunner().invoke(app, ["doctor"]).output


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="compares with /proc/meminfo")
def test_memory_here_is_known() -> None:
    lines = Path("/proc/meminfo").read_text().splitlines()
    total = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal"))
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert 0 < found["memory"] <= total


@pytest.mark.parametrize(
    ("problem", "gpus", "packages_problem", "compiler", "expected"),
    [
        (None, (H200,), None, "NVRTC 13.4", "ready"),
        ("it does not start (error 100)", (), None, None, "the NVIDIA driver: it does not start"),
        (None, (), None, "NVRTC 13.4", "sees no GPU"),
        (None, (H200,), "ImportError: x", "NVRTC 13.4", "cuda-core does not work: ImportError"),
        (None, (H200,), None, None, "NVRTC, which compiles kernels, was not found"),
    ],
)
def test_cuda_is_ready_only_if_everything_works(
    problem: str | None,
    gpus: tuple[Gpu, ...],
    packages_problem: str | None,
    compiler: str | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything = machine.Machine(2, None, "AVX2", ("cuda", "cpu", "reference"))
    monkeypatch.setattr(machine, "this_machine", lambda: everything)
    monkeypatch.setattr(doctor, "_nvidia", lambda: ("13.0", problem, gpus))
    monkeypatch.setattr(doctor, "_cuda_packages", lambda driver: (PAIR, packages_problem))
    monkeypatch.setattr(doctor, "_compiler", lambda: compiler)
    report = examine()
    assert expected in str(report.in_words()["NVIDIA"]["device cuda"])
    assert ("cuda" in report.devices) == (expected == "ready")


def test_a_build_without_kernels_has_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = machine.Machine(2, None, "AVX2", ("cpu", "reference"), (("cuda", "no kernels"),))
    monkeypatch.setattr(machine, "this_machine", lambda: bare)
    monkeypatch.setattr(doctor, "_nvidia", lambda: ("13.0", None, (H200,)))
    monkeypatch.setattr(doctor, "_cuda_packages", lambda driver: (PAIR, None))
    assert examine().in_words()["NVIDIA"]["device cuda"] == "no kernels"


def test_every_optional_package_of_the_project_is_reported() -> None:
    """The extras for users in pyproject.toml, and nothing that does not exist."""
    import tomllib

    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    for package, extra in doctor._EXTRAS.items():
        wanted = extras[extra.removeprefix("kleene[").removesuffix("]")]
        assert any(one.startswith(package) for one in wanted), (package, extra)


def no_library(name: str) -> Any:
    raise OSError(f"{name}: cannot open shared object file")


def test_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    report = examine()
    assert report.cuda_driver is None
    assert report.in_words()["NVIDIA"]["driver"] == "not installed"
    assert report.in_words()["NVIDIA"]["gpu"] == "none"
    assert any("driver" in line for line in report.advice)


class Driver:
    """A fake libcuda; codes other than 0 are errors."""

    def __init__(self, version: int = 12040, tells: int = 0, starts: int = 0) -> None:
        self.version, self.tells, self.starts = version, tells, starts

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = self.version
        return self.tells

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return self.starts

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = 1
        return 0

    def cuDeviceGet(self, device: Any, index: int) -> int:  # noqa: N802
        return 0

    def cuDeviceGetName(self, name: Any, length: int, device: Any) -> int:  # noqa: N802
        name.value = H200.name.encode()
        return 0

    def cuDeviceGetAttribute(self, number: Any, attribute: int, device: Any) -> int:  # noqa: N802
        number._obj.value = {75: 9, 76: 0}[attribute]
        return 0

    def cuDeviceTotalMem_v2(self, memory: Any, device: Any) -> int:  # noqa: N802
        memory._obj.value = H200.memory
        return 0


@pytest.mark.parametrize(("version", "extra"), [(12040, "cuda12"), (13000, "cuda13")])
def test_the_extra_fits_the_driver(
    version: int, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver(version))
    monkeypatch.setattr(doctor, "_cuda_packages", lambda driver: (None, None))
    bare = machine.Machine(2, None, "AVX2", ("cpu",), (("cuda", "cuda-core is not installed"),))
    monkeypatch.setattr(machine, "this_machine", lambda: bare)
    report = examine()
    assert report.gpus == (H200,)
    assert f'NVIDIA H200: pip install "kleene[{extra}]"' in report.advice
    assert "NVIDIA H200 (150.0 GiB, compute capability 9.0)" in str(
        report.in_words()["NVIDIA"]["gpu"]
    )


@pytest.mark.parametrize(
    ("driver", "problem"),
    [(Driver(tells=1), "does not report its version"), (Driver(starts=100), "error 100")],
)
def test_a_broken_driver(driver: Driver, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    report = examine()
    assert report.gpus == ()
    assert problem in str(report.cuda_problem)
    assert problem in str(report.in_words()["NVIDIA"]["driver"])


def test_a_cuda_core_that_does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "package_version", lambda: PAIR)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())
    monkeypatch.setitem(__import__("sys").modules, "cuda.core", None)
    report = examine()
    assert report.cuda_packages == PAIR
    assert "does not work" in "\n".join(report.advice)


def test_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    full = replace(examine(), advice=())
    monkeypatch.setattr(doctor, "examine", lambda: full)
    assert "Nothing is missing" in CliRunner().invoke(app, ["doctor"]).output


def test_advice_for_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", {"networkx": "3.2"}.get)
    advice = "\n".join(examine().advice)
    assert 'pip install "kleene[plot]"' in advice
    assert 'pip install "pyarrow"' in advice
    assert "networkx" not in advice


def test_no_memory_limit_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_cgroup_memory", lambda: [(2**63 - 4096, 5), (2**30, 2**20)])
    assert machine.memory_limit() == 2**30
    assert machine._cgroup_available() == 2**30 - 2**20
    monkeypatch.setattr(machine, "_cgroup_memory", lambda: [(2**63 - 4096, 5)])
    assert machine.memory_limit() is None
    assert "limit" not in str(examine().in_words()["Machine"]["memory"])
