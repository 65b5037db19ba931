"""BFS and SSSP over parts of a graph, on ranks whose messages are delayed and reordered."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from fake_communicator import Aborted, run_ranks
from hypothesis import given, settings
from hypothesis import strategies as st
from traffic_model import predict_bfs, predict_sssp

import kleene as kl
from kleene import _native
from kleene.distributed import Communicator, DistributedGraph, Partition, bfs, sssp

RANKS = [1, 2, 3, 4, 7]


class Edges(NamedTuple):
    """What a graph is made of, and who brings which edge."""

    n: int
    tails: Any
    heads: Any
    weights: Any
    directed: bool
    brings: Any  # random numbers, taken modulo the number of ranks

    def whole(self) -> kl.Graph:
        return kl.Graph.from_edges(
            self.tails, self.heads, self.weights, n=self.n, directed=self.directed
        )

    def part(
        self, communicator: Communicator, partition: Partition | None = None
    ) -> DistributedGraph:
        own = self.brings % communicator.size == communicator.rank
        weights = None if self.weights is None else self.weights[own]
        return DistributedGraph.from_arcs(
            communicator, self.n, self.tails[own], self.heads[own], weights, self.directed,
            partition,
        )  # fmt: skip


def random_edges(
    seed: int, n: int, m: int, weights: str | None = "int", directed: bool = True
) -> Edges:
    random = np.random.default_rng(seed)
    tails, heads = random.integers(0, n, (2, m)) if n else np.empty((2, 0), dtype=int)
    values = {
        None: None,
        "int": random.integers(0, 9, m).astype(np.int32),
        "wide": random.integers(0, 2**40, m),
        "float32": random.random(m).astype(np.float32),
        "float64": random.random(m) * (random.random(m) < 0.8),
    }[weights]
    return Edges(n, tails, heads, values, directed, random.integers(0, 2**20, m))


def check(graph: kl.Graph, results: list[Any], wanted: kl.Result) -> None:
    """Check the parts of an answer: distances to the bit, predecessors by the arcs."""
    distances = np.concatenate([result.distances for result in results])
    assert distances.dtype == wanted.distances.dtype
    np.testing.assert_array_equal(distances, wanted.distances)
    if results[0].predecessors is None:
        return
    before = np.concatenate([result.predecessors for result in results])
    assert before.dtype == wanted.predecessors.dtype
    source, reached = results[0].source, distances != results[0].no_path
    expected = reached.copy()
    expected[source] = False
    np.testing.assert_array_equal(before >= 0, expected)
    hops = results[0].problem == "bfs" or graph.weights is None
    weights = np.ones(graph.m, dtype=distances.dtype) if hops else graph.weights
    arcs = dict(
        zip(
            zip(graph.coo.sources.tolist(), graph.coo.targets.tolist(), strict=True),
            weights.astype(distances.dtype),
            strict=True,
        )
    )
    for v in np.flatnonzero(expected).tolist():
        assert distances[before[v]] + arcs[int(before[v]), v] == distances[v]
    depths = np.full(graph.n, -1)
    depths[source] = 0
    for _ in range(graph.n):  # all chains end at the source
        depths = np.where(
            before >= 0, np.where(depths[before] >= 0, depths[before] + 1, -1), depths
        )
    assert (depths[reached] >= 0).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_graph_ranks_and_schedule(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 24), "n")
    edges = random_edges(
        data.draw(st.integers(0, 999), "graph"),
        n,
        data.draw(st.integers(0, 90), "m"),
        data.draw(st.sampled_from([None, "int", "wide", "float32", "float64"]), "weights"),
        data.draw(st.booleans(), "directed"),
    )
    ranks = data.draw(st.sampled_from(RANKS), "ranks")
    cuts = data.draw(
        st.none() | st.lists(st.integers(0, n), min_size=ranks - 1, max_size=ranks - 1)
    )
    partition = None if cuts is None else Partition([0, *sorted(cuts), n])
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3), "sources")
    keep = data.draw(st.booleans(), "predecessors")
    incoming = data.draw(st.booleans(), "incoming")
    delta = data.draw(st.sampled_from([None, 0, 0.5, 3, 1e300]), "delta")

    def work(communicator: Communicator) -> list[Any]:
        part = edges.part(communicator, partition)
        if incoming:
            assert part.incoming.m == part.m
        hops = [bfs(part, source, predecessors=keep) for source in sources]
        return hops + [sssp(part, source, predecessors=keep, delta=delta) for source in sources]

    seed, limit = (
        data.draw(st.integers(0, 999), "schedule"),
        data.draw(st.sampled_from([1, 40, 2**30])),
    )
    answers = run_ranks(ranks, work, seed, round_bytes=limit)
    whole = edges.whole()
    for at, source in enumerate(sources):
        check(whole, [answer[at] for answer in answers], kl.bfs(whole, source))
        weighted = [answer[len(sources) + at] for answer in answers]
        check(whole, weighted, kl.sssp(whole, source))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("directed", [True, False])
def test_traffic_is_as_predicted(ranks: int, directed: bool) -> None:
    for seed, (n, m) in enumerate([(60, 300), (60, 70), (3, 2), (200, 900)]):
        edges = random_edges(seed, n, m, "int", directed)
        whole, bounds = edges.whole(), [rank * n // ranks for rank in range(ranks + 1)]

        def work(communicator: Communicator, edges: Edges = edges) -> list[Any]:
            part = edges.part(communicator)
            results = [bfs(part, 1), bfs(part, 1, predecessors=False), sssp(part, 1, delta=2)]
            before = communicator.traffic
            assert part.incoming.n == edges.n
            assert (communicator.traffic != before) == directed
            return [*results, bfs(part, 1)]

        for found in run_ranks(ranks, work, seed):
            pull = not directed
            wanted = predict_bfs(whole, bounds, 1, pull=pull)
            assert found[0].stats == wanted
            assert found[1].stats == predict_bfs(whole, bounds, 1, False, pull)
            assert found[2].stats == predict_sssp(whole, bounds, 1, 2, 4)
            assert found[3].stats == predict_bfs(whole, bounds, 1, pull=True)
            if ranks == 1:
                assert found[0].stats[:2] == (0, 0)
        if n == 200:
            assert predict_bfs(whole, bounds, 1, pull=True).pulled > 0


@pytest.mark.parametrize("ranks", [1, 3, 7])
def test_paths_and_gathered_answers(ranks: int) -> None:
    edges = random_edges(4, 40, 70, "int")
    whole = edges.whole()

    def work(communicator: Communicator) -> Any:
        result = sssp(edges.part(communicator), 2)
        return result.gather(), [result.path(v) for v in range(40)], result.reached

    answers = run_ranks(ranks, work, 5)
    wanted = kl.sssp(whole, 2)
    np.testing.assert_array_equal(answers[0][0].distances, wanted.distances)
    assert [answer[0] for answer in answers[1:]] == [None] * (ranks - 1)
    np.testing.assert_array_equal(np.concatenate([a[2] for a in answers]), wanted.reached)
    weights = dict(zip(zip(*whole.coo[:2], strict=True), whole.weights, strict=True))
    for v, path in enumerate(answers[0][1]):
        assert all(answer[1][v] == path for answer in answers)
        assert bool(path) == bool(wanted.reached[v])
        if path:
            assert (path[0], path[-1]) == (2, v)
            assert sum(weights[step] for step in pairwise(path)) == wanted.distances[v]


def test_graphs_without_vertices_and_without_arcs() -> None:
    def work(communicator: Communicator) -> Any:
        empty = DistributedGraph.from_arcs(communicator, 0, [], [])
        with pytest.raises(kl.GraphError, match="the graph is empty"):
            bfs(empty, 0)
        lonely = DistributedGraph.from_arcs(communicator, 5, [], [], [])
        return bfs(lonely, 3).gather(), sssp(lonely, 3).gather()

    hops, lengths = run_ranks(3, work)[0]
    assert hops.distances.tolist() == [-1, -1, -1, 0, -1]
    wanted = kl.sssp(kl.Graph.from_edges([], [], np.empty(0), n=5), 3)
    assert lengths.distances.dtype == wanted.distances.dtype
    np.testing.assert_array_equal(lengths.distances, wanted.distances)


def test_types_are_those_of_one_machine() -> None:
    tails, heads = np.arange(5), np.arange(1, 6)
    for weights in (np.full(5, 2**30, np.int32), np.full(5, 2.0**126, np.float32), [1] * 5):
        whole = kl.Graph.from_edges(tails, heads, weights)

        def work(communicator: Communicator, weights: Any = weights) -> Any:
            own = slice(communicator.rank, None, communicator.size)
            part = DistributedGraph.from_arcs(
                communicator, 6, tails[own], heads[own], np.asarray(weights)[own]
            )
            with pytest.raises(kl.RequestError, match="dtype must be"):
                sssp(part, 0, dtype="int16")
            return sssp(part, 0).gather(), sssp(part, 0, dtype=np.float64).gather()

        narrow, wide = run_ranks(3, work)[0]
        wanted = kl.sssp(whole, 0)
        assert narrow.distances.dtype == wanted.distances.dtype
        np.testing.assert_array_equal(narrow.distances, wanted.distances)
        assert wide.distances.dtype == np.float64
    part = DistributedGraph.from_arcs(Communicator(), 6, tails, heads, np.full(5, 2**62))
    with pytest.raises(kl.PathOverflowError):
        sssp(part, 0)


def test_a_rank_that_brings_nothing_needs_no_weights() -> None:
    def work(communicator: Communicator) -> Any:
        brings = ([0, 1], [1, 2], [2, 3]) if communicator.rank == 1 else ([], [], None)
        return sssp(DistributedGraph.from_arcs(communicator, 3, *brings), 0).gather()

    gathered = run_ranks(3, work)[0]
    assert gathered.distances.tolist() == [0, 2, 5]
    assert gathered.distances.dtype == np.int64


# ---- errors --------------------------------------------------------------------------------------


def raised_on_all(ranks: int, work: Any, kind: type[Exception], match: str) -> None:
    """Check that every rank raises the same error."""

    def caught(communicator: Communicator) -> str:
        with pytest.raises(kind, match=match) as error:
            work(communicator)
        communicator.barrier()  # all are still together
        return str(error.value)

    assert len(set(run_ranks(ranks, caught, 3))) == 1


def test_a_wrong_arc_on_one_rank_is_an_error_on_all() -> None:
    good = [0, 1], [1, 2], [1.0, 2.0]

    def with_fault(**changes: Any) -> Any:
        def work(communicator: Communicator) -> None:
            tails, heads, weights = good
            if communicator.rank == 1:
                tails, heads = changes.get("tails", tails), changes.get("heads", heads)
                weights = changes.get("weights", weights)
            DistributedGraph.from_arcs(communicator, 3, tails, heads, weights)

        return work

    raised_on_all(3, with_fault(heads=[1, 3]), kl.GraphError, "rank 1: the target of arc 1 is")
    raised_on_all(3, with_fault(tails=[-1, 0]), kl.GraphError, "rank 1: the source of arc 0")
    raised_on_all(
        3, with_fault(weights=[1.0, np.nan]), kl.GraphError, "rank 1: the weight of arc 1"
    )
    raised_on_all(3, with_fault(weights=[1.0]), kl.GraphError, "got 1 weights for 2 arcs")
    raised_on_all(3, with_fault(weights=None), kl.GraphError, "some ranks bring weights")
    raised_on_all(3, with_fault(tails=[0]), kl.GraphError, "differ in length")


def test_ranks_that_ask_for_different_things() -> None:
    edges = random_edges(1, 9, 20)

    def other_source(communicator: Communicator) -> None:
        bfs(edges.part(communicator), communicator.rank)

    def no_vertex(communicator: Communicator) -> None:
        sssp(edges.part(communicator), 9 if communicator.rank == 2 else 0)

    def other_partition(communicator: Communicator) -> None:
        edges.part(communicator, Partition([0, 9]))

    def no_predecessors(communicator: Communicator) -> None:
        bfs(edges.part(communicator), 0, predecessors=False).path(1)

    def no_index(communicator: Communicator) -> None:
        edges.part(communicator).index(9)

    def empty(communicator: Communicator) -> None:
        random_edges(1, 0, 0).part(communicator).index(0)

    raised_on_all(3, other_source, kl.RequestError, "all ranks must make the same call")
    raised_on_all(3, no_vertex, kl.GraphError, "9")
    raised_on_all(3, other_partition, kl.GraphError, "the partition has")
    raised_on_all(3, no_predecessors, kl.RequestError, "paths need predecessors")
    raised_on_all(3, no_index, kl.GraphError, "no vertex 9: the graph's vertices are 0 to 8")
    raised_on_all(3, empty, kl.GraphError, "no vertex 0: the graph is empty")


def test_negative_weights_are_refused() -> None:
    def work(communicator: Communicator) -> None:
        weights = [-1 if communicator.rank == 1 else 1]
        part = DistributedGraph.from_arcs(communicator, 5, [communicator.rank], [4], weights)
        assert bfs(part, 0).problem == "bfs"
        sssp(part, 0)

    raised_on_all(3, work, kl.GraphError, "distributed searches need non-negative")
    raised_on_all(
        2, lambda c: sssp(random_edges(1, 5, 5).part(c), 0, delta=-1), kl.RequestError, "delta must"
    )


def test_a_rank_that_fails_alone_ends_the_job(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edges, settle = random_edges(1, 30, 200), _native.part_sssp_settle

    def failing(*arguments: Any) -> Any:
        if arguments[7] == 10:  # the first vertex of rank 1
            raise MemoryError
        return settle(*arguments)

    monkeypatch.setattr(_native, "part_sssp_settle", failing)
    with pytest.raises(Aborted, match="rank 1 ended the job"):
        run_ranks(3, lambda c: sssp(edges.part(c), 0), 1)
    assert capsys.readouterr().err == (
        "kleene: rank 1 of 3 failed in sssp: MemoryError; the job ends\n"
    )
