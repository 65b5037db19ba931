"""Prepared graphs beside plain searches, SciPy, pyroutingkit and pandana, in one run."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import cores
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.graphs import NamedGraph, delaunay, highways, sources_in
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.prepared import (
    BATCH,
    PAIR,
    PATH,
    TREE,
    Asked,
    answer_trial,
    asked_of,
    peer_trial,
    plain_rows,
    prepare_trial,
    prepared_of,
    scipy_trial,
    search_trial,
    weights_trial,
)
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS", "ROUTING_PEERS"]

Array = NDArray[Any]

# ---- libraries that prepare road networks --------------------------------------------------------
# pyroutingkit orders vertices by their coordinates. A peer is made from a graph, outside the clock,
# and asked by methods named as those of a prepared graph; one without a method does not do that.


class RoutingPeer:
    """One library's form of one graph."""

    name: ClassVar[str]
    most_vertices: ClassVar[float] = np.inf  # more would take minutes to prepare

    def __init__(self, graph: kl.Graph) -> None:
        if find_spec(self.name) is None:
            raise Skipped(f"not installed; pip install {self.name}")
        if graph.n > self.most_vertices:
            raise Skipped("would take too long")
        if graph.positions is None:
            raise Skipped("needs the coordinates of vertices, which this graph does not have")
        self.graph, self.library = graph, import_module(self.name)
        self.tails, self.heads, weights = graph.coo
        self.weights = np.ones(graph.m) if weights is None else weights
        self.x, self.y = graph.positions.T

    def prepare(self) -> None:
        """Do what does not depend on weights, if the library tells them apart."""
        raise NotImplementedError


class PyRoutingKit(RoutingPeer):
    """Customizable contraction hierarchies, in C++; an order by inertial flow."""

    name = "pyroutingkit"

    def prepare(self) -> None:
        self._topology = self.library.CCHTopology()
        tails, heads = (ids.astype(np.uint32) for ids in (self.tails, self.heads))
        y, x = self.y.astype(np.float32), self.x.astype(np.float32)
        self._topology.build(tails, heads, y, x, self.graph.n)
        self._metric = self.library.CCHMetric(self._topology)

    def customize(self) -> None:
        """Take the weights, on all cores."""
        self._metric.customize(self.weights.astype(np.uint32), cores())

    def distances(self, pairs: Array) -> Array:
        """Return the distance of each pair."""
        return self._known([self._metric.query(s, t)[0] for s, t in pairs.tolist()])

    def paths(self, pairs: Array) -> list[list[int]]:
        """Return the path of each pair."""
        return [list(self._metric.query(s, t)[1]) for s, t in pairs.tolist()]

    def matrix(self, sources: Array, targets: Array) -> Array:
        """Return the distances from each source to each target."""
        ids = (some.astype(np.uint32) for some in (sources, targets))
        return self._known(self._metric.distances_many_to_many(*ids))

    def _known(self, distances: Any) -> Array:
        """Return distances with the largest integer for "no path"."""
        wide = np.asarray(distances).astype(np.int64)
        wide[wide == self.library.INF_WEIGHT] = np.iinfo(np.int64).max
        return wide


class Pandana(RoutingPeer):
    """Contraction hierarchies, in C++, on all cores; weights belong to the preparation."""

    name = "pandana"
    most_vertices: ClassVar[float] = 30_000

    def prepare(self) -> None:
        import pandas as pd

        frame = pd.DataFrame({"length": self.weights.astype(np.float64)})
        columns = map(pd.Series, (self.x, self.y, self.tails, self.heads))
        with _silence():
            self._network = self.library.Network(*columns, frame, twoway=False)

    def distances(self, pairs: Array) -> Array:
        """Return the distance of each pair."""
        with warnings.catch_warnings(action="ignore"):  # about pairs without a path
            found = np.array(self._network.shortest_path_lengths(*pairs.T))
        unknown = found > 4e6  # 2^32 - 1, in thousandths
        return np.where(unknown, np.iinfo(np.int64).max, np.rint(found).astype(np.int64))

    def paths(self, pairs: Array) -> list[list[int]]:
        """Return the path of each pair."""
        return [list(map(int, self._network.shortest_path(s, t))) for s, t in pairs.tolist()]

    def matrix(self, sources: Array, targets: Array) -> Array:
        """Return the distances from each source to each target."""
        pairs = np.column_stack([np.repeat(sources, len(targets)), np.tile(targets, len(sources))])
        return self.distances(pairs).reshape(len(sources), len(targets))


