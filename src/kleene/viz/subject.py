"""What a drawing shows: the graph, colours, marked vertices, a path, and words for all of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, RequestError
from kleene.graph import Graph
from kleene.results.result import Result
from kleene.viz.colouring import Colouring, Plain, Scale, amount

__all__ = ["Subject", "as_subject"]

Array = NDArray[Any]


@dataclass
class Subject:
    """What is drawn; vertices are positions."""

    graph: Graph
    title: str
    colouring: Colouring = field(default_factory=Plain)
    marked: list[int] = field(default_factory=list)  # sources, in ink
    target: int | None = None
    route: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reached: Array | None = None

    def name(self, vertex: int) -> str:
        return str(vertex if self.graph.labels is None else self.graph.labels[vertex])


def as_subject(
    what: object,
    target: Hashable | None,
    route: Sequence[Hashable] | None,
    row: int,
    unit: str | None,
) -> Subject:
    """Return what is to be drawn of a graph or a result."""
    if isinstance(what, Graph):
        if target is not None:
            raise RequestError(
                "target needs a result, which has paths: draw(kl.sssp(graph, source), "
                "target=...); a path of a graph is given by its vertices: route=[...]"
            )
        subject = Subject(what, what.name or "Graph")
    elif isinstance(what, Result):
        subject = _of_result(what, target, row, unit)
    else:
        raise RequestError(
            f"draw takes a Graph or a Result, not {type(what).__name__}; make a graph with "
            "kl.Graph.from_any(...)"
        )
    if route is not None:
        _add_route(subject, route)
    return subject


def _of_result(result: Result, target: Hashable | None, row: int, unit: str | None) -> Subject:
    graph = result.graph
    if result.plan.semiring != "min_plus" or result.targets is not None:
        raise RequestError(
            "draw needs distances to all vertices: bfs, sssp or apsp without targets"
        )
    if not 0 <= row < len(result._sources):
        raise RequestError(f"row must be from 0 to {len(result._sources) - 1}, but is {row}")
    source = int(result._sources[row])
    if unit is None:
        unit = "hops" if result.problem == "bfs" or graph.weights is None else ""
    distances = np.atleast_2d(result.to_numpy())[row]
    reached = np.atleast_2d(result.reached)[row]
    what = "Hops" if unit == "hops" else "Distances"
    subject = Subject(
        graph,
        "",
        Scale(distances, reached, unit),
        [source],
        reached=reached,
    )
    whose = f"{graph.name}: " if graph.name else ""
    subject.title = f"{whose}{what.lower() if whose else what} from {subject.name(source)}"
    if target is not None:
        subject.target = end = graph.index(target)
        subject.route = graph.index(result.path(graph.label(source), target)).tolist()
        subject.notes.append(_describe_path(subject, distances[end], unit))
    return subject


def _describe_path(subject: Subject, distance: Any, unit: str) -> str:
    assert subject.target is not None
    end, steps = subject.name(subject.target), len(subject.route) - 1
    if not subject.route:
        return f"no path to {end}"
    along = "" if unit == "hops" else f" along {steps:,} arc{'s' * (steps != 1)}"
    return f"path to {end}: {amount(distance, unit)}{along}"


def _add_route(subject: Subject, route: Sequence[Hashable]) -> None:
    """Highlight a path that is given by its vertices."""
    graph = subject.graph
    vertices = [graph.index(v) for v in route]
    for u, v in pairwise(vertices):
        start, end = graph.offsets[u : u + 2]
        if v not in graph.neighbors[start:end]:
            raise GraphError(
                f"route: the graph has no arc from {subject.name(u)} to {subject.name(v)}"
            )
    subject.route = vertices
    if vertices:
        subject.marked, subject.target = [vertices[0]], vertices[-1]
        steps = len(vertices) - 1
        ends = f"from {subject.name(vertices[0])} to {subject.name(vertices[-1])}"
        subject.notes.append(f"path {ends}: {steps:,} arc{'s' * (steps != 1)}")
