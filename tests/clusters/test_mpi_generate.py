"""R-MAT graphs in parts are those of one process, bit for bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fake_communicator import run_ranks
from mpi_samples import RANKS, assert_same_graph, described

import kleene as kl
from kleene import _native
from kleene.distributed import rmat
from kleene.generate.kronecker import rmat_tables

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "integers": {"weights": (1, 255)},
    "floats": {"weights": (0.0, 1.0, "float32"), "noise": 0.1},
    "one weight": {"weights": 7, "relabel": False},
    "undirected": {"directed": False, "weights": (1, 9)},
    "skewed": {"a": 0.9, "b": 0.05, "c": 0.05, "relabel": False},
}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", OPTIONS)
def test_the_graph_of_one_process(name: str, ranks: int) -> None:
    options = OPTIONS[name]
    whole = kl.generate.rmat(7, 4, seed=5, **options)
    parts = run_ranks(
        ranks, lambda comm: described(rmat(7, 4, seed=5, comm=comm, **options)), seed=ranks
    )
    assert_same_graph(parts, whole)


def test_fewer_vertices_and_arcs_than_ranks() -> None:
    for scale, factor in ((0, 1), (1, 1), (1, 0)):
        whole = kl.generate.rmat(scale, factor, seed=1)
        parts = run_ranks(7, lambda comm: described(rmat(scale, factor, seed=1, comm=comm)))  # noqa: B023
        assert_same_graph(parts, whole)


@pytest.mark.parametrize("relabel", [False, True])
def test_ranges_of_arcs(relabel: bool) -> None:
    """Short ranges compute the new numbers of vertices, long ones write them down."""
    n, arcs, tables = rmat_tables(9, 4, 0.57, 0.19, 0.19, 0.0, 3)
    whole = _native.rmat_arcs(tables, n, 0, arcs, relabel, 3, 2)
    cuts = [0, 1, 20, 20 + n - 1, 20 + 2 * n, arcs]
    ranges = [
        _native.rmat_arcs(tables, n, begin, end - begin, relabel, 3, 2)
        for begin, end in pairwise(cuts)
    ]
    for end, drawn in enumerate(whole):
        assert np.array_equal(np.concatenate([arcs[end] for arcs in ranges]), drawn)


def test_what_cannot_be_drawn_in_parts() -> None:
    def attempt(comm: Any, **options: Any) -> str:
        with pytest.raises(kl.RequestError) as raised:
            rmat(5, comm=comm, **options)
        return str(raised.value)

    for options, words in (
        ({"weights": lambda rng, count: rng.random(count)}, "no rank has the whole graph"),
        ({"a": 2}, "a must be from 0 to 1"),
        ({"seed": -1}, "seed must be"),
    ):
        (message,) = set(run_ranks(3, lambda comm: attempt(comm, **options)))  # noqa: B023
        assert words in message


def test_memory_is_asked_for_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the memory of a machine, each of its ranks has its share."""

    def attempt(comm: Any, scale: int) -> str:
        with pytest.raises(kl.MemoryBudgetError) as raised:
            rmat(scale, comm=comm)
        return str(raised.value)

    (message,) = set(run_ranks(4, lambda comm: attempt(comm, 34)))
    assert "on each of 4 ranks" in message
    assert "more machines" in message
    monkeypatch.setattr("kleene.graph.checks.available_memory", lambda: 2**36)
    (message,) = set(run_ranks(2, lambda comm: attempt(comm, 26)))
    assert "but 32.0 GiB are available" in message
