"""HTML from Python: text is escaped; what `tag` made is not escaped again.

Cards are what notebooks show for a graph, a result, a plan. They bring their style along, run no
script, and take their colours from the page, so that they are readable on light and dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["PLAIN_LIST", "Html", "card", "columns", "join", "tag"]

PLAIN_LIST = "list-style:none;margin:0;padding:0"
_CARD = "font:13px/1.45 system-ui,sans-serif;margin:.3em 0;max-width:72em;overflow-x:auto"
_PARTS = "display:flex;flex-wrap:wrap;gap:.8em 2.2em;align-items:flex-start"
_TABLE = "border-collapse:collapse;margin:.4em 0;font-size:inherit"
_CAPTION = "caption-side:top;text-align:left;padding:0 0 .15em;opacity:.7;white-space:nowrap"
_LINE = "1px solid rgba(128,128,128,.45)"
_CELL = "padding:.1em 1.1em .1em 0;border:0;vertical-align:top;background:none"
_MOST_CHARACTERS = 100  # of a cell; longer text is cut


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str | None, **attributes: str | int | bool | None) -> Html:
    """Return an element; children that are not `Html` are escaped, None is left out.

    An attribute's name may end in ``_`` where Python reserves it; ``True`` has no value.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
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
    return Html(between.join(_safe(part) for part in parts if part is not None))


def _safe(part: str) -> str:
    return part if isinstance(part, Html) else escape(part)


# ---- cards --------------------------------------------------------------------------------------


def card(kind: str, headline: str, facts: Mapping[str, str], *parts: Html | None) -> Html:
    """Return what a notebook shows: a headline, a table of facts, and parts beside it.

    >>> "<b>Plan</b> a &lt; b" in card("Plan", "a < b", {"memory": "12 B"})
    True
    """
    rows = [tag("tr", _cell("th", name), _cell("td", value)) for name, value in facts.items()]
    table = tag("table", tag("tbody", *rows), style=_TABLE) if rows else None
    head = tag("div", tag("b", kind), " ", headline)
    return tag("div", head, tag("div", table, *parts, style=_PARTS), style=_CARD)


def columns(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str | None = None,
    numbers: Sequence[int] = (),
) -> Html:
    """Return a table with a line under its heads; the columns in ``numbers`` are right-aligned.

    >>> columns(["vertex"], [["<b>"]], caption="first vertices").count("&lt;b&gt;")
    1
    """
    right = [i in numbers for i in range(len(heads))]
    top = tag(
        "tr", *(_cell("th", head, r, line=True) for head, r in zip(heads, right, strict=True))
    )
    body = [
        tag("tr", *(_cell("td", cell, r) for cell, r in zip(row, right, strict=True)))
        for row in rows
    ]
    return tag(
        "table",
        None if caption is None else tag("caption", caption, style=_CAPTION),
        tag("thead", top),
        tag("tbody", *body),
        style=_TABLE,
    )


def _cell(name: str, text: str, right: bool = False, line: bool = False) -> Html:
    if len(text) > _MOST_CHARACTERS and not isinstance(text, Html):
        text = text[: _MOST_CHARACTERS - 1] + "…"
    style = f"{_CELL};text-align:{'right;white-space:nowrap' if right else 'left'}"
    if name == "th":
        style += ";font-weight:600" if line else ";font-weight:400;opacity:.7"
    if line:
        style += f";border-bottom:{_LINE}"
    return tag(name, text, style=style)
