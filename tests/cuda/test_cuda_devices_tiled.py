"""The tiled closure over several devices: equal to one device, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import pytest
from device_bands import ALL, ONE, THREE, assert_equal_bits, sample
from emulators import needs_checked
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda.closure import engine, tiled
from kleene.backends.cuda.closure.bands import DeviceBand, split_bands
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.tuning import closure as tuning
from kleene.errors import NegativeCycleError

#: Every number format of the engine; see closure_layout.
KINDS = [
    ("min_plus", "float32"),  # lengths, and general with negative weights
    ("min_plus", "float64"),
    ("min_plus", "int32"),  # short inside, without predecessors
    ("min_plus", "int64"),
    ("max_min", "float32"),
    ("max_min", "float64"),
    ("max_min", "int64"),
    ("max_times", "float32"),
    ("max_times", "float64"),
    ("boolean", "int32"),
]


@pytest.fixture(autouse=True)
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "4")


# ---- bands --------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=7),
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
)
def test_the_longest_band_is_as_short_as_possible(rounds: list[int], rooms: list[int]) -> None:
    """Of all ways to end bands where rounds end."""
    rounds, rooms = [128 * blocks for blocks in rounds], [128 * room + 5 for room in rooms]
    ends = np.cumsum([0, *rounds]).tolist()
    best = None
    for cuts in combinations_with_replacement(ends, len(rooms) - 1):
        heights = [b - a for a, b in pairwise([0, *cuts, ends[-1]])]
        if all(height <= room for height, room in zip(heights, rooms, strict=True)):
            best = max(heights) if best is None else min(best, max(heights))
    bands = split_bands(rounds, rooms)
    if bands is None:
        assert best is None
        return
    assert [row for band in bands for row in band] == list(range(ends[-1]))
    assert all(band.stop in ends for band in bands)
    assert all(len(band) <= room for band, room in zip(bands, rooms, strict=True))
    assert max(map(len, bands)) == best


# ---- equal to one device ------------------------------------------------------------------------


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize(("semiring", "dtype"), KINDS)
def test_every_number_format(semiring: str, dtype: str, predecessors: bool) -> None:
    g = sample(300, dtype, semiring)  # three blocks
    options = {"method": "tiled", "predecessors": predecessors}
    got = kl.closure(g, semiring, **options, **THREE)
    assert_equal_bits(got, kl.closure(g, semiring, **options, **ONE))
    if predecessors:
        got.verify()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 127, 128, 129, 256, 385, 513])
def test_odd_sizes(n: int) -> None:
    """Fewer vertices than devices, fewer blocks than devices, a last block that is not full."""
    g = sample(n, "float32") if n else kl.Graph.from_edges([], [], n=0)
    for predecessors in (False, True):
        got = kl.apsp(g, method="tiled", predecessors=predecessors, **ALL)
        assert_equal_bits(got, kl.apsp(g, method="tiled", predecessors=predecessors, **ONE))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("blocks", [1, 2])
def test_rounds_overlap_in_any_order(
    seed: int, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams of all devices run in any order that events allow; carried predecessors too."""
    monkeypatch.setattr(tuning, "ROUND_BLOCKS", ((0, blocks),))
    monkeypatch.setattr(tuning, "RECOVERY_SHARE", -1)
    g = sample(450, "float32", negative=True)
    for predecessors in (False, True):
        options = {"method": "tiled", "predecessors": predecessors}
        wanted = kl.apsp(g, **options, **ONE)
        with monkeypatch.context() as patch:
            patch.setenv("KLEENE_EMULATOR_SEED", str(seed))
            assert_equal_bits(kl.apsp(g, **options, **ALL), wanted)


