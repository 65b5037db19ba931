"""What a method is given and what it gives back: the contract between the plan and every backend.

A backend trusts its task: arguments were checked by ``api``, types and memory by ``plan``. It never
changes one; that they are not frozen saves a microsecond of every call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph.no_path import NO_HOPS

if TYPE_CHECKING:
    from kleene.backends.semiring import Semiring
    from kleene.graph import Graph
    from kleene.graph.batch import Batch

__all__ = [
    "BetweennessTask",
    "ComponentsTask",
    "EncodingsTask",
    "KShortestTask",
    "LoadsAnswer",
    "LoadsTask",
    "NearestTask",
    "ProductTask",
    "Progress",
    "SpmvTask",
    "Task",
    "WithinAnswer",
    "WithinTask",
]

Array = NDArray[Any]
Progress = Callable[[int, int], object]


@dataclass(eq=False)
class Task:
    """One call to a method."""

    graph: Graph
    semiring: Semiring
    sources: Array  # vertex ids; one row of the answer each
    targets: Array | None  # the search may stop once all of these are settled
    limit: int | float | None  # values past this count as "no path"
    predecessors: bool
    dtype: np.dtype[Any]
    threads: int
    progress: Progress | None = None
    out: Array | None = None  # where to put the values, of shape (sources, n)
    device: str = "cpu"  # where to run, for methods that run in several places
    hops: bool = False  # a hop count says "no path" with -1, whatever the semiring's zero
    keep: bool = False  # may the answer stay on the device? A method may bring it to the host
    out_predecessors: Array | None = None  # where to put the predecessors
    devices: tuple[str, ...] = ()  # those that share the matrix, where a method can split it

    @property
    def no_path(self) -> Any:
        """The value of a vertex that cannot be reached."""
        return NO_HOPS if self.hops else self.semiring.zero(self.dtype)

    def empty_values(self) -> Array:
        """Return an array for the values, one row per source, not filled: ``out`` if given."""
        if self.out is not None:
            return self.out
        return np.empty((len(self.sources), self.graph.n), dtype=self.dtype)

    def new_values(self) -> Array:
        """Return an array of "no path" for the values, one row per source: ``out`` if given."""
        values = self.empty_values()
        values[...] = self.no_path
        return values

    def new_horizons(self) -> Array:
        """Return one horizon per source, all of them without end."""
        farthest = self.semiring.zero(self.dtype)
        return np.full(len(self.sources), farthest, dtype=self.dtype)

    def empty_predecessors(self) -> Array | None:
        """Return an array for the predecessors, not filled, or None when they are not wanted.

        It is ``out_predecessors`` if given.
        """
        if not self.predecessors or self.out_predecessors is not None:
            return self.out_predecessors
        return np.empty((len(self.sources), self.graph.n), dtype=self.graph.id_dtype)

    def new_predecessors(self) -> Array | None:
        """Return an array of -1 for the predecessors, or None when they are not wanted."""
        predecessors = self.empty_predecessors()
        if predecessors is not None:
            predecessors[...] = -1
        return predecessors

    def report(self, done: int, total: int) -> None:
        """Tell the user's progress function, if there is one."""
        if self.progress is not None:
            self.progress(done, total)


@dataclass(eq=False)
class SpmvTask:
    """One product of a vector and a graph's matrix."""

    graph: Graph
    x: Array  # in the type of the answer
    semiring: str
    form: str
    threads: int
    device: str


@dataclass(eq=False)
class ComponentsTask:
    """The components of a graph."""

    graph: Graph
    threads: int


