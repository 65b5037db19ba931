"""The entry point of ``kleene``.

Only what ``--help`` needs is imported here; each command imports the rest when it runs.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kleene.cli.apsp import apsp
from kleene.cli.bfs import bfs
from kleene.cli.closure import closure
from kleene.cli.components import components
from kleene.cli.convert import convert
from kleene.cli.demo import demo
from kleene.cli.doctor import doctor
from kleene.cli.draw import draw
from kleene.cli.exit_codes import EPILOG, exit_on_error, stop_on_signals
from kleene.cli.explain import explain
from kleene.cli.generate import GeneratorCommands
from kleene.cli.groups import Command, CommandGroup
from kleene.cli.info import info
from kleene.cli.isochrones import isochrones
from kleene.cli.k_shortest import k_shortest
from kleene.cli.lab import app as lab
from kleene.cli.loads import loads
from kleene.cli.matrix import matrix
from kleene.cli.measure import measure
from kleene.cli.methods import methods
from kleene.cli.nearest import nearest
from kleene.cli.output import escape_unencodable
from kleene.cli.path import path
from kleene.cli.prepare import prepare
from kleene.cli.sssp import sssp
from kleene.cli.store import app as store
from kleene.cli.under_mpiexec import SEARCHES, SearchCommand, refuse_under_mpiexec, run_app
from kleene.cli.verify import verify
from kleene.cli.within import within

__all__ = ["app", "main"]


class Commands(CommandGroup):
    """All commands; errors become messages and exit codes."""

    def invoke(self, ctx: Any) -> Any:
        with exit_on_error(), stop_on_signals():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_GRAPHS = "Graphs"
_SECTIONS = {
    "Paths": (bfs, sssp, apsp, matrix, closure, path, k_shortest),
    "Reach": (nearest, within, isochrones, components),
    "Measures": (measure, loads),
    _GRAPHS: (info, prepare, convert, draw),
    "Results and machine": (verify, methods, explain, doctor, demo),
}
for section, functions in _SECTIONS.items():
    for function in functions:
        name = function.__name__.replace("_", "-")
        kind = SearchCommand if name in SEARCHES else Command
        app.command(name, cls=kind, epilog=EPILOG, rich_help_panel=section)(function)
app.add_typer(
    typer.Typer(
        cls=GeneratorCommands,
        rich_markup_mode=None,
        no_args_is_help=True,
        help="Generate a graph and write it to a file.",
    ),
    name="generate",
    rich_help_panel=_GRAPHS,
)
app.add_typer(store, name="store", rich_help_panel="Results and machine")
app.add_typer(lab, name="lab", rich_help_panel="Results and machine")


def _print_version(wanted: bool) -> None:
    if wanted:
        from kleene import __version__

        typer.echo(f"kleene {__version__}")
        raise typer.Exit


@app.callback()
def _kleene(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Shortest paths, traversals and path closures of graphs.

    A graph is a file (CSV and other edge lists, .gr, .mtx, METIS, GraphML, GML, TNTP, GAP, .npz,
    .npy, Parquet; also gzip), one that `kleene prepare` wrote (.kp), or - for standard input. A
    vertex is given by its label, which is the name or number that the file gives it; without
    labels, by its position from 0. Every command has --json.
    """
    refuse_under_mpiexec(ctx.invoked_subcommand)


def main() -> None:
    """Run the command line."""
    escape_unencodable()
    with exit_on_error():
        run_app(app)


if __name__ == "__main__":
    main()
