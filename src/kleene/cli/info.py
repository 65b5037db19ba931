"""``kleene info``: properties of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Output, Threads
from kleene.cli.output import facts, headline, line, number
from kleene.cli.prepare import describe_prepared, prepared_fields
from kleene.cli.summaries import describe_graph, graph_fields

if TYPE_CHECKING:
    from kleene import Graph
    from kleene.results.components import Components

__all__ = ["info"]


@with_option_groups
def info(*, graph: Input, threads: Threads = None, output: Output) -> None:
    """Describe a graph: size, weights, degrees, components, memory."""
    from kleene.calls.components import components
    from kleene.system.formatting import counted, format_bytes

    if graph.is_prepared:
        prepared = graph.load(threads)
        read, format, eliminated = prepared.graph, "kp", prepared_fields(prepared)
    else:
        (read, format), eliminated = graph.read_with_format(threads), None
    stats = read.stats
    degrees = {
        "min": int(stats.degrees.min(initial=stats.max_degree)),
        "mean": stats.mean_degree,
        "max": stats.max_degree,
    }
    weak, strong = components(read, threads=threads), components(read, "strong", threads=threads)
    memory = _memory(read)
    document = {
        "command": "info",
        "file": graph.file,
        "format": format,
        **graph_fields(read),
        "positions": read.positions is not None,
        "min_weight": None if read.weights is None else stats.min_weight,
        "max_weight": None if read.weights is None else stats.max_weight,
        "degrees": degrees,
        "density": stats.density,
        "symmetric": stats.symmetric,
        "isolated": int(((stats.degrees == 0) & (stats.in_degrees == 0)).sum()),
        "weak_components": {"count": weak.count, "largest": weak.sizes[:1].sum()},
        "strong_components": {"count": strong.count, "largest": strong.sizes[:1].sum()},
        "diameter_estimate": stats.diameter_estimate,
        "memory": memory,
        "prepared": eliminated,
    }

    def page() -> None:
        headline(
            read.name or ("standard input" if graph.file == "-" else graph.file),
            f": {describe_graph(read)}",
        )
        line()
        low, high, isolated = (document[n] for n in ("min_weight", "max_weight", "isolated"))
        facts(
            {
                "format": document["format"],
                "kind": "directed" if read.directed else "undirected, both directions stored",
                "weights": None if low is None else f"{number(low)} to {number(high)}",
                "labels": None if read.labels is None else _describe_labels(read),
                "positions": None if read.positions is None else _describe_positions(read),
                "degree": f"{degrees['min']:,} to {degrees['max']:,}, mean {degrees['mean']:.3g}",
                "density": f"{stats.density:.3g}",
                "symmetric": "yes" if stats.symmetric else "no",
                "isolated": counted(isolated, "vertex", "vertices") if isolated else None,
                "weak components": _describe_components(weak),
                "strong components": _describe_components(strong),
                "diameter": f"at least {stats.diameter_estimate:,} hops (two searches)",
                "memory": ", ".join(f"{k} {format_bytes(v)}" for k, v in memory.items()),
                **(describe_prepared(eliminated) if eliminated else {}),
            }
        )

    output.show(document, page)


def _describe_labels(graph: Graph) -> str:
    assert graph.labels is not None
    first = [str(label) for label in graph.labels[:3].tolist()]
    return ", ".join(first) + (", ..." if graph.n > len(first) else "")


def _describe_positions(graph: Graph) -> str:
    assert graph.positions is not None
    spans = zip("xy", graph.positions.min(axis=0), graph.positions.max(axis=0), strict=True)
    return ", ".join(f"{axis} {low:.6g} to {high:.6g}" for axis, low, high in spans)


def _describe_components(found: Components) -> str:
    largest = f", the largest of {found.sizes[0]:,} vertices" if found.count > 1 else ""
    return f"{found.count:,}{largest}"


def _memory(graph: Graph) -> dict[str, Any]:
    """Return the size in bytes of each storage form."""
    vertex = graph.neighbors.itemsize
    weight = 0 if graph.weights is None else graph.weights.itemsize
    rows = 8 * (graph.n + 1) + (vertex + weight) * graph.m
    return {
        "csr": rows,
        "csc": rows,
        "coo": (2 * vertex + weight) * graph.m,
        "ell": (vertex + weight) * graph.n * graph.stats.max_degree,
        "dense": (weight or 4) * graph.n**2,
    }
