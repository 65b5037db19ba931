"""Commands and groups of commands: made when they are needed, with help in sections.

A group knows the names of its commands and how to find their functions; a command, with its
options, is made when it runs or shows its help. A section is the ``rich_help_panel`` of an option.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from kleene.cli.errors import EPILOG, in_options, use_options, warnings_in_one_line
from kleene.cli.options import flat

__all__ = ["Command", "CommandGroup", "made"]


class Command(TyperCommand):
    """A command whose options are listed in sections, its own before those that others share."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = (p for p in self.get_params(ctx) if p.param_type_name == "argument")
        return ["[OPTIONS]", *map(_usage, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                described: Any = parameter
                sections["Arguments"].append((_usage(parameter), described.help or ""))
                continue
            record = _without_aliases(parameter).get_help_record(ctx)
            if record is not None:
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(title, []).append(record)
        help_option = sections["Options"].pop()
        sections[next(reversed(sections))].append(help_option)
        _write(formatter, sections)


def _without_aliases(option: Any) -> Any:
    """Return an option with the first of its long names only: others are of former versions.

    The opposite of a flag is left out where it is the default.
    """
    long = [name for name in option.opts if name.startswith("--")]
    shown = copy(option)
    shown.opts = [name for name in option.opts if name not in long[1:]]
    shown.secondary_opts = option.secondary_opts if option.show_default else []
    return shown


def _usage(argument: Any) -> str:
    """Return an argument as the usage line has it: GRAPH, [SOURCE]..."""
    name = argument.metavar or argument.name.upper()
    name = name if argument.required else f"[{name}]"
    return f"{name}..." if argument.nargs == -1 else str(name)


def made(name: str, function: Callable[..., None], kind: type[TyperCommand] = Command) -> Any:
    """Return the command for a function that is marked by ``options.command``."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name, cls=kind, epilog=EPILOG)(flat(function))
    return typer.main.get_command(app)


class CommandGroup(TyperGroup):
    """Commands in sections, in the order in which they were added.

    Parameters
    ----------
    functions : function
        Returns the functions of the commands in each section, by name.
    """

    def __init__(
        self,
        *,
        functions: Callable[[], Mapping[str, Mapping[str, Any]]] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(**{"rich_markup_mode": None, "no_args_is_help": True} | attributes)
        self._functions = functions

    def sections(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the functions of commands, and groups, in each section by name."""
        return {} if self._functions is None else self._functions()

    def find(self, name: str) -> Any:
        """Return the function of a command, a group, or None."""
        return next((own[name] for own in self.sections().values() if name in own), None)

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for own in self.sections().values() for name in own]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self.commands.get(cmd_name) is None:
            found = self.find(cmd_name)
            if found is None:
                return None
            known = isinstance(found, TyperGroup)
            self.commands[cmd_name] = found if known else self.make(cmd_name, found)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.find(args[0]) is None:  # typer looks here for near names
            self.commands: Any = dict.fromkeys(self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def make(self, name: str, function: Callable[..., None]) -> Any:
        """Return the command for a function."""
        return made(name, function)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        _write(
            formatter,
            {
                title: [(name, _summary(found)) for name, found in own.items()]
                for title, own in self.sections().items()
            },
        )

    def invoke(self, ctx: Any) -> Any:
        def reworded(message: Any) -> str:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            return str(message) if command is None else in_options(message, command)

        try:
            with warnings_in_one_line(reworded):
                return super().invoke(ctx)
        except Exception as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if command is not None:
                use_options(error, command)
            raise


def _summary(found: Any) -> str:
    """Return one line about a command or a group."""
    doc = found.help if isinstance(found, TyperGroup) else inspect.getdoc(found)
    return (doc or "").partition("\n")[0]


def _write(formatter: Any, sections: Mapping[str, list[tuple[str, str]]]) -> None:
    """Write sections, with their second columns aligned."""
    first = max((len(row[0]) for rows in sections.values() for row in rows), default=0)
    for title, rows in sections.items():
        if rows:
            padded = [(name.ljust(min(first, 30)), help_text) for name, help_text in rows]
            with formatter.section(title):
                formatter.write_dl(padded)
