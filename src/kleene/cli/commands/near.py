"""``kleene nearest``, ``within`` and ``isochrones``: what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import line, number, table
from kleene.cli.summaries import note_search, present, show_more
from kleene.cli.tables import (
    PAGE,
    check_routes,
    check_table,
    joined,
    list_pairs,
    pairs_of_reach,
    save_routes,
    save_table,
    show_pairs,
)
from kleene.cli.vertices import parse_vertices

if TYPE_CHECKING:
    from kleene.results.nearest import Nearest

__all__ = ["isochrones", "nearest", "within"]


@command("nearest")
def nearest(
    graph: Input,
    *,
    call: Call,
    vertices: list[str] | None = None,
    top: int | None = None,
    out: str | None = None,
    output: Output,
) -> None:
    """Find the k nearest facilities of every vertex: which, and how far.

    Parameters
    ----------
    reverse : bool
        Measure from the facility to the vertex.
    vertices : VERTEX, --vertex -v
        List these vertices only, as named.
    top : N
        List the N nearest vertices.
    """
    import kleene as kl
    from kleene.errors import RequestError

    check_table(out)
    read, answering = graph.open(call.threads)
    given = call.keywords(read)
    if not given.get("facilities"):
        raise RequestError(f"nearest needs facilities: kleene nearest {graph.file} FACILITY...")
    hops = given.get("hops", False)
    named = None if not vertices else parse_vertices(read, vertices)
    if (
        named is not None
        and isinstance(answering, kl.PreparedGraph)
        and answering.semiring == "min_plus"
        and call.here
        and given.get("device", "auto") in ("auto", "cpu")
        and "devices" not in given
        and not hops
    ):
        given = {name: value for name, value in given.items() if name not in ("device", "hops")}
        near = answering.nearest(named, **given)
    else:
        near = call.run(kl.nearest, answering, progress=not output.quiet, **given)
    output = save_table(near, out, output)
    rows, left_out = _listed(near, named, top, None if output.json else PAGE)
    served, total = _served(near), len(near._places)
    reached = int((near.floats.reshape(total, -1)[:, :1] < float("inf")).sum())

    def more() -> None:
        _show_facilities(served)
        _show_vertices(rows, given.get("k", 1), left_out)

    present(
        output,
        "nearest",
        read,
        {
            "facilities": served,
            "served": reached,
            "of": total,
            "out": out,
            "listed": len(rows),
            "vertices": rows,
        },
        {
            "facilities": number(len(served)),
            "served": f"{reached:,} of {total:,} vertices",
            "prepared": None if hops else note_search(answering),
            "saved": out,
        },
        more,
        ran=near,
    )


def _show_facilities(served: list[dict[str, Any]]) -> None:
    """Print the facilities that serve most vertices."""
    line()
    columns = ["facility", "vertices", "mean distance", "farthest"]
    largest = sorted(served, key=lambda one: -one["vertices"])[:PAGE]
    table(columns, [list(one.values()) for one in largest], quantities=columns[1:])
    show_more(len(served) - len(largest), "--json lists all")


def _show_vertices(rows: list[dict[str, Any]], k: int, left_out: int) -> None:
    """Print the vertices that are listed, with their facilities."""
    if rows:
        line()
        columns = [c for c in rows[0] if c != "rank" or k > 1]
        table(columns, [[row[c] for c in columns] for row in rows], quantities=["distance"])
    show_more(left_out, f"--top {len(rows) + left_out}, or --out table.csv")


def _listed(
    near: Nearest, named: list[Any] | None, top: int | None, page: int | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows to list, and how many are left out.

    Vertices that are named are listed as named; otherwise the nearest come first.
    """
    import numpy as np

    columns = joined(near._blocks())
    if named is None:
        order = np.argsort(columns["distance"], kind="stable")
        shown = order[: page if top is None else top]
    else:
        of_each = [np.flatnonzero(columns["vertex"] == vertex) for vertex in named]
        order = shown = np.concatenate(of_each)[:top]
    values = (column[shown].tolist() for column in columns.values())
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
    return rows, len(order) - len(shown)


