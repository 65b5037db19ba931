"""The description of a file format: name, suffixes, detection, reader and writer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import RequestError

__all__ = ["Format"]


@dataclass(frozen=True)
class Format:
    """One file format.

    Attributes
    ----------
    name : str
        What ``format=`` takes.
    title : str
        Its name in messages.
    suffixes : tuple of str
        In lower case, with the dot.
    read : callable
        ``read(source, *, options...)`` returns a Graph. Its keywords are the options.
    write : callable
        ``write(graph, file, *, options...)``. Its keywords are the options.
    claims : callable
        Whether the first bytes of a file identify this format beyond doubt.
    text : bool
        Whether it is a text format, which may be written with gzip.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[..., Any]
    write: Callable[..., None]
    claims: Callable[[bytes], bool] = lambda head: False
    text: bool = False

    def check_options(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """Raise for an option that the function does not take, or not with this type of value."""
        verb = "reading" if function is self.read else "writing"
        known = {
            name: str(parameter.annotation)
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        for option, value in options.items():
            if option not in known:
                takes = ", ".join([*known, "threads", "progress"])
                raise RequestError(
                    f"{verb} {self.title} has no option {option!r}; its options are {takes}"
                )
            kind = known[option].removesuffix(" | None")
            types, expected = _TYPES[kind.partition("[")[0]]
            absent = value is None and kind != known[option]
            if not absent and not isinstance(value, types):
                raise RequestError(f"{option} must be {expected}, not {type(value).__name__}")


#: What an option with such an annotation takes.
_TYPES: dict[str, tuple[Any, str]] = {
    "Any": (object, ""),
    "bool": ((bool, np.bool_), "True or False"),
    "str": (str, "a string"),
    "Sequence": (Sequence, "a sequence of columns"),
}
