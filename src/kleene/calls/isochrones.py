"""What can be reached within some limits, on a map."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Literal, overload

import numpy as np

from kleene.backends.common.limits import in_type_of_weights
from kleene.calls.arguments import Vertices, as_vertices, make_ask, require_graph
from kleene.calls.within import search_within
from kleene.errors import Code, GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.labels import is_one_vertex
from kleene.results.isochrones import Isochrones, IsochronesEach

__all__ = ["isochrones"]


@overload
def isochrones(
    graph: Graph,
    source: Hashable | Vertices,
    limits: float | Iterable[float],
    *,
    each: Literal[False] = False,
    hops: bool = False,
    reverse: bool = False,
    longest: float | None = None,
) -> Isochrones: ...
@overload
def isochrones(
    graph: Graph,
    source: Hashable | Vertices,
    limits: float | Iterable[float],
    *,
    each: Literal[True],
    hops: bool = False,
    reverse: bool = False,
    longest: float | None = None,
) -> IsochronesEach: ...
@overload
def isochrones(
    graph: Graph,
    source: Hashable | Vertices,
    limits: float | Iterable[float],
    *,
    each: bool,
    hops: bool = False,
    reverse: bool = False,
    longest: float | None = None,
) -> Isochrones | IsochronesEach: ...
def isochrones(
    graph: Graph,
    source: Hashable | Vertices,
    limits: float | Iterable[float],
    *,
    each: bool = False,
    hops: bool = False,
    reverse: bool = False,
    longest: float | None = None,
) -> Isochrones | IsochronesEach:
    """Return the part of a network within each of several limits: vertices, streets and outlines.

    Parameters
    ----------
    graph : Graph
        The network, with positions (:meth:`Graph.with_positions`); its weights, say seconds or
        metres, must not be negative.
    source : vertex, or sequence of vertices
        Where to start. Several make one area: what is within a limit of the nearest of them.
    limits : number, or sequence of numbers
        The limits, in the unit of the weights; or hops.
    each : bool
        Make areas of each source instead of one area of all.
    hops : bool
        Count arcs instead of adding weights. Streets are then reached whole or not at all.
    reverse : bool
        From where one reaches the source, instead of what is reached from there.
    longest : number, optional
        Areas are made of triangles between points of the network that are reached, with sides up
        to so long, in units of the positions. Unless given, three times the length that nine of
        ten streets do not exceed. Larger values fill bays and parks, smaller ones follow streets.

    Returns
    -------
    Isochrones, or IsochronesEach
        :meth:`Isochrones.to_geojson` is what maps take; ``vertices``, ``streets``, ``area`` and
        ``to_frame`` are the parts of it. With ``each``, a sequence of them, in the order of the
        sources, with the same ways out. ``kl.draw`` shows both.

    Raises
    ------
    GraphError
        The graph has no positions.

    See Also
    --------
    within : What many sources reach, without a map.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.generate.grid(30, 30, weights=(50, 150), seed=1)
    >>> g = g.with_positions([(9 + 0.001 * (v % 30), 0.001 * (v // 30)) for v in range(900)])
    >>> zones = kl.isochrones(g, 435, [300, 600])
    >>> zones
    Isochrones(from 435: 26 within 300, 98 within 600)
    >>> [f["properties"]["kind"] for f in zones.to_geojson()["features"]]
    ['area', 'streets', 'area', 'streets']

    What is near to any of two, and to each of them:

    >>> kl.isochrones(g, [435, 35], [300])
    Isochrones(from [435, 35]: ... within 300)
    >>> [zones.source for zones in kl.isochrones(g, [435, 35], [300], each=True)]
    [435, 35]
    """
    require_graph(graph)
    if graph.positions is None:
        raise GraphError(
            "isochrones needs the positions of the vertices: add them with ",
            Code("graph.with_positions(xy)"),
        )
    bounds = _as_limits(limits)
    if longest is not None:
        longest = _as_number(longest, "longest")
    several = isinstance(source, Iterator) or not is_one_vertex(source)
    sources = as_vertices(graph, source if several else [source], "source")  # type: ignore[arg-type]
    if not len(sources):
        raise RequestError(Code("source"), " is empty: name at least one")
    each, hops, reverse = as_flag(each, "each"), as_flag(hops, "hops"), as_flag(reverse, "reverse")
    request = make_ask("within", sources=len(sources), device="cpu")
    reach = search_within(graph, sources, bounds[-1], None, hops, reverse, request)
    rounded = tuple(in_type_of_weights(bound, graph, hops) for bound in bounds)
    found = Isochrones(reach, bounds, rounded, longest, several)
    return IsochronesEach(found) if each else found


def _as_limits(limits: Any) -> tuple[float, ...]:
    """Return the limits in increasing order, each once."""
    given = list(limits) if np.iterable(limits) and not isinstance(limits, str) else [limits]
    if not given:
        raise RequestError(Code("limits"), " is empty: name at least one")
    return tuple(sorted({_as_number(x, "limits") for x in given}))


def _as_number(value: Any, name: str) -> float:
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise RequestError(Code(name), f" must be numbers, not {value!r}")
    try:
        number = float(number)
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:  # NaN neither
        raise RequestError(Code(name), f" must be finite and non-negative, not {value!r}")
    return number
