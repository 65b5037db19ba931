"""Betweenness within an error: the proof of the error, and the call.

Seeds are fixed and answers depend on nothing else, so that tests of chance cannot fail by chance.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from scipy.stats import binom

import kleene as kl
from kleene import Graph, RequestError
from kleene.backends.common import sample_limits
from kleene.backends.cpu.betweenness import longest_path

#: Graphs with weights for which the number of shortest paths is not defined, or paths are not.
UNSUITED = {"zero_cycle", *(name for name in graphs.names() if "negative" in name)}


def network(g: Graph, hops: bool) -> Any:
    made = nx.DiGraph() if g.directed else nx.Graph()
    made.add_nodes_from(range(g.n))
    for (u, v), weight in graphs.arcs_of(g).items():
        made.add_edge(u, v, weight=1 if hops else weight)
    return made


# ---- the proof ----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [0.2, 0.05, 0.003])
def test_limits_prove_the_error(error: float) -> None:
    """Of all counts within a limit, the exact tails of the binomial law are within the budget."""
    for samples in (int(3 / error), int(0.3 / error**2), int(2 / error**2)):
        for budget in (0.2, 1e-3, 1e-9):
            z = sample_limits._deviations(np.full((1, 1), budget))
            limit = int(sample_limits._largest_counts(np.array([[samples]]), error, z, z)[0, 0])
            counts = np.unique(np.linspace(0, limit, 300).astype(int)) if limit >= 0 else []
            for x in counts:
                if x < samples * (1 - error):
                    assert binom.cdf(x, samples, x / samples + error) <= budget * (1 + 1e-9)
                if x > samples * error:
                    assert binom.sf(x - 1, samples, x / samples - error) <= budget * (1 + 1e-9)
            x = limit + 1  # and the limit is not far within it
            if samples * error < x < samples * (0.5 - error):
                above = binom.cdf(x, samples, x / samples + error)
                assert max(above, binom.sf(x - 1, samples, x / samples - error)) > 0.2 * budget


@pytest.mark.parametrize("total", [1, 12, 400])
@pytest.mark.parametrize("error", [0.2, 0.02])
def test_the_largest_number_of_samples_is_enough_for_any_graph(error: float, total: int) -> None:
    failure, items = 0.02, 10_000
    samples = sample_limits.most_samples(items, total, error, failure)
    for p in (0.001, 0.01, error, 2 * error, 0.1, 0.3, 0.5, 0.7, 0.99):
        below = binom.cdf(np.ceil(samples * (p - error)) - 1, samples, p)
        above = binom.sf(np.floor(samples * (p + error)), samples, p)
        assert min(items, total / p) * (below + above) <= failure
    assert samples <= np.log(4 * items / failure) / (2 * error**2) + 1


def test_limits_share_the_budget() -> None:
    """Vertices that the first samples often passed have most of it."""
    guess = np.array([0] * 9_000 + [5] * 900 + [70, 62, 40])
    ends, limits = sample_limits.stop_limits(guess, 1_000, 44_000, 0.01, 0.09)
    assert ends[-1] == 44_000
    assert (np.diff(ends) > 0).all()
    assert limits.shape == (len(ends), 71)
    assert (np.diff(limits[:-1, [0, 5, 40, 62, 70]]) >= 0).all()
    assert (limits[:-1, 70] > 2 * limits[:-1, 0]).all()
    assert 3 < len(ends) < 40


@pytest.mark.parametrize("hops", [True, False])
@pytest.mark.parametrize("name", graphs.names())
def test_the_error_is_kept(name: str, hops: bool) -> None:
    g = graphs.graph(name)
    if g.weight_dtype is not None and not hops and name in UNSUITED:
        with pytest.raises(RequestError):
            kl.betweenness(g, error=0.1)
        return
    whole = network(g, hops)
    for endpoints in (False, True):
        found = kl.betweenness(g, hops=hops, error=0.03, edges=True, endpoints=endpoints, seed=5)
        exact = nx.betweenness_centrality(whole, weight="weight", endpoints=endpoints)
        right = np.array([exact[v] for v in range(g.n)])
        assert np.abs(found.values - right).max(initial=0) <= 0.03
        assert found.arcs is not None
        if g.m:
            by_edge = nx.edge_betweenness_centrality(whole, weight="weight")
            arcs = [by_edge.get((u, v), by_edge.get((v, u))) for u, v in graphs.arcs_of(g)]
            assert np.abs(found.arcs - arcs).max() <= 0.03
        assert found.verify().rows == g.n


@pytest.mark.parametrize(
    "make",
    [
        lambda: kl.generate.rmat(9, 4, seed=1),
        lambda: kl.generate.rmat(10, 8, seed=2, weights=(1, 4)),
        lambda: kl.generate.grid(20, 20),
        lambda: kl.generate.star(300),
    ],
)
def test_answers_depend_on_the_seed_and_not_on_threads(make: Any) -> None:
    g = make()
    answers = [
        kl.betweenness(g, error=0.04, edges=True, seed=seed, threads=threads)
        for seed, threads in ((0, 1), (0, 2), (0, 5), (1, 2))
    ]
    for other in answers[1:3]:
        assert other.paths == answers[0].paths
        assert (other.values == answers[0].values).all()
        assert (other.arcs == answers[0].arcs).all()
    if (answers[0].values > 0.01).any():
        assert (answers[3].values != answers[0].values).any()


def samples(g: Graph, error: float, confidence: float = 0.9) -> int:
    taken = kl.betweenness(g, error=error, confidence=confidence).paths
    assert taken is not None
    return taken


def test_the_number_of_samples_follows_the_graph_and_the_demand() -> None:
    star, error = kl.generate.star(400).symmetrise(), 0.02
    many = samples(star, error)  # nearly all paths pass one vertex
    assert 2 * samples(kl.generate.rmat(11, 8, seed=1).symmetrise(), error) < many
    assert 3 * many < samples(star, error / 2) < 5 * many
    assert many < samples(star, error, 0.999)


@pytest.mark.parametrize(
    ("make", "right"),
    [
        (lambda: kl.generate.cycle(12), (7, 12)),
        (lambda: Graph.from_edges([0, 2], [1, 3], n=9, directed=False), (2, 2)),
        (lambda: Graph.from_edges(range(9), range(1, 10), directed=False), (10, 10)),
        (lambda: kl.generate.star(50).symmetrise(), (3, 3)),
        (lambda: Graph.from_edges([], [], n=3), (1, 1)),
    ],
)
def test_the_longest_path(make: Any, right: tuple[int, int]) -> None:
    g = make()
    assert right[0] <= longest_path(g, True, 2) <= right[1]
    for s in range(g.n):
        lengths = nx.single_source_shortest_path_length(network(g, True), s)
        assert max(lengths.values()) + 1 <= longest_path(g, True, 1)


def test_many_components_have_few_searches() -> None:
    ends = np.arange(0, 3000, 30)[:, None] + np.arange(29)
    g = Graph.from_edges(ends.ravel(), ends.ravel() + 1, directed=False)
    assert longest_path(g, True, 1) == 30


# ---- the call -----------------------------------------------------------------------------------


def test_progress_and_the_end_of_it() -> None:
    seen: list[tuple[int, int]] = []
    g = kl.generate.grid(30, 30)
    found = kl.betweenness(g, error=0.02, progress=lambda done, all: seen.append((done, all)))
    assert found.paths is not None
    assert len({total for _, total in seen}) == 1
    assert seen[-1][0] == seen[-1][1] > found.paths  # it stopped early
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_progress_function_may_stop_it() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        kl.betweenness(kl.generate.grid(30, 30), error=0.01, progress=stop)


@pytest.mark.parametrize("weights", [None, (1, 9)])
def test_interrupt(weights: Any) -> None:
    """Ctrl-C ends it soon, on all threads."""
    g = kl.generate.grid(300, 300, weights=weights, seed=1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            kl.betweenness(g, error=1e-5, threads=2)  # days
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_what_does_not_go_with_an_error() -> None:
    g = kl.generate.cycle(9)
    for other in ({"sources": [1]}, {"targets": [1]}, {"limit": 3}, {"samples": 4}):
        with pytest.raises(RequestError, match=f"leave out {next(iter(other))}"):
            kl.betweenness(g, error=0.1, **other)
    for error in (0, 1, -0.1, float("nan"), "0.1", True):
        with pytest.raises(RequestError, match="error must be"):
            kl.betweenness(g, error=error)  # type: ignore[arg-type]
    for confidence in (0, 1, 2.0, "0.9"):
        with pytest.raises(RequestError, match="confidence must be"):
            kl.betweenness(g, error=0.1, confidence=confidence)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="sampled"):
        kl.betweenness(g, method="sampled")


@pytest.mark.parametrize("error", [0.9, 0.3, 0.2])
@pytest.mark.parametrize("confidence", [1e-9, 0.5, 1 - 1e-12])
def test_odd_demands(error: float, confidence: float) -> None:
    g = kl.generate.star(40)
    found = kl.betweenness(g, error=error, confidence=confidence, seed=2**70)
    exact = nx.betweenness_centrality(network(g, True))
    assert abs(found.values - [exact[v] for v in range(g.n)]).max() <= error
    assert found.paths is not None
    assert found.paths < 5_000


def test_an_estimate_that_is_wrong_is_refused() -> None:
    g = kl.generate.grid(9, 9)
    found = kl.betweenness(g, error=0.02, edges=True)
    found._sums[0][40] += 0.05 * g.n**2
    with pytest.raises(kl.VerificationError, match="vertex 40 is off by"):
        found.verify()
    other = kl.betweenness(g, error=0.02, edges=True)
    other._sums[1][5] += 0.05 * g.n**2
    with pytest.raises(kl.VerificationError, match=r"arc from .* is off by"):
        other.verify()
