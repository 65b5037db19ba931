"""One body for every method on every device: the registry is the list of tests."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from graphs import WITH_NEGATIVE_CYCLE, arcs_of, graph, names
from oracle import EMPTY, EXTEND, best_values

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.registry import PATH_PROBLEMS, Method, methods
from kleene.system.machine import this_machine

ROWS = [
    row
    for row in methods()
    if row.problem in PATH_PROBLEMS and row.device in this_machine().devices
]


def solve(row: Method, g: kl.Graph, semiring: str, **options: Any) -> kl.Result:
    options |= {"method": row.name, "device": row.device}
    if row.problem == "closure":
        return kl.closure(g, semiring, **options)
    if row.problem == "apsp":
        return kl.apsp(g, **options)
    options.setdefault("sources", range(g.n))
    return (kl.bfs if row.problem == "bfs" else kl.sssp)(g, **options)


def some_sources(row: Method, g: kl.Graph) -> list[int]:
    """All vertices; but of a large graph a few, where the device is slow and the method can.

    Methods that search from many sources at once need more than a batch, and matrices hold all of
    them anyway.
    """
    if row.device == "cpu" or g.n <= (100 if row.problem in ("bfs", "sssp") else 200):
        return list(range(g.n))
    if row.name in ("multi_source", "batched"):
        return list(range(0, g.n, g.n // 80))
    return [0, 1, g.n // 2, g.n - 1]


def label(row: Method) -> str:
    return f"{row.problem}-{row.name}-{row.device}"


def cases() -> list[Any]:
    """Every graph for every method; but blocks of all sizes are in ``test_apsp_blocked``."""
    return [
        pytest.param(row, semiring, name, id=f"{label(row)}-{semiring}-{name}")
        for row in ROWS
        for semiring in row.semirings
        for name in names()
        if not (
            row.name.startswith("blocked_") and row.device == "emulated" and name == "long_path"
        )
    ]


def admissible(row: Method, semiring: str, g: kl.Graph) -> bool:
    if semiring == "max_times":
        return g.m == 0 or (g.stats.min_weight >= 0 and g.stats.max_weight <= 1)
    return row.problem == "bfs" or row.negative or not g.stats.negative


def expected(name: str, semiring: str, sources: list[int], hops: bool) -> list[list[Any]] | None:
    rows = [best_values(name, semiring, s, hops) for s in sources]
    return None if any(row is None for row in rows) else rows  # type: ignore[return-value]


def assert_values(result: kl.Result, wanted: list[list[Any]]) -> None:
    got = np.atleast_2d(result.distances)
    assert got.shape == (len(result.sources), result.graph.n)
    none = result.no_path
    exact = got.dtype.kind != "f"
    top = np.inf if not exact else (True if got.dtype == bool else np.iinfo(got.dtype).max)
    full = [[none if v is None else min(v, top) for v in row] for row in wanted]
    if exact:
        assert got.tolist() == full
    else:
        want = np.array(full, dtype=np.float64).reshape(got.shape)
        np.testing.assert_allclose(got, want, rtol=1e-12 if got.dtype == np.float64 else 1e-5)


def assert_paths(result: kl.Result) -> None:
    """Every path starts and ends right, runs along arcs, and is as good as promised."""
    g, s = result.graph, SEMIRINGS[result.plan.semiring]
    arcs = arcs_of(g.reweight(None) if result.problem == "bfs" else g)
    values = np.atleast_2d(result.distances)
    count = len(result.sources)
    for row in sorted({*range(min(5, count)), *range(max(0, count - 3), count)}):
        source = int(result.sources[row])
        many = result.paths(source=source)
        for target in range(g.n):
            path = result.path(source, target)
            assert path == many.vertices[many.offsets[target] : many.offsets[target + 1]].tolist()
            if values[row, target] == result.no_path:
                assert path == []
                continue
            assert path[0] == source
            assert path[-1] == target
            assert len(set(path)) == len(path)
            value = EMPTY[s.name]
            for arc in pairwise(path):
                value = EXTEND[s.name](value, arcs[arc])
            if value == float("inf"):
                assert target == source
            else:
                assert math.isclose(value, values[row, target], rel_tol=1e-5, abs_tol=1e-9)


@pytest.mark.parametrize(("row", "semiring", "name"), cases())
def test_method(row: Method, semiring: str, name: str) -> None:
    g = graph(name)
    if not admissible(row, semiring, g):
        with pytest.raises(kl.KleeneError):
            solve(row, g, semiring, predecessors=True)
        return
    sources = some_sources(row, g)
    wanted = expected(name, semiring, sources, hops=row.problem == "bfs")
    if wanted is None:
        with pytest.raises(kl.NegativeCycleError) as caught:
            solve(row, g, semiring, predecessors=True)
        assert_negative_cycle(g, caught.value.cycle)
        if name in WITH_NEGATIVE_CYCLE:
            return
        # A source that does not lead to the cycle is not disturbed by it.
        wanted = expected(name, semiring, [0, 1], hops=False)
        assert wanted is not None
        assert_values(solve(row, g, semiring, sources=[0, 1]), wanted)
        return
    for predecessors in (True, False):
        result = solve(row, g, semiring, predecessors=predecessors, sources=sources)
        assert_values(result, wanted)
        assert (result.predecessors is not None) == predecessors
        proof = result.verify()
        assert proof.rows == proof.of == len(sources)
        assert result.plan.method == row.name
        if predecessors:
            assert_paths(result)


def assert_negative_cycle(g: kl.Graph, cycle: list[int]) -> None:
    arcs = arcs_of(g)
    assert sum(arcs[arc] for arc in zip(cycle, cycle[1:] + cycle[:1], strict=True)) < 0


SEARCHES = [row for row in ROWS if row.problem != "closure"]


#: A matrix is closed whole whatever is asked: where that takes long, small ones will do.
TARGETED = [
    pytest.param(row, name, id=f"{label(row)}-{name}")
    for row in SEARCHES
    for name in ("grid", "unweighted_random", "zero_cycle", "disconnected")
    if label(row).startswith(("bfs", "sssp", "apsp-batched"))
    or row.device != "emulated"
    or graph(name).n < 100
]


@pytest.mark.parametrize(("row", "name"), TARGETED)
def test_targets_and_limit(row: Method, name: str) -> None:
    """Targets and limits change how much is computed, never the answer."""
    g = graph(name)
    whole = solve(row, g, "min_plus", sources=[0, 3])
    targets = [g.n - 1, 1, 0]
    some = solve(row, g, "min_plus", sources=[0, 3], targets=targets)
    assert some.distances.tolist() == whole.distances[:, targets].tolist()
    assert some.reached.shape == (2, 3)
    some.verify()
    for target, length in zip(targets, some.distances[0], strict=True):
        assert bool(some.path(0, target)) == (length != some.no_path)
    for limit in (0, 2, 2.5):
        near = solve(row, g, "min_plus", sources=[0, 3], limit=limit)
        cut = np.where(whole.reached & (whole.distances <= limit), whole.distances, whole.no_path)
        assert near.distances.tolist() == cut.tolist()
        near.verify()


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_out(row: Method, tmp_path: Any) -> None:
    """The answer can be put into memory of the caller's, or into a file."""
    g = graph("grid")
    semiring, sources = row.semirings[0], some_sources(row, g)
    whole = solve(row, g, semiring, sources=sources)
    out = np.empty_like(whole.distances)
    assert np.shares_memory(solve(row, g, semiring, sources=sources, out=out).distances, out)
    assert out.tolist() == whole.distances.tolist()
    solve(row, g, semiring, sources=sources, out=tmp_path / "values.npy")
    assert np.load(tmp_path / "values.npy").tolist() == whole.distances.tolist()
    assert [file.name for file in tmp_path.iterdir()] == ["values.npy"]


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_progress(row: Method) -> None:
    """Progress rises to the end."""
    seen: list[tuple[int, int]] = []
    g = graph("grid")

    def tell(done: int, of: int) -> None:
        seen.append((done, of))

    solve(row, g, row.semirings[0], sources=some_sources(row, g), progress=tell)
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
