"""Distances and paths of pairs by climbs, beside the oracle; paths proved arc by arc."""

from __future__ import annotations

import math
import signal
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import prepared_reference as reference
import pytest
from graphs import WITH_NEGATIVE_CYCLE, arcs_of, graph, names
from hypothesis import given
from hypothesis import strategies as st
from oracle import EMPTY, EXTEND, best_values

import kleene as kl
from kleene import _native
from kleene.backends.semiring import SEMIRINGS
from kleene.prepared import pairs
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.proofs.pairs import PairValues, verify_pairs

LEVELS = range(len(_native.simd_levels()))
NO_CYCLE = [
    name
    for name in names()
    if name not in WITH_NEGATIVE_CYCLE and name != "negative_cycle_elsewhere"
]


def prepare(
    g: kl.Graph, semiring: str = "min_plus", dtype: Any = None, seed: int = 0
) -> tuple[Elimination, Customization]:
    """Eliminate in a random order, and customize, by the book."""
    order = np.random.default_rng(seed).permutation(g.n)
    if g.n > 50:  # less fill: the reference is slow
        order = order[np.argsort(np.diff(g.offsets)[order], kind="stable")]
    elimination = reference.eliminate(g, order.tolist())
    if semiring == "boolean":
        dtype = bool
    made = reference.customize(g, elimination, semiring, dtype)
    return elimination, replace(made, graph=g)


def admissible(name: str, semiring: str) -> bool:
    stats = graph(name).stats
    return semiring != "max_times" or not graph(name).m or (
        stats.min_weight >= 0 and stats.max_weight <= 1
    )  # fmt: skip


def answer_dtype(g: kl.Graph, semiring: str) -> Any:
    if semiring == "boolean":
        return np.dtype(bool)
    if semiring == "max_times":
        return np.dtype(g.weight_dtype if g.weight_dtype in (np.float32, np.float64) else "f8")
    return kl.closure(g, semiring).distances.dtype if g.n else np.dtype(np.int32)


CASES = [
    pytest.param(name, semiring, id=f"{name}-{semiring}")
    for name in NO_CYCLE
    for semiring in SEMIRINGS
    if admissible(name, semiring)
]


