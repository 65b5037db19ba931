"""Blocked all pairs and products on the emulator: block edges, schedules, layouts, orders."""

from __future__ import annotations

import time
from importlib import util
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda.classic.blocked import bank_conflict
from kleene.backends.cuda.classic.products import interleave
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.runtime.timing import timed_call
from kleene.registry import Method, methods

ROWS = [
    row
    for row in methods("apsp", "emulated")
    if row.entry.startswith(("kleene.backends.cuda.classic.", "kleene.backends.cuda.closure.naive"))
    and row.name != "batched"  # which takes no blocks
]
SIZED = [row for row in ROWS if "block" in row.options]
OVERLAPPED = [row for row in ROWS if row.name[8:9] in ("3", "4")]  # streams and graphs
CHECKED = util.find_spec("kleene._emulator_checked") is not None


def label(row: Method) -> str:
    return row.name


def random_graph(n: int, dtype: Any = np.int64, seed: int = 0, arcs: int = 4) -> kl.Graph:
    """Half of the weights are zero, so that there are cycles of no weight."""
    rng = np.random.default_rng(seed)
    s, t = rng.integers(0, max(n, 1), (2, arcs * n))
    weights = np.maximum(rng.integers(-5, 6, arcs * n), 0).astype(dtype)
    return kl.Graph.from_edges(s, t, weights, n=n)


def solve(row: Method, g: kl.Graph, block: int | None = None, **keywords: Any) -> kl.Result:
    options = {"block": block} if block and "block" in row.options else {}
    options |= keywords.pop("options", {})
    return kl.apsp(g, method=row.name, device="emulated", options=options, **keywords)


