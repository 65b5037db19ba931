"""What workers of a cluster get of a call's graph: arcs, or the prepared graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kleene.distributed.dask_graphs import SharedGraph, share_graph
from kleene.engine.call import Call
from kleene.engine.prepared import prepared_form
from kleene.graph import Graph
from kleene.io.npz import graph_entries, read_mapped
from kleene.io.npz_mapped import write_aligned
from kleene.io.source import Source
from kleene.planning.plan import Plan

__all__ = ["graph_bytes", "share_call_graph", "share_plain_graph"]


@contextmanager
def share_call_graph(
    client: Any, call: Call, plan: Plan, folder: Path | None
) -> Iterator[SharedGraph]:
    """Yield the graph of a call on the workers: prepared here, once, where the plan says so."""
    form, hops = call.form, call.hops
    rows = call.computes is None or call.computes.by_rows
    if form is None and rows and plan.method == "prepared":  # None still: a cycle may be negative
        form = prepared_form(call.graph, plan.semiring, plan.dtype, call.ask.where.threads)
    if form is None or hops:
        with share_plain_graph(client, call.graph, hops, folder) as shared:
            yield shared
        return
    entries, load = form._packed()
    with share_graph(client, lambda path: _write(path, entries), load, folder) as shared:
        yield shared


@contextmanager
def share_plain_graph(
    client: Any, graph: Graph, hops: bool, folder: Path | None
) -> Iterator[SharedGraph]:
    """Yield the arcs of a graph on the workers, without weights where hops are counted."""
    entries = graph_entries(_bare(graph, hops), rows=False)
    with share_graph(client, lambda path: _write(path, entries), _open_graph, folder) as shared:
        yield shared


def graph_bytes(graph: Graph, hops: bool) -> int:
    """Return the bytes of a graph's arcs."""
    return sum(array.nbytes for array in _bare(graph, hops).csr if array is not None)


def _bare(graph: Graph, hops: bool = False) -> Graph:
    """Return the arcs, without labels and all else that searches do not need."""
    csr = graph.csr._replace(weights=None) if hops else graph.csr
    return Graph(csr, graph.directed)


def _write(path: Path, entries: dict[str, Any]) -> None:
    with path.open("r+b") as file:
        write_aligned(file, entries)


def _open_graph(path: str) -> Graph:
    """Return the graph in a file, mapped."""
    with Source(path) as source:
        return read_mapped(source)
