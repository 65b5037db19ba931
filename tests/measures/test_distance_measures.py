"""Closeness, harmonic centrality, efficiency, the Wiener index and histograms of distances."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_distances import ZOO, measured_graphs, plain_rows

import kleene as kl
from kleene import _native
from kleene.calls.distance_sums import DistanceWork, _OfSources, check_distances
from kleene.engine import reduce
from kleene.system.machine import this_machine

HUBS = kl.generate.rmat(7, 6, seed=2, directed=True)
ROADS = kl.generate.grid(12, 12, weights=(1, 9), seed=3)
FLOATS = kl.generate.rmat(7, 5, seed=4, weights=(0.5, 2.0))


def right_sums(rows: Any, sources: Any = None) -> tuple[Any, Any, Any, Any]:
    """Return, by column, others in reach, sums, sums of inverses, and how many others there are."""
    n = len(rows)
    sources = np.arange(n) if sources is None else np.unique(sources)
    own = np.zeros((n, n), bool)
    own[np.arange(n), np.arange(n)] = True
    part, own = rows[sources], own[sources]
    there = np.isfinite(part) & ~own
    inverses = np.zeros_like(part)
    np.divide(1, part, out=inverses, where=there & (part > 0))
    sums = np.where(there, part, 0).sum(axis=0)
    return there.sum(axis=0), sums, inverses.sum(axis=0), (~own).sum(axis=0)


def right_closeness(rows: Any, sources: Any = None, improved: bool = True) -> Any:
    reached, sums, _, others = right_sums(rows, sources)
    value = np.divide(reached, sums, out=np.zeros(len(rows)), where=sums > 0)
    return value * reached / np.maximum(others, 1) if improved else value


def close(held: Any, right: Any, rtol: float = 1e-11) -> None:
    np.testing.assert_allclose(np.asarray(held), right, rtol=rtol, atol=0)


@pytest.mark.parametrize("hops", [True, False], ids=["hops", "weights"])
@pytest.mark.parametrize("name", ZOO)
def test_the_zoo(name: str, hops: bool) -> None:
    for g in measured_graphs(name):
        rows = plain_rows(g, hops)
        rtol = 1e-6 if g.weight_dtype == np.float32 else 1e-11
        reached, sums, inverses, _ = right_sums(rows)
        c = kl.closeness(g, hops=hops)
        close(c, right_closeness(rows), rtol)
        assert c.reached.tolist() == reached.tolist()
        assert c.verify(sample=None).rows == g.n
        h = kl.harmonic(g, hops=hops)
        close(h, inverses, rtol)
        h.verify()
        n = g.n
        assert kl.efficiency(g, hops=hops) == pytest.approx(
            inverses.sum() / (n * (n - 1)) if n > 1 else 0, rel=rtol
        )
        total = kl.wiener_index(g, hops=hops)
        whole = bool((reached == n - 1).all())
        assert total == pytest.approx(
            (sums.sum() / (1 if g.directed else 2)) if whole else math.inf, rel=rtol
        )


@pytest.mark.parametrize(
    "keywords",
    [
        {"reverse": True},
        {"sources": [3, 70, 3, 9]},
        {"sources": list(range(0, 120, 2)), "reverse": True},
        {"limit": 4},
        {"limit": 3, "hops": True},
        {"limit": 3.5, "reverse": True, "sources": list(range(100))},
        {"hops": True, "sources": list(range(90)), "reverse": True},
        {"threads": 1},
        {"device": "reference"},
    ],
    ids=str,
)
@pytest.mark.parametrize("graph", [HUBS, ROADS, FLOATS], ids=["hubs", "roads", "floats"])
def test_every_keyword(graph: kl.Graph, keywords: Any) -> None:
    hops, limit = keywords.get("hops", False), keywords.get("limit", math.inf)
    searched = graph.transpose() if keywords.get("reverse") else graph
    rows = plain_rows(searched, hops, limit)
    sources = keywords.get("sources")
    c = kl.closeness(graph, **keywords)
    close(c, right_closeness(rows, sources))
    close(kl.closeness(graph, wf_improved=False, **keywords), right_closeness(rows, sources, False))
    h = kl.harmonic(graph, **keywords)
    close(h, right_sums(rows, sources)[2])
    for measure in (c, h):
        assert measure.verify(sample=20).rows == 20
    counted = kl.distance_histogram(graph, bins=[0, 1, 2.5, 7, 100], **keywords)
    chosen = np.arange(graph.n) if sources is None else np.unique(sources)
    assert counted.sources.tolist() == chosen.tolist()
    part = rows[chosen].ravel()
    own = [len(chosen), 0, 0, 0]
    assert counted.counts.tolist() == [
        int(((part >= a) & (part < b)).sum()) - self
        for (a, b), self in zip(pairwise([0, 1, 2.5, 7, 100]), own, strict=True)
    ]
    counted.verify()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130, 300, 512, 513, 1100])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_every_width(count: int, threads: int) -> None:
    """Sets of 64 to 512 searches, full and not, give the sums of their rows."""
    g = kl.generate.rmat(11, 8, seed=7)
    sources = np.random.default_rng(count).choice(g.n, count, replace=False)
    rows = kl.bfs(g, sources=sources, predecessors=False, method="queue").floats
    h = kl.harmonic(g, sources=sources, threads=threads)
    assert h.reached.tolist() == (np.isfinite(rows) & (rows > 0)).sum(axis=0).tolist()
    inverses = np.divide(1, rows, out=np.zeros_like(rows), where=np.isfinite(rows) & (rows > 0))
    close(h, inverses.sum(axis=0))
    if count >= 130:
        assert h.plan.method == "multi_source"
    levels = kl.distance_histogram(g, sources=sources, threads=threads)
    right = np.bincount(rows[np.isfinite(rows)].astype(int))
    right[0] = 0
    assert levels.counts.tolist() == right.tolist()
    assert levels.edges.tolist() == list(range(len(right) + 1))


@given(st.integers(2, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_numbers_are_those_of_networkx(n: int, arcs: Any) -> None:
    arcs = [(a % n, b % n) for a, b in arcs if a % n != b % n]
    for make in (nx.DiGraph, nx.Graph):
        theirs = make(arcs)
        theirs.add_nodes_from(range(n))
        g = kl.Graph.from_networkx(theirs)
        c, h = kl.closeness(g), kl.harmonic(g)
        closeness, harmonic = nx.closeness_centrality(theirs), nx.harmonic_centrality(theirs)
        assert {v: c[v] for v in theirs} == pytest.approx(closeness, rel=1e-12)
        assert {v: h[v] for v in theirs} == pytest.approx(harmonic, rel=1e-12)
        assert kl.wiener_index(g) == nx.wiener_index(theirs)
        plain = nx.closeness_centrality(theirs, wf_improved=False)
        c = kl.closeness(g, wf_improved=False)
        assert {v: c[v] for v in theirs} == pytest.approx(plain, rel=1e-12)
    assert kl.efficiency(g) == pytest.approx(nx.global_efficiency(theirs), rel=1e-12)


@pytest.mark.skipif("emulated" not in this_machine().devices, reason="no emulator in this build")
@pytest.mark.parametrize("hops", [True, False])
def test_rows_of_a_device_are_added_up(hops: bool) -> None:
    g = kl.generate.rmat(6, 5, seed=2, weights=(1, 9))
    c = kl.closeness(g, hops=hops, device="emulated")
    assert c.plan.device == "emulated"
    close(c, right_closeness(plain_rows(g, hops)))
    counts = kl.distance_histogram(g, hops=hops, device="emulated").counts
    assert counts.tolist() == kl.distance_histogram(g, hops=hops).counts.tolist()


def test_distances_to_a_vertex_and_from_it() -> None:
    """The definition is NetworkX's: others are measured by how far they are from the vertex."""
    one_way = kl.Graph.from_edges([0, 1], [1, 2])
    assert kl.closeness(one_way).values.tolist() == [0, 0.5, 2 / 3]
    assert kl.closeness(one_way, reverse=True).values.tolist() == [2 / 3, 0.5, 0]


