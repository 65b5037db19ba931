"""Lists of origin-destination pairs: values, paths, tables, files, proof."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import FormatError, RequestError, VerificationError
from kleene.engine import entries as pair_batches
from kleene.proofs.pairs import PairValues, verify_pairs
from kleene.system.machine import this_machine

STREETS = {"source": ["a", "b", "c", "a"], "target": ["b", "c", "d", "d"], "km": [1, 2, 3, 9]}
G = kl.Graph.from_table(STREETS, weight="km")
PAIRS = [("a", "d"), ("b", "b"), ("d", "a"), ("a", "c"), ("a", "d")]


def _batches_of(rows: int, g: kl.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_batches, "_SMALL", 0)
    monkeypatch.setattr(pair_batches, "_BATCH", rows * 16 * g.n)


# ---- values and paths ---------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 3, 1000])
@pytest.mark.parametrize("solve", [kl.bfs, kl.sssp, kl.apsp])
@pytest.mark.parametrize("name", ["grid", "disconnected", "negative_floats", "float32_weights"])
def test_pairs_are_entries_of_the_matrix(
    name: str, solve: Any, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = graph(name)
    _batches_of(rows, g, monkeypatch)
    full = kl.bfs(g, sources=range(g.n)) if solve is kl.bfs else kl.apsp(g)
    rng = np.random.default_rng(3)
    for count, origins, destinations in ((40, g.n, g.n), (30, g.n, 2), (30, 2, g.n), (0, 1, 1)):
        asked = rng.integers(0, (origins, destinations), (count, 2))
        r = solve(g, pairs=asked)
        assert isinstance(r, kl.PairsResult)
        assert np.allclose(r.distances, full.distances[asked[:, 0], asked[:, 1]])
        assert r.distances.dtype == full.distances.dtype
        for i, path in enumerate(r.paths()):
            assert path == r.path(i) == r.route(i).vertices
            assert bool(path) == r.reached[i]
            if path:
                assert (path[0], path[-1]) == tuple(asked[i])
        r.verify()


@given(st.integers(0, 10**6), st.sampled_from(["int32", "float32", "float64"]))
def test_random_pairs(seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(rng.integers(0, 40))
    weights = rng.integers(1, 30, m) if dtype == "int32" else rng.random(m)
    g = kl.Graph.from_edges(*rng.integers(0, n, (2, m)), weights.astype(dtype), n=n)
    asked = rng.integers(0, n, (int(rng.integers(0, 20)), 2))
    limit = float(rng.random() * 20) if rng.random() < 0.5 else None
    r = kl.sssp(g, pairs=asked, limit=limit)
    for (o, d), distance in zip(asked.tolist(), r.floats.tolist(), strict=True):
        expected = kl.sssp(g, o, limit=limit).floats[d]
        assert distance == pytest.approx(expected, rel=1e-5)
    r.verify()


@pytest.mark.skipif("emulated" not in this_machine().devices, reason="no emulator")
def test_pairs_on_a_device() -> None:
    g = graph("grid")
    asked = [(i, 3 * i) for i in range(30)]
    for solve in (kl.bfs, kl.sssp, kl.apsp):
        r = solve(g, pairs=asked, device="emulated")
        assert r.plan.device == "emulated"
        assert r.distances.tolist() == solve(g, pairs=asked, device="cpu").distances.tolist()
        back = solve(g, sources=[5, 7], reverse=True, device="emulated")
        assert back.plan.device == "emulated"
        back.verify()


def test_labels_and_order() -> None:
    r = kl.sssp(G, pairs=PAIRS)
    assert r.masked.tolist() == [6, 0, None, 3, 6]
    assert r.sources.tolist() == [o for o, _ in PAIRS]
    assert r.targets.tolist() == [d for _, d in PAIRS]
    assert list(r.paths([3, 1])) == [["a", "b", "c"], ["b"]]
    assert r.path(2) == []
    assert not r.route(2)
    assert r.next_hops.tolist() == [1, -1, -1, 1, 1]
    assert [route.distance for route in r.routes()] == [6, 0, np.inf, 3, 6]
    assert repr(r).startswith("PairsResult(sssp by dijkstra on cpu, 4 of 5 pairs reached, int")
    assert np.asarray(r).tolist() == r.distances.tolist()


@pytest.mark.parametrize(
    "given_as",
    [
        PAIRS,
        iter(PAIRS),
        [list(pair) for pair in PAIRS],
        np.array(PAIRS, dtype=object),
        np.array(PAIRS),
        pd.DataFrame(PAIRS, columns=["from", "to"]),
        pl.DataFrame(PAIRS, schema=["o", "d"], orient="row"),
        pl.DataFrame(PAIRS, schema=["o", "d"], orient="row").to_arrow(),
    ],
    ids=["tuples", "generator", "lists", "objects", "text", "pandas", "polars", "arrow"],
)
def test_pairs_of_many_kinds(given_as: Any) -> None:
    assert kl.sssp(G, pairs=given_as).floats.tolist() == [6, 0, np.inf, 3, 6]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"pairs": 5}, r"pairs must be a sequence of \(origin, destination\), not 5"),
        ({"pairs": "ab"}, "pairs must be a sequence"),
        ({"pairs": ["ab"]}, "entry 0 is 'ab'"),
        ({"pairs": [("a", "b"), ("a", "b", "c")]}, "entry 1 is"),
        ({"pairs": np.zeros((2, 3))}, r"shape \(k, 2\), not \(2, 3\)"),
        ({"pairs": pd.DataFrame({"o": ["a"]})}, "two columns, but this table has 1"),
        ({"pairs": [("a", "z")]}, "no vertex 'z'"),
        ({"pairs": PAIRS, "source": "a"}, "leave out source"),
        ({"pairs": PAIRS, "sources": ["a"], "reverse": True}, "leave out sources and reverse"),
        ({"pairs": PAIRS, "out": "d.npy"}, "leave out out"),
    ],
)
def test_wrong_pairs_are_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.KleeneError, match=message):
        kl.sssp(G, **keywords)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.path(5), "no pair 5: they are 0 to 4"),
        (lambda r: r.path("a"), "named by their number, 0 to 4"),
        (lambda r: r.path("a", "d"), r"path takes the number of a pair: path\(0\)"),
        (lambda r: r.paths(3), "a sequence of numbers of pairs, not 3"),
        (lambda r: r.route(-1), "no pair -1"),
        (lambda r: kl.sssp(G, pairs=PAIRS, predecessors=False).path(0), "predecessors=True"),
    ],
)
def test_pairs_are_named_by_number(ask: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        ask(kl.sssp(G, pairs=PAIRS))


def test_negative_cycles_of_pairs_are_labels() -> None:
    g = kl.Graph.from_table({"source": ["a", "b"], "target": ["b", "a"], "w": [1, -2]}, weight="w")
    with pytest.raises(kl.NegativeCycleError, match=r"a -> b -> a|b -> a -> b"):
        kl.sssp(g, pairs=[("a", "b")])


def test_memory_does_not_grow_with_the_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    g = kl.generate.grid(60, 60, weights=(1, 9), seed=1)
    _batches_of(8, g, monkeypatch)
    asked = np.stack([np.arange(0, g.n, 9), np.arange(0, g.n, 9) // 60 * 60], axis=1)
    tracemalloc.start()
    r = kl.sssp(g, pairs=asked, method="dijkstra", device="cpu")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(np.unique(asked[:, 1])) > 8
    assert peak < 40 * 8 * g.n  # the rows of a batch, not of 400 origins
    assert r.reached.all()


def test_progress_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    g = graph("grid")
    _batches_of(2, g, monkeypatch)
    seen: list[tuple[int, int]] = []
    kl.bfs(g, pairs=[(i, i + 1) for i in range(5)], progress=lambda *x: seen.append(x))
    assert seen == [(2, 5), (4, 5), (5, 5)]


# ---- tables and files ---------------------------------------------------------------------------


def test_tables_keep_every_pair(tmp_path: Path) -> None:
    r = kl.sssp(G, pairs=PAIRS)
    table = r.to_pandas()
    assert list(table.columns) == ["source", "target", "distance"]
    assert list(zip(table["source"], table["target"], strict=True)) == PAIRS
    assert table["distance"].isna().tolist() == [False, False, True, False, False]
    assert r.to_polars()["distance"].to_list() == [6, 0, None, 3, 6]
    assert r.to_frame().loc[("a", "c"), "distance"] == 3
    r.save(tmp_path / "d.csv")
    lines = (tmp_path / "d.csv").read_text().splitlines()
    assert lines[:4] == ["source,target,distance", "a,d,6", "b,b,0", "d,a,"]
    r.save(tmp_path / "d.npy")
    assert np.load(tmp_path / "d.npy").tolist() == r.distances.tolist()


@pytest.mark.parametrize("keywords", [{}, {"predecessors": False}, {"limit": 4}])
@pytest.mark.parametrize("asked", [PAIRS, PAIRS[:1], []])
def test_pairs_are_loaded_again(keywords: dict[str, Any], asked: Any, tmp_path: Path) -> None:
    r = kl.sssp(G, pairs=asked, **keywords)
    r.save(tmp_path / "r.npz")
    back = kl.Result.load(tmp_path / "r.npz", G)
    assert isinstance(back, kl.PairsResult)
    assert back.masked.tolist() == r.masked.tolist()
    assert repr(back) == repr(r)
    back.verify()
    if "predecessors" not in keywords:
        assert list(back.paths()) == list(r.paths())
    with pytest.raises(FormatError, match="another graph"):
        kl.Result.load(tmp_path / "r.npz", graph("grid"))


def test_hops_of_pairs_are_loaded_again(tmp_path: Path) -> None:
    r = kl.bfs(G, pairs=PAIRS)
    r.save(tmp_path / "r.npz")
    back = kl.Result.load(tmp_path / "r.npz", G)
    assert back.distances.tolist() == r.distances.tolist() == [1, 0, -1, 2, 1]
    back.verify()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sources", np.array([0, 1, 9, 0, 0]), "sources hold 9"),
        ("targets", np.array([0, 1]), "5 sources, but targets or values differ"),
        ("values", np.zeros(5), "values are float64"),
        ("offsets", np.arange(6)[::-1], "offsets should rise from 0"),
        ("offsets", np.arange(6) * 100, "offsets should rise from 0"),
        ("vertices", np.array([0]), "1 vertices of paths, expected"),
        ("vertices", np.full(13, 4), "vertices hold 4|vertices of paths"),
    ],
)
def test_spoiled_files_are_refused(name: str, value: Any, message: str, tmp_path: Path) -> None:
    kl.sssp(G, pairs=PAIRS).save(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz") as archive:
        arrays = dict(archive)
    np.savez(tmp_path / "r.npz", **arrays | {name: value})
    with pytest.raises(FormatError, match=message):
        kl.Result.load(tmp_path / "r.npz", G)


# ---- proof --------------------------------------------------------------------------------------


def _claim(r: Any) -> PairValues:
    return PairValues(
        r.graph, r.problem == "bfs", r._sources, r._targets, r.distances, r._stored_walks,
        r._limit, r._by_target,
    )  # fmt: skip


def _with(values: Any, place: int, value: Any) -> Any:
    changed = values.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("pairs", [PAIRS, [("a", "d"), ("b", "d"), ("c", "d")]])
def test_spoiled_pairs_are_refused(kind: str, pairs: Any) -> None:
    r = kl.sssp(G.reweight(arcs=G.weights.astype(kind)), pairs=pairs)
    claim = _claim(r)
    verify_pairs(claim)
    vertices, offsets = claim.walks or (None, None)
    values = claim.values
    none = r.no_path
    spoiled = {
        "another value": replace(claim, values=_with(values, 0, values[0] + 1)),
        "there is a path": replace(claim, values=_with(values, 0, none)),
        "other ends": replace(claim, walks=(_with(vertices, 0, 1), offsets)),
        "that is not there|other ends": replace(claim, walks=(_with(vertices, 1, 3), offsets)),
        "beyond the limit": replace(claim, limit=int(values[0]) - 1),
    }
    spoiled |= {"does not go with its path": replace(claim, walks=(vertices[:0], offsets * 0))}
    for message, wrong in spoiled.items():
        with pytest.raises(VerificationError, match=message):
            verify_pairs(wrong)


def test_no_path_is_proved_too() -> None:
    r = kl.sssp(G, pairs=[("d", "a"), ("a", "b")], predecessors=False)
    claim = _claim(r)
    with pytest.raises(VerificationError, match="pair 0, 'd' to 'a': it holds 7, but there is no"):
        verify_pairs(replace(claim, values=_with(claim.values, 0, 7)))


def test_a_path_that_is_no_shortest_one_is_refused() -> None:
    claim = _claim(kl.sssp(G, pairs=[("a", "d")]))
    detour = np.array([G.index("a"), G.index("d")], dtype=np.int32), np.array([0, 2])
    with pytest.raises(VerificationError, match="adds up to something else"):
        verify_pairs(replace(claim, walks=detour))
    with pytest.raises(VerificationError, match="another value"):
        verify_pairs(replace(claim, walks=detour, values=np.full(1, 9, claim.values.dtype)))


def test_sums_in_another_order_are_proved_up_to_rounding() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.1, 0.2, 0.3])
    claim = _claim(kl.sssp(g, pairs=[(0, 3)]))
    assert verify_pairs(claim).tolerance == "exact in float64"
    other = replace(claim, values=np.array([0.1 + (0.2 + 0.3)]))
    assert other.values[0] != claim.values[0]
    assert verify_pairs(other).tolerance == "up to rounding"
    with pytest.raises(VerificationError, match="another value"):
        verify_pairs(replace(claim, values=claim.values + 1e-12))


def test_huge_integers_as_floats() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2**62, 2**62, 2**62])
    kl.sssp(g, pairs=[(0, 3)], dtype="float64").verify()


def test_a_sample_of_the_origins() -> None:
    r = kl.bfs(graph("grid"), pairs=[(i, 2 * i) for i in range(40)])
    proof = r.verify(sample=3, seed=5)
    assert (proof.rows, proof.of) == (3, 40)
    with pytest.raises(RequestError, match="sample must be"):
        r.verify(sample=0)


def test_weights_that_vanish_in_a_narrow_type_are_proved() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], [1e-300, 1e-40])
    for dtype in ("float32", "float64"):
        kl.sssp(g, pairs=[(0, 1), (0, 2)], dtype=dtype).verify()
