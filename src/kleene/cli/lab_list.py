"""``kleene lab list``: the experiments."""

from __future__ import annotations

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import table

__all__ = ["list_experiments"]


@with_option_groups
def list_experiments(*, output: Output) -> None:
    """List all experiments."""
    from kleene_lab.experiments import EXPERIMENTS

    rows = [
        {
            "id": one.id,
            "question": one.question,
            "suites": list(one.suites),
            "document": None if one.document is None else one.document.authors,
            "seconds": one.budget,
        }
        for one in EXPERIMENTS
    ]
    shown = [(one.id, ", ".join(one.suites), one.question) for one in EXPERIMENTS]
    output.show({"experiments": rows}, lambda: table(("id", "suites", "question"), shown))
