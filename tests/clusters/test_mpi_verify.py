"""The proof of distributed results: right ones are proved, and every spoiled one is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_communicator import run_ranks
from mpi_samples import SAMPLES

import kleene as kl
from kleene.distributed import DistributedGraph, bfs, sssp, verify

SOME = (1, 3, 7)  # numbers of ranks


def in_parts(comm: Any, graph: kl.Graph) -> DistributedGraph:
    """Return a graph in parts; the last rank brings all arcs."""
    tails, heads, weights = graph.coo
    some = slice(None) if comm.rank == comm.size - 1 else slice(0)
    return DistributedGraph.from_arcs(
        comm, graph.n, tails[some], heads[some], None if weights is None else weights[some]
    )


@pytest.mark.parametrize("ranks", SOME)
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "empty"])
def test_right_results_are_proved(name: str, ranks: int) -> None:
    graph = SAMPLES[name]()

    def work(comm: Any) -> list[Any]:
        parts = in_parts(comm, graph)
        proofs = [
            verify(search(parts, 0, predecessors=predecessors))
            for search in (bfs, sssp)
            for predecessors in (True, False)
        ]
        return [(proof.rows, proof.arcs) for proof in proofs]

    assert run_ranks(ranks, work, seed=ranks) == [[(1, graph.m)] * 4] * ranks


def refused(
    graph: kl.Graph, spoil: Any, ranks: int, search: Any = sssp, source: int = 0, **options: Any
) -> str:
    """Return the message with which every rank refuses a spoiled result."""

    def work(comm: Any) -> str:
        result = search(in_parts(comm, graph), source, **options)
        spoil(result)
        with pytest.raises(kl.VerificationError) as raised:
            verify(result)
        return str(raised.value)

    (message,) = set(run_ranks(ranks, work))
    return message


def set_at(vertex: int, value: Any, name: str = "distances") -> Any:
    def spoil(result: Any) -> None:
        if result.graph.first <= vertex < result.graph.stop:
            getattr(result, name)[vertex - result.graph.first] = value

    return spoil


PATH = kl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 4], [2, 2, 2, 2, 9], n=6)


@pytest.mark.parametrize("ranks", SOME)
def test_spoiled_results_are_refused(ranks: int) -> None:
    for spoil, words in (
        (set_at(0, 1), "the source holds 1"),
        (set_at(3, 7), "vertex 3 holds 7, but the arc 2 -> 3 offers 6"),
        (set_at(3, 5), "vertex 4 holds 8, but the arc 3 -> 4 offers 7"),
        (set_at(4, 7), "vertex 4 holds 7, but no arc from its predecessor 3 gives that"),
        (set_at(3, -1), "no distance is negative"),
        (set_at(5, 3), "vertex 5 is reached and has predecessor -1"),
        (set_at(4, 0, "predecessors"), "no arc from its predecessor 0 gives that"),
        (set_at(4, 1, "predecessors"), "no arc from its predecessor 1 gives that"),
        (set_at(4, 10**6, "predecessors"), "no arc from its predecessor 1000000 gives that"),
        (set_at(4, -1, "predecessors"), "vertex 4 is reached and has predecessor -1"),
        (set_at(5, 4, "predecessors"), "vertex 5 is not reached and has predecessor 4"),
        (set_at(0, 1, "predecessors"), "vertex 0 is reached and has predecessor 1"),
    ):
        assert words in refused(PATH, spoil, ranks)
    unreached = refused(PATH, lambda result: set_at(3, result.no_path)(result), ranks)
    assert "predecessor" in unreached


@pytest.mark.parametrize("ranks", SOME)
def test_spoiled_distances_without_predecessors(ranks: int) -> None:
    for spoil, words in (
        (set_at(4, 7), "vertex 4 holds 7, but no path attains that"),
        (set_at(5, 3), "vertex 5 holds 3, but no path attains that"),
        (lambda result: set_at(4, result.no_path)(result), "the arc"),
    ):
        assert words in refused(PATH, spoil, ranks, predecessors=False)


@pytest.mark.parametrize("ranks", SOME)
@pytest.mark.parametrize("search", [bfs, sssp])
@pytest.mark.parametrize("predecessors", [True, False])
def test_no_path_of_another_problem_is_no_distance(
    predecessors: bool, search: Any, ranks: int
) -> None:
    """2,147,483,647 plus one is taken for itself, so that a cycle of it might attain itself."""
    graph = kl.Graph.from_edges([0, 2, 3], [1, 3, 2], [1, 1, 1])
    other = -1 if search is sssp else 2**31 - 1

    def spoil(result: Any) -> None:
        for vertex, before in ((2, 3), (3, 2)):
            set_at(vertex, other)(result)
            if predecessors:
                set_at(vertex, before, "predecessors")(result)

    assert "vertex" in refused(graph, spoil, ranks, search, predecessors=predecessors)


@pytest.mark.parametrize("ranks", SOME)
@pytest.mark.parametrize("predecessors", [True, False])
def test_a_cycle_of_zeros_hangs_on_nothing(predecessors: bool, ranks: int) -> None:
    """Vertices 1, 2 and 3 attain each other's distance, which no path from the source gives."""
    graph = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [5, 0, 0, 0])

    def spoil(result: Any) -> None:
        for vertex, before in ((1, 3), (2, 1), (3, 2)):
            set_at(vertex, 4)(result)
            if predecessors:
                set_at(vertex, before, "predecessors")(result)

    words = "never lead to the source" if predecessors else "no path attains that"
    assert words in refused(graph, spoil, ranks, predecessors=predecessors)


