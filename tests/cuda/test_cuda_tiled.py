"""The tiled closure on a device: overlapping rounds, predecessors, closing in place."""

from __future__ import annotations

from importlib import util
from typing import Any

import numpy as np
import pytest
from emulators import needs_checked

import kleene as kl
from kleene.backends.cuda.closure import tiled
from kleene.backends.cuda.closure.kernels import TileSet
from kleene.backends.cuda.closure.tiled import is_nonnegative
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.tuning import closure as tuning

#: Words of one column and of several, of 4 and 8 bytes; see kernels/closure/closure_semiring.cuh.
KINDS = [
    ("min_plus", "float32"),
    ("min_plus", "float64"),
    ("min_plus", "int64"),
    ("min_plus", "int32"),  # short inside
    ("max_min", "float64"),
    ("boolean", "int32"),
]


def sample(n: int, dtype: str) -> kl.Graph:
    """A ring in a shuffled order, with few chords: paths go through every block of vertices."""
    rng = np.random.default_rng(n)
    order = rng.permutation(n)
    chords = rng.integers(0, n, (2, n))
    source = np.concatenate([order, chords[0]])
    target = np.concatenate([np.roll(order, -1), chords[1]])
    return kl.Graph.from_edges(source, target, rng.integers(1, 9, 2 * n).astype(dtype), n=n)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("semiring", "dtype"), KINDS)
