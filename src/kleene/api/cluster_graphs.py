"""What workers of a cluster get of a call's graph: arcs, its matrix, or the prepared graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kleene.distributed.dask_graphs import SharedGraph, share_graph
from kleene.engine.call import Call
from kleene.engine.prepared import prepared_form
from kleene.graph import Graph
from kleene.graph.dense import DenseArcs
from kleene.io.npz import graph_entries, read_mapped
from kleene.io.npz_mapped import write_aligned
from kleene.io.source import Source
from kleene.planning.plan import Plan
from kleene.system.npy_header import map_array, read_array, write_array

__all__ = ["graph_bytes", "share_call_graph", "share_plain_graph", "share_tiled_graph"]


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


@contextmanager
def share_tiled_graph(client: Any, graph: Graph, folder: Path) -> Iterator[SharedGraph]:
    """Yield a graph on the workers that make tiles of it: its matrix, where it is one."""
    arcs = graph.__dict__.get("_dense_arcs")
    if arcs is None:
        with share_plain_graph(client, graph, False, folder) as shared:
            yield shared
        return
    with share_graph(client, lambda p: _write_matrix(p, arcs), _open_matrix, folder) as shared:
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


def _write_matrix(path: Path, arcs: DenseArcs) -> None:
    """Write a matrix, at a place from which it can be mapped, and what is known of it."""
    known = np.array([arcs.min_weight, arcs.max_weight], dtype=arcs.matrix.dtype)
    with path.open("r+b") as file:
        for array in (arcs.matrix, arcs.offsets, arcs.heaviest, known, np.array(arcs.weighted)):
            write_array(file, array)


def _open_matrix(path: str) -> Graph:
    """Return the graph of a matrix in a file, mapped."""
    with open(path, "rb") as file:
        matrix = map_array(file)
        offsets, heaviest, known, weighted = (read_array(file) for _ in range(4))
    low, high = known.tolist()
    return Graph._from_matrix(DenseArcs(matrix, offsets, low, high, heaviest, bool(weighted)))
