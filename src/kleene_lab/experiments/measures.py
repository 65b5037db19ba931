"""Measures beside other libraries: betweenness, closeness and the diameter; how they grow.

Kleene's answers are verified, those of peers compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.experiments.peers import findings_beside
from kleene_lab.experiments.searches import places
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import duration
from kleene_lab.harness.graphs import (
    NamedGraph,
    enron,
    facebook,
    highways,
    made,
    rmat,
    rome,
    sources_in,
)
from kleene_lab.harness.measure_peers import MEASURE_PEERS, MeasurePeer
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.peers import NOT_INSTALLED, PeerCall
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Parts, Trial

__all__ = ["EXPERIMENTS", "Case", "connected", "plans_of"]

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


_PEERS = [kind.name for kind in MEASURE_PEERS]
_TINY = made("tiny", 240, partial(kl.generate.rmat, 5, 8, seed=1, directed=False))
_TINY_WEIGHTED = made(
    "tiny, weights", 240, partial(kl.generate.rmat, 5, 8, seed=1, directed=False, weights=(1, 9))
)


def _hops(scale: int, factor: int = 16) -> NamedGraph:
    return replace(rmat(scale, factor, weighted=False), kind="R-MAT, no weights")


def _grid(side: int) -> NamedGraph:
    make = partial(kl.generate.grid, side, side)
    return made(f"grid {side}, no weights", 4.0 * side**2, make, "grid, no weights")


def _weighted_enron() -> NamedGraph:
    """Return Enron with weights from 1 to 10, the same in both directions."""

    def make(environment: Environment) -> kl.Graph:
        g = enron().get(environment)
        tails, heads, _ = g.coo
        low, high = (each.astype("int64") for each in (tails, heads))
        return g.reweight(arcs=((low + high) * 2_654_435_761 % 2**32 % 10 + 1).astype("int32"))

    return NamedGraph("Enron, weights 1 to 10", enron().arcs, make)


# ---- graph by graph -----------------------------------------------------------------------------

_CASES: dict[str, tuple[Case, ...]] = {
    "betweenness-hops": (
        Case("betweenness", facebook(), 0, 4_039),
        Case("betweenness", _hops(12), 1, 2**12),
        Case("betweenness", _hops(14), 2, 2**14),
        Case("betweenness", enron(), 3, 36_692),
    ),
    "betweenness-weights": (
        Case("betweenness", rome(), 0, 3_353),
        Case("betweenness", rmat(12), 1, 2**12),
        Case("betweenness", _weighted_enron(), 2, 36_692),
    ),
    "betweenness-sources": (
        Case("betweenness", _hops(14), 0, 2**14, sources=1024),
        Case("betweenness", _grid(512), 1, 2**18, sources=16),
        Case("betweenness", _hops(20), 2, 2**20, sources=256),
        Case("betweenness", _hops(10), 3, 2**10, sources=2**10),
        Case("betweenness", _hops(17), 4, 2**17, sources=4),
        Case("betweenness", rome(), 5, 3_353, sources=3_353),
        Case("betweenness", rmat(14), 6, 2**14, sources=1024),
        Case("betweenness", rmat(18), 7, 2**18, sources=64),
    ),
    "closeness": (
        Case("closeness", facebook(), 0, 4_039),
        Case("closeness", connected(enron()), 1, 33_696),
        Case("closeness", connected(rome()), 2, 3_353),
    ),
    "diameter": (
        Case("diameter", facebook(), 0, 4_039),
        Case("diameter", connected(enron()), 1, 33_696),
        Case("diameter", connected(rome()), 2, 3_353),
        Case("diameter", connected(highways()), 3, 700_000),
    ),
}


def _labels(id: str) -> tuple[str, ...]:
    return tuple(map(_label, _CASES[id]))


def _label(case: Case) -> str:
    sources = "" if case.sources is None else f", {case.sources:,} sources"
    return case.named.name + sources


def _plans(id: str, environment: Environment) -> Iterator[Plan]:
    cases = _CASES[id]
    if environment.quick:
        tiny = _TINY_WEIGHTED if id.endswith("weights") else connected(_TINY)
        cases = tuple(replace(case, named=tiny, sources=case.sources and 8) for case in cases)
    for case in cases:
        yield from plans_of(environment, case)


def _findings(panels: Sequence[str], labels: Sequence[str], results: Measurements) -> Iterator[str]:
    place = "all cores" if "Kleene, all cores" in results.series else "one core"
    yield from findings_beside(labels, panels, _PEERS, place, results)


def _findings_places(labels: Sequence[str], results: Measurements) -> Iterator[str]:
    """Say how fast the fastest place is, and how much faster than the others."""
    for x, label in enumerate(labels):
        points = [point for point in results.points if point.x == x]
        if not points:
            continue
        best = min(points, key=results.value)
        yield f"{label}: {duration(results.value(best))} on {_place(best)}."
        for other in points:
            if other is not best:
                ratio = results.value(other) / max(results.value(best), 1e-12)
                yield f"{label}: {times_as(ratio)} as fast as {_place(other)}."


def _place(point: Point) -> str:
    return point.series.removeprefix("Kleene, ").replace("GPU", "a GPU")


# ---- growth -------------------------------------------------------------------------------------

_SCALES, _FACTORS, _ERRORS = (8, 9, 10, 11, 12, 13, 14), (4, 8, 16, 32, 64), (0.1, 0.03, 0.01)


def _by_scale(environment: Environment) -> Iterator[Plan]:
    for panel in ("hops", "weights"):
        for scale in environment.sizes(_SCALES, (4, 5)):
            named = rmat(scale) if panel == "weights" else _hops(scale)
            yield from plans_of(environment, Case("betweenness", named, scale, 2**scale, panel))


def _by_degree(environment: Environment) -> Iterator[Plan]:
    scale = 4 if environment.quick else 11
    for factor in environment.sizes(_FACTORS, (2, 4)):
        named = _hops(scale, factor)
        yield from plans_of(environment, Case("betweenness", named, factor, 2**scale))


def _by_error(environment: Environment) -> Iterator[Plan]:
    for named in (_TINY,) if environment.quick else (facebook(), enron()):
        for error in environment.sizes(_ERRORS, (0.3, 0.2)):
            case = Case("sampled", named, error, 40_000, named.name, error=error)
            yield from plans_of(environment, case)


def _findings_growth(results: Measurements) -> Iterator[str]:
    """Say how time grows along the axis, and how far Kleene is ahead at its end."""
    axis = results.experiment.x.name
    for panel in results.panels:
        where = f"{panel}: " if panel else ""
        ours = [name for name in results.series if name.startswith("Kleene, ")]
        for series in ours[:1]:
            points = results.of(series, panel)
            if len(points) > 1:
                first, last = points[0], points[-1]
                ratio = results.value(last) / max(results.value(first), 1e-12)
                yield (
                    f"{where}{series}: from {axis} {first.x:g} to {last.x:g} the time grows to "
                    f"{times_as(ratio)}."
                )
            for other in _PEERS:
                for x, ratio in list(results.speedups(other, series, panel))[-1:]:
                    yield (
                        f"{where}at {axis} {x:g}, {series} is {times_as(ratio)} as fast as {other}."
                    )


def _method(point: Point) -> str:
    return point.method


_NOTES = (
    "Whole calls from the graph in the form that each library prefers, which is made before. "
    "NetworKit uses all cores (not for diameters), igraph and NetworkX one. Kleene's answers are "
    "verified by a plain method, the others compared with them."
)
_SHARED: dict[str, Any] = {
    "suites": ("measures", "peers"),
    "quantity": "seconds",
    "notes": _NOTES,
    "columns": (("method", _method),),
}


def _experiment(
    id: str,
    title: str,
    question: str,
    budget: float = 120,
    patience: float = 60,
    **others: Any,
) -> Experiment:
    return Experiment(
        id,
        title,
        question,
        Axis("graph", log=False, labels=_labels(id)),
        partial(_plans, id),
        others.pop("findings", partial(_findings, ("",), _labels(id))),
        kind="bars",
        budget=budget,
        patience=patience,
        headline=finding(),
        **_SHARED | others,
    )


EXPERIMENTS = (
    _experiment(
        "betweenness-hops",
        "Betweenness by hops beside other libraries",
        "How fast is exact betweenness by numbers of arcs?",
        240,
        patience=400,  # --budget 2000 has time for all of Enron
    ),
    _experiment(
        "betweenness-weights",
        "Weighted betweenness beside other libraries",
        "How fast is exact betweenness by weights?",
        240,
        patience=400,  # --budget 2000 has time for all of Enron
    ),
    _experiment(
        "betweenness-sources",
        "Betweenness by paths from some sources",
        "How fast is betweenness by arcs and by lengths from some sources, on CPU and GPU?",
        300,
        findings=partial(_findings_places, _labels("betweenness-sources")),
        suites=("measures", "gpu"),
        notes=(
            "Whole calls from the graph where it is needed, which is put there before. Answers "
            "are verified by a plain method, and the same on every device."
        ),
    ),
    Experiment(
        "betweenness-by-scale",
        "Betweenness by the size of the graph",
        "How does the time of exact betweenness grow with the number of vertices?",
        Axis("scale", log=False),
        _by_scale,
        _findings_growth,
        budget=240,
        patience=60,
        **_SHARED,
    ),
    Experiment(
        "betweenness-by-degree",
        "Betweenness by the number of arcs",
        "How does the time of exact betweenness grow with the number of arcs?",
        Axis("edges per vertex"),
        _by_degree,
        _findings_growth,
        budget=90,
        patience=30,
        **_SHARED,
    ),
    Experiment(
        "betweenness-by-error",
        "Betweenness within an error",
        "How fast are estimates of betweenness, by the error that is allowed?",
        Axis("error"),
        _by_error,
        _findings_growth,
        budget=90,
        patience=30,
        **_SHARED,
    ),
    _experiment(
        "closeness",
        "Closeness beside other libraries",
        "How fast is the closeness of all vertices?",
    ),
    _experiment("diameter", "Diameters beside other libraries", "How fast is an exact diameter?"),
)
