"""``kleene verify``: verify a saved result."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from typer import Argument, Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Output
from kleene.cli.summaries import graph_fields, plan_fields, show_result

__all__ = ["verify"]


@with_option_groups
def verify(
    *,
    graph: Input,
    result: Annotated[
        str,
        Argument(metavar="RESULT", help="A result of this graph, saved by --out: .npz or a store."),
    ],
    sample: Annotated[
        int | None,
        Option("--sample", metavar="N", min=1, help="Check only N sources, chosen at random."),
    ] = None,
    seed: Annotated[int, Option("--seed", metavar="N", help="The random seed of --sample.")] = 0,
    output: Output,
) -> None:
    """Verify a saved result, or report where it is wrong."""
    import kleene as kl

    loaded = kl.Result.load(result, graph.read())
    proof = loaded.verify(sample, seed)
    document = {
        "command": "verify",
        "graph": graph_fields(loaded.graph),
        "plan": plan_fields(loaded.plan),
        "proof": asdict(proof),
    }
    output.show(document, lambda: show_result(loaded, {"result": result}, proof))
