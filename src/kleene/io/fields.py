"""The fields of a line of text: separators, quotes, numbers."""

from __future__ import annotations

import re

__all__ = [
    "SEPARATORS",
    "guess_separator",
    "is_integer",
    "is_missing",
    "is_number",
    "split_fields",
    "unquoted",
]

SEPARATORS = "\t,;"  # besides the space
_MISSING = ("", "na", "n/a", "<na>", "nan", "null", "none")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def guess_separator(line: str) -> str:
    """Return the separator of the fields of a line; a space stands for any run of blanks."""
    bare = _QUOTED.sub('""', line)
    separator = next((c for c in SEPARATORS if c in bare), " ")
    # Tabs between numbers count as whitespace; names between tabs may contain spaces.
    if separator == "\t" and all(is_number(field) for field in bare.split()):
        return " "
    return separator


def split_fields(line: str, separator: str) -> list[str]:
    """Return the fields as written; a quoted field may contain separators."""
    if separator == " ":
        line = line.strip(" \t\r")
    masked = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
    gaps = re.finditer("[ \t]+" if separator == " " else re.escape(separator), masked)
    edges = [0, *(edge for gap in gaps for edge in gap.span()), len(line)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [line[begin:end].strip(" \t\r") for begin, end in pairs]


def unquoted(field: str) -> str:
    """Return a field without its quotes."""
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field


def is_integer(field: str) -> bool:
    """Return whether a field is an integer."""
    digits = field[1:] if field[:1] in ("+", "-") else field
    return digits.isascii() and digits.isdigit()


def is_number(field: str) -> bool:
    """Return whether a field is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_missing(field: str) -> bool:
    """Return whether a field stands for no value, as programs write that."""
    return field.strip().lower() in _MISSING
