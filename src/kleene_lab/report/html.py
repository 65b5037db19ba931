"""HTML from Python: elements, tables and ids of the report.

Text is escaped; what `tag` made is not escaped again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from markupsafe import Markup as Html
from markupsafe import escape

__all__ = ["Html", "join", "slug", "table", "tag"]


def tag(name: str, *children: str | None, **attributes: str | int | bool | None) -> Html:
    """Return an element; children that are not `Html` are escaped, None is left out.

    An attribute's name may end in ``_`` where Python reserves it; ``True`` has no value.

    >>> print(tag("p", "a < b", class_="note"))
    <p class="note">a &lt; b</p>
    """
    given = "".join(map(_attribute, attributes, attributes.values()))
    return Html(f"<{name}{given}>{join(children)}</{name}>")


def _attribute(name: str, value: str | int | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def join(parts: Iterable[str | None], between: str = "") -> Html:
    """Return parts one after the other."""
    return Html(between).join(part for part in parts if part is not None)


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
    """Return a table in a box that scrolls, its rows in groups with a name; "" means none.

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
