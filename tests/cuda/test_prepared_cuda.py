"""Prepared graphs on a device: trees, predecessors, matrices, the method."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from graphs import graph, names
from prepared_samples import (  # noqa: F401
    DEVICE,
    KINDS,
    NONE,
    SEMIRINGS,
    all_trees,
    assert_equal,
    expected,
    in_emulator,
    needs_device,
    prepared,
    sample,
    schedule,
    small_pieces,
)

import kleene as kl
from kleene.backends.cuda.prepared import batches
from kleene.backends.cuda.prepared import customize as prepared_customize
from kleene.backends.cuda.prepared.layout import piece_layout, place_elimination
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.engine import prepared as engine_prepared
from kleene.errors import NegativeCycleError
from kleene.planning import plan
from kleene.prepared.customization import customize
from kleene.prepared.elimination import eliminate

pytestmark = needs_device


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TREE_SOURCES", 40)
    monkeypatch.setattr(tuning, "MATRIX_SOURCES", 50)


# ---- trees --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
@pytest.mark.usefixtures("small_pieces")
def test_trees_of_every_graph(name: str) -> None:
    g = graph(name)
    try:
        want = kl.apsp(g, device="cpu", predecessors=False).distances
    except NegativeCycleError:
        with pytest.raises(NegativeCycleError):
            prepared_customize.customize(eliminate(g), g, dtype="float64", device=DEVICE)
        return
    for seed in (None, 1):
        elimination, customization = prepared(g, dtype=want.dtype, seed=seed)
        assert_equal(all_trees(elimination, customization), want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("schedule", "small_pieces", "small_batches")
def test_types(kind: str) -> None:
    g = sample(90, kind)
    elimination, customization = prepared(g, seed=2)
    assert_equal(all_trees(elimination, customization), expected(g, "min_plus", kind))


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_pieces")
def test_semirings(semiring: str, kind: str) -> None:
    if semiring == "max_times" and kind.startswith("i"):
        pytest.skip("probabilities are floats")
    g = sample(150, kind)
    elimination, customization = prepared(g, semiring)
    assert_equal(all_trees(elimination, customization), expected(g, semiring, kind))


def test_lengths_of_another_type_than_the_answers() -> None:
    g = sample(150, "int32")
    narrow = prepared(g, dtype="int64")
    assert narrow[1].up.dtype == np.int32
    values = all_trees(*narrow)
    assert values.dtype == np.int64
    np.testing.assert_array_equal(values, expected(g, "min_plus", "int64"))
    heavy = kl.Graph.from_edges([0, 1], [1, 2], [2**30, 5], n=4)
    wide = prepared(heavy, dtype="int32")
    assert wide[1].up.dtype == np.int64
    none = np.iinfo(np.int32).max
    assert all_trees(*wide)[0].tolist() == [0, 2**30, 2**30 + 5, none]


def test_negative_lengths_beside_no_path() -> None:
    """A sum of "no path" and a negative length is no path."""
    g = kl.Graph.from_edges([0, 1, 3], [1, 2, 2], [-5, -7, -1000], n=5)
    elimination, customization = prepared(g, dtype="int64")
    np.testing.assert_array_equal(
        all_trees(elimination, customization), kl.apsp(g, device="cpu", dtype="int64").distances
    )


@pytest.mark.usefixtures("small_pieces")
def test_several_groups_and_repeated_sources() -> None:
    g = sample(200)
    elimination, customization = prepared(g)
    sources = np.r_[np.arange(200), 7, 7, np.arange(150)]
    want = expected(g, "min_plus", "int32")[sources]
    np.testing.assert_array_equal(all_trees(elimination, customization, sources=sources), want)


def test_reversed_arcs() -> None:
    g = sample(120)
    elimination, customization = prepared(g)
    backward = all_trees(elimination, customization, reverse=True)
    np.testing.assert_array_equal(backward, all_trees(elimination, customization).T)


@pytest.mark.usefixtures("schedule", "small_pieces")
@pytest.mark.parametrize("order", [np.arange(70), np.r_[1:70, 0]])
def test_chains(order: Any) -> None:
    """Trees as deep as the graph is large: levels of one vertex, shared by all warps."""
    g = kl.Graph.from_edges(np.arange(69), np.arange(1, 70), np.arange(1, 70), directed=False)
    elimination = eliminate(g, order)
    customization = customize(elimination, g, dtype="int32")
    got = all_trees(elimination, customization, sources=np.array([0, 33, 69]))
    want = kl.sssp(g, sources=[0, 33, 69], device="cpu", dtype="int32").distances
    np.testing.assert_array_equal(got, want)


# ---- predecessors -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["int32", "int64", "float64"])
@pytest.mark.usefixtures("schedule", "small_pieces", "small_batches")
def test_predecessors(kind: str) -> None:
    g = sample(80, kind)
    result = kl.sssp(g, sources=range(80), method="prepared", device=DEVICE)
    assert result.verify()
    np.testing.assert_allclose(result.distances, kl.apsp(g, device="cpu").distances, rtol=1e-12)


@pytest.mark.parametrize("keep", ["host", "device"])
def test_predecessors_where_arcs_cost_nothing(keep: str) -> None:
    """Two vertices with arcs of length zero between them are not each other's predecessors."""
    g = sample(100)
    free = g.reweight(arcs=np.where(np.arange(g.m) % 3 == 0, g.weights, 0))
    options: dict[str, Any] = {"method": "prepared", "device": DEVICE, "keep": keep}
    assert kl.sssp(free, sources=range(100), **options).verify()
    assert kl.closure(g, "max_min", **options).verify()
    assert kl.closure(g, "boolean", **options).verify()


