"""Orders and eliminations: against the book, for every graph of the zoo and random ones."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_reference import eliminate as eliminate_by_the_book
from prepared_shapes import (
    SHAPES,
    chain,
    clique,
    cliques,
    ladder,
    random_graph,
    star,
    tree,
    two_hubs,
)

import kleene as kl
from kleene import _native
from kleene.prepared import elimination as fill
from kleene.prepared import order
from kleene.prepared.elimination import Elimination, count_fill, eliminate, expect
from kleene.prepared.order import elimination_order

FIELDS = ("order", "ranks", "parents", "offsets", "heads")


def same(a: Elimination, b: Elimination) -> bool:
    return all(
        getattr(a, name).dtype == getattr(b, name).dtype
        and np.array_equal(getattr(a, name), getattr(b, name))
        for name in FIELDS
    )


@pytest.fixture(params=sorted(name for name, g in SHAPES.items() if g.n <= 400))
def graph(request: Any) -> kl.Graph:
    return SHAPES[request.param]


@pytest.fixture(params=["pymetis", "scipy"])
def orderer(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Order with METIS, and as where it is not installed."""
    if request.param == "pymetis":
        pytest.importorskip("pymetis")
    else:
        monkeypatch.setattr(order.util, "find_spec", lambda name: None)
    return str(request.param)


# ---- the structure -------------------------------------------------------------------------------


def test_any_order_gives_the_structure_of_the_book(graph: kl.Graph) -> None:
    for seed in range(3):
        chosen = np.random.default_rng(seed).permutation(graph.n)
        assert same(eliminate(graph, chosen), eliminate_by_the_book(graph, chosen.tolist()))


def test_the_own_order_gives_the_structure_of_the_book(graph: kl.Graph, orderer: str) -> None:
    chosen = elimination_order(graph)
    assert chosen.dtype == np.int32
    assert sorted(chosen.tolist()) == list(range(graph.n))
    assert same(eliminate(graph), eliminate_by_the_book(graph, chosen.tolist()))


def test_orders_and_eliminations_repeat(graph: kl.Graph, orderer: str) -> None:
    assert np.array_equal(elimination_order(graph), elimination_order(graph))
    assert same(eliminate(graph), eliminate(graph))


def test_a_postorder_is_kept(graph: kl.Graph) -> None:
    made = eliminate(graph)
    assert np.array_equal(eliminate(graph, made.order).order, made.order)


def test_counts_are_those_of_the_structure(graph: kl.Graph) -> None:
    chosen = np.random.default_rng(5).permutation(graph.n)
    made = eliminate(graph, chosen)
    counts = count_fill(graph, chosen)
    assert counts == made.fill
    degrees = np.diff(made.offsets).tolist()
    assert counts.pairs == made.arcs == sum(degrees)
    assert counts.triangles == sum(d * (d - 1) // 2 for d in degrees)
    assert counts.depth == made.depths.max(initial=0)
    assert counts.bytes >= sum(getattr(made, name).nbytes for name in FIELDS)


def test_depths_sizes_and_lower_neighbors(graph: kl.Graph) -> None:
    made = eliminate(graph, np.random.default_rng(6).permutation(graph.n))
    parents = made.parents.tolist()
    ancestors: list[list[int]] = [[] for _ in range(made.n)]
    for v in reversed(range(made.n)):
        if parents[v] >= 0:
            ancestors[v] = [parents[v], *ancestors[parents[v]]]
    assert made.depths.tolist() == [len(a) for a in ancestors]
    assert made.sizes.tolist() == [
        1 + sum(v in ancestors[u] for u in range(made.n)) for v in range(made.n)
    ]
    for v in range(made.n):  # a subtree is a range of ranks
        first = v - int(made.sizes[v]) + 1
        assert all(v in ancestors[u] for u in range(first, v))
    tails = np.repeat(np.arange(made.n), np.diff(made.offsets))
    for v in range(made.n):
        begin, end = made.lower.offsets[v : v + 2]
        places = made.lower.places[begin:end]
        assert (made.heads[places] == v).all()
        assert made.lower.tails[begin:end].tolist() == sorted(tails[made.heads == v].tolist())
        assert made.lower.tails[begin:end].tolist() == tails[places].tolist()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_graphs_and_orders(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    arcs = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=40))
    chosen = data.draw(st.permutations(range(n)))
    g = kl.Graph.from_edges([a for a, _ in arcs], [b for _, b in arcs], n=n)
    made = eliminate(g, chosen)
    assert same(made, eliminate_by_the_book(g, chosen))
    assert made.fill == count_fill(g, chosen)
    assert same(eliminate(g), eliminate_by_the_book(g, elimination_order(g).tolist()))


