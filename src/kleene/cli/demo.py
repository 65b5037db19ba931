"""``kleene demo``: a tour of Kleene on the road network of Rome."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import headline, line, number, seconds
from kleene.cli.path import steps
from kleene.cli.summaries import describe_plan, graph_fields, plan_fields

if TYPE_CHECKING:
    from kleene import Graph, Result
    from kleene.results.verify import Proof

__all__ = ["demo", "tour"]


@with_option_groups
def demo(
    *,
    picture: Annotated[
        str, Option("--picture", metavar="FILE", help="Where to write the picture.")
    ] = "kleene-demo.svg",
    output: Output,
) -> None:
    """See Kleene at work on the streets of Rome, in a minute."""
    import kleene as kl

    document = tour(kl.datasets.rome(), picture, speak=not (output.json or output.quiet))
    output.show(document, lambda: None)


def tour(graph: Graph, picture: str, speak: bool) -> dict[str, Any]:
    """Solve every problem on a graph of streets, prove the answers, and draw the farthest route."""
    import kleene as kl

    say = _Guide(speak)
    began = time.perf_counter()
    say.title("The streets of Rome, 1999")
    say.line(
        f"{graph.n:,} junctions and {graph.m:,} one-way stretches of street, lengths in metres"
    )
    say.line("(9th DIMACS Implementation Challenge).")

    say.title("1. How many street corners away is everything?", "r = kl.bfs(g, 0)")
    hops = kl.bfs(graph, 0)
    proofs = [say.proved(hops)]
    deepest = int(hops.distances.argmax())
    say.line(f"The farthest from 0 is junction {deepest}: {hops.distances[deepest]:,} stretches.")

    say.title("2. And how many metres?", "r = kl.sssp(g, 0)")
    metres = kl.sssp(graph, 0)
    proofs.append(say.proved(metres))
    last = int(metres.distances.argmax())
    say.line(f"The farthest by road is junction {last}: {_km(metres.distances[last])}.")

    say.title("3. Between all pairs?", "r = kl.apsp(g)")
    say.line(f"{graph.n**2:,} pairs; this is the long part.")
    pairs = kl.apsp(graph, progress=speak)
    proofs.append(say.proved(pairs))
    source, target, longest = _longest(pairs)
    distances = pairs.distances[pairs.reached]
    say.line(
        f"Mean distance {_km(distances.mean())}; the longest of all shortest routes leads from "
        f"{source} to {target}."
    )

    say.title("4. Which way?", f"r.path({source}, {target})")
    route = steps(graph, pairs.path(source, target))
    say.line(f"{_km(longest)} along {len(route) - 1} stretches of street:")
    say.route(route)

    say.title(
        "5. What does it look like?", f'kl.draw(r, "{picture}", target={target}, row={source})'
    )
    drawn = kl.draw(
        pairs,
        picture,
        target=target,
        row=source,
        title="The longest of all shortest routes in Rome",
        unit="m",
    )
    say.line(f"{drawn.resolve()}")
    say.line("The streets are placed by the distances between them, without any map.")
    total = time.perf_counter() - began
    say.title(f"Done in {seconds(total)}, every answer proved.")
    say.line("Next: kleene --help, or in Python: import kleene as kl")
    return {
        "command": "demo",
        "graph": graph_fields(graph),
        "plans": [plan_fields(r.plan) for r in (hops, metres, pairs)],
        "proofs": [str(proof) for proof in proofs],
        "longest": {"source": source, "target": target, "distance": longest, "path": route},
        "picture": str(drawn),
        "seconds": total,
    }


def _longest(result: Result) -> tuple[int, int, int]:
    """Return (source, target, length) of the longest of all shortest paths."""
    import numpy as np

    lengths = np.where(result.reached, result.distances, -1)
    row, column = np.unravel_index(int(lengths.argmax()), lengths.shape)
    return int(result.sources[row]), int(column), int(lengths[row, column])


def _km(metres: float) -> str:
    return f"{metres / 1000:.1f} km"


class _Guide:
    """Speaks to people, or keeps silent."""

    def __init__(self, speak: bool) -> None:
        self.speak = speak

    def title(self, words: str, code: str = "") -> None:
        if self.speak:
            line()
            headline(words, f"   {code}" if code else "")

    def line(self, words: str, style: str | None = None) -> None:
        if self.speak:
            line(f"  {words}", style)

    def proved(self, result: Result) -> Proof:
        """Prove a result and say what ran."""
        proof = result.verify()
        self.line(f"{describe_plan(result.plan)}: {seconds(result.stats.total)}", "dim")
        self.line(str(proof), "green")
        return proof

    def route(self, route: list[dict[str, Any]], ends: int = 3) -> None:
        """Print the first and the last steps of a route."""
        middle = len(route) - 2 * ends
        for at, step in enumerate(route):
            if at < ends or at >= len(route) - ends or middle <= 1:
                self.line(f"{number(step['total']):>8} m   junction {step['vertex']}")
            elif at == ends:
                self.line(f"{'...':>8}     {middle} junctions more", "dim")
