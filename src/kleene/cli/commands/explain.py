"""``kleene explain`` and ``methods``: what would run, why, and what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import headline, line
from kleene.cli.summaries import graph_fields, plan_fields

if TYPE_CHECKING:
    from kleene.registry import Methods

__all__ = ["explain", "methods"]

_COLUMNS = ("problem", "name", "device", "needs", "origin", "file", "summary")


@command("apsp", "closure", "within", "betweenness")
def explain(graph: Input, problem: str, *, call: Call, output: Output) -> None:
    """Explain which method would run, why, and how much memory it needs.

    Parameters
    ----------
    problem : PROBLEM
        bfs, sssp, apsp, closure, prepare, or another call of the library.
    semiring : NAME
        The semiring: for closure boolean by default, or what a .kp is prepared for; for prepare
        min_plus.
    """
    import kleene as kl

    read, answering = graph.open(call.threads)
    given: dict[str, Any] = call.keywords(read)
    name = problem.replace("-", "_")
    if name == "nearest" and "sources" in given:
        given["facilities"] = given.pop("sources")
    plan = call.run(kl.explain, read if name == "bfs" else answering, name, **given)
    document = {"command": "explain", "graph": graph_fields(read), "plan": plan_fields(plan)}
    output.show(document, lambda: line(str(plan)))


@command()
def methods(problem: str | None = None, *, device: str | None = None, output: Output) -> None:
    """List the methods with device, requirements and origin.

    Parameters
    ----------
    problem : PROBLEM
        The problem: bfs, sssp, apsp or closure.
    device : NAME
        The device: cuda, cpu, emulated or reference.
    """
    import kleene as kl

    rows = kl.methods(problem, device)
    document = {
        "command": "methods",
        "methods": [
            {c: getattr(row, c) for c in _COLUMNS}
            | {"semirings": list(row.semirings), "options": list(row.options)}
            for row in rows
        ],
    }
    output.show(document, lambda: _show(rows))


def _show(rows: Methods) -> None:
    """Print three lines for each method, under its problem."""
    from kleene.registry import PROBLEMS

    if not rows:
        line("no methods")
        return
    width = {c: max(len(getattr(row, c)) for row in rows) for c in ("name", "device", "needs")}
    for problem, description in PROBLEMS.items():
        own = [row for row in rows if row.problem == problem]
        if own:
            headline(problem, f": {description}")
        for row in own:
            cells = [getattr(row, column).ljust(width[column]) for column in width]
            line("  " + "  ".join([*cells, row.origin]))
            line(f"      {row.summary}", style="dim")
            line(f"      {row.file}", style="dim")
