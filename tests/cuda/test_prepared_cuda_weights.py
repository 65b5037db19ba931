"""Prepared graphs on a device: pieces of the tree, new weights, memory."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
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
from kleene.backends.cuda.prepared.layout import Layout, piece_layout, place_elimination
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.errors import GraphError, MemoryBudgetError, NegativeCycleError
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination, eliminate
from kleene.system.machine import this_machine

pytestmark = needs_device


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The semirings whose kernels computed values of pairs."""
    semirings: list[str] = []
    launch = prepared_customize.Work.launch

    def spy(work: prepared_customize.Work, pending: Any) -> None:
        semirings.append(work.semiring)
        launch(work, pending)

    monkeypatch.setattr(prepared_customize.Work, "launch", spy)
    return semirings


# ---- pieces -------------------------------------------------------------------------------------


def shapes() -> list[Any]:
    """Graphs and orders whose trees are deep, flat, bushy, or many."""
    path = kl.Graph.from_edges(np.arange(99), np.arange(1, 100), n=100, directed=False)
    star = kl.Graph.from_edges(np.zeros(99, int), np.arange(1, 100), n=100, directed=False)
    apart = kl.Graph.from_edges([0, 2, 5], [1, 3, 6], n=40)
    return [
        pytest.param(path, np.arange(100), id="chain"),
        pytest.param(path, None, id="path"),
        pytest.param(star, np.r_[1:100, 0], id="star"),
        pytest.param(star, np.arange(100), id="clique"),
        pytest.param(apart, None, id="forest"),
        pytest.param(sample(300), None, id="grid"),
        pytest.param(kl.Graph.from_edges([], [], n=0), None, id="nothing"),
    ]


@pytest.mark.parametrize(("g", "order"), shapes())
@pytest.mark.parametrize(("most", "ratio"), [(1, 2), (6, 2), (6, 100), (50, 4), (512, 4)])
def test_pieces_come_after_all_they_need(
    monkeypatch: pytest.MonkeyPatch, g: kl.Graph, order: Any, most: int, ratio: int
) -> None:
    monkeypatch.setattr(tuning, "PIECE_VERTICES", most)
    monkeypatch.setattr(tuning, "PIECE_RATIO", ratio)
    elimination = eliminate(g, order)
    layout = piece_layout(elimination)
    ranks = layout.vertices["rank"]
    assert sorted(ranks.tolist()) == list(range(g.n))
    assert (layout.piece_parents < np.arange(layout.pieces)).all()
    piece, level = places(layout)
    for v in range(g.n):
        row = slice(elimination.offsets[v], elimination.offsets[v + 1])
        ancestors = above(layout, piece[v])
        for u in elimination.heads[row]:
            assert piece[u] in ancestors or (piece[u] == piece[v] and level[u] < level[v])
    np.testing.assert_array_equal(layout.vertices["first"], elimination.offsets[ranks])
    np.testing.assert_array_equal(layout.vertices["pairs"], np.diff(elimination.offsets)[ranks])
    counted = np.bincount(layout.piece_parents[layout.piece_parents >= 0], minlength=layout.pieces)
    np.testing.assert_array_equal(layout.piece_children, counted)


def places(layout: Layout) -> tuple[Any, Any]:
    """Return the piece and the level of every rank."""
    piece, level = np.empty((2, len(layout.vertices)), int)
    for p in range(layout.pieces):
        for k in range(layout.piece_levels[p], layout.piece_levels[p + 1]):
            inside = layout.vertices["rank"][layout.levels[k] : layout.levels[k + 1]]
            assert len(inside) == layout.counts[k] > 0
            piece[inside], level[inside] = p, k
    return piece, level


def above(layout: Layout, piece: int) -> set[int]:
    found = set()
    while (piece := int(layout.piece_parents[piece])) >= 0:
        found.add(piece)
    return found


