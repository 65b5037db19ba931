"""Whether the first line of a table is a header.

It is one if it has no number where the next line has some. It is one by its words if both ends are
called as tables call them (source and target, from and to, start and end, node_a and node_b, ...),
unless such a word is a vertex elsewhere: the reader looks. Other words may be a header or an edge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from kleene.io.fields import is_integer, is_number

__all__ = ["FirstLine", "first_line", "known_ends"]

_THING = "(?:node|vertex|id|name|stop|station|stn|label|idx|index|no|key|code|osmid|point)*"
_SOURCE = re.compile(
    rf"{_THING}(?:source|src|from|start|begin|origin|orig|init|tail){_THING}|u|a(?:node|vertex)|"
    "(?:node|vertex)a"
)
_TARGET = re.compile(
    rf"{_THING}(?:target|tgt|trg|to|end|destination|dest|dst|term|head){_THING}|v|b(?:node|vertex)|"
    "(?:node|vertex)b"
)


class FirstLine(NamedTuple):
    """The first line of a table."""

    kind: Literal["header", "known", "above integers", "unknown", "edge"]
    words: tuple[str, ...]  # of the ends
    offset: int
    line: int

    @property
    def is_header(self) -> bool:
        """Whether it is taken for a header; of the known and unknown, the vertices decide."""
        return self.kind in ("header", "known", "above integers")


def known_ends(titles: Sequence[str]) -> tuple[int, int] | None:
    """Return the first columns with known names of the source and the target, if both are there."""
    plain = [re.sub(r"[^0-9a-z]", "", title.lower()) for title in titles]
    found = [
        next((i for i, title in enumerate(plain) if known.fullmatch(title)), -1)
        for known in (_SOURCE, _TARGET)
    ]
    return None if -1 in found else (found[0], found[1])


def first_line(
    titles: list[str], below: list[str], ends: tuple[int, int], offset: int, line: int
) -> FirstLine:
    """Return what the first line is, by the fields of the next; ``ends`` unless it names them."""
    known = known_ends(titles)
    ends = known or ends
    words = tuple(titles[i] for i in ends if i < len(titles))

    def is_what() -> Literal["header", "known", "above integers", "unknown", "edge"]:
        if len(words) < 2 or any(map(is_number, titles)):
            return "edge"
        if any(is_number(field) for i, field in enumerate(below) if i not in ends):
            return "header"
        if known is not None:
            return "known"
        if max(ends) < len(below) and all(is_integer(below[i]) for i in ends):
            return "above integers"
        return "unknown"

    return FirstLine(is_what(), words, offset, line)
