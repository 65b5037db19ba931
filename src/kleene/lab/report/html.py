"""Tables and ids of the report."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kleene.system.html import Html, tag

__all__ = ["slug", "table"]


def slug(text: str) -> str:
    """Return a name that can be an id and a file's name.

    >>> slug("B = 16, <b>"), slug("../etc")
    ('B-16-b', 'etc')
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "x"


def table(
    caption: str,
    heads: Sequence[str],
    groups: Sequence[tuple[str, Sequence[Sequence[str]]]],
    text: Collection[str] = (),
) -> Html:
    """Return a table in a box that scrolls, its rows in groups with a name; "" is no name.

    The first column names its row; the others hold numbers, except the columns named in ``text``.
    """
    classes = ["w" if head in text else None for head in heads]
    wide = len(heads)
    bodies = [
        tag(
            "tbody",
            tag("tr", tag("th", name, colspan=wide, scope="rowgroup")) if name else None,
            *(_row(row, classes) for row in rows),
        )
        for name, rows in groups
    ]
    cells = [tag("th", head, scope="col", class_=c) for head, c in zip(heads, classes, strict=True)]
    body = tag("table", tag("caption", caption), tag("thead", tag("tr", *cells)), *bodies)
    return tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _row(cells: Sequence[str], classes: Sequence[str | None]) -> Html:
    first, *rest = cells
    numbers = [tag("td", cell, class_=c) for cell, c in zip(rest, classes[1:], strict=True)]
    return tag("tr", tag("th", first, scope="row"), *numbers)