def test_integers_are_added_exactly() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([2**40, 1, 1], np.int64))
    rows = plain_rows(g)
    assert kl.wiener_index(g) == int(rows.sum())
    assert isinstance(kl.wiener_index(g), int)
    assert kl.closeness(g).totals.dtype == np.int64
    huge = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([2**59, 1, 1], np.int64))
    assert kl.closeness(huge).values[1] == pytest.approx(2 / (2 * 2**59 + 1))


def test_sums_beyond_int64_are_exact() -> None:
    weight, n = 2**50 + 1, 100
    line = kl.Graph.from_edges(
        np.arange(n - 1), np.arange(1, n), np.full(n - 1, weight, np.int64), n=n + 1, directed=False
    )
    path = line.subgraph(range(n))
    assert kl.wiener_index(path) == weight * (n**3 - n) // 6
    heavy = path.reweight(arcs=path.weights * 16)  # sums of a vertex exceed int64, too
    assert kl.wiener_index(heavy) == 16 * weight * (n**3 - n) // 6
    c = kl.closeness(heavy)
    assert c.totals.dtype == object
    assert c.totals[0] == 16 * weight * (n**2 - n) // 2
    assert c.verify().tolerance == "exact"
    apart = kl.closeness(line)
    assert apart.totals[n] == apart.reached[n] == 0


