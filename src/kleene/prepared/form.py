"""A prepared graph as calls see it: a form of a graph, beside its arcs, that answers by climbs."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.semiring import SEMIRINGS
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.rows import PreparedRows
from kleene.system.cached_property import cached_property

__all__ = ["PreparedForm", "prepared_form"]


class PreparedForm:
    """What answers come from: a graph, its elimination, and the weights of its pairs."""

    graph: Graph
    _elimination: Elimination
    _customization: Customization

    def __init__(
        self, graph: Graph, elimination: Elimination, customization: Customization
    ) -> None:
        self.graph, self._elimination, self._customization = graph, elimination, customization

    @property
    def semiring(self) -> str:
        """What "best path" means: ``"min_plus"`` is the shortest."""
        return self._customization.semiring

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the path values."""
        return self._customization.dtype

    @cached_property
    def no_path(self) -> Any:
        """The value in arrays that stands for "no path": infinity, or the largest integer."""
        return SEMIRINGS[self.semiring].zero(self.dtype)

    @property
    def _parts(self) -> tuple[Elimination, Customization]:
        return self._elimination, self._customization

    def _rows(self, reverse: bool, threads: int | None) -> PreparedRows:
        return PreparedRows(*self._parts, reverse, threads)

    def _require_lengths(self, what: str) -> None:
        if self.semiring != "min_plus":
            raise RequestError(
                f"{what} for lengths, and this graph is prepared for {self.semiring!r}: "
                "use customize(semiring='min_plus')"
            )


def prepared_form(
    graph: Graph, semiring: str, dtype: str, threads: int | None
) -> PreparedForm | None:
    """Return what a graph keeps of its preparation, made if need be.

    None where a cycle is negative, if only by rounding: searches say whether a source leads there.
    """
    parts = Preparation.of(graph).sure_parts(graph, semiring, np.dtype(dtype), threads=threads)
    return None if parts is None else PreparedForm(graph, *parts)
