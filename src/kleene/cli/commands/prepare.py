"""``kleene prepare``: eliminate the vertices of a graph once, for many questions later."""

from __future__ import annotations

from pathlib import Path

from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import seconds
from kleene.cli.summaries import describe_prepared, prepared_fields, present

__all__ = ["prepare"]


@command("prepare")
def prepare(graph: Input, *, out: str, call: Call, output: Output) -> None:
    """Prepare a graph: eliminate its vertices once, answer in microseconds later.

    This pays on sparse graphs with small separators: roads, pipes, grids, meshes. What it would
    take is printed by `kleene explain GRAPH prepare`. The other commands take the .kp in place of
    the graph.

    Parameters
    ----------
    out : FILE
        Where to write the prepared graph: .kp.
    """
    import kleene as kl
    from kleene.system.formatting import format_bytes

    _check_name(out)
    read = graph.read(call.threads)
    prepared = kl.prepare(read, progress=not output.quiet, **call.given)
    prepared.save(out)
    size, times = Path(out).stat().st_size, prepared._steps._asdict()
    fields = {**prepared_fields(prepared), "seconds": times, "out": out, "file_bytes": size}
    took = {name: seconds(time) for name, time in times.items() if time is not None}
    words = {
        **describe_prepared(fields),
        "time": ", ".join(f"{name} {time}" for name, time in took.items()),
        "saved": f"{out}, {format_bytes(size)}",
    }
    present(output, "prepare", read, fields, words)


def _check_name(out: str) -> None:
    """Raise for a name that a prepared graph cannot be written to, before any work is done."""
    from kleene.errors import RequestError
    from kleene.prepared.files import SUFFIX

    if not out.lower().endswith(SUFFIX):
        raise RequestError(f"{out}: a prepared graph is saved as {SUFFIX}")
    if not Path(out).parent.is_dir():
        raise RequestError(f"there is no directory {Path(out).parent}", advice=["make it first"])