def test_subtrees_are_cut_where_it_pays() -> None:
    """A grid of 20,000: some pieces of the size asked for, and none much larger."""
    elimination = eliminate(sample(20_000))
    piece, _ = places(piece_layout(elimination))
    sizes = np.bincount(piece)
    assert sizes.max() <= 3 * tuning.PIECE_VERTICES
    assert len(sizes) <= 4 * elimination.n / tuning.PIECE_VERTICES


# ---- new weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.usefixtures("small_pieces")
def test_customized_as_on_the_host(semiring: str, kind: str, directed: bool) -> None:
    if semiring == "max_times" and kind.startswith("i"):
        pytest.skip("probabilities are floats")
    g = sample(200, kind, directed=directed)
    elimination, want = prepared(g, semiring)
    assert_customized(elimination, g, want)


@pytest.mark.usefixtures("schedule", "small_pieces")
def test_customized_in_any_order() -> None:
    for directed in (True, False):
        g = sample(70, directed=directed)
        elimination, want = prepared(g, seed=3)
        assert_customized(elimination, g, want)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_arcs(n: int) -> None:
    g = kl.Graph.from_edges([], [], np.empty(0, np.int32), n=n)
    elimination, want = prepared(g)
    assert_customized(elimination, g, want)
    assert all_trees(elimination, want).tolist() == np.where(np.eye(n), 0, NONE).tolist()


def assert_customized(elimination: Elimination, g: kl.Graph, want: Customization) -> None:
    got = prepared_customize.customize(
        elimination, g, want.semiring, dtype=want.dtype, device=DEVICE
    )
    assert (got.semiring, got.dtype, got.negative) == (want.semiring, want.dtype, want.negative)
    assert got.up.dtype == want.up.dtype
    np.testing.assert_array_equal(got.up, want.up)
    np.testing.assert_array_equal(got.down, want.down)


def test_customized_values_are_there() -> None:
    g = sample(100)
    elimination = eliminate(g)
    made = prepared_customize.customize(elimination, g, dtype="int32", device=DEVICE)
    there = place_elimination(elimination, open_device(DEVICE)).values(made)
    np.testing.assert_array_equal(open_device(DEVICE).download(there.down), made.down)
    assert_equal(all_trees(elimination, made), expected(g, "min_plus", "int32"))


@pytest.mark.parametrize("weight", [2**20, 2**27])
def test_lengths_proven_on_the_device(weight: int) -> None:
    """The bound on all simple paths is too long for 32 bits; the lengths are, or are not."""
    around = np.arange(90)
    g = kl.Graph.from_edges(around, (around + 1) % 90, np.full(90, weight), n=90)
    chords = kl.Graph.from_edges(
        np.r_[around, np.zeros(90, int), around],
        np.r_[(around + 1) % 90, around, np.zeros(90, int)],
        np.full(270, weight * 10), n=90,
    )  # fmt: skip
    for each in (g, chords):
        elimination, want = prepared(each, dtype="int64")
        got = prepared_customize.customize(elimination, each, dtype="int64", device=DEVICE)
        assert got.up.dtype == want.up.dtype
        np.testing.assert_array_equal(got.up, want.up)


def test_both_widths_occur() -> None:
    around = np.arange(90)
    kinds = set()
    for weight in (2**20, 2**27):
        g = kl.Graph.from_edges(around, (around + 1) % 90, np.full(90, weight), n=90)
        made = prepared_customize.customize(eliminate(g), g, dtype="int64", device=DEVICE)
        kinds.add(made.up.dtype.name)
    assert kinds == {"int32", "int64"}


def test_negative_cycles_are_reported() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [2, -3, 1, 1])
    with pytest.raises(NegativeCycleError) as caught:
        prepared_customize.customize(eliminate(g), g, dtype="int64", device=DEVICE)
    assert sorted(caught.value.cycle) == [1, 2, 3]
    loop = kl.Graph.from_edges([0, 1, 1], [1, 1, 2], [2, -1, 3])
    with pytest.raises(NegativeCycleError):
        prepared_customize.customize(eliminate(loop), loop, dtype="int64", device=DEVICE)