ROUTING_PEERS: tuple[type[RoutingPeer], ...] = (PyRoutingKit, Pandana)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what native code prints from standard output, which may be a record in JSON."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


_PREPARE, _WEIGHTS = "prepare", "new weights"
_SIDES = {"1,000 x 1,000": 1_000, "10,000 x 10,000": 10_000}
_QUESTIONS = (_PREPARE, _WEIGHTS, PAIR, PATH, TREE, *_SIDES)

_GRAPHS = (highways(), delaunay(20_000))
_QUICK = (delaunay(100),)

_ALL, _ONE, _PLAIN, _SCIPY = "Kleene, all cores", "Kleene, one core", "Kleene, plain", "SciPy"


# ---- Kleene -------------------------------------------------------------------------------------


def _ours(environment: Environment, named: NamedGraph, question: str, threads: int | None) -> Trial:
    asked = asked_of(environment, named)
    if question == _PREPARE:
        return prepare_trial(asked, threads)
    p = prepared_of(environment, named)
    if question == _WEIGHTS:
        return weights_trial(p, asked, threads)
    if question not in _SIDES:
        return answer_trial(p, asked, question, threads)
    ids = _matrix_ids(environment, asked, question)
    out = np.ones((len(ids), len(ids)), dtype=asked.rows.dtype)  # memory that is in use already
    run = partial(p.matrix, ids, ids, predecessors=False, out=out, threads=threads)
    return Trial(run, lambda result: _check_matrix(environment, named, ids, result.distances))


def _plain(environment: Environment, named: NamedGraph, question: str) -> Trial:
    asked = asked_of(environment, named)
    if question == TREE:
        return search_trial(asked)
    ids = _matrix_ids(environment, asked, question)
    return Trial(
        lambda: np.concatenate([plain_rows(asked.graph, some)[:, ids] for some in _batches(ids)]),
        partial(_check_matrix, environment, named, ids), repeats=1,
    )  # fmt: skip


