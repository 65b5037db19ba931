"""Answers as tables: which pairs are listed, and what is saved or written to standard output.

The pairs of a source are its reached vertices, the best first. Targets that the user named are
listed as named, reached or not, unless ``--top`` asks for the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kleene.cli.options import Output
from kleene.cli.output import line, table, write_rows
from kleene.cli.summaries import show_more
from kleene.cli.vertices import names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kleene import Graph, Result
    from kleene.results.reach import Reach

__all__ = [
    "PAGE",
    "Listing",
    "PairTable",
    "check_routes",
    "check_table",
    "is_geojson",
    "joined",
    "list_pairs",
    "pairs_of_reach",
    "pairs_of_result",
    "save_routes",
    "save_table",
    "show_pairs",
    "write_geojson",
]

PAGE = 10  # pairs on a page, unless --top says otherwise


class Row(NamedTuple):
    """Pairs that are ordered together: those of a source, or a list of pairs. All by position."""

    first: NDArray[Any]  # where paths begin
    last: NDArray[Any]
    values: NDArray[Any]
    reached: NDArray[Any]
    links: NDArray[Any] | None  # predecessors, or next hops


@dataclass(frozen=True)
class PairTable:
    """All pairs of an answer, a row at a time."""

    graph: Graph
    rows: Iterable[Row]
    reached: int  # pairs with a path
    of: int
    named: bool = False  # the targets are what the user named
    value: str = "distance"
    link: str = "predecessor"
    largest_first: bool = False
    unbounded: Any = None  # the integer that means infinity


@dataclass(frozen=True)
class Listing:
    """Pairs as dictionaries, and the numbers of those that are not among them."""

    pairs: list[dict[str, Any]]
    left_out: int  # reached, but not listed
    unreached: int  # and not listed


# ---- what there is to list ----------------------------------------------------------------------


def pairs_of_result(result: Result, reached: int) -> PairTable:
    """Return the pairs of a result of bfs, sssp, apsp or closure; so many have a path."""
    import numpy as np

    from kleene.backends.semiring import SEMIRINGS

    unbounded = None
    if result.plan.semiring == "max_min":  # the width of the empty path
        unbounded = SEMIRINGS["max_min"].one(np.dtype(result.plan.dtype))
    return PairTable(
        result.graph,
        _rows(result),
        reached,
        result._count,
        result.targets is not None,
        "value" if result.problem == "closure" else "distance",
        "next_hop" if result.reverse else "predecessor",
        result.plan.semiring in ("max_min", "max_times"),
        unbounded,
    )


def _rows(result: Result) -> Iterator[Row]:
    import numpy as np

    from kleene.results.pairs import PairsResult

    targets: Any = result._targets
    if isinstance(result, PairsResult):
        yield Row(result._sources, targets, result.to_numpy(), result.reached, None)
        return
    far = np.arange(result.graph.n) if targets is None else targets
    held = zip(result._sources.tolist(), result._value_rows(), strict=True)
    for row, (source, values) in enumerate(held):
        near = np.full(len(far), source)
        first, last = (far, near) if result.reverse else (near, far)
        links = result._answer.links(slice(row, row + 1))
        own = None if links is None else links[0, far]
        yield Row(first, last, values, values != result.no_path, own)


def pairs_of_reach(reach: Reach) -> PairTable:
    """Return the pairs of a bounded search."""
    import numpy as np

    def rows() -> Iterator[Row]:
        distances = reach.distances
        links = reach.next_hops if reach.reverse else reach.predecessors
        for row, source in enumerate(np.atleast_1d(reach.graph.index(reach.sources)).tolist()):
            own = slice(*distances.indptr[row : row + 2])
            far, values = distances.indices[own], distances.data[own]
            near = np.full(len(far), source)
            first, last = (far, near) if reach.reverse else (near, far)
            there = np.ones(len(far), bool)
            yield Row(first, last, values, there, None if links is None else links.data[own])

    link = "next_hop" if reach.reverse else "predecessor"
    count = reach.distances.nnz
    return PairTable(reach.graph, rows(), count, count, link=link)


# ---- the list -----------------------------------------------------------------------------------


def list_pairs(table: PairTable, top: int | None, most: int | None = None) -> Listing:
    """List the ``top`` best pairs of each source, and at most ``most`` pairs in all."""
    import numpy as np

    pairs: list[dict[str, Any]] = []
    for row in () if 0 in (top, most) else table.rows:
        room = None if most is None else most - len(pairs)
        if room == 0:
            break
        as_named = table.named and top is None
        columns = np.arange(len(row.values)) if as_named else _best(row, table.largest_first)[:top]
        pairs += _as_dicts(table, row, columns[:room])
    listed = sum(pair[table.value] is not None for pair in pairs)
    unreached = table.of - table.reached - (len(pairs) - listed)
    return Listing(pairs, table.reached - listed, unreached)


def _best(row: Row, largest_first: bool) -> NDArray[Any]:
    """Return the columns with a path, the best first; of equals, in the order of the graph."""
    import numpy as np

    columns = np.flatnonzero(row.reached)
    values = row.values[columns]
    order = np.argsort(values, kind="stable")
    if largest_first:
        order = len(columns) - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    best: NDArray[Any] = columns[order]
    return best


def _as_dicts(table: PairTable, row: Row, columns: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the pairs in these columns as dictionaries."""
    import numpy as np

    values = [
        None if not hit else math.inf if value == table.unbounded else value
        for value, hit in zip(row.values[columns].tolist(), row.reached[columns], strict=True)
    ]
    ends = (names(table.graph, side[columns]) for side in (row.first, row.last))
    pairs: list[dict[str, Any]] = [
        {"source": first, "target": last, table.value: value}
        for first, last, value in zip(*ends, values, strict=True)
    ]
    if row.links is not None:
        at = row.links[columns]
        labels = names(table.graph, np.maximum(at, 0))
        for pair, label, there in zip(pairs, labels, at >= 0, strict=True):
            pair[table.link] = label if there else None
    return pairs