# ---- orders --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [chain, tree, star, two_hubs])
def test_chains_and_trees_are_shallow(make: Any) -> None:
    counts = eliminate(make(20_000)).fill
    assert counts.depth <= 60
    assert counts.pairs <= 40_002


def test_a_ladder_is_left_to_the_dissection() -> None:
    assert eliminate(ladder(5000)).fill.depth < 200  # peeled from its ends: 5,000


def test_hubs_take_linear_time() -> None:
    # A list that is searched for each neighbor it loses would take 10^11 steps.
    found = order.reduced(order.adjacency(two_hubs(300_000)))
    assert len(found.vertices) == 0
    fan = kl.Graph.from_edges(  # loses a neighbor or two in each round
        np.concatenate([np.zeros(300_000, int), np.arange(1, 300_000)]),
        np.concatenate([np.arange(1, 300_001), np.arange(2, 300_001)]),
    )
    assert 0 < len(order.reduced(order.adjacency(fan)).vertices) < 300_000


def test_what_is_left_has_three_neighbors(graph: kl.Graph) -> None:
    found = order.reduced(order.adjacency(graph))
    rest = found.rest
    assert sorted([*found.eliminated, *found.vertices]) == list(range(graph.n))
    rows = [
        rest.neighbors[a:b].tolist()
        for a, b in zip(rest.offsets[:-1], rest.offsets[1:], strict=True)
    ]
    for v, row in enumerate(rows):
        assert len(row) >= 3 or graph is SHAPES["ladder"]  # which takes too many rounds
        assert len(set(row)) == len(row)
        assert v not in row
        assert all(v in rows[u] for u in row)


def test_a_good_order_joins_few_pairs(orderer: str) -> None:
    counts = eliminate(kl.generate.grid(60, 60)).fill
    assert counts.pairs < 60_000  # by rows: 213,000
    assert counts.depth < 600


@pytest.mark.parametrize(
    ("given_order", "message"),
    [
        ([0, 1], "all 3 vertices"),
        ([0, 1, 3], "positions from 0 to 3"),
        ([0, -1, 2], "positions from -1 to 2"),
        ([0, 2, 2], "vertex 2 2 times and vertex 1 not at all"),
        ([0.0, 1.0, 2.0], "float64"),
        (["a", "b", "c"], "positions of all"),
        ([[0, 1, 2]], "shape"),
        (None, ""),
    ],
)
def test_orders_are_checked(given_order: Any, message: str) -> None:
    g = chain(3)
    if given_order is None:
        assert eliminate(g, np.array([2, 1, 0], dtype=np.uint64)).n == 3
        return
    with pytest.raises(kl.RequestError, match=message):
        eliminate(g, given_order)
    with pytest.raises(kl.RequestError, match=message):
        count_fill(g, given_order)


# ---- refusals ------------------------------------------------------------------------------------


def test_too_many_pairs_are_refused_before_they_are_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    g = random_graph(2000, 12_000, 4)
    needed = count_fill(g, elimination_order(g)).bytes
    monkeypatch.setattr(_native, "prepared_join_pairs", None)
    with pytest.raises(
        kl.MemoryBudgetError, match=r"pairs of vertices, which take .* MiB"
    ) as error:
        eliminate(g, most_bytes=needed - 1)
    assert any("kl.sssp" in text for _, text in error.value.advice)
    monkeypatch.setattr(fill, "available_memory", lambda: 2 * needed - 2)
    with pytest.raises(kl.MemoryBudgetError, match="may take"):
        eliminate(g)


def test_too_many_triangles_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill, "MOST_TRIANGLES", 100)
    with pytest.raises(kl.RequestError, match="triangles for each set of weights"):
        eliminate(clique(12))


def test_too_many_vertices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "MOST_INT32_VERTICES", 4)
    with pytest.raises(kl.RequestError, match="fewer than 2"):
        eliminate(chain(5))


