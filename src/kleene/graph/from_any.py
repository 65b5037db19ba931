"""``Graph.from_any``: choose the constructor by the type of an object.

No library is imported for this: the class of an object names its library, which is imported
already if the object exists.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.errors import GraphError, RequestError
from kleene.graph import convert
from kleene.graph.dlpack import is_foreign, to_numpy

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["from_any"]

_Constructor = Callable[..., "Graph"]

_TABLES = ("pandas", "polars", "pyarrow")


def from_any(cls: type[Graph], thing: Any, options: dict[str, Any]) -> Graph:
    name, construct = _constructor(cls, thing)
    _check_options(name, construct, options)
    return construct(thing, **options)


def _constructor(cls: type[Graph], thing: Any) -> tuple[str, _Constructor]:
    """Return the constructor for an object, and its name for messages."""
    if isinstance(thing, cls):
        return "a Graph", lambda graph: graph
    if isinstance(thing, (str, PathLike)):
        return "kleene.read", import_module("kleene.io").read  # by name: io is a layer above
    libraries = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    if "networkx" in libraries and "crs" in getattr(thing, "graph", ()):  # streets have one
        return "Graph.from_osmnx", cls.from_osmnx
    for library in ("networkx", "igraph", "rustworkx"):
        if library in libraries:
            return f"Graph.from_{library}", getattr(cls, f"from_{library}")
    if hasattr(thing, "edge_index"):
        return "an edge_index", partial(convert.from_edge_index, cls)
    if "scipy" in libraries and hasattr(thing, "tocoo"):
        return "Graph.from_scipy", cls.from_scipy
    if libraries.intersection(_TABLES) or isinstance(thing, Mapping):
        return "Graph.from_table", cls.from_table
    if isinstance(thing, tuple):
        return "Graph.from_edges", partial(_from_tuple, cls)
    if isinstance(thing, np.ndarray) or is_foreign(thing):
        return "Graph.from_dense", partial(_from_array, cls)
    if isinstance(thing, list):
        raise GraphError(
            "a list is ambiguous: call Graph.from_dense(rows) for the rows of a matrix, or "
            "Graph.from_edges(*zip(*edges)) for a list of edges"
        )
    raise GraphError(
        f"cannot make a graph from {type(thing).__name__}; pass a SciPy sparse array, "
        "a NumPy matrix, a NetworkX, igraph or rustworkx graph, a pandas, Polars or Arrow table, "
        "a tuple (sources, targets, weights), an object with edge_index, or a file name"
    )


def _check_options(name: str, construct: _Constructor, options: dict[str, Any]) -> None:
    parameters = list(inspect.signature(construct).parameters.values())[1:]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters]
    for option in options:
        if option not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise RequestError(f"unknown option {option!r}: {name} {takes}")


def _from_tuple(
    cls: type[Graph],
    arrays: tuple[Any, ...],
    n: int | None = None,
    directed: bool = True,
    combine: Any = "min",
    labels: Any = None,
    name: str = "",
) -> Graph:
    if len(arrays) not in (2, 3):
        raise GraphError(
            f"a tuple must be (sources, targets) or (sources, targets, weights); it has "
            f"{len(arrays)} elements"
        )
    sources, targets, weights = map(to_numpy, (*arrays, None)[:3])
    return cls.from_edges(
        sources, targets, weights, n, directed, combine=combine, labels=labels, name=name
    )


def _from_array(cls: type[Graph], matrix: Any, null_value: Any = None) -> Graph:
    array = to_numpy(matrix)
    if array.ndim == 2 and array.shape[0] == 2 != array.shape[1]:
        raise GraphError(
            f"an array of shape {array.shape} is not a square matrix of weights; if its rows are "
            "sources and targets, pass tuple(array)"
        )
    return cls.from_dense(array, null_value)
