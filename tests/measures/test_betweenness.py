"""Betweenness: every method beside the plain one and NetworkX, reductions, overflow, bad input."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from functools import cache
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import Graph, RequestError, VerificationError, _native
from kleene.backends.cpu.betweenness import lanes
from kleene.backends.reference.betweenness import brandes
from kleene.backends.task import BetweennessTask
from kleene.registry.measures import HOPS_ONLY
from kleene.system.machine import this_machine

ROWS = [
    row
    for row in kl.methods("betweenness")
    if row.device in this_machine().devices and row.name != "sampled"
]

#: Arguments that change what is summed.
FORMS: dict[str, dict[str, Any]] = {
    "all": {},
    "endpoints": {"endpoints": True},
    "limit": {"limit": 2, "endpoints": True},
    "sources": {"sources": "odd"},
    "targets": {"sources": "odd", "targets": "third", "endpoints": True},
}
LEVELS = range(len(_native.simd_levels()))
WIDTHS = (4, 8, 16, 32, 64)


def counted(g: Graph, hops: bool) -> bool:
    """Return whether shortest paths of this graph can be counted."""
    return g.n > 0 and g.m < 3000 and (hops or g.stats.min_weight > 0)


def keywords(g: Graph, form: str) -> dict[str, Any]:
    chosen = {"odd": range(g.n)[::2], "third": range(g.n)[::3]}
    return {name: chosen.get(value, value) for name, value in FORMS[form].items()}


@cache
def plain(name: str, hops: bool, form: str) -> kl.Betweenness:
    g = graphs.graph(name)
    return kl.betweenness(g, device="reference", edges=True, hops=hops, **keywords(g, form))


def agree(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


# ---- every method -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}-{row.device}")
def test_graphs_of_all_kinds(row: Any, form: str) -> None:
    for name in graphs.names():
        g = graphs.graph(name)
        for hops in (True, False):
            known = g.weight_dtype is None or hops or row.name not in HOPS_ONLY
            if not counted(g, hops) or not known:
                continue
            if row.device == "emulated" and g.n > 200 and form in ("all", "endpoints"):
                continue  # other forms take less long, and have both
            found = kl.betweenness(
                g, method=row.name, device=row.device, edges=True, hops=hops, **keywords(g, form)
            )
            right = plain(name, hops, form)
            agree(found.values, right.values)
            agree(found.arcs, right.arcs)
            assert found.plan.method == row.name


def random_graph(draw: Any, directed: bool) -> Graph:
    n = draw(st.integers(1, 14))
    ends = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=30))
    tails, heads = np.array(pairs, dtype=int).reshape(-1, 2).T
    return Graph.from_edges(tails, heads, n=n, directed=directed)


@st.composite
def tasks(draw: Any) -> BetweennessTask:
    g = random_graph(draw, draw(st.booleans()))
    some = st.lists(st.integers(0, g.n - 1), min_size=1, unique=True)
    sources = draw(st.one_of(st.none(), some))
    targets = draw(st.one_of(st.none(), some))
    return BetweennessTask(
        g, np.arange(g.n, dtype=np.int32) if sources is None else np.array(sources, np.int32),
        None if targets is None else np.array(targets, np.int32), True,
        draw(st.one_of(st.none(), st.integers(0, 4))), draw(st.booleans()), True, 1,
    )  # fmt: skip


@given(tasks(), st.sampled_from(WIDTHS), st.sampled_from(LEVELS))
def test_random_tasks_in_all_widths_and_levels(
    task: BetweennessTask, width: int, level: int
) -> None:
    for ours, theirs in zip(lanes(task, width, level), brandes(task), strict=True):
        agree(ours, theirs)


@given(st.data(), st.booleans())
def test_trees_on_cycles_are_folded(data: Any, endpoints: bool) -> None:
    """A vertex joins an earlier one, which makes trees; some more edges make cycles."""
    n = data.draw(st.integers(1, 25))
    tree = [(v, data.draw(st.integers(0, v - 1))) for v in range(1, n) if data.draw(st.booleans())]
    more = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=4))
    tails, heads = np.array(tree + more, dtype=int).reshape(-1, 2).T
    g = Graph.from_edges(tails, heads, n=n, directed=False)
    everyone = np.arange(n, dtype=np.int32)
    task = BetweennessTask(g, everyone, None, True, None, endpoints, True, 1)
    for ours, theirs in zip(lanes(task), brandes(task), strict=True):
        agree(ours, theirs)


def test_the_core_of_a_folded_graph_is_what_lies_on_cycles() -> None:
    """A triangle with a path of two edges, and a tree apart."""
    g = Graph.from_edges([0, 1, 2, 2, 3, 5], [1, 2, 0, 3, 4, 6], directed=False)
    through, along = np.zeros(g.n), np.zeros(g.m)
    core = _native.fold_trees(g.offsets, g.neighbors, False, through, along)
    assert [part.tolist() for part in core[:3]] == [[0, 1, 2], [1.0, 1.0, 3.0], [0, 2, 4, 6]]
    assert through.tolist() == [0, 0, 8, 6, 0, 0, 0]  # ordered pairs


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("sources", [1, 3, 70])
def test_threads_share_batches_or_take_them(threads: int, sources: int) -> None:
    g = kl.generate.rmat(9, 8, seed=4)
    chosen = np.arange(sources, dtype=np.int32)
    task = BetweennessTask(g, chosen, None, True, None, True, True, threads)
    right = lanes(replace(task, threads=1), 4)
    for width in (4, 64):
        for ours, theirs in zip(lanes(task, width), right, strict=True):
            agree(ours, theirs)


# ---- NetworkX -----------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("normalized", [True, False])
def test_networkx_returns_the_same(directed: bool, weight: str | None, normalized: bool) -> None:
    rng = np.random.default_rng(8)
    tails, heads, weights = rng.integers(0, 40, (3, 120))
    g = Graph.from_edges(tails, heads, weights % 5 + 1, n=40, directed=directed)
    network, hops = g.to_networkx(), weight is None
    common = {"normalized": normalized, "weight": weight}

    def same(ours: kl.Betweenness, theirs: dict[int, float]) -> None:
        agree(ours.values, [theirs[v] for v in range(40)])

    def same_edges(ours: kl.Betweenness, theirs: dict[tuple[int, int], float]) -> None:
        assert ours.arcs is not None
        ends = zip(*(end.tolist() for end in g.coo[:2]), strict=True)
        of_arc = dict(zip(ends, ours.arcs.tolist(), strict=True))
        agree([of_arc[edge] for edge in theirs], list(theirs.values()))

    for endpoints in (False, True):
        b = kl.betweenness(g, edges=True, hops=hops, normalized=normalized, endpoints=endpoints)
        same(b, nx.betweenness_centrality(network, endpoints=endpoints, **common))
        same_edges(b, nx.edge_betweenness_centrality(network, **common))
    some = {"sources": [3, 5, 8, 30], "targets": [1, 5, 9]}
    b = kl.betweenness(g, edges=True, hops=hops, normalized=normalized, **some)
    same(b, nx.betweenness_centrality_subset(network, **some, **common))
    same_edges(b, nx.edge_betweenness_centrality_subset(network, **some, **common))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("endpoints", [True, False])
def test_random_sources_are_scaled_as_in_networkx(
    directed: bool, normalized: bool, endpoints: bool
) -> None:
    from networkx.algorithms.centrality.betweenness import _rescale

    g = kl.generate.rmat(6, 4, seed=2)
    g = g if directed else g.symmetrise()
    b = kl.betweenness(g, samples=9, normalized=normalized, endpoints=endpoints, seed=5)
    assert b.sources is not None
    assert len(set(b.sources.tolist())) == 9
    sums, _ = brandes(BetweennessTask(g, b.sources, None, True, None, endpoints, False, 1))
    right = _rescale(
        dict(enumerate(sums.tolist())), g.n, normalized=normalized, directed=directed,
        endpoints=endpoints, sampled_nodes=b.sources.tolist(),
    )  # fmt: skip
    agree(b.values, list(right.values()))
    again = kl.betweenness(g, samples=9, normalized=normalized, endpoints=endpoints, seed=5)
    assert np.array_equal(b.values, again.values)


def test_as_many_samples_as_vertices_are_exact() -> None:
    g = kl.generate.grid(4, 4)
    b = kl.betweenness(g, samples=99)
    agree(b.values, kl.betweenness(g).values)
    assert b.sources is None


def test_one_sample_says_nothing_of_itself() -> None:
    b = kl.betweenness(kl.generate.cycle(5), samples=1)
    assert np.isfinite(b.values).all()
    assert b.sources is not None
    assert b[int(b.sources[0])] == 0


# ---- results ------------------------------------------------------------------------------------


def test_rows_have_both_directions() -> None:
    table = {"source": ["a", "b", "c", "b"], "target": ["b", "c", "a", "a"], "weight": [1, 1, 5, 3]}
    undirected = kl.betweenness(Graph.from_table(table, directed=False), edges=True)
    assert undirected.rows is not None
    agree(undirected.rows, [2 / 3, 2 / 3, 0, 0])  # the last row is parallel to the first
    directed = kl.betweenness(Graph.from_table(table), edges=True, normalized=False)
    assert directed.rows is not None
    agree(directed.rows, [3, 2, 2, 1])
    assert kl.betweenness(kl.generate.path(3), edges=True).rows is None
    assert kl.betweenness(Graph.from_table(table)).rows is None


@pytest.mark.parametrize("form", FORMS)
def test_proofs_find_what_is_wrong(form: str) -> None:
    g = kl.generate.rmat(8, 6, seed=1).symmetrise()
    b = kl.betweenness(g, edges=True, **keywords(g, form))
    assert b.verify(sample=3).rows == 3
    count = g.n if b.sources is None else len(b.sources)
    assert b.verify(sample=count).rows == count
    through, along = b._sums
    assert along is not None
    for spoiled in ((through + (np.arange(g.n) == 7), along), (through, along * 1.0001)):
        b._sums = spoiled
        for sample in (3, count):  # the first by the sum of all numbers
            with pytest.raises(VerificationError, match="the sum"):
                b.verify(sample=sample)


def test_a_proof_with_weights_repeats_sources() -> None:
    b = kl.betweenness(kl.datasets.rome(), sources=range(1, 40))
    assert b.verify(sample=2).rows == 2


def test_the_smallest_graphs() -> None:
    for n in range(4):
        b = kl.betweenness(Graph.from_edges([], [], n=n), edges=True)
        assert b.values.tolist() == [0.0] * n
        assert len(b.arcs) == 0  # type: ignore[arg-type]
        assert b.verify().rows == n


def test_plans_and_explanations() -> None:
    g = kl.generate.grid(5, 5)
    assert kl.explain(g, "betweenness").method == "lanes"
    weighted = g.reweight(2.5)
    assert kl.explain(weighted, "betweenness").method != "lanes"
    assert kl.explain(weighted, "betweenness", hops=True).method == "lanes"
    assert kl.betweenness(weighted, hops=True).plan.method == "lanes"


def test_the_emulator_measures_a_graph_that_is_there_on_request() -> None:
    """As it searches: what the GPU would do with a placed graph, test_cuda_choice says."""
    g = kl.generate.grid(5, 5).to("emulated")
    for options, device in (({}, "cpu"), ({"device": "emulated"}, "emulated")):
        plan = kl.betweenness(g, **options).plan
        assert (plan.method, plan.device) == ("lanes", device)
        assert kl.bfs(g, 0, **options).plan.device == device


# ---- bad input, progress, Ctrl-C ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sources": []}, "sources is empty"),
        ({"targets": []}, "targets is empty"),
        ({"sources": [99]}, "99"),
        ({"sources": 3}, "sources must be a sequence"),
        ({"limit": float("nan")}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": "2"}, "limit"),
        ({"samples": 0}, "samples"),
        ({"samples": 2.5}, "samples"),
        ({"samples": 2, "sources": [1]}, "not both"),
        ({"error": 2}, "error must be"),
        ({"error": 0.1, "confidence": 1}, "confidence must be"),
        ({"error": 0.1, "sources": [1]}, "leave out sources"),
        ({"error": 0.1, "samples": 3}, "leave out samples"),
        ({"method": "sampled"}, "error="),
        ({"error": 0.1, "method": "lanes"}, "error="),
        ({"method": "nearest"}, "method"),
        ({"seed": -1}, "seed"),
        ({"hops": 2}, "hops"),
        ({"edges": "yes"}, "edges"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.KleeneError, match=message):
        kl.betweenness(kl.generate.grid(3, 3), **arguments)


def test_bad_weights_are_refused() -> None:
    with pytest.raises(RequestError, match=r"non-negative weights.*; count arcs by hops=True$"):
        kl.betweenness(Graph.from_edges([0], [1], [-1]))
    with pytest.raises(RequestError, match="from 1 to 2 has weight zero"):
        kl.betweenness(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [0, 0, 0, 0]))
    with pytest.raises(RequestError, match="cycle"):
        kl.betweenness(Graph.from_edges([0, 1], [1, 2], [0, 4], directed=False))
    with pytest.raises(kl.PathOverflowError, match="int64"):
        kl.betweenness(Graph.from_edges([0, 1], [1, 2], [2**62, 2**62]))
    with pytest.raises(RequestError, match="counts arcs"):
        kl.betweenness(Graph.from_edges([0], [1], [3]), method="lanes")
    chain = kl.betweenness(Graph.from_edges([0, 1, 0], [1, 2, 2], [0, 0, 0]), normalized=False)
    assert chain.values.tolist() == [0, 0.5, 0]
    with pytest.raises(kl.GraphError, match="Graph"):
        kl.betweenness(3)  # type: ignore[arg-type]


def test_progress_counts_sources() -> None:
    seen: list[tuple[int, int]] = []
    g = kl.generate.rmat(8, 8, seed=1)
    kl.betweenness(g, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (g.n, g.n)
    assert all(done <= total == g.n for done, total in seen)


@pytest.mark.parametrize("sources", [None, 3])
def test_interrupt_ends_a_call(sources: int | None) -> None:
    """A batch of a thread's own, or one that threads share: a long path has very many levels."""
    g = kl.generate.grid(1200, 1200) if sources else kl.generate.rmat(14, 16, seed=1)
    chosen = None if sources is None else range(sources)
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def work() -> None:
        while True:
            kl.betweenness(g, sources=chosen, hops=True, threads=2)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.process_time() - sent < 5  # of all cores; what else runs does not count
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
