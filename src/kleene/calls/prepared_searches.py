"""Trees, matrices and closures of a prepared graph, and what is near."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from kleene.calls.arguments import Devices, Out, Progress, Vertices, check_call
from kleene.calls.execution import solve
from kleene.calls.nearest import nearest_of
from kleene.calls.within import within
from kleene.engine.prepared import PreparedForm
from kleene.errors import Code, RequestError, Text
from kleene.graph.checks import as_flag
from kleene.graph.labels import is_one_vertex
from kleene.results.nearest import Nearest
from kleene.results.reach import Reach
from kleene.results.result import Result

__all__ = ["PreparedSearches"]


class PreparedSearches(PreparedForm):
    """A prepared graph that answers from many sources."""

    def tree(
        self, source: Hashable, *, reverse: bool = False, threads: int | None = None
    ) -> Result:
        """Return shortest paths from a source to every vertex.

        Predecessors are computed when something first reads them; distances alone take less.

        Parameters
        ----------
        source : vertex
            Where paths begin: a label of the graph, or a position 0 .. n - 1 if it has no labels.
        reverse : bool
            Whether paths lead to the source instead of from it.
        threads : int, optional
            How many threads may be used; all cores unless given.

        Returns
        -------
        Result
            One entry for each vertex, as from :func:`sssp`.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9])).tree(0)
        >>> r.distances.tolist(), r.path(2)
        ([0, 4, 7], [0, 1, 2])
        """
        if not is_one_vertex(source):
            raise RequestError(f"tree takes one vertex, not {source!r}; for many, use trees([...])")
        return self._solve(source=source, reverse=reverse, threads=threads)

    def trees(
        self,
        sources: Vertices | None = None,
        *,
        reverse: bool = False,
        out: Out = None,
        device: str = "auto",
        devices: Devices = None,
        threads: int | None = None,
        progress: Progress = None,
        keep: str = "host",
    ) -> Result:
        """Return shortest paths from many sources to every vertex.

        Predecessors are computed when something first reads them; distances alone take less.

        Parameters
        ----------
        sources : sequence of vertices, optional
            Where paths begin, one row of the result for each; all vertices by default.
        reverse : bool
            Whether paths lead to the sources instead of from them.
        out : array, str or Path, optional
            Where to store the distances: an array of the right shape and type, or the name of an
            ``.npy`` file or ``.zarr`` directory; see the page on stores.
        device : {"auto", "cpu", "cuda", "emulated"}
            Where to compute; ``"auto"`` is the CPU, or the GPU where the answer stays there.
        devices : sequence of int or str, optional
            The GPUs that share the sources, such as ``[0, 2]``; see :func:`apsp`.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).
        keep : {"host", "device"}
            Where the answer stays. With ``"device"`` it is left on the GPU, predecessors as well,
            see :attr:`Result.device_arrays`. Not with ``out``.

        Returns
        -------
        Result
            A row for each source, as from :func:`sssp`.

        Raises
        ------
        MemoryBudgetError
            When the rows do not fit in memory; the message says what would make it fit.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9]))
        >>> p.trees([0, 1]).floats.tolist()
        [[0.0, 4.0, 7.0], [inf, 0.0, 3.0]]
        """
        return self._solve(
            sources=sources, reverse=reverse, out=out, device=device, devices=devices,
            threads=threads, progress=progress, keep=keep,
        )  # fmt: skip

    def matrix(
        self,
        sources: Vertices,
        targets: Vertices | None = None,
        *,
        reverse: bool = False,
        predecessors: bool = True,
        out: Out = None,
        device: str = "auto",
        devices: Devices = None,
        threads: int | None = None,
        progress: Progress = None,
        keep: str = "host",
        on: Any = None,
    ) -> Result:
        """Return the distances from each of some sources to each of some targets.

        Only what leads to the targets is looked at, and nothing else is stored. A path is unpacked
        when it is asked for.

        Parameters
        ----------
        sources : sequence of vertices
            Where paths begin, one row of the result for each.
        targets : sequence of vertices, optional
            Where paths end, one column of the result for each; by default the sources.
        reverse : bool
            Whether paths lead from the targets to the sources instead.
        predecessors : bool
            Whether paths may be asked for. They take no memory, but without them the result does
            not hold on to the prepared graph.
        out : array, str or Path, optional
            Where to store the distances: an array of shape (sources, targets) and the right type,
            or the name of an ``.npy`` file or ``.zarr`` directory; see the page on stores.
        device : {"auto", "cpu", "cuda", "emulated"}
            Where to compute; ``"auto"`` is the CPU, or the GPU where the answer stays there.
        devices : sequence of int or str, optional
            The GPUs that share the sources, such as ``[0, 2]``; see :func:`apsp`.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).
        keep : {"host", "device"}
            Where the matrix stays. With ``"device"`` it is left on the GPU, see
            :attr:`Result.device_arrays`, and copied when something reads it. Not with ``out``.
        on : dask.distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers map the prepared graph
            and compute rows of the matrix; with ``out``, they write them to that store.

        Returns
        -------
        Result
            ``distances[i, j]`` is the length from the i-th source to the j-th target, or back with
            ``reverse``. Whole rows, such as :attr:`Result.predecessors`, are computed when
            something reads them.

        Raises
        ------
        MemoryBudgetError
            When the matrix does not fit in memory; the message says what would make it fit.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9], directed=False))
        >>> r = p.matrix([0, 1], [2, 0])
        >>> r.distances.tolist(), r.path(0, 2)
        ([[7, 0], [3, 4]], [0, 1, 2])
        """
        if sources is None:
            raise RequestError("matrix needs sources; for those of all vertices, use trees()")
        if targets is None:
            once = isinstance(sources, Iterator)  # which can be read once
            targets = sources = list(sources) if once else sources
        return self._solve(
            sources=sources, targets=targets, reverse=reverse, out=out, device=device,
            devices=devices, threads=threads, progress=progress, keep=keep, on=on,
            predecessors=as_flag(predecessors, "predecessors"),
        )  # fmt: skip

    def closure(
        self,
        *,
        out: Out = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> Result:
        """Return the value of the best path between all pairs of vertices.

        Parameters
        ----------
        out : array, str or Path, optional
            Where to store the values: an array of the right shape and type, or the name of an
            ``.npy`` file or ``.zarr`` directory; see the page on stores.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).

        Returns
        -------
        Result
            As from :func:`kleene.closure`.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.9, 0.8, 0.5])
        >>> kl.prepare(g, semiring="max_times").closure().values[0].round(2).tolist()
        [1.0, 0.9, 0.72]
        """
        call = check_call(
            "closure", self, semiring=self.semiring, out=out, threads=threads, progress=progress
        )
        call = call._replace(ask=call.ask._replace(keywords=("out",)))
        return solve(call._replace(by_form=True))

    def nearest(
        self,
        sources: Hashable | Vertices,
        facilities: Hashable | Vertices,
        k: int = 1,
        *,
        limit: float | None = None,
        reverse: bool = False,
        threads: int | None = None,
    ) -> Nearest:
        """Return the ``k`` nearest facilities of some vertices: which, how far, and the way there.

        Facilities at the same distance come in the order of the list. For all vertices at once,
        :func:`kleene.nearest` searches the graph.

        Parameters
        ----------
        sources : vertex, or sequence of vertices
            The vertices of interest, one row of the answer for each.
        facilities : vertex, or sequence of vertices
            Where the facilities are. A vertex may be named more than once: two shops at one corner
            are two facilities.
        k : int
            How many facilities to find for each vertex.
        limit : number, optional
            The length beyond which a facility does not count.
        reverse : bool
            False measures from the vertex to the facility, as people travel to a shop; True from
            the facility to the vertex, as an ambulance does.
        threads : int, optional
            How many threads may be used; all cores unless given.

        Returns
        -------
        Nearest
            Arrays have shape (sources,) for ``k=1`` and (sources, k) otherwise.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.generate.grid(1, 9))
        >>> near = p.nearest([3, 8], [0, 4, 5], k=2)
        >>> near.owner.tolist(), near.distances.tolist(), near.path(8)
        ([[4, 5], [5, 4]], [[1, 2], [3, 4]], [8, 7, 6, 5])
        """
        self._require_lengths("nearest is")
        return nearest_of(self, sources, facilities, k, limit, reverse, threads)

    def within(
        self,
        sources: Hashable | Vertices | None,
        limit: float,
        *,
        reverse: bool = False,
        predecessors: bool = True,
        threads: int | None = None,
    ) -> Reach:
        """Return what each source reaches within a limit.

        The answer takes memory for what is reached, and not for all pairs of sources and vertices.

        Parameters
        ----------
        sources : vertex, sequence of vertices, or None
            Where paths begin; None means all vertices, in order of position.
        limit : number
            The length to stop at. A vertex is within it if the weights of a path, added one by one
            from the source, come to no more. ``math.inf`` is no limit.
        reverse : bool
            Whether paths lead to the sources: what is returned are the vertices that reach them.
        predecessors : bool
            Whether to keep predecessors, which paths are read from.
        threads : int, optional
            How many threads may be used; all cores unless given.

        Returns
        -------
        Reach
            Sparse arrays with a row for each source, as from :func:`kleene.within`.

        Raises
        ------
        MemoryBudgetError
            The answer grows beyond the memory that is available.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.prepare(kl.generate.grid(100, 100)).within([0, 5050], limit=2)
        >>> r.distances.shape, r.distances.nnz, r.path(0, 101)
        ((2, 10000), 19, [0, 1, 101])
        """
        self._require_lengths("within is")
        if limit is None:
            raise RequestError(
                "within needs a ",
                Code("limit"),
                advice=[Text(Code("limit=math.inf"), " returns all that is reached")],
            )
        prepared: Any = self  # users have no other
        return within(
            prepared, sources, limit, reverse=reverse, predecessors=predecessors, threads=threads
        )

    def _solve(self, **arguments: Any) -> Result:
        """Check the arguments as all calls do, and answer; ``out`` is for what was asked for."""
        given = arguments.get("sources") is not None or "source" in arguments
        lengths = self.semiring == "min_plus"
        problem = "closure" if not lengths else "sssp" if given else "apsp"
        call = check_call(problem, self, semiring=self.semiring, **arguments)
        return solve(call._replace(by_form=True))