@dataclass(eq=False)
class BetweennessTask:
    """How many shortest paths lead through each vertex, and along each arc.

    A method returns two arrays of float64: for each vertex, and for each arc in the order of the
    CSR form (None unless ``arcs``), the sum over all ordered pairs of a source s and a target t,
    s != t, of the part of the shortest paths from s to t that lead through it. Ends of paths count
    for vertices only with ``endpoints``.
    """

    graph: Graph
    sources: Array  # positions, each at most once
    targets: Array | None  # positions, each at most once; None: all vertices
    hops: bool  # count arcs instead of adding weights
    limit: int | float | None  # paths that are longer do not count
    endpoints: bool
    arcs: bool
    threads: int
    progress: Progress | None = None  # called with (sources done, sources)
    device: str = "cpu"


@dataclass(eq=False)
class LoadsTask:
    """Trips on their shortest paths: how much goes along each arc."""

    graph: Graph
    origins: Array  # positions, one per trip
    destinations: Array
    volumes: Array  # float64, above zero
    split: bool  # equally over all shortest paths, instead of on one of them
    hops: bool  # count arcs instead of adding weights
    limit: int | float | None  # a path that is longer is none
    dtype: np.dtype[Any]  # of path lengths
    by_destination: bool  # searches start at the destinations, against the arcs
    threads: int
    progress: Progress | None = None
    prepared: Any = None  # the elimination and the values of its pairs, where the caller has them


class LoadsAnswer(NamedTuple):
    """What goes along each arc, in the order of the CSR form, and which trips have a path."""

    arcs: Array  # float64
    assigned: Array  # bool


@dataclass(eq=False)
class KShortestTask:
    """The shortest paths between the vertices of each pair, best first.

    Pair ``i`` is (``sources[i]``, ``targets[rows[i]]``).
    """

    graph: Graph
    sources: Array
    targets: Array
    rows: Array
    count: int  # paths for each pair
    remaining: Array  # float64 distances from every vertex to the targets, a row each
    threads: int
    progress: Progress | None = None


@dataclass(eq=False)
class EncodingsTask:
    """Distances in a batch of small graphs, into arrays padded to ``side`` vertices."""

    batch: Batch
    symmetric: bool
    side: int
    values: Array  # (graphs, side, side)
    max_distance: float
    unreachable: float
    pad: float
    path_arcs: Array | None  # (graphs, side, side, steps): the first arcs of each path
    threads: int


@dataclass(eq=False)
class WithinTask:
    """Searches that stop at a limit, or after so many vertices, one per source."""

    graph: Graph
    sources: Array
    limit: int | float | Array | None  # of all sources, or one each
    most: int | None  # vertices besides the source
    predecessors: bool
    dtype: np.dtype[Any]
    unit: bool  # every arc counts one
    threads: int
    progress: Progress | None = None


class WithinAnswer(NamedTuple):
    """What each source reaches, in compressed rows: vertices by position."""

    offsets: Array
    vertices: Array
    distances: Array
    predecessors: Array | None


@dataclass(eq=False)
class NearestTask:
    """One search for the ``k`` nearest facilities of every vertex: distances from them."""

    graph: Graph
    facilities: Array
    k: int
    limit: int | float | None
    dtype: np.dtype[Any]
    unit: bool  # every arc counts one
    threads: int
    progress: Progress | None = None
    prepared: Any = None  # the elimination and the values of its pairs, where the caller has them


@dataclass(eq=False)
class ProductTask:
    """A product of two matrices over a semiring; no extent is zero.

    A method returns the values, in ``out`` if that is given, and with ``argmin`` an int32 array:
    the smallest of the inner positions that attain the value, -1 for "no path".
    """

    left: Array  # rows x depth, and
    right: Array  # depth x columns, both of the answer's type and contiguous
    semiring: str
    no_path: Any  # in the factors and in the answer
    ends: tuple[Any, Any]  # between which the values of the answer are that are paths
    entries: tuple[Any, Any]  # the same of both factors
    argmin: bool
    threads: int
    device: str = "cpu"
    progress: Progress | None = None
    out: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the answer."""
        return self.left.shape[0], self.right.shape[1]

    def new_values(self) -> Array:
        """Return memory for the values: ``out`` if given."""
        return np.empty(self.shape, self.left.dtype) if self.out is None else self.out
