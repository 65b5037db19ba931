"""R-MAT: graphs with hubs and communities, by recursive choice of quadrants of the matrix.

An arc starts with the whole matrix and chooses one of its quadrants with probabilities a, b, c and
d, then a quadrant of that, and so on until a single cell is left: its source and its target. Four
levels at a time are folded into one table (see RmatStep in the native core), computed here in exact
integers, so that it is the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import RequestError
from kleene.generate import builder as checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph

__all__ = ["rmat", "rmat_tables"]

Level = tuple[int, int, int, int]  # probabilities of the quadrants, in units of 1 / _ONE

_ONE = 2**52
_LEVELS = 4  # in one table
_OUTCOMES = 2 ** (2 * _LEVELS)
_DRAW_BITS = 56


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    noise: float = 0.0,
    relabel: bool = True,
    directed: bool = True,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make an R-MAT graph: few hubs, many vertices of low degree, like social networks and the web.

    Parameters
    ----------
    scale : int
        The graph has 2^scale vertices.
    edge_factor : int
        Number of arcs drawn per vertex. Self-loops and duplicates are dropped, so the graph has
        somewhat fewer.
    seed : int
        The same seed makes the same graph, on any machine and any number of threads.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quadrant; 1 - a - b - c is that
        of the lower right. The defaults are those of Graph500.
    noise : float
        Largest random change of the probabilities at each level. It smooths the steps in the degree
        distribution of plain R-MAT; 0.1 is customary.
    relabel : bool
        Number the vertices at random. Otherwise low numbers have high degrees.
    directed : bool
        If False, the graph is undirected, as the "kron" graphs of GAP are.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    References
    ----------
    D. Chakrabarti, Y. Zhan, C. Faloutsos: R-MAT: a recursive model for graph mining. SDM 2004.
    C. Seshadhri, A. Pinar, T. Kolda: An in-depth study of stochastic Kronecker graphs. ICDM 2011
    (the noise).

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.rmat(10, edge_factor=8, seed=1, weights=(1, 255))
    Graph('rmat(scale=10, edge_factor=8, seed=1, weights=(1, 255))', 1,024 vertices, ...)
    """
    builder = GraphBuilder(rmat, locals())
    n, arcs, tables = rmat_tables(scale, edge_factor, a, b, c, noise, builder.seed)
    builder.require_memory(n, arcs if directed else 2 * arcs, drawn=arcs)
    drawn = builder.draw_arcs(_native.rmat_arcs, tables, n, 0, arcs, bool(relabel))
    return builder.from_arcs(n, *drawn, directed=bool(directed))


def rmat_tables(
    scale: Any, edge_factor: Any, a: float, b: float, c: float, noise: float, seed: int
) -> tuple[int, int, NDArray[np.uint64]]:
    """Check arguments of :func:`rmat`; return the numbers of vertices and arcs, and the tables."""
    scale = checks.as_count(scale, "scale", most=40)
    edge_factor = checks.as_count(edge_factor, "edge_factor")
    levels = _levels(scale, a, b, c, noise, seed)
    return 2**scale, edge_factor * 2**scale, _tables(levels)


def _levels(scale: int, a: float, b: float, c: float, noise: float, seed: int) -> list[Level]:
    """Return the probabilities of every level, noise included."""
    a, b, c = (checks.as_proportion(p, name) for p, name in ((a, "a"), (b, "b"), (c, "c")))
    d = 1 - a - b - c
    if d < -1e-9:
        raise RequestError(f"a + b + c must be at most 1, but is {a + b + c:g}")
    d = max(d, 0.0)
    noise, most = checks.as_proportion(noise, "noise"), min((a + d) / 2, b, c)
    if noise > most:
        raise RequestError(
            f"noise must be from 0 to {most:g}, but is {noise:g}: more makes a probability negative"
        )
    levels = []
    for draw in _native.noise(scale, seed).tolist():
        shift = noise * (2 * draw - 1)
        level = (a - 2 * shift * a / (a + d) if shift else a, b + shift, c + shift)
        q0, q1, q2 = (round(p * _ONE) for p in level)
        levels.append((q0, q1, q2, max(_ONE - q0 - q1 - q2, 0)))
    return levels


def _tables(levels: list[Level]) -> NDArray[np.uint64]:
    """Return the alias tables of each four levels, concatenated."""
    certain: Level = (_ONE, 0, 0, 0)  # padding before the first level: adds leading zeros
    padded = [certain] * (-len(levels) % _LEVELS) + levels
    steps = [tuple(padded[i : i + _LEVELS]) for i in range(0, len(padded), _LEVELS)]
    by_step = {step: _alias_table(_probabilities(step)) for step in set(steps)}
    tables = [by_step[step] for step in steps]
    return np.array(tables, dtype=np.uint64).reshape(-1)


def _probabilities(step: tuple[Level, ...]) -> list[int]:
    """Return the probability of every outcome: bits of the source, then bits of the target."""
    probabilities = {(0, 0): 1}
    for level in step:
        probabilities = {
            (source << 1 | quadrant >> 1, target << 1 | quadrant & 1): p * level[quadrant]
            for (source, target), p in probabilities.items()
            for quadrant in range(4)
        }
    return [probabilities[cell] for cell in sorted(probabilities)]


def _alias_table(probabilities: list[int]) -> list[int]:
    """Return Walker's alias table: the probability of each cell's own outcome, then the aliases.

    A cell with less than the mean probability is filled up from one with more.
    """
    total = sum(probabilities)
    left = [_OUTCOMES * p for p in probabilities]
    own, alias = [total] * _OUTCOMES, list(range(_OUTCOMES))
    small = [cell for cell in alias if left[cell] < total]
    large = [cell for cell in alias if left[cell] > total]
    while small:
        cell, donor = small.pop(), large[-1]
        own[cell], alias[cell] = left[cell], donor
        left[donor] -= total - left[cell]
        if left[donor] <= total:
            large.pop()
        if left[donor] < total:
            small.append(donor)
    return [(p << _DRAW_BITS) // total for p in own] + alias
