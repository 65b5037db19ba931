"""Graphs of OSMnx: a NetworkX multigraph of streets, with coordinates and street geometry.

Its nodes have x and y, its edges a length and, unless the street is straight, a geometry. See
https://osmnx.readthedocs.io, "Under the Hood".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.errors import GraphError
from kleene.graph.convert import from_networkx
from kleene.graph.geometry import lines_of, oriented
from kleene.graph.positions import in_crs

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["from_osmnx"]


def from_osmnx(cls: type[Graph], streets: Any, weight: str | None) -> Graph:
    graph = from_networkx(cls, streets, weight)
    if graph.positions is None and graph.n:
        raise GraphError("expected a graph of OSMnx, whose nodes have x and y; use from_networkx")
    crs = streets.graph.get("crs")
    graph = in_crs(graph, None if crs is None else str(crs))
    geometries = [data.get("geometry") for *_, data in streets.edges(data=True)]
    if all(geometry is None for geometry in geometries):
        return graph
    assert graph.rows is not None
    assert graph.positions is not None
    lines = oriented(lines_of(geometries), graph.positions, graph.rows.sources, graph.rows.targets)
    return graph._derived(graph.csr, rows=graph.rows.with_lines(lines))