# ---- expectations --------------------------------------------------------------------------------


def test_expectations_of_small_graphs_are_exact(graph: kl.Graph) -> None:
    expected = expect(graph)
    assert expected.exact
    assert expected.fill == eliminate(graph).fill
    assert expected.refusal == ""


@pytest.mark.parametrize("directed", [False, True])
def test_expectations_of_large_meshes_are_near(directed: bool, orderer: str) -> None:
    g = kl.generate.grid(200, 200)
    if directed:
        tails, heads, _ = g.coo
        g = kl.Graph.from_edges(tails[tails < heads], heads[tails < heads], n=g.n)
    expected, real = expect(g), eliminate(g).fill
    assert not expected.exact
    assert expected.refusal == ""
    for guess, truth in zip(expected.fill, real, strict=True):
        assert truth / 4 < guess < truth * 4


def test_expectations_of_many_components() -> None:
    g = cliques(10_000, 5)
    expected = expect(g).fill
    assert 90_000 < expected.pairs < 110_000
    assert expected.depth < 50
    g = kl.Graph.from_edges([], [], n=50_000)
    assert expect(g).fill[:3] == (0, 0, 0)


HOPELESS = {
    "random": lambda: random_graph(60_000, 240_000, 7),
    "R-MAT": lambda: kl.generate.rmat(17, seed=1),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_hopeless_graphs_are_refused_before_they_are_ordered(
    name: str, orderer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = HOPELESS[name]()
    monkeypatch.setattr(fill, "available_memory", lambda: 2**30)
    assert re.search("about .* pairs", expect(g).refusal)
    whole = order.completed

    def pieces_only(found: order.Reduced) -> Any:
        assert found.rest.n < 10_000
        return whole(found)

    monkeypatch.setattr(order, "completed", pieces_only)
    with pytest.raises(kl.MemoryBudgetError, match=r"about .* social networks"):
        eliminate(g)


@pytest.mark.parametrize("make", [star, tree, two_hubs, lambda n: cliques(n // 5, 5)])
def test_pieces_that_are_all_boundary_are_not_refused(make: Any, orderer: str) -> None:
    g = make(60_000)
    assert expect(g).refusal == ""
    assert expect(g).fill.pairs < 10 * g.n
    assert eliminate(g).fill.pairs < 4 * g.n


def test_a_dense_graph_is_a_clique() -> None:
    n = 2000
    g = kl.Graph.from_dense(np.ones((n, n), dtype=np.int32))
    expected = expect(g)
    assert expected.fill.pairs == n * (n - 1) // 2
    assert "neighbors" not in g.__dict__  # no rows of arcs were made for it


# ---- calls ---------------------------------------------------------------------------------------


def test_progress_ends_at_its_total() -> None:
    calls: list[tuple[int, int]] = []
    eliminate(kl.generate.grid(20, 20), progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]


def test_an_error_of_progress_ends_the_call() -> None:
    def fail(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        eliminate(kl.generate.grid(20, 20), progress=fail)


@pytest.mark.parametrize("step", ["prepared_reduce", "prepared_count_pairs", "prepared_join_pairs"])
def test_ctrl_c_ends_a_native_step(step: str) -> None:
    program = f"""
import os, signal, sys, threading
import numpy as np, kleene as kl
from kleene import _native
from kleene.prepared import order
g = kl.generate.grid(1000, 1000)
arcs = order.adjacency(g)
chosen = np.random.default_rng(1).permutation(g.n).astype(np.int32)
inputs = {{"prepared_reduce": lambda: arcs, "prepared_count_pairs": lambda: (*arcs, chosen),
          "prepared_join_pairs": lambda: (*arcs, *_native.prepared_count_pairs(*arcs, by_rows))}}
by_rows = np.arange(g.n, dtype=np.int32)
given = inputs["{step}"]()
def interrupt():
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.02)
try:
    threading.Thread(target=interrupt, daemon=True).start()
    while True:
        _native.{step}(*given)
except KeyboardInterrupt:
    os._exit(7)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=600, check=False)
    assert done.returncode == 7


def test_nothing_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys, kleene.prepared.elimination\n"
        "assert 'pymetis' not in sys.modules and 'scipy.sparse.linalg' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], timeout=600, check=True)