def all_pairs(n: int) -> tuple[Any, Any]:
    """Return every pair; of many vertices, the pairs of a few origins."""
    few = np.arange(n) if n < 50 else np.array([0, 1, n // 2, n - 1])
    origins, destinations = (a.ravel().astype(np.int32) for a in np.meshgrid(few, np.arange(n)))
    return origins, destinations


def check_values(g: kl.Graph, found: Any, name: str, semiring: str, ends: tuple[Any, Any]) -> None:
    dtype = found.dtype
    none = SEMIRINGS[semiring].zero(dtype)
    top = np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max
    rows = {s: best_values(name, semiring, s) for s in set(ends[0].tolist())}
    wanted = [rows[s][t] for s, t in zip(*(e.tolist() for e in ends), strict=True)]
    full = [none if w is None else min(w, top) for w in wanted]
    if dtype.kind == "f":
        rtol = 1e-12 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(found, np.array(full, float), rtol=rtol, atol=1e-12)
    else:
        assert found.tolist() == full


def check_paths(
    g: kl.Graph, semiring: str, ends: tuple[Any, Any], values: Any, walks: tuple[Any, Any]
) -> None:
    """Every path starts and ends right, is simple, runs along arcs, and is as good as promised."""
    positions, offsets = walks
    arcs, none = arcs_of(g), SEMIRINGS[semiring].zero(values.dtype)
    assert len(offsets) == len(values) + 1
    for i, (s, t) in enumerate(zip(*(e.tolist() for e in ends), strict=True)):
        path = positions[offsets[i] : offsets[i + 1]].tolist()
        if values[i] == none:
            assert path == []
            continue
        assert (path[0], path[-1], len(set(path))) == (s, t, len(path))
        value = EMPTY[semiring]
        for arc in pairwise(path):
            value = EXTEND[semiring](value, arcs[arc])
        assert s == t or math.isclose(value, values[i], rel_tol=1e-5, abs_tol=1e-9)


def check_beside_closure(g: kl.Graph, semiring: str, ends: tuple[Any, Any], values: Any) -> None:
    """Values that are exact in every type must be those of a closure, whatever its type."""
    theirs = kl.closure(g, semiring).distances[ends]
    missing = theirs == SEMIRINGS[semiring].zero(theirs.dtype)
    assert ((values == SEMIRINGS[semiring].zero(values.dtype)) == missing).all()
    apart = ~missing & (ends[0] != ends[1])
    assert (values[apart] == theirs[apart]).all()


@pytest.mark.parametrize(("name", "semiring"), CASES)
def test_the_zoo_beside_the_oracle(name: str, semiring: str) -> None:
    g = graph(name)
    elimination, customization = prepare(g, semiring, answer_dtype(g, semiring))
    ends = all_pairs(g.n)
    values = pairs.distances(elimination, customization, *ends)
    assert values.dtype == customization.dtype
    check_values(g, values, name, semiring, ends)
    check_paths(g, semiring, ends, values, pairs.paths(elimination, customization, *ends))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_every_type_and_level(
    level: int, semiring: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if semiring == "max_times" and dtype.startswith("int"):
        pytest.skip("probabilities are floats")
    native = _native.PairQueries
    monkeypatch.setattr(_native, "PairQueries", lambda *given: native(*given, level))
    rng = np.random.default_rng(level)
    core, tree = rng.integers(0, 40, (2, 500)), np.arange(40, 80)  # rows of up to 39 pairs
    tails = np.concatenate([core[0], tree, tree // 2])
    heads = np.concatenate([core[1], tree // 2, tree])
    weights = rng.integers(0, 9, len(tails)) / (8 if semiring == "max_times" else 1)
    g = kl.Graph.from_edges(tails, heads, weights.astype(dtype))
    elimination, customization = prepare(g, semiring, dtype)
    ends = all_pairs(g.n)
    values = pairs.distances(elimination, customization, *ends)
    check_beside_closure(g, semiring, ends, values)
    check_paths(g, semiring, ends, values, pairs.paths(elimination, customization, *ends))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("narrow", [False, True])
def test_negative_integers(level: int, narrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of all pairs have no path, and "no path" plus a negative length is none."""
    native = _native.PairQueries
    monkeypatch.setattr(_native, "PairQueries", lambda *given: native(*given, level))
    rng = np.random.default_rng(3)
    tails, heads = np.sort(rng.integers(0, 100, (2, 500)), axis=0)  # no cycles
    keep = tails != heads
    weights = rng.integers(-50, 50, 500).astype(np.int32)
    g = kl.Graph.from_edges(tails[keep], heads[keep], weights[keep], n=100, combine="min")
    elimination, customization = prepare(g, dtype=np.int32 if narrow else np.int64)
    customization = replace(customization, dtype=np.dtype(np.int64))
    assert customization.negative
    ends = all_pairs(g.n)
    values = pairs.distances(elimination, customization, *ends)
    assert values.dtype == np.int64
    wanted = kl.sssp(g, sources=range(g.n), dtype=np.int64).distances[ends]
    assert (values == wanted).all()
    walks = pairs.paths(elimination, customization, *ends)
    verify_pairs(PairValues(g, False, *ends, values, walks, None, False))


def test_one_pair_at_a_time() -> None:
    g = graph("grid")
    elimination, customization = prepare(g)
    ends = all_pairs(g.n)
    values = pairs.distances(elimination, customization, *ends)
    positions, offsets = pairs.paths(elimination, customization, *ends)
    for i in range(0, len(values), 97):
        s, t = int(ends[0][i]), int(ends[1][i])
        found = pairs.distance(elimination, customization, s, t)
        assert (found, type(found)) == (values[i], int)
        path = pairs.path(elimination, customization, s, t)
        assert path.tolist() == positions[offsets[i] : offsets[i + 1]].tolist()


@pytest.mark.parametrize(("semiring", "kind"), [("boolean", bool), ("max_times", float)])
def test_one_value_is_a_python_value(semiring: str, kind: type) -> None:
    g = graph("probabilities")
    elimination, customization = prepare(g, semiring, np.float64)
    assert type(pairs.distance(elimination, customization, 0, 1)) is kind


def test_lists_of_all_shapes() -> None:
    """None, one, repeated pairs, many of one origin, any order: the same values, 1 or 2 threads."""
    g = graph("disconnected")
    elimination, customization = prepare(g)
    nothing = np.empty(0, dtype=np.int32)
    assert pairs.distances(elimination, customization, nothing, nothing).tolist() == []
    positions, offsets = pairs.paths(elimination, customization, nothing, nothing)
    assert (positions.tolist(), offsets.tolist()) == ([], [0])
    rng = np.random.default_rng(0)
    wanted = kl.sssp(g, sources=range(g.n)).distances
    for count in (1, 63, 64, 65, 1000):
        s, t = rng.integers(0, g.n, (2, count)).astype(np.int32)
        s[: count // 2] = s[0]
        for threads in (1, 2):
            found = pairs.distances(elimination, customization, s, t, threads=threads)
            none = found == np.iinfo(found.dtype).max
            assert (none == (wanted[s, t] == np.iinfo(wanted.dtype).max)).all()
            assert (found[~none] == wanted[s, t][~none]).all()
            walks = pairs.paths(elimination, customization, s, t, threads=threads)
            check_paths(g, "min_plus", (s, t), found, walks)


@st.composite
def weighted_graphs(draw: st.DrawFn) -> tuple[kl.Graph, str]:
    """Small graphs with many ties and zeros; weights from heights, so that no cycle is negative."""
    n = draw(st.integers(1, 12))
    ends = st.integers(0, n - 1)
    semiring = draw(st.sampled_from(sorted(SEMIRINGS)))
    kinds = ["float32", "float64"] if semiring == "max_times" else ["int32", "int64", "float64"]
    kind = draw(st.sampled_from(kinds))
    arcs = draw(st.lists(st.tuples(ends, ends, st.integers(0, 4)), max_size=4 * n))
    tails, heads, weights = np.array(arcs, dtype=np.int64).reshape(-1, 3).T
    if semiring == "min_plus" and draw(st.booleans()):
        heights = np.array(draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n)))
        weights = weights + heights[heads] - heights[tails]
    scaled = weights / 4 if semiring == "max_times" else weights
    directed = draw(st.booleans()) or bool((weights < 0).any())
    g = kl.Graph.from_edges(
        tails, heads, scaled.astype(kind), n=n, directed=directed,
        combine="min" if semiring == "min_plus" else "max",
    )  # fmt: skip
    return g, semiring


@given(case=weighted_graphs(), seed=st.integers(0, 2**16))
def test_any_small_graph(case: tuple[kl.Graph, str], seed: int) -> None:
    g, semiring = case
    elimination, customization = prepare(g, semiring, g.weight_dtype, seed)
    ends = all_pairs(g.n)
    values = pairs.distances(elimination, customization, *ends)
    check_beside_closure(g, semiring, ends, values)
    check_paths(g, semiring, ends, values, pairs.paths(elimination, customization, *ends))


def test_progress_and_interruption() -> None:
    g = graph("grid")
    elimination, customization = prepare(g)
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, g.n, (2, 200_000)).astype(np.int32)
    seen: list[tuple[int, int]] = []
    pairs.distances(elimination, customization, s, t, progress=lambda *at: seen.append(at))
    assert seen[-1] == (len(s), len(s))

    def interrupt(done: int, total: int) -> None:
        signal.raise_signal(signal.SIGINT)

    for call in (pairs.distances, pairs.paths):
        with pytest.raises(KeyboardInterrupt):
            call(elimination, customization, s, t, progress=interrupt)


def test_float_paths_are_proved() -> None:
    """The path's own sum may differ by rounding, within what the proof allows."""
    for name in ("float32_weights", "float64_weights", "negative_floats"):
        g = graph(name)
        elimination, customization = prepare(g)
        ends = all_pairs(g.n)
        values = pairs.distances(elimination, customization, *ends)
        walks = pairs.paths(elimination, customization, *ends)
        verify_pairs(PairValues(g, False, *ends, values, walks, None, False))


@pytest.mark.parametrize("answers", [np.empty(2, np.int64), np.empty(1, np.int32)])
def test_native_answers_have_a_type_and_a_size(answers: Any) -> None:
    made = kl.prepare(kl.generate.grid(4, 4, weights=(1, 9), seed=1))
    native = pairs.queries(made._elimination, made._customization)
    ends = np.array([0, 1], dtype=np.int32)
    with pytest.raises(TypeError):
        native.distances(ends, ends, answers, 1, None)
