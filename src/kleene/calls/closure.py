"""Best paths between all pairs, over a semiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.calls.arguments import Devices, Out, Progress, Vertices, as_prepared, check_call
from kleene.calls.execution import solve
from kleene.graph import Graph
from kleene.results.result import Result

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = ["closure", "prepared_for"]


def closure(
    graph: Graph | PreparedGraph,
    semiring: str | None = None,
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    predecessors: bool = False,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    devices: Devices = None,
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
    keep: str = "host",
    on: Any = None,
) -> Result:
    """Return the value of the best path between all pairs, the empty path included.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; the semiring says which weights it may have. A prepared graph gets the weights
        of another semiring in milliseconds.
    semiring : {"boolean", "min_plus", "max_min", "max_times"}, optional
        Which path is best: any (is there one?), the shortest, the widest (its narrowest arc is
        as wide as possible), or the most reliable (the product of its weights, probabilities
        from 0 to 1, is largest). By default that of a prepared graph, and ``"boolean"`` of others.
    sources : sequence of vertices, optional
        The vertices that paths start at, one row of the result for each; all by default. A vertex
        is a label of the graph, or a position 0 .. n - 1 if it has no labels.
    targets : sequence of vertices, optional
        The vertices of interest: the result holds their values, in this order.
    predecessors : bool
        Whether to keep predecessors, which paths are read from; False by default.
    deterministic : bool
        Whether predecessors must be the same in every run: among the best paths to a vertex,
        those with the fewest arcs, and among their last arcs the one from the smallest vertex.
        Takes one more pass over the arcs for each source, on one core. With float weights and a
        method on matrices, rows in which sums round differently keep the method's own choice.
    method : str
        The method; ``"auto"`` is the fastest correct choice, and ``kleene.methods('closure')``
        lists all.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to run; ``"auto"`` takes a GPU where one is there and pays.
    devices : sequence of int or str, optional
        The GPUs that share the sources, or the rows of the matrix, such as ``[0, 2]`` or
        ``["cuda:0", "cuda:2"]``; by default as many as pay, unless ``device`` names one
        (``"cuda:1"``).
    dtype : optional
        The type of the values: int32, int64, float32 or float64. By default that of the weights,
        or a wider one where values may exceed it. Not for ``"boolean"``.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).
    out : array, str or Path, optional
        Where to store the values: an array of the right shape and type, or the name of an
        ``.npy`` file or ``.zarr`` directory. Those of many sources are written block by block,
        with predecessors, and the result reads from there: the same call again goes on where the
        first one ended, or reuses what is finished. See the page on stores.
    keep : {"host", "device"}
        Where the answer stays. With ``"device"`` it is left on the GPU, and nothing is copied
        until the result is read: ``result.device_arrays`` are arrays for CuPy, PyTorch and other
        libraries, and ``distances`` and all else copy to the host at first use. ``device="auto"``
        then means the GPU. Not with ``out``.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers compute the rows; they write
        them to the store that ``out`` names, or return them where ``targets`` make them few. A task
        has one thread unless ``threads`` is given.

    Returns
    -------
    Result
        ``values[i, j]`` belongs to the best path from i to j. The diagonal holds the empty path:
        True, 0, infinity (or the largest integer), 1. No path is False, infinity (or the
        largest integer), minus infinity (or the smallest integer), 0. A product too small for
        the type is 0 as well.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.9, 0.8, 0.5])
    >>> kl.closure(g, "max_times").values[0].round(2).tolist()
    [1.0, 0.9, 0.72]
    >>> kl.closure(g).values.astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    if not isinstance(graph, Graph):
        graph = prepared_for(as_prepared(graph), semiring)
        semiring = graph.semiring
    call = check_call(
        "closure", graph,
        semiring="boolean" if semiring is None else semiring, sources=sources, targets=targets,
        predecessors=predecessors, deterministic=deterministic, method=method, device=device,
        devices=devices, dtype=dtype, threads=threads, progress=progress, out=out, keep=keep,
        on=on,
    )  # fmt: skip
    return solve(call)


def prepared_for(prepared: PreparedGraph, semiring: str | None) -> PreparedGraph:
    """Return a prepared graph with the path values of a semiring: its own by default."""
    own = semiring in (None, prepared.semiring)
    return prepared if own else prepared.customize(semiring=semiring)
