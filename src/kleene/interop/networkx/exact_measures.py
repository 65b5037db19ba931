"""Kleene's own measures, where they give NetworkX's numbers: of hops, integers and some floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx

from kleene.errors import GraphError, PathOverflowError
from kleene.interop.networkx.graph import Arcs

__all__ = ["measured", "suits_measures"]


def measured(arcs: Arcs, measure: Callable[..., Any], disconnected: Exception | None = None) -> Any:
    """Return what one of Kleene's measures gives; raise the exception if that is not defined.

    Lengths that do not fit are left to the next backend.
    """
    try:
        return measure(arcs.graph, threads=nx.config.backends.kleene.threads)
    except PathOverflowError as error:
        raise NotImplementedError(str(error)) from None
    except GraphError:
        if disconnected is None:
            raise
        raise disconnected from None


def suits_measures(arcs: Arcs, floats: bool = False) -> bool:
    """Return whether Kleene's measures give NetworkX's numbers: hops, or integers from zero on.

    ``floats`` are added up arc by arc from each source by some measures, as NetworkX adds them.
    """
    kinds = "if" if floats else "i"
    same = arcs.weights is None or (arcs.weights.dtype.kind in kinds and arcs.is_float is None)
    on_cpu = nx.config.backends.kleene.device in ("auto", "cpu")
    return arcs.n > 0 and same and not arcs.negative and on_cpu
