"""``kleene bfs``, ``sssp``, ``apsp`` and ``closure``: paths from sources to all vertices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import line, number
from kleene.cli.ranks import search_by_ranks, under_mpiexec
from kleene.cli.solve import ResultOptions, Turns, solve
from kleene.cli.summaries import Summary, describe_reached, distance_summary, rows_of_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kleene import Result

__all__ = ["apsp", "bfs", "closure", "sssp"]

_BAR, _ROWS = 40, 24  # the longest bar, and the largest number of bars


@command("bfs")
def bfs(graph: Input, *, call: Call, result_options: ResultOptions, output: Output) -> None:
    """Compute hop distances from a source to every vertex."""
    if under_mpiexec():
        search_by_ranks("bfs", graph, call, result_options, output)
        return
    levels: list[int] = []  # the number of vertices at 0, 1, 2 ... hops

    def summarize(result: Result) -> Summary:
        summary = distance_summary(
            result, lambda hops: _count_levels(hops[hops != result.no_path], levels)
        )
        return replace(summary, document={**summary.document, "levels": levels})

    result = solve("bfs", graph, call, result_options, output, summarize)
    if levels and len(result.sources) == 1 and not output.json:
        _show_levels(levels)


def _count_levels(hops: NDArray[Any], levels: list[int]) -> None:
    """Add vertices at so many hops to the number of vertices at each level."""
    import numpy as np

    found = np.bincount(hops).tolist()
    levels += [0] * (len(found) - len(levels))
    for level, count in enumerate(found):
        levels[level] += count


def _show_levels(levels: list[int]) -> None:
    """Print a bar per level, or per group of levels if there are many."""
    per_bar = -(-len(levels) // _ROWS)
    counts = [sum(levels[at : at + per_bar]) for at in range(0, len(levels), per_bar)]
    most, digits = max(counts), len(number(max(counts)))
    line()
    for at, count in enumerate(counts):
        first = at * per_bar
        last = min(first + per_bar, len(levels)) - 1
        hops = str(first) if first == last else f"{first}-{last}"
        bar = "█" * round(_BAR * count / most) or "▏"
        line(f"  {hops:>5} hops  {number(count):>{digits}}  {bar}")


@command("sssp")
def sssp(
    graph: Input, *, call: Call, turns: Turns, result_options: ResultOptions, output: Output
) -> None:
    """Compute shortest paths from a source; weights may be negative."""
    if under_mpiexec():
        search_by_ranks("sssp", graph, call, result_options, output)
        return
    solve("sssp", graph, call, result_options, output, distance_summary, turns)


@command("apsp")
def apsp(graph: Input, *, call: Call, result_options: ResultOptions, output: Output) -> None:
    """Compute shortest paths between all pairs, or from some sources."""
    solve("apsp", graph, call, result_options, output, distance_summary)


@command("closure")
def closure(graph: Input, *, call: Call, result_options: ResultOptions, output: Output) -> None:
    """Compute the best paths between all pairs over a semiring.

    By default it is boolean, or what a .kp is prepared for.

    Parameters
    ----------
    predecessors : bool
        Keep predecessors, which paths are read from.
    top : N
        List the N best targets of each source.
    """
    solve("closure", graph, call, result_options, output, _summarize)


def _summarize(result: Result) -> Summary:
    """Return the number of pairs with a path, and the range of the values of non-empty paths."""
    import numpy as np

    semiring = result.plan.semiring
    reached, lowest, highest = 0, None, None
    for _, values, hit, others in rows_of_values(result):
        reached += int(np.count_nonzero(hit))
        if semiring != "boolean" and len(others):
            low, high = values[others].min().item(), values[others].max().item()
            lowest = low if lowest is None else min(lowest, low)
            highest = high if highest is None else max(highest, high)
    facts = {"semiring": semiring, "reached": describe_reached(result, reached)}
    if lowest is not None:
        facts["values"] = f"{number(lowest)} to {number(highest)}, without empty paths"
    return Summary(reached, {"semiring": semiring, "lowest": lowest, "highest": highest}, facts)