def assert_solves(row: Method, g: kl.Graph, block: int | None = None, **keywords: Any) -> None:
    wanted = kl.apsp(g, method="floyd_warshall", device="cpu").distances
    got = solve(row, g, block, **keywords)
    assert got.distances.tolist() == wanted.tolist()
    got.verify()


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_the_compute_time_is_measured_apart(
    row: Method, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever streams and graphs it uses, all of its work is between two marks of the device."""
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    device = open_device("emulated")
    launched: list[float] = []
    launch = device.native.launch

    def noted(*args: Any) -> None:
        launch(*args)
        launched.append(time.perf_counter())

    began = time.perf_counter()
    with monkeypatch.context() as patch, timed_call() as timer:
        native = SimpleNamespace(**(vars(device.native) | {"launch": noted}))
        patch.setattr(device, "native", native)
        stats = solve(row, random_graph(70)).stats
    (span,) = timer._spans["compute"]
    assert began <= span[0].time < launched[0]
    assert launched[-1] <= span[1].time
    assert 0 < stats.compute < stats.total


@pytest.mark.parametrize("row", SIZED, ids=label)
@pytest.mark.parametrize("block", [1, 5, 8, 33, 40])
def test_sizes_around_block_edges(row: Method, block: int) -> None:
    """Blocks that divide n or do not, above n, and above the 32 x 32 threads of a block."""
    for n in sorted({0, 1, block - 1, block, block + 1, 2 * block + 1, 3 * block}):
        assert_solves(row, random_graph(n, seed=n), block)


def test_squarings_around_tile_edges() -> None:
    (row,) = (row for row in ROWS if row.name == "min_plus")
    for n in (0, 1, 2, 3, 63, 64, 65, 129):
        assert_solves(row, random_graph(n, seed=n))


@pytest.mark.parametrize("row", ROWS, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_types(row: Method, dtype: Any) -> None:
    g = random_graph(29, dtype)
    for predecessors in (True, False):
        assert_solves(row, g, 8, predecessors=predecessors)


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_cycles_without_weight_make_no_circles(row: Method) -> None:
    rng = np.random.default_rng(3)
    s, t, w = rng.integers(0, 60, 200), rng.integers(0, 60, 200), rng.integers(0, 2, 200)
    assert_solves(row, kl.Graph.from_edges(s, t, w, n=60, directed=False), 8)


@pytest.mark.parametrize("row", ROWS, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_negative_weights_and_cycles_in_many_blocks(row: Method, dtype: Any) -> None:
    rng = np.random.default_rng(5)
    s, t = rng.integers(0, 40, (2, 160))
    height = rng.integers(0, 10**6, 40)  # lengths from heights: no cycle is negative
    weights = (rng.integers(0, 100, 160) + height[t] - height[s]).astype(dtype)
    g = kl.Graph.from_edges(s, t, weights, n=40)
    assert_solves(row, g, 6)
    # Around all vertices, against their order, and one less than nothing in the end.
    ring = np.arange(40)
    lengths = np.full(40, 3)
    lengths[7] = -3 * 39 - 1
    bad = kl.Graph.from_edges(ring, (ring - 1) % 40, lengths.astype(dtype))
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(row, bad, 6)
    assert sorted(caught.value.cycle) == ring.tolist()
    # Another vertex leads to the cycle; from the others on there is an answer.
    tail = kl.Graph.from_edges([0, 2, 3], [1, 3, 2], np.array([4, -3, 1], dtype=dtype), n=9)
    assert solve(row, tail, 2, sources=[0]).distances.tolist()[0][:2] == [0, 4]


@pytest.mark.parametrize("row", ROWS, ids=label)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_schedules(row: Method, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads, blocks and whatever streams and graphs leave open come in another order."""
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    for block in (4, 7) if row in OVERLAPPED else (7,):
        for seeds in range(3 if row in OVERLAPPED else 1):
            assert_solves(row, random_graph(38, seed=seeds), block)


@pytest.mark.skipif(not CHECKED, reason="built without the checked emulator")
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_checked(row: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read that was not written, or that another thread is writing."""
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    assert_solves(row, random_graph(29, np.float32), 6)
    assert_solves(row, random_graph(20, np.int64), 18)


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("across", [1, 2, 4, 8])
@pytest.mark.parametrize("down", [1, 2, 4, 8])
def test_elements_per_thread(across: int, down: int) -> None:
    (row,) = (row for row in ROWS if row.name == "blocked_multi")
    elements = {"across": across, "down": down}
    for n, block in ((50, 17), (90, 80)):
        assert_solves(row, random_graph(n, np.float32), block, options=elements)


def test_options_are_checked() -> None:
    g = random_graph(10)
    for method, options, words in (
        ("blocked_2_0", {"side": 4}, "has no option 'side'; it takes 'block'"),
        ("naive", {"block": 4}, "it has none"),
        ("blocked_2_0", {"block": 0}, "positive integer"),
        ("blocked_2_0", {"block": 2.5}, "positive integer"),
        ("blocked_2_0", 4, "must be a mapping"),
        ("blocked_multi", {"across": 3}, "1, 2, 4 or 8"),
    ):
        with pytest.raises(kl.RequestError, match=words):
            kl.apsp(g, method=method, device="emulated", options=options)
    plan = kl.explain(g, "apsp", method="blocked", device="cpu", options={"block": 3})
    assert "with block = 3" in str(plan)
    assert kl.apsp(g, method="blocked", device="cpu", options={"block": 3}).verify()


def test_blocks_that_shared_memory_does_not_hold() -> None:
    g = random_graph(120, np.float32)
    for method in ("blocked_2_1", "blocked_multi", "blocked_4_2"):
        with pytest.raises(kl.RequestError, match="up to 112 here"):
            kl.apsp(g, method=method, device="emulated", options={"block": 113})
    with pytest.raises(kl.RequestError, match="up to 159"):
        kl.apsp(random_graph(170, np.float32), method="rkleene", device="emulated",
                options={"block": 165})  # fmt: skip
    row = next(row for row in ROWS if row.name == "blocked_1_2")
    assert_solves(row, g, 113)  # global memory holds any


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_device_memory_is_checked_first(row: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "20K")
    with pytest.raises(kl.MemoryBudgetError, match=f"apsp by {row.name} on 100 vertices"):
        solve(row, random_graph(100))


# ---- banks and orders ---------------------------------------------------------------------------


@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("side", range(1, 100))
def test_the_rule_for_bank_conflicts(side: int, itemsize: int) -> None:
    """The rule says what counting says, and what is done about conflicts leaves none."""
    banks = 128 // itemsize

    def conflict(stride: int) -> bool:
        lanes = min(side, banks)  # so many rows of a column at once
        return len({row * stride % banks for row in range(lanes)}) < lanes

    assert bank_conflict(side, itemsize) == conflict(side)
    if bank_conflict(side, itemsize):
        assert not conflict(side + 1)  # padded
        assert not conflict(1)  # transposed


places = st.integers(0, 2**16)


@given(places, places)
def test_tile_numbers_interleave_bits(i: int, j: int) -> None:
    bits = zip(f"{i:032b}", f"{j:032b}", strict=True)
    assert interleave(i, j) == int("".join(a + b for a, b in bits), 2)


@given(st.integers(0, 5), places, places)
def test_quadrants_are_contiguous(level: int, i: int, j: int) -> None:
    size = 2**level
    first = interleave(i * size, j * size)
    inside = {interleave(i * size + a, j * size + b) for a in range(size) for b in range(size)}
    assert inside == set(range(first, first + size**2))


@given(st.integers(1, 5), st.integers(0, 3), st.integers(0, 7))
def test_quadtree_order_of_the_kernel(side: int, level: int, missing: int) -> None:
    """Cell (i, j) is in the tile that its number says, there and back."""
    size = side * 2**level
    n = max(1, size - missing)
    device = EmulatedDevice()
    move = device.kernels("apsp_products", KL_TYPE="int", KL_PATHS=0)["apsp_products_convert"]
    matrix = np.arange(n * n, dtype=np.int32).reshape(n, n)
    d, tree = device.upload(matrix), device.empty(size * size, np.int32)
    back = device.empty((n, n), np.int32)
    grid = (-(-size // 8),) * 2
    move.launch(grid, (8, 8), (d, None, n, tree, None, side, size, 0))
    move.launch(grid, (8, 8), (back, None, n, tree, None, side, size, 1))
    assert (device.download(back) == matrix).all()
    got = device.download(tree)
    none = np.iinfo(np.int32).max
    for i in range(size):
        for j in range(size):
            at = (interleave(i // side, j // side) * side + i % side) * side + j % side
            assert got[at] == (matrix[i, j] if i < n and j < n else none)
