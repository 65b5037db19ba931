"""Kleene beside other libraries, on the same graphs, in one run.

Every answer of Kleene's is verified, and every answer of a peer compared with it, before they are
timed. A chart compares like with like: *lengths* are distances alone, *paths* are distances with
predecessors (SciPy's breadth-first search gives predecessors alone).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import kleene as kl
from kleene_lab.experiments.searches import Place, patience_for, places
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import three
from kleene_lab.harness.graphs import (
    NamedGraph,
    enron,
    facebook,
    grid,
    highways,
    hub_of,
    made,
    rmat,
    rome,
    uniform,
)
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.peers import NOT_INSTALLED, PEERS, CuGraph, CuGraphOnDevice, Peer
from kleene_lab.harness.searches import PROVED
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS", "Entry", "entry_of", "findings_beside", "our_plans", "peer_trial"]

_PANELS = ("lengths", "paths")


# ---- graphs -------------------------------------------------------------------------------------


def _dense(n: int, dtype: str) -> NamedGraph:
    def make() -> kl.Graph:
        g = kl.generate.dense(n, seed=1, weights=(0.001, 1.0))
        assert g.weights is not None
        return g.reweight(arcs=g.weights.astype(dtype))

    return made(f"n = {n:,}, {dtype}", float(n) ** 2, make)


def _sparse(weighted: bool) -> tuple[NamedGraph, ...]:
    real = (rome(),) if weighted else (rome(), facebook(), enron())
    return (*real, grid(1024), rmat(18), uniform(18))


_GRAPHS: dict[str, tuple[NamedGraph, ...]] = {
    "bfs": _sparse(weighted=False),
    "sssp": _sparse(weighted=True),
    "apsp-sparse": (
        made("uniform, 500 vertices", 4e3,
             partial(kl.generate.uniform, 500, 4000, seed=1, weights=(1, 255))),
        rome(), facebook(),
    ),
    "apsp-dense": tuple(_dense(n, t) for t in ("float32", "float64") for n in (512, 2048)),
}  # fmt: skip

#: Vertices, for all pairs.
_APSP = {
    "uniform, 500 vertices": 500, "Rome": 3_353, "Facebook": 4_039,
    **{named.name: round(named.arcs**0.5) for named in _GRAPHS["apsp-dense"]},
}  # fmt: skip

_QUICK: dict[str, tuple[NamedGraph, ...]] = {
    "bfs": (rmat(6), grid(8)),
    "sssp": (rmat(6),),
    "apsp-sparse": (made("tiny", 120, partial(kl.generate.uniform, 30, 120, seed=1)),),
    "apsp-dense": (_dense(32, "float32"),),
}


# ---- trials -------------------------------------------------------------------------------------


class Entry:
    """One problem on one graph: verified distances, and the graph in each library's form."""

    def __init__(self, problem: str, graph: kl.Graph) -> None:
        self.problem, self.graph = problem, graph
        self.start: tuple[int, ...] = () if problem == "apsp" else (hub_of(graph),)
        right = getattr(kl, problem)(graph, *self.start, device="cpu", predecessors=False)
        right.verify(sample=min(16, len(right.sources)))
        self._right = np.where(right.reached, right.distances, np.inf)
        self.reached = int(right.reached.sum())
        self._made: dict[type[Peer], Peer] = {}

    def peer(self, kind: type[Peer]) -> Peer:
        """Return the graph in a library's form."""
        if kind not in self._made:
            self._made[kind] = kind(self.graph)
        return self._made[kind]

    def check(self, read: Callable[[Any], Any], answer: Any) -> str:
        """Compare distances with the right ones."""
        if not np.allclose(read(answer), self._right, rtol=1e-5):
            raise AssertionError("other distances than the verified ones")
        return "the same distances as Kleene's, which were verified"


def entry_of(environment: Environment, problem: str, named: NamedGraph) -> Entry:
    """Return one problem on one graph, shared by all series."""
    g = named.get(environment)
    return environment.last("beside", (problem, named.name, g.n), lambda: Entry(problem, g))


