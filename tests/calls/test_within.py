"""``kl.within``: bounded searches with sparse answers, beside simple solvers and searches."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from graphs import WITH_NEGATIVE_CYCLE, graph, names
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import best_values
from small_graphs import small_graphs

import kleene as kl
from kleene.graph import checks

POSITIVE = [
    name for name in names() if not graph(name).stats.negative and name not in WITH_NEGATIVE_CYCLE
]


def rows_of(r: kl.Reach) -> list[dict[int, Any]]:
    """Return {vertex: distance} for each source."""
    d = r.distances
    ends = itertools.pairwise(d.indptr.tolist())
    return [dict(zip(d.indices[a:b].tolist(), d.data[a:b].tolist(), strict=True)) for a, b in ends]


def length_of(g: kl.Graph, path: list[int], hops: bool) -> Any:
    matrix = g.to_scipy().tocsr()
    steps = itertools.pairwise(path)
    kind = matrix.dtype.type
    total = kind(0)
    for u, v in steps:
        row = matrix.indices[matrix.indptr[u] : matrix.indptr[u + 1]]
        at = matrix.indptr[u] + int(np.flatnonzero(row == v)[0])
        total = total + (1 if hops else matrix.data[at])
    return total


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_zoo_beside_the_oracle(name: str, hops: bool, reverse: bool) -> None:
    g = graph(name)
    sources = sorted({*range(min(g.n, 6)), *range(max(0, g.n - 2), g.n)})
    if reverse:  # the oracle searches forwards: from every vertex, then turned round
        every = [best_values(name, "min_plus", s, hops) for s in range(g.n)]
        want = [[row[s] for row in every if row is not None] for s in sources]
    else:
        want = [best_values(name, "min_plus", s, hops) or [] for s in sources]
    finite = sorted({float(v) for row in want for v in row if v is not None})
    for limit in {0, *finite[:: max(1, len(finite) // 3)], math.inf}:
        r = kl.within(g, sources, limit, hops=hops, reverse=reverse)
        assert r.distances.shape == (len(sources), g.n)
        for row, right in zip(rows_of(r), want, strict=True):
            near = {v: d for v, d in enumerate(right) if d is not None and d <= limit + 1e-9}
            assert row.keys() == near.keys()
            assert all(abs(float(row[v] - near[v])) < 1e-5 for v in row)
        r.verify()


@pytest.mark.parametrize("name", [n for n in POSITIVE if graph(n).n])
def test_the_same_as_a_dense_search(name: str) -> None:
    g = graph(name)
    whole = kl.sssp(g, sources=range(g.n), method="dijkstra", device="cpu")
    for limit in np.unique(whole.distances[whole.reached])[::7].tolist():
        dense = kl.sssp(g, sources=range(g.n), limit=limit)
        r = kl.within(g, None, limit)
        assert r.distances.dtype == dense.distances.dtype
        assert (sp.csr_array(dense.reached) != (stored(r) != 0)).nnz == 0
        for row, right in zip(rows_of(r), dense.distances, strict=True):
            assert all(right[v] == d for v, d in row.items())


def stored(r: kl.Reach) -> Any:
    d = r.distances
    return sp.csr_array((np.ones(d.nnz), d.indices, d.indptr), shape=d.shape)


def settled(g: kl.Graph, source: int, limit: Any, k: int | None, hops: bool) -> dict[int, Any]:
    """Settle vertices by distance, then position, by loops: {vertex: (distance, before)}."""
    tails, heads, weights = g.coo
    unit = hops or weights is None
    lengths = np.ones(g.m, np.int32) if unit else weights
    found: dict[int, Any] = {source: (lengths.dtype.type(0), -1)}
    done: dict[int, Any] = {}
    while len(done) < len(found) and (k is None or len(done) < k + 1):
        u = min((v for v in found if v not in done), key=lambda v: (found[v][0], v))
        done[u] = found[u]
        for a in range(g.m):
            if tails[a] != u:
                continue
            through, v = done[u][0] + lengths[a], int(heads[a])
            if (limit is None or through <= limit) and (v not in found or through < found[v][0]):
                found[v] = (through, u)
    return done


@settings(max_examples=150)
@given(case=small_graphs(), data=st.data())
def test_every_entry_beside_a_plain_search(case: tuple[kl.Graph, list[int]], data: Any) -> None:
    g, sources = case
    k = data.draw(st.none() | st.integers(1, 6))
    limit = data.draw(st.sampled_from([0, 0.3, 1, 2, 2.5, 4, math.inf] + [None] * (k is not None)))
    hops, reverse = data.draw(st.booleans()), data.draw(st.booleans())
    threads = data.draw(st.sampled_from([1, 2]))
    r = kl.within(g, sources, limit, k=k, hops=hops, reverse=reverse, threads=threads)
    searched = g.transpose() if reverse else g
    for row, source in enumerate(sources):
        right = settled(searched, source, limit, k, hops)
        first, end = r.distances.indptr[row : row + 2]
        assert r.distances.indices[first:end].tolist() == sorted(right)
        assert r.distances.data[first:end].tolist() == [right[v][0] for v in sorted(right)]
        links = r.next_hops if reverse else r.predecessors
        assert links.data[first:end].tolist() == [right[v][1] for v in sorted(right)]
        for v in range(g.n):
            path = r.path(v, source) if reverse else r.path(source, v)
            assert bool(path) == (v in right)
            if path:
                assert (path[0], path[-1]) == ((v, source) if reverse else (source, v))
                assert reverse or length_of(g, path, hops or g.weights is None) == right[v][0]
        nearest_first = r.reached(source).tolist()
        assert nearest_first[0] == source
        assert set(nearest_first) == set(right)
        reached = [right[v][0] for v in nearest_first]
        assert reached == sorted(reached)
    r.verify()
    bare = kl.within(
        g, sources, limit, k=k, hops=hops, reverse=reverse, predecessors=False, threads=threads
    )
    assert bare._links is None
    assert (bare.distances != r.distances).nnz == 0
    bare.verify()


def test_beside_networkx() -> None:
    n = nx.gnm_random_graph(60, 200, seed=1, directed=True)
    for number, (_, _, data) in enumerate(n.edges(data=True)):
        data["weight"] = number % 9 + 1
    g = kl.Graph.from_networkx(n)
    r = kl.within(g, None, 12)
    for row, source in zip(rows_of(r), g.label(np.arange(g.n)).tolist(), strict=True):
        right = nx.single_source_dijkstra_path_length(n, source, cutoff=12)
        assert {g.label(v): d for v, d in row.items()} == right


def test_labels_in_and_out() -> None:
    g = kl.Graph.from_table(
        {"source": ["a", "b", "c"], "target": ["b", "c", "d"], "km": [2.0, 3.0, 4.0]}, weight="km"
    )
    r = kl.within(g, ["c", "a"], limit=5)
    assert r.sources.tolist() == ["c", "a"]
    assert r.reached("a").tolist() == ["a", "b", "c"]
    assert r.path("a", "c") == ["a", "b", "c"]
    assert r.path("a", "d") == []
    table = r.to_frame()
    assert table[["source", "target", "distance"]].values.tolist() == [
        ["c", "c", 0.0], ["c", "d", 4.0], ["a", "a", 0.0], ["a", "b", 2.0], ["a", "c", 5.0],
    ]  # fmt: skip
    assert table.predecessor.isna().tolist() == [True, False, True, False, False]
    assert table.predecessor.dropna().tolist() == ["c", "a", "b"]
    back = kl.within(g, ["d"], limit=7, reverse=True)
    assert back.reached("d").tolist() == ["d", "c", "b"]
    assert back.path("b", "d") == ["b", "c", "d"]
    route = back.route("b", "d")
    assert (route.distance, route.rows.tolist()) == (7.0, [1, 2])
    assert len(back.route("a", "d")) == 0
    assert back.to_frame()["next_hop"].dropna().tolist() == ["c", "d"]
    assert back.to_arrow().column_names == ["source", "target", "distance", "next_hop"]
    with pytest.raises(kl.RequestError, match="next_hops"):
        _ = back.predecessors
    with pytest.raises(kl.RequestError, match=r"reverse=True; this has predecessors"):
        _ = r.next_hops
    assert "to 1 source" in repr(back)
    with pytest.raises(kl.RequestError, match="'b' is not among the sources"):
        r.path("b", "c")
    with pytest.raises(kl.GraphError):
        r.path("a", "x")


def test_integer_labels_are_labels() -> None:
    g = kl.Graph.from_table({"source": [10, 20], "target": [20, 30], "w": [1, 2]}, weight="w")
    r = kl.within(g, [20], limit=9)
    assert r.reached(20).tolist() == [20, 30]
    assert r.distances.indices.tolist() == [1, 2]  # columns are positions
    assert r.predecessors.data.tolist() == [-1, 1]


def test_a_limit_to_the_last_bit() -> None:
    weights = [0.1, 0.2, 0.3, 0.7]
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], weights)
    sums = list(itertools.accumulate(weights))
    for count, total in enumerate(sums, 1):
        assert kl.within(g, [0], total).distances.nnz == count + 1
        assert kl.within(g, [0], np.nextafter(total, 0)).distances.nnz == count
    whole = kl.Graph.from_edges([0, 1], [1, 2], [1, 2])
    assert kl.within(whole, [0], 2.9).distances.nnz == 2
    assert kl.within(whole, [0], 2**80).distances.nnz == 3


def test_ties_of_the_k_nearest_go_by_position() -> None:
    star = kl.Graph.from_edges([0] * 5, [5, 4, 3, 2, 1], [1.0] * 5)
    assert kl.within(star, [0], k=3).reached(0).tolist() == [0, 1, 2, 3]
    assert kl.within(star, [0], k=3, hops=True).reached(0).tolist() == [0, 1, 2, 3]
    # A vertex behind an arc of length zero comes after the one before it, whatever its position.
    zero = kl.Graph.from_edges([0, 3, 0], [3, 1, 2], [1, 0, 2])
    assert kl.within(zero, [0], k=1).reached(0).tolist() == [0, 3]
    assert kl.within(zero, [0], k=2).path(0, 1) == [0, 3, 1]


def test_sources_in_any_order_more_than_once_or_none() -> None:
    g = kl.generate.grid(4, 4)
    r = kl.within(g, [5, 0, 5], 1)
    assert r.distances.shape == (3, 16)
    assert rows_of(r)[0] == rows_of(r)[2]
    assert r.reached(5).tolist() == [5, 1, 4, 6, 9]
    assert kl.within(g, 5, 1).reached(5).tolist() == [5, 1, 4, 6, 9]
    empty = kl.within(g, [], 1)
    assert empty.distances.shape == (0, 16)
    assert len(empty.to_frame()) == 0
    empty.verify()
    nothing = kl.within(kl.Graph.from_edges([], []), None, 1)
    assert nothing.distances.shape == (0, 0)


def test_what_is_refused() -> None:
    g = kl.generate.grid(3, 3)
    with pytest.raises(kl.RequestError, match="limit or k"):
        kl.within(g, [0])
    with pytest.raises(kl.GraphError):
        kl.within(g, [99], 1)
    for k in (0, -1, 1.5, True, "x"):
        with pytest.raises(kl.RequestError, match="k must be a positive integer"):
            kl.within(g, [0], k=k)  # type: ignore[arg-type]
    for limit in (-1, math.nan, "x"):
        with pytest.raises(kl.RequestError, match="limit"):
            kl.within(g, [0], limit)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="predecessors=True"):
        kl.within(g, [0], 1, predecessors=False).path(0, 1)
    negative = kl.Graph.from_edges([0, 1], [1, 2], [3, -1])
    with pytest.raises(kl.RequestError, match="within needs non-negative weights"):
        kl.within(negative, [0], k=1)
    assert kl.within(negative, [0], 2, hops=True).distances.nnz == 3
    with pytest.raises(kl.GraphError, match=r"expected a kleene\.Graph"):
        kl.within([[0, 1], [1, 0]], [0], 1)  # type: ignore[arg-type]


def test_memory_is_refused_while_the_answer_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "available_memory", lambda: 2**21)
    g = kl.generate.grid(100, 100)
    assert kl.within(g, None, 1).distances.nnz == 49_600
    with pytest.raises(kl.MemoryBudgetError, match=r"10,000 sources reach needs .* fewer sources"):
        kl.within(g, None, 20)


def test_progress_and_threads() -> None:
    g = kl.generate.grid(60, 60, weights=(1, 9), seed=1)
    seen: list[tuple[int, int]] = []
    one = kl.within(g, None, 20, threads=1, progress=lambda *a: seen.append(a))
    assert seen[-1] == (3600, 3600)
    shown: list[tuple[int, int]] = []
    kl.within(kl.prepare(g), None, 20, progress=lambda *a: shown.append(a))
    assert shown[-1] == (3600, 3600)
    two = kl.within(g, None, 20, threads=2)
    for a, b in ((one.distances, two.distances), (one.predecessors, two.predecessors)):
        assert (a.indptr == b.indptr).all()
        assert (a.indices == b.indices).all()
        assert (a.data == b.data).all()
    assert repr(one).startswith("Reach(lengths from 3,600 sources, limit 20, ")


def test_tables_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    g = kl.generate.grid(9, 9, weights=(1, 9), seed=1)
    for reverse in (False, True):
        r = kl.within(g, [3, 70, 8, 3], 12, reverse=reverse)
        whole = r.to_frame()
        assert len(whole) == r.distances.nnz
        with monkeypatch.context() as patch:
            patch.setattr("kleene.results.reach.BLOCK", 7)
            assert r.to_frame().equals(whole)


def spoiled(r: kl.Reach, **changes: Any) -> kl.Reach:
    parts = (r.graph, r.plan, r.stats, r._answer._replace(**changes), r._sources, r.limit, r.k)
    return kl.Reach(*parts, r.hops, r.reverse)


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("k", [None, 9])
def test_spoiled_answers_are_refused(kind: str, k: int | None) -> None:
    g = kl.generate.grid(8, 8, weights=(1, 4), seed=3)
    g = g.reweight(arcs=g.weights.astype(kind))
    r = kl.within(g, [0, 35, 63], 7, k=k)
    r.verify()
    answer = r._answer
    rng = np.random.default_rng(1)
    for _ in range(60):
        at = int(rng.integers(len(answer.vertices)))
        distances = answer.distances.copy()
        distances[at] += rng.choice([-1, 1])
        with pytest.raises(kl.VerificationError):
            spoiled(r, distances=distances).verify()
        with pytest.raises(kl.VerificationError):
            spoiled(r, distances=distances, predecessors=None).verify()
        assert answer.predecessors is not None
        predecessors = answer.predecessors.copy()
        predecessors[at] = rng.choice([v for v in range(-1, 64) if v != predecessors[at]])
        u, v = int(predecessors[at]), int(answer.vertices[at])
        row = int(np.searchsorted(answer.offsets, at, side="right")) - 1
        held = rows_of(r)[row]
        lengths = {(a, b): w for a, b, w in zip(*map(np.ndarray.tolist, g.coo), strict=True)}
        if u in held and (u, v) in lengths and held[u] + lengths[u, v] == held[v]:
            continue  # as good
        with pytest.raises(kl.VerificationError):
            spoiled(r, predecessors=predecessors).verify()
    for at in range(len(answer.vertices)):  # one vertex left out
        row = int(np.searchsorted(answer.offsets, at, side="right")) - 1
        offsets = answer.offsets.copy()
        offsets[row + 1 :] -= 1
        less = {
            "offsets": offsets,
            "vertices": np.delete(answer.vertices, at),
            "distances": np.delete(answer.distances, at),
            "predecessors": None,
        }
        with pytest.raises(kl.VerificationError):
            spoiled(r, **less).verify()


def test_predecessors_in_a_circle_are_refused() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [1, 0, 0, 0])
    r = kl.within(g, [0], 5)
    assert r.predecessors.data.tolist() == [-1, 0, 1, 2]
    r.verify()
    with pytest.raises(kl.VerificationError, match="no path attains"):
        spoiled(r, predecessors=np.array([-1, 3, 1, 2], np.int32)).verify()


def at_row(r: kl.Reach, entry: int) -> int:
    return int(r._sources[np.searchsorted(r._answer.offsets, entry, side="right") - 1])


def test_rows_are_proved_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    g = kl.generate.grid(8, 8, weights=(1, 4), seed=3)
    monkeypatch.setattr("kleene.proofs.reach._PIECE", 60)
    for k in (None, 6):
        r = kl.within(g, range(64), 6, k=k)
        degrees = np.diff(g.offsets)
        looked_at = int(degrees[r.distances.indices].sum()) // 64
        with monkeypatch.context() as patch:
            clock = itertools.count(100.0)
            patch.setattr("kleene.proofs.reach.time.perf_counter", lambda: next(clock))  # noqa: B023
            proof = r.verify()
        assert (proof.rows, proof.of, proof.arcs, proof.seconds) == (64, 64, looked_at, 1)
        for at in range(0, r.distances.nnz, 11):
            distances = r._answer.distances.copy()
            distances[at] += 1
            with pytest.raises(kl.VerificationError, match=f"from source {at_row(r, at)}:"):
                spoiled(r, distances=distances).verify()


def test_rows_that_are_no_answer_are_refused() -> None:
    g = kl.generate.grid(4, 4)
    r = kl.within(g, [5, 0], k=4)
    answer = r._answer
    r.k = 3
    with pytest.raises(kl.VerificationError, match="from source 5: more than 3 vertices"):
        r.verify()
    r.k = 4
    faults: dict[str, dict[str, Any]] = {
        "do not match the sources": {"offsets": answer.offsets[:-1]},
        "rows do not match the sources": {"vertices": answer.vertices[:-1]},
        "not a vertex": {"vertices": np.where(answer.vertices == 1, 99, answer.vertices)},
        "not in order": {"vertices": answer.vertices[::-1]},
        "its predecessor is wrong": {"predecessors": np.full_like(answer.vertices, -1)},
        "which is better": {"distances": np.where(answer.vertices == 1, 3, answer.distances)},
    }
    for message, changes in faults.items():
        with pytest.raises(kl.VerificationError, match=message):
            spoiled(r, **changes).verify()
    for first, second in ((5, 15), (7, 0)):
        r._sources = np.array([first, second], np.int32)
        lost = 15 if second == 15 else 7
        with pytest.raises(kl.VerificationError, match=f"{lost}: the source is not stored"):
            r.verify()
    alone = kl.within(kl.Graph.from_edges([], [], n=2), [1], 9)
    with pytest.raises(kl.VerificationError, match="vertex 1 holds 3, and is the source"):
        spoiled(alone, distances=np.array([3], np.int32)).verify()
