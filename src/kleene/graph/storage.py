"""The arrays of a graph, which never change, and its storage forms, made on demand and cached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.graph import checks
from kleene.graph.checks import holds
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
from kleene.graph.no_path import no_path
from kleene.graph.rows import EdgeRows
from kleene.graph.statistics import Statistics
from kleene.system.cached_property import cached_property
from kleene.system.formatting import type_name
from kleene.system.machine import threads_for

__all__ = ["Storage"]

Array = NDArray[Any]


class Storage:
    """What a Graph holds: canonical CSR arrays and what belongs to them."""

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
                from kleene.system.hints import missing

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
