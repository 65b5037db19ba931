"""Kleene beside RAPIDS cuGraph, on the same GPU, in one run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kleene_lab.experiments.peers import findings_beside, our_plans, peer_trial
from kleene_lab.experiments.searches import patience_for
from kleene_lab.harness.cugraph import NOT_INSTALLED, CuGraph, CuGraphOnDevice
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.graphs import grid, highways, rmat, uniform
from kleene_lab.harness.measurements import Measurements, finding

__all__ = ["EXPERIMENTS"]

_GRAPHS = (rmat(20), uniform(20), rmat(22, weighted=True), uniform(22), highways(), grid(4096))
_LABELS = tuple(named.name for named in _GRAPHS)
_QUICK = (rmat(6), grid(8))
_PANELS = {"breadth-first search": "bfs", "shortest paths": "sssp"}
_PEERS = (CuGraph, CuGraphOnDevice)


def _plans(environment: Environment) -> Iterator[Plan]:
    if environment.gpu is None:
        raise Skipped("there is no GPU")
    if not CuGraph.installed():
        raise Skipped(f"pylibcugraph is {NOT_INSTALLED}")
    where = (("GPU", environment.gpu, None),)
    for x, named in enumerate(environment.sizes(_GRAPHS, _QUICK)):
        for panel, problem in _PANELS.items():
            yield from our_plans(environment, problem, named, x, panel, False, where)
            for kind in _PEERS:
                yield Plan(
                    kind.name, x, partial(peer_trial, environment, problem, named, False, kind),
                    panel, environment.gpu, None, patience_for(environment, environment.gpu),
                    named.arcs * kind.taken_over, size=0,
                )  # fmt: skip


def _findings(results: Measurements) -> Iterator[str]:
    others = [kind.name for kind in _PEERS]
    yield from findings_beside(_LABELS, tuple(_PANELS), others, "GPU", results)


EXPERIMENTS = (
    Experiment(
        "peers-gpu",
        "Searches beside cuGraph on the GPU",
        "How fast are searches on a GPU, beside RAPIDS cuGraph?",
        Axis("graph", log=False, labels=_LABELS),
        _plans,
        _findings,
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
