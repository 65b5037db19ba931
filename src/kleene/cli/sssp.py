"""``kleene sssp``: shortest paths from a source."""

from __future__ import annotations

from kleene.cli.by_ranks import search_by_ranks
from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Limit, Method, Output
from kleene.cli.solve import ResultOptions, SearchEndpoints, solve
from kleene.cli.summaries import distance_summary
from kleene.cli.turns import Turns
from kleene.cli.under_mpiexec import under_mpiexec

__all__ = ["sssp"]


@with_option_groups
def sssp(
    *,
    graph: Input,
    ends: SearchEndpoints,
    limit: Limit = None,
    turns: Turns,
    method: Method,
    cluster: Cluster,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Compute shortest paths from a source; weights may be negative."""
    if under_mpiexec():
        search_by_ranks("sssp", graph, ends, method, result_options, output)
        return
    solution = solve(
        "sssp", graph, ends, method, result_options, output, turns, cluster, limit=limit
    )
    solution.show(distance_summary)
