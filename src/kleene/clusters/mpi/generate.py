"""R-MAT graphs in parts: each rank draws a range of the arcs, and sends them to their owners.

Random numbers are made by counter: arc i, the new number of a vertex and the weight of an arc
depend on the seed and on i or the ends alone. So the graph is that of ``kleene.generate.rmat``, bit
for bit, whatever the number of ranks, and no rank ever knows the whole.
"""

from __future__ import annotations

from typing import Any

from kleene import _native
from kleene.clusters.mpi.agreement import agreed, guarded
from kleene.clusters.mpi.collective import ranks_here, require_part_memory
from kleene.clusters.mpi.communicator import Communicator, MpiCommunicator
from kleene.clusters.mpi.graph import DistributedGraph
from kleene.errors import RequestError
from kleene.generate.builder import as_seed
from kleene.generate.kronecker import rmat_tables
from kleene.generate.weights import Range, WeightRule, as_rule, draw_weights
from kleene.graph.checks import as_flag, id_dtype
from kleene.graph.forms import adopt
from kleene.system.machine import cores, threads_for

__all__ = ["rmat"]

#: Parts are not equal: of random numbers, the largest of hundreds is some percent above the mean.
_UNEVEN = 1.1


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
    comm: Communicator | None = None,
) -> DistributedGraph:
    """Make an R-MAT graph in parts; collective. It is the graph of :func:`kleene.generate.rmat`.

    Parameters
    ----------
    scale : int
        The graph has 2^scale vertices.
    edge_factor : int
        Number of arcs drawn per vertex.
    seed : int
        The same seed makes the same graph, on any number of ranks, and in one process.
    a, b, c : float
        Probabilities of three quadrants of the matrix.
    noise : float
        Largest random change of the probabilities at each level.
    relabel : bool
        Number the vertices at random; otherwise low numbers have high degrees, and the first ranks
        most of the arcs.
    directed : bool
        If False, the graph is undirected.
    weights : None, number, or (low, high)
        None for an unweighted graph, one weight for all, or a range to draw from: integers, or
        floats if an end is a float.
    comm : Communicator, optional
        The ranks; by default all of the MPI job.

    Returns
    -------
    DistributedGraph

    Raises
    ------
    MemoryBudgetError
        Some rank's share of the memory does not suffice; nothing was drawn.

    Examples
    --------
    >>> import kleene as kl
    >>> alone = kl.distributed.Communicator()
    >>> g = kl.distributed.rmat(10, seed=1, weights=(1, 255), comm=alone)
    >>> one = kl.generate.rmat(10, seed=1, weights=(1, 255))
    >>> (g.n, g.m) == (one.n, one.m)
    True
    """
    ranks = MpiCommunicator() if comm is None else comm
    with guarded(ranks, "rmat"):
        return _rmat(ranks, scale, edge_factor, seed, (a, b, c, noise), relabel, directed, weights)


def _rmat(
    ranks: Communicator,
    scale: int,
    edge_factor: int,
    seed: int,
    chances: tuple[float, float, float, float],
    relabel: bool,
    directed: bool,
    weights: WeightRule,
) -> DistributedGraph:
    def check() -> tuple[int, int, Any, int, Range | None]:
        for flag, name in ((relabel, "relabel"), (directed, "directed")):
            as_flag(flag, name)
        rule = as_rule(weights)
        if rule is not None and not isinstance(rule, Range):
            raise RequestError(
                "weights cannot be a function here, since no rank has the whole graph: pass a "
                "number or (low, high)"
            )
        number = as_seed(seed)
        return *rmat_tables(scale, edge_factor, *chances, number), number, rule

    n, arcs, tables, number, rule = agreed(ranks, check)
    _require_memory(ranks, n, arcs, directed)
    first, stop = (arcs * rank // ranks.size for rank in (ranks.rank, ranks.rank + 1))
    threads = threads_for(stop - first, max(1, cores() // ranks_here(ranks)))
    tails, heads = agreed(
        ranks,
        lambda: _native.rmat_arcs(
            tables, n, first, stop - first, bool(relabel), number, threads, None
        ),
    )
    graph = DistributedGraph.from_arcs(ranks, n, tails, heads, directed=bool(directed))
    if rule is not None:
        graph.weights = agreed(ranks, lambda: adopt(_weights(graph, rule, number, threads)))
    graph.name = f"rmat(scale={scale}, edge_factor={edge_factor}, seed={number})"
    return graph


def _require_memory(comm: Communicator, n: int, arcs: int, directed: bool) -> None:
    """Raise on all ranks unless each has memory for its part."""
    own = arcs * (1 if directed else 2) // comm.size
    table = id_dtype(n).itemsize * n if n <= arcs // comm.size else 0
    require_part_memory(
        comm,
        n,
        int(_UNEVEN * own),
        f"a part of a graph with {n:,} vertices and {arcs:,} arcs",
        "use more machines, or make a smaller graph",
        table,
    )


def _weights(graph: DistributedGraph, rule: Range, seed: int, threads: int) -> Any:
    return draw_weights(
        rule,
        graph.n,
        graph.first,
        graph.offsets,
        graph.neighbors,
        directed=graph.directed,
        seed=seed,
        threads=threads,
    )
