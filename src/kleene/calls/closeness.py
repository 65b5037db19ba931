"""Closeness and harmonic centrality: how near a vertex is to all others."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from kleene.calls.arguments import Devices, Progress, Vertices
from kleene.calls.components import components
from kleene.calls.distance_sums import DistanceWork, check_distances
from kleene.engine.planned import EXPLAINING
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.measures.distance_measure import Closeness, Harmonic

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = [
    "closeness",
    "efficiency",
    "harmonic",
    "wiener_index",
]


def closeness(
    graph: Graph | PreparedGraph,
    *,
    sources: Vertices | None = None,
    samples: int | None = None,
    seed: int = 0,
    hops: bool = False,
    reverse: bool = False,
    limit: float | None = None,
    wf_improved: bool = True,
    on: Any = None,
    device: str = "auto",
    devices: Devices = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Closeness:
    """Return the closeness of each vertex: one over the mean distance from the others to it.

    Distances lead to the vertex, as in NetworkX. With r others in reach, whose distances add up to
    s, it is r / s; of n - 1 others, Wasserman and Faust multiply that by r / (n - 1), so that a
    vertex of a small component does not look central. It is 0 where nothing is in reach. Distances
    are not kept: memory is that of the graph and, for each thread, 216 bytes a vertex for hops, and
    some rows for lengths. On a dense graph, a matrix of all pairs is built where it takes no more
    than 64 MiB, or eight times the memory of the graph.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    sources : sequence of vertices, optional
        Where paths begin; all vertices by default. The others that count are then these.
    samples : int, optional
        How many sources to take at random instead, each at most once: an estimate for large graphs,
        without a bound.
    seed : int
        Chooses the sample.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the sources instead of from them: distances from the vertex.
    limit : number, optional
        The length, or the number of hops, beyond which a vertex counts as not reached.
    wf_improved : bool
        Whether to multiply by the part of the others that is in reach.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers search from some of the
        sources each.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to search; ``"auto"`` counts hops on the CPU.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    threads : int, optional
        How many threads may be used; all cores unless given. Sums of floats may differ in their
        last bits with another number.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    Closeness
        A float64 for each vertex.

    Examples
    --------
    >>> import kleene as kl
    >>> c = kl.closeness(kl.generate.grid(1, 5))
    >>> c.values.round(3).tolist()
    [0.4, 0.571, 0.667, 0.571, 0.4]
    >>> c.top(1)
    [(2, 0.6666666666666666)]
    """
    improved = as_flag(wf_improved, "wf_improved")
    work = DistanceWork.of(
        check_distances(
            graph, sources=sources, samples=samples, seed=seed, hops=hops, reverse=reverse,
            limit=limit, on=on, device=device, devices=devices, threads=threads,
            progress=progress, keywords=("samples", "sources"),
        )
    )  # fmt: skip
    found, plan, stats = work.whole("closeness", DistanceWork.sums, work.added)
    return Closeness(work.measured, found, improved, plan, stats)


def harmonic(
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
) -> Harmonic:
    """Return the harmonic centrality of each vertex: the sum of one over the distances to it.

    A vertex that is not in reach adds nothing, and neither does one at distance zero. Distances
    lead to the vertex, as in NetworkX.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    sources : sequence of vertices, optional
        Where paths begin; all vertices by default.
    samples : int, optional
        How many sources to take at random instead, each at most once. Sums are those of the sample:
        n / samples times as much is expected of all.
    seed : int
        Chooses the sample.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the sources instead of from them: distances from the vertex.
    limit : number, optional
        The length, or the number of hops, beyond which a vertex counts as not reached.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers search from some of the
        sources each.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to search; ``"auto"`` counts hops on the CPU.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    threads : int, optional
        How many threads may be used; all cores unless given. Sums are floats, and may differ in
        their last bits with another number.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    Harmonic
        A float64 for each vertex.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.harmonic(kl.generate.grid(1, 4)).values.round(3).tolist()
    [1.833, 2.5, 2.5, 1.833]
    """
    work = DistanceWork.of(
        check_distances(
            graph, sources=sources, samples=samples, seed=seed, hops=hops, reverse=reverse,
            limit=limit, on=on, device=device, devices=devices, threads=threads,
            progress=progress, keywords=("samples", "sources"),
        )
    )  # fmt: skip
    inverses = partial(DistanceWork.sums, inverses=True)
    found, plan, stats = work.whole("harmonic", inverses, work.added)
    return Harmonic(work.measured, found, plan, stats)


# ---- Numbers for a whole graph that follow from all its distances -------------------------------


def efficiency(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    on: Any = None,
    device: str = "auto",
    devices: Devices = None,
    threads: int | None = None,
    progress: Progress = None,
) -> float:
    """Return the global efficiency: the mean of one over the distance, over all pairs.

    A pair without a path counts as 0, and so does one at distance zero. NetworkX counts hops:
    that is ``hops=True`` here, where the graph has weights.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers search from some of the
        sources each.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to search; ``"auto"`` counts hops on the CPU.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    threads : int, optional
        How many threads may be used; all cores unless given. The sum is one of floats, and may
        differ in its last bits with another number.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    float
        The efficiency; 0 for fewer than two vertices.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.efficiency(kl.generate.grid(2, 2))
    0.8333333333333334
    """
    call = check_distances(
        graph, hops=hops, on=on, device=device, devices=devices, threads=threads, progress=progress
    )
    work = DistanceWork.of(call)
    inverses = partial(DistanceWork.sums, inverses=True)
    found, _, _ = work.whole("efficiency", inverses, work.added)
    n = work.call.graph.n
    assert found.inverses is not None
    return math.fsum(found.inverses) / (n * (n - 1)) if n > 1 else 0.0


def wiener_index(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    on: Any = None,
    device: str = "auto",
    devices: Devices = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Return the sum of the distances of all pairs of vertices; infinite if some have no path.

    Pairs are ordered in a directed graph, and not in an undirected one, as in NetworkX.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers search from some of the
        sources each.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to search; ``"auto"`` counts hops on the CPU.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    threads : int, optional
        How many threads may be used; all cores unless given. A sum of floats may differ in its last
        bits with another number.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    int or float
        The sum: an integer for hops and for weights that are integers, unless it is infinite.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.wiener_index(kl.generate.grid(2, 2))
    8
    """
    call = check_distances(
        graph, hops=hops, on=on, device=device, devices=devices, threads=threads, progress=progress
    )
    g = call.graph
    if EXPLAINING.on:  # the sums, which a graph in pieces does without
        DistanceWork.of(call)
    if components(g, "strong" if g.directed else "weak", threads=threads).count > 1:
        return math.inf
    work = DistanceWork.of(call)
    found, _, _ = work.whole("wiener index", DistanceWork.sums, work.added)
    if work.measured.dtype.kind == "f":
        total = math.fsum(found.sums)
        return total if g.directed else total / 2
    whole = sum(found.sums.tolist())  # Python's integers: the sum may be beyond int64
    return whole if g.directed else whole // 2
