"""Connected components: the functions of networkx's ``components`` modules that list and count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import networkx as nx
import numpy as np

from kleene import _native
from kleene.calls.components import components
from kleene.interop.networkx.graph import KleeneGraph
from kleene.results.components import Components

__all__ = [
    "connected_components", "is_connected", "is_strongly_connected", "is_weakly_connected",
    "node_connected_component", "number_connected_components",
    "number_strongly_connected_components", "number_weakly_connected_components",
    "strongly_connected_components", "weakly_connected_components",
]  # fmt: skip


def _components(G: KleeneGraph, kind: Literal["weak", "strong"] = "weak") -> Components:
    return components(G.unweighted_arcs.graph, kind, threads=nx.config.backends.kleene.threads)


def _sets(G: KleeneGraph, found: Components) -> Iterator[set[Any]]:
    """Yield the components in the order of their first nodes, as NetworkX's searches find them."""
    _, first = np.unique(found.component, return_index=True)
    for number in np.argsort(first).tolist():
        yield set(G.names[found.members(number)].tolist())


def connected_components(G: KleeneGraph) -> Iterator[set[Any]]:
    yield from _sets(G, _components(G))


def weakly_connected_components(G: KleeneGraph) -> Iterator[set[Any]]:
    yield from _sets(G, _components(G))


def strongly_connected_components(G: KleeneGraph) -> Iterator[set[Any]]:
    links = G.unweighted_arcs
    # NetworkX's search, on one core: sinks come first, which its condensation relies on.
    component, sizes = _native.strong_components_in_search_order(links.offsets, links.neighbors)
    nodes = G.names[np.argsort(component, kind="stable")]
    for members in np.split(nodes, np.cumsum(sizes)[:-1]):
        yield set(members.tolist())


def number_connected_components(G: KleeneGraph) -> int:
    return _components(G).count


def number_weakly_connected_components(G: KleeneGraph) -> int:
    return _components(G).count


def number_strongly_connected_components(G: KleeneGraph) -> int:
    return _components(G, "strong").count


def is_connected(G: KleeneGraph) -> bool:
    return _components(G).count == 1


def is_weakly_connected(G: KleeneGraph) -> bool:
    return _components(G).count == 1


def is_strongly_connected(G: KleeneGraph) -> bool:
    return _components(G, "strong").count == 1


def node_connected_component(G: KleeneGraph, n: Any) -> set[Any]:
    if n not in G:
        raise KeyError(n)
    found = _components(G)
    return set(G.names[found.members(int(found.component[G.ids[n]]))].tolist())
