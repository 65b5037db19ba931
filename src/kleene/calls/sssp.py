"""Shortest paths from one source, or from several."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from kleene.calls.arguments import Devices, Out, Progress, Vertices, check_call
from kleene.calls.execution import solve
from kleene.graph import Graph
from kleene.results.result import Result

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = ["sssp"]


def sssp(
    graph: Graph | PreparedGraph,
    source: Hashable | None = None,
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    pairs: Any = None,
    reverse: bool = False,
    limit: float | None = None,
    predecessors: bool = True,
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
    """Return shortest paths from a source to every vertex; weights may be negative.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph to search; weights may be negative. A prepared graph answers by itself, but for
        calls with ``limit``, ``deterministic``, or another method, device or type.
    source : vertex
        Where the search starts: a label of the graph, or a position 0 .. n - 1 if it has no
        labels.
    sources : sequence of vertices, optional
        Several sources in one call; the result has one row for each.
    targets : sequence of vertices, optional
        The vertices of interest: the search stops when all are settled, and the result holds
        their distances in this order.
    pairs : sequence of (origin, destination), optional
        Instead of sources and targets, a list of pairs, an array of shape (k, 2) or a table of two
        columns. The result is a :class:`PairsResult` with one distance and one path per pair;
        pairs of the same origin share a search, or a prepared graph answers each, and memory does
        not grow with the number of origins.
    reverse : bool
        Whether paths lead to the source instead of from it: ``distances`` are those from every
        vertex, or from each of ``targets``, to the source. The arcs keep their direction, and
        ``path(v)`` begins at v.
    limit : number, optional
        The length to stop at; vertices further away count as not reached. Needs weights that are
        not negative. A vertex is within the limit if the weights of a path, added one by one from
        the source, come to no more.
    predecessors : bool
        Whether to keep predecessors, which paths are read from.
    deterministic : bool
        Whether predecessors must be the same in every run: among the best paths to a vertex,
        those with the fewest arcs, and among their last arcs the one from the smallest vertex.
        Takes one more pass over the arcs for each source, on one core. With float weights and a
        method on matrices, rows in which sums round differently keep the method's own choice.
    method : str
        The method; ``"auto"`` is the fastest correct choice, and ``kleene.methods('sssp')`` lists
        all. For many sources on a road-like graph that is ``"prepared"``, by :func:`prepare`.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to run; ``"auto"`` takes a GPU where one is there and pays.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    dtype : optional
        The type of the distances: int32, int64, float32 or float64. By default that of the weights
        (int32 without weights), or a wider one where path lengths may exceed it.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).
    out : array, str or Path, optional
        Where to store the distances: an array of the right shape and type, or the name of an
        ``.npy`` file or ``.zarr`` directory. Those of many sources are written block by block,
        with predecessors, and the result reads from there: the same call again goes on where the
        first one ended, or reuses what is finished. See the page on stores.
    keep : {"host", "device"}
        Where the answer stays. With ``"device"`` it is left on the GPU, and nothing is copied
        until the result is read: ``result.device_arrays`` are arrays for CuPy, PyTorch and other
        libraries, and ``distances`` and all else copy to the host at first use. ``device="auto"``
        then means the GPU. Not with ``out`` or ``pairs``.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers compute the rows; they write
        them to the store that ``out`` names, or return them where ``targets`` or ``pairs`` make
        them few. A task has one thread unless ``threads`` is given.

    Returns
    -------
    Result
        ``distances`` are lengths. No path is infinity for floats, the largest value of the type
        for integers (the result's ``no_path``): take ``floats`` (with infinity) or ``masked``
        for sums and means. With ``pairs``, a :class:`PairsResult`.

    Raises
    ------
    NegativeCycleError
        When the source leads to a cycle of negative length; the error's ``cycle`` lists it.
    PathOverflowError
        When path lengths may exceed what is safe in the widest type: 2^62 for integers, a quarter
        of the largest float64 for floats.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [4.0, 9.0, -3.0, 1.0])
    >>> r = kl.sssp(g, 0)
    >>> r.distances.tolist(), r.path(3)
    ([0.0, 4.0, 1.0, 2.0], [0, 1, 2, 3])
    >>> kl.sssp(g, pairs=[(1, 3), (0, 2)]).distances.tolist()
    [-2.0, 1.0]
    """
    call = check_call(
        "sssp", graph,
        source=source, sources=sources, targets=targets, pairs=pairs, reverse=reverse, limit=limit,
        predecessors=predecessors, deterministic=deterministic, method=method, device=device,
        devices=devices, dtype=dtype, threads=threads, progress=progress, out=out, keep=keep,
        on=on,
    )  # fmt: skip
    return solve(call)
