"""The ways to make a Graph: what each takes, and what it makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from numpy.typing import ArrayLike, NDArray

from kleene.graph import construct, convert, tables
from kleene.graph import convert as osmnx
from kleene.graph.convert import from_any
from kleene.graph.dense import dense_arcs

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["Constructors", "Progress"]

Array = NDArray[Any]
Progress = Callable[[int, int], object]


class Constructors:
    """The class methods of Graph that make one."""

    @classmethod
    def _graph(cls) -> type[Graph]:
        return cast("type[Graph]", cls)

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
            cls._graph(), sources, targets, weights, n, directed, combine, labels, name, keep_rows,
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
        return construct.from_csr(cls._graph(), offsets, neighbors, weights, directed, labels, name)

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
        return convert.from_scipy(cls._graph(), matrix)

    @classmethod
    def from_dense(cls, matrix: ArrayLike, null_value: Any = None) -> Graph:
        """Make a graph from a square array of weights.

        A boolean array makes an unweighted graph. The ``dense`` form of a graph makes that graph.

        Off the diagonal, a zero is an arc of weight zero if some entry means "no arc". Where none
        does, as in an adjacency matrix, the matrix is refused until ``null_value`` says what a zero
        means: 0 if it is no arc, as in SciPy and NetworkX, infinity if it is an arc.

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
        return cls._graph()._from_matrix(dense_arcs(matrix, null_value))

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
        return convert.from_networkx(cls._graph(), graph, weight)

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
        return osmnx.from_osmnx(cls._graph(), streets, weight)

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
        return convert.from_igraph(cls._graph(), graph, weight)

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
        return convert.from_rustworkx(cls._graph(), graph, weight)

    @classmethod
    def from_any(cls, thing: Any, /, **options: Any) -> Graph:
        """Make a graph from an object of any supported type.

        Parameters
        ----------
        thing
            A Graph (returned unchanged); a SciPy sparse array; a square array of weights, of NumPy
            or of another library with DLPack; a NetworkX, igraph or rustworkx graph; a pandas,
            Polars or Arrow table, or a dict of columns, with columns "source", "target" and
            optionally "weight"; a tuple (sources, targets) or (sources, targets, weights); an
            object with ``edge_index``, as in PyTorch Geometric; a file name.
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
        return from_any(cls._graph(), thing, options)

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
            cls._graph(), table, source, target, weight, directed, relabel, nodes, node, x, y
        )
