"""Calls on a Dask cluster give what calls here give."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster_graphs import CITY, PLACES, SOCIAL

import kleene as kl
from kleene.calls.nearest import _Search
from kleene.clusters.dask import graphs as dask_graphs
from kleene.clusters.dask import tile_tasks
from kleene.clusters.dask.graphs import SharedGraph, share_plain_graph
from kleene.engine import work
from kleene.engine.sums import SumsWriter

dask = pytest.importorskip("dask.distributed")


# ---- searches to targets ------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [CITY, SOCIAL], ids=["city", "social"])
@pytest.mark.parametrize(
    ("problem", "keywords"),
    [
        ("sssp", {}),
        ("sssp", {"reverse": True, "predecessors": False}),
        ("apsp", {"limit": 6}),
        ("bfs", {}),
        ("bfs", {"limit": 3, "reverse": True}),
    ],
)
def test_distances_to_targets(
    client: Any, graph: kl.Graph, problem: str, keywords: dict[str, Any]
) -> None:
    ends = {"sources": range(0, 400, 3), "targets": [5, 399, 5, 17], **keywords}
    there = getattr(kl, problem)(graph, **ends, on=client)
    here = getattr(kl, problem)(graph, **ends)
    assert np.array_equal(there.distances, here.distances)
    assert there.distances.dtype == here.distances.dtype
    assert there.verify(sample=5).rows == 5
    if "limit" not in keywords and "reverse" not in keywords:
        assert len(there.path(3, 17)) == len(here.path(3, 17))
    assert "cluster: 2 workers with 2 threads" in str(there.plan)
    assert " 1 pieces" not in str(there.plan)


def test_an_address_and_labels(client: Any) -> None:
    there = kl.sssp(PLACES, sources=["a", "c"], targets=["e", "b"], on=client.scheduler.address)
    assert there.distances.tolist() == [[10, 2], [6, there.no_path]]
    assert there.path("a", "e") == ["a", "b", "c", "d", "e"]
    assert there.sources.tolist() == ["a", "c"]


def test_a_wrong_matrix_is_refused(client: Any) -> None:
    for problem in (kl.bfs, kl.sssp):
        result = problem(CITY, sources=[0, 1], targets=[5, 9], on=client)
        result.distances[1, 1] += 1
        with pytest.raises(kl.VerificationError):
            result.verify()


def test_a_matrix_of_a_prepared_graph(client: Any) -> None:
    prepared = kl.prepare(CITY)
    sources, targets = range(0, 900, 7), range(0, 900, 11)
    there = prepared.matrix(sources, targets, on=client)
    assert np.array_equal(there.distances, prepared.matrix(sources, targets).distances)
    assert there.verify(sample=3).rows == 3
    assert there.plan.method == "prepared"


@pytest.mark.parametrize("semiring", ["max_min", "boolean"])
def test_rows_of_a_closure(client: Any, semiring: str) -> None:
    prepared = kl.prepare(CITY, semiring=semiring)
    ends = {"sources": range(40), "targets": range(5)}
    there = kl.closure(prepared, **ends, on=client)
    assert np.array_equal(there.values, kl.closure(prepared, **ends).values)


# ---- nearest facilities, reductions -------------------------------------------------------------


@pytest.mark.parametrize(
    "keywords",
    [{}, {"k": 4}, {"k": 7, "hops": True}, {"k": 4, "reverse": True, "limit": 12}, {"hops": True}],
)
def test_nearest(client: Any, keywords: dict[str, Any]) -> None:
    facilities = [3, 400, 3, 877, 450, 12]
    there = kl.nearest(CITY, facilities, **keywords, on=client)
    here = kl.nearest(CITY, facilities, **keywords)
    assert np.array_equal(there.distances, here.distances)
    assert np.array_equal(there.which, here.which)
    there.verify()
    shares = "2 shares" if keywords.get("k", 1) > 3 else "1 share\n"
    assert f"facilities in {shares}" in f"{there.plan}\n"


@pytest.mark.parametrize("keywords", [{}, {"hops": True}])
def test_the_nearest_is_planned_as_workers_search(
    keywords: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ran = work._run, []

    def noted(task: Any, plan: Any, call: Any) -> Any:
        ran.append((plan.problem, plan.method))
        return run(task, plan, call)

    monkeypatch.setattr(work, "_run", noted)
    with (  # workers in this process
        dask.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        dask.Client(cluster, set_as_default=False) as here,
    ):
        plan = kl.nearest(CITY, [3, 400], **keywords, on=here).plan
    assert ran[0] == (plan.problem, plan.method)
    assert plan.problem == kl.nearest(CITY, [3, 400], **keywords).plan.problem


@pytest.mark.parametrize("keywords", [{"k": 4}, {"k": 7, "hops": True}, {"limit": 12}])
def test_nearest_of_a_prepared_graph(client: Any, keywords: dict[str, Any]) -> None:
    facilities = [3, 400, 3, 877, 450, 12]
    there = kl.nearest(kl.prepare(CITY), facilities, **keywords, on=client)
    here = kl.nearest(CITY, facilities, **keywords)
    assert np.array_equal(there.distances, here.distances)
    assert np.array_equal(there.which, here.which)
    there.verify()


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"hops": True, "bins": 12},
        {"limit": 5, "reverse": True, "bins": [0, 1, 2.5, 5]},
        {"sources": [7, 3, 7]},
    ],
)
@pytest.mark.parametrize("graph", [CITY, SOCIAL], ids=["city", "social"])
def test_reductions(client: Any, graph: kl.Graph, keywords: dict[str, Any]) -> None:
    there = kl.reduce_distances(graph, **keywords, on=client)
    here = kl.reduce_distances(graph, **keywords)
    for name in ("sums", "maxima", "reached", "histogram"):
        one, other = getattr(there, name), getattr(here, name)
        assert (one is None and other is None) or np.array_equal(one, other), name
    there.verify()


# ---- the graph on the workers -------------------------------------------------------------------


class Hidden(SharedGraph):
    """A file that workers do not see: its path is another one there."""

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedGraph, (f"/nowhere/{self.name}", self.load)


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hide the files of graphs from workers; return to whom they are sent."""
    sent: list[str] = []
    send = dask_graphs.send_graph

    def counted(client: Any, shared: SharedGraph, workers: list[str]) -> None:
        sent.extend(workers)
        send(client, shared, workers)

    monkeypatch.setattr(dask_graphs, "SharedGraph", Hidden)
    monkeypatch.setattr("kleene.clusters.dask.runner.send_graph", counted)
    monkeypatch.setattr(dask_graphs, "_PART", 2**12)  # many parts
    return sent


