"""A number for each vertex of a graph, as calls such as ``kl.closeness`` return it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Timings
from kleene.errors import Code, GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.forms import adopt
from kleene.measures.display import measure_html
from kleene.planning.plan import Plan
from kleene.proofs.paths import Proof
from kleene.results.long_table import LongTable
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.formatting import counted

__all__ = ["Measure"]

Array = NDArray[Any]


class Measure(LongTable):
    """A number for each vertex of a graph.

    It works as a NumPy array (``np.asarray(measure)``), a mapping from vertices to numbers
    (``measure["Rome"]``, ``measure.items()``, ``measure.to_dict()``) and a table
    (``measure.to_frame()``, ``measure.save("x.parquet")``). As in a pandas Series, a loop goes over
    the numbers, and ``in`` asks for a vertex.

    Attributes
    ----------
    graph : Graph
        The graph that was measured.
    name : str
        What was measured: the name of the column in tables.
    values : array
        The number of each vertex, by position.
    plan : Plan
        What ran, and why.
    stats : Timings
        How many seconds it took.
    """

    graph: Graph
    name: str
    values: Array
    plan: Plan
    stats: Timings

    def __init__(self, graph: Graph, name: str, values: Array, plan: Plan, stats: Timings) -> None:
        self.graph, self.name, self.plan, self.stats = graph, name, plan, stats
        self.values = adopt(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, vertices: Any) -> Any:
        """Return the number of a vertex, or the array of numbers of several.

        Vertices are labels where the graph has labels.
        """
        if isinstance(vertices, slice):
            raise RequestError(
                "a slice does not name vertices: give labels, or positions where the graph has no "
                "labels; for a part of the array, slice .values[:2]"
            )
        found = self.values[self.graph.index(vertices)]
        return found.item() if isinstance(found, np.generic) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def __contains__(self, vertex: Any) -> bool:
        if not isinstance(vertex, Hashable):
            return False
        try:
            found = self.graph.index(vertex)
        except GraphError:
            return False
        return np.ndim(found) == 0  # several vertices are not one

    def keys(self) -> list[Any]:
        """Return the vertices, by label where the graph has labels.

        Examples
        --------
        >>> import kleene as kl
        >>> dict(kl.betweenness(kl.generate.path(3)))
        {0: 0.0, 1: 1.0, 2: 0.0}
        """
        labels: list[Any] = self.graph.label(np.arange(len(self))).tolist()
        return labels

    def items(self) -> list[tuple[Any, Any]]:
        """Return the vertices, by label where the graph has labels, with their numbers.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.betweenness(kl.generate.path(3)).items()
        [(0, 0.0), (1, 1.0), (2, 0.0)]
        """
        return list(zip(self.keys(), self.values.tolist(), strict=True))

    def to_dict(self) -> dict[Any, Any]:
        """Return a dict from vertices, by label where the graph has labels, to numbers.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.betweenness(kl.generate.path(3)).to_dict()
        {0: 0.0, 1: 1.0, 2: 0.0}
        """
        return dict(self.items())

    def top(self, count: int = 10) -> list[tuple[Any, Any]]:
        """Return the vertices with the largest numbers, as (vertex, number), the largest first.

        Of equal ones the first in the order of the graph comes first.

        Parameters
        ----------
        count : int
            How many at most.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.betweenness(kl.generate.path(4), normalized=False).top(3)
        [(1, 2.0), (2, 2.0), (0, 0.0)]
        """
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 0:
            raise RequestError(Code("count"), f" must be a number of vertices, not {count!r}")
        best = np.argsort(-self.values, kind="stable")[:count]
        return list(zip(self.graph.label(best).tolist(), self.values[best].tolist(), strict=True))

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Check the numbers by a plain, independent method, or raise VerificationError.

        Parameters
        ----------
        sample : int, optional
            How many sources to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.
        """
        raise NotImplementedError

    def _blocks(self) -> Iterator[Block]:
        for first in range(0, max(1, len(self)), BLOCK):
            part = np.arange(first, min(first + BLOCK, len(self)))
            yield {"vertex": label_column(self.graph, part), self.name: self.values[part]}

    @property
    def _size(self) -> str:
        return counted(len(self), "vertex", "vertices")

    @property
    def _magnitudes(self) -> Array:
        """What numbers are drawn as: float64."""
        return self.values.astype(np.float64)

    @property
    def _facts(self) -> dict[str, str]:
        """What else a notebook shows."""
        return {}

    def _repr_html_(self) -> str:
        return measure_html(self)

    def __repr__(self) -> str:
        best = "".join(f", most {value:.6g} at {label!r}" for label, value in self.top(1))
        return f"{type(self).__name__}({self.name} of {self._size}{best})"
