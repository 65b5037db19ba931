"""``kleene sssp``: shortest paths from a source."""

from __future__ import annotations

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output
from kleene.cli.solve import Endpoints, Limit, ResultOptions, solve
from kleene.cli.summaries import distance_summary

__all__ = ["sssp"]


@with_option_groups
def sssp(
    *,
    graph: Input,
    ends: Endpoints,
    limit: Limit = None,
    method: Method,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Compute shortest paths from a source; weights may be negative."""
    solution = solve("sssp", graph, ends, method, result_options, output, limit=limit)
    document, summary = distance_summary(solution.result)
    solution.show(document, summary, top=10)
