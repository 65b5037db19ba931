"""A number for each edge of a graph, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.measures.display import edges_html
from kleene.results.long_table import LongTable
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.formatting import counted

__all__ = ["EdgeTable"]

Array = NDArray[Any]


class EdgeTable(LongTable):
    """A number for each edge, with both ends; in an undirected graph each edge has one row.

    Attributes
    ----------
    graph : Graph
        The graph that was measured.
    name : str
        What was measured: the name of the column.
    arcs : array
        The number of each arc, in the order of ``graph.coo``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.betweenness(kl.generate.path(3), edges=True, normalized=False).edges.to_frame()
       source  target  betweenness
    0       0       1          2.0
    1       1       2          2.0
    """

    def __init__(self, graph: Graph, name: str, arcs: Array) -> None:
        self.graph, self.name, self.arcs = graph, name, arcs

    @property
    def _kept(self) -> Array:
        """The arcs that have a row."""
        tails, heads = self.graph.coo[:2]
        kept: Array = np.flatnonzero((tails <= heads) | self.graph.directed)
        return kept

    def __len__(self) -> int:
        return len(self._kept)

    def _blocks(self) -> Iterator[Block]:
        kept, (tails, heads) = self._kept, self.graph.coo[:2]
        for first in range(0, max(1, len(kept)), BLOCK):
            part = kept[first : first + BLOCK]
            yield {
                "source": label_column(self.graph, tails[part]),
                "target": label_column(self.graph, heads[part]),
                self.name: self.arcs[part],
            }

    def _repr_html_(self) -> str:
        return edges_html(self)

    def __repr__(self) -> str:
        return f"EdgeTable({self.name} of {counted(len(self), 'edge')})"
