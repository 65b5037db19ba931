"""``kleene sssp``: shortest paths from a source."""

from __future__ import annotations

from kleene.cli.bundles import bundled
from kleene.cli.documents import distance_summary
from kleene.cli.options import Input, Method, Output
from kleene.cli.solve import Ends, Limit, Wanted, solve

__all__ = ["sssp"]


@bundled
def sssp(
    *,
    graph: Input,
    ends: Ends,
    limit: Limit = None,
    method: Method,
    wanted: Wanted,
    output: Output,
) -> None:
    """Find shortest paths from a source; weights may be negative."""
    answer = solve("sssp", graph, ends, method, wanted, output, limit=limit)
    document, summary = distance_summary(answer.result)
    answer.show(document, summary, top=10)
