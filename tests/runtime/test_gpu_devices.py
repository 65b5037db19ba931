"""On a real GPU that counts as two devices: sources split over both, and the memory of each.

Skipped where there is no GPU; ``KLEENE_TEST_DEVICE=emulated`` runs all of it in the emulator, on
smaller graphs.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device, visible_devices
from kleene.backends.cuda.runtime.interface import copy_between
from kleene.engine import pieces
from kleene.registry import methods
from kleene.system.machine import this_machine

DEVICE = os.environ.get("KLEENE_TEST_DEVICE", "cuda")
pytestmark = pytest.mark.skipif(
    DEVICE not in this_machine().devices, reason=dict(this_machine().absent).get(DEVICE, "")
)
LARGE = DEVICE == "cuda"  # the emulator gets graphs that it can search in a second
SOURCES = range(700 if LARGE else 7)
SPLIT = [
    row
    for row in methods(device=DEVICE)
    if row.splits == "sources" and row.problem != "betweenness"
]


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of two devices, of one GPU if there is one."""
    monkeypatch.setenv("KLEENE_DEVICES_PER_GPU", "2")
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    monkeypatch.setattr(pieces, "_LEAST", 64 if LARGE else 2)
    return list(visible_devices(DEVICE)[:2])


@cache
def graph(weighted: bool, road_like: bool = False) -> kl.Graph:
    weights = (1, 255) if weighted else None
    if road_like:
        return kl.generate.grid(*([60 if LARGE else 6] * 2), seed=1, weights=weights)
    return kl.generate.rmat(12 if LARGE else 5, seed=1, directed=False, weights=weights)


@pytest.mark.parametrize("paths", [True, False], ids=["paths", "values"])
@pytest.mark.parametrize("row", SPLIT, ids=lambda row: f"{row.problem}-{row.name}")
def test_every_method_equals_one_device(row: Any, paths: bool, two: list[str]) -> None:
    g = graph(row.problem != "bfs", row.name == "prepared")
    options: dict[str, Any] = {"sources": SOURCES, "method": row.name, "predecessors": paths}
    if row.problem == "closure":
        options["semiring"] = "max_min"
    solve = getattr(kl, row.problem)
    several = solve(g, devices=two, **options)
    assert several.plan.devices == tuple(two)
    for name in two:
        one = solve(g, device=name, **options)
        assert one.plan.devices == (name,)
        assert (several.distances == one.distances).all()
    several.verify()
    gc.collect()


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize(
    ("semiring", "dtype"),
    [
        ("min_plus", "float32"), ("min_plus", "float64"), ("min_plus", "int32"),
        ("max_min", "float32"), ("max_min", "int64"), ("max_times", "float64"), ("boolean", None),
    ],
)  # fmt: skip
def test_a_matrix_is_shared(
    semiring: str, dtype: str | None, predecessors: bool, two: list[str]
) -> None:
    """Equal to one device bit for bit, and gathered where it stays on the first."""
    n = 1100 if LARGE else 150
    rng = np.random.default_rng(1)
    tails, heads = rng.integers(0, n, (2, 20 * n))
    weights = None if dtype is None else rng.random(20 * n)
    if dtype is not None and weights is not None:
        weights = (weights if dtype.startswith("float") else 1000 * weights).astype(dtype)
    g = kl.Graph.from_edges(tails, heads, weights, n=n)
    options: dict[str, Any] = {"method": "tiled", "predecessors": predecessors}
    several = kl.closure(g, semiring, devices=two, **options)
    assert several.plan.devices == tuple(two)
    kept = kl.closure(g, semiring, devices=two[::-1], keep="device", **options)
    for name in two:
        one = kl.closure(g, semiring, device=name, **options)
        for found in (several, kept):
            assert found.values.tobytes() == one.values.tobytes()
            assert not predecessors or (found.predecessors == one.predecessors).all()


def test_a_prepared_graph(two: list[str]) -> None:
    p = kl.prepare(graph(weighted=True, road_like=True))
    assert (p.trees(SOURCES, devices=two).distances == p.trees(SOURCES).distances).all()
    targets = [3, 1, 17]
    found = p.matrix(SOURCES, targets, devices=two)
    assert (found.distances == p.matrix(SOURCES, targets).distances).all()


@pytest.mark.parametrize("hops", [False, True])
def test_sums_are_added_in_order(hops: bool, two: list[str]) -> None:
    options: dict[str, Any] = {"hops": hops, "sources": SOURCES, "edges": True}
    g = graph(weighted=True)
    several, again = (kl.betweenness(g, devices=two, **options) for _ in range(2))
    one = kl.betweenness(g, device="cpu", **options)
    assert several.plan.devices == tuple(two)
    for own, other, right in (
        (several.values, again.values, one.values),
        (several.arcs, again.arcs, one.arcs),
    ):
        assert (own == other).all()
        assert np.allclose(own, right, rtol=1e-9, atol=1e-12)


def test_the_memory_of_each(two: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    g = graph(weighted=True)
    opened = [open_device(name) for name in two]
    gc.collect()
    budget = sum(d.allocated for d in opened) + (2**26 if LARGE else 2**18)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", str(budget))
    for device in opened:
        device.peak = device.allocated
    kl.apsp(g, method="batched", devices=two, predecessors=False)
    assert 0 < max(device.peak for device in opened) <= budget
    with pytest.raises(kl.MemoryBudgetError):
        opened[1].empty(budget + 1, np.uint8)
    monkeypatch.delenv("KLEENE_DEVICE_MEMORY")
    if LARGE:  # half of the GPU each
        with pytest.raises(kl.MemoryBudgetError):
            opened[0].empty(2 * opened[0].free_memory(), np.uint8)


def test_copies_between(two: list[str]) -> None:
    one, other = map(open_device, two)
    host = np.arange(1200, dtype=np.int32).reshape(30, 40)
    source, to = one.upload(host, "source"), other.zeros((30, 40), np.int32, "to")
    other.main.wait(one.main.record())
    copy_between(to, source)
    copy_between(to[2:9, 3:8], source[20:27, 30:35])
    wanted = host.copy()
    wanted[2:9, 3:8] = host[20:27, 30:35]
    assert (other.download(to) == wanted).all()


PROCESS = """
import sys
import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import memory_budget
name, large = sys.argv[1], sys.argv[1] == "cuda"
device = open_device(name)
g = kl.generate.rmat(13 if large else 6, seed=1, directed=False, weights=(1, 255))
for _ in range(3 if large else 1):
    kl.apsp(g, method="batched", device=name, sources=range(512 if large else 9)).verify()
dense = kl.generate.uniform(3000 if large else 60, 20_000 if large else 300, weights=(1, 9), seed=2)
kl.apsp(dense, method="tiled", device=name, predecessors=False).verify()
assert 0 < device.peak <= memory_budget(), device.peak
print("right", device.peak)
"""


def test_two_processes_share_a_gpu() -> None:
    """Rows and tiles are right, and each process keeps within its share of the memory."""
    environment = {**os.environ, "KLEENE_DEVICE_MEMORY": "96M" if LARGE else "1M"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, DEVICE],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in running:
        said, wrong = process.communicate(timeout=300)
        assert (process.returncode, said[:5]) == (0, "right"), wrong
