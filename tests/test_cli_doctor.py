"""``kleene doctor``: works on every machine, and gives the right advice."""

from __future__ import annotations

import ctypes
import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from kleene.cli.main import app
from kleene.system import doctor, machine
from kleene.system.doctor import Gpu, examine

PACKAGES = {"networkx": "3.2", "matplotlib": "3.8"}
H200 = Gpu("NVIDIA H200", 150 * 2**30, "9.0")


def test_the_report_is_complete() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["command"] == "doctor"
    assert 1 <= told["cores"] <= told["cores_present"]
    assert told["devices"]
    assert set(told) > {"kleene", "python", "platform", "simd", "memory", "gpus", "packages"}
    page = CliRunner().invoke(app, ["doctor"]).output
    for title in ("Kleene", "Machine", "NVIDIA", "Optional packages"):
        assert f"{title}\n" in page


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
    monkeypatch.setattr(doctor, "_cupy", lambda: (None, None))
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


def test_a_cupy_that_does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"cupy-cuda12x": "13.0"}
    monkeypatch.setattr(doctor, "_version", versions.get)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    report = examine()
    assert report.cupy == "cupy-cuda12x 13.0"
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
