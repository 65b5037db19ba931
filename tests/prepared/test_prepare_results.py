"""Results of prepared graphs: read late, spoiled, saved, copied, shown."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import graphs
import numpy as np
import pytest
from prepared_town import STREETS, TOWN, length_of, same

import kleene as kl
from kleene.planning.plan import FEWER_ROWS, IN_A_FILE
from kleene.prepared import order
from kleene.prepared.cache import Preparation
from kleene.prepared.sweeps import PreparedRows

# ---- what is computed when it is read -----------------------------------------------------------


def test_predecessors_wait_until_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = PreparedRows.predecessors

    def watched(self: PreparedRows, sources: Any) -> Any:
        asked.append(len(sources))
        return real(self, sources)

    monkeypatch.setattr(PreparedRows, "predecessors", watched)
    p = kl.prepare(TOWN)
    trees = p.trees([1, 2, 3, 4])
    assert trees._answer.on_demand
    assert not asked
    trees.path(2, 50)
    assert asked == [1], "one row for one path"
    trees.verify(sample=2)
    assert asked == [1, 2]
    assert trees.predecessors.shape == (4, TOWN.n)
    trees.path(3, 50)
    trees.to_pandas()
    assert asked == [1, 2, 4]
    single = p.tree(7)
    single.path(3)
    single.path(4)
    assert asked == [1, 2, 4, 1]


def test_tables_of_matrices_take_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = PreparedRows.rows

    def watched(self: PreparedRows, sources: Any) -> Any:
        asked.append(len(sources))
        return real(self, sources)

    monkeypatch.setattr(PreparedRows, "rows", watched)
    monkeypatch.setattr("kleene.results.result.BLOCK", 64)
    p = kl.prepare(TOWN)
    table = p.matrix(range(40), [3, 9]).to_pandas()
    assert asked == [16, 16, 8]
    right = kl.sssp(TOWN, sources=range(40), targets=[3, 9]).to_pandas()
    assert table.distance.tolist() == right.distance.tolist()
    assert "predecessor" in table
    assert "predecessor" not in p.matrix([1], [3], predecessors=False).to_pandas()


def test_whole_rows_are_refused_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    p = kl.prepare(kl.generate.grid(60, 60))
    r = p.matrix(range(3600), [1, 2])
    with monkeypatch.context() as short:
        short.setattr("kleene.graph.checks.available_memory", lambda: 2**20)
        with pytest.raises(kl.MemoryBudgetError, match="ask for fewer sources"):
            _ = r.predecessors
    assert r.path(5, 1)[-1] == 1
    monkeypatch.setenv("KLEENE_MEMORY", "1M")
    with pytest.raises(kl.MemoryBudgetError, match="what makes it fit") as refused:
        p.trees(range(100))
    assert refused.value.available == 2**20
    assert [text for _, text in refused.value.advice] == [FEWER_ROWS, IN_A_FILE]
    assert p.tree(0).plan.available == 2**20


def test_spoiled_matrices_are_refused() -> None:
    p = kl.prepare(TOWN)
    floats = kl.prepare(TOWN.reweight(arcs=TOWN.weights / 3))
    for q in (p, floats):
        for change in (1, -1):
            r = q.matrix([1, 2], [3, 4, 5])
            r.distances[1, 2] += change
            with pytest.raises(kl.VerificationError, match="vertex 5 holds"):
                r.verify()
        r = q.matrix([1, 2], [3, 4, 5])
        r.distances[0, 0] = r.no_path
        with pytest.raises(kl.VerificationError, match="vertex 3 holds"):
            r.verify()


def test_spoiled_trees_are_refused() -> None:
    r = kl.prepare(TOWN).trees([1, 2])
    r._answer.values[1, 30] -= 1
    with pytest.raises(kl.VerificationError):
        r.verify()


def test_spoiled_nearest_are_refused() -> None:
    for g in (TOWN, TOWN.reweight(arcs=TOWN.weights / 3)):
        p = kl.prepare(g)

        def fresh(p: kl.PreparedGraph = p) -> Any:
            return p.nearest([3, 8], [0, 20, 60, 40], k=2, limit=40)

        spoiled = [fresh() for _ in range(5)]
        spoiled[0]._which[1, 0] = (spoiled[0]._which[1, 0] + 1) % 4
        spoiled[1]._distances[0, 1] += 1
        spoiled[2]._which[0] = spoiled[2]._which[0, ::-1]
        spoiled[3]._which[0, 1] = -1
        spoiled[4]._which[0, 1] = spoiled[4]._which[0, 0]
        fresh().verify()
        for near in spoiled:
            with pytest.raises(kl.VerificationError):
                near.verify()


# ---- files, pickles, threads --------------------------------------------------------------------


def test_results_are_saved_and_loaded(tmp_path: Path) -> None:
    for g in (TOWN, TOWN.reweight(arcs=TOWN.weights / 3), graphs.graph("disconnected")):
        p = kl.prepare(g)
        for i, r in enumerate(
            (
                p.tree(1),
                p.trees([1, 2]),
                p.matrix([1, 2, 3], [4, 5]),
                p.matrix([1, 2, 3], [4, 5], predecessors=False),
                kl.sssp(p, 1, targets=[4, 5]),
                kl.sssp(p, sources=[1], targets=[4, 5], reverse=True),
                p.paths([(1, 2), (2, 4)]),
                kl.prepare(g, semiring="max_min").matrix([1, 2], [0]),
            )
        ):
            r.save(tmp_path / f"{i}.npz")
            loaded = kl.Result.load(tmp_path / f"{i}.npz", g)
            same(loaded.distances, r.distances)
            assert loaded.plan == r.plan
            loaded.verify()
            assert repr(loaded) == repr(r)
    r = kl.prepare(TOWN).matrix([1, 2], [4, 5])
    r.save(tmp_path / "m.npz")
    loaded = kl.Result.load(tmp_path / "m.npz", TOWN)
    assert loaded._answer.rest is not None
    path = loaded.path(1, 5)
    assert length_of(TOWN, path) == loaded.distances[0, 1]
    assert loaded.predecessors.shape == (2, TOWN.n)
    for suffix in ("csv", "npy", "parquet", "json"):
        r.save(tmp_path / f"m.{suffix}")


def test_a_saved_matrix_that_was_changed(tmp_path: Path) -> None:
    kl.prepare(TOWN).matrix([1, 2], [4, 5, 6]).save(tmp_path / "m.npz")
    held = dict(np.load(tmp_path / "m.npz"))
    for name, value, message in (
        ("values", held["values"][:, :2], "values have shape"),
        ("values", held["values"].astype(np.int64), "plan.dtype"),
        ("targets", held["targets"] + 1000, "targets hold"),
        ("sources", held["sources"].astype(float), "sources are"),
    ):
        np.savez(tmp_path / "bad.npz", **{**held, name: value})
        with pytest.raises(kl.FormatError, match=message):
            kl.Result.load(tmp_path / "bad.npz", TOWN)
    del held["targets"]
    np.savez(tmp_path / "bad.npz", **held)
    with pytest.raises(kl.FormatError, match="targets"):
        kl.Result.load(tmp_path / "bad.npz", TOWN)


def test_a_prepared_graph_is_saved_and_loaded(tmp_path: Path) -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g).customize(rows=[1, 1, 1, 1, 1])
    p.save(tmp_path / "town.kp")
    q = kl.load_prepared(tmp_path / "town.kp")
    assert q.graph.equals(p.graph)
    assert q.distance("a", "e") == 2
    assert "read from a file" in str(q.explain())
    q.trees().verify()
    assert q.customize(rows=[1, 2, 3, 1, 9]).distance("a", "e") == 10
    assert kl.load_prepared(tmp_path / "town.kp", p.graph).graph is p.graph
    with pytest.raises(kl.FormatError, match="stale"):
        kl.load_prepared(tmp_path / "town.kp", g)
    with pytest.raises(kl.GraphError, match="expected a"):
        kl.load_prepared(tmp_path / "town.kp", 3)  # type: ignore[arg-type]


def _one_distance(p: kl.PreparedGraph) -> Any:
    return p.distance(0, 50), p.tree(3).distances[50]


def test_pickles_and_copies() -> None:
    p = kl.prepare(TOWN)
    right = _one_distance(p)
    p.path(0, 5)
    for q in (pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(p)):
        assert _one_distance(q) == right
        assert q.path(0, 5) == p.path(0, 5)
        assert q.customize(1).distance(0, 62) == 14
    for r in (p.trees([1, 2]), p.matrix([1, 2], [3, 4]), p.nearest([1], [3, 4]), p.within([1], 9)):
        back = pickle.loads(pickle.dumps(r))
        back.verify()
        assert repr(back) == repr(r)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(_one_distance, p).result() == right


def test_it_cannot_be_changed() -> None:
    p = kl.prepare(TOWN)
    with pytest.raises(AttributeError):
        p.graph = TOWN  # type: ignore[misc]
    with pytest.raises((ValueError, AttributeError)):
        p.graph.weights[0] = 1


def test_threads_may_ask_at_once() -> None:
    p = kl.prepare(TOWN)
    right = kl.apsp(TOWN).distances
    wrong: list[Any] = []

    def ask(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            s, t = rng.integers(TOWN.n, size=2).tolist()
            path = p.path(s, t)
            if p.distance(s, t) != right[s, t] or length_of(TOWN, path) != right[s, t]:
                wrong.append((s, t))
            if not np.array_equal(p.tree(s).distances, right[s]):
                wrong.append(s)
            p.tree(s).verify()

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_may_ask_a_new_graph_for_its_first_path() -> None:
    right = kl.apsp(TOWN).distances
    for seed in range(40):
        p = kl.prepare(TOWN)
        start = threading.Barrier(4)
        found: list[Any] = []

        def ask(t: int, p: Any = p, start: Any = start, found: Any = found) -> None:
            start.wait()
            found.append((t, length_of(TOWN, p.path(0, t))))

        threads = [threading.Thread(target=ask, args=(seed + t,)) for t in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert all(length == right[0, t] for t, length in found)


# ---- words --------------------------------------------------------------------------------------


def test_what_it_says_of_itself() -> None:
    p = kl.prepare(kl.datasets.rome())
    assert repr(p).startswith("PreparedGraph(3,353 vertices, 8,859 arcs, ")
    assert "order " in repr(p)
    assert "PreparedGraph" in p._repr_html_()
    plan = p.explain()
    assert plan.problem == "prepare"
    assert "triangles" in str(plan)
    assert "the tree is" in str(plan)
    assert p.nbytes > 0
    before = kl.explain(kl.generate.grid(40, 40), "prepare")
    assert "pairs of vertices would be joined" in str(before)
    assert before.memory > 0


def test_calls_on_a_prepared_graph_are_explained() -> None:
    p = kl.prepare(TOWN)
    assert kl.explain(p, "sssp") == kl.sssp(p, 3).plan
    assert kl.explain(p, "apsp") == kl.apsp(p).plan
    assert kl.explain(p, "closure").semiring == "min_plus"
    assert kl.explain(p, "sssp", limit=3).method == "dijkstra"
    assert str(kl.explain(p, "prepare")) == str(p.explain())


def test_notebooks_show_results() -> None:
    p = kl.prepare(TOWN)
    for r in (
        p.tree(1), p.trees([1, 2]), p.matrix([1, 2], [3, 4]), p.matrix([1], [3]),
        p.paths([(1, 2)]), p.nearest([8, 3], [1, 2]), p.within([1], 5), p.explain(),
    ):  # fmt: skip
        assert "<table" in r._repr_html_() or "<ul" in r._repr_html_()
    assert ">8<" in p.nearest([8, 3], [1, 2])._repr_html_()


def test_graphs_that_do_not_fall_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    g = kl.generate.uniform(300, 9000, seed=1)
    monkeypatch.setattr("kleene.prepared.elimination.available_memory", lambda: 2**16)
    with pytest.raises(kl.MemoryBudgetError, match="pairs of vertices"):
        kl.prepare(g)
    assert "refused" in str(kl.explain(g, "prepare"))


def test_an_order_of_ones_own() -> None:
    g = kl.Graph.from_table(STREETS)
    p = kl.prepare(g, order=["c", "a", "e", "b", "d"])
    assert np.array_equal(p.trees().distances, kl.apsp(g).distances)


def test_an_order_does_not_reach_later_calls() -> None:
    g, same = (kl.generate.grid(12, 12, weights=(1, 9), seed=5) for _ in range(2))
    pairs = kl.prepare(same)._elimination.arcs
    chosen = np.random.default_rng(1).permutation(g.n)
    p = kl.prepare(g, order=chosen)
    assert p._elimination.arcs > pairs
    assert p.customize(semiring="boolean")._elimination is p._elimination
    assert kl.prepare(g)._elimination.arcs == pairs
    p.customize(2)
    kl.prepare(g, order=chosen)
    assert kl.prepare(g)._elimination.arcs == pairs


def test_an_order_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, forgotten = (kl.generate.grid(12, 12, weights=(1, 9), seed=s) for s in (5, 6))
    Preparation.of(counted).count(counted)
    first = kl.prepare(forgotten)
    Preparation.of(forgotten).forget()
    monkeypatch.setattr(order, "dissect", lambda arcs: pytest.fail("METIS runs again"))
    for g in (counted, forgotten):
        p = kl.prepare(g)
        assert p._steps.order is None
        assert str(p._steps).startswith("elimination")
        p.trees().verify()
    assert p._elimination.arcs == first._elimination.arcs


def test_a_prepared_graph_serves_later_calls() -> None:
    g = kl.generate.grid(12, 12, weights=(1, 9), seed=5)
    p = kl.prepare(g)
    again = kl.prepare(g)
    assert again._elimination is p._elimination
    assert again._customization is p._customization