def test_columns_are_added_in_one_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that may exceed int64 are not added up in floats as well, and others not in words."""
    added: list[tuple[str, tuple[int, ...]]] = []
    add = _native.add_columns

    def record(*args: Any) -> None:
        sums = args[4]
        added.append((str(sums.dtype), (0 if sums.base is None else len(sums.base), len(sums))))
        add(*args)

    monkeypatch.setattr(_native, "add_columns", record)
    ends = range(8), range(1, 9)
    huge = kl.Graph.from_edges(*ends, np.full(8, 2**58, np.int64), directed=False)
    small = kl.Graph.from_edges(*ends, np.full(8, 2**40, np.int64), directed=False)
    assert kl.closeness(huge).totals[0] == 36 * 2**58
    assert set(added) == {("int64", (2, 9))}
    added.clear()
    assert kl.closeness(small).totals[0] == 36 * 2**40
    assert kl.harmonic(small).verify().rows == 9
    assert set(added) == {("int64", (0, 9))}
    added.clear()
    assert kl.harmonic(huge)[0] == pytest.approx(sum(1 / d for d in range(1, 9)) / 2**58)
    assert set(added) == {("float64", (0, 9))}


def test_a_proof_of_integers_sees_the_last_bit() -> None:
    weights = np.array([2**54 + 1, 2**54], np.int64)
    c = kl.closeness(kl.Graph.from_edges([0, 1], [1, 2], weights, directed=False))
    assert c.verify().tolerance == "exact"
    c.totals = c.totals + np.array([1, 0, 0])
    with pytest.raises(kl.VerificationError, match="total"):
        c.verify()


def test_bins_of_lengths() -> None:
    """Without bins, widths are powers of two, whatever the order of the sources."""
    g = kl.generate.grid(20, 20, weights=(0.5, 7.5), seed=1)
    rows = plain_rows(g)
    h = kl.distance_histogram(g)
    width = h.edges[1]
    assert math.log2(width) % 1 == 0
    assert 64 < len(h.counts) <= 128
    assert h.edges[-2] <= rows.max() < h.edges[-1]
    right = np.histogram(rows[rows > 0], h.edges)[0]
    assert h.counts.tolist() == right.tolist()
    h.verify()
    small = kl.distance_histogram(g, threads=1)
    assert small.counts.tolist() == h.counts.tolist()
    ints = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 1, 1000])
    h = kl.distance_histogram(ints)
    assert (h.edges[1], len(h.counts), h.counts.sum()) == (8, 126, 6)


@pytest.mark.parametrize("hops", [False, True])
def test_a_part_of_a_measure_is_not_planned_again(
    hops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers compute sums of some sources by the plan that they were given."""
    call = check_distances(kl.generate.grid(6, 7, weights=(1, 9), seed=1), hops=hops)
    part = _OfSources(hops, "sums", DistanceWork.sums)
    plan, want = part.plan(call).plan, DistanceWork.of(call).sums(None)
    monkeypatch.setattr(reduce, "planned", None)
    found = part.compute(call, plan, None)
    assert found.sums.tolist() == want.sums.tolist()


def test_bins_grow_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce, "_BATCH_BYTES", 1)
    chain = np.arange(60)
    for weights in (2.0**chain, 2.0 ** chain[::-1], np.full(60, 0.125)):
        g = kl.Graph.from_edges(chain, chain + 1, weights)
        h = kl.distance_histogram(g, threads=1)
        rows = plain_rows(g)
        part = rows[np.isfinite(rows) & (rows > 0)]
        assert h.counts.tolist() == np.histogram(part, h.edges)[0].tolist()
        assert h.counts.sum() == 60 * 61 / 2
        h.verify()


@pytest.mark.parametrize("call", [kl.closeness, kl.harmonic])
def test_numbers_of_a_sample(call: Any) -> None:
    for graph in (HUBS, ROADS):
        found = call(graph, samples=30, seed=5)
        sources = found._measured.sources
        assert len(set(sources.tolist())) == 30
        assert found.values.tolist() == call(graph, sources=sources).values.tolist()
        assert found.values.tolist() != call(graph, samples=30, seed=6).values.tolist()
        found.verify(sample=20)
        assert call(graph, samples=10**9).values.tolist() == call(graph).values.tolist()


def test_a_sample_of_sources() -> None:
    h = kl.distance_histogram(HUBS, samples=30, seed=5)
    again = kl.distance_histogram(HUBS, samples=30, seed=5)
    assert len(h.sources) == 30
    assert h.counts.tolist() == again.counts.tolist()
    other = kl.distance_histogram(HUBS, samples=30, seed=6)
    assert h.sources.tolist() != other.sources.tolist()
    everything = kl.distance_histogram(HUBS, samples=10**6)
    assert everything.counts.tolist() == kl.distance_histogram(HUBS).counts.tolist()
    assert repr(h).startswith("DistanceHistogram(hops of ")
    frame = h.to_frame()
    assert frame.columns.tolist() == ["from", "to", "pairs"]
    assert frame["pairs"].sum() == h.counts.sum()


