"""``kleene apsp``: shortest paths between all pairs."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Limit, Method, Output
from kleene.cli.solve import ResultOptions, SearchEndpoints, solve
from kleene.cli.summaries import distance_summary

__all__ = ["apsp"]


@with_option_groups
def apsp(
    *,
    graph: Input,
    ends: SearchEndpoints,
    limit: Limit = None,
    option: Annotated[
        list[str] | None,
        Option("--option", metavar="NAME=N", help="A parameter of the method, such as block=48."),
    ] = None,
    method: Method,
    cluster: Cluster,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Compute shortest paths between all pairs, or from some sources."""
    options = dict(map(_parse_option, option or ()))
    solution = solve(
        "apsp",
        graph,
        ends,
        method,
        result_options,
        output,
        None,
        cluster,
        limit=limit,
        options=options,
    )
    solution.show(distance_summary)


def _parse_option(text: str) -> tuple[str, int]:
    from kleene.errors import RequestError

    name, equals, number = text.partition("=")
    if not (name and equals and number.isdecimal()):
        raise RequestError(f"--option takes NAME=N, such as block=48, not {text!r}")
    return name, int(number)
