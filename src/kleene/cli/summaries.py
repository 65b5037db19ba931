"""Common fields of JSON documents, and summaries as text."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kleene.cli.output import facts, headline, line, number, seconds, table
from kleene.cli.vertices import vertex_name

if TYPE_CHECKING:
    from kleene import Graph, Result
    from kleene.planning.plan import Plan
    from kleene.results.verify import Proof

__all__ = [
    "describe_graph",
    "describe_plan",
    "describe_reached",
    "distance_summary",
    "graph_fields",
    "pairs",
    "plan_fields",
    "result_fields",
    "show_pairs",
    "show_result",
    "value_name",
]


def graph_fields(graph: Graph) -> dict[str, Any]:
    """Return the JSON fields of a graph."""
    return {
        "name": graph.name,
        "vertices": graph.n,
        "arcs": graph.m,
        "directed": graph.directed,
        "weights": None if graph.weights is None else str(graph.weights.dtype),
        "labelled": graph.labels is not None,
    }


def plan_fields(plan: Plan) -> dict[str, Any]:
    """Return the JSON fields of a plan; memory in bytes."""
    return asdict(plan)


def result_fields(result: Result, proof: Proof | None) -> dict[str, Any]:
    """Return the JSON fields common to all results."""
    import numpy as np

    reached = int(np.count_nonzero(result.reached))
    return {
        "command": result.problem,
        "graph": graph_fields(result.graph),
        "plan": plan_fields(result.plan),
        "seconds": result.stats.total,
        "sources": len(result.sources),
        "reached": reached,
        "of": int(result.reached.size),
        "proof": None if proof is None else asdict(proof),
    }


def show_result(result: Result, summary: dict[str, Any], proof: Proof | None) -> None:
    """Print what ran, a summary, and the proof."""
    headline(result.graph.name or "graph", f": {describe_graph(result.graph)}")
    line(f"{describe_plan(result.plan)}, {seconds(result.stats.total)}", style="dim")
    line()
    facts(summary)
    if proof is not None:
        line()
        line(f"  {proof}", style="green")


def describe_graph(graph: Graph) -> str:
    """Return size and type: 3 vertices, 2 arcs, int32 weights."""
    weights = "unweighted" if graph.weights is None else f"{graph.weights.dtype} weights"
    arcs = f"{graph.m:,} arcs" if graph.directed else f"{graph.m // 2:,} edges"
    return f"{graph.n:,} vertices, {arcs}, {weights}"


def describe_plan(plan: Plan) -> str:
    """Return one line about what ran."""
    what = plan.problem if plan.semiring == "min_plus" else f"{plan.problem} ({plan.semiring})"
    return f"{what} by {plan.method} on {plan.device}, {plan.dtype} values"


# ---- pairs of source and target -----------------------------------------------------------------


def pairs(result: Result, most: int) -> list[dict[str, Any]]:
    """Return the first pairs, row by row: names, distance (None: no path), predecessor."""
    import numpy as np

    graph, what = result.graph, value_name(result)
    unbounded = _unbounded(result)
    values, reached = np.atleast_2d(result.to_numpy()), np.atleast_2d(result.reached)
    predecessors = None if result.predecessors is None else np.atleast_2d(result.predecessors)
    targets = range(graph.n) if result._targets is None else result._targets.tolist()
    rows: list[dict[str, Any]] = []
    for row, source in enumerate(result._sources.tolist()):
        for column, target in enumerate(targets):
            if len(rows) == most:
                return rows
            pair = {"source": vertex_name(graph, source), "target": vertex_name(graph, target)}
            value = values[row, column].item() if reached[row, column] else None
            pair[what] = value if value is None or value != unbounded else math.inf
            if predecessors is not None:
                previous = int(predecessors[row, target])
                pair["predecessor"] = None if previous == -1 else vertex_name(graph, previous)
            rows.append(pair)
    return rows


def value_name(result: Result) -> str:
    """Return the name of a pair's value."""
    return "value" if result.problem == "closure" else "distance"


def _unbounded(result: Result) -> Any:
    """Return the integer that means infinity: the width of the empty path in max_min."""
    from kleene.backends.semiring import SEMIRINGS

    if result.plan.semiring != "max_min":
        return None
    return SEMIRINGS["max_min"].one(result.distances.dtype)


def show_pairs(rows: list[dict[str, Any]], of: int, one_source: bool) -> None:
    """Print pairs as a table, and the number of pairs omitted."""
    if not rows:
        return
    columns = [c for c in rows[0] if not (one_source and c == "source")]
    line()
    table(columns, [[row[c] for c in columns] for row in rows], right=["distance", "value"])
    if of > len(rows):
        line(f"  and {of - len(rows):,} more: --top {of}, or --out table.csv", style="dim")


def distance_summary(result: Result) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return statistics of the distances as (JSON fields, summary); sources do not count."""
    import numpy as np

    graph = result.graph
    values, reached = np.atleast_2d(result.to_numpy()), np.atleast_2d(result.reached)
    targets = np.arange(graph.n) if result._targets is None else result._targets
    total, count = 0.0, 0
    farthest: dict[str, Any] | None = None
    center: dict[str, Any] | None = None
    for row, source in enumerate(result._sources.tolist()):
        others = np.flatnonzero(reached[row] & (targets != source))
        total += float(values[row, others].sum(dtype=np.float64))
        count += len(others)
        if len(others) == 0:
            continue
        last = others[values[row, others].argmax()]
        eccentricity = values[row, last].item()
        if farthest is None or eccentricity > farthest["distance"]:
            farthest = {
                "source": vertex_name(graph, source),
                "target": vertex_name(graph, int(targets[last])),
                "distance": eccentricity,
            }
        reaches_all = reached[row].all()
        if reaches_all and (center is None or eccentricity < center["distance"]):
            center = {"source": vertex_name(graph, source), "distance": eccentricity}
    mean = total / count if count else None
    document = {"mean": mean, "farthest": farthest, "center": center}
    summary: dict[str, Any] = {"reached": describe_reached(result)}
    if len(result.sources) == 1:
        summary = {"source": vertex_name(graph, int(result._sources[0])), **summary}
        if farthest is not None:
            summary["farthest"] = f"{farthest['target']}, at {number(farthest['distance'])}"
    elif farthest is not None:
        ends = f"from {farthest['source']} to {farthest['target']}"
        summary["diameter"] = f"{number(farthest['distance'])}, {ends}"
    if len(result.sources) > 1 and center is not None:
        summary["radius"] = f"{number(center['distance'])}, from {center['source']}"
    summary["mean distance"] = None if mean is None else number(mean)
    return document, summary


def describe_reached(result: Result) -> str:
    """Return the number of pairs with a path: 5 of 7 vertices."""
    what = "vertices" if len(result.sources) == 1 else "pairs"
    return f"{int(result.reached.sum()):,} of {result.reached.size:,} {what}"
