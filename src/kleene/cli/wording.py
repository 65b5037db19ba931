"""Messages of the library in the words of the command line: options in place of keywords.

The library writes a keyword in a message as ``name=value``. The command that failed has an option
with that name, or none, so there is no table of options to keep: ``predecessors=False`` becomes
``--no-predecessors`` where the command has it. Advice to save memory is data of the error; what the
command has no option for is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.errors import Code

__all__ = ["in_options", "spelled", "use_options", "without_calls"]

#: A keyword and its value; calls and values such as array([1], dtype=int8) stay as they are.
_KEYWORD = re.compile(
    r"""\w\([^()]*\)|\b(?P<name>[a-z_]+)=(?P<value>(['"])[^'"]*\3|\[[^]]*\]|\w[\w.]*)?"""
)
_READER = re.compile(r"has no option '(?P<name>\w+)'; its options are (?P<known>[\w, ]+)")
#: Options that are named in the singular, since they are repeated.
_SINGULAR = {"sources": "source", "targets": "target", "facilities": "facility", "limits": "limit"}
#: What a message says to do in Python, and what does it here.
_CALLS = {
    "write graph.symmetrise()": "add --undirected",
    "g.subgraph(kl.components(g, 'strong').largest)": "kleene components --strong --largest FILE",
    "g.subgraph(kl.components(g).largest)": "kleene components --largest FILE",
    "; draw a part of it: graph.subgraph(vertices)": "",
    "use graph.unlabelled()": "add --unlabelled",
    "with graph.with_positions(xy)": "by --positions FILE",
    "write graph.unlabelled()": "add --unlabelled",
    "weight=None": "--unweighted",
    "directed must be True or False, not str": "--oneway is for edge lists and Parquet",
    ", as kleene.Graph.from_table does": "",
    "; the error's .cycle lists its vertices": "",
}

#: Code that is no keyword of the call, and what does it here.
_WORDS = {
    "kleene.reduce_distances": "kleene measure",
    "kleene.sssp": "kleene sssp",
    "weight=None": "--unweighted",
}


def use_options(error: Exception, command: Any) -> None:
    """Reword an error of the library for the command that raised it."""
    from kleene.errors import KleeneError, message_of, reworded

    if not isinstance(error, KleeneError):
        return
    if message_of(error).codes:
        error.args = (str(reworded(error, lambda code: spelled(code, command))),)
    elif error.args and isinstance(error.args[0], str):
        error.args = (in_options(error.args[0], command), *error.args[1:])


def in_options(message: str, command: Any) -> str:
    """Return a message with the options of a command in place of keywords.

    A keyword that the command has no option for stays: it tells more than nothing.
    """

    def option(match: re.Match[str]) -> str:
        found = _option(command, match["name"])
        return match[0] if found is None else _spelled(found, match["value"] or "")

    def reader_options(match: re.Match[str]) -> str:
        given, *known = (
            _option(command, name) for name in (match["name"], *match["known"].split(", "))
        )
        spelled = ", ".join(one.opts[0] for one in known if one is not None)
        name = given.opts[0] if given is not None else match["name"]
        return f"does not take {name}; its options are {spelled}"

    message = _READER.sub(reader_options, without_calls(message))
    return _KEYWORD.sub(option, message)


def without_calls(message: str) -> str:
    """Return a text without what only a Python program can do."""
    for call, instead in _CALLS.items():
        message = message.replace(call, instead)
    return message


def spelled(code: Code, command: Any) -> str | None:
    """Return what a command has for code of Python: an option, other words, or None."""
    if code in _WORDS:
        return _WORDS[code]
    option = _option(command, code.name)
    return None if option is None else _spelled(option, code.value)


def _option(command: Any, name: str | None) -> Any:
    """Return the option of a command for a keyword, or None."""
    wanted = (name, _SINGULAR.get(name or "")) if name else ()
    options = (parameter for parameter in command.params if parameter.param_type_name == "option")
    return next((option for option in options if option.name in wanted), None)


def _spelled(option: Any, value: str) -> str:
    """Return an option with a value as one would type it."""
    if value in ("True", "False") and option.is_flag:
        off = value == "False" and option.secondary_opts
        return str((option.secondary_opts if off else option.opts)[0])
    if value.startswith("["):
        value = option.metavar or "VALUE"
    return f"{option.opts[0]} {value.strip(chr(39) + chr(34))}".rstrip()
