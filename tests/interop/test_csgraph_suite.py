"""SciPy's own tests of csgraph pass on ``kleene.csgraph``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import scipy.sparse.csgraph
import scipy_suite

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the suite in a process of its own, since it replaces a package of SciPy."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "pytest.ini").write_text("[pytest]\n")
    options = ["-c", "pytest.ini", "-p", "scipy_suite", "-p", "no:cacheprovider", "-q"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--pyargs", scipy_suite.PACKAGE],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), "SCIPY_SUITE_REPORT": str(folder / "report")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    path = folder / "report"
    assert path.exists(), run.stdout[-3000:] + run.stderr[-3000:]
    found: dict[str, Any] = json.loads(path.read_text())
    found["text"] = run.stdout[-8000:]
    return found


def test_every_test_of_scipy_passes_or_is_excused(report: dict[str, Any]) -> None:
    counts = Counter(report["outcomes"].values())
    assert counts["failed"] == 0, report["text"]
    assert counts["excused"] == len(scipy_suite.EXCUSED), report["text"]
    assert counts["passed"] > 800  # with SciPy 1.11; later versions have more
    skipped = {name for name, outcome in report["outcomes"].items() if outcome == "skipped"}
    assert all("test_pydata_sparse.py" in name for name in skipped)  # a package that may be missing


def test_they_called_kleene(report: dict[str, Any]) -> None:
    """SciPy's functions of these names fail when they are called."""
    tested = {"bellman_ford", "breadth_first_tree", "connected_components", "dijkstra"}
    tested |= {"johnson", "shortest_path", "yen"}
    tested &= set(dir(scipy.sparse.csgraph))  # SciPy has yen since 1.14
    assert tested <= report["calls"].keys()
    assert sum(report["calls"].values()) > 130
