"""Sums of distances by vertex, which closeness and its relatives follow from.

Hops of many sources are added up by the native core as searches reach vertices, 512 at a time
(``native/core/measures/distance_sums.cpp``). Otherwise rows of distances are computed a batch at a
time, as :func:`reduce_distances` does, and added up there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.limits import as_limit
from kleene.calls.arguments import (
    COUNT_ARCS,
    Call,
    Devices,
    Progress,
    Vertices,
    check_call,
    require_not_negative,
    sample_vertices,
)
from kleene.calls.execution import runner_for
from kleene.calls.reduce_distances import numbers_of
from kleene.engine.call import Computation, Timings
from kleene.engine.planned import Planned
from kleene.engine.reduce import Reduction
from kleene.engine.solve import solve
from kleene.engine.sums import Sums
from kleene.engine.value import timed
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag, as_seed
from kleene.measures.distance_histogram import Bins
from kleene.measures.distance_measure import DistanceSums, Measured
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan
from kleene.results.distance_reduction import Reduced

if TYPE_CHECKING:
    from kleene.backends.task import Progress as Report
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = ["DistanceWork", "check_distances"]

Array = NDArray[Any]
T = TypeVar("T")

_INSTEAD = Text(
    "take sums and maxima from ", Code("kleene.reduce_distances"), ", which allows them"
)


def check_distances(
    graph: Graph | PreparedGraph,
    *,
    sources: Vertices | None = None,
    samples: int | None = None,
    seed: int = 0,
    hops: bool = False,
    reverse: bool = False,
    limit: float | None = None,
    on: Any = None,
    device: str = "auto",
    devices: Devices = None,
    threads: int | None = None,
    progress: Progress = None,
    keywords: tuple[str, ...] = (),
) -> Call:
    """Check the arguments of a call that measures distances; each source is kept once.

    ``samples`` takes that many random vertices as sources instead. ``keywords`` of the user's call
    may be named in advice.
    """
    call = check_call(
        "apsp", graph,
        sources=sources, reverse=reverse, limit=limit, predecessors=False, device=device,
        devices=devices, threads=threads, progress=progress, on=on, hops=as_flag(hops, "hops"),
    )  # fmt: skip
    if sources is not None:
        call = call._replace(sources=np.unique(call.sources))
        if not len(call.sources):
            raise RequestError(Code("sources"), " is empty: name at least one vertex")
    chance = np.random.default_rng(as_seed(seed))
    if samples is not None:
        call = call._replace(sources=sample_vertices(call.graph, samples, sources, chance))
    ask = call.ask._replace(keywords=keywords)
    if hops or call.graph.weight_dtype is None:
        # Added up on the host in less time than rows take to arrive from a device.
        kind = "cpu" if ask.where.device == "auto" else ask.where.device
        ask = ask.but(problem="bfs", device=kind, dtype=None)
    else:
        require_not_negative(graph_facts(call.graph), "this measure", COUNT_ARCS, _INSTEAD)
    return call._replace(ask=ask.but(sources=len(call.sources)))


@dataclass(frozen=True)
class DistanceWork:
    """A call that measures distances, planned."""

    rows: Reduction
    measured: Measured

    @staticmethod
    def of(call: Call, plan: Plan | None = None) -> DistanceWork:
        """Plan a call, or take the plan that it has."""
        rows = Reduction.of(call) if plan is None else Reduction.planned(call, plan)
        hops, dtype = call.ask.what.problem == "bfs", np.dtype(rows.plan.dtype)
        limit = as_limit(call.limit, call.graph, dtype, hops)
        return DistanceWork(
            rows, Measured(call.graph, call.sources, hops, call.reverse, limit, dtype)
        )

    @property
    def call(self) -> Call:
        """What is measured."""
        return self.rows.call

    @property
    def plan(self) -> Plan:
        """The plan of its rows."""
        return self.rows.plan

    def whole(
        self, what: str, part: Callable[[DistanceWork, Report | None], T], add: Callable[[T, T], T]
    ) -> tuple[T, Plan, Timings]:
        """Return what follows from all distances, the plan, and how long it took.

        Workers of a cluster compute parts of it, each from some of the sources.
        """
        if self.call.on is None:
            found, stats = timed(partial(part, self), self.call.progress, what)
            return found, self.plan, stats
        call, made = self.call, Planned(self.plan, self.rows.looked)
        # Whether arcs are counted, its request says.
        own = call._replace(computes=_OfSources(False, "sums", part))
        found, plan, stats, _ = solve(own, Sums(add), made, runner_for(call), what)
        return found, plan, stats

    def added(self, total: DistanceSums, part: DistanceSums) -> DistanceSums:
        """Return the sums over the sources of both."""
        inverses = None
        if total.inverses is not None and part.inverses is not None:
            inverses = total.inverses + part.inverses
        pairs = None
        if total.pairs_by_hops is not None and part.pairs_by_hops is not None:
            pairs = np.zeros(max(len(total.pairs_by_hops), len(part.pairs_by_hops)), np.int64)
            for own in (total.pairs_by_hops, part.pairs_by_hops):
                pairs[: len(own)] += own
        if not self._may_exceed_int64():
            sums = total.sums + part.sums
        elif inverses is not None:  # sums are not used
            sums = total.sums.astype(np.float64) + part.sums
        else:
            sums = _narrowed(total.sums.astype(object) + part.sums)
        return DistanceSums(total.reached + part.reached, sums, inverses, pairs)

    def sums(self, report: Report | None, inverses: bool = False) -> DistanceSums:
        """Return the sums over the distances between the sources and each vertex."""
        if self._by_bits:
            return self._hop_sums(report)
        return self._row_sums(report, inverses)

    @property
    def _by_bits(self) -> bool:
        return self.plan.device == "cpu" and self.plan.method == "multi_source"

    def _hop_sums(self, report: Report | None) -> DistanceSums:
        call, limit = self.call, self.measured.limit
        g = call.graph.transpose() if call.reverse else call.graph
        reached, sums = np.zeros((2, g.n), np.int64)
        inverses = np.zeros(g.n)
        pairs = _native.hop_sums(
            g.offsets, g.neighbors, g.csc.offsets, g.csc.neighbors, call.sources,
            np.iinfo(np.int32).max if limit is None else int(limit), reached, sums, inverses,
            self.plan.threads, report,
        )  # fmt: skip
        return DistanceSums(reached, sums, inverses, pairs)

    def farthest(self, report: Report | None) -> Array:
        """Return the distance from each source to the farthest vertex that it reaches."""
        call = self.call
        if not self._by_bits:
            found = Reduced.empty(len(call.sources), self.measured.dtype, None)
            keep = partial(numbers_of, self.measured.hops, None, self.rows.threads)
            self.rows.run(keep, found.put, progress=report)
            return found.maxima
        g = call.graph.transpose() if call.reverse else call.graph
        hops = np.empty(len(call.sources), g.id_dtype)
        _native.farthest_hops(
            g.offsets, g.neighbors, g.csc.offsets, g.csc.neighbors, call.sources, hops,
            self.plan.threads, report,
        )  # fmt: skip
        return hops

    def histogram(self, report: Report | None, edges: Array | None) -> Bins:
        """Return the number of pairs of a source and another vertex at each distance."""
        bins = Bins(edges, self.measured.hops, self.measured.dtype.kind == "i")
        if self._by_bits:
            pairs = self._hop_sums(report).pairs_by_hops
            assert pairs is not None
            bins.add_levels(pairs)
            return bins

        def add(first: int, rows: Array) -> None:
            bins.add_rows(rows, self.measured.hops, self.rows.threads)

        self.rows.run(add, progress=report)
        return bins

    def _row_sums(self, report: Report | None, wanted: bool) -> DistanceSums:
        call, n, none = self.call, self.call.graph.n, self.measured.no_path
        large = self._may_exceed_int64()
        reached, inverses = np.zeros(n, np.int64), np.zeros(n) if wanted else None
        in_words = large and not wanted  # beside inverses, sums are not used
        whole = self.measured.dtype.kind == "i" and (in_words or not large)
        sums = np.zeros((2, n) if in_words else n, np.int64 if whole else np.float64)
        threads = self.rows.threads

        def add(first: int, rows: Array) -> None:
            sources = call.sources[first : first + len(rows)]
            if in_words:
                _add_words(rows, none, sources, reached, sums, threads)
            else:
                _native.add_columns(rows, none, sources, reached, sums, inverses, threads)

        self.rows.run(add, progress=report)
        return DistanceSums(reached, _as_integers(sums) if in_words else sums, inverses)

    def _may_exceed_int64(self) -> bool:
        """Return whether sums of integer distances may be too large for int64."""
        dtype, bound = self.measured.dtype, self.call.graph.stats.path_bound
        return (
            dtype == np.int64 and not self.measured.hops and bound * len(self.call.sources) >= 2**63
        )


def _add_words(
    rows: Array, no_path: int, sources: Array, reached: Array, words: Array, threads: int
) -> None:
    """Add rows of int64 to sums of two words: multiples of 2^32, and what is left."""
    for at in range(len(rows)):
        row, source = rows[at : at + 1], sources[at : at + 1]
        none = row == no_path
        high, low = np.where(none, no_path, row >> 32), np.where(none, no_path, row & (2**32 - 1))
        _native.add_columns(high, no_path, source, reached, words[0], None, threads)
        _native.add_columns(low, no_path, source, None, words[1], None, threads)


def _as_integers(words: Array) -> Array:
    """Return sums of two words: int64 where all fit, else Python's integers."""
    return _narrowed(words[0].astype(object) * 2**32 + words[1])


def _narrowed(sums: Array) -> Array:
    """Return Python's integers as int64 where all fit."""
    return sums if max(sums, default=0) >= 2**63 else sums.astype(np.int64)


@dataclass(eq=False)
class _OfSources(Computation):
    """What follows from the distances of some sources: a part of a measure."""

    part: Callable[[DistanceWork, Report | None], Any]

    by_rows = True

    def plan(self, call: Call) -> Planned:
        """Plan the rows of some sources."""
        rows = Reduction.of(call._replace(computes=None))
        return Planned(rows.plan, rows.looked)

    def compute(self, call: Call, plan: Plan, report: Report | None) -> Any:
        """Return the part."""
        return self.part(DistanceWork.of(call._replace(computes=None), plan), report)