def _ours(
    environment: Environment,
    problem: str,
    named: NamedGraph,
    paths: bool,
    device: str,
    threads: int | None,
) -> Trial:
    entry = entry_of(environment, problem, named)
    graph = entry.graph if device == "cpu" else environment.placed(entry.graph)
    return solve(
        problem, graph, *entry.start, device=device, threads=threads, predecessors=paths, proved=16
    )


def peer_trial(
    environment: Environment, problem: str, named: NamedGraph, paths: bool, kind: type[Peer]
) -> Trial:
    """Return what is timed of another library, its answer compared with Kleene's."""
    if not kind.installed():
        raise Skipped(NOT_INSTALLED)
    entry = entry_of(environment, problem, named)
    why = kind.refuses(problem, entry.graph)
    if why is not None:
        raise Skipped(why)
    offer = getattr(kind, f"{problem}_{'paths' if paths else 'lengths'}")
    peer_call = offer(entry.peer(kind), *entry.start)
    g = entry.graph
    return Trial(
        peer_call.run, partial(entry.check, peer_call.distances), n=g.n, m=g.m, method=kind.name
    )


# ---- experiments --------------------------------------------------------------------------------


def _labels(id: str) -> tuple[str, ...]:
    return tuple(named.name for named in _GRAPHS[id])


def _plans(id: str, environment: Environment) -> Iterator[Plan]:
    problem = id.partition("-")[0]
    for x, named in enumerate((_QUICK if environment.quick else _GRAPHS)[id]):
        for panel in _PANELS:
            yield from _series(environment, problem, named, x, panel)


def our_plans(
    environment: Environment,
    problem: str,
    named: NamedGraph,
    x: int,
    panel: str,
    paths: bool,
    where: Iterable[Place],
) -> Iterator[Plan]:
    """Yield Kleene's point for each place."""
    setup = named.setup(environment) + named.arcs * PROVED
    for place, device, threads in where:
        trial = partial(_ours, environment, problem, named, paths, device, threads)
        yield Plan(
            f"Kleene, {place}", x, trial, panel, device, threads, patience_for(environment, device),
            setup, size=0,
        )  # fmt: skip


def _series(
    environment: Environment, problem: str, named: NamedGraph, x: int, panel: str
) -> Iterator[Plan]:
    paths = panel == "paths"
    yield from our_plans(environment, problem, named, x, panel, paths, places(environment))
    for kind in PEERS:
        offered = getattr(kind, f"{problem}_{panel}", None) is not None
        if offered and (kind.installed() or x == 0):  # one point records that it is missing
            trial = partial(peer_trial, environment, problem, named, paths, kind)
            looks = named.arcs * (_APSP.get(named.name, 0) if problem == "apsp" else 1)
            guess = 0.0 if environment.quick else min(kind.most.get(problem, looks), looks)
            guess *= kind.look[problem]
            setup = named.arcs * kind.taken_over
            yield Plan(kind.name, x, trial, panel, guess=guess, setup=setup, size=0)


def _findings(id: str, results: Measurements) -> Iterator[str]:
    place = "all cores" if "Kleene, all cores" in results.series else "one core"
    others = [kind.name for kind in PEERS]
    yield from findings_beside(_labels(id), _PANELS, others, place, results)


def findings_beside(
    labels: Sequence[str],
    panels: Sequence[str],
    others: Sequence[str],
    place: str,
    results: Measurements,
) -> Iterator[str]:
    """Say how fast Kleene is at a place beside each other series, and where it is behind."""
    behind = []
    for panel in panels:
        texts = []
        for other in others:
            ratios = list(results.speedups(other, f"Kleene, {place}", panel))
            behind += [(other, labels[int(x)], panel) for x, ratio in ratios if ratio < 1]
            if ratios:
                low, high = min(r for _, r in ratios), max(r for _, r in ratios)
                text = times_as(low) if len(ratios) == 1 else f"{three(low)} to {times_as(high)}"
                texts.append(f"{text} as fast as {other.removesuffix(f', {place}')}")
        if texts:
            what = f"For {panel}, Kleene" if panel else "Kleene"
            yield f"{what} on {place} is {', '.join(texts)}."
    for name, graph, panel in behind:
        yield f"{name} is faster than Kleene on {', '.join(filter(None, (graph, panel)))}."


