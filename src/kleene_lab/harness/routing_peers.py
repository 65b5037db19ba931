"""Libraries that prepare road networks, each in the way its own manual recommends.

pyroutingkit orders vertices by their coordinates. A peer is made from a graph, outside the clock,
and asked by methods named as those of a prepared graph; one without a method does not do that.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import cores
from kleene_lab.harness.experiment import Skipped

__all__ = ["ROUTING_PEERS", "RoutingPeer"]

Array = NDArray[Any]


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
