"""The entry point of ``kleene``.

Only what ``--help`` needs is imported here; each command imports the rest when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from kleene.cli.errors import EPILOG, exit_on_error, stop_on_signals
from kleene.cli.groups import CommandGroup, made
from kleene.cli.output import escape_unencodable
from kleene.cli.ranks import SEARCHES, SearchCommand, refuse_under_mpiexec, run_app

__all__ = ["app", "main"]

#: The commands of each section, and the modules that have them.
_SECTIONS = {
    "Paths": {
        **dict.fromkeys(("bfs", "sssp", "apsp"), "paths"),
        "matrix": "pairs", "closure": "paths", "path": "pairs", "k-shortest": "pairs",
    },
    "Reach": {
        **dict.fromkeys(("nearest", "within", "isochrones"), "near"), "components": "components",
    },
    "Measures": {"measure": "measures", "loads": "measures"},
    "Graphs": {
        "info": "graphs", "prepare": "prepare", "convert": "graphs", "draw": "draw",
        "generate": "graphs",
    },
    "Results and machine": {
        "verify": "stores", "methods": "explain", "explain": "explain", "doctor": "doctor",
        "demo": "demo", "store": "stores", "lab": "lab",
    },
}  # fmt: skip


class Commands(CommandGroup):
    """All commands; errors become messages and exit codes."""

    def sections(self) -> Mapping[str, Mapping[str, Any]]:
        return {title: {name: self.find(name) for name in own} for title, own in _SECTIONS.items()}

    def find(self, name: str) -> Any:
        module = next((own[name] for own in _SECTIONS.values() if name in own), None)
        if module is None:
            return None
        return getattr(import_module(f"kleene.cli.commands.{module}"), name.replace("-", "_"))

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for own in _SECTIONS.values() for name in own]

    def make(self, name: str, function: Any) -> Any:
        return made(name, function, *([SearchCommand] if name in SEARCHES else []))

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

    A graph is a file (CSV and other edge lists, .gr, .mtx, METIS, GraphML, GML, TNTP, GAP, GeoJSON,
    GeoPackage, .npz, .npy, Parquet; also gzip), one that `kleene prepare` wrote (.kp), or - for
    standard input. A vertex is given by its label, which is the name or number that the file gives
    it; without labels, by its position from 0. Every command has --json, and -o - for standard
    output.
    """
    refuse_under_mpiexec(ctx.invoked_subcommand)


def main() -> None:
    """Run the command line."""
    escape_unencodable()
    with exit_on_error():
        run_app(app)


if __name__ == "__main__":
    main()
