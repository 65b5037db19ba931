"""``kleene bfs``: fewest hops from a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kleene.cli.bundles import bundled
from kleene.cli.documents import distance_summary
from kleene.cli.options import Input, Method, Output
from kleene.cli.output import line, number
from kleene.cli.solve import Ends, Limit, Wanted, solve

if TYPE_CHECKING:
    from kleene import Result

__all__ = ["bfs"]

_BAR = 40  # characters of the longest bar


@bundled
def bfs(
    *,
    graph: Input,
    ends: Ends,
    limit: Limit = None,
    method: Method,
    wanted: Wanted,
    output: Output,
) -> None:
    """Count the fewest hops from a source to every vertex."""
    answer = solve("bfs", graph, ends, method, wanted, output, limit=limit)
    document, summary = distance_summary(answer.result)
    levels = _levels(answer.result)
    answer.show({**document, "levels": levels}, summary, top=10)
    if len(answer.result.sources) == 1 and not (output.json or output.quiet):
        _show_levels(levels)


def _levels(result: Result) -> list[int]:
    """Count the vertices at 0, 1, 2 ... hops."""
    import numpy as np

    hops = result.distances[result.reached]
    return [int(count) for count in np.bincount(hops)] if hops.size else []


def _show_levels(levels: list[int]) -> None:
    line()
    most, digits = max(levels), len(number(max(levels)))
    for hops, count in enumerate(levels):
        bar = "█" * round(_BAR * count / most) or "▏" * bool(count)
        line(f"  {hops:>4} hops  {number(count):>{digits}}  {bar}")