def test_no_vertices_and_one() -> None:
    for n in (0, 1):
        g = kl.Graph.from_edges([], [], n=n)
        assert kl.closeness(g).values.tolist() == kl.harmonic(g).values.tolist() == [0] * n
        assert kl.efficiency(g) == 0
        assert kl.wiener_index(g) == 0
        assert kl.distance_histogram(g).counts.sum() == 0
        weighted = kl.Graph.from_edges([], [], np.empty(0), n=n)
        assert kl.distance_histogram(weighted).counts.sum() == 0
        assert kl.closeness(weighted).values.tolist() == [0] * n


def test_labels_tables_and_prepared_graphs() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [3, 4], directed=False, labels=["a", "b", "c"])
    c = kl.closeness(g)
    assert (c["b"], c.top(1)) == (2 / 7, [("b", 2 / 7)])
    assert c.to_frame().columns.tolist() == ["vertex", "closeness"]
    assert kl.closeness(g, sources=["a"]).values.tolist() == [0, 1 / 3, 1 / 7]
    prepared = kl.closeness(kl.prepare(ROADS))
    assert prepared.plan.method == "prepared"
    close(prepared, kl.closeness(ROADS).values)


@pytest.mark.parametrize(
    ("call", "keywords", "message"),
    [
        (kl.closeness, {"sources": []}, "sources is empty"),
        (kl.closeness, {"sources": [99999]}, "99999"),
        (kl.closeness, {"sources": "a"}, "sources must be a sequence"),
        (kl.closeness, {"limit": math.nan}, "limit must be a non-negative number"),
        (kl.harmonic, {"limit": -1}, "limit must be a non-negative number"),
        (kl.closeness, {"wf_improved": 1}, "wf_improved must be True or False"),
        (kl.closeness, {"samples": 0}, "samples"),
        (kl.harmonic, {"samples": 3, "sources": [1]}, "either sources= or samples="),
        (kl.distance_histogram, {"samples": 0}, "samples"),
        (kl.distance_histogram, {"samples": 3, "sources": [1]}, "either sources= or samples="),
        (kl.distance_histogram, {"samples": 3, "seed": -1}, "seed must be"),
        (kl.distance_histogram, {"samples": 3, "seed": "x"}, "seed must be"),
        (kl.distance_histogram, {"bins": [3, 2]}, "ascending"),
        (kl.efficiency, {"device": "tpu"}, "tpu"),
    ],
)
def test_bad_arguments(call: Any, keywords: Any, message: str) -> None:
    with pytest.raises(kl.KleeneError, match=message):
        call(HUBS, **keywords)


@pytest.mark.parametrize(
    "call", [kl.closeness, kl.harmonic, kl.efficiency, kl.wiener_index, kl.distance_histogram]
)
def test_negative_weights_are_refused(call: Any) -> None:
    g = kl.Graph.from_edges([0, 1], [1, 0], [3, -1])
    with pytest.raises(kl.RequestError, match=r"non-negative weights.*kleene\.reduce_distances"):
        call(g)
    call(g, hops=True)
    with pytest.raises(kl.GraphError, match=r"expected a kleene\.Graph"):
        call("graph")


@pytest.mark.parametrize("call", [kl.closeness, kl.harmonic])
@pytest.mark.parametrize("graph", [HUBS, ROADS, FLOATS], ids=["hubs", "roads", "floats"])
def test_a_wrong_number_is_found(call: Any, graph: kl.Graph) -> None:
    for field, what in (("values", "has "), ("totals", "has the total"), ("reached", "in reach")):
        measure = call(graph)
        wrong = np.array(getattr(measure, field))
        wrong[5] += 1
        setattr(measure, field, wrong)
        with pytest.raises(kl.VerificationError, match=what):
            measure.verify(sample=graph.n)


def test_a_wrong_count_is_found() -> None:
    for graph in (HUBS, FLOATS):
        for samples in (None, 40):
            h = kl.distance_histogram(graph, bins=[0, 1.1, 2.2, 9], samples=samples)
            h.verify()
            wrong = np.array(h.counts)
            wrong[1] -= 1
            h.counts = wrong
            with pytest.raises(kl.VerificationError, match="bin 1 has"):
                h.verify()


def test_progress_is_reported_and_may_stop_the_call() -> None:
    for graph in (HUBS, ROADS):
        seen: list[tuple[int, int]] = []
        kl.closeness(graph, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert seen[-1] == (graph.n, graph.n)

        def stop(*_: int) -> None:
            raise KeyError("stopped")

        with pytest.raises(KeyError, match="stopped"):
            kl.closeness(graph, progress=stop)
