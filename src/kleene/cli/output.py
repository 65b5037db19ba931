"""Printing: tables as text, or one JSON document."""

from __future__ import annotations

import codecs
import csv
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import TextIOWrapper
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "console",
    "escape_unencodable",
    "facts",
    "headline",
    "line",
    "number",
    "print_json",
    "seconds",
    "table",
    "write_rows",
]


def escape_unencodable() -> None:
    """Let standard output escape characters that its encoding does not have, such as ASCII's."""
    if isinstance(sys.stdout, TextIOWrapper):
        codecs.register_error("kleene.escape", _escaped)
        sys.stdout.reconfigure(errors="kleene.escape")


_PLAIN = str.maketrans({"█": "#", "▏": "|", "µ": "u"})


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    piece = error.object[error.start : error.end].translate(_PLAIN)
    return piece.encode("ascii", "backslashreplace").decode(), error.end


# ---- JSON ---------------------------------------------------------------------------------------


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document; NumPy values become Python values, infinities the string ``inf``.

    Of a list of objects each gets a line: such lists are long.
    """
    separator = "{\n"
    for key, value in document.items():
        sys.stdout.write(f"{separator}  {json.dumps(str(key))}: ")
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for begin, item in zip(chain(["[\n"], repeat(",\n")), value, strict=False):
                sys.stdout.write(f"{begin}    {json.dumps(_plain(item), allow_nan=False)}")
            sys.stdout.write("\n  ]")
        else:
            text = json.dumps(_plain(value), indent=2, allow_nan=False)
            sys.stdout.write(text.replace("\n", "\n  "))
        separator = ",\n"
    sys.stdout.write("\n}\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def write_rows(blocks: Iterable[Mapping[str, Any]], as_json: bool) -> None:
    """Write a table, which comes in blocks of columns, as CSV or as a JSON object on each line."""
    import numpy as np

    writer = csv.writer(sys.stdout, lineterminator="\n")
    for number, block in enumerate(blocks):
        if number == 0 and not as_json:
            writer.writerow(block)
        columns = (
            column if isinstance(column, list) else np.ma.asarray(column).tolist()
            for column in block.values()
        )
        for row in zip(*columns, strict=True):
            if as_json:
                record = _plain(dict(zip(block, row, strict=True)))
                sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
            else:
                writer.writerow(row)


# ---- text ---------------------------------------------------------------------------------------


@cache
def console() -> Console:
    """Return the console of standard output; lines are not wrapped for a pipe."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:  # rich would exit with 1, which means "no" here
            raise BrokenPipeError

    return Output(highlight=False, width=None if sys.stdout.isatty() else 1000)


def line(text: str = "", style: str | None = None) -> None:
    """Print one line without markup."""
    console().print(text, style=style, markup=False)


def headline(title: str, rest: str = "") -> None:
    """Print a title in bold, followed by plain text."""
    console().print(f"[bold]{_escape(title)}[/bold]{_escape(rest)}")


def facts(pairs: Mapping[str, Any]) -> None:
    """Print names and values in two columns; None values are omitted."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for key, value in pairs.items():
        if value is not None:
            grid.add_row(f"  {key}", _escape(str(value)))
    _print_trimmed(grid)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], quantities: Sequence[str] = ()
) -> None:
    """Print a table; quantities are right-aligned with thousands separators, the rest as it is.

    A vertex is not a quantity: what is printed can be typed again.
    """
    from rich.table import Table

    shown = Table(box=None, header_style="bold", padding=(0, 0, 0, 2))
    for column in columns:
        shown.add_column(column, justify="right" if column in quantities else "left")
    for row in rows:
        formats = (number if column in quantities else _text for column in columns)
        shown.add_row(*(_escape(form(cell)) for form, cell in zip(formats, row, strict=True)))
    _print_trimmed(shown)


def _text(value: Any) -> str:
    return "-" if value is None else str(value)


def _print_trimmed(renderable: Table) -> None:
    """Print without trailing spaces."""
    with console().capture() as printed:
        console().print(renderable)
    for row in printed.get().splitlines():
        console().out(row.rstrip(), highlight=False)


def number(value: Any) -> str:
    """Return a value as text: 12,345 and 0.25; - for None."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def seconds(duration: float) -> str:
    """Return a duration with its unit: 12 ms, 3.4 s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration * 1e6:.0f} µs"


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
