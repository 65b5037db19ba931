"""What a notebook shows of a result: what ran, what was reached, and the first distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.system.formatting import format_number
from kleene.system.html import Html, card, columns

if TYPE_CHECKING:
    from kleene.results.result import Result

__all__ = ["count_reached", "pairs_table", "result_html"]

Array = NDArray[Any]

_FIRST = 6  # rows and columns that are shown

#: More values are not counted for a display: they may be in a file larger than memory.
_MOST_COUNTED = 2**26


def count_reached(result: Result) -> str:
    """Return how many of the pairs have a path, in words; of huge results, how many there are."""
    if result.distances.size > _MOST_COUNTED:
        return f"{result.distances.size:,} distances"
    return f"{np.count_nonzero(result.reached):,} of {result.distances.size:,} reached"


def result_html(result: Result, table: Html | None = None) -> str:
    """Return a result as HTML."""
    way = "to" if result.reverse else "from"
    sources = result.graph.label(result._sources[:4]).tolist()
    named = ", ".join(map(str, sources[:3])) + (", …" if len(sources) > 3 else "")
    facts = {
        way: named if len(result._sources) <= 3 else f"{len(result._sources):,} vertices: {named}",
        "reached": count_reached(result).removesuffix(" reached"),
        "values": f"{result.plan.dtype}; no path: {result.no_path}",
        "time": f"{result.stats.total:.3g} s",
    }
    if table is None:
        table = _row_table(result) if len(result._sources) == 1 else _corner_table(result)
    headline = f"{result.problem} by {result.plan.method} on {result.plan.device}"
    return card(type(result).__name__, headline, facts, table)


def _row_table(result: Result) -> Html:
    """Return the first vertices of a search from one source."""
    far = result._far_ends[:_FIRST]
    heads, rows = ["vertex", result._value_name], [_labels(result, far), _texts(result, 0, far)]
    links = result._answer.predecessors
    if links is not None:
        heads.append("next hop" if result.reverse else "predecessor")
        rows.append([_link(result, int(link)) for link in links[0, far]])
    count = len(result._far_ends)
    return columns(heads, zip(*rows, strict=True), caption=_caption(count), numbers=[1])


def _corner_table(result: Result) -> Html:
    """Return the upper left corner of a matrix of distances."""
    far = result._far_ends[:_FIRST]
    count = len(result._sources)
    names = result.graph.label(result._sources[:_FIRST]).tolist()
    more = ["…"] if len(result._far_ends) > _FIRST else []
    rows = [[str(n), *_texts(result, i, far), *more] for i, n in enumerate(names)]
    corner = "to \\ from" if result.reverse else "from \\ to"
    heads = [corner, *_labels(result, far), *more]
    caption = _caption(count, "rows")
    return columns(heads, rows, caption=caption, numbers=range(1, len(heads)))


def pairs_table(result: Result) -> Html:
    """Return the first of a list of pairs."""
    assert result._targets is not None
    ends = (_labels(result, at[:_FIRST]) for at in (result._sources, result._targets))
    values, reached = result.distances[:_FIRST].tolist(), result.reached[:_FIRST].tolist()
    texts = [_value(v, r) for v, r in zip(values, reached, strict=True)]
    rows = zip(*ends, texts, strict=True)
    caption = _caption(len(result._sources), "pairs")
    return columns(["from", "to", result._value_name], rows, caption=caption, numbers=[2])


def _labels(result: Result, positions: Array) -> list[str]:
    return [str(label) for label in result.graph.label(positions).tolist()]


def _texts(result: Result, row: int, far: Array) -> list[str]:
    values = result._answer.values[row, far]
    reached = values != result.no_path
    return [_value(v, r) for v, r in zip(values.tolist(), reached.tolist(), strict=True)]


def _value(value: Any, reached: bool) -> str:
    if isinstance(value, bool):
        return str(value)
    return format_number(value) if reached else "no path"


def _link(result: Result, position: int) -> str:
    return "" if position < 0 else str(result.graph.label(position))


def _caption(count: int, what: str = "vertices") -> str:
    return f"first {_FIRST} of {count:,} {what}" if count > _FIRST else what
