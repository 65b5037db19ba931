"""What every problem returns: path values, predecessors, paths, routes, tables, and proof."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.walks import Walks, cyclic, follow_links
from kleene.backends.semiring import SEMIRINGS
from kleene.engine.call import Call, Outcome, Timings
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.labels import is_one_vertex
from kleene.graph.no_path import NO_HOPS
from kleene.planning.plan import Plan
from kleene.proofs.paths import Proof, verify
from kleene.results import files, saved
from kleene.results.device_arrays import DeviceArray, DeviceArrays
from kleene.results.display import count_reached, result_html
from kleene.results.paths import Paths
from kleene.results.route import Route, Routes, make_routes
from kleene.results.saved import Saved
from kleene.results.tables import (
    BLOCK,
    Block,
    arrow_table,
    label_column,
    pandas_table,
    polars_table,
    wide_frame,
)
from kleene.system.cached_property import cached_property
from kleene.system.formatting import counted
from kleene.system.hints import hinted

__all__ = ["Result", "Timings"]

Array = NDArray[Any]

#: Rows of a matrix that are computed together, at the least.
_TOGETHER = 16


class Result:
    """The answer to one call: path values and paths, the plan that ran, and a proof.

    Arrays that have an entry per vertex are in the order of the vertices' positions. With one
    source they have one dimension; with several (or all), one row per source. With ``targets``,
    distances are for the targets only, in the order given.

    Of a call with ``reverse=True``, paths lead *to* the sources: ``distances[i, v]`` is the length
    from v to the i-th source, ``path(v)`` begins at v, and tables say so.

    Attributes
    ----------
    problem : str
        ``"bfs"``, ``"sssp"``, ``"apsp"`` or ``"closure"``.
    graph : Graph
        The graph that was asked about.
    reverse : bool
        Whether paths lead to the sources instead of from them.
    plan : Plan
        What ran, and why.
    stats : Timings
        Seconds for copy-in, compute, copy-out, and in all.

    Examples
    --------
    >>> import kleene as kl
    >>> r = kl.sssp(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]), 0)
    >>> r.distances.tolist(), r.path(2)
    ([0, 4, 7], [0, 1, 2])
    """

    problem: str
    graph: Graph
    reverse: bool
    plan: Plan
    stats: Timings

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        answer: Answer,
        sources: Array,
        targets: Array | None,
        limit: int | float | None,
        single: bool,
        reverse: bool = False,
    ) -> None:
        self.graph, self.plan, self.stats = graph, plan, stats
        self.problem, self.reverse = plan.problem, reverse
        self._sources, self._targets = sources, targets  # positions
        self._answer, self._limit, self._single = answer, limit, single

    @classmethod
    def _of(cls, call: Call, made: Outcome) -> Result:
        """Return the result of a call that the engine answered with rows."""
        part, plan, stats, limit = made
        return cls(
            call.graph, plan, stats, part.answer, call.sources, call.targets, limit, call.single,
            call.reverse,
        )  # fmt: skip

    # ---- ends -----------------------------------------------------------------------------

    @property
    def sources(self) -> Array:
        """The vertices that were named as sources: labels where the graph has labels."""
        sources: Array = self.graph.label(self._sources)
        return sources

    @property
    def targets(self) -> Array | None:
        """The vertices that were named as targets, by label like :attr:`sources`; None for all."""
        return None if self._targets is None else self.graph.label(self._targets)

    # ---- values ---------------------------------------------------------------------------

    @property
    def distances(self) -> Array:
        """Path values: hops, lengths, or values in the closure's semiring.

        Where there is no path, integers hold :attr:`no_path`, an ordinary number: take
        :attr:`floats` or :attr:`masked` for sums and means.
        """
        answer, targets = self._answer, self._targets
        values = answer.whole_values if targets is None else answer.at(slice(None), targets)
        return values[0] if self._single else values

    @property
    def values(self) -> Array:
        """The same as :attr:`distances`, for closures whose values are not distances."""
        return self.distances

    @property
    def predecessors(self) -> Array | None:
        """The position of the vertex before each vertex on its path from the source.

        -1 for sources and unreached vertices. One entry per vertex of the graph, also when
        ``targets`` were named. None when the call had ``predecessors=False``. A result of
        ``reverse=True`` has :attr:`next_hops` instead: its paths go on from each vertex.
        """
        if self.reverse:
            raise RequestError(
                "the paths of this result lead to its sources: use next_hops, the vertex after "
                "each vertex on its path"
            )
        links = self._answer.whole_predecessors
        return None if links is None else links[0] if self._single else links

    @property
    def no_path(self) -> Any:
        """The value that stands for "no path": -1 for hops, infinity, or the largest integer."""
        if self.problem == "bfs":
            return NO_HOPS
        return SEMIRINGS[self.plan.semiring].zero(np.dtype(self.plan.dtype))

    @property
    def reached(self) -> Array:
        """Whether there is a path, for each entry of :attr:`distances`."""
        reached: Array = self.distances != self.no_path
        return reached

    @property
    def floats(self) -> Array:
        """The distances as float64; infinity where there is no path.

        In a closure, "no path" is what it is for floats: infinity for ``min_plus``, minus infinity
        for ``max_min``, 0 for ``max_times`` and ``boolean``. Not a copy if distances are float64.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0], [1], n=3), 0)
        >>> r.distances.tolist(), r.floats.tolist()
        ([0, 1, -1], [0.0, 1.0, inf])
        """
        values = self.distances
        semiring, wide = SEMIRINGS[self.plan.semiring], np.dtype(np.float64)
        if self.no_path == semiring.zero(wide):
            return values.astype(wide, copy=False)
        floats = values.astype(wide)
        floats[values == self.no_path] = semiring.zero(wide)
        if semiring.name == "max_min":
            floats[values == semiring.one(values.dtype)] = np.inf  # the width of the empty path
        return floats

    @property
    def masked(self) -> np.ma.MaskedArray[Any, Any]:
        """The distances as a NumPy masked array; pairs without a path are masked.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2], n=4), 0)
        >>> float(r.distances.mean()), float(r.masked.mean())
        (0.5, 1.0)
        """
        values = self.distances
        missing = values == self.no_path
        return np.ma.MaskedArray(values, missing, fill_value=self.no_path)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the distances: ``np.asarray(result)``."""
        values = self.distances
        if dtype is None or np.dtype(dtype) == values.dtype:
            return values.copy() if copy else values
        if copy is False:
            raise ValueError(f"the distances are {values.dtype}: as {dtype} they must be copied")
        return values.astype(dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return where the distances are, as DLPack numbers devices."""
        place: tuple[int, int] = self._exported.__dlpack_device__()
        return place

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the distances as a DLPack capsule: ``torch.from_dlpack(result)``.

        They stay where they are: on the GPU after ``keep="device"``.

        Examples
        --------
        >>> import kleene as kl, numpy as np
        >>> np.from_dlpack(kl.bfs(kl.Graph.from_edges([0], [1]), 0))
        array([0, 1], dtype=int32)
        """
        asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        given = {name: value for name, value in asked.items() if value is not None}
        return self._exported.__dlpack__(**given)

    @property
    def _exported(self) -> Any:
        """What other libraries read the distances from: an array here, or on a device."""
        if (kept := self._answer.kept) is not None:
            if self._targets is not None and kept.values.shape[-1] != len(self._targets):
                raise BufferError(
                    "the device has the distances of all vertices, not those of the targets alone: "
                    "take result.device_arrays.distances, or result.distances on the host"
                )
            return self.device_arrays.distances
        values = self.distances  # not all libraries, nor versions of DLPack, take what is read-only
        return values if values.flags.writeable else values.copy()

    def to_numpy(self) -> Array:
        """Return the distances as a NumPy array in main memory.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_numpy()
        array([0, 1], dtype=int32)
        """
        return np.asarray(self.distances)

    @property
    def device_arrays(self) -> DeviceArrays:
        """The arrays on the device, of a call with ``keep="device"``: distances, predecessors.

        One entry per vertex of the graph, also when ``targets`` were named; a matrix of a prepared
        graph has one per target, and no predecessors. Of a result with
        ``reverse=True``, "predecessors" are the :attr:`next_hops`. See
        :class:`~kleene.results.device_arrays.DeviceArray` for their use.
        """
        kept = self._answer.kept
        if kept is None:
            raise RequestError(
                "this result is in host memory: call with ",
                Code("keep='device'"),
                " to leave it on the GPU",
            )
        values, found = kept.values, kept.predecessors
        if self._single:
            values, found = values[0], None if found is None else found[0]
        predecessors = None if found is None else DeviceArray(found, kept.device)
        return DeviceArrays(DeviceArray(values, kept.device), predecessors)

    # ---- paths ----------------------------------------------------------------------------

    def path(self, *ends: Hashable) -> list[Any]:
        """Return the vertices of a path, from the first to the last; empty if there is none.

        Parameters
        ----------
        *ends : vertex
            ``path(target)`` for a result with one source, or ``path(source, target)``. For a
            result of ``reverse=True``, ``path(start)`` or ``path(start, end)``.

        Returns
        -------
        list
            Labels where the graph has labels.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.apsp(kl.Graph.from_edges([0, 1], [1, 2]))
        >>> r.path(0, 2), r.path(2, 0)
        ([0, 1, 2], [])
        """
        row, at = self._locate(ends, "path")
        walks = self._answer.walks(row, np.array([at]))
        path = self._follow(row, at) if walks is None else walks[0].tolist()
        labels = self.graph.labels
        return path if labels is None else labels[path].tolist()

    def paths(self, targets: Iterable[Any] | None = None, source: Hashable | None = None) -> Paths:
        """Return the paths to many targets, computed together.

        Parameters
        ----------
        targets : sequence of vertices, optional
            Where the paths end (where they begin, for a result of ``reverse=True``); by default
            the targets of the call, or all vertices.
        source : vertex, optional
            The source, for a result with several.

        Returns
        -------
        Paths
            A sequence of lists of vertices; a target without a path has an empty one.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), 0)
        >>> r.paths([2, 1])
        Paths([[0, 1, 2], [0, 1]])
        """
        walks, _ = self._walks(targets, source, "path")
        return Paths(self.graph, *walks)

    @hinted
    def route(self, *ends: Hashable) -> Route:
        """Return a path with its arcs, table rows and coordinates.

        Parameters
        ----------
        *ends : vertex
            ``route(target)`` for a result with one source, or ``route(source, target)``. For a
            result of ``reverse=True``, ``route(start)`` or ``route(start, end)``.

        Returns
        -------
        Route
            Of no vertices, if there is no path.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.sssp(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]), 0)
        >>> r.route(2)
        Route(0 to 2, 2 arcs, distance 7)
        """
        row, at = self._locate(ends, "route")
        return make_routes(self.graph, *self._walk(row, np.array([at])))[0]

    def routes(
        self, targets: Iterable[Any] | None = None, source: Hashable | None = None
    ) -> Routes:
        """Return the routes to many targets, computed together.

        Parameters
        ----------
        targets : sequence of vertices, optional
            Where the paths end (where they begin, for a result of ``reverse=True``); by default
            the targets of the call, or all vertices.
        source : vertex, optional
            The source, for a result with several.

        Returns
        -------
        Routes
            A sequence of :class:`Route`.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.sssp(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]), 0)
        >>> [route.distance for route in r.routes([2, 1])]
        [7, 4]
        """
        walks, distances = self._walks(targets, source, "route")
        return make_routes(self.graph, walks, distances)

    @property
    def next_hops(self) -> Array:
        """The position of the second vertex of each path; -1 for sources and unreached vertices.

        That is the neighbor of the source that leads to each vertex. For a result of
        ``reverse=True``, it is the vertex to go to from each vertex.
        """
        links = self._links()
        if self.reverse:
            return links[0] if self._single else links
        hops = np.empty_like(links)
        for row, source in enumerate(self._sources.tolist()):
            inner = (links[row] != -1) & (links[row] != source)
            first = np.where(inner, links[row], np.arange(self.graph.n))
            # untestable (1 to 2): one more round changes nothing
            for _ in range(self.graph.n.bit_length() + 1):  # each round looks back twice as far
                first = first[first]
            if inner[first].any():
                raise cyclic()
            hops[row] = np.where(links[row] == -1, -1, first)
        return hops[0] if self._single else hops

    # ---- proof ----------------------------------------------------------------------------

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove this answer right, or raise VerificationError; see ``kleene.proofs.paths``.

        The proof takes O(arcs) per source and does not use the method that made the answer.
        All sources are checked when that takes seconds; else a random sample of them.

        Parameters
        ----------
        sample : int, optional
            How many sources to check.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> proof = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), 0).verify()
        >>> proof.rows, proof.tolerance
        (1, 'exact')
        """
        answer = self._answer
        if not answer.on_demand:
            return verify(self._saved.claim(self.graph), sample, seed)
        from kleene.proofs.rows import compare_targets, verify_rows  # few answers are parts

        return verify_rows(
            self.graph.transpose() if self.reverse else self.graph, self.plan.semiring,
            self._sources, answer.rows, compare_targets(answer.at, self._targets), sample, seed,
            self.reverse, self.problem == "bfs", self._limit,
        )  # fmt: skip

    # ---- tables and files -----------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return the distances as a wide pandas DataFrame, labelled; NaN where there is no path.

        With several sources, rows are where paths begin and columns where they end, so
        ``frame.loc[a, b]`` is the distance from a to b (of ``reverse=True``, too). With one source,
        vertices are rows, and the only column is "distance". Distances are float64.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table({"source": ["a", "b"], "target": ["b", "c"]})
        >>> kl.apsp(g).to_frame()
        target    a    b    c
        source
        a       0.0  1.0  2.0
        b       NaN  0.0  1.0
        c       NaN  NaN  0.0
        >>> kl.bfs(g, "b", targets=["a", "c"]).to_frame()
                distance
        target
        a            NaN
        c            1.0
        """
        far = self._far_ends
        values, reached = np.atleast_2d(self.distances), np.atleast_2d(self.reached)
        if self.reverse:
            frame = wide_frame(self.graph, values.T, reached.T, (far, self._sources))
        else:
            frame = wide_frame(self.graph, values, reached, (self._sources, far))
        if not self._single:
            return frame
        column = frame.T if not self.reverse else frame
        return column.set_axis([self._value_name], axis=1)

    def to_pandas(self) -> Any:
        """Return a long pandas DataFrame: source, target, distance, predecessor, a row per pair.

        Vertices appear by label where the graph has labels. Pairs without a path are left out, and
        the predecessor of a source is missing. The column of path values is named "value" for a
        closure. For a result of ``reverse=True``, paths run from "source" to "target" too, and
        "next_hop" takes the place of the predecessor.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_pandas()
           source  target  distance  predecessor
        0       0       0         0         <NA>
        1       0       1         1            0
        """
        return pandas_table(self._blocks())

    def to_polars(self) -> Any:
        """Return a long Polars DataFrame, with the columns of :meth:`to_pandas`.

        Labels that are neither numbers nor text become text.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_polars()["distance"].to_list()
        [0, 1]
        """
        return polars_table(self._blocks())

    def to_arrow(self) -> Any:
        """Return a long PyArrow table, with the columns of :meth:`to_pandas`.

        Labels that are neither numbers nor text become text.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_arrow().column_names
        ['source', 'target', 'distance', 'predecessor']
        """
        return arrow_table(self._blocks())

    def save(self, path: str | Path) -> None:
        """Write the result to a file, in the format of its suffix.

        The file is written beside the name and then takes it, so it is whole or not there.

        Parameters
        ----------
        path : str or Path
            ``.npz`` holds everything, and :meth:`load` brings it back (of a call with targets, it
            holds their distances, and paths are searched again when they are read); ``.npy`` holds
            :attr:`distances`; ``.zarr`` is a finished store, as a call with ``out=`` writes it
            (other than one of pairs), which :meth:`load` reads row by row; ``.csv``, ``.tsv``,
            ``.json`` (a list of objects) and ``.parquet`` hold the table of :meth:`to_pandas`,
            written in blocks.

        Raises
        ------
        RequestError
            For any other suffix; those of ``out=``, ``.npy`` and ``.zarr``, are among them.
        StoreError
            The ``.zarr`` store is there already, and of another answer.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> from pathlib import Path
        >>> g = kl.Graph.from_edges([0, 1], [1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.bfs(g, 0).save(f"{folder}/hops.npz")
        ...     kl.bfs(g, 0).save(f"{folder}/hops.csv")
        ...     print(Path(folder, "hops.csv").read_text())
        ...     kl.Result.load(f"{folder}/hops.npz", g).distances.tolist()
        source,target,distance,predecessor
        0,0,0,
        0,1,1,0
        0,2,2,1
        <BLANKLINE>
        [0, 1, 2]
        """
        files.save(self, path)

    @staticmethod
    def load(path: str | Path, graph: Graph) -> Result:
        """Read a saved result, for pairs too; ``graph`` must be the graph that it was computed on.

        The file may come from anywhere: every field is checked, and FormatError names the first
        that is wrong. Whether the values are right, :meth:`verify` proves. See :meth:`save` for an
        example.

        Parameters
        ----------
        path : str or Path
            An ``.npz`` file that :meth:`save` wrote, or a finished store (``.npy`` or ``.zarr``
            with its ledger beside it) that a call with ``out=`` wrote.
        graph : Graph
            The graph.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Result.load("nowhere.npz", kl.Graph.from_edges([0], [1]))
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.npz'
        """
        # By name: it knows all kinds of results, which know this one.
        found: Result = import_module("kleene.results.load").load_result(path, graph)
        return found

    def __repr__(self) -> str:
        kind = f"{self.problem} by {self.plan.method} on {self.plan.where}"
        count = None if self._targets is None else len(self._targets)
        ends = ("vertex", "vertices") if self.reverse else ("source",)
        rows = counted(len(self._sources), *ends)
        shape = f"{'to' if self.reverse else 'from'} {rows}"
        if count is not None:
            shape += f" from {count:,}" if self.reverse else f" to {counted(count, 'target')}"
        return (
            f"Result({kind}, {shape}, {count_reached(self)}, {self.plan.dtype}, "
            f"{self.stats.total:.3g} s)"
        )

    def _repr_html_(self) -> str:
        return result_html(self)

    # ---- inside ---------------------------------------------------------------------------

    @property
    def _value_name(self) -> str:
        """The name of the column of path values."""
        return "value" if self.problem == "closure" else "distance"

    @property
    def _far_ends(self) -> Array:
        """The positions of the vertices that distances lead to from each source."""
        return np.arange(self.graph.n) if self._targets is None else self._targets

    @property
    def _count(self) -> int:
        """The number of distances."""
        return len(self._sources) * self._width

    @property
    def _width(self) -> int:
        return self.graph.n if self._targets is None else len(self._targets)

    def _value_rows(self) -> Iterator[Array]:
        """Yield the rows of the distances, one by one; of a store they are not kept."""
        targets = self._targets
        values: Any = self._answer.values if targets is None else None
        for row in range(len(self._sources)):
            yield np.asarray(values[row] if targets is None else self._answer.at(row, targets))

    @property
    def _saved(self) -> Saved:
        return Saved(
            self.plan, self.stats, self._answer, self._sources, self._targets, self._limit,
            self._single, self.reverse,
        )  # fmt: skip

    def _save_npz(self, path: str | Path) -> None:
        saved.save(path, self.graph, self._saved)

    def _save_store(self, path: str | Path) -> None:
        from kleene.stores.save import save_answer

        save_answer(
            path, self.graph, self._answer, self.plan, self._sources, self._targets, self._limit,
            self.reverse,
        )  # fmt: skip

    def _blocks(self) -> Iterator[Block]:
        far = self._far_ends
        rows = max(1, BLOCK // max(1, len(far)))
        if self._answer.rest is not None:  # whole rows are computed for their predecessors
            # untestable (1 to 2): differs for a graph of one vertex, whose rows are one number each
            rows = min(rows, max(_TOGETHER, BLOCK // max(1, self.graph.n)))
        for row in range(0, max(1, len(self._sources)), rows):
            for column in range(0, max(1, len(far)), BLOCK):
                yield self._block(slice(row, row + rows), far[column : column + BLOCK])

    def _block(self, rows: slice, far: Array) -> Block:
        """Return the pairs with a path of some sources and some vertices."""
        values = self._answer.at(rows, far)
        at, column = np.nonzero(values != self.no_path)
        near_ends, far_ends = self._sources[rows][at], far[column]
        first, last = (far_ends, near_ends) if self.reverse else (near_ends, far_ends)
        block = {
            "source": label_column(self.graph, first),
            "target": label_column(self.graph, last),
            self._value_name: values[at, column],
        }
        links = self._answer.links(rows)
        if links is not None:
            name = "next_hop" if self.reverse else "predecessor"
            block[name] = label_column(self.graph, links[at, far_ends])
        return block

    # ---- inside: paths --------------------------------------------------------------------

    def _follow(self, row: int, at: int) -> list[int]:
        """Return the positions along the path to a vertex, by the links of its row."""
        # untestable (1 to 2): only the first row is read
        links = self._links(slice(row, row + 1))[0]
        if self._answer.at(row, np.array([at]))[0] == self.no_path:
            return []
        path = [at]
        while (at := int(links[at])) != -1:
            path.append(at)
            if len(path) > self.graph.n:
                raise cyclic()
        if not self.reverse:
            path.reverse()
        return path

    def _locate(self, ends: tuple[Hashable, ...], what: str) -> tuple[int, int]:
        """Return the row and the far end of a path."""
        if len(ends) == 1 and len(self._sources) == 1:
            row, far = 0, self._position(ends[0], what)
        elif len(ends) == 2:
            named, other = reversed(ends) if self.reverse else ends
            row, far = self._row(named, what), self._position(other, what)
        else:
            raise RequestError(
                f"{what} takes a target, or a source and a target when there are several sources",
                advice=[f"for many, use {what}s([...])"],
            )
        self._require_targets(np.array([far]))
        return row, far

    def _walks(
        self, targets: Iterable[Any] | None, source: Hashable | None, what: str
    ) -> tuple[Walks, Array]:
        """Return the paths to many vertices, by position, and their lengths."""
        listed = targets is None or (np.iterable(targets) and not isinstance(targets, (str, bytes)))
        if not listed:
            raise RequestError(
                f"{what}s takes a sequence of vertices, {what}s([{targets!r}])",
                advice=[f"for one, use {what}({targets!r})"],
            )
        if source is None and len(self._sources) != 1:
            raise RequestError(
                f"this result has several sources: name one, {what}s(..., source=...)"
            )
        row = 0 if source is None else self._row(source, what)
        if targets is None:
            return self._walk(row, self._far_ends)
        far = self.graph._labels.positions(targets)
        self._require_targets(far)
        return self._walk(row, far)

    def _walk(self, row: int, far: Array) -> tuple[Walks, Array]:
        values = self._answer.at(row, far)
        walks = self._answer.walks(row, far)
        if walks is None:
            # untestable (1 to 2): only the first row is read
            links = self._links(slice(row, row + 1))
            starts = np.where(values == self.no_path, -1, far)
            walks = follow_links(links, np.zeros(len(far), np.int64), starts, self.reverse)
        return walks, values

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {source: row for row, source in enumerate(self._sources.tolist())}

    def _position(self, vertex: Hashable, what: str) -> int:
        """Return the position of one vertex."""
        if not is_one_vertex(vertex):
            raise RequestError(
                f"{what} takes one vertex, not {vertex!r}", advice=[f"for many, use {what}s(...)"]
            )
        return int(self.graph.index(vertex))

    def _row(self, source: Hashable, what: str) -> int:
        """Return the row of a source."""
        row = self._row_of.get(self._position(source, what))
        if row is None:
            raise RequestError(f"vertex {source!r} is not among the sources of this result")
        return row

    def _require_targets(self, far: Array) -> None:
        if self._targets is None:
            return
        unknown = ~np.isin(far, self._targets)
        if unknown.any():
            # untestable (1 to 2): only the first label is taken
            vertex = self.graph.label(far[unknown][:1]).tolist()[0]
            raise RequestError(f"vertex {vertex!r} is not among the targets of this result")

    def _links(self, rows: slice = slice(None)) -> Array:
        """Return the links of the search trees of some rows: the vertex before, or after, each."""
        links = self._answer.links(rows)
        if links is None:
            raise RequestError(
                "paths need predecessors: make the call with ", Code("predecessors=True")
            )
        return links