def show_pairs(listing: Listing, top: int, hidden: str | None) -> None:
    """Print pairs as a table, and how many are left out; ``top`` would list all.

    ``hidden`` is a column that is the same in all rows.
    """
    if not listing.pairs:
        return
    columns = [c for c in listing.pairs[0] if c != hidden]
    line()
    rows = [[pair[c] for c in columns] for pair in listing.pairs]
    table(columns, rows, quantities=["distance", "value"])
    show_more(listing.left_out, f"--top {top}, or --out table.csv")
    if listing.unreached:
        line(f"  {listing.unreached:,} not reached", style="dim")


# ---- files ---------------------------------------------------------------------------------------


def check_table(out: str | None, geojson: bool = False) -> None:
    """Raise for a suffix that tables are not saved under, before any work is done."""
    from kleene.results.files import check_table_suffix

    if out not in (None, "-") and not (geojson and is_geojson(str(out))):
        check_table_suffix(str(out))


def save_table(answer: Any, out: str | None, output: Output) -> Output:
    """Save an answer, or columns; return where the page goes: nowhere if ``-`` took its place."""
    from kleene.results.files import save_blocks

    columns = isinstance(answer, dict)
    if out == "-":
        write_rows([answer] if columns else answer._blocks(), output.json)
        return replace(output, quiet=True)
    if out is not None and columns:
        save_blocks([answer], out)
    elif out is not None:
        answer.save(out)
    return output


def joined(blocks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the columns of a table that comes in blocks."""
    import numpy as np

    parts = list(blocks)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def check_routes(out: str | None) -> None:
    """Raise for a name that is not one of a GeoJSON file, before any work is done."""
    from kleene.errors import RequestError

    if out not in (None, "-") and Path(str(out)).suffix.lower() not in (".geojson", ".json"):
        raise RequestError(f"{out}: unknown suffix; GeoJSON is saved as .geojson or .json")


def save_routes(answer: Any, rows: Any, out: str | None, output: Output) -> Output:
    """Save an answer as GeoJSON, or write its rows to standard output; see :func:`save_table`."""
    if out is not None and out != "-":
        write_geojson(answer().to_geojson(), out)
        return output
    return save_table(rows, out, output)


def is_geojson(out: str) -> bool:
    """Return whether routes are saved under this name, and not a table."""
    return Path(out).suffix.lower() == ".geojson"


def write_geojson(document: dict[str, Any], out: str) -> None:
    """Write a document; the file is replaced when it is complete."""
    from kleene.results.files import save_geojson

    save_geojson(document, out)
