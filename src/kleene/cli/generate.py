"""``kleene generate``: a sub-command for each function of ``kleene.generate``.

The options are the function's parameters, with their types and their words from its docstring, so
a new family needs no line here. Families are looked up when needed: the help of ``kleene`` itself
does not wait for them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from kleene.cli.convert import Destination, To, write_and_show
from kleene.cli.option_groups import with_option_groups, with_parameters
from kleene.cli.options import Output, Threads

__all__ = ["Families"]


class Families(TyperGroup):
    """A group of commands that is filled when it is first looked into."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(_commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _commands().get(cmd_name)


@cache
def _commands() -> dict[str, Any]:
    """Return a command for each family."""
    from kleene import generate

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.callback()(lambda: None)
    for family in generate.__all__:
        function = getattr(generate, family)
        if inspect.isfunction(function):
            app.command(family.replace("_", "-"))(_command(function))
    group: Any = typer.main.get_command(app)
    found: dict[str, Any] = group.commands
    return found


def _command(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the command that calls ``function`` with the options given, and writes the graph."""

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
    made = with_parameters(command, [*_parameters(function), *own])
    made.__name__, made.__doc__ = function.__name__, inspect.getdoc(function)
    made.__doc__ = (made.__doc__ or "").split("\n\n")[0]
    return made


# ---- from a parameter to an option --------------------------------------------------------------


def _parameters(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    words = _words(function)
    kinds = get_type_hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("threads", "progress"):
            continue
        required = parameter.default is inspect.Parameter.empty
        flag = f"--{name.replace('_', '-')}"
        about = (_HELP.get(name) or words.get(name, "")) + _spelled(parameter.default)
        kind: Any
        kind, parser, metavar = _kind(name, kinds[name])
        if kind is bool:
            off = "--undirected" if name == "directed" else f"--no-{flag[2:]}"
            option = typer.Option(f"{flag}/{off}", help=about)
        else:
            option = typer.Option(flag, parser=parser, metavar=metavar, help=about)
        # An option that is not given is not passed on, so defaults stay the function's own.
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else None,
            annotation=Annotated[kind if required else kind | None, option],
        )


_HELP = {
    "weights": "A number, LOW:HIGH such as 1:255 or 0.0:1.0, or LOW:HIGH:TYPE.",
    "seed": "The same seed makes the same graph.",
    "directed": "Arcs one way, or both ways.",
}


def _kind(name: str, annotation: Any) -> tuple[type, Callable[[str], Any] | None, str]:
    """Return what typer needs to know of a type: the type, a parser, a word for the help."""
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
        raise typer.BadParameter(f"{text!r} is not LOW:HIGH")
    return (_number(low), _number(rest[0]), *rest[1:])


def _spelled(default: Any) -> str:
    """Return a default as one would write it on the command line, for the help."""
    if default is None or default is False or default is inspect.Parameter.empty:
        return ""
    if isinstance(default, tuple):
        default = ":".join(map(str, default))
    return f"  [default: {'yes' if default is True else default}]"


def _words(function: Callable[..., Any]) -> dict[str, str]:
    """Return the first sentence on each parameter in a NumPy-style docstring."""
    doc = inspect.getdoc(function) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)
    found: dict[str, str] = {}
    if section is None:
        return found
    for head, body in re.findall(r"^(\w[^\n]*)\n((?:    [^\n]*\n?)+)", section[1], re.MULTILINE):
        text = " ".join(body.split()).replace("``", "")
        sentence = re.split(r"(?<=\.) (?=[A-Z])", text)[0]
        for name in head.partition(" : ")[0].split(","):
            found[name.strip()] = sentence
    return found
