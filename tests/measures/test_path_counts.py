"""How many shortest paths lead to each vertex: whole numbers of any size, floats, refusals."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_betweenness_weighted import TYPES, diamonds, is_countable, ties

import kleene as kl


def by_networkx(g: kl.Graph, source: int, hops: bool) -> list[int]:
    """Return how many paths NetworkX lists to each vertex."""
    network = nx.DiGraph()
    network.add_nodes_from(range(g.n))
    for (s, t), weight in graphs.arcs_of(g).items():
        network.add_edge(s, t, weight=weight)
    weight = None if hops or g.weights is None else "weight"
    paths = nx.single_source_all_shortest_paths(network, source, weight=weight)
    counts = Counter({target: len(listed) for target, listed in paths})
    return [counts[v] for v in range(g.n)]


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("name", [*filter(is_countable, graphs.names())])
def test_graphs_of_the_zoo(name: str, hops: bool) -> None:
    g = graphs.graph(name)
    if g.n == 0:
        return
    counts = kl.path_counts(g, 0, hops=hops)
    assert counts.values.dtype == np.float64
    assert counts.values.tolist() == by_networkx(g, 0, hops)
    assert counts.verify().tolerance == f"{g.n} of {g.n} numbers, rounded once"
    whole = kl.path_counts(g, 0, hops=hops, exact=True)
    assert whole.values.dtype == np.int64
    assert whole.values.tolist() == counts.values.tolist()
    assert whole.verify().tolerance == f"{g.n} of {g.n} numbers, exact"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("reverse", [False, True])
def test_types_and_directions(dtype: Any, reverse: bool) -> None:
    g = ties(dtype)
    counts = kl.path_counts(g, 5, reverse=reverse, exact=True)
    counts.verify()
    assert counts.values.tolist() == by_networkx(g.transpose() if reverse else g, 5, False)
    assert counts.distances.tolist() == kl.sssp(g, 5, reverse=reverse).distances.tolist()


def test_a_limit_leaves_out_what_is_beyond() -> None:
    g = ties(np.int32)
    whole, near = kl.path_counts(g, 0), kl.path_counts(g, 0, limit=4)
    within = whole.distances <= 4
    assert 0 < within.sum() < g.n
    np.testing.assert_array_equal(near.values, np.where(within, whole.values, 0))
    near.verify()
    assert kl.path_counts(g, 0, limit=0).values.sum() == 1
    assert kl.path_counts(g, 0, hops=True, limit=1).values.sum() == 1 + g.offsets[1]


@pytest.mark.parametrize("count", [53, 62, 63, 64, 127, 128, 900, 1023])
def test_large_numbers(count: int) -> None:
    g = diamonds(count)
    whole = kl.path_counts(g, 0, exact=True)
    assert whole[3 * count] == 2**count
    assert whole.values.dtype == (np.int64 if count < 63 else object)
    assert whole.values[::3].tolist() == [2**k for k in range(count + 1)]
    floats = kl.path_counts(g, 0)
    assert floats.values.tolist() == [float(value) for value in whole.values]
    assert whole.verify(sample=20).tolerance == f"20 of {g.n:,} numbers, exact"
    floats.verify()


def test_floats_are_the_nearest() -> None:
    """Binomial coefficients of 120: sums of rounded numbers would be off by some last bits."""
    counts = kl.path_counts(kl.generate.grid(61, 61), 0)
    wanted = [[float(math.comb(i + j, i)) for j in range(61)] for i in range(61)]
    assert counts.values.reshape(61, 61).tolist() == wanted


@pytest.mark.parametrize("count", [1024, 1025, 5000])
def test_numbers_beyond_floats(count: int) -> None:
    g = diamonds(count)
    with pytest.raises(kl.RequestError, match="exact=True"):
        kl.path_counts(g, 0)
    counts = kl.path_counts(g, 0, exact=True)
    assert counts[3 * count] == 2**count
    assert counts.top(1) == [(3 * count, 2**count)]
    assert kl.path_counts(g, 0, limit=4 * 1023).values.max() == 2.0**1023


def test_the_largest_float_and_one_more() -> None:
    """The sum of all powers up to 2^1023 rounds to 2^1024, which is no float."""
    g = diamonds(1023)
    last, ends = g.n, 3 * np.arange(1024)
    s, t, w = g.coo
    dist = 4 * np.arange(1024)
    s, t = np.append(s, ends), np.append(t, np.full(1024, last))
    joined = kl.Graph.from_edges(s, t, np.append(w, 10_000 - dist))
    whole = kl.path_counts(joined, 0, exact=True)
    assert whole[last] == 2**1024 - 1
    with pytest.raises(kl.RequestError, match="exact=True"):
        kl.path_counts(joined, 0)


def test_tables_hold_large_numbers_as_text(tmp_path: Path) -> None:
    counts = kl.path_counts(diamonds(70), 0, exact=True)
    assert repr(counts) == "PathCounts(paths of 211 vertices, most 1.18059e+21 at 210)"
    for name in ("x.csv", "x.json", "x.parquet"):
        counts.save(tmp_path / name)
    assert str(2**70) in (tmp_path / "x.csv").read_text()
    assert counts.to_frame()["paths"].iloc[-1] == str(2**70)
    assert kl.path_counts(diamonds(7), 0, exact=True).to_frame()["paths"].iloc[-1] == 128


def test_numbers_with_more_digits_than_python_prints() -> None:
    counts = kl.path_counts(diamonds(70), 0, exact=True)
    counts.values = np.array([*counts.values[:-1], 86 * 10**5000], dtype=object)
    assert repr(counts).endswith("most 8.60000e+5001 at 210)")
    assert counts.to_frame()["paths"].iloc[-1] == "86" + 5000 * "0"
    with pytest.raises(kl.VerificationError, match=r"vertex 210 has 8\.6"):
        counts.verify()


def test_labels() -> None:
    g = kl.Graph.from_table({"source": ["a", "a", "b", "c"], "target": ["b", "c", "d", "d"]})
    counts = kl.path_counts(g, "a")
    assert (counts["d"], counts.source, counts.top(1)) == (2.0, "a", [("d", 2.0)])
    with pytest.raises(kl.GraphError, match="'x'"):
        kl.path_counts(g, "x")


def test_float_ties() -> None:
    """0.1 + 0.2 is more than 0.3."""
    ends = [0, 1, 0], [1, 2, 2]
    assert kl.path_counts(kl.Graph.from_edges(*ends, [0.1, 0.2, 0.3]), 0)[2] == 1
    assert kl.path_counts(kl.Graph.from_edges(*ends, [1, 2, 3]), 0)[2] == 2
    small = np.array([2**24, 1, 2**24], np.float32)
    assert kl.path_counts(kl.Graph.from_edges(*ends, small), 0)[2] == 1


def test_what_is_refused() -> None:
    with pytest.raises(kl.RequestError, match=r"non-negative weights.*; count arcs by hops=True$"):
        kl.path_counts(kl.Graph.from_edges([0], [1], [-1]), 0)
    zero = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], [1, 0, 0])
    with pytest.raises(kl.RequestError, match="weight zero and lies on a cycle"):
        kl.path_counts(zero, 0)
    assert kl.path_counts(zero, 0, hops=True).values.tolist() == [1, 1, 1]
    swallowed = kl.Graph.from_edges([0, 1], [1, 2], [1.0, 1e-20], directed=False)
    with pytest.raises(kl.RequestError, match="adds nothing to a distance"):
        kl.path_counts(swallowed, 0)
    with pytest.raises(kl.RequestError, match="limit"):
        kl.path_counts(zero, 0, limit=math.nan, hops=True)
    with pytest.raises(kl.RequestError, match="exact must be True or False"):
        kl.path_counts(zero, 0, hops=True, exact="yes")  # type: ignore[arg-type]
    with pytest.raises(kl.GraphError, match="expected a kleene"):
        kl.path_counts("rome", 0)  # type: ignore[arg-type]


def test_memory_is_refused_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.measures import path_counts

    monkeypatch.setattr(path_counts, "memory_for", lambda most: 2**16)
    assert kl.path_counts(diamonds(50), 0)[150] == 2**50
    with pytest.raises(kl.MemoryBudgetError, match="leave out exact=True, or set a limit"):
        kl.path_counts(diamonds(3000), 0, exact=True)


def test_a_wrong_number_is_found() -> None:
    counts = kl.path_counts(kl.generate.grid(5, 5), 0)
    spoiled = counts.values.copy()
    spoiled[12] += 1
    counts.values = spoiled
    with pytest.raises(kl.VerificationError, match=r"vertex 12 has 7 .* the plain method gives 6$"):
        counts.verify()


@given(st.data())
def test_against_listed_paths(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    ends = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(ends, ends, st.integers(0, 3)), max_size=25))
    s, t, w = (np.array([arc[i] for arc in arcs], int) for i in range(3))
    dtype = data.draw(st.sampled_from(TYPES))
    g = kl.Graph.from_edges(s, t, np.where(s < t, w, np.maximum(w, 1)).astype(dtype), n=n)
    hops, source = data.draw(st.booleans()), data.draw(ends)
    counts = kl.path_counts(g, source, hops=hops)
    if hops or not (g.weights == 0).any():  # NetworkX lists no paths along zero arcs reliably
        assert counts.values.tolist() == by_networkx(g, source, hops)
    counts.verify()
