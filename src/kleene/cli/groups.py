"""Commands and groups of commands whose help has sections, and whose errors name options.

A section is the ``rich_help_panel`` of an option or command; the help itself is plain text.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from kleene.cli.exit_codes import warnings_in_one_line
from kleene.cli.wording import in_options, use_options

__all__ = ["Command", "CommandGroup"]


class Command(TyperCommand):
    """A command whose options are listed in sections, its own before those that others share."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = (p for p in self.get_params(ctx) if p.param_type_name == "argument")
        return ["[OPTIONS]", *map(_usage, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if parameter.param_type_name == "argument":
                described: Any = parameter
                sections["Arguments"].append((_usage(parameter), described.help or ""))
            elif record is not None:
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(title, []).append(record)
        help_option = sections["Options"].pop()
        sections[next(reversed(sections))].append(help_option)
        _write(formatter, sections)


def _usage(argument: Any) -> str:
    """Return an argument as the usage line has it: GRAPH, [SOURCE]..."""
    name = argument.metavar or argument.name.upper()
    name = name if argument.required else f"[{name}]"
    return f"{name}..." if argument.nargs == -1 else str(name)


class CommandGroup(TyperGroup):
    """Commands in sections, in the order in which they were added."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        names = self.list_commands(ctx)
        for name in names:
            command: Any = self.get_command(ctx, name)
            title = getattr(command, "rich_help_panel", None)
            title = title if isinstance(title, str) else "Commands"
            sections.setdefault(title, []).append((name, command.get_short_help_str(300)))
        _write(formatter, sections)

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


def _write(formatter: Any, sections: dict[str, list[tuple[str, str]]]) -> None:
    """Write sections, with their second columns aligned."""
    first = max((len(row[0]) for rows in sections.values() for row in rows), default=0)
    for title, rows in sections.items():
        if rows:
            padded = [(name.ljust(min(first, 30)), help_text) for name, help_text in rows]
            with formatter.section(title):
                formatter.write_dl(padded)
