"""Common fields of JSON documents, and summaries as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kleene.cli.options import Output
from kleene.cli.output import facts, headline, line, number, seconds
from kleene.cli.vertices import names
from kleene.system.formatting import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kleene import Graph, PreparedGraph, Result
    from kleene.planning.plan import Plan
    from kleene.proofs.paths import Proof

    Array = NDArray[Any]

__all__ = [
    "Summary",
    "describe_farthest",
    "describe_graph",
    "describe_plan",
    "describe_prepared",
    "describe_reached",
    "distance_summary",
    "graph_fields",
    "note_search",
    "plan_fields",
    "prepared_fields",
    "present",
    "proof_fields",
    "result_fields",
    "rows_of_values",
    "show_graph",
    "show_more",
    "show_proof",
    "show_result",
]


@dataclass(frozen=True)
class Summary:
    """Statistics of a result, from one pass over its values."""

    reached: int  # pairs with a path
    document: dict[str, Any]  # JSON fields
    facts: dict[str, Any]  # the same as text


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


def result_fields(result: Result, reached: int, proof: Proof | None) -> dict[str, Any]:
    """Return the JSON fields common to all results."""
    return {
        "command": result.problem,
        "graph": graph_fields(result.graph),
        "plan": plan_fields(result.plan),
        "seconds": result.stats.total,
        "sources": len(result.sources),
        "reached": reached,
        "of": result._count,
        "proof": proof_fields(proof),
    }


def show_result(result: Result, summary: dict[str, Any], proof: Proof | None) -> None:
    """Print what ran, a summary, and the proof."""
    show_graph(result.graph, result.plan, result.stats.total)
    facts(summary)
    show_proof(proof)


def show_proof(proof: Proof | None) -> None:
    """Print the proof, if there is one."""
    if proof is not None:
        line()
        line(f"  {proof}", style="green")


def show_more(count: int, how: str) -> None:
    """Print how many rows are left out, and how to see them."""
    if count:
        line(f"  and {count:,} more: {how}", style="dim")


def present(
    output: Output,
    command: str,
    graph: Graph,
    fields: dict[str, Any],
    words: dict[str, Any],
    more: Callable[[], None] = lambda: None,
    *,
    ran: Any = None,
    proof: Proof | None = None,
) -> None:
    """Print an answer: its fields as JSON; or as a page in words, and what else a page has.

    ``ran`` is what knows its plan and its times; the others are answers of no planned call.
    """
    plan = getattr(ran, "plan", None)
    total = None if plan is None else ran.stats.total
    document: dict[str, Any] = {"command": command, "graph": graph_fields(graph)}
    if ran is not None:
        document |= {"plan": None if plan is None else plan_fields(plan), "seconds": total}

    def page() -> None:
        show_graph(graph, plan, total or 0.0)
        facts(words)
        more()
        show_proof(proof)

    output.show({**document, **fields}, page)


def proof_fields(proof: Proof | None) -> dict[str, Any] | None:
    """Return the JSON fields of a proof, if there is one."""
    return None if proof is None else asdict(proof)


def show_graph(graph: Graph, plan: Plan | None = None, total: float = 0.0) -> None:
    """Print what the graph is and, with a plan, what ran on it for how many seconds."""
    headline(graph.name or "graph", f": {describe_graph(graph)}")
    if plan is not None:
        line(f"{describe_plan(plan)}, {seconds(total)}", style="dim")
    line()


def describe_graph(graph: Graph) -> str:
    """Return size and type: 3 vertices, 2 arcs, int32 weights, labelled 1 to 3."""
    from kleene.graph.labels import range_of_labels

    weights = "unweighted" if graph.weights is None else f"{graph.weights.dtype} weights"
    arcs = counted(graph.m, "arc") if graph.directed else counted(graph.m // 2, "edge")
    labels = "" if graph.labels is None else f", {range_of_labels(graph.labels)}"
    return f"{counted(graph.n, 'vertex', 'vertices')}, {arcs}, {weights}{labels}"


def describe_plan(plan: Plan) -> str:
    """Return one line about what ran."""
    what = plan.problem if plan.semiring == "min_plus" else f"{plan.problem} ({plan.semiring})"
    return f"{what} by {plan.method} on {plan.where}, {plan.dtype} values"


def rows_of_values(result: Result) -> Iterator[tuple[int, Array, Array, Array]]:
    """Yield each source, its values, which of them have a path, and the columns of other vertices.

    It reads a row at a time, for matrices in files.
    """
    import numpy as np

    far = np.arange(result.graph.n) if result._targets is None else result._targets
    for position, values in zip(result._sources.tolist(), result._value_rows(), strict=True):
        reached = values != result.no_path
        yield position, values, reached, np.flatnonzero(reached & (far != position))


def distance_summary(result: Result, see: Callable[[Array], None] | None = None) -> Summary:
    """Return statistics of the distances; sources do not count.

    ``see`` is called with each row of distances.
    """
    import numpy as np

    from kleene.results.pairs import PairsResult

    if isinstance(result, PairsResult):
        if see is not None:
            see(result.to_numpy())
        return _pairs_summary(result)
    far: Any = np.arange(result.graph.n) if result._targets is None else result._targets
    total, count, pairs = 0.0, 0, 0
    farthest: dict[str, Any] | None = None
    center: dict[str, Any] | None = None
    for position, values, reached, others in rows_of_values(result):
        pairs += int(np.count_nonzero(reached))
        if see is not None:
            see(values)
        total += float(values[others].sum(dtype=np.float64))
        count += len(others)
        if len(others) == 0:
            continue
        last = others[values[others].argmax()]
        eccentricity = values[last].item()
        source, target = names(result.graph, np.array([position, far[last]]))
        if farthest is None or eccentricity > farthest["distance"]:
            ends = (target, source) if result.reverse else (source, target)
            farthest = {"source": ends[0], "target": ends[1], "distance": eccentricity}
        if reached.all() and (center is None or eccentricity < center["distance"]):
            center = {"source": source, "distance": eccentricity}
    mean = total / count if count else None
    document = {"mean": mean, "farthest": farthest, "center": center}
    return Summary(pairs, document, _facts(result, pairs, farthest, center, mean))


def _pairs_summary(result: Result) -> Summary:
    """Return statistics of a list of pairs."""
    found = result.to_numpy()[result.reached]
    mean = float(found.mean()) if len(found) else None
    farthest: dict[str, Any] | None = None
    if len(found):
        at = int(result.reached.nonzero()[0][found.argmax()])
        targets: Any = result.targets
        ends = {"source": result.sources.tolist()[at], "target": targets.tolist()[at]}
        farthest = {**ends, "distance": found.max().item()}
    document = {"mean": mean, "farthest": farthest, "center": None}
    summary = {
        "reached": describe_reached(result, len(found)),
        "farthest": None if farthest is None else describe_farthest(farthest),
        "mean distance": None if mean is None else number(mean),
    }
    return Summary(len(found), document, summary)


def describe_farthest(farthest: dict[str, Any]) -> str:
    """Return the pair that is farthest apart in words."""
    return f"{number(farthest['distance'])}, from {farthest['source']} to {farthest['target']}"


def _facts(
    result: Result,
    reached: int,
    farthest: dict[str, Any] | None,
    center: dict[str, Any] | None,
    mean: float | None,
) -> dict[str, Any]:
    """Return the statistics of distances in words; a diameter is that of the whole graph."""
    import numpy as np

    single = len(result.sources) == 1
    named = len(np.unique(result._sources))
    all_pairs = result._targets is None and named == result.graph.n
    summary: dict[str, Any] = {}
    if single:
        summary["target" if result.reverse else "source"] = result.sources.tolist()[0]
    summary["reached"] = describe_reached(result, reached)
    if farthest is not None and single:
        end = farthest["source" if result.reverse else "target"]
        summary["farthest"] = f"{end}, at {number(farthest['distance'])}"
    elif farthest is not None:
        whole = all_pairs and reached == result._count
        summary["diameter" if whole else "farthest"] = describe_farthest(farthest)
    if not single and center is not None:
        which = "to" if result.reverse else "from"
        central = f"{number(center['distance'])}, {which} {center['source']}"
        summary["radius" if all_pairs else "nearest to all"] = central
    summary["mean distance"] = None if mean is None else number(mean)
    return summary


def describe_reached(result: Result, reached: int) -> str:
    """Return the number of pairs with a path: 5 of 7 vertices."""
    of = result._count
    what = "vertices" if len(result.sources) == 1 < of else "pairs"
    return f"{reached:,} of {of:,} {what}"


# ---- prepared graphs -----------------------------------------------------------------------------


def prepared_fields(prepared: PreparedGraph) -> dict[str, Any]:
    """Return what a prepared graph has, for JSON."""
    return {
        "semiring": prepared.semiring,
        "dtype": str(prepared.dtype),
        **prepared._elimination.fill._asdict(),
        "bytes": prepared.nbytes,
    }


def describe_prepared(fields: dict[str, Any]) -> dict[str, str]:
    """Return the same in words."""
    counts = (
        f"{number(fields[name])} {name if fields[name] != 1 else name[:-1]}"
        for name in ("pairs", "triangles")
    )
    return {
        "prepared for": f"{fields['semiring']}, {fields['dtype']} values",
        "joined": f"{', '.join(counts)}, in a tree {number(fields['depth'])} deep",
    }


def note_search(answering: Graph | PreparedGraph) -> str | None:
    """Return why a prepared graph does not answer for lengths; None where it does."""
    from kleene import PreparedGraph

    if not isinstance(answering, PreparedGraph) or answering.semiring == "min_plus":
        return None
    return f"for {answering.semiring}, not for lengths: the graph was searched"
