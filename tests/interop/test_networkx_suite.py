"""NetworkX's own tests on the backend, in a separate process, with calls counted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import _kleene_networkx
from kleene.interop.networkx import dispatch
from kleene.interop.networkx.dispatch import EXPECTED_FAILURES

MODULES = [
    "algorithms.shortest_paths",
    "algorithms.traversal.tests.test_bfs",
    "algorithms.tests.test_distance_measures",
    "algorithms.tests.test_efficiency",
    "algorithms.tests.test_wiener",
    "algorithms.components",
    "algorithms.tests.test_dag",
    "algorithms.centrality.tests.test_betweenness_centrality",
    "algorithms.centrality.tests.test_betweenness_centrality_subset",
    "algorithms.centrality.tests.test_closeness_centrality",
    "algorithms.centrality.tests.test_harmonic_centrality",
    "algorithms.centrality.tests.test_load_centrality",
    "algorithms.tests.test_simple_paths",
    "algorithms.tests.test_vitality",
    "algorithms.tests.test_voronoi",
    "algorithms.approximation.tests.test_steinertree",
    "algorithms.community.tests.test_centrality",
    "generators.tests.test_ego",
]
#: NetworkX's tests of it pass neighbors=, which is not supported.
NOT_CALLED = {"generic_bfs_edges"}
if dispatch.VERSION >= (3, 7):  # which also renamed a function
    NOT_CALLED |= dispatch.CHANGED | {"barycenter"}


def test_the_tests_of_networkx_pass(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    environment = {
        **os.environ,
        "NETWORKX_TEST_BACKEND": "kleene",
        "NETWORKX_FALLBACK_TO_NX": "True",  # for unsupported functions
        "KLEENE_SUITE_REPORT": str(report),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "networkx_suite"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--pyargs"]
    command += [f"networkx.{module}" for module in MODULES]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    counts = json.loads(report.read_text())
    outcomes, answered, refused = counts["outcomes"], counts["answered"], counts["refused"]
    assert outcomes.get("failed", 0) == 0
    assert outcomes.get("excused", 0) == len(EXPECTED_FAILURES)
    figure, version = _on_the_page()
    passed = outcomes["passed"]
    assert passed == figure if dispatch.VERSION[:2] == version else passed >= 850
    # Tests also pass by falling back to NetworkX, so the backend's calls are counted.
    functions = set(_kleene_networkx.get_info()["functions"])
    assert functions - answered.keys() == NOT_CALLED
    assert sum(answered.values()) > 40_000
    # Negative weights, and heuristics that are not admissible.
    assert refused.keys() <= {
        "astar_path",
        "astar_path_length",
        "bidirectional_dijkstra",
        "dijkstra_path",
        "dijkstra_predecessor_and_distance",
        "floyd_warshall_numpy",  # negative cycles
        "multi_source_dijkstra",
        "multi_source_dijkstra_path_length",
        "single_source_dijkstra",
        "single_source_dijkstra_path_length",
    }
    assert sum(refused.values()) <= 30


def _on_the_page() -> tuple[int, tuple[int, ...]]:
    """Return how many tests docs/networkx.md speaks of, and of which version."""
    page = Path(__file__).parents[2] / "docs" / "networkx.md"
    found = re.search(r"([\d,]+) tests of NetworkX (\d+)\.(\d+)", page.read_text())
    assert found is not None
    return int(found[1].replace(",", "")), (int(found[2]), int(found[3]))


def test_expected_failures_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.interop.networkx import dispatch

    class Item:
        nodeid = "networkx/algorithms/tests/test_x.py::TestX::test_y"
        markers: list[pytest.MarkDecorator] = []  # noqa: RUF012

        def add_marker(self, marker: pytest.MarkDecorator) -> None:
            self.markers.append(marker)

    monkeypatch.setitem(
        dispatch.EXPECTED_FAILURES, "TestX::test_y", "depends on the order of steps"
    )
    item = Item()
    dispatch.on_start_tests([item])
    assert [m.name for m in item.markers] == ["xfail"]
    assert item.markers[0].kwargs["reason"] == "depends on the order of steps"