def test_predecessors_against_the_arcs() -> None:
    g = sample(90)
    elimination, customization = prepared(g)
    values = np.empty((90, 90), customization.dtype)
    found = np.empty((90, 90), np.int32)
    batches.trees(
        elimination, customization, np.arange(90), values, found, reverse=True, device=DEVICE
    )
    want = expected(g, "min_plus", "int32").T
    np.testing.assert_array_equal(values, want)
    arcs = {(u, v): w for u, v, w in zip(*map(np.ndarray.tolist, g.coo), strict=True)}
    for source, vertex in zip(*np.nonzero(found >= 0), strict=True):
        after = int(found[source, vertex])
        assert want[source, vertex] == arcs[int(vertex), after] + want[source, after]
    np.testing.assert_array_equal(found < 0, (want == NONE) | np.eye(90, dtype=bool))


# ---- matrices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 5, 64, 200])
@pytest.mark.usefixtures("schedule", "small_pieces", "small_batches")
def test_matrix(count: int) -> None:
    g = sample(130)
    elimination, customization = prepared(g)
    rng = np.random.default_rng(count)
    sources, targets = rng.integers(0, 130, (2, count))  # some twice
    values = np.empty((count, count), customization.dtype)
    batches.matrix(elimination, customization, sources, targets, values, device=DEVICE)
    want = expected(g, "min_plus", "int32")
    np.testing.assert_array_equal(values, want[np.ix_(sources, targets)])


def test_matrix_visits_ancestors_only() -> None:
    elimination = eliminate(sample(400))
    device = open_device(DEVICE)
    placed = place_elimination(elimination, device)
    kernels = device.kernels("prepared_trees", KL_SEMIRING="KL_MIN_PLUS", KL_TYPE="int")
    targets = np.array([5, 250], np.int32)
    chosen = batches.select_ancestors(placed, kernels, device.upload(targets))
    wanted = set()
    for v in elimination.ranks[targets].tolist():
        while v >= 0:
            wanted.add(v)
            v = int(elimination.parents[v])
    counts, vertices = device.download(chosen.counts), device.download(chosen.vertices)
    layout = piece_layout(elimination)
    found = [
        vertices["rank"][first : first + count]
        for first, count in zip(layout.levels, counts, strict=False)
    ]
    assert sorted(np.concatenate(found).tolist()) == sorted(wanted)


@pytest.mark.usefixtures("small_batches")
def test_answers_that_stay() -> None:
    g = sample(100)
    elimination, customization = prepared(g)
    sources, targets = np.arange(100), np.array([4, 99, 4])
    want = expected(g, "min_plus", "int32")
    kept = batches.trees_on_device(
        elimination, customization, sources, predecessors=True, device=DEVICE
    )
    np.testing.assert_array_equal(kept.device.download(kept.values), want)
    found = kept.device.download(kept.predecessors)
    np.testing.assert_array_equal(found < 0, (want == NONE) | np.eye(100, dtype=bool))
    kept = batches.matrix_on_device(elimination, customization, sources, targets, device=DEVICE)
    np.testing.assert_array_equal(kept.device.download(kept.values), want[:, targets])


