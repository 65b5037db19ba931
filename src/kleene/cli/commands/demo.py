"""``kleene demo``: a tour of Kleene on the road network of Rome."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kleene.cli.commands.pairs import steps
from kleene.cli.options import Output, command
from kleene.cli.output import headline, line, number, seconds
from kleene.cli.summaries import describe_plan, graph_fields, plan_fields

if TYPE_CHECKING:
    from kleene import Graph, Result
    from kleene.proofs.paths import Proof

__all__ = ["demo", "tour"]


@command()
def demo(*, out: str = "kleene-demo.svg", output: Output) -> None:
    """Run a one-minute demonstration on the road network of Rome.

    Parameters
    ----------
    out : FILE, --picture
        The picture to write.
    """
    import kleene as kl

    document = tour(kl.datasets.rome(), out, verbose=not (output.json or output.quiet))
    output.show(document, lambda: None)


def tour(graph: Graph, picture: str, verbose: bool) -> dict[str, Any]:
    """Solve every problem on a road network, verify the results, and draw the longest path."""
    import kleene as kl

    printer = _Printer(verbose)
    began = time.perf_counter()
    printer.title("The road network of Rome, 1999")
    printer.line(f"{graph.n:,} junctions and {graph.m:,} one-way road segments, lengths in metres")
    printer.line("(9th DIMACS Implementation Challenge).")

    start = graph.label(0)
    printer.title("1. How many junctions away is everything?", f"r = kl.bfs(g, {start})")
    hops = kl.bfs(graph, start)
    proofs = [printer.verified(hops)]
    deepest = int(hops.distances.argmax())
    printer.line(
        f"The farthest from {start} is junction {graph.label(deepest)}: "
        f"{hops.distances[deepest]:,} segments."
    )

    printer.title("2. And how many metres?", f"r = kl.sssp(g, {start})")
    metres = kl.sssp(graph, start)
    proofs.append(printer.verified(metres))
    last = int(metres.distances.argmax())
    printer.line(
        f"The farthest from {start} is junction {graph.label(last)}: {_km(metres.distances[last])}."
    )

    printer.title("3. Between all pairs?", "r = kl.apsp(g)")
    printer.line(f"{graph.n**2:,} pairs; this step takes the longest.")
    pairs = kl.apsp(graph, progress=verbose)
    proofs.append(printer.verified(pairs))
    source, target, longest = _longest(pairs)
    distances = pairs.distances[pairs.reached]
    printer.line(
        f"Mean distance {_km(distances.mean())}; the longest of all shortest paths leads from "
        f"{source} to {target}."
    )

    printer.title("4. By which path?", f"r.path({source}, {target})")
    route = steps(pairs.route(source, target))
    printer.line(f"{_km(longest)} along {len(route) - 1} road segments:")
    printer.route(route)

    row = graph.index(source)
    printer.title(
        "5. What does it look like?", f'kl.draw(r, "{picture}", target={target}, row={row})'
    )
    drawn = kl.draw(
        pairs,
        picture,
        target=target,
        row=row,
        title="The longest of all shortest paths in Rome",
        unit="m",
    )
    printer.line(f"{drawn.resolve()}")
    printer.line("The layout is computed from the distances alone, without a map.")
    total = time.perf_counter() - began
    printer.title(f"Done in {seconds(total)}; every result is verified.")
    printer.line("Next: kleene --help, or in Python: import kleene as kl")
    return {
        "command": "demo",
        "graph": graph_fields(graph),
        "plans": [plan_fields(r.plan) for r in (hops, metres, pairs)],
        "proofs": [str(proof) for proof in proofs],
        "longest": {"source": source, "target": target, "distance": longest, "path": route},
        "picture": str(drawn),
        "seconds": total,
    }


def _longest(result: Result) -> tuple[Any, Any, int]:
    """Return (source, target, length) of the longest of all shortest paths."""
    import numpy as np

    lengths = np.where(result.reached, result.distances, -1)
    row, column = np.unravel_index(int(lengths.argmax()), lengths.shape)
    source, target = result.graph.label(np.array([row, column])).tolist()
    return source, target, int(lengths[row, column])


def _km(metres: float) -> str:
    return f"{metres / 1000:.1f} km"


class _Printer:
    """Prints the text of the demonstration, unless disabled."""

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose

    def title(self, text: str, code: str = "") -> None:
        if self.verbose:
            line()
            headline(text, f"   {code}" if code else "")

    def line(self, text: str, style: str | None = None) -> None:
        if self.verbose:
            line(f"  {text}", style)

    def verified(self, result: Result) -> Proof:
        """Verify a result and print what ran."""
        proof = result.verify()
        self.line(f"{describe_plan(result.plan)}: {seconds(result.stats.total)}", "dim")
        self.line(str(proof), "green")
        return proof

    def route(self, route: list[dict[str, Any]], ends: int = 3) -> None:
        """Print the first and last steps of a path."""
        middle = len(route) - 2 * ends
        for at, step in enumerate(route):
            if at < ends or at >= len(route) - ends or middle <= 1:
                self.line(f"{number(step['total']):>8} m   junction {step['vertex']}")
            elif at == ends:
                self.line(f"{'...':>8}     {middle} more junctions", "dim")
