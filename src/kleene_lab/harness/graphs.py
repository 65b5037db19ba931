"""Graphs by name: those that our own experiments search, and where searches begin in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Skipped

__all__ = [
    "WEIGHTS",
    "NamedGraph",
    "delaunay",
    "enron",
    "facebook",
    "grid",
    "highways",
    "hub_of",
    "made",
    "rmat",
    "rome",
    "sources_in",
    "split",
    "split_highways",
    "uniform",
]

WEIGHTS = (1, 255)

#: Seconds for an arc to be made on one core.
_MADE = 2.4e-7

#: R-MAT graphs up to this scale have weights, so that all searches share them.
_WEIGHTED = 22


@dataclass(frozen=True)
class NamedGraph:
    """A graph by name, without labels; its incoming arcs are derived before it is timed."""

    name: str
    arcs: float  # about
    make: Callable[[Environment], kl.Graph]
    kind: str = ""  # "grid": where the time of one graph says something about that of another

    @property
    def family(self) -> str:
        """The graphs whose times are compared with this one's, for estimates; or this one alone."""
        return self.kind or self.name

    def get(self, environment: Environment) -> kl.Graph:
        """Return it; raises Skipped if a file is missing."""
        make = partial(self.make, environment)
        g = environment.graph(("named", self.name, self.arcs), lambda: make().unlabelled())
        _ = g.csc
        return g

    def setup(self, environment: Environment) -> float:
        """Return the seconds that it takes to make, about."""
        return self.arcs * _MADE / environment.cores


def made(name: str, arcs: float, make: Callable[[], kl.Graph], kind: str = "") -> NamedGraph:
    """Return a generated graph."""
    return NamedGraph(name, arcs, lambda environment: make(), kind)


# ---- generated: undirected, 16 edges per vertex unless the name says otherwise ------------------


def rmat(scale: int, factor: int = 16, weighted: bool | None = None) -> NamedGraph:
    """Return a graph with hubs and few levels; ``rmat(21, 48)`` is like kron_g500-logn21."""
    weighted = scale <= _WEIGHTED if weighted is None else weighted
    name = f"R-MAT {scale}" + ("" if factor == 16 else f" x {factor}")
    return made(
        name + ("" if weighted else ", no weights"),
        2.0 * factor * 2**scale,
        partial(kl.generate.rmat, scale, factor, seed=1, directed=False,
                weights=WEIGHTS if weighted else None),
        "R-MAT",
    )  # fmt: skip


def uniform(scale: int) -> NamedGraph:
    """Return a graph in which all vertices are alike."""
    n = 2**scale
    make = partial(kl.generate.uniform, n, 16 * n, seed=1, directed=False, weights=WEIGHTS)
    return made(f"uniform {scale}", 32.0 * n, make, "uniform")


def grid(side: int) -> NamedGraph:
    """Return a graph with many levels."""
    make = partial(kl.generate.grid, side, side, seed=1, weights=WEIGHTS)
    return made(f"grid {side}", 4.0 * side**2, make, "grid")


def delaunay(n: int) -> NamedGraph:
    """Return a planar graph with positions: lengths over one of three speeds."""
    return made(f"Delaunay {n:,}", 6.0 * n, partial(_delaunay, n), "Delaunay")


def _delaunay(n: int) -> kl.Graph:
    from scipy.spatial import Delaunay

    rng = np.random.default_rng(1)
    places = rng.random((n, 2))
    corners = Delaunay(places).simplices
    sides = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = np.unique(np.sort(sides, axis=1), axis=0)
    lengths = np.hypot(*(places[edges[:, 0]] - places[edges[:, 1]]).T)
    times = 1e5 * lengths / rng.choice([1, 2, 4], len(edges))
    weights = np.maximum(1, np.rint(times)).astype(np.int32)
    low, high = edges.T
    g = kl.Graph.from_edges(low, high, weights, n=n, directed=False)
    return g.with_positions(places)


# ---- real ones ----------------------------------------------------------------------------------


def rome() -> NamedGraph:
    """Return the roads of Rome: in the package."""
    return made("Rome", 8_859, kl.datasets.rome)


def facebook() -> NamedGraph:
    """Return friends on Facebook: no weights."""
    return _listed("Facebook", "facebook_combined.txt.gz", 176_468)


def enron() -> NamedGraph:
    """Return e-mails at Enron: no weights."""
    return _listed("Enron", "email-Enron.txt.gz", 367_662)


def _listed(name: str, file: str, arcs: int) -> NamedGraph:
    how = "use --data FOLDER; it is in benchmarks/data of the sources"
    return NamedGraph(
        name, arcs, lambda environment: kl.read(_file(environment, file, how), directed=False)
    )


def highways() -> NamedGraph:
    """Return the world's highways, lengths in metres."""
    file, how = "world-highways.npz", "benchmarks/highways.py makes it; use --data FOLDER"
    return NamedGraph(
        "world highways", 1_644_468, lambda environment: kl.read(_file(environment, file, how))
    )


#: Into which each edge of the highways is split.
_PIECES = 10


def split_highways() -> NamedGraph:
    """Return the highways with every edge split into ten, as where their shape is kept."""
    return NamedGraph(
        "world highways, edges split",
        _PIECES * 1_644_468,
        lambda environment: split(highways().get(environment), _PIECES),
    )


def split(g: kl.Graph, pieces: int) -> kl.Graph:
    """Return the graph with a chain of so many arcs for each arc; arcs both ways share theirs."""
    tails, heads, weights = g.coo
    assert weights is not None
    low, high = np.minimum(tails, heads).astype(np.int64), np.maximum(tails, heads)
    _, edge = np.unique(low * g.n + high, return_inverse=True)
    first = g.n + (pieces - 1) * edge.astype(np.int64)  # of the inner vertices, from the lower end
    step = np.arange(pieces + 1)[:, None]
    inner = np.where(tails < heads, first + step - 1, first + pieces - 1 - step)
    chain = np.where(step == 0, tails, np.where(step == pieces, heads, inner))
    length = weights // pieces + (step[1:] <= weights % pieces)
    n = g.n + (pieces - 1) * (int(edge.max(initial=-1)) + 1)
    return kl.Graph.from_edges(chain[:-1].ravel(), chain[1:].ravel(), length.ravel(), n=n)


def _file(environment: Environment, name: str, how: str) -> str:
    path = environment.file(name)
    if path is None:
        raise Skipped(f"no file {name}: {how}")
    return str(path)


# ---- where searches begin -----------------------------------------------------------------------

_TRIES = 8


def sources_in(g: kl.Graph, count: int) -> NDArray[Any]:
    """Return vertices, at random, of the largest part that a search from somewhere reaches."""
    rng = np.random.default_rng(1)
    candidates = np.flatnonzero(_largest_part(g, rng) & (g.stats.degrees > 0))
    return rng.choice(candidates, min(count, len(candidates)), replace=False)


def hub_of(g: kl.Graph) -> int:
    """Return the vertex of highest degree in that part."""
    part = _largest_part(g, np.random.default_rng(1))
    return int(np.where(part, g.stats.degrees, -1).argmax())


def _largest_part(g: kl.Graph, rng: np.random.Generator) -> NDArray[np.bool_]:
    largest = np.zeros(g.n, bool)
    for start in (int(g.stats.degrees.argmax()), *rng.integers(0, g.n, _TRIES)):
        reached = kl.bfs(g, int(start), device="cpu", predecessors=False).reached
        if reached.sum() > largest.sum():
            largest = reached
        if 2 * largest.sum() > g.n:  # there is no larger one
            break
    return largest
