"""Answers edited in memory: verify() refuses every one that is not right any more."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from edited_results import CHAIN
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import VerificationError


def some_graph(data: st.DataObject, kind: str) -> kl.Graph:
    n = data.draw(st.integers(2, 8))
    weights = {
        "int": st.integers(0, 5),
        "float": st.floats(0.01, 10).map(lambda w: round(w, 2)),
        "negative": st.floats(0.01, 3).map(lambda w: round(w, 2)),
        "chances": st.sampled_from([0.1, 0.25, 0.5, 0.9, 1.0]),
    }[kind]
    vertex = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(vertex, vertex, weights), min_size=1, max_size=20))
    tails, heads, values = zip(*arcs, strict=True)
    if kind == "negative":  # no cycle is: heights cancel round each
        height = data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
        values = tuple(w + 0.3 * (height[v] - height[u]) for u, v, w in arcs)
    dtype = np.int32 if kind == "int" else np.float64
    return kl.Graph.from_edges(tails, heads, np.array(values, dtype), n=n)


ANSWERS: dict[str, tuple[str, Callable[..., kl.Result]]] = {
    "bfs": ("int", lambda g, **options: kl.bfs(g, sources=range(g.n), **options)),
    "bfs_float": (
        "int",
        lambda g, **options: kl.bfs(g, sources=range(g.n), dtype=float, **options),
    ),
    "bfs_limit": ("int", lambda g, **options: kl.bfs(g, sources=range(g.n), limit=2, **options)),
    "sssp_int": ("int", lambda g, **options: kl.sssp(g, sources=range(g.n), **options)),
    "sssp_float": ("float", lambda g, **options: kl.sssp(g, sources=range(g.n), **options)),
    "sssp_limit": ("float", lambda g, **o: kl.sssp(g, sources=range(g.n), limit=5.0, **o)),
    "sssp_negative": ("negative", lambda g, **o: kl.sssp(g, sources=range(g.n), **o)),
    "apsp_negative": ("negative", lambda g, **o: kl.apsp(g, method="floyd_warshall", **o)),
    "apsp_float": ("float", lambda g, **options: kl.apsp(g, method="floyd_warshall", **options)),
    "apsp_limit": ("float", lambda g, **o: kl.apsp(g, method="floyd_warshall", limit=5.0, **o)),
    "boolean": ("int", lambda g, **options: kl.closure(g, "boolean", **options)),
    "max_min": ("float", lambda g, **options: kl.closure(g, "max_min", **options)),
    "max_times": ("chances", lambda g, **options: kl.closure(g, "max_times", **options)),
}


@pytest.mark.parametrize("name", ANSWERS)
@given(data=st.data())
def test_any_edit_that_changes_the_answer_is_refused(name: str, data: st.DataObject) -> None:
    kind, solve = ANSWERS[name]
    g = some_graph(data, kind)
    with_tree = data.draw(st.booleans())
    result = solve(g, predecessors=with_tree)
    result.verify()
    values = result._answer.values
    at = data.draw(st.integers(0, g.n - 1)), data.draw(st.integers(0, g.n - 1))
    old = values[at].item()
    numbers: list[Any] = [result.no_path]
    if values.dtype.kind == "b":
        numbers = [not old]
    elif values.dtype.kind == "i":
        ends = np.iinfo(values.dtype)
        numbers += [0, 1, 3, min(old + 1, ends.max), old - 1, ends.min]
    else:
        numbers += [
            0.0,
            1.0,
            0.5,
            old * (1 + 1e-9),
            old * (1 - 1e-9),
            np.nan,
            np.inf,
            -np.inf,
            -1.0,
        ]
    new = data.draw(st.sampled_from(numbers))
    if new == old or abs(new - old) < 1e-12:
        return
    values[at] = new
    tree = result._answer.predecessors
    if tree is not None and data.draw(st.booleans()):
        tree[at] = data.draw(st.integers(-1, g.n - 1))
    with pytest.raises(VerificationError):
        print(result.verify())


@pytest.mark.parametrize("name", ANSWERS)
@given(data=st.data())
def test_any_tree_that_is_none_is_refused(name: str, data: st.DataObject) -> None:
    """Proved predecessors give paths of the right value, without a circle."""
    kind, solve = ANSWERS[name]
    g = some_graph(data, kind)
    result = solve(g, predecessors=True)
    tree, values = result._answer.predecessors, result._answer.values
    assert tree is not None
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, g.n - 1)), data.draw(st.integers(0, g.n - 1))
        tree[at] = data.draw(st.integers(-2, g.n))
    try:
        result.verify()
    except VerificationError:
        return
    weights = {}
    for u, v, w in zip(
        g.coo.sources.tolist(), g.coo.targets.tolist(), g.weights.tolist(), strict=True
    ):
        weights[u, v] = 1 if result.problem == "bfs" or name == "boolean" else w
    steps = {"boolean": min, "max_min": min, "max_times": lambda a, b: a * b}
    join = steps.get(name, lambda a, b: a + b)
    for source in range(g.n):
        for target in range(g.n):
            path = result.path(source, target)
            assert bool(path) == (values[source, target] != result.no_path)
            value = {"boolean": 1, "max_min": np.inf, "max_times": 1}.get(name, 0)
            for arc in pairwise(path):
                value = join(value, weights[arc])
            if path:
                wanted = bool(value) if name == "boolean" else value
                assert wanted == pytest.approx(values[source, target], rel=1e-14, abs=1e-14)


# ---- one by one ---------------------------------------------------------------------------------

CHANCES = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.9, 0.8, 0.5])


def test_a_result_edited_in_memory() -> None:
    r = kl.sssp(CHAIN, 0)
    assert r.reached.all()
    r.distances[4] = np.inf
    assert r.reached.tolist() == [True] * 4 + [False]
    with pytest.raises(VerificationError, match="vertex 4 is not reached and has predecessor 3"):
        r.verify()
    r = kl.apsp(CHAIN, sources=[0, 0])
    r.distances[1, 4] = 99
    with pytest.raises(VerificationError, match="vertex 4 holds 99"):
        r.verify()
    r = kl.apsp(CHAIN, sources=[0, 1])
    r.sources[1] = 7
    with pytest.raises(VerificationError, match="sources hold 7, which is not a vertex"):
        r.verify()
    r = kl.closure(CHANCES, "max_times", sources=[0])
    r.graph = CHAIN
    with pytest.raises(VerificationError, match="values have shape"):
        r.verify()


def test_probabilities_must_be_such() -> None:
    right = kl.closure(CHANCES, "max_times")
    right.graph = CHANCES.reweight(arcs=np.array([0.9, 1.5, 0.8]))
    with pytest.raises(VerificationError, match="weights are not probabilities"):
        right.verify()
    right.graph = CHANCES.reweight(arcs=np.array([0.9, -0.5, 0.8]))
    with pytest.raises(VerificationError, match="weights are not probabilities"):
        right.verify()


def test_floats_that_do_not_count() -> None:
    """Past 2**24 hops, float32 skips numbers."""
    r = kl.bfs(graph("grid"), 0, dtype="float32")
    r.verify()
    r.distances[5] = 2.0**24
    with pytest.raises(VerificationError, match="float32 counts exactly only below"):
        r.verify()
