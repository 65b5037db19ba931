"""What every problem returns: path values, predecessors, paths, and proof."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Answer
from kleene.errors import RequestError, VerificationError
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS
from kleene.planning.plan import Plan
from kleene.results import saved
from kleene.results.saved import Saved
from kleene.results.timings import Timings
from kleene.results.verify import Proof, verify
from kleene.system.cached_property import cached_property

__all__ = ["Paths", "Result", "Timings"]

Array = NDArray[Any]


class Paths(NamedTuple):
    """Many paths in two arrays: path ``i`` is ``vertices[offsets[i]:offsets[i + 1]]``."""

    vertices: Array
    offsets: NDArray[np.int64]


class Result:
    """The answer to one call, with what it takes to use it, judge it and prove it.

    With one source, arrays have one entry per vertex; with several (or all), one row per source.
    With ``targets``, distances are for the targets only, in the order given.

    Attributes
    ----------
    problem : str
        ``"bfs"``, ``"sssp"``, ``"apsp"`` or ``"closure"``.
    graph : Graph
        The graph that was asked about.
    sources : array
        The source vertices.
    targets : array or None
        The targets, if any were named.
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
    ) -> None:
        self.graph, self.plan, self.stats = graph, plan, stats
        self.problem = plan.problem
        self.sources, self.targets = sources, targets
        self._answer, self._limit, self._single = answer, limit, single

    # ---- values ---------------------------------------------------------------------------

    @property
    def distances(self) -> Array:
        """Path values: hops, lengths, or values in the closure's semiring."""
        values = self._answer.values
        if self.targets is not None:
            values = values[:, self.targets]
        return values[0] if self._single else values

    @property
    def values(self) -> Array:
        """The same as :attr:`distances`, for closures whose values are no distances."""
        return self.distances

    @property
    def predecessors(self) -> Array | None:
        """The vertex before each vertex on its path; -1 for sources and unreached vertices.

        One entry per vertex of the graph, also when ``targets`` were named. None when the call
        had ``predecessors=False``.
        """
        predecessors = self._answer.predecessors
        return None if predecessors is None else predecessors[0] if self._single else predecessors

    @property
    def no_path(self) -> Any:
        """The value that stands for "no path": -1 for hops, infinity, or the largest integer."""
        if self.problem == "bfs":
            return NO_HOPS
        return SEMIRINGS[self.plan.semiring].zero(self._answer.values.dtype)

    @property
    def reached(self) -> Array:
        """Whether there is a path, for each entry of :attr:`distances`."""
        reached: Array = self.distances != self.no_path
        return reached

    # ---- paths ----------------------------------------------------------------------------

    def path(self, *ends: Hashable) -> list[int]:
        """Return the vertices from source to target: ``path(target)`` or ``path(source, target)``.

        Empty when there is no path. Vertices may be given by label.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.apsp(kl.Graph.from_edges([0, 1], [1, 2]))
        >>> r.path(0, 2), r.path(2, 0)
        ([0, 1, 2], [])
        """
        if len(ends) == 1 and len(self.sources) == 1:
            row, target = 0, self._vertex(ends[0])
        elif len(ends) == 2:
            row, target = self._row(self._vertex(ends[0])), self._vertex(ends[1])
        else:
            raise RequestError(
                "path takes a target, or a source and a target when there are several sources"
            )
        self._require_target(target)
        predecessors = self._predecessors_of(row)
        if self._answer.values[row, target] == self.no_path:
            return []
        path = [target]
        while (target := int(predecessors[target])) != -1:
            path.append(target)
            if len(path) > self.graph.n:
                raise self._cyclic()
        return path[::-1]

    def paths(self, targets: Iterable[Any] | None = None, source: Hashable | None = None) -> Paths:
        """Return the paths to many targets (all, when not given) as two arrays.

        A target without a path has an empty one.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), 0)
        >>> r.paths([2, 1])
        Paths(vertices=array([0, 1, 2, 0, 1], dtype=int32), offsets=array([0, 3, 5]))
        """
        if source is None and len(self.sources) != 1:
            raise RequestError("name a source: this result has several")
        row = 0 if source is None else self._row(self._vertex(source))
        predecessors = self._predecessors_of(row)
        if targets is None:
            ends = np.arange(self.graph.n) if self.targets is None else self.targets
        else:
            ends = np.array([self._vertex(t) for t in targets], dtype=int)
            for end in ends.tolist():
                self._require_target(end)
        # Walk back from all targets together, one step a round.
        at = np.where(self._answer.values[row, ends] == self.no_path, -1, ends)
        steps: list[Array] = []
        which: list[Array] = []
        walking = np.arange(len(ends))
        while len(walking := walking[at[walking] != -1]):
            if len(steps) == self.graph.n:
                raise self._cyclic()
            steps.append(at[walking])
            which.append(walking)
            at[walking] = predecessors[at[walking]]
        path_of = np.concatenate(which[::-1]) if which else np.empty(0, dtype=int)
        walked = np.concatenate(steps[::-1]) if steps else np.empty(0, dtype=int)
        order = np.argsort(path_of, kind="stable")
        offsets = np.zeros(len(ends) + 1, dtype=np.int64)
        np.cumsum(np.bincount(path_of, minlength=len(ends)), out=offsets[1:])
        return Paths(walked[order].astype(self.graph.id_dtype), offsets)

    @property
    def next_hops(self) -> Array:
        """The vertex after the source on each path; -1 for sources and unreached vertices."""
        predecessors = self._answer.predecessors
        if predecessors is None:
            raise self._no_predecessors()
        hops = np.empty_like(predecessors)
        for row, source in enumerate(self.sources.tolist()):
            inner = (predecessors[row] != -1) & (predecessors[row] != source)
            first = np.where(inner, predecessors[row], np.arange(self.graph.n))
            for _ in range(self.graph.n.bit_length() + 1):  # each round looks back twice as far
                first = first[first]
            if inner[first].any():
                raise self._cyclic()
            hops[row] = np.where(predecessors[row] == -1, -1, first)
        return hops[0] if self._single else hops

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
        return verify(self._saved.claim(self.graph), sample, seed)

    # ---- elsewhere ------------------------------------------------------------------------

    def to_numpy(self) -> Array:
        """Return the distances as a NumPy array in main memory.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_numpy()
        array([0, 1], dtype=int32)
        """
        return np.asarray(self.distances)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame: source, target, distance, predecessor, one row per pair.

        Vertices appear by label where the graph has labels; pairs without a path are left out.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_pandas()
           source  target  distance  predecessor
        0       0       0         0           -1
        1       0       1         1            0
        """
        import pandas as pd

        names = np.arange(self.graph.n) if self.graph.labels is None else self.graph.labels
        columns = np.arange(self.graph.n) if self.targets is None else self.targets
        rows, at = np.nonzero(np.atleast_2d(self.reached))
        ends = columns[at]
        table = {
            "source": names[self.sources[rows]],
            "target": names[ends],
            "distance": self._answer.values[rows, ends],
        }
        if self._answer.predecessors is not None:
            predecessors = self._answer.predecessors[rows, ends]
            table["predecessor"] = (
                predecessors
                if self.graph.labels is None
                else np.where(predecessors == -1, np.array(None), names[predecessors])
            )
        return pd.DataFrame(table)

    def save(self, path: str | Path) -> None:
        """Write the result to an ``.npz`` file; :meth:`load` brings it back.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> g = kl.Graph.from_edges([0, 1], [1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.bfs(g, 0).save(f"{folder}/hops.npz")
        ...     kl.Result.load(f"{folder}/hops.npz", g).distances.tolist()
        [0, 1, 2]
        """
        saved.save(path, self.graph, self._saved)

    @classmethod
    def load(cls, path: str | Path, graph: Graph) -> Result:
        """Read a saved result; ``graph`` must be the graph that it was computed on.

        The file may come from anywhere: every field is checked, and FormatError names the first
        that is wrong. Whether the values are right, :meth:`verify` proves. See :meth:`save` for an
        example.

        >>> import kleene as kl
        >>> kl.Result.load("nowhere.npz", kl.Graph.from_edges([0], [1]))
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.npz'
        """
        read = saved.load(path, graph)
        return cls(
            graph, read.plan, read.stats, read.answer, read.sources, read.targets, read.limit,
            read.single,
        )  # fmt: skip

    def __repr__(self) -> str:
        kind = f"{self.problem} by {self.plan.method} on {self.plan.device}"
        shape = "from 1 source" if len(self.sources) == 1 else f"from {len(self.sources):,} sources"
        if self.targets is not None:
            shape += f" to {len(self.targets):,} target{'s' * (len(self.targets) != 1)}"
        reached = int(np.count_nonzero(self.reached))
        return (
            f"Result({kind}, {shape}, {reached:,} of {self.reached.size:,} reached, "
            f"{self.plan.dtype}, {self.stats.total:.3g} s)"
        )

    # ---- inside ---------------------------------------------------------------------------

    @property
    def _saved(self) -> Saved:
        return Saved(
            self.plan, self.stats, self._answer, self.sources, self.targets, self._limit,
            self._single,
        )  # fmt: skip

    def _vertex(self, vertex: Hashable) -> int:
        return self.graph.vertex(vertex)

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {source: row for row, source in enumerate(self.sources.tolist())}

    def _row(self, source: int) -> int:
        if source not in self._row_of:
            raise RequestError(f"vertex {source} is not among the sources of this result")
        return self._row_of[source]

    def _require_target(self, target: int) -> None:
        if self.targets is not None and target not in self.targets:
            raise RequestError(f"vertex {target} is not among the targets of this result")

    def _predecessors_of(self, row: int) -> Array:
        if self._answer.predecessors is None:
            raise self._no_predecessors()
        predecessors: Array = self._answer.predecessors[row]
        return predecessors

    def _cyclic(self) -> VerificationError:
        return VerificationError(
            "the predecessors form a cycle: verify() would have refused this result"
        )

    def _no_predecessors(self) -> RequestError:
        return RequestError(f"paths need predecessors: call {self.problem}(..., predecessors=True)")