# ---- the method ---------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", ["sssp", "apsp"])
def test_answers_are_proven(problem: str) -> None:
    g = sample(90)
    solve = kl.apsp if problem == "apsp" else kl.sssp
    options: dict[str, Any] = {"sources": range(90)} if problem == "sssp" else {}
    for keep in ("host", "device"):
        result = solve(g, method="prepared", device=DEVICE, keep=keep, **options)
        assert result.verify()
    limited = solve(g, method="prepared", device=DEVICE, limit=60, **options)
    np.testing.assert_array_equal(
        limited.distances, solve(g, device="cpu", limit=60, **options).distances
    )


def test_a_prepared_graph_answers_on_a_device() -> None:
    g = sample(90)
    p = kl.prepare(g)
    want = kl.apsp(g, device="cpu").distances
    found = p.matrix([3, 5, 80], [7, 0], device=DEVICE)
    assert found.plan.device == DEVICE
    np.testing.assert_array_equal(found.distances, want[np.ix_([3, 5, 80], [7, 0])])
    trees = kl.sssp(p, sources=[3, 5], device=DEVICE)
    assert (trees.plan.method, trees.plan.device) == ("prepared", DEVICE)
    np.testing.assert_array_equal(trees.distances, want[[3, 5]])
    assert trees.verify()
    with pytest.raises(kl.RequestError, match="no device 'abacus'"):
        p.matrix([3], [4], device="abacus")


def test_pairs_run_where_their_plan_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """They climb on the CPU; on a device that was asked for, the rows of their ends are swept."""
    g = sample(90)
    p, asked = kl.prepare(g), [(3, 7), (80, 0), (5, 5), (3, 0)]
    here = kl.sssp(p, pairs=asked)
    assert here.plan.device == "cpu"
    called: dict[str, Any] = {"prepared": (p, {}), "method": (g, {"method": "prepared"})}
    with monkeypatch.context() as climbs:
        climbs.setattr(engine_prepared, "answer_by_climbs", lambda *_: pytest.fail("it climbs"))
        for about, options in called.values():
            there = kl.sssp(about, pairs=asked, device=DEVICE, **options)
            assert (there.plan.method, there.plan.device) == ("prepared", DEVICE)
            np.testing.assert_array_equal(there.distances, here.distances)
            assert there.verify()
    # Where a device would pay for the rows, pairs need none.
    monkeypatch.setattr(plan, "choose_device", lambda *_: (DEVICE, f"device {DEVICE}: it pays"))
    assert kl.explain(g, "sssp", sources=[3, 5], method="prepared").device == DEVICE
    chosen = kl.sssp(g, pairs=asked, method="prepared")
    assert chosen.plan.device == "cpu"
    assert "device cpu: pairs of a prepared graph climb there" in str(chosen.plan)
    np.testing.assert_array_equal(chosen.distances, here.distances)


def test_answers_of_a_prepared_graph_stay_on_the_device() -> None:
    g = sample(90)
    p = kl.prepare(g)
    want = kl.apsp(g, device="cpu").distances
    matrix = p.matrix([3, 5, 80], [7, 0], device=DEVICE, keep="device")
    arrays = matrix.device_arrays
    assert (arrays.distances.shape, arrays.predecessors) == ((3, 2), None)
    np.testing.assert_array_equal(arrays.distances.to_numpy(), want[np.ix_([3, 5, 80], [7, 0])])
    assert matrix.path(80, 7)[-1] == 7
    assert matrix.verify()
    again = pickle.loads(pickle.dumps(matrix))
    np.testing.assert_array_equal(again.distances, matrix.distances)
    trees = p.trees([3, 5], reverse=True, device=DEVICE, keep="device")
    np.testing.assert_array_equal(trees.device_arrays.distances.to_numpy(), want.T[[3, 5]])
    assert trees.device_arrays.predecessors.shape == (2, 90)
    assert trees.verify()
    with pytest.raises(kl.RequestError, match="leave out one of them"):
        p.matrix([3], [4], device=DEVICE, keep="device", out=np.empty((1, 1), np.int32))
    with pytest.raises(kl.RequestError, match="use device='cuda', or leave out keep"):
        p.trees([3], device="cpu", keep="device")
