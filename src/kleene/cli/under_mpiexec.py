"""How the command line starts where mpiexec, or srun, started several processes of it.

All ranks parse the same arguments and find the same mistakes. The first rank prints them and gives
the exit code; the others end with 0, for some MPI libraries kill all ranks as soon as one fails.
Only bfs and sssp work on all ranks together. Another command would run as a whole in each of them.
"""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from typing import Any, NoReturn

from kleene.cli.groups import Command
from kleene.cli.options import Input, Output
from kleene.clusters.mpi.launch import launched_rank, launched_ranks

__all__ = ["SEARCHES", "SearchCommand", "refuse_under_mpiexec", "run_app", "under_mpiexec"]

#: The commands that ranks run together.
SEARCHES = ("bfs", "sssp")

#: What ranks have, by the names of the parameters; everything else is refused.
_OPTIONS = {
    *(field.name for group in (Input, Output) for field in fields(group)),
    *("sources", "source", "out", "resume", "verify", "predecessors", "dtype"),
} - {"oneway", "through", "null_value", "positions"}
_VALUES = {"method": ("auto",), "device": ("auto", "cpu")}


def under_mpiexec() -> bool:
    """Return whether this process is one of several of an MPI job."""
    return launched_ranks() > 1


def run_app(app: Any) -> None:
    """Run the command line; what all ranks would print is printed by the first."""
    if not under_mpiexec() or launched_rank() == 0:
        app(prog_name="kleene")
        return
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - to the end; help, for one
    try:
        code = app(prog_name="kleene", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "exit_code"):  # those of typer have one, errors of usage
            raise
        code = 0
    raise SystemExit(code)


def refuse_under_mpiexec(command: str | None) -> None:
    """Raise RequestError where a command other than a search is one of several processes."""
    if under_mpiexec() and command is not None and command not in SEARCHES:
        _refuse(
            f"{command} does not work under mpiexec; run kleene in one process for it "
            f"({' and '.join(SEARCHES)} work on all ranks)"
        )


class SearchCommand(Command):
    """A command that works on all ranks; options that ranks do not have are refused."""

    def invoke(self, ctx: Any) -> Any:
        if under_mpiexec():
            for parameter in self.params:
                _check(parameter, ctx.params.get(parameter.name or ""), ctx)
        return super().invoke(ctx)


def _check(parameter: Any, value: Any, ctx: Any) -> None:
    """Raise RequestError for an option that was given and that ranks do not have."""
    name = parameter.name
    known = _OPTIONS - ({"dtype"} if ctx.info_name == "bfs" else set())
    given = ctx.get_parameter_source(name).name == "COMMANDLINE"
    if given and name not in known and value not in _VALUES.get(name, ()):
        _refuse(
            f"{parameter.opts[0]} does not work under mpiexec; run kleene in one process for it"
        )


def _refuse(message: str) -> NoReturn:
    """Raise RequestError on the first rank; end the others."""
    from kleene.errors import RequestError

    if launched_rank() > 0:
        raise SystemExit(0)
    raise RequestError(message)
