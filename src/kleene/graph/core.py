"""The Graph: immutable, stored as CSR; other forms are derived and cached.

The canonical form, on which all other modules rely: rows sorted by head, no parallel arcs, no
self-loops except negative ones (each a negative cycle), finite weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.errors import Code, DeviceError, GraphError
from kleene.graph import checks, convert, derive
from kleene.graph.constructors import Constructors, Progress
from kleene.graph.dense import DenseArcs
from kleene.graph.display import graph_html, graph_text
from kleene.graph.fingerprint import fingerprint
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.forms import CSC, CSR, adopt
from kleene.graph.labels import LabelIndex, is_one_vertex
from kleene.graph.positions import as_positions, crs_of, in_crs
from kleene.graph.rows import ArcRows
from kleene.graph.storage import Storage
from kleene.graph.update import update
from kleene.graph.weight_names import keeping_numbers_left, numbers_left
from kleene.system.cached_property import cached_property
from kleene.system.devices import INDEXED, short_name, split_name
from kleene.system.suggestions import no_such

__all__ = ["Graph", "Progress"]

Array = NDArray[Any]


class Graph(Storage, Constructors):
    """A directed graph with optional weights; an undirected one stores both directions.

    Make one with :meth:`from_edges`, :meth:`from_csr`, :meth:`from_scipy`, :meth:`from_dense`,
    :meth:`from_networkx`, :meth:`from_igraph`, :meth:`from_rustworkx` or :meth:`from_table`, with
    :meth:`from_any`, which chooses by the type of its argument, or with ``kleene.read`` and
    ``kleene.generate``.
    For every input, an infinite weight means "no arc", the lightest of parallel arcs is kept, and
    self-loops are then dropped unless negative.

    A graph never changes: it keeps copies of the arrays it is made from, and the arrays it gives
    out cannot be written to.

    Attributes
    ----------
    n, m : int
        The numbers of vertices and arcs. An undirected edge counts as two arcs.
    offsets, neighbors, weights : array
        The CSR arrays, read-only. ``weights`` is None for an unweighted graph.
    directed : bool
        False if the graph was made from undirected edges.
    labels : array or None
        The names of the vertices by position, if the input had names. A vertex is then its label,
        in all arguments and answers, also if labels are integers; see :meth:`unlabelled`.
    positions : array or None
        Coordinates (x, y) of the vertices, if the input had them; see :meth:`with_positions`.
    rows : EdgeRows or None
        The rows of the table that the graph was made from; see :attr:`arc_rows`.
    name : str
        A name for display, usually where the graph comes from.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
    Graph(3 vertices, 3 arcs, int64 weights 3 to 9, directed)
    """

    def _derived(self, csr: CSR, **changes: Any) -> Graph:
        """Return a graph with these arcs that is like this one in all but ``changes``."""
        names = ("directed", "labels", "name", "positions", "rows")
        made = Graph(csr, **{**{name: getattr(self, name) for name in names}, **changes})
        return keeping_numbers_left(in_crs(made, crs_of(self)), numbers_left(self))

    @classmethod
    def _from_matrix(cls, arcs: DenseArcs) -> Graph:
        """Wrap a canonical matrix; ``neighbors`` and ``weights`` are made on first access."""
        graph = cls.__new__(cls)
        graph.__dict__.update(
            offsets=adopt(arcs.offsets), dense=adopt(arcs.matrix), _dense_arcs=arcs,
            directed=True, labels=None, name="", positions=None, rows=None,
        )  # fmt: skip
        return graph

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: self.__dict__.get(name) for name in ("_crs", "_numbers_left")}
        return Graph, (
            self.csr, self.directed, self.labels, self.name, self.positions, self.rows
        ), kept  # fmt: skip

    # ---- device and conversion -------------------------------------------------------------

    def to(self, device: str) -> Graph:
        """Return the same graph with its arrays copied to a device.

        Every call on a GPU needs the arcs in GPU memory. A graph from ``to("cuda")`` holds them
        there, together with the forms that methods derive, so calls need not copy them again;
        ``device="auto"`` takes that into account. The memory is freed with the graph.
        ``to("cpu")`` returns the graph without device copies.

        Parameters
        ----------
        device : {"cuda", "cpu", "emulated"}
            The device; ``"cuda:1"`` is one of several GPUs, ``"emulated"`` the emulator of one.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.generate.grid(3, 3).to("emulated")
        >>> g.device
        'emulated'
        >>> kl.apsp(g, device=g.device).plan.device
        'emulated'
        """
        graph = self._derived(self.csr)
        graph.__dict__.update(self.__dict__)  # including the forms derived so far
        graph.__dict__.pop("placed", None)
        graph.__dict__.pop("_incoming", None)
        if not isinstance(device, str):
            raise DeviceError(Code("device"), f" must be a name, not {device!r}")
        if split_name(device)[0] in INDEXED:
            # By name: it is in a layer above, and is imported only when needed.
            placed = import_module("kleene.backends.cuda.graph").place(graph, device)
            graph.__dict__.update(placed=placed)
        elif device != "cpu":
            raise DeviceError(
                no_such("device", device, ("cuda", "cpu", "emulated")), option="device"
            )
        return graph

    @property
    def placed(self) -> Any:
        """The copies that :meth:`to` made on a device; None for a graph in host memory only."""
        return self.__dict__.get("placed")

    @property
    def device(self) -> str:
        """The device that holds copies of the arrays; ``"cpu"`` for host memory only."""
        return "cpu" if self.placed is None else short_name(self.placed.device)

    def to_scipy(self) -> Any:
        """Return a ``scipy.sparse.csr_array`` of the weights (ones when unweighted).

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Graph.from_edges([0], [1], [7]).to_scipy().toarray().tolist()
        [[0, 7], [0, 0]]
        """
        return convert.to_scipy(self)

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph``, or ``networkx.Graph`` when undirected, with the labels.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Graph.from_edges([0], [1], [7]).to_networkx().edges[0, 1]
        {'weight': 7}
        """
        return convert.to_networkx(self)

    # ---- derived graphs -------------------------------------------------------------------

    @cached_property
    def _transposed(self) -> Graph:
        rows = None if self.rows is None else self.rows.transpose()
        made = self._derived(CSR(*self.csc), rows=rows)
        made.__dict__["csc"] = CSC(*self.csr)
        return made

    def transpose(self) -> Graph:
        """Return the graph with every arc reversed; an undirected graph is its own.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Graph.from_edges([0], [1]).transpose().coo.sources.tolist()
        [1]
        """
        return self._transposed if self.directed else self

    def symmetrise(self, combine: Literal["min", "max", "sum"] = "min") -> Graph:
        """Return the undirected graph with an edge for every arc.

        Parameters
        ----------
        combine : {"min", "max", "sum"}
            The weight of an edge whose two arcs differ: the smaller, the larger, or the sum. Rows
            of the table are kept if the same rule combined parallel rows, or none were parallel.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 0], [5, 3]).symmetrise()
        >>> g.directed, g.weights.tolist()
        (False, [3, 3])
        """
        return derive.symmetrise(self, combine)

    def subgraph(self, vertices: ArrayLike) -> Graph:
        """Return the subgraph induced by these vertices, in the order given.

        Labels are kept; without labels, the old positions become the labels.

        Parameters
        ----------
        vertices : sequence of vertices
            Each at most once.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3]).subgraph([2, 3])
        >>> g.m, g.labels.tolist()
        (1, [2, 3])
        """
        return derive.subgraph(self, vertices)

    def reweight(
        self,
        weights: float | Callable[[Array, Array], ArrayLike] | None = None,
        *,
        rows: ArrayLike | None = None,
        arcs: ArrayLike | None = None,
    ) -> Graph:
        """Return the graph with other weights.

        Parameters
        ----------
        weights : number, function or None
            One number for all arcs, a function of the arrays (sources, targets) of positions, or
            None to drop the weights.
        rows : column, optional
            Instead: one weight per row of the table (or edge arrays, or file) that the graph was
            made from. The graph is the one that the table with this column would give, parallel
            rows, one-way streets and all. A pandas column is taken by its index, or refused if that
            is not the index of the table.
        arcs : array, optional
            Instead: one weight per arc, in the order of :attr:`coo`.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([1, 0], [2, 1], [3, 4])
        >>> g.reweight(rows=[30, 40]).weights.tolist()
        [40, 30]
        >>> g.reweight(arcs=[30, 40]).weights.tolist()
        [30, 40]
        >>> g.reweight(lambda s, t: 10 * s + t).weights.tolist()
        [1, 12]
        """
        return derive.reweight(self, weights, rows, arcs)

    def update(
        self,
        changes: Mapping[tuple[Any, Any], Any] | None = None,
        *,
        rows: Mapping[int, Any] | None = None,
    ) -> Graph:
        """Return the graph with other weights of some rows of its table, or of some arcs.

        Infinity closes a street, and leaves the type of the weights as it is. A later update may
        open it again. Where a row closes, parallel rows remain.

        Parameters
        ----------
        changes : dict, optional
            ``{(source, target): weight}``. In a graph made from a table, a pair stands for all rows
            that lead from source to target; a row that goes both ways changes in both directions.
            A finite weight is refused where several rows lead from one to the other, or where two
            pairs give a row that goes both ways different weights. In a graph without rows, a pair
            is an arc, or an edge of an undirected graph.
        rows : dict, optional
            Instead: ``{row: weight}``, by the number of the row in the table, from 0.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table(
        ...     {"source": ["a", "a"], "target": ["b", "b"], "weight": [5, 8]}, directed=False
        ... )
        >>> g.update(rows={0: 9}).weights.tolist()
        [8, 8]
        >>> g.update(rows={0: float("inf")}).weights.tolist()
        [8, 8]
        >>> g.update({("a", "b"): float("inf")}).m
        0
        """
        return update(self, changes, rows)

    def with_positions(self, positions: Any) -> Graph:
        """Return the graph with coordinates of its vertices, for maps and pictures.

        Parameters
        ----------
        positions : array or dict
            (x, y) of each vertex in the order of positions, or a dict from vertex to (x, y). For
            maps these are longitude and latitude. A pandas table is taken by its index, if that is
            not 0, 1, 2 ...: it names the vertices.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1]).with_positions([(0, 0), (3, 4)])
        >>> g.positions.tolist()
        [[0.0, 0.0], [3.0, 4.0]]
        """
        return in_crs(self._derived(self.csr, positions=as_positions(self, positions)), None)

    def unlabelled(self) -> Graph:
        """Return the graph without labels: its vertices are their positions, 0 .. n - 1.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table({"source": [7], "target": [9]})
        >>> kl.bfs(g, 7).path(9), kl.bfs(g.unlabelled(), 0).path(1)
        ([7, 9], [0, 1])
        """
        if self.labels is None:
            return self
        graph = self._derived(self.csr)
        graph.__dict__.update(self.__dict__)  # including the forms derived so far
        graph.__dict__.update(labels=None)
        for name in ("_transposed", "_labels"):
            graph.__dict__.pop(name, None)
        return graph

    # ---- queries --------------------------------------------------------------------------

    @cached_property
    def _labels(self) -> LabelIndex:
        return LabelIndex(self.labels, self.n)

    def index(self, vertices: Any) -> Any:
        """Return the position of a vertex, or the array of positions of several vertices.

        Parameters
        ----------
        vertices : label, or list or array of labels
            In a graph without labels a vertex is its position, which is checked. A tuple is one
            label.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table({"source": ["x"], "target": ["y"]})
        >>> g.index("y"), g.index(["y", "x"])
        (1, array([1, 0], dtype=int32))
        """
        if is_one_vertex(vertices):
            return self._labels.position(vertices)
        return self._labels.positions(vertices)

    def label(self, positions: Any) -> Any:
        """Return the label of the vertex at a position, or the array of labels of several.

        In a graph without labels this is the position.

        Parameters
        ----------
        positions : int, or array of int
            Positions, 0 .. n - 1.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table({"source": ["x"], "target": ["y"]})
        >>> g.label(1), g.label([1, 0]).tolist()
        ('y', ['y', 'x'])
        """
        if isinstance(positions, (int, np.integer)):
            if self.labels is None:
                return int(positions)
            label = self.labels[positions]
            return label.item() if isinstance(label, np.generic) else label
        checks.require_unmasked(positions, "positions", "leave them out")
        array = np.asarray(
            as_numpy(positions, "positions"), dtype=None if len(positions) else np.int64
        )
        if array.dtype.kind not in "iub":
            raise GraphError(
                f"positions must be integers, not {array.dtype}; for labels, use index"
            )
        return array if self.labels is None else self.labels[array]

    @cached_property
    def arc_rows(self) -> ArcRows:
        """The table row of each arc, in the order of :attr:`coo`, and whether it runs against it.

        Of parallel rows it is the first of the lightest; with ``combine="max"`` of the heaviest,
        and with ``combine="sum"``, where all make the arc, of all.
        """
        if self.rows is None:
            return ArcRows(adopt(np.full(self.m, -1)), adopt(np.zeros(self.m, bool)))
        return self.rows.of_arcs(self.csr)

    def equals(self, other: object) -> bool:
        """Return whether the other graph has the same vertices, arcs, weights and labels.

        Parameters
        ----------
        other : Graph
            The graph to compare with; anything else is not equal.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1])
        >>> g.equals(kl.Graph.from_csr([0, 1, 1], [1]))
        True
        """
        if not isinstance(other, Graph):
            return False
        pairs = zip((*self.csr, self.labels), (*other.csr, other.labels), strict=True)
        return all(
            (a is None) == (b is None)
            and (a is None or b is None or (a.dtype == b.dtype and np.array_equal(a, b)))
            for a, b in pairs
        )

    def _digest(self) -> str:
        """Return what stores keep to recognize the graph: vertices, arcs, and a checksum."""
        return " ".join(map(str, fingerprint(self)))

    def __repr__(self) -> str:
        return graph_text(self)

    def _repr_html_(self) -> str:
        return graph_html(self)