@pytest.mark.parametrize("ranks", SOME)
def test_hops_and_floats(ranks: int) -> None:
    assert "offers 2" in refused(PATH, set_at(2, 3), ranks, bfs)
    assert "no arc from" in refused(PATH, set_at(4, 0), ranks, bfs)
    floats = PATH.reweight(arcs=PATH.weights / 3)
    assert "no distance is negative" in refused(floats, set_at(2, np.nan), ranks)
    lowered = np.nextafter(kl.sssp(floats, 0).distances[4], 0)
    assert "vertex 4" in refused(floats, set_at(4, lowered), ranks)


@pytest.mark.parametrize("ranks", SOME)
def test_what_a_proof_says(ranks: int) -> None:
    for weights, tolerance in ((PATH.weights, "exact"), (PATH.weights / 3, "exact in float64")):
        graph = PATH.reweight(arcs=weights)
        for proof in run_ranks(ranks, lambda comm, g=graph: verify(sssp(in_parts(comm, g), 0))):
            said = (proof.rows, proof.of, proof.arcs, proof.tolerance)
            assert said == (1, 1, graph.m, tolerance)
            assert 0 <= proof.seconds < 60


@pytest.mark.parametrize("ranks", SOME)
@pytest.mark.parametrize("predecessors", [True, False])
def test_the_source_is_on_any_rank(predecessors: bool, ranks: int) -> None:
    back = kl.Graph.from_edges([5, 4, 3, 5], [4, 3, 2, 2], [2, 2, 2, 9], n=6)

    def work(comm: Any) -> int:
        return verify(sssp(in_parts(comm, back), 5, predecessors=predecessors)).rows

    assert run_ranks(ranks, work) == [1] * ranks
    options: Any = {"source": 5, "predecessors": predecessors}
    assert "the source holds 1" in refused(back, set_at(5, 1), ranks, **options)
    if predecessors:
        spoil = set_at(5, 4, "predecessors")
        assert "vertex 5 is reached and has predecessor 4" in refused(back, spoil, ranks, source=5)


@pytest.mark.parametrize("ranks", SOME)
def test_a_part_has_an_entry_for_each_vertex(ranks: int) -> None:
    def cut(name: str) -> Any:
        return lambda result: setattr(result, name, np.append(getattr(result, name), 0)[:1])

    for name in ("distances", "predecessors"):
        graph = kl.generate.path(3 * ranks)
        assert refused(graph, cut(name), ranks) == f"a rank of 3 vertices has 1 {name}"


def test_negative_weights_are_proved_by_one_process() -> None:
    graph = in_parts(kl.distributed.Communicator(), PATH)
    by_hops, by_lengths = bfs(graph, 0), sssp(graph, 0)
    graph.weights = -PATH.weights
    assert verify(by_hops).rows == 1
    with pytest.raises(kl.RequestError, match="verify them in one process"):
        verify(by_lengths)


@pytest.mark.parametrize("ranks", SOME)
def test_no_path_attains_nothing(ranks: int) -> None:
    """One hop more than none, which is -1, is what the source holds."""
    graph = kl.Graph.from_edges([0, 2], [1, 3])
    words = refused(graph, set_at(3, 0), ranks, bfs, predecessors=False)
    assert words == "vertex 3 holds 0, but no path attains that"


@pytest.mark.parametrize("ranks", SOME)
def test_the_vertex_in_question_is_named(ranks: int) -> None:
    cycle = kl.Graph.from_edges([0, 0, 2, 3, 4], [1, 2, 3, 4, 2], [1, 5, 0, 0, 0])

    def spoil(result: Any) -> None:
        for vertex, before in ((2, 4), (3, 2), (4, 3)):
            set_at(vertex, 4)(result)
            set_at(vertex, before, "predecessors")(result)

    assert refused(cycle, spoil, ranks) == "the predecessors of vertex 2 never lead to the source"
    far = kl.Graph.from_edges([0, 0], [1, 5], [1, 9])
    words = "vertex 5 holds 10, but the arc 0 -> 5 offers 9"
    assert refused(far, set_at(5, 10), ranks) == words
