"""``kleene bfs``: fewest hops from a source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kleene.cli.by_ranks import search_by_ranks
from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Limit, Method, Output
from kleene.cli.output import line, number
from kleene.cli.solve import ResultOptions, SearchEndpoints, solve
from kleene.cli.summaries import Summary, distance_summary
from kleene.cli.under_mpiexec import under_mpiexec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kleene import Result

__all__ = ["bfs"]

_BAR, _ROWS = 40, 24  # the longest bar, and the largest number of bars


@with_option_groups
def bfs(
    *,
    graph: Input,
    ends: SearchEndpoints,
    limit: Limit = None,
    method: Method,
    cluster: Cluster,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Compute hop distances from a source to every vertex."""
    if under_mpiexec():
        search_by_ranks("bfs", graph, ends, method, result_options, output)
        return
    solution = solve("bfs", graph, ends, method, result_options, output, None, cluster, limit=limit)
    levels: list[int] = []  # the number of vertices at 0, 1, 2 ... hops

    def summarize(result: Result) -> Summary:
        summary = distance_summary(
            result, lambda hops: _count_levels(hops[hops != result.no_path], levels)
        )
        return replace(summary, document={**summary.document, "levels": levels})

    solution.show(summarize)
    if levels and len(solution.result.sources) == 1 and not output.json:
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
