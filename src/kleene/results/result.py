"""What every problem returns: path values, predecessors, paths, routes, tables, and proof."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import Answer
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.results import saved
from kleene.results.device_arrays import DeviceArray, DeviceArrays
from kleene.results.display import count_reached, result_html
from kleene.results.path_queries import PathQueries
from kleene.results.saved import Saved
from kleene.results.tables import BLOCK, Block, label_column, wide_frame
from kleene.results.timings import Timings
from kleene.results.verify import Proof, verify
from kleene.system.formatting import counted

__all__ = ["Result", "Timings"]

Array = NDArray[Any]

#: Rows of a matrix that are computed together, at the least.
_TOGETHER = 16


class Result(PathQueries):
    """The answer to one call, with what it takes to use it, judge it and prove it.

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
        values = answer.values if targets is None else answer.at(slice(None), targets)
        return values[0] if self._single else values

    @property
    def values(self) -> Array:
        """The same as :attr:`distances`, for closures whose values are no distances."""
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
                "the paths of this result lead to its sources: next_hops holds the vertex after "
                "each vertex on its way"
            )
        links = self._answer.predecessors
        return None if links is None else links[0] if self._single else links

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

    # ---- proof ----------------------------------------------------------------------------

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove this answer right, or raise VerificationError; see ``kleene.results.verify``.

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
        from kleene.results.verify_rows import compare_targets, verify_rows

        return verify_rows(
            self.graph.transpose() if self.reverse else self.graph, self.plan.semiring,
            self._sources, answer.rows, compare_targets(answer.at, self._targets), sample, seed,
            self.reverse, self.problem == "bfs", self._limit,
        )  # fmt: skip

    # ---- elsewhere ------------------------------------------------------------------------

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
        if Path(path).suffix in saved.STORE_SUFFIXES:
            stored: Result = import_module("kleene.api.stored_results").load_stored(path, graph)
            return stored
        read = saved.load(path, graph)
        if isinstance(read, saved.SavedPairs):
            from kleene.results.pairs import PairsResult

            return PairsResult(
                graph, read.plan, read.stats, read.pairs, read.values, read.walks, read.limit,
                read.by_target,
            )  # fmt: skip
        return Result(
            graph, read.plan, read.stats, read.answer, read.sources, read.targets, read.limit,
            read.single, read.reverse,
        )  # fmt: skip

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
    def _count(self) -> int:
        """The number of distances."""
        return len(self._sources) * self._width

    @property
    def _width(self) -> int:
        return self.graph.n if self._targets is None else len(self._targets)

    def _value_rows(self) -> Iterator[Array]:
        """Yield the rows of the distances, one by one; of a store they are not kept."""
        targets = self._targets
        values: Any = self._answer.row_arrays[0] if targets is None else None
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

    def _blocks(self) -> Iterator[Block]:
        far = self._far_ends
        rows = max(1, BLOCK // max(1, len(far)))
        if self._answer.matrix is not None:  # whole rows are computed for their predecessors
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
