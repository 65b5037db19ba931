"""Estimates are upper bounds of measured peaks, and available memory respects every limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kleene.system import machine
from kleene.system.machine import available_memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="measures by /proc")


@linux
@pytest.mark.parametrize("group", ["edges", "matrices", "files", "generators"])
def test_peaks_are_refused_and_little_more_is_not(group: str) -> None:
    program = Path(__file__).parents[1] / "support" / "memory_peaks.py"
    # Large arrays get their own pages, so that freed memory does not hide a peak.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "2"}
    made = subprocess.run(
        [sys.executable, str(program), group],
        env=environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    lines = made.stdout.splitlines()
    assert len(lines) >= 3
    assert [line for line in lines if not line.endswith("\tTrue\tFalse")] == []


@linux
@pytest.mark.parametrize("group", ["texts", "attributed", "maps", "binaries", "tables"])
def test_readers_ask_for_what_they_take(group: str) -> None:
    program = Path(__file__).parents[1] / "support" / "reader_peaks.py"
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "2"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)  # with what pytest added
    made = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), group],
        env=environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in made.stdout.splitlines()]
    assert len(rows) >= 4
    slack = 4 * 2**20  # buffers of a megabyte or so, whatever the size of the file
    assert [row for row in rows if int(row[1]) > int(row[2]) + slack] == []


@linux
@pytest.mark.parametrize("group", ["arrays", "new", "files"])
def test_answers_are_computed_in_their_own_memory(group: str) -> None:
    """Beyond the answer there is work, a part of it, and never a second copy."""
    program = Path(__file__).parents[1] / "support" / "answer_peaks.py"
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "2"}
    made = subprocess.run(
        [sys.executable, str(program), group],
        env=environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in made.stdout.splitlines()]
    assert len(rows) >= 5
    assert [row for row in rows if int(row[2]) > int(row[3])] == []


def limited(limit: str, program: str) -> str:
    """Run a program that may take 1 GB more than it has; return its output."""
    start = f"""
import resource, sys
import numpy as np, kleene as kl
from pathlib import Path
page = resource.getpagesize()
taken = int(Path("/proc/self/statm").read_text().split()[0]) * page
resource.setrlimit(resource.{limit}, (taken + 2**30, resource.RLIM_INFINITY))
"""
    made = subprocess.run(
        [sys.executable, "-c", start + program], capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@linux
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_available_memory_respects_limits(limit: str) -> None:
    program = "from kleene.system.machine import available_memory as a\nprint(a())"
    assert 0 < int(limited(limit, program)) <= 2**31


@linux
@pytest.mark.parametrize(
    "call",
    [
        "kl.Graph.from_edges([0], [1], n=2**29)",
        "kl.Graph.from_csr(np.zeros(1, np.int8).repeat(2**28), [])",
        "kl.Graph.from_dense(np.broadcast_to(np.float64(1), (20000, 20000)))",
        "kl.generate.path(2**28)",
        "kl.generate.uniform(2**20, 2**29)",
        "kl.apsp(kl.generate.grid(200, 200))",
        "kl.apsp(kl.generate.grid(150, 150), method='tiled', device='cpu')",
        "kl.generate.grid(300, 300).dense",
    ],
)
def test_work_beyond_the_address_space_is_refused(call: str) -> None:
    program = f"try:\n    {call}\nexcept kl.MemoryBudgetError as e:\n    print('refused', e)"
    assert limited("RLIMIT_AS", program).startswith("refused")


def test_control_groups_count_without_file_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for folder, limit, usage, cache in ((inner, "max", 0, 0), (tmp_path, "9000", 5000, 1500)):
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text(f"{usage}\n")
        (folder / "memory.stat").write_text(f"anon 7\ninactive_file {cache}\n")
    monkeypatch.setattr(machine, "_cgroup_folders", lambda controller: [inner, tmp_path])
    assert available_memory() == 9000 - (5000 - 1500)
