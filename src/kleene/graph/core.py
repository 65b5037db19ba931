"""The Graph: immutable, stored as CSR; other forms are derived and cached.

The canonical form, on which all other modules rely: rows sorted by head, no parallel arcs, no
self-loops except negative ones (each a negative cycle), finite weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import Code, DeviceError, GraphError
from kleene.graph import checks, construct, convert, derive, tables
from kleene.graph.checks import holds
from kleene.graph.dense import DenseArcs, dense_arcs
from kleene.graph.display import graph_html, graph_text
from kleene.graph.fingerprint import fingerprint
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.forms import (
    COO,
    CSC,
    CSR,
    ELL,
    adopt,
    csr_to_coo,
    csr_to_dense,
    csr_to_ell,
    frozen,
)
from kleene.graph.labels import LabelIndex, is_one_vertex
from kleene.graph.nearest_vertex import NearestVertices, nearest_vertex
from kleene.graph.no_path import no_path
from kleene.graph.positions import as_crs, as_positions, crs_of, in_crs
from kleene.graph.rows import ArcRows, EdgeRows
from kleene.graph.statistics import Statistics
from kleene.graph.streets import JoinedEnds, from_geopandas
from kleene.graph.update import update
from kleene.graph.weight_names import keeping_numbers_left, numbers_left
from kleene.system.cached_property import cached_property
from kleene.system.devices import INDEXED, short_name, split_name
from kleene.system.formatting import type_name
from kleene.system.hints import hinted
from kleene.system.machine import threads_for
from kleene.system.suggestions import no_such

__all__ = ["Graph", "Progress"]

Array = NDArray[Any]
Progress = Callable[[int, int], object]


class Graph:
    """A directed graph with optional weights; an undirected one stores both directions.

    Make one with :meth:`from_edges`, :meth:`from_csr`, :meth:`from_scipy`, :meth:`from_dense`,
    :meth:`from_networkx`, :meth:`from_igraph`, :meth:`from_rustworkx`, :meth:`from_table` or
    :meth:`from_geopandas`, with
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
    crs : str or None
        The coordinate reference system of positions and geometry, if it is known.
    joined_ends : JoinedEnds or None
        Which ends of streets ``snap`` joined, if the graph was made with it.
    name : str
        A name for display, usually where the graph comes from.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
    Graph(3 vertices, 3 arcs, int64 weights 3 to 9, directed)
    """

    offsets: NDArray[np.int64]
    neighbors: Array
    weights: Array | None
    directed: bool
    labels: Array | None
    name: str
    positions: Array | None
    rows: EdgeRows | None

    def __init__(
        self,
        csr: CSR,
        directed: bool = True,
        labels: Array | None = None,
        name: str = "",
        positions: Array | None = None,
        rows: EdgeRows | None = None,
    ) -> None:
        """Keep canonical arrays without any check; use the ``from_*`` constructors."""
        if not isinstance(csr, CSR):
            raise GraphError(
                f"Graph(...) takes canonical CSR arrays, not {type_name(csr)}; make a graph "
                "with Graph.from_any(...), which takes a matrix, a table, edges, a file name or a "
                "graph of another library"
            )
        fields = dict(zip(CSR._fields, map(frozen, csr), strict=True))
        self.__dict__.update(
            fields, directed=directed, labels=frozen(labels), name=name,
            positions=frozen(positions), rows=rows,
        )  # fmt: skip

    if not TYPE_CHECKING:  # checkers of types report names that are not here

        def __getattr__(self, name: str) -> Any:
            """Make the CSR arrays of a graph that was made from a matrix."""
            arcs = self.__dict__.get("_dense_arcs")
            if arcs is None or name not in ("neighbors", "weights"):
                from kleene.system.hints import missing  # for an error

                raise AttributeError(missing(self, name), name=name, obj=self)
            _, neighbors, weights = map(adopt, arcs.csr())
            self.__dict__.update(neighbors=neighbors, weights=weights)
            return self.__dict__[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph is immutable: cannot delete {name!r}")

    # ---- storage forms --------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.offsets) - 1

    @property
    def m(self) -> int:
        """The number of arcs."""
        return int(self.offsets[-1])

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """The type of the weights; None for an unweighted graph."""
        if "weights" not in self.__dict__:  # made from a matrix
            return self.dense.dtype if self.__dict__["_dense_arcs"].weighted else None
        return None if self.weights is None else self.weights.dtype

    @property
    def fits_int32(self) -> bool:
        """Whether weights are integers and the sum of any two path lengths fits in int32."""
        kind = "i" if self.weight_dtype is None else self.weight_dtype.kind
        return kind == "i" and holds(np.dtype(np.int32), self.stats.path_bound)

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """The type of vertex ids: int32, or int64 from 2^31 vertices."""
        rows = self.__dict__.get("neighbors")  # a matrix never has that many vertices
        return np.dtype(np.int32) if rows is None else rows.dtype

    @property
    def csr(self) -> CSR:
        """Outgoing arcs by tail."""
        return CSR(self.offsets, self.neighbors, self.weights)

    @cached_property
    def csc(self) -> CSC:
        """Incoming arcs by head."""
        if not self.directed:
            return CSC(*self.csr)
        transposed = _native.csr_transpose(*self.csr, threads_for(self.m))
        return CSC(*map(adopt, transposed))

    @property
    def has_csc(self) -> bool:
        """Whether :attr:`csc` is available without work: it is cached, or equal to the CSR form."""
        return not self.directed or "csc" in self.__dict__

    @cached_property
    def coo(self) -> COO:
        """The source and target (tail and head) of every arc, by source."""
        sources, targets, weights = csr_to_coo(self.csr)
        return COO(adopt(sources), targets, weights)

    @cached_property
    def ell(self) -> ELL:
        """Rows padded to the length of the longest."""
        width = self.stats.max_degree
        item = self.neighbors.itemsize + (0 if self.weights is None else self.weights.itemsize)
        checks.require_memory(
            self.n * width * item,
            f"the ELL form with {self.n:,} rows of width {width:,}",
            "use the CSR form; ELL pads every row to the longest",
        )
        return ELL(*map(adopt, csr_to_ell(self.csr)))

    @cached_property
    def dense(self) -> Array:
        """The matrix of weights: 0 on the diagonal, infinity (or the largest integer) for no arc.

        An unweighted graph gives int32 with 1 for an arc, and one with an int32 weight of 2^31 - 1,
        which would mean "no arc", int64.
        """
        dtype = np.dtype(np.int32) if self.weights is None else self.weights.dtype
        if dtype.kind == "i" and self.stats.max_weight == no_path(dtype):
            if dtype == np.int64:
                raise GraphError(
                    f"the weight {no_path(dtype)} means 'no arc' in a matrix of int64; use the "
                    "CSR form, a sparse file such as .npz, or weights of float64"
                )
            dtype = np.dtype(np.int64)
        self.require_dense(dtype)
        matrix: Array = adopt(csr_to_dense(self.csr, dtype, no_path(dtype), 0))
        return matrix

    @property
    def has_dense(self) -> bool:
        """Whether :attr:`dense` is available without work: given as a matrix, or cached."""
        return "dense" in self.__dict__

    def require_dense(self, dtype: np.dtype[Any]) -> None:
        """Raise unless there is memory for a matrix of this type.

        Parameters
        ----------
        dtype : numpy.dtype
            The type of the entries.

        Examples
        --------
        >>> import kleene as kl, numpy as np
        >>> kl.Graph.from_edges([0], [1]).require_dense(np.dtype(np.float32))
        """
        checks.require_memory(
            self.n * self.n * dtype.itemsize,
            f"the dense form of {self.n:,} vertices",
            "use a sparse form",
        )

    @cached_property
    def stats(self) -> Statistics:
        """Degrees, density, weight range, symmetry, diameter estimate; computed on demand."""
        return Statistics(self)

    # ---- how to make one -----------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        sources: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike | None = None,
        n: int | None = None,
        directed: bool = True,
        *,
        combine: Literal["min", "max", "sum"] = "min",
        labels: Sequence[Any] | Array | None = None,
        name: str = "",
        keep_rows: bool = True,
        threads: int | None = None,
        progress: bool | Progress | None = None,
    ) -> Graph:
        """Make a graph from arrays of sources and targets, in any order.

        Parameters
        ----------
        sources, targets : integers
            Positions of vertices, from 0; for names use :meth:`from_table`.
        weights : numbers, optional
            One per arc, or one number for all arcs. Infinity means "no arc".
        n : int, optional
            The number of vertices; by default one more than the largest position.
        directed : bool
            If False, every edge becomes two arcs.
        combine : {"min", "max", "sum"}
            The weight of parallel arcs: the smallest, the largest, or the sum.
        labels : sequence, optional
            Names of the vertices, one each. In calls a vertex is then its label.
        name : str
            A name for display.
        keep_rows : bool
            Keep what :meth:`reweight` and routes need to speak of the edges in this order: eight
            bytes per edge.
        threads : int, optional
            Threads that sort the arcs; all cores by default.
        progress : bool or callable, optional
            True shows a bar, in a notebook or terminal. A function is called with (done, total)
            now and then.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5], n=4, directed=False)
        >>> g.n, g.m
        (4, 4)
        """
        return construct.from_edges(
            cls, sources, targets, weights, n, directed, combine, labels, name, keep_rows,
            threads, progress,
        )  # fmt: skip

    @classmethod
    def from_csr(
        cls,
        offsets: ArrayLike,
        neighbors: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        directed: bool = True,
        labels: Sequence[Any] | Array | None = None,
        name: str = "",
    ) -> Graph:
        """Make a graph from CSR arrays.

        Parameters
        ----------
        offsets : integers
            Where the arcs of each vertex begin in ``neighbors``; n + 1 numbers.
        neighbors : integers
            The heads of the arcs, by tail.
        weights : numbers, optional
            One per arc. Infinity means "no arc".
        directed : bool
            False only if every arc has a reverse arc of the same weight.
        labels : sequence, optional
            Names of the vertices, one each. In calls a vertex is then its label.
        name : str
            A name for display.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Graph.from_csr([0, 2, 3, 3], [1, 2, 2])
        Graph(3 vertices, 3 arcs, unweighted, directed)
        """
        return construct.from_csr(cls, offsets, neighbors, weights, directed, labels, name)

    @classmethod
    def from_scipy(cls, matrix: Any) -> Graph:
        """Make a graph from a SciPy sparse array or matrix of any format.

        Entry (i, j) is the weight of the arc from i to j; explicit zeros are arcs of weight zero.
        Duplicates in COO count as parallel arcs: the smallest is kept (SciPy would add them).
        A boolean matrix makes an unweighted graph.

        Parameters
        ----------
        matrix : sparse array or matrix
            Square, of any format and numeric type.

        Examples
        --------
        >>> import kleene as kl, scipy.sparse as sp
        >>> kl.Graph.from_scipy(sp.csr_array([[0, 2.5], [0, 0]]))
        Graph(2 vertices, 1 arc, float64 weights 2.5 to 2.5, directed)
        """
        return convert.from_scipy(cls, matrix)

    @classmethod
    def from_dense(cls, matrix: ArrayLike, null_value: Any = None) -> Graph:
        """Make a graph from a square array of weights.

        A boolean array makes an unweighted graph. The ``dense`` form of a graph makes that graph.

        Off the diagonal, a zero is an arc of weight zero if some entry means "no arc". Where none
        does, as in an adjacency matrix, the matrix is refused until ``null_value`` says what a zero
        means: 0 if zeros mean "no arc", as in SciPy and NetworkX, infinity if they are arcs.

        Parameters
        ----------
        matrix : array of shape (n, n)
            The weight of the arc from i to j at (i, j). Infinity means "no arc", and so does the
            largest value of an integer type, and a masked entry of a masked array.
        null_value : number, optional
            Another value that means "no arc"; infinity for none.

        Examples
        --------
        >>> import kleene as kl
        >>> inf = float("inf")
        >>> kl.Graph.from_dense([[0, 3, inf], [inf, 0, 1], [2, inf, 0]])
        Graph(3 vertices, 3 arcs, float64 weights 1 to 3, directed)
        >>> kl.Graph.from_dense([[0, 1, 0], [1, 0, 1], [0, 1, 0]], null_value=0)
        Graph(3 vertices, 4 arcs, int64 weights 1 to 1, directed)
        """
        return cls._from_matrix(dense_arcs(matrix, null_value))

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = "auto") -> Graph:
        """Make a graph from a NetworkX graph; its nodes become the labels.

        Of parallel edges in a multigraph the lightest is kept. Node attributes "x" and "y", or
        "pos", become the positions if all nodes have them. Rows are numbered as ``graph.edges``.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            The graph.
        weight : str or None
            The edge attribute that holds the weights; every edge must have it. "auto" takes the
            one called weight, w, cost, length, distance, time, minutes or km, and refuses two of
            them; None makes an unweighted graph.

        Examples
        --------
        >>> import kleene as kl, networkx as nx
        >>> g = kl.Graph.from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
        >>> g.index("c")
        2
        """
        return convert.from_networkx(cls, graph, weight)

    @classmethod
    def from_osmnx(cls, streets: Any, weight: str | None = "length") -> Graph:
        """Make a graph from a street network of OSMnx, with its coordinates and geometry.

        Nodes become the labels, x and y the positions. The rows, numbered as ``streets.edges``,
        have the geometry of the streets, so that routes follow them. Of parallel streets the
        lightest is kept. OSMnx itself is not needed.

        Parameters
        ----------
        streets : networkx.MultiDiGraph or MultiGraph
            The streets, as ``osmnx.graph_from_place`` and others return them. Nodes have x and y;
            an edge without "geometry" is straight.
        weight : str or None
            The edge attribute that holds the weights, such as "travel_time"; every edge must have
            it. None makes an unweighted graph.

        Examples
        --------
        >>> import kleene as kl, networkx as nx
        >>> streets = nx.MultiDiGraph(crs="epsg:4326")
        >>> streets.add_node(24960068, x=12.48, y=41.89)
        >>> streets.add_node(25413292, x=12.49, y=41.9)
        >>> bend = "LINESTRING (12.48 41.89, 12.48 41.9, 12.49 41.9)"
        >>> _ = streets.add_edge(24960068, 25413292, length=1947.3, geometry=bend)
        >>> g = kl.Graph.from_osmnx(streets)
        >>> g.labels.tolist(), g.rows.lines.coordinates[1].tolist()
        ([24960068, 25413292], [12.48, 41.9])
        """
        return convert.from_osmnx(cls, streets, weight)

    @classmethod
    def from_momepy(cls, streets: Any, weight: str | None = "auto") -> Graph:
        """Make a graph from a primal street network of momepy, with its coordinates and geometry.

        Nodes, points (x, y), become the labels and the positions. The rows, numbered as
        ``streets.edges``, have the geometry of the streets. Of parallel streets the lightest is
        kept. momepy itself is not needed.

        Parameters
        ----------
        streets : networkx.MultiGraph or MultiDiGraph
            The streets, as ``momepy.gdf_to_nx`` returns them.
        weight : str or None
            The edge attribute that holds the weights; every edge must have it. "auto" takes the one
            called weight, w, cost, length, distance, time, minutes or km, and refuses two of them;
            without one, and with "geometry", the length of the line: metres of longitude and
            latitude, else in the plane, as in ``mm_len``. None makes an unweighted graph.

        Examples
        --------
        >>> import kleene as kl, networkx as nx
        >>> streets = nx.MultiGraph(approach="primal", crs="EPSG:25832")
        >>> streets.add_node((500.0, 0.0), x=500.0, y=0.0)
        >>> streets.add_node((503.0, 4.0), x=503.0, y=4.0)
        >>> bend = "LINESTRING (500 0, 503 0, 503 4)"
        >>> _ = streets.add_edge((500.0, 0.0), (503.0, 4.0), geometry=bend, mm_len=7.0)
        >>> kl.Graph.from_any(streets).weights.tolist()
        [7.0, 7.0]
        """
        return convert.from_momepy(cls, streets, weight)

    @classmethod
    @hinted
    def from_geopandas(
        cls,
        streets: Any,
        weight: str | None = "auto",
        directed: bool | str | None = None,
        *,
        snap: float = 0,
    ) -> Graph:
        """Make a graph from a GeoDataFrame of lines, a street each; they meet where they end.

        The rows are those of the table, with the geometry, so that routes, isochrones and maps
        follow it. Vertices are numbered in the order in which they appear; those near a point are
        found by :meth:`nearest_vertex`. Of parallel streets the lightest is kept. If rows have a
        MultiLineString of several lines, each line is a row of its own, as after
        ``streets.explode(ignore_index=True)``, and the lines share the weight by their lengths.
        Points, polygons and missing geometry make no street; a warning counts them. Heights are
        ignored.

        Parameters
        ----------
        streets : geopandas.GeoDataFrame or GeoSeries
            The lines. Lines that cross elsewhere than at their ends do not meet.
        weight : str or None
            The column of the weights. "auto" takes the one called weight, w, cost, length,
            distance, time, minutes or km, and refuses two of them; without one, and with
            "geometry", it is the length of the line: metres along great circles of longitude and
            latitude, else in the plane, in the units of the coordinates. None makes an unweighted
            graph.
        directed : bool or str, optional
            Whether streets go one way only, from the first point of the line to the last, or the
            column that says which do: True, 1 or "yes"; False, 0, "no" or missing for both ways; -1
            or "reverse" for the way back (as in OpenStreetMap). By default all go both ways.
        snap : float
            Ends that are at most so far apart are one vertex, in metres of longitude and latitude,
            else in the units of the coordinates. :attr:`joined_ends` says which they were. With 0,
            only ends with equal coordinates are.

        Examples
        --------
        >>> import kleene as kl, geopandas as gpd
        >>> lines = gpd.GeoSeries.from_wkt(["LINESTRING (0 0, 3 0, 3 4)", "LINESTRING (3 4, 0 0)"])
        >>> g = kl.Graph.from_geopandas(gpd.GeoDataFrame({"oneway": ["no", "yes"]}, geometry=lines),
        ...                             directed="oneway")
        >>> kl.sssp(g, 0).route(1).distance, kl.sssp(g, 1).route(0).distance
        (7.0, 5.0)
        """
        return from_geopandas(cls, streets, weight, directed, snap)

    @classmethod
    def from_igraph(cls, graph: Any, weight: str | None = "auto") -> Graph:
        """Make a graph from an igraph graph; the vertex attribute "name" becomes the labels.

        Of parallel edges the lightest is kept. Vertex attributes "x" and "y" become the positions.

        Parameters
        ----------
        graph : igraph.Graph
            The graph.
        weight : str or None
            The edge attribute that holds the weights; every edge must have it. "auto" takes the
            one called weight, w, cost, length, distance, time, minutes or km, and refuses two of
            them; None makes an unweighted graph.

        Examples
        --------
        >>> import kleene as kl, igraph as ig
        >>> kl.Graph.from_igraph(ig.Graph.Ring(4))
        Graph(4 vertices, 4 edges, unweighted, undirected)
        """
        return convert.from_igraph(cls, graph, weight)

    @classmethod
    def from_rustworkx(
        cls, graph: Any, weight: str | Callable[[Any], Any] | None = "auto"
    ) -> Graph:
        """Make a graph from a rustworkx ``PyGraph`` or ``PyDiGraph``.

        Node payloads become the labels if they are hashable and unique; otherwise node indices do,
        if nodes were removed.

        Parameters
        ----------
        graph : rustworkx.PyGraph or PyDiGraph
            The graph.
        weight : str, callable or None
            Where the weight of an edge is in its payload: an entry of a dict, or a function of
            the payload. "auto" takes a number, or the entry called weight, w, cost, length,
            distance, time, minutes or km, and refuses two of them; without any, the graph is
            unweighted, as with None.

        Examples
        --------
        >>> import kleene as kl, rustworkx as rx
        >>> roads = rx.PyGraph()
        >>> rome, ostia = roads.add_nodes_from(["Rome", "Ostia"])
        >>> _ = roads.add_edge(rome, ostia, {"km": 28.5})
        >>> g = kl.Graph.from_rustworkx(roads, weight="km")
        >>> g.weights.tolist(), g.index("Ostia")
        ([28.5, 28.5], 1)
        """
        return convert.from_rustworkx(cls, graph, weight)

    @classmethod
    def from_any(cls, thing: Any, /, **options: Any) -> Graph:
        """Make a graph from an object of any supported type.

        Parameters
        ----------
        thing
            A Graph (returned unchanged); a SciPy sparse array; a square array of weights, of NumPy
            or of another library with DLPack; a NetworkX, igraph or rustworkx graph; a pandas,
            Polars or Arrow table, or a dict of columns, with columns "source", "target" and
            optionally "weight"; a GeoDataFrame of lines; a tuple (sources, targets) or (sources,
            targets, weights); an object with ``edge_index``, as in PyTorch Geometric; a file name.
        **options
            Keywords of the constructor for that type, such as ``weight="km"`` or
            ``directed=False``.

        Examples
        --------
        >>> import kleene as kl, networkx as nx, scipy.sparse as sp
        >>> kl.Graph.from_any(nx.path_graph(3))
        Graph(3 vertices, 2 edges, unweighted, undirected)
        >>> kl.Graph.from_any(([0, 1], [1, 2], [0.5, 1.5]), directed=False).m
        4
        """
        return convert.from_any(cls, thing, options)

    @classmethod
    def from_table(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = "auto",
        directed: bool | str = True,
        *,
        relabel: bool = True,
        nodes: Any = None,
        node: str = "id",
        x: str = "x",
        y: str = "y",
    ) -> Graph:
        """Make a graph from columns of a pandas, Polars or Arrow table, or a dict of arrays.

        The vertices are the names that occur: integers in increasing order, other names in order of
        first appearance. They become the labels unless they are 0 .. n - 1.

        Parameters
        ----------
        table : table or dict of columns
            One row per edge.
        source, target : str
            The columns of the two ends.
        weight : str or None
            The column of the weights. "auto" takes the one called weight, w, cost, length,
            distance, time, minutes or km, and refuses two of them; without one, the third column
            of three, if it holds numbers. None makes an unweighted graph.
        directed : bool or str
            Whether rows are arcs or undirected edges, or the column that says which rows are
            one-way: True, 1 or "yes"; False, 0, "no" or missing for both ways; -1 or "reverse"
            for one-way from target to source (as in OpenStreetMap).
        relabel : bool
            False takes integers as positions of vertices, instead of names.
        nodes : table or dict of columns, optional
            One row per vertex, also for those without edges; vertices are numbered in its order.
        node, x, y : str
            The columns of ``nodes``: the name of the vertex, and its position if both are there.

        Examples
        --------
        >>> import kleene as kl
        >>> streets = {"source": ["a", "b"], "target": ["b", "c"], "oneway": ["yes", "no"]}
        >>> g = kl.Graph.from_table(streets, directed="oneway")
        >>> g.m, list(g.labels)
        (3, ['a', 'b', 'c'])
        """
        return tables.from_table(
            cls, table, source, target, weight, directed, relabel, nodes, node, x, y
        )

    # ---- graphs like this one ------------------------------------------------------------

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
        names = ("_crs", "_numbers_left", "_joined_ends")
        kept = {name: self.__dict__.get(name) for name in names}
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

    def with_positions(self, positions: Any, crs: Any = None) -> Graph:
        """Return the graph with coordinates of its vertices, for maps and pictures.

        Parameters
        ----------
        positions : array or dict
            (x, y) of each vertex in the order of positions, or a dict from vertex to (x, y). For
            maps these are longitude and latitude. A pandas table is taken by its index, if that is
            not 0, 1, 2 ...: it names the vertices.
        crs : str, optional
            The coordinate reference system that they are in, such as "EPSG:4326" for longitude and
            latitude: :meth:`nearest_vertex` then measures in metres, and GeoJSON is converted.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1]).with_positions([(0, 0), (3, 4)])
        >>> g.positions.tolist()
        [[0.0, 0.0], [3.0, 4.0]]
        """
        made = self._derived(self.csr, positions=as_positions(self, positions))
        return in_crs(made, as_crs(crs))

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

    @property
    def crs(self) -> str | None:
        """The coordinate reference system of positions and geometry; None if it is unknown."""
        return crs_of(self)

    @property
    def joined_ends(self) -> JoinedEnds | None:
        """Which ends of streets ``snap`` joined; None if the graph was not made with it."""
        joined: JoinedEnds | None = self.__dict__.get("_joined_ends")
        return joined

    # ---- queries --------------------------------------------------------------------------

    @hinted
    def nearest_vertex(
        self,
        x: ArrayLike,
        y: ArrayLike,
        *,
        max_distance: float | None = None,
        threads: int | None = None,
    ) -> NearestVertices:
        """Return the vertices nearest to points, and how far they are.

        Distances are metres along great circles of a sphere of the Earth's mean radius if the
        positions are longitude and latitude, by :attr:`crs`; else they are straight lines in the
        units of the positions. The graph keeps the k-d tree that it makes in the first call. Of
        vertices in the same place, it is the first.

        Parameters
        ----------
        x, y : number or column
            Coordinates of one point, or of many, in the system of the positions: x is the
            longitude.
        max_distance : float, optional
            No vertex further away is found; a point without one has None, or a masked entry, and
            an infinite distance.
        threads : int, optional
            Threads that search; all cores by default.

        Returns
        -------
        NearestVertices
            (vertices, distances): a label and a number for a point, arrays for columns.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.generate.path(3).with_positions([(0, 0), (1, 0), (1, 1)], crs="EPSG:4326")
        >>> vertex, metres = g.nearest_vertex(0.9, 0.1)
        >>> vertex, round(metres)
        (1, 15725)
        >>> found = g.nearest_vertex([0.1, 50.0], [0.1, 9.0], max_distance=20_000)
        >>> found.vertices.tolist()
        [0, None]
        """
        return nearest_vertex(self, x, y, max_distance, threads)

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
