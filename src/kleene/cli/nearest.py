"""``kleene nearest``: the nearest facilities of every vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Device, Hops, Input, Limit, Output, Threads
from kleene.cli.output import facts, line, number, table
from kleene.cli.pairs import PAGE
from kleene.cli.prepare import note_search
from kleene.cli.summaries import graph_fields, plan_fields, show_graph
from kleene.cli.tables import TableFile, check_table
from kleene.cli.vertex_files import read_vertices
from kleene.cli.vertices import parse_vertices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kleene.results.nearest import Nearest

__all__ = ["nearest"]


@with_option_groups
def nearest(
    *,
    graph: Input,
    facilities: Annotated[
        list[str] | None,
        Argument(metavar="FACILITY", help="Where the facilities are; or give them by --facility."),
    ] = None,
    facility: Annotated[
        list[str] | None,
        Option(
            "--facility",
            "-f",
            metavar="VERTEX",
            help="A facility; repeat the option, or separate with commas.",
        ),
    ] = None,
    facility_file: Annotated[
        str | None,
        Option("--facilities", metavar="FILE", help="A text file with a facility on each line."),
    ] = None,
    k: Annotated[
        int, Option("--k", "-k", metavar="K", min=1, help="How many facilities for each vertex.")
    ] = 1,
    vertex: Annotated[
        list[str] | None,
        Option("--vertex", "-v", metavar="VERTEX", help="List these vertices only, as named."),
    ] = None,
    limit: Limit = None,
    hops: Hops = False,
    reverse: Annotated[
        bool, Option("--reverse", help="Measure from the facility to the vertex.")
    ] = False,
    top: Annotated[
        int | None, Option("--top", metavar="N", min=0, help="List the N nearest vertices.")
    ] = None,
    out: TableFile = None,
    device: Device = "auto",
    threads: Threads = None,
    cluster: Cluster,
    output: Output,
) -> None:
    """Find the k nearest facilities of every vertex: which, and how far."""
    import kleene as kl
    from kleene.errors import RequestError

    check_table(out)
    read, answering = graph.open(threads)
    given = parse_vertices(read, [*(facilities or ()), *(facility or ())]) or []
    given += read_vertices(read, facility_file) if facility_file is not None else []
    if not given:
        raise RequestError(f"nearest needs facilities: kleene nearest {graph.file} FACILITY...")
    named = parse_vertices(read, vertex)
    here = cluster == Cluster() and device in ("auto", "cpu")
    if (
        named is not None
        and isinstance(answering, kl.PreparedGraph)
        and answering.semiring == "min_plus"
        and here
        and not hops
    ):
        near = answering.nearest(named, given, k, limit=limit, reverse=reverse, threads=threads)
    else:
        with cluster.keywords() as on:
            near = kl.nearest(
                answering,
                given,
                k,
                limit=limit,
                hops=hops,
                reverse=reverse,
                threads=threads,
                device=device,
                progress=not output.quiet,
                **on,
            )
    if out is not None:
        near.save(out)
    rows, left_out = _listed(near, named, top, None if output.json else PAGE)
    served, total = _served(near), len(near._places)
    document: dict[str, Any] = {
        "command": "nearest",
        "graph": graph_fields(read),
        "plan": plan_fields(near.plan),
        "seconds": near.stats.total,
        "facilities": served,
        "served": int((near.floats.reshape(total, -1)[:, :1] < float("inf")).sum()),
        "of": total,
        "out": out,
        "listed": len(rows),
        "vertices": rows,
    }

    def page() -> None:
        show_graph(read, near.plan, near.stats.total)
        facts(
            {
                "facilities": number(len(served)),
                "served": f"{document['served']:,} of {total:,} vertices",
                "prepared": None if hops else note_search(answering),
                "saved": out,
            }
        )
        _show_facilities(served)
        _show_vertices(rows, k, left_out)

    output.show(document, page)


def _show_facilities(served: list[dict[str, Any]]) -> None:
    """Print the facilities that serve most vertices."""
    line()
    columns = ["facility", "vertices", "mean distance", "farthest"]
    largest = sorted(served, key=lambda one: -one["vertices"])[:PAGE]
    table(columns, [list(one.values()) for one in largest], quantities=columns[1:])
    if len(served) > len(largest):
        line(f"  and {len(served) - len(largest):,} more: --json lists all", style="dim")


def _show_vertices(rows: list[dict[str, Any]], k: int, left_out: int) -> None:
    """Print the vertices that are listed, with their facilities."""
    if rows:
        line()
        columns = [c for c in rows[0] if c != "rank" or k > 1]
        table(columns, [[row[c] for c in columns] for row in rows], quantities=["distance"])
    if left_out:
        more = f"--top {len(rows) + left_out}, or --out table.csv"
        line(f"  and {left_out:,} more: {more}", style="dim")


def _table(near: Nearest) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return vertices and facilities by position, ranks and distances; a row each that is found."""
    import numpy as np

    places = near._places
    which, distances = (a.reshape(len(places), -1) for a in (near.which, near.distances))
    rows, ranks = np.nonzero(which >= 0)
    facilities = np.atleast_1d(near.graph.index(near.facilities))[which[rows, ranks]]
    return places[rows], ranks, facilities, distances[rows, ranks]


def _listed(
    near: Nearest, named: list[Any] | None, top: int | None, page: int | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows to list, and how many are left out.

    Vertices that are named are listed as named; otherwise the nearest come first.
    """
    import numpy as np

    vertices, ranks, facilities, distances = _table(near)
    if named is None:
        order = np.lexsort((ranks, vertices, distances))
        shown = order[: page if top is None else top]
    else:
        places = np.atleast_1d(near.graph.index(named))
        order = shown = np.concatenate([np.flatnonzero(vertices == at) for at in places])[:top]
    labels = [near.graph.label(column[shown]).tolist() for column in (vertices, facilities)]
    values = (labels[0], ranks[shown].tolist(), labels[1], distances[shown].tolist())
    names = ("vertex", "rank", "facility", "distance")
    rows = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
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
