"""About how many seconds a call takes that prepares its graph, by facts alone.

Until something is known of a graph's elimination, a road-like graph counts as one that suits it:
the call then looks closer before it works (``kleene.prepared.cache``), and plans again.
"""

from __future__ import annotations

from math import log2
from typing import NamedTuple

from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.request import Facts, Request

__all__ = ["Seconds", "prepared_seconds"]

# Two Zen 3 cores. Highways have 0.56 M vertices and 1.64 M arcs; elimination joins 2.4 M pairs and
# relaxes 14 M triangles. A grid of 500 x 500 has 0.69 G triangles.

#: A look at pieces of a graph of more than so many vertices; importing METIS, and ordering, an arc,
#: on one core: highways 1.7 to 2.2 s, 86,000 arcs of them 0.13 s, a grid of 300 x 300 0.9 s.
_LOOK, _LOOKED_AT, _START, _ORDER = 0.1, 2**14, 0.03, 1.5e-6

#: Counting and finding the pairs, a vertex or arc and a pair, on one core: highways, 0.1 s.
_COUNTED, _PAIR = 2.6e-8, 2e-8

#: Relaxing a triangle, and an arc of a pair, on one core: highways, 0.06 s.
_TRIANGLE, _CUSTOMIZED = 3.5e-9, 5e-9

#: A row on one core: a vertex, which is written in the order of the graph, and a pair. Highways,
#: 0.5 ms; a grid of 100 x 100, 0.03 ms. Values of 8 bytes take twice as long, and so do
#: predecessors.
_VERTEX, _SWEPT = 2e-10, 1.5e-10

#: A pair and label of the nearest facilities, on one core: highways, 1,000 facilities, 2, 5 and 10
#: labels take 0.10, 0.18 and 0.58 s on two.
_LABEL = 4e-8

#: What elimination gives on graphs that suit it, a vertex: roads (highways; 4.3 and 26), and meshes
#: of more arcs a vertex than the first number (grids; triangles go with n^1.5).
_MESH_DEGREE, _ROAD_PAIRS, _ROAD_TRIANGLES = 3.5, 4.4, 26.0
_MESH_PAIRS, _MESH_TRIANGLES = 1.7, 5.5


class Seconds(NamedTuple):
    """Where the seconds of a call go that prepares its graph."""

    prepare: float  # once for a graph and its weights
    rows: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.prepare + self.rows


def prepared_seconds(facts: Facts, request: Request, threads: int) -> Seconds:
    """Estimate a call by elimination; steps that were taken before count nothing."""
    known = facts.prepared
    pairs, triangles = _expected(facts) if known is None else (known.pairs, known.triangles)
    sources = facts.n if request.sources is None else request.sources
    dtype = choose_dtype(facts, request)[0]
    wide = dtype.itemsize / 4 * (2 if request.predecessors else 1)
    row = (facts.n * _VERTEX + pairs * _SWEPT) * wide
    if request.problem == "nearest":
        row = pairs * _LABEL
    prepare = 0.0
    if known is None and facts.n > _LOOKED_AT:
        prepare += _LOOK
    if known is None or known.step == "expected":
        prepare += _START + facts.m * _ORDER + (facts.n + facts.m) * _COUNTED
    if known is None or known.step != "eliminated":
        prepare += (facts.n + facts.m) * _COUNTED + pairs * _PAIR
    if known is None or (request.semiring, str(dtype)) not in known.customized:
        prepare += (triangles * _TRIANGLE + pairs * _CUSTOMIZED) / threads
    return Seconds(prepare, sources * row / threads)


def _expected(facts: Facts) -> tuple[float, float]:
    """Return the pairs and triangles of a graph that suits elimination."""
    n = facts.n
    if facts.m <= _MESH_DEGREE * n:
        return _ROAD_PAIRS * n, _ROAD_TRIANGLES * n
    return _MESH_PAIRS * n * log2(n + 2), _MESH_TRIANGLES * n**1.5