def _served(near: Nearest) -> list[dict[str, Any]]:
    """Return for each facility the vertices that it is the nearest of, and how far they are."""
    import numpy as np

    which = near.which.reshape(len(near._places), -1)[:, 0]
    distances = near.floats.reshape(len(near._places), -1)[:, 0]
    held = which >= 0
    count = np.bincount(which[held], minlength=len(near.facilities))
    total = np.bincount(which[held], distances[held], minlength=len(near.facilities))
    farthest = np.zeros(len(count))
    np.maximum.at(farthest, which[held], distances[held])
    return [
        {
            "facility": facility,
            "vertices": vertices,
            "mean": length / vertices if vertices else None,
            "farthest": far if vertices else None,
        }
        for facility, vertices, length, far in zip(
            near.facilities.tolist(), count.tolist(), total.tolist(), farthest.tolist(), strict=True
        )
    ]


@command("within")
def within(
    graph: Input, *, call: Call, top: int | None = None, out: str | None = None, output: Output
) -> None:
    """Find what each source reaches within a limit, or its nearest vertices.

    Memory is needed for what is reached only, so that there may be many sources; without any, all
    vertices are sources.

    Parameters
    ----------
    top : N
        List the N nearest vertices of each source.
    """
    import kleene as kl
    from kleene.errors import RequestError

    check_table(out)
    limit, k = call.given.get("limit"), call.given.get("k")
    if limit is None and k is None:
        raise RequestError("within needs --limit LENGTH, or --k K")
    read, answering = graph.open(call.threads)
    given = {"sources": None, **call.keywords(read)}
    sources, reverse = given["sources"], given.get("reverse", False)
    reach = call.run(kl.within, answering, progress=not output.quiet, **given)
    output = save_table(reach, out, output)
    most: int | None = None
    if top is None:
        most = 0 if sources is None else None if output.json else PAGE
    listing = list_pairs(pairs_of_reach(reach), top, most)
    count, reached = len(reach.sources), int(reach.distances.nnz)
    single, near = count == 1, "target" if reverse else "source"
    present(
        output,
        "within",
        read,
        {
            "limit": limit,
            "k": k,
            "sources": count,
            "reached": reached,
            "out": out,
            "listed": len(listing.pairs),
            "pairs": listing.pairs,
        },
        {
            near: reach.sources.tolist()[0] if single else None,
            "sources": None if single else f"{count:,}",
            "limit": None if limit is None else number(limit),
            "nearest": None if k is None else f"{k:,}",
            "reached": f"{reached:,}, the source included" if single else f"{reached:,} pairs",
            "prepared": None if given.get("hops") else note_search(answering),
            "saved": out,
        },
        lambda: show_pairs(listing, read.n, near if single else None),
        ran=reach,
    )


@command("isochrones", omit="source")
def isochrones(
    graph: Input, source: list[str], *, call: Call, out: str | None = None, output: Output
) -> None:
    """Find what lies within some limits of a vertex: areas and streets for a map.

    Vertices need coordinates: those of the file, or --positions. Several sources make one area,
    what is near to any of them; with --each, an area of each.

    Parameters
    ----------
    source : SOURCE
        Where to start: one, or several.
    limits : LENGTH
        The limits: several with commas, or by repetition.
    out : FILE
        Save as GeoJSON, for a map: .geojson or .json; - for a table on standard output.
    """
    import kleene as kl

    check_routes(out)
    read = graph.read()
    starts = parse_vertices(read, source)
    start = starts[0] if len(starts) == 1 else starts
    found = kl.isochrones(read, start, **call.given)
    reverse, each = call.given.get("reverse", False), call.given.get("each", False)
    output = save_routes(lambda: found, found, out, output)
    zones: list[dict[str, Any]] = [
        {
            **({"source": one.source} if each else {}),
            "limit": limit,
            "vertices": len(one.vertices(limit)),
        }
        for one in (found if each else [found])
        for limit in found.limits
    ]

    def more() -> None:
        line()
        columns = list(zones[0])
        table(columns, [list(zone.values()) for zone in zones], quantities=columns[-2:])

    named = ", ".join(map(str, starts)) if len(starts) <= PAGE else f"{len(starts):,} vertices"
    words = {("target" if reverse else "source") + "s" * (len(starts) > 1): named, "saved": out}
    present(output, "isochrones", read, {"source": start, "limits": zones, "out": out}, words, more)
