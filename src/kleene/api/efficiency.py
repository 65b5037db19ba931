"""Numbers for a whole graph that follow from all its distances."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from kleene.api.arguments import Devices, Progress
from kleene.api.components import components
from kleene.api.distance_sums import DistanceWork, check_distances
from kleene.engine.planned import EXPLAINING
from kleene.graph import Graph

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph

__all__ = ["efficiency", "wiener_index"]


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
