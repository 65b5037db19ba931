"""Arrivals: with ``reverse=True`` paths lead to the named vertices."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import RequestError, VerificationError

STREETS = {"source": ["a", "b", "c", "a"], "target": ["b", "c", "d", "d"], "km": [1, 2, 3, 9]}
G = kl.Graph.from_table(STREETS, weight="km")


@pytest.mark.parametrize("solve", [kl.bfs, kl.sssp, kl.apsp])
@pytest.mark.parametrize("name", ["grid", "disconnected", "zero_cycle", "complete"])
def test_arrivals_are_the_columns_of_departures(solve: Any, name: str) -> None:
    g = graph(name)
    ends = [0, g.n - 1]
    there = solve(g, sources=range(g.n))
    back = solve(g, sources=ends, reverse=True)
    assert np.array_equal(back.distances, there.distances[:, ends].T)
    back.verify()
    some = solve(g, sources=ends, targets=[2, 1], reverse=True)
    assert np.array_equal(some.distances, there.distances[[2, 1]][:, ends].T)
    some.verify()


@given(st.integers(0, 10**6), st.booleans())
def test_paths_run_to_the_source(seed: int, negative: bool) -> None:
    rng = np.random.default_rng(seed)
    n, m = 8, 20
    height = rng.integers(0, 9, n) if negative else np.zeros(n, dtype=int)
    s, t = rng.integers(0, n, (2, m))
    g = kl.Graph.from_edges(s, t, rng.integers(1, 9, m) + height[t] - height[s], n=n)
    r = kl.sssp(g, 3, reverse=True)
    weight = {(u, v): w for u, v, w in zip(*(x.tolist() for x in g.coo), strict=True)}
    for v, path in enumerate(r.paths()):
        assert path == r.path(v) == r.path(v, 3) == r.route(v).vertices
        assert bool(path) == r.reached[v]
        if path:
            assert (path[0], path[-1]) == (v, 3)
            assert sum(weight[arc] for arc in pairwise(path)) == r.distances[v]
        assert r.next_hops[v] == (path[1] if len(path) > 1 else -1)
    r.verify()


def test_tables_say_which_way() -> None:
    r = kl.sssp(G, "d", reverse=True)
    table = r.to_pandas()
    assert list(table.columns) == ["source", "target", "distance", "next_hop"]
    assert table["source"].tolist() == ["a", "b", "c", "d"]
    assert set(table["target"]) == {"d"}
    assert table["next_hop"].tolist()[:3] == ["b", "c", "d"]
    assert r.to_frame()["distance"].to_dict() == {"a": 6, "b": 5, "c": 3, "d": 0}
    assert r.to_frame().index.name == "source"
    wide = kl.apsp(G, sources=["d", "c"], targets=["a"], reverse=True).to_frame()
    assert wide.loc["a", "d"] == 6
    assert wide.loc["a", "c"] == 3
    assert (wide.index.name, wide.columns.name) == ("source", "target")


def test_names_and_errors() -> None:
    r = kl.sssp(G, sources=["d", "c"], targets=["a", "b"], reverse=True)
    assert (r.reverse, r.sources.tolist(), r.targets.tolist()) == (True, ["d", "c"], ["a", "b"])
    assert "to 2 vertices from 2" in repr(r)
    assert r.path("a", "d") == ["a", "b", "c", "d"]
    with pytest.raises(RequestError, match="use next_hops, the vertex after"):
        _ = r.predecessors
    with pytest.raises(RequestError, match="vertex 'a' is not among the sources"):
        r.path("d", "a")
    with pytest.raises(kl.RequestError, match="reverse"):
        kl.sssp(G, "a", reverse="no")


def test_arrivals_are_saved(tmp_path: Path) -> None:
    r = kl.sssp(G, "d", reverse=True, limit=5)
    r.save(tmp_path / "r.npz")
    back = kl.Result.load(tmp_path / "r.npz", G)
    assert back.reverse
    assert back.distances.tolist() == r.distances.tolist()
    assert back.path("b") == ["b", "c", "d"]
    back.verify()
    r.save(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text().splitlines()[1] == "b,d,5,c"


def test_proofs_speak_of_the_users_arcs() -> None:
    r = kl.sssp(G, "d", reverse=True)
    r.distances[0] = 7
    with pytest.raises(VerificationError, match="to source 'd': vertex 'a' holds 7, but its next"):
        r.verify()
    r = kl.sssp(G, "d", reverse=True, predecessors=False)
    r.distances[0] = 9  # over the arc from a to d
    with pytest.raises(VerificationError, match="vertex 'a' holds 9, but the arc 'a' -> 'b' offer"):
        r.verify()


def test_undirected_graphs_need_no_second_form() -> None:
    g = graph("grid")
    assert g.transpose() is g
    assert np.array_equal(kl.sssp(g, 5, reverse=True).distances, kl.sssp(g, 5).distances)


def test_arrivals_of_a_prepared_graph_have_the_type_of_its_weights() -> None:
    """Lengths fit in 32 bits by the sum of outgoing arcs; by that of incoming arcs they may not."""
    weights = [253887492, 117442117, 191894637, 183609428, 169085578, 214322645]
    ends = [0, 1, 1, 3, 4, 3], [1, 2, 3, 4, 5, 6]
    g = kl.Graph.from_edges(*ends, np.array(weights, np.int32), n=9)
    result = kl.prepare(g).trees([6, 5], reverse=True)
    assert result.distances.dtype == np.int32
    assert result.verify().rows == 2
