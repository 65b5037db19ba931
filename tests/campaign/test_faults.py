"""Calls in which an allocation, a thread start or a write fails: a few of the campaign's cases."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

faults = pytest.importorskip("torture.faults", reason="the campaign is not installed")

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("c++") is None,
    reason="compiles a library that stands in front of glibc",
)

CASES = [
    ("apsp rkleene_quadtree on cpu", "memory"),  # a name that is longer than std::string holds
    ("sssp delta_stepping on cpu", "memory"),
    ("apsp tiled on cpu", "thread"),
    ("from_edges", "memory"),
    ("geodesic_distances", "thread"),  # of scikit-learn
    ("csgraph.yen", "memory"),
    ("weak components", "thread"),
    ("Result.save", "write"),
    ("out=", "mmap"),
    ("prepare", "memory"),
    ("load_prepared", "mmap"),
]


def test_faults_end_in_errors_and_leave_nothing(tmp_path: Path) -> None:
    library = tmp_path / "faults.so"
    faults.compile_library(library)
    orders = {"cases": CASES, "seconds": 240, "most": 6, "seed": 1}
    lines, crash = faults.start(library, orders, 300)
    assert crash is None, (lines[-1:], crash)
    done = [line for line in lines if line[0] == "done"]
    assert len(done) == len(CASES)
    assert all(count > 0 for _, _, _, count, _, _ in done), "each fault took place"
    assert [wrong for line in done for wrong in line[5]] == []
