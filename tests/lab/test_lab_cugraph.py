"""cuGraph beside Kleene: the plumbing, with a stand-in for the library, which needs a GPU."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lab_samples import unhurried

import kleene as kl
from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.harness import record as records
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.measurements import measurements_in
from kleene_lab.harness.peers import CuGraph
from kleene_lab.harness.runner import Runner

[GPU] = [one for one in EXPERIMENTS if one.id == "peers-gpu"]


class Array(np.ndarray):
    """An array that the host must ask for."""

    def get(self) -> Any:
        return np.array(self)


def _device(values: Any, dtype: Any = None) -> Any:
    return np.array(values, dtype=dtype).view(Array)


class Graph:
    """Arcs, and the vertices that have some, in an order of their own."""

    def __init__(
        self, handle: Any, properties: Any, sources: Any, targets: Any, weights: Any,
        store_transposed: bool, renumber: bool, do_expensive_check: bool,
    ) -> None:  # fmt: skip
        assert (store_transposed, renumber, do_expensive_check) == (False, True, False)
        assert all(isinstance(array, Array) for array in (sources, targets, weights))
        assert (sources.dtype, weights.dtype) == (np.int32, np.float32)
        self.symmetric = properties.is_symmetric
        self.graph = kl.Graph.from_edges(sources.get(), targets.get(), weights.get())
        self.vertices = np.unique([sources, targets])[::-1].astype(np.int32)

    def rows(self, distances: Any, absent: Any, dtype: Any) -> tuple[Any, Any]:
        found = np.where(absent, np.nan, distances)[self.vertices]
        largest = np.iinfo(dtype).max if np.dtype(dtype).kind == "i" else np.finfo(dtype).max
        return _device(self.vertices), _device(np.where(np.isnan(found), largest, found), dtype)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Install modules that do what pylibcugraph and CuPy would; ``error`` spoils answers."""
    state = SimpleNamespace(error=0, synchronized=0)

    def bfs(handle, graph, sources, direction_optimizing, depth_limit, predecessors, check):
        assert isinstance(sources, Array)
        assert (direction_optimizing, depth_limit) == (graph.symmetric, -1)
        assert not predecessors
        assert not check
        r = kl.bfs(graph.graph, int(sources[0]), device="cpu")
        vertices, distances = graph.rows(r.distances + state.error, r.distances < 0, np.int32)
        return distances, None, vertices

    def sssp(handle, graph, source, cutoff, predecessors, check):
        assert predecessors  # it refuses otherwise
        assert cutoff > 1e38
        r = kl.sssp(graph.graph, source, device="cpu")
        vertices, distances = graph.rows(r.floats + state.error, np.isinf(r.floats), np.float32)
        return vertices, distances, None

    def synchronize() -> None:
        state.synchronized += 1

    library, cupy = ModuleType("pylibcugraph"), ModuleType("cupy")
    library.__dict__.update(
        ResourceHandle=object, GraphProperties=SimpleNamespace, SGGraph=Graph, bfs=bfs, sssp=sssp
    )
    runtime = SimpleNamespace(deviceSynchronize=synchronize)
    cupy.__dict__.update(asarray=_device, cuda=SimpleNamespace(runtime=runtime))
    for module in (library, cupy):
        module.__spec__ = ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return state


def test_both_are_measured_on_every_graph(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    done = Runner(Environment("emulated", quick=True), path).measure([unhurried(GPU)])
    record = records.read(path)
    assert (done.failed, done.skipped) == (0, 0), [skip.why for skip in record.skips]
    [results] = measurements_in(record, GPU)
    assert set(results.panels) == {"breadth-first search", "shortest paths"}
    for panel in results.panels:
        for x in (0, 1):
            for series in ("Kleene, GPU", "pylibcugraph", "pylibcugraph, answer on the GPU"):
                assert results.at(series, x, panel) is not None
    assert stand_in.synchronized > 0
    assert any("as fast as pylibcugraph" in sentence for sentence in GPU.findings(results))


def test_wrong_answers_are_failures(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    stand_in.error = 1
    path = tmp_path / "record.jsonl"
    done = Runner(Environment("emulated", quick=True), path).measure([unhurried(GPU)])
    assert done.failed == 8  # two graphs, two problems, two series
    assert all("other distances" in skip.why for skip in records.read(path).skips)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_elsewhere_it_is_skipped_with_a_reason(device: str, tmp_path: Path) -> None:
    if device == "emulated" and CuGraph.installed():
        pytest.skip("pylibcugraph is installed here")
    path = tmp_path / "record.jsonl"
    done = Runner(Environment(device, quick=True), path).measure([unhurried(GPU)])
    assert (done.measured, done.failed, done.skipped) == (0, 0, 1)
    why = "there is no GPU" if device == "cpu" else "pylibcugraph is not installed; pip install"
    assert why in records.read(path).skips[0].why
