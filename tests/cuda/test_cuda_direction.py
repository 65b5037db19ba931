"""The fast breadth-first search on a GPU: every way a level can go, on graphs that are small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulators import needs_checked
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.tuning import bfs as tuning

#: Constants under which searches push, pull, sweep, change over and come back in small graphs.
SHAPES: dict[str, dict[str, int]] = {
    "as it is": {},
    "many blocks": {"WORK_PER_BLOCK": 256},
    "lists that are cut": {"WORK_PER_BLOCK": 256, "LONGEST_LIST": 3},
    "narrow alone": {
        "WORK_PER_BLOCK": 256,
        "MAX_NARROW_ARCS": 10**6,
        "NARROW_ARCS": 10**5,
        "DENSE": 100,
    },
    "narrow, cut": {
        "WORK_PER_BLOCK": 256,
        "LONGEST_LIST": 2,
        "MAX_NARROW_ARCS": 10**6,
        "DENSE": 100,
    },
    "back and forth": {
        "WORK_PER_BLOCK": 512,
        "MAX_NARROW_ARCS": 60,
        "NARROW_ARCS": 40,
        "DENSE": 0,
    },
    "several launches": {
        "WORK_PER_BLOCK": 256,
        "LEVELS": 5,
        "MAX_NARROW_ARCS": 200,
        "NARROW_ARCS": 100,
    },
    "never pulls": {"WORK_PER_BLOCK": 256, "PULL_COST": 2**30, "DENSE": 0},
    "always pulls": {"WORK_PER_BLOCK": 256, "PULL_COST": 0, "DENSE": 0},
    "pulls, cut": {
        "WORK_PER_BLOCK": 256,
        "PULL_COST": 0,
        "DENSE": 0,
        "LONGEST_LIST": 3,
    },
}


def rmat(directed: bool) -> kl.Graph:
    g = kl.generate.rmat(scale=10, edge_factor=8, seed=2)
    return g if directed else g.symmetrise()


def star() -> kl.Graph:
    """A hub with more arcs than an entry counts, and a tail."""
    s = np.append(np.zeros(70_000, int), np.arange(70_000, 70_010))
    return kl.Graph.from_edges(s, np.arange(1, 70_011), directed=False)


GRAPHS = {
    "grid": kl.generate.grid(24, 24),
    "rmat": rmat(directed=False),
    "directed": rmat(directed=True),
}


def search(g: kl.Graph, source: int, **options: Any) -> kl.Result:
    return kl.bfs(g, source, method="direction_optimizing", device="emulated", **options)


@pytest.fixture
def shape(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SHAPES[request.param].items():
        monkeypatch.setattr(tuning, name, value)


@pytest.mark.parametrize("shape", SHAPES, indirect=True)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_way(name: str, shape: None) -> None:
    g = GRAPHS[name]
    source = int(np.diff(g.offsets).argmax())
    wanted = kl.bfs(g, source, device="cpu").distances
    for incoming in (False, True) if g.directed else (True,):
        if incoming and g.directed:
            _ = g.csc  # from now on there are incoming arcs to pull by
        result = search(g, source)
        assert (result.distances == wanted).all()
        result.verify()
    near = int(g.neighbors[g.offsets[source]])
    some = search(g, source, targets=[near, source])
    assert some.distances.tolist() == [1, 0]
    some.verify()
    cut = search(g, source, limit=3, predecessors=False)
    assert (cut.distances == np.where(wanted <= 3, wanted, -1)).all()
    cut.verify()


def test_more_arcs_than_an_entry_counts() -> None:
    g = star()
    result = search(g, 70_010)
    result.verify()
    assert result.distances.max() == 12


@pytest.mark.parametrize("seed", [0, pytest.param(3, marks=needs_checked)])
def test_a_block_that_finds_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred entries by one block, then a thousand: all blocks share them."""
    monkeypatch.setattr(tuning, "WORK_PER_BLOCK", 256)
    if seed:
        device = EmulatedDevice(seed=seed, module="_emulator_checked")
        monkeypatch.setattr("kleene.backends.cuda.bfs.direction.open_device", lambda kind: device)
    heads = np.arange(1, 3101)
    tails = [np.zeros(100, int), 1 + np.arange(1000) // 10, 101 + np.arange(2000)]
    g = kl.Graph.from_edges(np.concatenate(tails), heads, directed=False)
    result = search(g, 0)
    result.verify()
    assert np.bincount(result.distances).tolist() == [1, 100, 1000, 1000, 1000]


def test_a_target_that_is_not_there() -> None:
    """All is found, and the answer says so."""
    g = kl.Graph.from_edges([0, 1, 3], [1, 2, 4], n=5)
    result = search(g, 0, targets=[2, 4])
    assert result.distances.tolist() == [2, -1]
    result.verify()


@needs_checked
@pytest.mark.parametrize(
    "shape", ["back and forth", "lists that are cut", "always pulls"], indirect=True
)
@pytest.mark.parametrize("seed", [3, 5])
@pytest.mark.parametrize("name", ["grid", "rmat"])
def test_other_orders(name: str, seed: int, shape: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and threads in other orders, every access looked at."""
    device = EmulatedDevice(seed=seed, module="_emulator_checked")
    monkeypatch.setattr("kleene.backends.cuda.bfs.direction.open_device", lambda kind: device)
    search(GRAPHS[name], 7).verify()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_graph(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    vertex = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=120))
    directed = data.draw(st.booleans())
    s, t = zip(*arcs, strict=True) if arcs else ((), ())
    g = kl.Graph.from_edges(s, t, n=n, directed=directed)
    source = data.draw(vertex)
    result = search(g, source)
    assert (result.distances == kl.bfs(g, source, device="reference").distances).all()
    result.verify()
