"""``kleene components``: sets of vertices that paths join."""

from __future__ import annotations

from typing import Any

from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import line, table
from kleene.cli.summaries import present, show_more
from kleene.cli.tables import check_table, save_table

__all__ = ["components"]


@command("components")
def components(
    graph: Input,
    *,
    strong: bool = False,
    top: int = 10,
    largest: str | None = None,
    out: str | None = None,
    call: Call,
    output: Output,
) -> None:
    """Find the connected components, the largest first.

    Parameters
    ----------
    strong : bool
        Vertices must reach each other along the arcs.
    top : N
        List the N largest components.
    largest : FILE
        Write the largest component as a graph.
    """
    import numpy as np

    import kleene as kl

    check_table(out)
    read = graph.read(call.threads)
    found = kl.components(read, "strong" if strong else "weak", **call.given)
    if largest is not None:
        kl.write(read.subgraph(found.largest), largest, threads=call.threads)
    if out is not None:
        columns = {"vertex": read.label(np.arange(read.n)), "component": found.component}
        output = save_table(columns, out, output)
    rows: list[dict[str, Any]] = [
        {
            "component": at,
            "vertices": int(found.sizes[at]),
            "first": found.members(at)[:1].tolist()[0],
        }
        for at in range(min(top, found.count))
    ]
    most = int(found.sizes[0]) if found.count else 0
    largest_one = f"{most:,} of {read.n:,} vertices ({most / max(1, read.n):.1%})"

    def more() -> None:
        if rows:
            line()
            columns = ["component", "vertices", "first"]
            table(columns, [[row[c] for c in columns] for row in rows], quantities=["vertices"])
            show_more(found.count - len(rows), f"--top {found.count}")

    present(
        output,
        "components",
        read,
        {
            "kind": found.kind,
            "count": found.count,
            "listed": len(rows),
            "components": rows,
            "largest": largest,
            "out": out,
        },
        {
            f"{found.kind} components": f"{found.count:,}",
            "the largest": largest_one if found.count else None,
            "saved": ", ".join(name for name in (out, largest) if name) or None,
        },
        more,
    )
