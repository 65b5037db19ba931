"""``kleene closure``: best paths between all pairs over a semiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli import completion
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output
from kleene.cli.output import number
from kleene.cli.solve import Endpoints, ResultOptions, solve
from kleene.cli.summaries import describe_reached

if TYPE_CHECKING:
    from kleene import Result

__all__ = ["closure"]

Semiring = Annotated[
    str,
    Option(
        "--semiring",
        metavar="NAME",
        autocompletion=completion.semirings,
        help="boolean (is there a path?), min_plus (shortest), max_min (widest) or max_times "
        "(most reliable).",
    ),
]


@with_option_groups
def closure(
    *,
    graph: Input,
    ends: Endpoints,
    semiring: Semiring = "boolean",
    method: Method,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Compute the best paths between all pairs over a semiring."""
    solution = solve("closure", graph, ends, method, result_options, output, semiring=semiring)
    lowest, highest = _range(solution.result)
    summary = {"semiring": semiring, "reached": describe_reached(solution.result)}
    if lowest is not None:
        summary["values"] = f"{number(lowest)} to {number(highest)}, without empty paths"
    document = {"semiring": semiring, "lowest": lowest, "highest": highest}
    solution.show(document, summary)


def _range(result: Result) -> tuple[Any, Any]:
    """Return the smallest and largest value of non-empty paths; None for boolean."""
    import numpy as np

    if result.plan.semiring == "boolean":
        return None, None
    targets = np.arange(result.graph.n) if result._targets is None else result._targets
    nonempty = result.reached & (result._sources[:, None] != targets)
    if not nonempty.any():
        return None, None
    values = result.values[nonempty]
    return values.min().item(), values.max().item()
