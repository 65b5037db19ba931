"""``kleene apsp``: shortest paths between all pairs."""

from __future__ import annotations

from kleene.cli.bundles import bundled
from kleene.cli.documents import distance_summary
from kleene.cli.options import Input, Method, Output
from kleene.cli.solve import Ends, Limit, Wanted, solve

__all__ = ["apsp"]


@bundled
def apsp(
    *,
    graph: Input,
    ends: Ends,
    limit: Limit = None,
    method: Method,
    wanted: Wanted,
    output: Output,
) -> None:
    """Find shortest paths between all pairs, or from some sources."""
    answer = solve("apsp", graph, ends, method, wanted, output, limit=limit)
    document, summary = distance_summary(answer.result)
    answer.show(document, summary, top=0)
