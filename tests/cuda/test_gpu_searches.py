"""On a real GPU: every search on graphs of middling size, with hubs, with many levels, with both.

Skipped where there is no GPU; ``KLEENE_TEST_DEVICE=emulated`` runs all of it in the emulator, on
smaller graphs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.registry import Method, find, methods
from kleene.system.machine import this_machine

DEVICE = os.environ.get("KLEENE_TEST_DEVICE", "cuda")
pytestmark = pytest.mark.skipif(
    DEVICE not in this_machine().devices, reason=dict(this_machine().absent).get(DEVICE, "")
)

LARGE = DEVICE == "cuda"  # the emulator gets graphs that it can search in a second
WEIGHTS = (1, 255)


def hub() -> kl.Graph:
    """Return a star with more arcs than a block has threads, many times over, and some between."""
    n = 100_001 if LARGE else 2_001
    rng = np.random.default_rng(1)
    s = np.concatenate([np.zeros(n - 1, int), rng.integers(1, n, n)])
    t = np.concatenate([np.arange(1, n), rng.integers(1, n, n)])
    return kl.Graph.from_edges(s, t, rng.integers(1, 256, len(s), dtype=np.int32), n=n)


MIDDLING: dict[str, Callable[[], kl.Graph]] = {
    "rmat": lambda: kl.generate.rmat(14 if LARGE else 8, seed=1, directed=False, weights=WEIGHTS),
    "directed": lambda: kl.generate.rmat(13 if LARGE else 8, seed=2, weights=WEIGHTS),
    "grid": lambda: kl.generate.grid(*([200 if LARGE else 14] * 2), seed=1, weights=(1, 20)),
    "hub": hub,
    "chain": lambda: kl.generate.path(3_000 if LARGE else 120, weights=WEIGHTS),
}


@cache
def middling(name: str) -> kl.Graph:
    return MIDDLING[name]()


def rows(*problems: str) -> list[Any]:
    return [
        pytest.param(row, id=f"{row.problem}-{row.name}")
        for problem in problems
        for row in methods(problem, DEVICE)
    ]


def solve(row: Method, g: kl.Graph, **options: Any) -> kl.Result:
    result = getattr(kl, row.problem)(g, method=row.name, device=DEVICE, **options)
    assert isinstance(result, kl.Result)
    return result


@pytest.mark.parametrize("name", MIDDLING)
@pytest.mark.parametrize("row", rows("bfs", "sssp"))
def test_searches(row: Method, name: str) -> None:
    g = middling(name)
    sources = [0] if name == "chain" else [0, g.n // 2, int(g.stats.degrees.argmax())]
    placed = g.to(DEVICE)
    wanted = getattr(kl, row.problem)(g, sources=sources, device="cpu").distances
    for graph in (g, placed, placed):  # the second call finds what the first one left there
        result = solve(row, graph, sources=sources)
        assert result.verify().rows == len(sources)
        assert (result.distances == wanted).all()
    assert (solve(row, placed, sources=sources, predecessors=False).distances == wanted).all()


@pytest.mark.parametrize("name", ["rmat", "grid"])
@pytest.mark.parametrize("row", rows("bfs", "sssp"))
def test_searches_that_may_stop(row: Method, name: str) -> None:
    g = middling(name).to(DEVICE)
    whole = getattr(kl, row.problem)(g, 0, device="cpu").distances
    middle = int(np.median(whole[whole != whole.max()]))
    near = np.flatnonzero(whole <= middle)[:5]
    assert (solve(row, g, source=0, targets=near).distances == whole[near]).all()
    limited = solve(row, g, source=0, limit=middle)
    limited.verify()
    assert (limited.reached == ((whole >= 0) & (whole <= middle))).all()


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("row", rows("sssp"))
def test_lengths_of_every_type(row: Method, dtype: str) -> None:
    for name in ("rmat", "grid"):
        g = middling(name)
        assert g.weights is not None
        weights = g.weights.astype(dtype) * (0.37 if dtype.startswith("float") else 1)
        solve(row, g.reweight(arcs=weights.astype(dtype)), sources=[0, g.n // 3]).verify()


@pytest.mark.parametrize("row", [p for p in rows("sssp") if p.values[0].negative])
def test_lengths_downhill_and_round_in_circles(row: Method) -> None:
    g = middling("directed")
    assert g.weights is not None
    heights = np.random.default_rng(3).integers(0, 1000, g.n, dtype=np.int32)
    downhill = g.reweight(arcs=g.weights + heights[g.coo.targets] - heights[g.coo.sources])
    assert downhill.stats.negative
    solve(row, downhill, sources=[0, int(g.stats.degrees.argmax())]).verify()
    n = 3000 if LARGE else 60
    weights = np.ones(n, np.int32)
    weights[n // 2] = -n
    circle = kl.Graph.from_edges(np.arange(n), np.roll(np.arange(n), -1), weights)
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(row, circle, source=1)
    assert sorted(caught.value.cycle) == list(range(n))


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
def test_many_sources(weighted: bool, tmp_path: Any) -> None:
    g = kl.generate.rmat(
        12 if LARGE else 7, 8, seed=1, directed=False, weights=WEIGHTS if weighted else None
    )
    sources = np.arange(0, g.n, 3)
    rows = [
        find("apsp", "batched", DEVICE),
        None if weighted else find("bfs", "multi_source", DEVICE),
    ]
    offered = [row for row in rows if row is not None]
    for row in offered:
        wanted = getattr(kl, row.problem)(g, sources=sources, device="cpu").distances
        for graph in (g, g.to(DEVICE)):
            result = solve(row, graph, sources=sources)
            result.verify(sample=64)
            assert (result.distances == wanted).all()
        solve(row, g, sources=sources, predecessors=False, out=tmp_path / f"{row.name}.npy")
        assert (np.load(tmp_path / f"{row.name}.npy") == wanted).all()
