"""Breadth-first search."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from kleene.calls.arguments import Devices, Out, Progress, Vertices, check_call
from kleene.calls.execution import solve
from kleene.graph import Graph
from kleene.results.result import Result

__all__ = ["bfs"]


def bfs(
    graph: Graph,
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
    """Return the fewest hops from a source to every vertex; weights are ignored.

    Parameters
    ----------
    graph : Graph
        The graph to search; its weights are ignored.
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
        pairs of the same origin share a search, and memory does not grow with the number of
        origins.
    reverse : bool
        Whether paths lead to the source instead of from it: ``distances`` are those from every
        vertex, or from each of ``targets``, to the source. The arcs keep their direction, and
        ``path(v)`` begins at v.
    limit : number, optional
        The depth to stop at; vertices further away count as not reached. Depths are whole, so
        2.5 is as good as 2.
    predecessors : bool
        Whether to keep predecessors, which paths are read from.
    deterministic : bool
        Whether predecessors must be the same in every run: among the best paths to a vertex,
        those with the fewest arcs, and among their last arcs the one from the smallest vertex.
        Takes one more pass over the arcs for each source, on one core. With float weights and a
        method on matrices, rows in which sums round differently keep the method's own choice.
    method : str
        The method; ``"auto"`` is the fastest correct choice, and ``kleene.methods('bfs')`` lists
        all.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to run; ``"auto"`` takes a GPU where one is there and pays.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    dtype : optional
        The type of the hop counts, int32 unless given.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).
    out : array, str or Path, optional
        Where to store the hop counts: an array of the right shape and type, or the name of an
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
        ``distances`` are hop counts, -1 where there is no path: take ``floats`` (with infinity)
        or ``masked`` for sums and means. With ``pairs``, a :class:`PairsResult`.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 0], [1, 2, 3], n=5)
    >>> kl.bfs(g, 0).distances.tolist()
    [0, 1, 2, 1, -1]
    >>> kl.bfs(g, 2, reverse=True).path(0)
    [0, 1, 2]
    """
    call = check_call(
        "bfs", graph,
        source=source, sources=sources, targets=targets, pairs=pairs, reverse=reverse, limit=limit,
        predecessors=predecessors, deterministic=deterministic, method=method, device=device,
        devices=devices, dtype=dtype, threads=threads, progress=progress, out=out, keep=keep,
        on=on,
    )  # fmt: skip
    return solve(call)
