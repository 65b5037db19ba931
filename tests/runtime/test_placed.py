"""Graphs on a device: placed once, found there by calls, and given back."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from graphs import graph

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.system.machine import this_machine


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the arrays that were copied to the emulated device."""
    names: list[str] = []
    upload = EmulatedDevice.upload

    def counted(self: EmulatedDevice, source: Any, name: str = "", stream: Any = None) -> Any:
        names.append(name)
        return upload(self, source, name, stream)

    monkeypatch.setattr(EmulatedDevice, "upload", counted)
    return names


@pytest.fixture
def taken() -> Iterator[Any]:
    """How much more memory of the emulated device is taken than before."""
    device: Any = open_device("emulated")
    gc.collect()
    before = device.allocated

    def more() -> int:
        gc.collect()
        return int(device.allocated - before)

    return more


def small(directed: bool = True) -> kl.Graph:
    return kl.generate.uniform(60, 300, seed=3, weights=(1, 9), directed=directed)


def test_a_new_graph_with_all_that_the_old_one_had() -> None:
    g = small()
    stats, csc = g.stats, g.csc
    placed = g.to("emulated")
    assert placed is not g
    assert (g.device, placed.device) == ("cpu", "emulated")
    assert g.placed is None
    assert placed.equals(g)
    assert placed.stats is stats
    assert placed.csc is csc
    assert "on emulated" in repr(placed)
    assert "on " not in repr(g)
    back = placed.to("cpu")
    assert (back.device, back.placed) == ("cpu", None)
    assert repr(back) == repr(g)
    assert placed.device == "emulated", "it stays where it is"


def test_labels_and_results_are_the_same() -> None:
    table = {"from": ["a", "b"], "to": ["b", "c"], "km": [2, 3]}
    g = kl.Graph.from_table(table, "from", "to", "km").to("emulated")
    result = kl.sssp(g, "a", device=g.device)
    assert result.path("c") == kl.sssp(g.to("cpu"), "a").path("c")
    assert result.graph.device == "emulated"
    result.verify()


def test_memory_is_given_back(taken: Any) -> None:
    g = small()
    placed = g.to("emulated")
    arcs = g.offsets.nbytes + g.neighbors.nbytes
    assert g.weights is not None
    assert taken() >= arcs + g.weights.nbytes
    kl.bfs(placed, 0, device="emulated")
    kept = taken()
    kl.bfs(placed, 1, device="emulated")
    assert taken() == kept, "a call leaves nothing but the graph"
    second = placed.to("emulated")
    assert taken() > kept, "copies of its own"
    del placed, second
    assert taken() == 0
    kl.bfs(g, 0, device="emulated")
    assert taken() == 0


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("problem", "options"),
    [
        ("bfs", {"source": 0}),
        ("bfs", {"sources": range(10)}),
        ("sssp", {"source": 0}),
        ("sssp", {"source": 0, "method": "bellman_ford"}),
        ("apsp", {"method": "batched"}),
    ],
    ids=["bfs", "several", "sssp", "bellman_ford", "apsp"],
)
def test_calls_find_the_graph_there(
    problem: str, options: dict[str, Any], directed: bool, uploads: list[str]
) -> None:
    graph_arrays = ("offsets", "neighbors", "lengths", "incoming", "hubs", "first", "owners")

    def of_the_graph() -> list[str]:
        return [name for name in uploads if name.startswith(graph_arrays)]

    g = small(directed)
    solve = getattr(kl, problem)
    right = solve(g, device="cpu", **options)
    placed = g.to("emulated")
    assert "neighbors" in uploads
    uploads.clear()
    assert (solve(placed, device="emulated", **options).distances == right.distances).all()
    assert not {"offsets", "neighbors"} & set(uploads)
    uploads.clear()
    assert (solve(placed, device="emulated", **options).distances == right.distances).all()
    assert of_the_graph() == [], "what the first call derived is there too"
    solve(g, device="emulated", **options)
    assert of_the_graph() != [], "another graph"


def test_pickles_leave_the_device_behind() -> None:
    placed = small().to("emulated")
    again = pickle.loads(pickle.dumps(placed))
    assert (again.device, again.placed) == ("cpu", None)
    assert again.equals(placed)


def test_auto_stays_on_the_cpu_for_the_emulator() -> None:
    placed = small().to("emulated")
    assert kl.sssp(placed, 0).plan.device == "cpu"
    assert kl.explain(placed, "apsp").device == "cpu"


def test_mistakes() -> None:
    with pytest.raises(kl.DeviceError, match="no device 'gpu'; did you mean 'cuda'"):
        small().to("gpu")
    if "cuda" not in this_machine().devices:
        with pytest.raises(kl.DeviceError, match="'cuda' is not available"):
            small().to("cuda")


def test_unweighted_and_empty_graphs() -> None:
    for g in (graph("grid"), kl.Graph.from_edges([], [], n=0), kl.Graph.from_edges([], [], n=3)):
        placed = g.to("emulated")
        assert placed.device == "emulated"
        assert kl.apsp(placed, device="emulated").distances.shape == (g.n, g.n)
        if g.n:
            assert np.array_equal(
                kl.bfs(placed, 0, device="emulated").distances, kl.bfs(g, 0).distances
            )
