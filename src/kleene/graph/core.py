"""The Graph: immutable, stored as CSR; other forms are derived and cached.

The canonical form, on which all other modules rely: rows sorted by head, no parallel arcs, no
self-loops except negative ones (each a negative cycle), finite weights.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import DeviceError, GraphError
from kleene.graph import checks, convert
from kleene.graph.dense import DenseArcs, dense_arcs
from kleene.graph.forms import COO, CSC, CSR, ELL, csr_to_coo, csr_to_dense, csr_to_ell
from kleene.graph.from_any import from_any
from kleene.graph.frozen import adopt, frozen
from kleene.graph.labels import as_labels
from kleene.graph.no_path import no_path
from kleene.graph.statistics import Statistics
from kleene.system.cached_property import cached_property
from kleene.system.machine import as_threads, threads_for

__all__ = ["Graph", "Progress"]

Array = NDArray[Any]
Progress = Callable[[int, int], object]


class Graph:
    """A directed graph with optional weights; an undirected one stores both directions.

    Make one with :meth:`from_edges`, :meth:`from_csr`, :meth:`from_scipy`, :meth:`from_dense`,
    :meth:`from_networkx`, :meth:`from_igraph`, :meth:`from_rustworkx` or :meth:`from_table`, with
    :meth:`from_any`, which chooses by the type of its argument, or with ``kleene.read`` and
    ``kleene.generate``.
    For every input, the lightest of parallel arcs is kept, self-loops are dropped unless negative,
    and an infinite weight means "no arc".

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
        The names of the vertices by vertex id, if the input had names.
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

    def __init__(
        self, csr: CSR, directed: bool = True, labels: Array | None = None, name: str = ""
    ) -> None:
        """Keep canonical arrays without any check; prefer the ``from_*`` constructors."""
        fields = dict(zip(CSR._fields, map(frozen, csr), strict=True))
        self.__dict__.update(fields, directed=directed, labels=frozen(labels), name=name)

    @classmethod
    def _from_matrix(cls, arcs: DenseArcs) -> Graph:
        """Wrap a canonical matrix; ``neighbors`` and ``weights`` are made on first access."""
        graph = cls.__new__(cls)
        graph.__dict__.update(
            offsets=adopt(arcs.offsets), dense=adopt(arcs.matrix), _dense_arcs=arcs,
            directed=True, labels=None, name="",
        )  # fmt: skip
        return graph

    def __getattr__(self, name: str) -> Any:
        """Make the CSR arrays of a graph that was made from a matrix."""
        arcs = self.__dict__.get("_dense_arcs")
        if arcs is None or name not in ("neighbors", "weights"):
            raise AttributeError(f"a Graph has no attribute {name!r}")
        _, neighbors, weights = map(adopt, arcs.csr())
        self.__dict__.update(neighbors=neighbors, weights=weights)
        return self.__dict__[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self.csr, self.directed, self.labels, self.name)

    # ---- construction ---------------------------------------------------------------------

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
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Graph:
        """Make a graph from arrays of sources and targets, in any order.

        Parameters
        ----------
        sources, targets : integers
            Vertex ids, from 0.
        weights : numbers, optional
            One per arc, or one number for all arcs. Infinity means "no arc".
        n : int, optional
            The number of vertices; by default one more than the largest id.
        directed : bool
            If False, every edge becomes two arcs.
        combine : {"min", "max", "sum"}
            The weight of parallel arcs: the smallest, the largest, or the sum.
        labels : sequence, optional
            Names of the vertices.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5], n=4, directed=False)
        >>> g.n, g.m
        (4, 4)
        """
        directed = checks.as_flag(directed, "directed")
        sources = checks.as_ids(sources, "sources")
        targets = checks.as_ids(targets, "targets")
        if len(sources) != len(targets):
            raise GraphError(
                f"sources and targets differ in length: {len(sources)} and {len(targets)}"
            )
        weights = checks.as_weights(weights, "weights")
        if weights is not None and weights.ndim == 0:
            weights = np.full(len(sources), weights)
        if weights is not None and weights.shape != sources.shape:
            raise GraphError(f"got {weights.size} weights for {len(sources)} arcs")
        if not isinstance(combine, str) or combine not in ("min", "max", "sum"):
            raise GraphError(f"combine must be 'min', 'max' or 'sum', not {combine!r}")
        if sources.dtype != targets.dtype:
            sources, targets = sources.astype(np.int64), targets.astype(np.int64)

        if n is None:
            n = 1 + max(int(sources.max(initial=-1)), int(targets.max(initial=-1)))
        n = checks.as_vertex_count(n)
        if n > checks.MOST_INT32_VERTICES and sources.dtype == np.int32:
            sources, targets = sources.astype(np.int64), targets.astype(np.int64)
        if combine == "sum" and weights is not None:
            weights = checks.as_summable(weights)
        kept = None if labels is None else as_labels(labels, n)
        available = checks.memory_for(_most_build_bytes(n, sources, weights, directed))
        try:
            csr = _native.build_csr(
                n,
                sources,
                targets,
                weights,
                symmetric=not directed,
                combine=combine,
                available=available,
                threads=threads_for(len(sources), as_threads(threads)),
                progress=progress,
            )
        except _native.BadArc as bad:
            raise checks.explain_bad_arc(bad, n, sources, targets, weights) from None
        except _native.MemoryNeeded as needed:
            raise checks.over_budget(
                needed.args[0], available, f"a graph of {n:,} vertices",
                "if few vertices have arcs, renumber them to 0 .. n - 1, as "
                "kleene.Graph.from_table does",
            ) from None  # fmt: skip
        if combine == "sum":
            checks.require_finite(csr[2])
        return cls(CSR(*map(adopt, csr)), directed, kept, name)

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

        Pass ``directed=False`` only if every arc has a reverse arc of the same weight.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Graph.from_csr([0, 2, 3, 3], [1, 2, 2])
        Graph(3 vertices, 3 arcs, unweighted, directed)
        """
        directed = checks.as_flag(directed, "directed")
        starts = checks.as_ids(offsets, "offsets")
        ends = checks.as_ids(neighbors, "neighbors")
        values = checks.as_weights(weights, "weights")
        n = len(starts) - 1
        checks.require_memory(
            9 * len(starts) + ends.nbytes + (0 if values is None else values.nbytes),
            f"a graph of {n:,} vertices",
            "make a smaller graph",
        )
        starts = checks.own(starts.astype(np.int64, copy=False), offsets)  # check what is kept
        if n < 0 or starts[0] != 0 or starts[-1] != len(ends):
            found = "empty" if n < 0 else f"{starts[0]} .. {starts[-1]}"
            raise GraphError(
                f"offsets must run from 0 to the number of arcs, {len(ends)}, but are {found}"
            )
        decreases = np.flatnonzero(starts[1:] < starts[:-1])
        if len(decreases):
            at = int(decreases[0])
            raise GraphError(
                f"offsets must not decrease, but offsets[{at}] = {starts[at]} and "
                f"offsets[{at + 1}] = {starts[at + 1]}"
            )
        if values is not None and values.shape != ends.shape:
            raise GraphError(f"got {values.size} weights for {len(ends)} arcs")
        if ends.dtype == np.int64 and n <= checks.MOST_INT32_VERTICES:
            if len(ends) and (ends.min() < 0 or ends.max() >= n):
                at = int(np.flatnonzero((ends < 0) | (ends >= n))[0])
                raise checks.explain_bad_arc(_native.BadArc("target", at), n, None, ends, values)
            ends = ends.astype(np.int32)
        else:
            ends = checks.own(ends, neighbors)
        if values is not None:
            values = checks.own(values, weights)
        csr = CSR(starts, ends, values)
        try:
            canonical = _native.is_canonical(starts, ends, values, threads_for(len(ends)))
        except _native.BadArc as bad:
            raise checks.explain_bad_arc(bad, n, None, ends, values) from None
        if canonical:
            kept = None if labels is None else as_labels(labels, n)
            graph = cls(CSR(*map(adopt, csr)), labels=kept, name=name)
        else:
            checks.require_memory(
                16 * n + ends.nbytes, f"sorting the arcs of {n:,} vertices", "make a smaller graph"
            )
            coo = csr_to_coo(csr)
            graph = cls.from_edges(coo.sources, coo.targets, values, n=n, labels=labels, name=name)
        if directed:
            return graph
        if not graph.stats.symmetric:
            raise GraphError(
                "directed=False, but some arc has no reverse arc of the same weight; "
                "omit directed=False, or use symmetrise()"
            )
        return cls(graph.csr, directed, graph.labels, name)

    @classmethod
    def from_scipy(cls, matrix: Any) -> Graph:
        """Make a graph from a SciPy sparse array or matrix of any format.

        Entry (i, j) is the weight of the arc from i to j; explicit zeros are arcs of weight zero.
        Duplicates in COO count as parallel arcs: the smallest is kept (SciPy would add them).
        A boolean matrix makes an unweighted graph.

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

        Infinity means "no arc" (for integers, the largest value of the type), and so does
        ``null_value``. A zero off the diagonal is an arc of weight zero: pass ``null_value=0`` for
        the habit of SciPy. A boolean array makes an unweighted graph.

        Examples
        --------
        >>> import kleene as kl
        >>> inf = float("inf")
        >>> kl.Graph.from_dense([[0, 3, inf], [inf, 0, 1], [2, inf, 0]])
        Graph(3 vertices, 3 arcs, float64 weights 1 to 3, directed)
        """
        return cls._from_matrix(dense_arcs(matrix, null_value))

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = "weight") -> Graph:
        """Make a graph from a NetworkX graph; its nodes become the labels.

        Edges without the attribute ``weight`` have weight 1; if none has it, or ``weight=None``,
        the graph is unweighted. Of parallel edges in a multigraph the lightest is kept.

        Examples
        --------
        >>> import kleene as kl, networkx as nx
        >>> g = kl.Graph.from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
        >>> g.index("c")
        2
        """
        return convert.from_networkx(cls, graph, weight)

    @classmethod
    def from_igraph(cls, graph: Any, weight: str | None = "weight") -> Graph:
        """Make a graph from an igraph graph; the vertex attribute "name" becomes the labels.

        Edges without the attribute ``weight`` have weight 1; if none has it, or ``weight=None``,
        the graph is unweighted. Of parallel edges the lightest is kept.

        Examples
        --------
        >>> import kleene as kl, igraph as ig
        >>> kl.Graph.from_igraph(ig.Graph.Ring(4))
        Graph(4 vertices, 4 edges, unweighted, undirected)
        """
        return convert.from_igraph(cls, graph, weight)

    @classmethod
    def from_rustworkx(
        cls, graph: Any, weight: str | Callable[[Any], Any] | None = "weight"
    ) -> Graph:
        """Make a graph from a rustworkx ``PyGraph`` or ``PyDiGraph``.

        The weight of an edge comes from its payload: a number, the entry ``weight`` of a dict, or
        the value of ``weight(payload)`` if ``weight`` is a function; None counts as 1. If all
        payloads are None, or ``weight=None``, the graph is unweighted. Node payloads become the
        labels if they are hashable and unique; otherwise node indices do, if nodes were removed.

        Examples
        --------
        >>> import kleene as kl, rustworkx as rx
        >>> roads = rx.PyGraph()
        >>> rome, ostia = roads.add_nodes_from(["Rome", "Ostia"])
        >>> _ = roads.add_edge(rome, ostia, {"km": 28.5})
        >>> g = kl.Graph.from_rustworkx(roads, weight="km")
        >>> g, g.index("Ostia")
        (Graph(2 vertices, 1 edge, float64 weights 28.5 to 28.5, undirected, labelled), 1)
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
        return from_any(cls, thing, options)

    @classmethod
    def from_table(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: bool = True,
        *,
        relabel: bool = True,
    ) -> Graph:
        """Make a graph from columns of a pandas, Polars or Arrow table, or a dict of arrays.

        The vertices are the names that occur: integers in increasing order, other names in order of
        first appearance. They become the labels unless they are 0 .. n - 1. With
        ``relabel=False`` integers are vertex ids.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table({"source": ["a", "b"], "target": ["b", "c"]})
        >>> list(g.labels)
        ['a', 'b', 'c']
        """
        return convert.from_table(cls, table, source, target, weight, directed, relabel)

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
        return kind == "i" and 2 * self.stats.path_bound < np.iinfo(np.int32).max

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

        An unweighted graph gives int32 with 1 for an arc.
        """
        dtype = np.dtype(np.int32) if self.weights is None else self.weights.dtype
        self.require_dense(dtype)
        matrix: Array = adopt(csr_to_dense(self.csr, dtype, no_path(dtype), 0))
        return matrix

    @property
    def has_dense(self) -> bool:
        """Whether :attr:`dense` is available without work: given as a matrix, or cached."""
        return "dense" in self.__dict__

    def require_dense(self, dtype: np.dtype[Any]) -> None:
        """Raise unless there is memory for a matrix of this type.

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
            The device; ``"emulated"`` is the emulator of a GPU on the CPU.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.generate.grid(3, 3).to("emulated")
        >>> g.device
        'emulated'
        >>> kl.apsp(g, device=g.device).plan.device
        'emulated'
        """
        graph = Graph(self.csr, self.directed, self.labels, self.name)
        graph.__dict__.update(self.__dict__)  # including the forms derived so far
        graph.__dict__.pop("placed", None)
        if not isinstance(device, str):
            raise DeviceError(f"device must be a name, not {device!r}")
        if device in ("cuda", "emulated"):
            # By name: it is in a layer above, and is imported only when needed.
            placed = import_module("kleene.backends.cuda.device_graph").place(graph, device)
            graph.__dict__.update(placed=placed)
        elif device != "cpu":
            raise DeviceError(f"no device {device!r}; choose 'cuda', 'cpu' or 'emulated'")
        return graph

    @property
    def placed(self) -> Any:
        """The copies that :meth:`to` made on a device; None for a graph in host memory only."""
        return self.__dict__.get("placed")

    @property
    def device(self) -> str:
        """The device that holds copies of the arrays; ``"cpu"`` for host memory only."""
        return "cpu" if self.placed is None else str(self.placed.device.kind)

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
        return Graph(CSR(*self.csc), self.directed, self.labels, self.name)

    def transpose(self) -> Graph:
        """Return the graph with every arc reversed.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.Graph.from_edges([0], [1]).transpose().coo.sources.tolist()
        [1]
        """
        return self._transposed

    def symmetrise(self, combine: Literal["min", "max", "sum"] = "min") -> Graph:
        """Return the undirected graph with an edge for every arc; ``combine`` sets the weight.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 0], [5, 3]).symmetrise()
        >>> g.directed, g.weights.tolist()
        (False, [3, 3])
        """
        if isinstance(combine, str) and combine == "min":
            if self.stats.symmetric:
                return Graph(self.csr, False, self.labels, self.name)
            arc = self.neighbors.itemsize + (0 if self.weights is None else self.weights.itemsize)
            checks.require_memory(  # the reverse arcs, and the union
                16 * (self.n + 1) + 3 * arc * self.m,
                f"the undirected form of {self.m:,} arcs",
                "use a machine with more memory",
            )
            joined = _native.csr_union(*self.csr, *self.csc, threads_for(self.m))
            return Graph(CSR(*map(adopt, joined)), False, self.labels, self.name)
        s, t, w = self.coo
        return Graph.from_edges(
            s, t, w, self.n, directed=False, combine=combine, labels=self.labels, name=self.name
        )

    def subgraph(self, vertices: ArrayLike) -> Graph:
        """Return the subgraph induced by these vertices, renumbered in the order given.

        Labels are kept; without labels, the old ids become the labels.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3]).subgraph([2, 3])
        >>> g.m, g.labels.tolist()
        (1, [2, 3])
        """
        chosen = checks.as_ids(vertices, "vertices")
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.n):
            bad = chosen[(chosen < 0) | (chosen >= self.n)][0]
            raise GraphError(f"vertices contains {bad}; the graph's vertices are 0 to {self.n - 1}")
        new_id = np.full(self.n, -1, dtype=self.neighbors.dtype)
        new_id[chosen] = np.arange(len(chosen))
        if len(chosen) != np.count_nonzero(new_id >= 0):
            raise GraphError("vertices contains a vertex more than once")
        s, t, w = self.coo
        kept = (new_id[s] >= 0) & (new_id[t] >= 0)
        graph = Graph.from_edges(
            new_id[s[kept]],
            new_id[t[kept]],
            None if w is None else w[kept],
            n=len(chosen),
            labels=chosen if self.labels is None else self.labels[chosen],
            name=self.name,
        )
        return Graph(graph.csr, self.directed, graph.labels, self.name)

    def reweight(self, weights: ArrayLike | Callable[[Array, Array], ArrayLike] | None) -> Graph:
        """Return the graph with the same arcs and other weights.

        ``weights`` is one number per arc in the order of :attr:`coo`, one number for all arcs, None
        to drop the weights, or a function of the arrays (sources, targets).

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2])
        >>> g.reweight(lambda s, t: 10 * s + t).weights.tolist()
        [1, 12]
        """
        s, t, _ = self.coo
        values = weights(s, t) if callable(weights) else weights
        graph = Graph.from_edges(s, t, values, n=self.n, labels=self.labels, name=self.name)
        undirected = not self.directed and graph.stats.symmetric
        return Graph(graph.csr, not undirected, graph.labels, self.name)

    # ---- queries --------------------------------------------------------------------------

    @cached_property
    def stats(self) -> Statistics:
        """Degrees, density, weight range, symmetry, diameter estimate; computed on demand."""
        return Statistics(self)

    @cached_property
    def _ids(self) -> dict[Hashable, int]:
        assert self.labels is not None
        return {label: i for i, label in enumerate(self.labels.tolist())}

    def index(self, label: Any) -> Any:
        """Return the position of a label; an array of positions for a sequence of labels."""
        if isinstance(label, (list, np.ndarray)) or type(label).__name__ in ("Series", "Index"):
            items = label.tolist() if hasattr(label, "tolist") else label
            return np.array([self.index(x) for x in items], dtype=self.id_dtype)
        if self.labels is None:
            if isinstance(label, (int, np.integer)) and not isinstance(label, (bool, np.bool_)):
                if 0 <= label < self.n:
                    return int(label)
                span = (
                    f"the graph's vertices are 0 to {self.n - 1}"
                    if self.n
                    else "the graph is empty"
                )
                raise GraphError(f"no vertex {label}: {span}")
            raise GraphError(
                f"no vertex {label!r}: vertices are integers, and this graph has no labels"
            )
        try:
            return self._ids[label]
        except (KeyError, TypeError):
            raise GraphError(f"no vertex has the label {label!r}") from None

    def label(self, positions: Any) -> Any:
        """Return the label at a position, or labels at positions."""
        if self.labels is None:
            return positions
        found = self.labels[positions]
        return found.item() if isinstance(found, np.generic) else found

    def unlabelled(self) -> Graph:
        """Return the same graph without labels."""
        return Graph(self.csr, self.directed, None, self.name)

    def equals(self, other: object) -> bool:
        """Return whether the other graph has the same vertices, arcs, weights and labels.

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

    def __repr__(self) -> str:
        if self.weight_dtype is None:
            weights = "unweighted"
        elif self.m == 0:
            weights = f"{self.weight_dtype} weights"
        else:
            low, high = self.stats.min_weight, self.stats.max_weight
            weights = f"{self.weight_dtype} weights {low:.6g} to {high:.6g}"
        if self.directed:
            arcs, kind = f"{self.m:,} arc{'s' * (self.m != 1)}", "directed"
        else:
            edges = self.m // 2
            arcs, kind = f"{edges:,} edge{'s' * (edges != 1)}", "undirected"
        name = f"{self.name!r}, " if self.name else ""
        vertices = f"{self.n:,} {'vertex' if self.n == 1 else 'vertices'}"
        labelled = ", labelled" if self.labels is not None else ""
        where = "" if self.device == "cpu" else f", on {self.device}"
        return f"Graph({name}{vertices}, {arcs}, {weights}, {kind}{labelled}{where})"


def _most_build_bytes(n: int, sources: Array, weights: Array | None, directed: bool) -> int:
    """Return more than the native core can take to build the CSR form; it computes how much."""
    per_arc = 36 if weights is None else 60
    return 8 * (n + 1) + per_arc * len(sources) * (1 if directed else 2)
