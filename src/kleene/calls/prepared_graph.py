"""A graph whose vertices are eliminated: new weights in milliseconds, answers in microseconds."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.backends.semiring import semiring as find_semiring
from kleene.calls.arguments import Devices, Out, Progress, Vertices, as_pairs, check_call
from kleene.calls.execution import solve
from kleene.calls.nearest import nearest_of
from kleene.calls.pairs import solve_pairs
from kleene.calls.prepared_steps import Steps, customize_graph, explain_prepared, value_dtype
from kleene.calls.within import within
from kleene.engine.prepared import PreparedForm
from kleene.engine.value import timed
from kleene.errors import Code, GraphError, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag, as_weights, require_one_each
from kleene.graph.labels import is_one_vertex
from kleene.planning.plan import Plan
from kleene.prepared import files
from kleene.prepared import pairs as queries
from kleene.prepared.cache import bytes_of
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.results.nearest import Nearest
from kleene.results.pairs import PairsResult
from kleene.results.reach import Reach
from kleene.results.result import Result
from kleene.system.formatting import counted, format_bytes
from kleene.system.hints import Hint
from kleene.system.html import card
from kleene.system.machine import as_threads

__all__ = ["PreparedGraph"]

Array = NDArray[Any]
_FLOAT = np.dtype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class PreparedGraph(PreparedForm):
    """A graph with its vertices eliminated, for fast queries; :func:`prepare` makes one.

    It never changes: :meth:`customize` returns another one, which shares the elimination. Several
    threads may ask it at once, and it can be pickled for other processes.

    Attributes
    ----------
    graph : Graph
        The graph, with the weights that answers are for.

    Examples
    --------
    >>> import kleene as kl
    >>> p = kl.prepare(kl.generate.grid(30, 30, weights=(1, 9)))
    >>> p.distance(0, 899) == int(kl.sssp(p.graph, 0).distances[899])
    True
    """

    # ---- pairs ---------------------------------------------------------------------------

    def distance(self, source: Hashable, target: Hashable) -> Any:
        """Return the length of the shortest path between two vertices; infinity if there is none.

        Over another semiring, it is the value of the best path.

        Parameters
        ----------
        source, target : vertex
            Where the path begins and ends: labels of the graph, or positions 0 .. n - 1 if it has
            no labels.

        Returns
        -------
        int, float or bool

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1], [1, 2], [4, 3]))
        >>> p.distance(0, 2), p.distance(2, 0)
        (7, inf)
        """
        value = queries.distance(*self._parts, *self._ends(source, target, "distance"))
        if type(value) is int and value == self.no_path:
            return SEMIRINGS[self.semiring].zero(_FLOAT)
        return value

    def distances(
        self, pairs: Any, *, threads: int | None = None, progress: Progress = None
    ) -> Array:
        """Return the lengths of the shortest paths of many pairs.

        Parameters
        ----------
        pairs : sequence of (source, target)
            A list of pairs, an array of shape (k, 2) or a table of two columns.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).

        Returns
        -------
        array
            One length for each pair; :attr:`no_path` where there is no path.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1], [1, 2], [4.0, 3.0]))
        >>> p.distances([(0, 2), (1, 2), (2, 1)]).tolist()
        [7.0, 3.0, inf]
        """
        ends, team = as_pairs(self.graph, pairs), as_threads(threads)
        climb = partial(queries.distances, *self._parts, *ends, threads=team)
        return timed(lambda report: climb(progress=report), progress, "distances of pairs")[0]

    def path(self, source: Hashable, target: Hashable) -> list[Any]:
        """Return the vertices of the best path between two vertices; empty if there is none.

        Parameters
        ----------
        source, target : vertex
            Where the path begins and ends.

        Returns
        -------
        list
            Labels where the graph has labels.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9]))
        >>> p.path(0, 2), p.path(2, 0)
        ([0, 1, 2], [])
        """
        positions = queries.path(*self._parts, *self._ends(source, target, "path"))
        labels = self.graph.labels
        path: list[Any] = (positions if labels is None else labels[positions]).tolist()
        return path

    def paths(
        self, pairs: Any, *, threads: int | None = None, progress: Progress = None
    ) -> PairsResult:
        """Return the shortest paths of many pairs, with their lengths.

        Where weights are negative floats, lengths are the sums along the paths, which may differ
        from those of :meth:`distances` in the last bits.

        Parameters
        ----------
        pairs : sequence of (source, target)
            A list of pairs, an array of shape (k, 2) or a table of two columns.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).

        Returns
        -------
        PairsResult
            Distances, paths and routes in the order of the pairs.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9]))
        >>> r = p.paths([(0, 2), (1, 2)])
        >>> r.distances.tolist(), r.paths()
        ([7, 3], Paths([[0, 1, 2], [1, 2]]))
        """
        self._require_lengths("paths of many pairs are")
        call = check_call("sssp", self, pairs=pairs, threads=threads, progress=progress)
        return solve_pairs(call)

    def _ends(self, source: Hashable, target: Hashable, what: str) -> tuple[int, int]:
        """Return the positions of two vertices."""
        if is_one_vertex(source) and is_one_vertex(target):
            position = self.graph._labels.position
            return position(source), position(target)
        several = target if is_one_vertex(source) else source
        raise RequestError(
            f"{what} takes two vertices, not {several!r}",
            advice=[f"for many pairs, use {what}s([...])"],
        )

    # ---- rows, matrices and what is near -------------------------------------------------

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
            raise RequestError(
                f"tree takes one vertex, not {source!r}", advice=["for many, use trees([...])"]
            )
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
            raise RequestError("matrix needs sources", advice=["for all vertices, use trees()"])
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
        """Return the vertices that each source reaches within a limit.

        The answer takes memory for what is reached, and not for all pairs of sources and vertices.

        Parameters
        ----------
        sources : vertex, sequence of vertices, or None
            Where paths begin; None means all vertices, in order of position.
        limit : number
            The length to stop at. A vertex is within it if the weights of a path, added one by one
            from the source, come to no more. ``math.inf`` means no limit.
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

    if not TYPE_CHECKING:  # checkers of types report names that are not here
        reweight, update = Hint("p.customize(weights)"), Hint("p.customize(weights)")

    # ---- weights, files and what it shows ------------------------------------------------

    graph: Graph
    _elimination: Elimination
    _customization: Customization
    _steps: Steps

    @property
    def nbytes(self) -> int:
        """The bytes that it takes in addition to its graph."""
        return bytes_of(*self._parts)

    # ---- new weights ----------------------------------------------------------------------

    def customize(
        self,
        weights: Any = None,
        *,
        rows: Any = None,
        arcs: Any = None,
        semiring: str | None = None,
        dtype: Any = None,
        device: str = "cpu",
        threads: int | None = None,
    ) -> PreparedGraph:
        """Return the prepared graph with other weights: traffic, closed streets, another measure.

        The vertices stay eliminated, so this takes milliseconds where :func:`prepare` takes
        seconds.

        Parameters
        ----------
        weights : Graph, dict, array, number or function, optional
            A graph with the same vertices and the same arcs, or fewer. Arcs may also be reversed,
            or join vertices that the elimination joined. Or a dict of pairs, as
            :meth:`Graph.update` takes it. Or an array with one weight
            for each row of the table that the graph was made from, or for each arc, as their
            number tells, or if both have the same order; or what :meth:`Graph.reweight` takes. By
            default weights stay.
        rows : column or dict, optional
            Instead: one weight for each row of the table that the graph was made from, or a dict
            of those that change, ``{row: weight}``; infinity closes a row.
        arcs : array, optional
            Instead: one weight for each arc, in the order of :attr:`Graph.coo`. An infinite weight
            closes an arc, which :attr:`graph` then does not have.
        semiring : str, optional
            Another meaning of "best path", one of those of :func:`prepare`; by default the same.
        dtype : optional
            The type of the path values; by default that of the weights, or a wider one.
        device : {"cpu", "cuda", "emulated"}
            Where to compute. What a GPU computes stays there as well, for later calls.
        threads : int, optional
            How many threads may be used; all cores unless given.

        Returns
        -------
        PreparedGraph

        Raises
        ------
        GraphError
            An arc joins vertices that the elimination did not join, or there is not one weight for
            each arc.
        NegativeCycleError
            The weights make a cycle of negative length.
        DeviceError
            The device is not there.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table(
        ...     {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "weight": [2, 2, 9]}
        ... )
        >>> p = kl.prepare(g)
        >>> p.distance("a", "c"), p.customize(rows=[2, 8, 9]).distance("a", "c")
        (4, 9)
        >>> p.customize(rows={0: float("inf")}).path("a", "c")
        ['a', 'c']
        """
        graph = reweighted(self.graph, weights, rows, arcs)
        name = self.semiring if semiring is None else find_semiring(semiring).name
        kind = value_dtype(graph, name, dtype)
        made, steps = customize_graph(
            self._elimination, graph, name, kind, as_threads(threads), self._steps, device
        )
        return PreparedGraph(graph, self._elimination, made, steps)

    # ---- all of it --------------------------------------------------------------------------

    def explain(self) -> Plan:
        """Return what was prepared: pairs and triangles, memory, and the seconds of each step.

        Examples
        --------
        >>> import kleene as kl
        >>> print(kl.prepare(kl.generate.grid(3, 3)).explain())
        prepare by elimination on cpu, int32 values
          memory   ...
          because  18 pairs of vertices are joined, from 24 arcs; the tree is 4 deep
          because  new weights relax 14 triangles
          because  order ... s, elimination ... s, weights ... s
        """
        return explain_prepared(self.graph, *self._parts, self._steps)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the prepared graph to a file, for :func:`load_prepared` and the command line.

        The file is written beside the name and then takes it, so it is whole or not there. It holds
        the graph as well, so ``kleene.read`` reads it, too.

        Parameters
        ----------
        path : str or Path
            The file; the suffix is ``.kp`` by custom.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.prepare(kl.generate.grid(9, 9)).save(f"{folder}/grid.kp")
        ...     kl.load_prepared(f"{folder}/grid.kp").distance(0, 80)
        16
        """
        files.save(path, self.graph, self._elimination, self._customization)

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedGraph, (self.graph, self._elimination, self._customization, self._steps)

    def __repr__(self) -> str:
        return f"PreparedGraph({self._facts})"

    def _repr_html_(self) -> str:
        fill = self._elimination.fill
        facts = {
            "pairs": f"{fill.pairs:,}, in a tree {fill.depth:,} deep",
            "triangles": f"{fill.triangles:,}",
            "memory": format_bytes(self.nbytes),
            "took": str(self._steps) or "read from a file",
        }
        return card("PreparedGraph", repr(self.graph), facts)

    @property
    def _facts(self) -> str:
        took = f", {self._steps}" if any(self._steps) else ""
        return (
            f"{counted(self.graph.n, 'vertex', 'vertices')}, {counted(self.graph.m, 'arc')}, "
            f"{counted(self._elimination.arcs, 'pair')}, "
            f"{self.semiring} in {self.dtype}, {format_bytes(self.nbytes)}{took}"
        )


# ---- new weights ---------------------------------------------------------------------------------


def reweighted(graph: Graph, weights: Any, rows: Any, arcs: Any) -> Graph:
    """Return a graph of the same vertices with the weights that a user gave, one way or another."""
    if weights is None and rows is None and arcs is None:
        return graph
    _refuse_other_types(weights)
    if isinstance(weights, Graph):
        if rows is not None or arcs is not None:
            raise GraphError("give the weights once: a graph, or rows=, or arcs=")
        named, others = graph.label(np.arange(graph.n)), weights.label(np.arange(weights.n))
        if not np.array_equal(named, others):
            raise GraphError("the new graph has other vertices: prepare it separately")
        return weights
    if isinstance(weights, Mapping) or isinstance(rows, Mapping):
        if (weights is not None) + (rows is not None) + (arcs is not None) > 1:
            raise GraphError("give the weights once: a dict, or rows=, or arcs=")
        return graph.update(weights, rows=rows)
    if rows is None and arcs is None and np.iterable(weights):
        return _by_number(graph, weights)
    if weights is None and rows is None:
        return _by_arc(graph, arcs)
    return graph.reweight(weights, rows=rows, arcs=arcs)


def _refuse_other_types(weights: Any) -> None:
    """Raise for what looks like weights, and is given in another way."""
    if isinstance(weights, str):
        raise GraphError(f"give the column itself, not its name: customize(table[{weights!r}])")
    if isinstance(weights, PreparedForm):
        raise GraphError("give the graph itself: customize(prepared.graph)")


def _by_number(graph: Graph, weights: Any) -> Graph:
    """Return the graph with one weight for each row of its table, or for each arc."""
    weights = weights if hasattr(weights, "__len__") else list(weights)
    values = as_weights(weights, "weights")
    assert values is not None
    given, rows = values.shape, None if graph.rows is None else (graph.rows.count,)
    if given == rows and not (given == (graph.m,) and _are_in_order(graph)):
        if given == (graph.m,):
            raise GraphError(
                f"there are {graph.m:,} arcs, and as many rows of their table, in another order: "
                "say which order the weights are in, rows=array or arcs=array"
            )
        return graph.reweight(rows=weights)
    return _by_arc(graph, weights)


def _are_in_order(graph: Graph) -> bool:
    """Return whether each row of the table is the arc of the same number."""
    return np.array_equal(graph.arc_rows.rows, np.arange(graph.m))


def _by_arc(graph: Graph, weights: Any) -> Graph:
    """Return the graph with one weight for each arc, or with one for all."""
    values = as_weights(weights, "arcs")
    assert values is not None
    if values.ndim == 1 and len(values) > graph.m:
        raise GraphError(
            f"got {len(values):,} weights for {graph.m:,} arcs; where an arc was closed, customize "
            "the prepared graph that still has it"
        )
    if values.ndim:
        table = "" if graph.rows is None else f", or {graph.rows.count:,} rows of the table"
        require_one_each(values, graph.m, f"arcs{table}")
    return graph.reweight(arcs=weights)
