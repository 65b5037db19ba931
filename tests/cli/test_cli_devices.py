"""``--devices`` on the command line, and what ``kleene doctor`` says of several devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import document, kleene, lines

import kleene as kl
from kleene.system import doctor

pytest.importorskip("kleene._emulator")


@pytest.fixture(autouse=True)
def three_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "3")


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "grid.npz"
    kl.write(kl.generate.grid(4, 5, weights=(1, 9), seed=1), path)
    return str(path)


def test_devices(graph: str) -> None:
    done = document(
        "apsp", graph, "--device", "emulated", "--method", "batched", "--devices", "0,2", "--verify"
    )
    assert done["plan"]["devices"] == ["emulated:0", "emulated:2"]
    page = " ".join(lines("bfs", graph, 0, 3, 7, "--devices", "emulated:1, emulated:2"))
    assert "on emulated:1 and emulated:2" in page
    page = " ".join(lines("explain", graph, "sssp", "-s", "1,2", "--device", "emulated"))
    assert "2 sources are split over emulated:0 and emulated:1" in page
    page = " ".join(lines("matrix", graph, "-s", "1,2", "-t", "3", "--device", "emulated:2"))
    assert "on emulated:2" in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("0,7", "device 'emulated:7' cannot be used"),
        ("0,0", "devices names 'emulated:0' twice"),
        ("", "devices has ''"),
        ("x", "devices has 'x'"),
    ],
)
def test_devices_that_are_refused(graph: str, given: str, said: str) -> None:
    done = kleene("apsp", graph, "--device", "emulated", "--devices", given)
    assert done.exit_code != 0
    assert said in " ".join(done.output.split())


def test_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    two = (doctor.Gpu("H200", 2**37, "9.0"), doctor.Gpu("L4", 2**34, "8.9"))
    monkeypatch.setattr(doctor, "_nvidia", lambda: ("13.0", None, two))
    found = doctor.examine().in_words()["NVIDIA"]
    assert found["cuda:0"] == "H200 (128.0 GiB, compute capability 9.0)"
    assert found["cuda:1"] == "L4 (16.0 GiB, compute capability 8.9)"
    assert (found["emulator"] or "").endswith(", 3 devices")
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "2")
    found = doctor.examine().in_words()["NVIDIA"]
    assert found["cuda:2 and cuda:3"] == "L4 (16.0 GiB, compute capability 8.9)"
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "many")
    assert "cuda:1" in doctor.examine().in_words()["NVIDIA"]
