"""The classic forms of breadth-first search on a device, where they could break.

Full queues, blocks and tiles that do not come out even, the threshold between two ways to compact,
other schedules.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulators import needs_checked
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda.bfs import direction
from kleene.backends.cuda.classic import frontiers
from kleene.backends.cuda.classic import scan as bfs_scan
from kleene.backends.cuda.classic.scan import PrefixScan
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.registry import Size, find

FORMS = [
    "edge", "vertex_push", "vertex_pull", "spmv", "frontier", "privatized", "single_block",
    "scan_serial", "scan_fine",
]  # fmt: skip
SCANS = ["scan_serial", "scan_fine"]


def search(g: kl.Graph, source: int, form: str, **options: Any) -> kl.Result:
    return kl.bfs(g, source, method=form, device="emulated", **options)


def check(g: kl.Graph, source: int, form: str) -> None:
    """The distances of the reference, with verified predecessors and without."""
    wanted = kl.bfs(g, source, device="reference").distances.tolist()
    assert search(g, source, form, predecessors=False).distances.tolist() == wanted
    found = search(g, source, form, predecessors=True)
    assert found.distances.tolist() == wanted
    found.verify()


def grid(rows: int, columns: int) -> kl.Graph:
    at = np.arange(rows * columns).reshape(rows, columns)
    s = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    t = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    return kl.Graph.from_edges(s, t, directed=False)


def chain(n: int) -> kl.Graph:
    return kl.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)


def hub(leaves: int, more: int = 0) -> kl.Graph:
    """A vertex with many neighbours, and arcs between these at random."""
    rng = np.random.default_rng(leaves)
    s, t = rng.integers(1, leaves + 1, (2, more))
    ends = np.zeros(leaves, int), np.arange(1, leaves + 1)
    return kl.Graph.from_edges(np.append(ends[0], s), np.append(ends[1], t), directed=False)


def broom(leaves: int) -> kl.Graph:
    """A vertex with many neighbours, each of which leads on to one of its own."""
    near = np.arange(1, leaves + 1)
    return kl.Graph.from_edges(np.append(0 * near, near), np.append(near, near + leaves))


def bulge(length: int, width: int) -> kl.Graph:
    """A chain, then a level of many vertices, then a chain again."""
    first, wide = np.arange(length), length + np.arange(width)
    last = length + width + np.arange(length)
    s = [first[:-1], np.full(width, length - 1), wide, last[:-1]]
    t = [first[1:], wide, np.full(width, last[0]), last[1:]]
    return kl.Graph.from_edges(np.concatenate(s), np.concatenate(t))


@st.composite
def graphs(draw: st.DrawFn) -> kl.Graph:
    n = draw(st.integers(1, 40))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex), max_size=120))
    s, t = zip(*arcs, strict=True) if arcs else ((), ())
    return kl.Graph.from_edges(s, t, n=n, directed=draw(st.booleans()))


@given(graphs(), st.sampled_from(FORMS), st.data())
@settings(max_examples=150)
def test_any_graph(g: kl.Graph, form: str, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, g.n - 1))
    check(g, source, form)
    limit = data.draw(st.integers(0, 4))
    near = search(g, source, form, limit=limit)
    whole = kl.bfs(g, source, device="reference").distances
    assert near.distances.tolist() == np.where(whole <= limit, whole, -1).tolist()
    near.verify()


@pytest.mark.parametrize("form", FORMS)
def test_a_limit_ends_the_search(form: str) -> None:
    device = open_device("emulated")
    assert isinstance(device, EmulatedDevice)
    before = device.launches
    search(chain(200), 0, form, limit=3)
    assert device.launches - before <= 1 + 3 * 7


def test_spmv_ends_at_the_goal() -> None:
    device = open_device("emulated")
    assert isinstance(device, EmulatedDevice)
    before = device.launches
    found = search(chain(200), 0, "spmv", targets=[7, 3])
    assert found.distances.tolist() == [7, 3]
    assert device.launches - before == 1 + 2 * 7
    assert search(chain(200), 50, "spmv", targets=[7]).distances.tolist() == [-1]


@pytest.mark.parametrize("form", FORMS)
def test_memory_is_what_the_table_says(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    g = kl.generate.uniform(3000, 20_000, seed=1)
    most = 0
    empty = EmulatedDevice.empty

    def watched(device: EmulatedDevice, *args: Any) -> Any:
        nonlocal most
        array = empty(device, *args)
        most = max(most, device.allocated)
        return array

    device = open_device("emulated")
    assert isinstance(device, EmulatedDevice)
    before = device.allocated
    monkeypatch.setattr(EmulatedDevice, "empty", watched)
    search(g, 0, form, predecessors=True)
    row = find("bfs", form, "cuda")
    assert row is not None
    assert row.device_memory is not None
    expected = row.device_memory(Size(g.n, g.m, 1, 4, True))
    assert expected / 1.1 <= most - before <= expected + 4096


# ---- frontiers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["0", "3"])
@pytest.mark.parametrize("capacity", [1, 7, 64])
def test_queues_of_blocks_overflow(
    capacity: int, seed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    monkeypatch.setattr(frontiers.Privatized, "capacity", capacity)
    check(broom(300), 0, "privatized")
    check(hub(700, 300), 3, "privatized")


@pytest.mark.parametrize("seed", ["0", "3"])
@pytest.mark.parametrize("per_launch", [1, 4, 256])
def test_a_single_block_hands_over_and_takes_over(
    per_launch: int, seed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    form, used = frontiers.SingleBlock, ""
    many, one = form.many_levels, form.level

    def alone(self: frontiers.SingleBlock, size: int, *args: int) -> tuple[int, int]:
        nonlocal used
        assert size <= 20
        used += "s"
        return many(self, size, *args)

    def together(self: frontiers.SingleBlock, size: int, depth: int) -> int:
        nonlocal used
        assert size > 20
        used += "m"
        return one(self, size, depth)

    monkeypatch.setattr(form, "own_capacity", 20)
    monkeypatch.setattr(form, "levels", per_launch)
    monkeypatch.setattr(form, "many_levels", alone)
    monkeypatch.setattr(form, "level", together)
    g = bulge(9, 50)
    assert search(g, 0, "single_block").distances.tolist() == [
        *range(9), *[9] * 50, *range(10, 19)
    ]  # fmt: skip
    launches = -(-9 // per_launch)  # to the wide level, and from it to the one without vertices
    assert used == "s" * launches + "m" + "s" * launches
    used = ""
    check(bulge(3, 20), 0, "single_block")
    assert "m" not in used
    check(bulge(3, 21), 0, "single_block")
    assert used.count("m") == 2


# ---- prefix sums --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1023, 1024, 1025, 2049, 5000, 2**20 + 1])
def test_sums_of_any_length(n: int) -> None:
    device = EmulatedDevice()
    kernels = device.kernels("bfs_scan")
    scan = PrefixScan(device, kernels["bfs_scan_prefixscan"], kernels["bfs_scan_prefixscan2"], n)
    host = np.random.default_rng(n).integers(0, 2**40, n)
    wanted = np.cumsum(host) - host
    values, total = device.upload(host), device.zeros(1, np.int64)
    scan.run(values, values, n, total)
    assert np.array_equal(device.download(values), wanted)
    assert device.download(total)[0] == host.sum()
    mask = host.astype(np.int32) & 1
    scan.run(device.upload(mask), values, n, total, kernels["bfs_scan_prefixscan_mask"])
    assert np.array_equal(device.download(values), np.cumsum(mask) - mask)
    assert device.download(total)[0] == mask.sum()


@pytest.mark.parametrize("form", SCANS)
@pytest.mark.parametrize("gathered", [510, 512, 514])
def test_compaction_on_both_sides_of_the_threshold(
    gathered: int, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two vertices lead to the same others: each of these is once in the next frontier."""
    launched: list[str] = []
    sizes: list[int] = []
    contract = bfs_scan.Scanned._contract

    def launch(kernel: Any, *args: Any) -> None:
        launched.append(kernel.name)
        direction.launch_threads(kernel, *args)

    def contracted(self: bfs_scan.Scanned, *args: int) -> tuple[int, bool]:
        size, left = contract(self, *args)
        sizes.append(size)
        return size, left

    monkeypatch.setattr(bfs_scan, "launch_threads", launch)
    monkeypatch.setattr(bfs_scan.Scanned, "_contract", contracted)
    far = np.arange(3, 3 + gathered // 2)
    s = np.concatenate([[0, 0], 0 * far + 1, 0 * far + 2])
    g = kl.Graph.from_edges(s, np.concatenate([[1, 2], far, far]), n=4 + len(far))
    assert search(g, 0, form).distances.tolist() == [0, 1, 1, *[2] * len(far), -1]
    assert sizes == [2, len(far)]
    assert launched.count("bfs_scan_compact") == (gathered > 512)


@pytest.mark.parametrize("form", SCANS)
@pytest.mark.parametrize("seed", ["0", "3"])
def test_duplicates_and_tiles(form: str, seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vertices of more than a tile, of none, and frontiers of several blocks."""
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    wide = hub(5000, 3000)
    check(wide, 0, form)
    check(wide, 17, form)
    # A frontier of vertices without arcs, but for few far apart that lead to the same vertices.
    leaves = np.arange(1, 3001)
    few = np.repeat([1, 1500, 3000], 400)
    far = np.tile(3001 + np.arange(400), 3)
    s, t = np.concatenate([0 * leaves, few]), np.concatenate([leaves, far])
    check(kl.Graph.from_edges(s, t), 0, form)


# ---- schedules ----------------------------------------------------------------------------------


@needs_checked
@pytest.mark.parametrize("seed", ["0", "3", "5"])
@pytest.mark.parametrize("form", FORMS)
def test_checked(form: str, seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No access out of range, and no race but those meant, whatever the order."""
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    monkeypatch.setattr(frontiers.Privatized, "capacity", 50)
    monkeypatch.setattr(frontiers.SingleBlock, "own_capacity", 16)
    for g, source in ((hub(600, 200), 5), (grid(20, 15), 37)):
        search(g, source, form, predecessors=True).verify()
