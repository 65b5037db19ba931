"""What is known of the elimination of a graph before a call, and all that its plan needs of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from kleene.graph import Graph
    from kleene.prepared.cache import Preparation
    from kleene.prepared.customization import Customization
    from kleene.prepared.elimination import Elimination

__all__ = ["BY_ARRAYS", "DEVICES", "Known", "known_of"]

#: Where prepared graphs compute.
DEVICES = ("cpu", "cuda", "emulated")

#: Preparations by the ids of the offsets and neighbors of their graphs, which they keep.
BY_ARRAYS: WeakValueDictionary[tuple[int, int], Preparation] = WeakValueDictionary()


class Known(NamedTuple):
    """How large the elimination of a graph is, and how far it was made."""

    pairs: int
    triangles: int
    step: str  # "expected", "counted" or "eliminated"
    customized: frozenset[tuple[str, str]] = frozenset()  # semirings and types with values
    refused: str = ""  # why it is not made

    @staticmethod
    def of(elimination: Elimination, *customizations: Customization) -> Known:
        """Return what a plan needs to know of an elimination that was made."""
        fill = elimination.fill
        customized = frozenset(each.key for each in customizations)
        return Known(fill.pairs, fill.triangles, "eliminated", customized)


def known_of(graph: Graph) -> Known | None:
    """Return what is known of a graph's elimination; None at once where no graph is prepared."""
    if not BY_ARRAYS or "neighbors" not in graph.__dict__:
        return None
    preparation = BY_ARRAYS.get((id(graph.offsets), id(graph.neighbors)))
    if preparation is None and "csc" in graph.__dict__:  # the arcs of the transposed graph
        preparation = BY_ARRAYS.get((id(graph.csc.offsets), id(graph.csc.neighbors)))
    return None if preparation is None else preparation.known(graph)
