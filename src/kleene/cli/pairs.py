"""Pairs of source and target as a list: which are listed, in which order, and what is left out.

The pairs of a source are its reached vertices, the best first. Targets that the user named are
listed as named, reached or not, unless ``--top`` asks for the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

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


class _Row(NamedTuple):
    """Pairs that are ordered together: those of a source, or a list of pairs. All by position."""

    first: NDArray[Any]  # where paths begin
    last: NDArray[Any]
    values: NDArray[Any]
    reached: NDArray[Any]
    links: NDArray[Any] | None  # predecessors, or next hops if paths lead to the source


def list_pairs(result: Result, top: int | None, most: int | None = None) -> Listing:
    """List the ``top`` best pairs of each source, and at most ``most`` pairs in all."""
    import numpy as np

    pairs: list[dict[str, Any]] = []
    named = result.targets is not None and top is None  # as named, reached or not
    for row in _rows(result):
        room = None if most is None else most - len(pairs)
        if room == 0:
            break
        columns = np.arange(len(row.values)) if named else _best(result, row)[:top]
        pairs += _as_dicts(result, row, columns[:room])
    listed = sum(pair[value_name(result)] is not None for pair in pairs)
    reached = int(np.count_nonzero(result.reached))
    unreached = result.reached.size - reached - (len(pairs) - listed)
    return Listing(pairs, reached - listed, unreached)


def _rows(result: Result) -> Iterator[_Row]:
    import numpy as np

    from kleene.results.pairs import PairsResult

    if isinstance(result, PairsResult):
        yield _Row(result._sources, result._targets, result.to_numpy(), result.reached, None)
        return
    values, reached = np.atleast_2d(result.to_numpy()), np.atleast_2d(result.reached)
    far = np.arange(result.graph.n) if result.targets is None else result._targets
    links = result._answer.predecessors
    for row, source in enumerate(result._sources.tolist()):
        near = np.full(len(far), source)
        first, last = (far, near) if result.reverse else (near, far)
        own = None if links is None else links[row, far]
        yield _Row(first, last, values[row], reached[row], own)


def _best(result: Result, row: _Row) -> NDArray[Any]:
    """Return the columns with a path, the best first; of equals, in the order of the graph."""
    import numpy as np

    columns = np.flatnonzero(row.reached)
    values = row.values[columns]
    if result.plan.semiring in ("max_min", "max_times"):  # the largest is the best
        order = len(columns) - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    else:
        order = np.argsort(values, kind="stable")
    best: NDArray[Any] = columns[order]
    return best


def _as_dicts(result: Result, row: _Row, columns: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the pairs in these columns as dictionaries."""
    import numpy as np

    graph, what, unbounded = result.graph, value_name(result), _unbounded(result)
    values = [
        None if not hit else math.inf if value == unbounded else value
        for value, hit in zip(row.values[columns].tolist(), row.reached[columns], strict=True)
    ]
    ends = (names(graph, side[columns]) for side in (row.first, row.last))
    pairs: list[dict[str, Any]] = [
        {"source": first, "target": last, what: value}
        for first, last, value in zip(*ends, values, strict=True)
    ]
    if row.links is not None:
        link = "next_hop" if result.reverse else "predecessor"
        at = row.links[columns]
        for pair, label, there in zip(pairs, names(graph, np.maximum(at, 0)), at >= 0, strict=True):
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
