"""``kleene apsp``: shortest paths between all pairs."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output
from kleene.cli.solve import Endpoints, Limit, ResultOptions, solve
from kleene.cli.summaries import distance_summary

__all__ = ["apsp"]


@with_option_groups
def apsp(
    *,
    graph: Input,
    ends: Endpoints,
    limit: Limit = None,
    option: Annotated[
        list[str] | None,
        Option("--option", metavar="NAME=N", help="A number to set of the method: block=48."),
    ] = None,
    method: Method,
    wanted: ResultOptions,
    output: Output,
) -> None:
    """Find shortest paths between all pairs, or from some sources."""
    options = dict(map(_setting, option or ()))
    answer = solve("apsp", graph, ends, method, wanted, output, limit=limit, options=options)
    document, summary = distance_summary(answer.result)
    answer.show(document, summary, top=0)


def _setting(text: str) -> tuple[str, int]:
    from kleene.errors import RequestError

    name, equals, number = text.partition("=")
    if not (name and equals and number.isdecimal()):
        raise RequestError(f"--option takes a name and a number, as in block=48, not {text!r}")
    return name, int(number)