def test_rounding_is_no_negative_cycle() -> None:
    """0.1 + 0.2 - 0.3 is not zero in floats; the host decides, and the answer is its own."""
    for weights in ([0.1, 0.2, -0.30000000000000004], [0.3, -0.1, -0.2]):
        g = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], weights)
        elimination, want = prepared(g)
        assert_customized(elimination, g, want)


def test_arcs_of_another_graph_are_refused() -> None:
    g = sample(50)
    other = kl.Graph.from_edges([0, 49], [49, 0], [1, 1], n=50)
    with pytest.raises(GraphError, match="not in the prepared graph"):
        prepared_customize.customize(eliminate(g), other, dtype="int32", device=DEVICE)


# ---- calls --------------------------------------------------------------------------------------


def test_new_weights_are_computed_on_the_device(launched: list[str]) -> None:
    g = sample(90)
    p = kl.prepare(g)
    assert launched == []
    heavier = g.reweight(arcs=g.csr[2] * 3)
    found = p.customize(heavier, device=DEVICE)
    assert launched == ["min_plus"]
    np.testing.assert_array_equal(
        found.trees().distances, kl.apsp(heavier, device="cpu", predecessors=False).distances
    )
    with pytest.raises(kl.RequestError, match="no device 'abacus'"):
        p.customize(heavier, device="abacus")


@pytest.mark.parametrize("problem", ["sssp", "closure"])
def test_calls_customize_on_the_device(launched: list[str], problem: str) -> None:
    g = sample(90)
    if problem == "sssp":
        found = kl.sssp(g, sources=range(40), method="prepared", device=DEVICE)
    else:
        found = kl.closure(g, "max_min", method="prepared", device=DEVICE)
    assert launched == [found.plan.semiring]
    assert found.verify()


@pytest.mark.skipif("cuda" in this_machine().devices, reason="there is a GPU")
def test_new_weights_need_the_device() -> None:
    p = kl.prepare(sample(90))
    for weights in (None, p.graph.csr[2] * 5):
        with pytest.raises(kl.DeviceError):
            p.customize(arcs=weights, device="cuda")


# ---- memory -------------------------------------------------------------------------------------


@in_emulator
def test_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    uploaded: list[str] = []
    upload = EmulatedDevice.upload

    def counted(self: EmulatedDevice, source: Any, name: str = "", stream: Any = None) -> Any:
        uploaded.append(name)
        return upload(self, source, name, stream)

    monkeypatch.setattr(EmulatedDevice, "upload", counted)
    elimination, customization = prepared(sample(60))
    all_trees(elimination, customization)
    assert {"upward neighbors", "values, up"} < set(uploaded)
    uploaded.clear()
    all_trees(elimination, customization)
    assert uploaded == ["sources"]


@in_emulator
def test_freed_with_the_elimination() -> None:
    device: Any = open_device(DEVICE)
    gc.collect()
    before = device.allocated
    elimination, customization = prepared(sample(60))
    all_trees(elimination, customization)
    assert device.allocated > before
    del elimination, customization
    gc.collect()
    assert device.allocated == before


@in_emulator
def test_batches_fit_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    g = sample(300)
    elimination, customization = prepared(g)
    device: Any = open_device(DEVICE)
    place_elimination(elimination, device).values(customization)
    widths = []
    needed = batches.TreeWorkspace.needed

    def noted(placed: Any, kind: Any, width: int, paths: bool) -> int:
        widths.append(width)
        return needed(placed, kind, width, paths)

    monkeypatch.setattr(batches.TreeWorkspace, "needed", staticmethod(noted))
    free = 500_000
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", str(device.allocated + free))
    got = all_trees(elimination, customization)
    assert widths[-1] < 300
    np.testing.assert_array_equal(got, expected(g, "min_plus", "int32"))
    place_elimination(elimination, device).free_idle()
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", str(device.allocated + 50_000))
    with pytest.raises(MemoryBudgetError, match="batches of sweeps"):
        all_trees(elimination, customization, sources=np.arange(299))