def test_rounds_overlap_in_any_order(
    semiring: str, dtype: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    g = sample(520, dtype)
    got = kl.closure(g, semiring, method="tiled", device="emulated")
    wanted = kl.closure(g, semiring, method="floyd_warshall", device="cpu")
    assert np.array_equal(got.values, wanted.values)


@pytest.mark.parametrize(
    ("semiring", "dtype", "blocks"),
    [(*kind, 2) for kind in KINDS] + [("min_plus", "float32", 4), ("min_plus", "int32", 8)],
)
def test_rounds_of_several_blocks(
    semiring: str, dtype: str, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five blocks: a shorter last round, and a single one."""
    monkeypatch.setattr(tuning, "ROUND_BLOCKS", ((0, blocks),))
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(blocks))
    g = sample(520, dtype)
    got = kl.closure(g, semiring, method="tiled", device="emulated", predecessors=False)
    wanted = kl.closure(g, semiring, method="floyd_warshall", device="cpu")
    assert np.array_equal(got.values, wanted.values)


@needs_checked
def test_under_the_checked_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread reads what another may be writing, in rounds of two blocks too."""
    monkeypatch.setattr(tuning, "ROUND_BLOCKS", ((0, 2),))
    device = EmulatedDevice(5, "_emulator_checked")
    monkeypatch.setattr(tiled, "open_device", lambda kind: device)
    g = sample(260, "int32")
    r = kl.closure(g, "max_min", method="tiled", device="emulated", predecessors=True)
    r.verify()


def test_every_tile_belongs_to_one_part() -> None:
    """The tiles of a round, of what the next one starts with, and of the rest."""

    def tiles(chosen: TileSet, rows: int) -> list[tuple[int, int]]:
        """As find_tile in the kernels."""
        found = []
        for index in range(chosen.count(rows)):
            whole = chosen.whole_rows * chosen.columns
            if index < whole:
                row, column = divmod(index, chosen.columns)
                found.append((chosen.whole_row + row, column))
                continue
            row, column = divmod(index - whole, chosen.width)
            row += chosen.row_gap_size * (row >= chosen.row_gap)
            column += chosen.column_gap_size * (column >= chosen.column_gap)
            found.append((row, chosen.first_column + column))
        return found

    rows, columns, own, ahead, strip = 9, 7, range(2, 4), range(4, 5), range(3, 5)
    first = tiles(TileSet.ahead(columns, own, ahead, strip), rows)
    rest = tiles(TileSet.rest(columns, own, ahead, strip), rows)
    everything = tiles(TileSet.without(columns, own), rows)
    assert sorted(first + rest) == sorted(everything)
    assert {row for row, _ in everything} == set(range(rows)) - set(own)
    assert all((4, column) in first for column in range(columns))
    assert all((row, column) in first for row in (0, 8) for column in strip)


@pytest.mark.parametrize("stripe", [1, 3000, 2**20])
@pytest.mark.parametrize(("semiring", "dtype"), [("min_plus", "float32"), ("boolean", "int32")])
def test_copies_in_stripes(
    semiring: str, dtype: str, stripe: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row at a time, several rows with a shorter last stripe, all rows at once."""
    monkeypatch.setattr(tuning, "STAGED_LEAST", 0)
    monkeypatch.setattr(tuning, "STRIPE_BYTES", stripe)
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(stripe % 7))
    g = sample(130, dtype)
    r = kl.closure(g, semiring, method="tiled", device="emulated", predecessors=True)
    r.verify()
    wanted = kl.closure(g, semiring, method="floyd_warshall", device="cpu")
    assert np.array_equal(r.values, wanted.values)
    assert r.stats.copy_in is not None
    assert r.stats.copy_out is not None


# ---- predecessors -------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [(1, 9), (1, 1), (0, 2)])
def test_predecessors_are_recovered_or_computed_along(weights: tuple[int, int]) -> None:
    """Few tight arcs, all arcs tight, and weights of zero."""
    rng = np.random.default_rng(1)
    dense = rng.integers(weights[0], weights[1], (150, 150), endpoint=True).astype(np.float32)
    g = kl.Graph.from_dense(dense, null_value=np.inf)
    kl.apsp(g, method="tiled", device="emulated").verify()
    half = kl.Graph.from_dense(np.where(rng.random((150, 150)) < 0.5, dense, np.inf))
    kl.apsp(half, method="tiled", device="emulated").verify()


def shifted(n: int, dtype: str, cycles: int = 1, seed: int = 1) -> kl.Graph:
    """A dense graph with negative arcs, whose cycles are at least so long."""
    rng = np.random.default_rng(seed)
    heights = rng.integers(-400, 400, n)
    lengths = rng.integers(cycles, 100, (n, n)) + heights[:, None] - heights
    np.fill_diagonal(lengths, 0)
    scale = 1 if dtype.startswith("int") else 1 / 7
    return kl.Graph.from_dense((lengths * scale).astype(dtype), null_value=np.inf)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_negative_weights_are_recovered(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By heights, without carrying predecessors along."""
    layouts, made = [], tiled.TiledClosure
    monkeypatch.setattr(
        tiled,
        "TiledClosure",
        lambda d, layout: (layouts.append(layout), made(d, layout))[1],
    )
    g = shifted(200, dtype)
    r = kl.apsp(g, method="tiled", device="emulated")
    r.verify()
    assert [layout.paths for layout in layouts] == [False]
    assert np.allclose(r.distances, kl.apsp(g, device="cpu").distances, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("kind", ["zero cycles", "unreachable"])
def test_negative_weights_are_carried_along(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cycles have length zero, or some vertex reaches no other."""
    found = []
    recover = tiled.recover
    monkeypatch.setattr(
        tiled, "recover", lambda *args: (found.append(recover(*args)), found[-1])[1]
    )
    if kind == "zero cycles":
        g = shifted(150, "int32", cycles=0)
    else:
        dense = shifted(150, "int32").dense.astype(np.float64)
        dense[7, :] = np.inf
        g = kl.Graph.from_dense(dense)
    kl.apsp(g, method="tiled", device="emulated").verify()
    assert found == [None]


@pytest.mark.parametrize(
    ("semiring", "dtype", "blocks"),
    [
        ("min_plus", "float32", 2), ("min_plus", "float64", 1), ("min_plus", "int32", 2),
        ("min_plus", "int64", 1), ("max_min", "float32", 1), ("max_min", "int64", 2),
        ("max_times", "float32", 1), ("max_times", "float64", 2), ("boolean", "int32", 4),
    ],
)  # fmt: skip
def test_predecessors_carried_along(
    semiring: str, dtype: str, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number format, through pairs of vertices that are noted while words improve."""
    monkeypatch.setattr(tuning, "ROUND_BLOCKS", ((0, blocks),))
    monkeypatch.setattr(tuning, "RECOVERY_SHARE", -1)
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(blocks))
    g = shifted(270, dtype, cycles=0) if semiring == "min_plus" else sample(270, dtype)
    if semiring == "max_times":
        g = g.reweight(arcs=np.exp2(-(g.weights % 4)).astype(dtype))
    kl.closure(g, semiring, method="tiled", device="emulated").verify()


# ---- in place: which arithmetic -----------------------------------------------------------------

NEGATIVE = {"positive": (3.0, True), "zero": (0.0, True), "infinite": (np.inf, True),
            "negative": (-1.0, False), "tiny": (-1e-45, False), "-0.0": (-0.0, False),
            "NaN": (np.nan, False), "-NaN": (-np.nan, False)}  # fmt: skip


@pytest.mark.parametrize("entry", NEGATIVE)
@pytest.mark.parametrize("module", ["_emulator", "_emulator_checked"])
def test_negative_entries_are_found(entry: str, module: str) -> None:
    """One entry decides, wherever it is; what lies outside a part of an array does not."""
    if util.find_spec(f"kleene.{module}") is None:
        pytest.skip("built without the checked emulator")
    device = EmulatedDevice(3, module)
    value, nonnegative = NEGATIVE[entry]
    for i, j in ((0, 0), (299, 299), (40, 131)):
        whole = np.full((310, 320), -7, np.float32)
        whole[5:305, 7:307] = 2
        whole[5 + i, 7 + j] = value
        part = device.upload(whole)[5:305, 7:307]
        assert is_nonnegative(device, part) == nonnegative
    assert not is_nonnegative(device, device.upload(np.ones((3, 3)))), "float64 has one arithmetic"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("entry", [entry for entry in NEGATIVE if "NaN" not in entry])
def test_closing_in_place(entry: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both arithmetics give the same distances, and the diagonal is +0.0."""
    rng = np.random.default_rng(1)
    n, (value, nonnegative) = 140, NEGATIVE[entry]
    lengths = rng.integers(0, 30, (n, n)).astype(dtype)
    lengths[rng.random((n, n)) < 0.9] = np.inf
    lengths[7, :] = np.inf  # so that 3 to 7 is on no cycle
    lengths[3, 7] = value
    wanted = lengths.astype(np.float64)
    np.fill_diagonal(wanted, 0)
    for k in range(n):
        np.minimum(wanted, wanted[:, k, None] + wanted[k], out=wanted)
    layouts = []
    made = tiled.TiledClosure
    monkeypatch.setattr(
        tiled,
        "TiledClosure",
        lambda d, layout: (layouts.append(layout), made(d, layout))[1],
    )
    device = EmulatedDevice()
    there = device.upload(lengths)
    assert tiled.close_in_place(device, there, lambda done, total: None)
    found = device.download(there)
    np.testing.assert_array_equal(found, wanted.astype(dtype))
    assert not np.signbit(np.diagonal(found)).any()
    fast = dtype == "float32" and nonnegative
    assert (layouts[0].algebra == "KL_MIN_PLUS_LENGTH") == fast


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 28, 70])
def test_predecessors_where_rounding_swallows_arcs(dtype: Any, n: int) -> None:
    """The vertex before is then as far away as the vertex itself."""
    rng = np.random.default_rng(n)
    for _ in range(6):
        s, t = rng.integers(0, n, (2, 3 * n))
        weights = (rng.random(3 * n) + 0.1) * 10.0 ** rng.integers(-12, 13, 3 * n)
        g = kl.Graph.from_edges(s, t, weights.astype(dtype), n=n)
        kl.apsp(g, method="tiled", device="emulated").verify()
    ends: Any = ([0, 0, 1, 2], [1, 2, 3, 3])
    g = kl.Graph.from_edges(*ends, np.array([1e8, 1, 1e-9, 1e12], dtype), n=n + 1)
    r = kl.apsp(g, method="tiled", device="emulated")
    assert r.path(0, 3) == [0, 1, 3]
