"""Components: sets of vertices that paths join."""

from __future__ import annotations

from typing import Literal

from kleene.backends.task import ComponentsTask
from kleene.calls.arguments import make_ask, require_graph
from kleene.engine.planned import plan_value
from kleene.engine.value import run_value
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.planning.facts import graph_facts
from kleene.results.components import Components
from kleene.system.machine import as_threads, threads_for

__all__ = ["components"]


def components(
    graph: Graph, kind: Literal["weak", "strong"] = "weak", *, threads: int | None = None
) -> Components:
    """Return the components of a graph, the largest first.

    Parameters
    ----------
    graph : Graph
        The graph. Its weights make no difference.
    kind : {"weak", "strong"}
        Vertices of a weak component are joined by arcs, whatever their direction; vertices of a
        strong one reach each other along the arcs. In an undirected graph both are the same.
    threads : int, optional
        How many threads may be used; all cores unless given.

    Returns
    -------
    Components
        Components are numbered from 0 by decreasing size; of two of the same size, the one with the
        smaller first vertex comes first.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_table({"source": ["a", "b", "c", "x"], "target": ["b", "c", "a", "a"]})
    >>> kl.components(g)
    Components(1 weak component, the largest of 4 vertices)
    >>> strong = kl.components(g, "strong")
    >>> strong.sizes.tolist(), strong.members(1).tolist()
    ([3, 1], ['x'])
    >>> g.subgraph(strong.largest)
    Graph(3 vertices, 3 arcs, unweighted, directed, labelled 'a', ..., 'c')
    """
    require_graph(graph)
    if not isinstance(kind, str) or kind not in ("weak", "strong"):
        raise RequestError(Code("kind"), f" must be 'weak' or 'strong', not {kind!r}")
    team = threads_for(graph.m, as_threads(threads))
    ask = make_ask(f"{kind}_components", device="cpu", predecessors=False, sources=1)
    plan = plan_value(graph_facts(graph, hops=True), ask)
    found, _ = run_value(plan, ComponentsTask(graph, team))
    return Components(graph, kind, *found)
