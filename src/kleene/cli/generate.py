"""``kleene generate``: a subcommand for each function of ``kleene.generate``.

The options are the function's parameters, with types from its signature and help from its
docstring, so a new generator needs no code here. Generators are imported when needed, not for
``kleene --help``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

import typer

from kleene.cli.convert import Destination, To, write_and_show
from kleene.cli.groups import Command, CommandGroup
from kleene.cli.option_groups import with_option_groups, with_parameters
from kleene.cli.options import Output, Threads

__all__ = ["GeneratorCommands"]


class GeneratorCommands(CommandGroup):
    """A group of commands that is created on first use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(_commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _commands().get(cmd_name)


@cache
def _commands() -> dict[str, Any]:
    """Return a command for each generator."""
    from kleene import generate

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.callback()(lambda: None)
    for name in generate.__all__:
        function = getattr(generate, name)
        if inspect.isfunction(function):
            app.command(name.replace("_", "-"), cls=Command)(_command(function))
    group: Any = typer.main.get_command(app)
    commands: dict[str, Any] = group.commands
    return commands


def _command(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the command that calls ``function`` with the given options and writes the graph."""

    @with_option_groups
    def command(
        *, out: Destination, to: To = None, threads: Threads = None, output: Output, **options: Any
    ) -> None:
        from kleene.system.progress import reporter

        given = {name: value for name, value in options.items() if value is not None}
        with reporter(not output.quiet, f"generating {function.__name__}") as report:
            graph = function(**given, threads=threads, progress=report)
        write_and_show(graph, "generate", out, to, threads, output)

    own = [p for p in inspect.signature(command).parameters.values() if p.name != "options"]
    command.__name__ = function.__name__
    command.__doc__ = (inspect.getdoc(function) or "").split("\n\n")[0]
    return with_parameters(command, [*_parameters(function), *own])


# ---- from a parameter to an option --------------------------------------------------------------


def _parameters(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    docs = _parameter_docs(function)
    kinds = get_type_hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("threads", "progress"):
            continue
        required = parameter.default is inspect.Parameter.empty
        flag = f"--{name.replace('_', '-')}"
        help_text = (_HELP.get(name) or docs.get(name, "")) + _default_text(parameter.default)
        kind: Any
        kind, parser, metavar = _kind(name, kinds[name])
        if kind is bool:
            off = "--undirected" if name == "directed" else f"--no-{flag[2:]}"
            option = typer.Option(f"{flag}/{off}", help=help_text)
        else:
            option = typer.Option(flag, parser=parser, metavar=metavar, help=help_text)
        # An option that is not given is not passed, so the function's own defaults apply.
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else None,
            annotation=Annotated[kind if required else kind | None, option],
        )


_HELP = {
    "weights": "A number, LOW:HIGH such as 1:255 or 0.0:1.0, or LOW:HIGH:TYPE.",
    "seed": "The same seed makes the same graph.",
    "directed": "Make arcs or undirected edges.",
}


def _kind(name: str, annotation: Any) -> tuple[type, Callable[[str], Any] | None, str]:
    """Return the type, parser and metavar of an option."""
    if name == "weights":
        return str, _weights, "LOW:HIGH"
    kinds = set(get_args(annotation) or (annotation,)) - {type(None)}
    if {int, float} <= kinds:
        return str, _number, "NUMBER"
    kind = next((k for k in (bool, int, float) if k in kinds), str)
    return kind, None, {int: "N", float: "X"}.get(kind, "TEXT")


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


def _weights(text: str) -> Any:
    low, *rest = text.split(":")
    if not rest:
        return _number(low)
    if len(rest) > 2:
        raise typer.BadParameter(f"{text!r} is not LOW:HIGH or LOW:HIGH:TYPE")
    return (_number(low), _number(rest[0]), *rest[1:])


def _default_text(default: Any) -> str:
    """Return a default value as written on the command line, for the help."""
    if default is None or default is False or default is inspect.Parameter.empty:
        return ""
    if isinstance(default, tuple):
        default = ":".join(map(str, default))
    return f"  [default: {'yes' if default is True else default}]"


def _parameter_docs(function: Callable[..., Any]) -> dict[str, str]:
    """Return the first sentence about each parameter in a NumPy-style docstring."""
    doc = inspect.getdoc(function) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)
    docs: dict[str, str] = {}
    if section is None:
        return docs
    for head, body in re.findall(r"^(\w[^\n]*)\n((?:    [^\n]*\n?)+)", section[1], re.MULTILINE):
        text = " ".join(body.split()).replace("``", "")
        sentence = re.split(r"(?<=\.) (?=[A-Z])", text)[0]
        for name in head.partition(" : ")[0].split(","):
            docs[name.strip()] = sentence
    return docs