def _batches(ids: Any) -> list[Any]:
    return np.array_split(ids, max(1, len(ids) // (4 * BATCH)))


# ---- other libraries ----------------------------------------------------------------------------


def _peer_of(environment: Environment, named: NamedGraph, kind: type[RoutingPeer]) -> Any:
    """Return a peer that is ready to answer."""
    g = named.get(environment)

    def make() -> RoutingPeer:
        peer = kind(g)
        peer.prepare()
        if hasattr(peer, "customize"):
            peer.customize()
        return peer

    return environment.last(kind.name, (named.name, g.n), make)


def _theirs(
    environment: Environment, named: NamedGraph, question: str, kind: type[RoutingPeer]
) -> Trial:
    asked = asked_of(environment, named)
    if question == _PREPARE:
        peer: Any = kind(asked.graph)  # raises Skipped

        def check(_: Any) -> str:
            if hasattr(peer, "customize"):
                peer.customize()
            return asked.check_pairs(peer.distances(asked.pairs))

        return Trial(peer.prepare, check, repeats=1)
    peer = _peer_of(environment, named, kind)
    if question == _WEIGHTS:
        return Trial(peer.customize, lambda _: asked.check_pairs(peer.distances(asked.pairs)))
    if question not in _SIDES:
        return peer_trial(peer, asked, question)
    ids = _matrix_ids(environment, asked, question)
    check = partial(_check_matrix, environment, named, ids)
    return Trial(partial(peer.matrix, ids, ids), check, repeats=2)


# ---- right answers ------------------------------------------------------------------------------


def _matrix_ids(environment: Environment, asked: Asked, question: str) -> Any:
    side = 20 if environment.quick else _SIDES[question]
    return sources_in(asked.graph, side)


def _check_matrix(environment: Environment, named: NamedGraph, ids: Any, matrix: Any) -> str:
    """Compare some rows with plain searches, and all with what the first series returned."""
    g = named.get(environment)
    few = np.linspace(0, len(ids) - 1, min(BATCH, len(ids))).astype(int)
    key = (named.name, g.n, len(ids))
    right = environment.kept("matrix rows", key, lambda: plain_rows(g, ids[few])[:, ids].copy())
    if not np.array_equal(matrix[few], right):
        raise AssertionError("a matrix has other distances than plain searches found")
    whole = hashlib.blake2b(np.ascontiguousarray(matrix, dtype=np.int64).data).digest()
    if environment.kept("matrix", key, lambda: whole) != whole:
        raise AssertionError("two matrices of one graph differ")
    return f"{len(few)} rows as plain searches, all as the other series"


# ---- the experiment -----------------------------------------------------------------------------


def _plans(environment: Environment) -> Iterator[Plan]:
    for named in _QUICK if environment.quick else _GRAPHS:
        for x, question in enumerate(_QUESTIONS):
            for series, make in _series(question):
                trial = partial(make, environment, named, question)
                guess = 0.0 if environment.quick else _guess(named, question, series)
                yield Plan(series, x, trial, named.name, guess=guess, size=0)


def _series(question: str) -> Iterator[tuple[str, Callable[..., Trial]]]:
    yield _ALL, partial(_ours, threads=None)
    if question != PATH:
        yield _ONE, partial(_ours, threads=1)
    if question == TREE:
        yield _SCIPY, lambda environment, named, _: scipy_trial(asked_of(environment, named))
    if question == TREE or question in _SIDES:
        yield _PLAIN, _plain
    for kind in ROUTING_PEERS:
        offered = {_PREPARE: "prepare", _WEIGHTS: "customize", PAIR: "distances", PATH: "paths"}
        name = offered.get(question, "matrix" if question in _SIDES else "tree")
        if hasattr(kind, name):
            yield kind.name, partial(_theirs, kind=kind)


def _guess(named: NamedGraph, question: str, series: str) -> float:
    """Return the seconds of a call that may be too long, measured on two cores of a Zen 3."""
    if question not in _SIDES:
        slow = question == _PREPARE and series == "pyroutingkit"
        return 25.0 * named.arcs / 1.6e6 if slow else 0.0
    entries = float(_SIDES[question]) ** 2
    if series == "pyroutingkit":  # 15.7 s for 3,000 x 3,000 of the highways
        return 1.7e-6 * entries * named.arcs / 1.6e6
    if series == "pandana":
        return 2e-5 * entries
    return 3e-9 * named.arcs * _SIDES[question] if series == _PLAIN else 0.0


def _findings(results: Measurements) -> Iterator[str]:
    for panel in results.panels:
        for series in (_PLAIN, _SCIPY, *(kind.name for kind in ROUTING_PEERS)):
            ratios = [
                f"{times_as(ratio)} as fast for {_QUESTIONS[int(x)]}"
                for x, ratio in results.speedups(series, _ALL, panel)
            ]
            if ratios:
                yield f"{panel}, beside {series}: {', '.join(ratios)}."


EXPERIMENTS = (
    Experiment(
        "peers-prepared",
        "Prepared graphs beside other libraries",
        "How fast are prepared graphs, beside searches and libraries for road networks?",
        Axis("question", log=False, labels=_QUESTIONS),
        _plans,
        _findings,
        ("prepared", "peers"),
        kind="bars",
        budget=900,
        patience=240,
        headline=finding("world highways"),
        notes=(
            "Seconds for one answer. A pair is one of many, in one call where the library has one "
            f"for many; a tree is one of {BATCH}. pyroutingkit orders by coordinates, "
            "returns the path with every pair, and prepares without weights; preparing by pandana "
            "includes them. Kleene, plain: searches without preparing. All lengths are compared."
        ),
    ),
)
