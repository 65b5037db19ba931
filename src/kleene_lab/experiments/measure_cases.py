"""Measures as trials: Kleene's answers are verified, those of peers compared with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.experiments.searches import places
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Plan, Skipped
from kleene_lab.harness.graphs import NamedGraph, sources_in
from kleene_lab.harness.measure_peers import MEASURE_PEERS, MeasurePeer
from kleene_lab.harness.peers import NOT_INSTALLED, PeerCall
from kleene_lab.harness.trial import Parts, Trial

__all__ = ["Case", "connected", "plans_of"]

Array = NDArray[Any]

#: Seconds for a source and an arc on one core, for a first guess, and what a GPU takes of that.
_LOOK = {"betweenness": 6e-9, "closeness": 3e-10, "diameter": 1e-9}
_GPU_SHARE = 0.05

#: Searches of measures that need few.
_FEW = 40

#: Plain searches that prove an answer, as many as this many arcs allow, up to so many, and the
#: seconds that they take for an arc (R-MAT 16 4.5 s).
_PROVED, _MOST_PROVED, _PROOF = 500_000, 8, 2.5e-6

#: Searches that bound a diameter from below, where all of them take too long.
_BOUNDS, _ALL = 64, 2e10


@dataclass(frozen=True)
class Case:
    """A measure of a graph."""

    measure: str  # "betweenness", "sampled", "closeness" or "diameter"
    named: NamedGraph
    x: float
    vertices: int  # about; the sources, unless they are given
    panel: str = ""
    sources: int | None = None  # so many, of betweenness
    error: float | None = None  # of "sampled"

    def looks(self, kind: type[MeasurePeer] | None = None) -> float:
        """Return how often arcs are looked at, about, by Kleene or a library."""
        few = self.measure == "sampled" or (
            self.measure == "diameter" and (kind is None or kind.bounds_diameters)
        )
        return (_FEW if few else self.sources or self.vertices) * self.named.arcs


def connected(named: NamedGraph) -> NamedGraph:
    """Return the largest component of a graph."""

    def make(environment: Environment) -> kl.Graph:
        g = named.get(environment)
        return g.subgraph(kl.components(g, "strong").largest)

    return NamedGraph(f"{named.name}, the largest component", named.arcs, make)


class _Entry:
    """A measure of one graph: the right answer, and the graph in each library's form."""

    def __init__(self, case: Case, graph: kl.Graph) -> None:
        self.case, self.graph = case, graph
        self.options: dict[str, Any] = {}
        if case.sources is not None:
            self.options["sources"] = sources_in(graph, case.sources).tolist()
        if case.error is not None:
            self.options["error"] = case.error
        self.right, self.how = self._right()
        self._peers: dict[type[MeasurePeer], MeasurePeer] = {}

    @property
    def call(self) -> Callable[..., Any]:
        """Kleene's call."""
        name = "betweenness" if self.case.measure == "sampled" else self.case.measure
        found: Callable[..., Any] = getattr(kl, name)
        return found

    def bound(self, graph: kl.Graph, device: str, threads: int | None) -> Callable[[], Any]:
        """Return the call with its arguments; a diameter is always one of the CPU."""
        where = {} if self.case.measure == "diameter" else {"device": device}
        return partial(self.call, graph, threads=threads, **where, **self.options)

    def _right(self) -> tuple[Array, str]:
        """Return the right answer, and how it was checked."""
        found = self.bound(self.graph, "cpu", None)()
        if self.case.measure != "diameter":
            plain = min(_MOST_PROVED, max(1, _PROVED // (self.graph.m + 1)))
            proof = found.verify(sample=plain)
            return np.asarray(found), f"verified, {proof.rows:,} of {proof.of:,} sources"
        g, some = self.graph, None
        if g.n * float(g.m) > _ALL:
            some = sources_in(g, _BOUNDS)
        farthest = kl.reduce_distances(g, sources=some).maxima.max()
        if found != farthest if some is None else not farthest <= found <= 2 * farthest:
            raise AssertionError(f"the diameter {found} is not that of searches, {farthest}")
        how = "the largest of all distances" if some is None else "within the bounds of searches"
        return np.array(found), how

    def peer(self, kind: type[MeasurePeer]) -> MeasurePeer:
        """Return the graph in a library's form."""
        if kind not in self._peers:
            self._peers[kind] = kind(self.graph)
        return self._peers[kind]

    def check(self, read: Callable[[Any], Array], ours: bool, answer: Any) -> str:
        """Compare an answer with the right one; estimates may be off on both sides."""
        slack = 0.0 if self.case.error is None else 2 * self.case.error
        if not np.allclose(read(answer), self.right, rtol=1e-6, atol=slack + 1e-12):
            raise AssertionError("other numbers than the verified ones")
        if ours:
            return self.how
        return f"the same as Kleene's{' within twice the error' if slack else ''}: {self.how}"


def _entry(environment: Environment, case: Case) -> _Entry:
    g = case.named.get(environment)
    key = (case.measure, case.named.name, g.n, case.sources, case.error)
    return environment.last("measures", key, lambda: _Entry(case, g))


def _parts(answer: Any) -> Parts | None:
    """Return the parts of one of Kleene's calls, where its answer has them."""
    stats = getattr(answer, "stats", None)
    return None if stats is None or not stats.compute else Parts(stats.compute)


def _ours(environment: Environment, case: Case, device: str, threads: int | None) -> Trial:
    entry = _entry(environment, case)
    g = entry.graph
    run = entry.bound(g if device == "cpu" else environment.placed(g), device, threads)
    plan = getattr(run(), "plan", None)
    return Trial(
        run, partial(entry.check, np.asarray, True), _parts, g.n, g.m,
        "" if plan is None else plan.method, threads=threads, repeats=5,
        work=float(case.sources or g.n) * g.m, unit="sources x arcs",
    )  # fmt: skip


def _peer_trial(environment: Environment, case: Case, kind: type[MeasurePeer]) -> Trial:
    if not kind.installed():
        raise Skipped(NOT_INSTALLED)
    entry = _entry(environment, case)
    call: PeerCall = getattr(entry.peer(kind), case.measure)(**entry.options)
    g = entry.graph
    check = partial(entry.check, call.distances, False)
    return Trial(
        call.run, check, n=g.n, m=g.m, method=kind.name, repeats=5,
        work=float(g.n) * g.m, unit="sources x arcs",
    )  # fmt: skip


def plans_of(environment: Environment, case: Case) -> Iterator[Plan]:
    """Yield a point of Kleene for each place, and one of each library that has the measure."""
    size, look = case.looks(), _LOOK.get(case.measure, 1e-9)
    setup = case.named.setup(environment) + size * look / environment.cores
    if case.measure != "diameter":
        setup += _PROOF * case.named.arcs
    for place, device, threads in places(environment):
        if device != "cpu" and case.measure != "betweenness":  # others search on the CPU
            continue
        trial = partial(_ours, environment, case, device, threads)
        guess = size * look * (_GPU_SHARE if device != "cpu" else 1 / (threads or 1))
        yield Plan(
            f"Kleene, {place}", case.x, trial, case.panel, device, threads, guess, setup, size,
            case.named.family, growth=2.4,
        )  # fmt: skip
        setup = 0.0  # shared with the next
    for kind in MEASURE_PEERS if case.sources is None else ():
        listed = kind.installed() or case.x == 0  # one point records that it is missing
        if not (kind.has(case.measure) and listed):
            continue
        guess = case.looks(kind) * kind.look.get(case.measure, 1e-9)
        if guess > kind.patience and not environment.quick:
            continue
        yield Plan(
            kind.name, case.x, partial(_peer_trial, environment, case, kind), case.panel,
            guess=0.0 if environment.quick else guess, setup=case.named.arcs * kind.taken_over,
            size=case.looks(kind), family=case.named.family, growth=2.4,
        )  # fmt: skip
