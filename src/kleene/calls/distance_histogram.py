"""The histogram of distances, of all pairs or from a sample of the sources."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from kleene.calls.arguments import Devices, Progress, Vertices
from kleene.calls.distance_sums import DistanceWork, check_distances
from kleene.calls.reduce_distances import as_edges
from kleene.graph import Graph
from kleene.measures.distance_histogram import Bins, DistanceHistogram

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = ["distance_histogram"]

Array = NDArray[Any]


def distance_histogram(
    graph: Graph | PreparedGraph,
    *,
    bins: int | ArrayLike | None = None,
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
) -> DistanceHistogram:
    """Return the number of pairs of vertices at each distance.

    Pairs are ordered, and those without a path are not counted. Distances are not kept: memory is
    that of :func:`closeness`.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    bins : int or sequence of numbers, optional
        The edges of the bins, ascending; bin j counts the distances from edge j up to, but not
        including, edge j + 1. A number k stands for the edges 0, 1, ..., k. By default hops have a
        bin each, and lengths 65 to 128 of the same width, a power of two; fewer where they are
        integers and shorter than that.
    sources : sequence of vertices, optional
        Where paths begin; all vertices by default.
    samples : int, optional
        How many sources to take at random instead, each at most once. Counts are those of the
        sample: n / samples times as many are expected of all.
    seed : int
        Chooses the sample.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the sources instead of from them.
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
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    DistanceHistogram
        With ``counts`` and ``edges``.

    Examples
    --------
    >>> import kleene as kl
    >>> h = kl.distance_histogram(kl.generate.grid(3, 3))
    >>> h.counts.tolist(), h.edges.tolist()
    ([0, 24, 28, 16, 4], [0, 1, 2, 3, 4, 5])
    >>> kl.distance_histogram(kl.datasets.rome(), samples=100, bins=[0, 10**6]).counts.tolist()
    [335200]
    """
    edges = as_edges(bins)
    call = check_distances(
        graph, sources=sources, samples=samples, seed=seed, hops=hops, reverse=reverse,
        limit=limit, on=on, device=device, devices=devices, threads=threads,
        progress=progress, keywords=("samples", "sources"),
    )  # fmt: skip
    work = DistanceWork.of(call)
    part = partial(DistanceWork.histogram, edges=edges)
    found, plan, stats = work.whole("distance histogram", part, Bins.add)
    return DistanceHistogram(work.measured, found, plan, stats)
