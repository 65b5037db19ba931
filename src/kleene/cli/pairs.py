"""Pairs of source and target as a list: which are listed, in which order, and what is left out.

The pairs of a source are its reached vertices, the best first. Targets that the user named are
listed as named, reached or not, unless ``--top`` asks for the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kleene.cli.output import line, table
from kleene.cli.vertices import names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kleene import Result

__all__ = ["Listing", "list_pairs", "show_pairs", "value_name"]


@dataclass(frozen=True)
class Listing:
    """Pairs as dictionaries, and the numbers of those that are not among them."""

    pairs: list[dict[str, Any]]
    left_out: int  # reached, but not listed
    unreached: int  # and not listed


def list_pairs(result: Result, top: int | None, most: int | None = None) -> Listing:
    """List the ``top`` best pairs of each source, and at most ``most`` pairs in all."""
    import numpy as np

    values, reached = np.atleast_2d(result.to_numpy()), np.atleast_2d(result.reached)
    pairs: list[dict[str, Any]] = []
    for row in range(len(values)):
        room = None if most is None else most - len(pairs)
        if room == 0:
            break
        columns = _chosen(result, values[row], reached[row], top)[:room]
        pairs += _rows(result, row, columns, values[row], reached[row])
    listed = sum(pair[value_name(result)] is not None for pair in pairs)
    hits = int(np.count_nonzero(reached))
    return Listing(pairs, hits - listed, reached.size - hits - (len(pairs) - listed))


def _chosen(
    result: Result, values: NDArray[Any], reached: NDArray[Any], top: int | None
) -> NDArray[Any]:
    """Return the columns of a row that are listed, in order."""
    import numpy as np

    if result.targets is not None and top is None:
        return np.arange(len(values))
    columns = np.flatnonzero(reached)
    order = np.argsort(values[columns], kind="stable")
    if result.plan.semiring in ("max_min", "max_times"):  # the largest is the best
        order = len(order) - 1 - np.argsort(values[columns][::-1], kind="stable")[::-1]
    return columns[order[:top]]


def _rows(
    result: Result, row: int, columns: NDArray[Any], values: NDArray[Any], reached: NDArray[Any]
) -> list[dict[str, Any]]:
    """Return the pairs in these columns of a row as dictionaries."""
    import numpy as np

    graph, what, unbounded = result.graph, value_name(result), _unbounded(result)
    far = columns if result.targets is None else result._targets[columns]
    found: list[Any] = [
        None if not hit else math.inf if value == unbounded else value
        for value, hit in zip(values[columns].tolist(), reached[columns].tolist(), strict=True)
    ]
    named = names(graph, int(result._sources[row]))
    others = names(graph, far)
    if result.reverse:  # paths lead to the named vertex
        pairs = [{"source": v, "target": named, what: d} for v, d in zip(others, found, strict=True)]
    else:
        pairs = [{"source": named, "target": v, what: d} for v, d in zip(others, found, strict=True)]
    links = result._answer.predecessors
    if links is not None:
        next_to = links[row, far]
        labels = names(graph, np.maximum(next_to, 0))
        link = "next_hop" if result.reverse else "predecessor"
        for pair, label, there in zip(pairs, labels, (next_to >= 0).tolist(), strict=True):
            pair[link] = label if there else None
    return pairs


def value_name(result: Result) -> str:
    """Return the name of a pair's value."""
    return "value" if result.problem == "closure" else "distance"


def _unbounded(result: Result) -> Any:
    """Return the integer that means infinity: the width of the empty path in max_min."""
    from kleene.backends.semiring import SEMIRINGS

    if result.plan.semiring != "max_min":
        return None
    return SEMIRINGS["max_min"].one(result.distances.dtype)


def show_pairs(listing: Listing, top: int, one_source: bool) -> None:
    """Print pairs as a table, and how many are left out; ``top`` would list all."""
    if not listing.pairs:
        return
    hidden = ("target" if "next_hop" in listing.pairs[0] else "source") if one_source else None
    columns = [c for c in listing.pairs[0] if c != hidden]
    line()
    rows = [[pair[c] for c in columns] for pair in listing.pairs]
    table(columns, rows, quantities=["distance", "value"])
    if listing.left_out:
        more = f"and {listing.left_out:,} more: --top {top}, or --out table.csv"
        line(f"  {more}", style="dim")
    if listing.unreached:
        line(f"  {listing.unreached:,} not reached", style="dim")
