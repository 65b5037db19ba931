"""``kleene closure``: best paths between all pairs over a semiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kleene.cli import completion
from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output
from kleene.cli.output import number
from kleene.cli.solve import Endpoints, ResultOptions, solve
from kleene.cli.summaries import Summary, describe_reached, rows_of_values

if TYPE_CHECKING:
    from kleene import Result

__all__ = ["closure"]

Semiring = Annotated[
    str | None,
    Option(
        "--semiring",
        metavar="NAME",
        autocompletion=completion.semirings,
        help="boolean (is there a path?), min_plus (shortest), max_min (widest) or max_times "
        "(most reliable); boolean by default, or what a .kp is prepared for.",
    ),
]


@with_option_groups
def closure(
    *,
    graph: Input,
    ends: Endpoints,
    semiring: Semiring = None,
    method: Method,
    cluster: Cluster,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Compute the best paths between all pairs over a semiring."""
    solution = solve(
        "closure", graph, ends, method, result_options, output, None, cluster, semiring=semiring
    )
    solution.show(_summarize)


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
