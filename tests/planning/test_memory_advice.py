"""Advice of MemoryBudgetError: it names keywords of the call that was refused, and no others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.planning import plan

#: Calls by name, with the arguments that they need beside a graph.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda call, g: call(g)
        for name in (
            "closeness", "harmonic", "eccentricity", "diameter", "radius", "center", "periphery",
            "distance_histogram", "efficiency", "wiener_index", "reduce_distances", "betweenness",
            "components", "apsp", "closure",
        )
    },
    "path_counts": lambda call, g: call(g, 0),
    "loads": lambda call, g: call(g, [(0, 5, 1.0), (7, 9, 1.0)]),
    "within": lambda call, g: call(g, [0, 1], 50),
    "nearest": lambda call, g: call(g, [0, 1]),
    "ego": lambda call, g: call(g, 0, 50),
    "k_shortest": lambda call, g: call(g, 0, 9, 2),
    "sssp": lambda call, g: call(g, sources=range(9)),
    "bfs": lambda call, g: call(g, sources=range(900)),
}  # fmt: skip


def graphs() -> dict[str, kl.Graph]:
    floats = kl.generate.grid(60, 60, weights=(0.5, 9.0), seed=1)
    whole = kl.generate.grid(60, 60, weights=(1, 9), seed=1)
    assert whole.weights is not None
    wide = whole.reweight(arcs=whole.weights.astype(np.int64))
    return {"float64": floats, "int64": wide, "hops": kl.generate.grid(60, 60)}


GRAPHS = graphs()


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that sets how much memory calls may take."""

    def allow(most: str) -> None:
        monkeypatch.setattr(plan, "_PLANS", {})
        monkeypatch.setenv("KLEENE_MEMORY", most)

    return allow


def refusal(call: Callable[[], Any]) -> kl.MemoryBudgetError | None:
    try:
        call()
    except kl.MemoryBudgetError as error:
        return error
    return None


def keywords(error: kl.MemoryBudgetError) -> set[str]:
    return set(re.findall(r"\b([a-z_]+)=", str(error)))


@pytest.mark.parametrize("name", CALLS)
def test_advice_names_keywords_of_the_call(name: str, memory: Callable[[str], None]) -> None:
    call = getattr(kl, name)
    refused = 0
    for most in ("1M", "400K", "100K", "20K"):
        memory(most)
        for kind, graph in GRAPHS.items():
            error = refusal(lambda graph=graph: CALLS[name](call, graph))  # type: ignore[misc]
            if error is None:
                continue
            refused += 1
            unknown = keywords(error) - set(inspect.signature(call).parameters)
            assert not unknown, (most, kind, str(error))
            assert error.advice or ";" in error.problem, str(error)  # it says what to do
    assert refused


@pytest.mark.parametrize("name", ["closeness", "harmonic", "distance_histogram"])
def test_samples_that_are_advised_fit(name: str, memory: Callable[[str], None]) -> None:
    memory("1M")
    call, graph = getattr(kl, name), GRAPHS["float64"]
    error = refusal(lambda: call(graph))
    assert error is not None
    found = re.search(r"samples=(\d+)", str(error))
    assert found is not None
    call(graph, samples=int(found[1]))
    memory("300K")  # too little for one source
    error = refusal(lambda: call(graph))
    assert error is not None
    assert error.advice == ((None, "a machine with more memory"),)


def test_without_keywords_advice_is_more_memory(memory: Callable[[str], None]) -> None:
    for call, budget in ((kl.wiener_index, "1M"), (kl.efficiency, "1M"), (kl.eccentricity, "90K")):
        memory(budget)
        error = refusal(lambda call=call: call(GRAPHS["float64"]))  # type: ignore[misc]
        assert error is not None
        assert error.advice == ((None, "a machine with more memory"),)


def test_advice_for_pairs_matrices_and_turns(memory: Callable[[str], None]) -> None:
    graph = GRAPHS["float64"]
    prepared = kl.prepare(graph)
    turns = kl.TurnGraph(graph, u_turns=7)
    matrix = np.full((300, 300), 2.0)[:, ::-1]
    memory("150K")
    error = refusal(lambda: kl.sssp(graph, pairs=[(0, 5), (7, 9)]))
    assert error is not None
    assert keywords(error) <= {"predecessors", "dtype"}
    error = refusal(prepared.closure)
    assert error is not None
    assert keywords(error) == {"out"}
    error = refusal(lambda: prepared.matrix(range(graph.n)))
    assert error is not None
    assert keywords(error) == {"sources", "out"}
    error = refusal(turns.apsp)
    assert error is not None
    assert "predecessors" in keywords(error)
    assert "out" not in keywords(error)
    error = refusal(lambda: kl.close_distances(matrix))
    assert error is not None
    assert not keywords(error)


def test_close_distances_does_not_advise_dtype() -> None:
    with pytest.raises(kl.RequestError, match="float32 is too narrow") as caught:
        kl.close_distances(np.full((3, 3), 3e38, np.float32))
    assert "dtype" not in str(caught.value)