def _experiment(id: str, title: str, question: str) -> Experiment:
    return Experiment(
        f"peers-{id}",
        title,
        question,
        Axis("graph", log=False, labels=_labels(id)),
        partial(_plans, id),
        partial(_findings, id),
        ("ours", "peers"),
        quantity="seconds",
        kind="bars",
        budget=40,
        patience=12,
        headline=finding(),
        notes=(
            "Whole calls from the graph in the form that each library prefers, which is made "
            "before; Kleene's incoming arcs belong to that. On a GPU the graph is there, and the "
            "answer comes to the host."
        ),
    )


# ---- beside cuGraph, on the same GPU -------------------------------------------------------------


_ON_GPU = (rmat(20), uniform(20), rmat(22, weighted=True), uniform(22), highways(), grid(4096))
_ON_GPU_LABELS = tuple(named.name for named in _ON_GPU)
_ON_GPU_QUICK = (rmat(6), grid(8))
_ON_GPU_PANELS = {"breadth-first search": "bfs", "shortest paths": "sssp"}
_ON_GPU_PEERS = (CuGraph, CuGraphOnDevice)


def _gpu_plans(environment: Environment) -> Iterator[Plan]:
    if environment.gpu is None:
        raise Skipped("there is no GPU")
    if not CuGraph.installed():
        raise Skipped(f"pylibcugraph is {NOT_INSTALLED}")
    where = (("GPU", environment.gpu, None),)
    for x, named in enumerate(environment.sizes(_ON_GPU, _ON_GPU_QUICK)):
        for panel, problem in _ON_GPU_PANELS.items():
            yield from our_plans(environment, problem, named, x, panel, False, where)
            for kind in _ON_GPU_PEERS:
                yield Plan(
                    kind.name, x, partial(peer_trial, environment, problem, named, False, kind),
                    panel, environment.gpu, None, patience_for(environment, environment.gpu),
                    named.arcs * kind.taken_over, size=0,
                )  # fmt: skip


def _gpu_findings(results: Measurements) -> Iterator[str]:
    others = [kind.name for kind in _ON_GPU_PEERS]
    yield from findings_beside(_ON_GPU_LABELS, tuple(_ON_GPU_PANELS), others, "GPU", results)


EXPERIMENTS = (
    _experiment(
        "bfs",
        "Breadth-first search beside other libraries",
        "How fast is a breadth-first search, beside other libraries in Python?",
    ),
    _experiment(
        "sssp",
        "Shortest paths beside other libraries",
        "How fast are shortest paths from one source, beside other libraries in Python?",
    ),
    _experiment(
        "apsp-sparse",
        "All pairs of sparse graphs beside other libraries",
        "How fast are all pairs of a sparse graph, beside other libraries in Python?",
    ),
    _experiment(
        "apsp-dense",
        "All pairs of dense graphs beside other libraries",
        "How fast are all pairs of a dense graph, beside other libraries in Python?",
    ),
    Experiment(
        "peers-gpu",
        "Searches beside cuGraph on the GPU",
        "How fast are searches on a GPU, beside RAPIDS cuGraph?",
        Axis("graph", log=False, labels=_ON_GPU_LABELS),
        _gpu_plans,
        _gpu_findings,
        ("peers",),
        quantity="seconds",
        kind="bars",
        budget=60,
        headline=finding(),
        notes=(
            "Whole calls from the graph on the GPU, from a hub of the largest part. Kleene's "
            "answer comes to the host; cuGraph's does, or stays on the GPU, as the series says. "
            "Lengths alone, except that cuGraph's shortest paths always have predecessors."
        ),
    ),
)
