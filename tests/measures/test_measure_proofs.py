"""Proofs of measures notice a wrong answer, and calls refuse what would give one."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.errors import RequestError, VerificationError

GRID = kl.generate.grid(6, 7)
TRIPS = ([0, 3, 40], [41, 12, 5], [1.0, 2.5, 4.0])

#: What is corrupted: a call, the attribute of its result, and what is added to a number there.
WRONG: dict[str, tuple[Callable[[kl.Graph], Any], str, float]] = {
    "betweenness": (kl.betweenness, "values", 0.01),
    "betweenness of arcs": (lambda g: kl.betweenness(g, edges=True), "arcs", 0.01),
    "betweenness of samples": (lambda g: kl.betweenness(g, samples=5), "values", 0.01),
    "betweenness within an error": (lambda g: kl.betweenness(g, error=0.05), "values", 0.6),
    "closeness": (kl.closeness, "values", 0.01),
    "harmonic": (kl.harmonic, "values", 0.01),
    "eccentricity": (kl.eccentricity, "values", 1),
    "histogram": (kl.distance_histogram, "counts", 2),
    "path counts": (lambda g: kl.path_counts(g, 0), "values", 1),
    "exact path counts": (lambda g: kl.path_counts(g, 0, exact=True), "values", 1),
    "distances of path counts": (lambda g: kl.path_counts(g, 0), "distances", 1),
    "loads": (lambda g: kl.loads(g, TRIPS), "arcs", 0.01),
    "split loads": (lambda g: kl.loads(g, TRIPS, split=True), "arcs", 0.01),
}


@pytest.mark.parametrize("hops", [True, False], ids=["hops", "weights"])
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_number_is_noticed(what: str, hops: bool) -> None:
    call, name, added = WRONG[what]
    result = call(GRID if hops else _weighted())
    result.verify()
    numbers = getattr(result, name)
    assert not numbers.flags.writeable
    wrong = numbers.copy()
    wrong[5] += added
    setattr(result, name, wrong)
    with pytest.raises(VerificationError):
        result.verify()


def test_sums_below_those_of_a_sample_are_noticed() -> None:
    result = kl.betweenness(_weighted())
    result._sums = (result._sums[0] / 100, None)
    result.values = result._vertices()
    with pytest.raises(VerificationError, match="plain method"):
        result.verify(sample=20)


@pytest.mark.parametrize("weight", [1, 0])  # prepared graphs unpack paths where it is 0
def test_loads_are_pickled(weight: int) -> None:
    graph = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, weight, 1])
    seen: list[tuple[int, int]] = []
    for g in (graph, kl.prepare(graph)):
        flows = kl.loads(g, ([0, 1], [3, 2], [5, 1]), progress=lambda *done: seen.append(done))
        again = pickle.loads(pickle.dumps(flows))
        again.verify()
        assert again.arcs.tolist() == [5, 6, 5]


@pytest.mark.parametrize("sample", [0, -1, 1.5, "x"])
@pytest.mark.parametrize("what", WRONG)
def test_a_sample_is_a_whole_number(what: str, sample: Any) -> None:
    with pytest.raises(RequestError, match="sample must be a positive integer"):
        WRONG[what][0](GRID).verify(sample=sample)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True])
@pytest.mark.parametrize("what", WRONG)
def test_a_seed_of_a_proof_is_a_whole_number(what: str, seed: Any) -> None:
    found = WRONG[what][0](GRID)
    for sample in (2, None):
        with pytest.raises(RequestError, match="seed must be a non-negative integer"):
            found.verify(sample=sample, seed=seed)


@pytest.mark.parametrize("source", [[0, 1], None, {0}])
def test_one_vertex_is_asked_for(source: Any) -> None:
    with pytest.raises(RequestError, match="source must be one vertex"):
        kl.path_counts(GRID, source)
    with pytest.raises(RequestError, match="vertex must be one vertex"):
        kl.ego(GRID, source, 1)


@pytest.mark.parametrize("error", [1e-9, 1e-300])
def test_an_error_that_takes_days_is_refused(error: float) -> None:
    with pytest.raises(RequestError, match="leave it out for exact numbers"):
        kl.betweenness(GRID, error=error)


def test_confidence_is_checked_without_an_error() -> None:
    with pytest.raises(RequestError, match="confidence must be a number between 0 and 1"):
        kl.betweenness(GRID, confidence=5)


@pytest.mark.parametrize("labels", [None, ["a", "b", "c"]])
def test_a_measure_is_a_mapping_and_goes_over_numbers(labels: list[str] | None) -> None:
    graph = kl.Graph.from_edges([0, 1], [1, 2], directed=False, labels=labels)
    found, names = kl.betweenness(graph), labels or [0, 1, 2]
    assert dict(found) == dict(zip(names, [0.0, 1.0, 0.0], strict=True))
    assert (list(found), sum(found), max(found)) == ([0.0, 1.0, 0.0], 1.0, 1.0)
    assert names[2] in found
    assert "x" not in found
    assert 3 not in found
    assert [names[1]] not in found
    assert range(2) not in found
    assert found.items() == list(dict(found).items())
    assert found.to_dict() == dict(found)


def test_a_slice_of_a_measure_is_one_of_its_array() -> None:
    with pytest.raises(RequestError, match=r"give labels, or positions .* \.values\[:2\]"):
        kl.betweenness(GRID)[:2]


def test_confidence_goes_with_an_error() -> None:
    with pytest.raises(RequestError, match="give both, or neither"):
        kl.betweenness(GRID, confidence=0.5)
    assert "random paths, until all are within 0.3" in str(kl.betweenness(GRID, error=0.3).plan)
    asked = kl.betweenness(GRID, error=0.3, confidence=0.5, method="sampled")
    assert "method 'sampled' was asked for" in str(asked.plan)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_a_table(directed: bool, tmp_path: Path) -> None:
    table = {"source": ["a", "b", "c"], "target": ["b", "c", "d"]}
    g = kl.Graph.from_table(table, directed=directed)
    b = kl.betweenness(g, edges=True, normalized=False)
    assert kl.betweenness(g).edges is None
    assert b.edges is not None
    frame = b.edges.to_frame()
    assert frame.columns.tolist() == ["source", "target", "betweenness"]
    assert frame.source.tolist() == ["a", "b", "c"]
    assert frame.betweenness.tolist() == b.rows.tolist()
    assert repr(b.edges) == "EdgeTable(betweenness of 3 edges)"
    b.edges.save(tmp_path / "edges.csv")
    assert (tmp_path / "edges.csv").read_text().splitlines()[1] == "a,b,3.0"


def test_one_vertex_is_singular() -> None:
    g = kl.Graph.from_edges([], [], n=1)
    assert repr(kl.closeness(g)) == "Closeness(closeness of 1 vertex, most 0 at 0)"
    assert "of 1 vertex," in repr(kl.path_counts(g, 0, exact=True))
    assert repr(kl.distance_histogram(g)).endswith("of 0 pairs in 1 bin, from 1 source)")
    assert "1 source of 1 vertex," in repr(kl.reduce_distances(g))


def test_one_of_anything_is_singular() -> None:
    g = kl.Graph.from_edges([0], [1], [2])
    flows = kl.loads(g, [(0, 1, 5), (1, 0, 3)])
    for shown in (
        kl.distance_histogram(g), flows, flows.unassigned, kl.prepare(g),
        kl.sssp(g, pairs=[(0, 1)]), kl.prepare(g).nearest([0], [1]),
        kl.k_shortest(g, pairs=[(0, 1)], k=1),
        kl.sssp(g, 0).verify(), kl.apsp(g).verify(), kl.eccentricity(g, unreachable="ignore").plan,
    ):  # fmt: skip
        wrong = r"\b(?<![,.])1 (arcs|bins|pairs|paths|searches|sources|trips|vertices)\b"
        assert not re.search(wrong, f"{shown!r} {shown}")


def test_a_device_without_methods_is_named() -> None:
    says = "loads does not run on device 'emulated'; it runs on 'cpu' and 'reference'"
    with pytest.raises(RequestError, match=says):
        kl.loads(GRID, TRIPS, device="emulated")


def test_volumes_under_another_name_are_not_lost() -> None:
    table = {"origin": [0, 3], "destination": [41, 12], "cars": [5, 7]}
    with pytest.raises(RequestError, match="volume=None for one trip per row"):
        kl.loads(GRID, table)
    assert kl.loads(GRID, table, volume="cars").volume == 12
    assert kl.loads(GRID, table, volume=None).volume == 2


def _weighted() -> kl.Graph:
    tails, heads, _ = GRID.coo
    return kl.Graph.from_edges(tails, heads, 1 + (tails + heads) % 3)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("limit", [None, 5, 2**29])
@pytest.mark.parametrize("weights", [(2**29 - 1, 2**30 - 2, 1), (2**30 - 2, 1, 1)])
def test_a_type_that_fits_in_one_direction_is_right_in_both(
    weights: tuple[int, ...], limit: int | None, reverse: bool
) -> None:
    """Paths of a star are arcs; seen from its leaves, bounds add up what leaves them."""
    star = kl.Graph.from_edges([3, 3, 3], [1, 0, 2], np.array(weights, np.int32), n=4)
    for g in (star, star.transpose()):
        for result in (
            kl.closeness(g, limit=limit, reverse=reverse),
            kl.harmonic(g, limit=limit, reverse=reverse),
            kl.distance_histogram(g, limit=limit, reverse=reverse),
            kl.reduce_distances(g, limit=limit, reverse=reverse),
            kl.eccentricity(g, unreachable="ignore", reverse=reverse),
            kl.apsp(g, limit=limit, reverse=reverse),
            kl.sssp(g, pairs=[(3, 0), (3, 1), (0, 3), (1, 3)], limit=limit),
            kl.sssp(g, pairs=[(3, 0), (2, 0), (1, 0), (0, 3)], limit=limit),
            kl.within(g, [3, 0], limit=5, reverse=reverse),
            kl.nearest(g, [3, 0], 2, limit=limit, reverse=reverse),
            kl.prepare(g).trees([3, 0], reverse=reverse),
            kl.prepare(g).matrix([3, 0], [0, 1, 2]),
            kl.prepare(g).nearest([0, 1, 2, 3], [3, 0], limit=limit, reverse=reverse),
        ):
            assert result.verify()  # type: ignore[attr-defined]
