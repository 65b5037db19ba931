"""The description of a file format: name, suffixes, detection, reader and writer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, RequestError, Text
from kleene.graph import Graph

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
    write : callable or None
        ``write(graph, sink, *, options...)``. Its keywords are the options. None for a format that
        is only read.
    claims : callable
        Whether the first bytes of a file identify this format beyond doubt.
    text : bool
        Whether it is a text format, which may be written with gzip.
    numbered_from : int or None
        The number of the first vertex, in a format that numbers vertices in their order and so
        cannot hold other labels. None for a format with labels.
    wide_labels : bool
        Whether labels may be integers from 2^63 on.
    name_in_tables : callable
        The names, in a table of positions, of the vertices with these labels.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[..., Any]
    write: Callable[..., None] | None = None
    claims: Callable[[bytes], bool] = lambda head: False
    text: bool = False
    numbered_from: int | None = None
    wide_labels: bool = False
    name_in_tables: Callable[[NDArray[Any]], NDArray[Any]] = lambda labels: labels

    def require_labels(self, graph: Graph) -> None:
        """Raise if the labels of a graph would be lost: they are not those that the format gives.

        A graph whose vertices are 0 .. n - 1 or 1 .. n may be written in either numbering.
        """
        if graph.labels is None:
            return
        if self.numbered_from is None:
            self._require_narrow(graph.labels)
            return
        first = graph.labels[0] if graph.n else 0
        if graph.labels.dtype.kind not in "iu" or not (
            first in (0, 1) and np.array_equal(graph.labels, np.arange(first, first + graph.n))
        ):
            raise GraphError(
                f"{self.title} files number the vertices from {self.numbered_from} and cannot hold "
                f"labels such as {graph.label(0)!r}",
                advice=[
                    Text("use ", Code("graph.unlabelled()"), " to number them in their order"),
                    "a format with labels: .csv, .parquet, .graphml or .npz",
                ],
            )

    def _require_narrow(self, labels: NDArray[Any]) -> None:
        """Raise for integers that readers of this format do not take."""
        if not self.wide_labels and labels.dtype == np.uint64 and len(labels):
            largest = int(labels.max())
            if largest > np.iinfo(np.int64).max:
                raise GraphError(
                    f"{self.title} files hold integer labels up to 2^63 - 1, but {largest} is "
                    "larger",
                    advice=["write .npz, or use strings as labels"],
                )

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
                raise RequestError(
                    f"{verb} {self.title} does not take ",
                    Code(option),
                    advice=map(Code, [*known, "threads", "progress"]),
                    lead="; it takes ",
                )
            kind = known[option].removesuffix(" | None")
            types, expected = _TYPES[kind.partition("[")[0]]
            absent = value is None and kind != known[option]
            if not absent and not isinstance(value, types):
                raise RequestError(Code(option), f" must be {expected}, not {type(value).__name__}")


#: What an option with such an annotation takes.
_TYPES: dict[str, tuple[Any, str]] = {
    "Any": (object, ""),
    "bool": ((bool, np.bool_), "True or False"),
    "bool | str": ((bool, np.bool_, str), "True, False or the name of a column"),
    "float": ((int, float, np.integer, np.floating), "a number"),
    "str": (str, "a string"),
    "Sequence": (Sequence, "a sequence of columns"),
}
