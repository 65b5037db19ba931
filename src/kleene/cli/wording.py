"""Messages of the library in the words of the command line: options in place of keywords.

A message knows which of its parts are code of Python. A keyword such as ``predecessors=False``
becomes ``--no-predecessors`` where the command that failed has such an option, so there is no table
of options to keep. Advice that the command has no option for is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.errors import Code

__all__ = ["in_options", "spelled", "use_options"]

#: Options that are named in the singular, since they are repeated.
_SINGULAR = {"sources": "source", "targets": "target", "facilities": "facility", "limits": "limit"}
#: Code that is no option of a command by its name, and what does the same on the command line.
_WORDS = {
    "g.subgraph(kl.components(g, 'strong').largest)": "kleene components --strong --largest FILE",
    "g.subgraph(kl.components(g).largest)": "kleene components --largest FILE",
    "graph.symmetrise()": "--undirected",
    "graph.unlabelled()": "--unlabelled",
    "graph.with_positions(xy)": "--positions FILE",
    "kleene.reduce_distances": "kleene measure",
    "kleene.sssp": "kleene sssp",
    "weight=None": "--unweighted",
}


def use_options(error: Exception, command: Any) -> None:
    """Reword an error of the library for the command that raised it."""
    from kleene.errors import KleeneError, message_of, reworded

    if isinstance(error, KleeneError) and message_of(error).codes:
        error.args = (str(reworded(error, lambda code: spelled(code, command))),)


def in_options(message: Any, command: Any) -> str:
    """Return a text with the options of a command in place of keywords.

    A keyword that the command has no option for stays: it tells more than nothing.
    """
    from kleene.errors import Text

    return str(Text(message).reworded(lambda code: spelled(code, command)))


def spelled(code: Code, command: Any) -> str | None:
    """Return what a command has for code of Python: an option, other words, or None."""
    if code in _WORDS:
        return _WORDS[code]
    option = _option(command, code.name)
    return None if option is None else _with_value(option, code.value)


def _option(command: Any, name: str) -> Any:
    """Return the option of a command for a keyword, or None."""
    wanted = {name, _SINGULAR.get(name)}
    options = (parameter for parameter in command.params if parameter.param_type_name == "option")
    return next((option for option in options if option.name in wanted), None)


def _with_value(option: Any, value: str) -> str:
    """Return an option with a value as one would type it."""
    if value in ("True", "False") and option.is_flag:
        off = value == "False" and option.secondary_opts
        return str((option.secondary_opts if off else option.opts)[0])
    if value.startswith("["):
        value = option.metavar or "VALUE"
    value = value.removeprefix("math.").strip("'\"")
    return f"{option.opts[0]} {value}".rstrip()