@pytest.fixture
def run_late(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that chooses a kind of stream, whose work runs when nothing else can."""

    def choose(kind: str, bands: slice) -> None:
        late: list[Any] = []
        make_bands = engine.make_bands

        def noted(*args: Any) -> list[DeviceBand]:
            made = make_bands(*args)
            late.extend(getattr(band, kind) for band in made[bands])
            return made

        def pick(self: EmulatedDevice, streams: list[Any]) -> Any:
            return next((stream for stream in streams if stream not in late), streams[0])

        monkeypatch.setattr(engine, "make_bands", noted)
        monkeypatch.setattr(EmulatedDevice, "pick", pick)
        monkeypatch.setenv("KLEENE_EMULATOR_SEED", "1")

    return choose


@pytest.mark.parametrize("kind", ["urgent", "rest", "copies"])
@pytest.mark.parametrize("slow", [0, 1])
def test_a_stream_that_is_slow(slow: int, kind: str, run_late: Callable[..., None]) -> None:
    """Every wait for it is needed: for panels, for rows that travel, for columns."""
    g = sample(520, "float32")
    wanted = kl.apsp(g, method="tiled", predecessors=False, **ONE)
    run_late(kind, slice(slow, slow + 1))
    got = kl.apsp(g, method="tiled", predecessors=False, device="emulated", devices=[0, 1])
    assert_equal_bits(got, wanted)


def test_the_next_rows_travel_before_products_are_done(
    run_late: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    multiply, share = DeviceBand.multiply, engine.share_rows
    log: list[tuple[str, int, int]] = []

    def note(stream: Any, kind: str, current: int, band: DeviceBand) -> None:
        stream.put(lambda: log.append((kind, current, band.device.index)))

    def noted_multiply(self: DeviceBand, current: int, *args: Any) -> Any:
        event = multiply(self, current, *args)
        note(self.rest, "done", current, self)
        return event

    def noted_share(bands: list[DeviceBand], current: int, vertices: range) -> None:
        share(bands, current, vertices)
        for band in bands:
            if not band.owns(vertices):
                note(band.copies, "copied", current, band)

    monkeypatch.setattr(DeviceBand, "multiply", noted_multiply)
    monkeypatch.setattr(engine, "share_rows", noted_share)
    run_late("rest", slice(None))
    kl.apsp(sample(400, "float32"), method="tiled", predecessors=False, **ALL)
    copied = [(current, band) for kind, current, band in log if kind == "copied"]
    assert len(copied) == 4 * 3
    for band in (0, 2, 3):
        assert log.index(("copied", 1, band)) < log.index(("done", 0, band))


@needs_checked
def test_under_the_checked_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread reads what another may be writing, or memory of another device."""
    g = sample(300, "int32")
    wanted = kl.closure(g, "max_min", method="tiled", predecessors=True, **ONE)
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "5")
    got = kl.closure(g, "max_min", method="tiled", predecessors=True, **ALL)
    assert_equal_bits(got, wanted)


def test_chosen_devices_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any devices in any order, some rows, a file, reversed arcs."""
    g = sample(400, "float64")
    options: dict[str, Any] = {"method": "tiled", "sources": [399, 3, 3]}
    wanted = kl.apsp(g, **options, **ONE)
    opened = []
    monkeypatch.setattr(
        tiled, "open_device", lambda name: (opened.append(name), open_device(name))[1]
    )
    got = kl.apsp(g, device="emulated", devices=["emulated:3", "emulated:1"], **options)
    assert_equal_bits(got, wanted)
    assert opened == ["emulated:3", "emulated:1"]


# ---- negative weights ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("predecessors", [False, True])
def test_negative_weights(dtype: str, predecessors: bool) -> None:
    g = sample(300, dtype, negative=True)
    options = {"method": "tiled", "predecessors": predecessors}
    got = kl.apsp(g, **options, **THREE)
    assert_equal_bits(got, kl.apsp(g, **options, **ONE))
    got.verify()


@pytest.mark.parametrize("at", [5, 200, 390])
def test_a_negative_cycle_in_any_band(at: int) -> None:
    g = sample(400, "float64")
    arcs = g.to_scipy().tocoo()
    source = np.append(arcs.row, [at, at + 1])
    target = np.append(arcs.col, [at + 1, at])
    g = kl.Graph.from_edges(source, target, np.append(arcs.data, [-2.0, 1.0]), n=400)
    with pytest.raises(NegativeCycleError) as several:
        kl.apsp(g, method="tiled", **ALL)
    with pytest.raises(NegativeCycleError) as one:
        kl.apsp(g, method="tiled", **ONE)
    assert several.value.cycle == one.value.cycle
