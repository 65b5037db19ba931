"""A closer look at a graph that is to be prepared: each step tells more about the next ones.

A plan knows the numbers of vertices and arcs, and takes a road-like graph for one that suits
elimination. Before a call prepares it, small pieces of the graph show how pairs grow; then its
order shows how many there are. After each step the call is planned again, and may turn to another
method. What was found out stays with the graph (``kleene.prepared.cache``).
"""

from __future__ import annotations

from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan, plan_call

__all__ = ["look_closer"]


def look_closer(graph: Graph, ask: Ask, plan: Plan, hops: bool = False, order: bool = True) -> Plan:
    """Return the plan, or another one where a first step of preparing shows that it is faster.

    ``order`` says whether the vertices are put into order, which takes most of the time.
    """
    if plan.method != "prepared" or ask.where.method != "auto":
        return plan
    from kleene.prepared.cache import Preparation

    preparation = Preparation.of(graph)
    for step in (preparation.look, preparation.count) if order else (preparation.look,):
        if plan.method == "prepared":
            step(graph)
            plan = plan_call(graph_facts(graph, hops), ask)
    return plan