def test_without_shared_storage_the_graph_is_sent_once_to_each_worker(
    client: Any, hidden: list[str]
) -> None:
    there = kl.reduce_distances(SOCIAL, on=client)
    assert np.array_equal(there.sums, kl.reduce_distances(SOCIAL).sums)
    assert hidden
    assert len(hidden) == len(set(hidden)) <= 2


def test_a_worker_lets_go_of_a_graph(client: Any) -> None:
    def held() -> int:
        from kleene.clusters.dask.graphs import _HELD

        return len(_HELD)

    with share_plain_graph(client, CITY, False, None) as shared:
        assert Path(shared.path).exists()
        assert set(client.run(held).values()) == {1}
    assert not Path(shared.path).exists()
    assert set(client.run(held).values()) == {0}


@pytest.mark.parametrize("what", ["client", "cluster"])
def test_a_closed_client_is_refused(what: str) -> None:
    cluster = dask.LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    closed = dask.Client(cluster, set_as_default=False)
    (closed if what == "client" else cluster).close()
    try:
        for call in (
            lambda: kl.sssp(CITY, sources=[1, 2], targets=[3], on=closed),
            lambda: kl.explain(CITY, "apsp", on=closed),
        ):
            with pytest.raises(kl.ClusterError, match=r"closed|does not answer"):
                call()
    finally:
        closed.close()
        cluster.close()


# ---- what Dask raises ---------------------------------------------------------------------------


