"""Graphs that searches on a GPU are measured on, made once, and where searches begin in them."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import highways
import numpy as np
from gpu_session import Session
from numpy.typing import NDArray

import kleene as kl

WEIGHTS = (1, 255)

ROADS = "world highways"

#: Seconds for an arc to be made, before that is known here, and to be in proofs: on 16 cores.
_MADE, _PROVED = 4e-8, 2e-8

_LARGEST_KEPT = 22  # scale of R-MAT; larger graphs are made again, and have no weights


def arcs_of(family: str, size: int) -> int:
    """Return about how many arcs such a graph has."""
    if family == "grid":
        return 4 * size**2
    return 2**size * (2 * 48 if family == "R-MAT x 48" else 2 * 16)


def make(family: str, size: int) -> kl.Graph:
    """Make a graph: undirected, 16 edges drawn for each vertex unless the name says otherwise."""
    generate = kl.generate
    weights = WEIGHTS if family == "grid" or size <= _LARGEST_KEPT else None
    if family == "grid":
        return generate.grid(size, size, seed=1, weights=weights)
    if family == "uniform":
        return generate.uniform(2**size, 16 * 2**size, seed=1, directed=False)
    if family == "R-MAT x 48":  # as kron_g500-logn21
        return generate.rmat(size, 48, seed=1, directed=False)
    return generate.rmat(size, 16, seed=1, directed=False, weights=weights)


@cache
def _kept(family: str, size: int) -> kl.Graph:
    return make(family, size)


@cache
def _roads() -> kl.Graph:
    return kl.read(highways.PATH)


_rates = [_MADE]


def obtain(session: Session, family: str, size: int = 0) -> kl.Graph | None:
    """Return a graph, or None with a word on why it is not measured."""
    if family == ROADS:
        if not highways.PATH.exists():
            session.skip(ROADS, highways.HOW)
            return None
        return None if session.quick else _roads()
    arcs = arcs_of(family, size)
    if not session.fits(name_of(family, size), 1.5 * arcs * (_rates[-1] + _PROVED)):
        return None
    began = time.perf_counter()
    lasting = family in ("R-MAT", "grid") and arcs <= arcs_of("R-MAT", _LARGEST_KEPT)
    g = (_kept if lasting else make)(family, size)
    seconds = time.perf_counter() - began
    if seconds > 1:
        _rates.append(seconds / g.m)
        session.add("graph", f"{name_of(family, size)}, made", g.n, "", seconds, "s")
    return g


def name_of(family: str, size: int) -> str:
    """Return what a graph is called in the record.

    >>> name_of("R-MAT x 48", 21), name_of("grid", 64), name_of(ROADS, 0)
    ('R-MAT 21 x 48', 'grid 64', 'world highways')
    """
    family, by, factor = family.partition(" x ")
    return family if family == ROADS else f"{family} {size}{by}{factor}"


def sources_in(family: str, g: kl.Graph, count: int) -> NDArray[Any]:
    """Return a corner of a grid; else vertices, at random, of the part that the hub leads to."""
    if family == "grid":
        return np.zeros(1, np.int64)
    hub = int(g.stats.degrees.argmax())
    reached = kl.bfs(g, hub, device="cpu", predecessors=False).reached
    candidates = np.flatnonzero(reached & (g.stats.degrees > 0))
    return np.random.default_rng(1).choice(candidates, min(count, len(candidates)), replace=False)


def proofs(g: kl.Graph) -> int:
    """How many answers of one call are proved: all, unless the graph is large."""
    return 8 if g.m < 1e8 else 2 if g.m < 3e8 else 1