def failing(real: Any, times: float, error: Exception) -> Any:
    """Return a method of a client that raises so many times."""
    left = [times]

    def method(*arguments: Any, **keywords: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return real(*arguments, **keywords)

    return method


def lost() -> list[Exception]:
    from distributed.client import CancelledError, ClosedClientError
    from distributed.comm.core import CommClosedError

    return [CommClosedError("in <TCP (closed)>"), ClosedClientError("c"), CancelledError("task")]


def test_a_worker_that_ends_while_the_graph_is_registered(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    register = failing(client.register_plugin, 2, lost()[0])
    monkeypatch.setattr(client, "register_plugin", register)
    there = kl.sssp(CITY, sources=range(9), targets=[5], on=client)
    assert np.array_equal(there.distances, kl.sssp(CITY, sources=range(9), targets=[5]).distances)


@pytest.mark.parametrize("name", ["register_plugin", "run", "submit", "map"])
@pytest.mark.parametrize("error", lost(), ids=lambda error: type(error).__name__)
def test_errors_of_dask_are_cluster_errors(
    client: Any, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, name, failing(getattr(client, name), np.inf, error))
    if name == "map":
        call = partial(kl.apsp, SOCIAL, method="tiled", out=tmp_path / "d.npy")
    else:
        call = partial(kl.sssp, CITY, sources=range(9), targets=[5])
    with pytest.raises(kl.ClusterError, match=re.escape(str(error))) as raised:
        call(on=client)
    assert raised.value.__cause__ is error
    assert "the same call resumes" in str(raised.value)


def test_a_cluster_that_goes_while_it_is_cleaned_up(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("unregister_worker_plugin", "cancel"):
        monkeypatch.setattr(client, name, failing(None, np.inf, lost()[1]))
    assert kl.sssp(CITY, sources=range(9), targets=[5], on=client).distances.shape == (9, 1)


# ---- measures, from some of the sources each ----------------------------------------------------


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_PIECE_SECONDS", "1e-3")


def graphs() -> list[Any]:
    """Return graphs, and one that is prepared."""
    return [CITY, SOCIAL, kl.prepare(CITY)]


@pytest.mark.parametrize("graph", graphs(), ids=["city", "social", "prepared"])
@pytest.mark.parametrize(
    "keywords", [{}, {"hops": True}, {"limit": 9, "reverse": True}, {"sources": range(3, 90)}]
)
@pytest.mark.usefixtures("small_pieces")
def test_measures(client: Any, graph: Any, keywords: dict[str, Any]) -> None:
    there = kl.closeness(graph, **keywords, on=client)
    here = kl.closeness(graph, **keywords)
    assert np.array_equal(there.reached, here.reached)
    assert np.allclose(there.values, here.values, rtol=1e-12, atol=0)
    assert "2 workers" in str(there.plan)
    assert " 1 piece," not in str(there.plan)
    there.verify(sample=3)
    harmonic = kl.harmonic(graph, **keywords, on=client)
    assert np.allclose(harmonic.values, kl.harmonic(graph, **keywords).values, rtol=1e-12, atol=0)
    for bins in (None, [0, 2, 5.5]):
        counts = kl.distance_histogram(graph, **keywords, bins=bins, on=client)
        alone = kl.distance_histogram(graph, **keywords, bins=bins)
        assert np.array_equal(counts.counts, alone.counts)
        assert np.array_equal(counts.edges, alone.edges)


@pytest.mark.parametrize("graph", graphs(), ids=["city", "social", "prepared"])
@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.usefixtures("small_pieces")
def test_numbers_of_a_whole_graph(client: Any, graph: Any, hops: bool) -> None:
    there, here = (kl.efficiency(graph, hops=hops, on=on) for on in (client, None))
    assert math.isclose(there, here, rel_tol=1e-12)
    there, here = (kl.wiener_index(graph, hops=hops, on=on) for on in (client, None))
    assert there == here or math.isclose(there, here, rel_tol=1e-12)


@pytest.mark.usefixtures("small_pieces")
def test_sums_are_the_same_in_every_run(client: Any) -> None:
    one, other = (kl.harmonic(SOCIAL, on=client).values for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("keywords", [{}, {"hops": True}, {"edges": True, "samples": 90}])
@pytest.mark.parametrize("device", ["auto", "emulated"])
@pytest.mark.usefixtures("small_pieces")
def test_betweenness(client: Any, device: str, keywords: dict[str, Any]) -> None:
    if device == "emulated":
        pytest.importorskip("kleene._emulator")
    small = kl.generate.rmat(scale=6, edge_factor=8, seed=2, weights=(0.5, 2.0))
    graph = SOCIAL if device == "auto" else small
    there = kl.betweenness(graph, device=device, on=client, **keywords)
    here = kl.betweenness(graph, **keywords)
    assert np.allclose(there.values, here.values, rtol=1e-9, atol=1e-15)
    assert device == "auto" or there.plan.device == "emulated"
    assert "2 workers" in str(there.plan)
    there.verify(sample=2)


@pytest.mark.usefixtures("small_pieces")
def test_sums_beyond_int64(client: Any) -> None:
    far = kl.Graph.from_edges(range(40), range(1, 41), [2**56] * 40, directed=False)
    there, here = kl.closeness(far, on=client), kl.closeness(far)
    assert there.totals.tolist() == here.totals.tolist()
    assert max(there.totals) >= 2**63
    harmonic = kl.harmonic(far, on=client)
    assert np.allclose(harmonic.values, kl.harmonic(far).values, rtol=1e-12, atol=0)


@pytest.mark.parametrize("graph", graphs(), ids=["city", "social", "prepared"])
@pytest.mark.parametrize(
    "keywords",
    [{}, {"split": True}, {"limit": 12}, {"hops": True}, {"method": "searches"}],
    ids=str,
)
@pytest.mark.usefixtures("small_pieces")
def test_loads(client: Any, graph: Any, keywords: dict[str, Any]) -> None:
    chance = np.random.default_rng(5)
    n = CITY.n if graph is not SOCIAL else SOCIAL.n
    trips = (*chance.integers(0, n, (2, 900)), chance.integers(1, 9, 900))
    there = kl.loads(graph, trips, **keywords, on=client)
    here = kl.loads(graph, trips, **keywords)
    assert there.plan.method == here.plan.method
    assert np.allclose(there.arcs, here.arcs, rtol=1e-12, atol=1e-12)
    assert np.array_equal(there.unassigned.positions, here.unassigned.positions)
    assert "2 workers" in str(there.plan)
    there.verify(sample=3)


@pytest.mark.usefixtures("small_pieces")
def test_loads_from_few_destinations_and_of_no_trip(client: Any) -> None:
    trips = [(a, b, 2) for a in range(0, 900, 7) for b in (3, 500)]
    assert np.array_equal(kl.loads(CITY, trips, on=client).arcs, kl.loads(CITY, trips).arcs)
    assert not kl.loads(CITY, ([], [], []), on=client).arcs.any()


@pytest.mark.usefixtures("small_pieces")
def test_a_worker_holds_the_sums_of_one_piece(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[int] = []
    needs = SumsWriter.needs

    def counted(writer: SumsWriter, pieces: Any, *of: Any) -> int:
        together.append(len(pieces))
        return needs(writer, pieces, *of)

    monkeypatch.setattr(SumsWriter, "needs", counted)
    kl.closeness(CITY, on=client)
    assert together.count(1) > 4
    assert max(together) == 1


# ---- a worker in this process -------------------------------------------------------------------


@contextmanager
def in_this_process() -> Iterator[Any]:
    """Yield the client of a worker in this process, which sees what a test changes."""
    with (
        dask.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        dask.Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.mark.parametrize("keywords", [{}, {"k": 2}, {"k": 2, "threads": 3}], ids=str)
def test_a_search_takes_the_threads_of_its_worker(
    keywords: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int | None] = []
    compute = _Search.compute

    def watched(search: Any, call: Any, *rest: Any) -> Any:
        taken.append(call.ask.where.threads)
        return compute(search, call, *rest)

    monkeypatch.setattr(_Search, "compute", watched)
    with in_this_process() as made:
        kl.nearest(CITY, [3, 400], on=made, **keywords)
    assert taken == [keywords.get("threads", 1)]


def one_more(compute: Any) -> Any:
    """Return what computes rows, wrong by one but for the sources."""

    def wrong(*given: Any) -> Any:
        answer = compute(*given)
        answer.values[answer.values > 0] += 1
        return answer

    return wrong


@pytest.mark.parametrize(
    ("problem", "asked"),
    [
        ("sssp", {"sources": [0, 9], "targets": [5, 7], "method": "dijkstra"}),
        ("sssp", {"pairs": [(0, 5), (9, 7)], "method": "dijkstra"}),
        ("apsp", {"out": "d.npy", "method": "batched"}),
        ("apsp", {"out": "d.npy", "method": "tiled"}),
    ],
    ids=["block", "pairs", "store", "tiles"],
)
def test_a_worker_refuses_rows_that_are_wrong(
    problem: str, asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(work, "_run", one_more(work._run))
    monkeypatch.setattr(tile_tasks, "finish_rows", one_more(tile_tasks.finish_rows))
    monkeypatch.setattr(tile_tasks, "_PROOF", 0)
    refused = pytest.raises((kl.ClusterError, kl.VerificationError), match=r"Verif|its predecessor")
    with in_this_process() as made, refused:
        getattr(kl, problem)(SOCIAL, on=made, **asked)
