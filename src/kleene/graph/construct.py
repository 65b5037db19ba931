"""Graphs from arrays: edges in any order, and CSR arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import Code, GraphError, Text
from kleene.graph import checks
from kleene.graph.forms import CSR, adopt, csr_to_coo
from kleene.graph.labels import as_labels
from kleene.graph.rows import EdgeRows, in_one_order, index_digest
from kleene.system.machine import as_threads, threads_for
from kleene.system.progress import reporter

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["canonical_csr", "from_csr", "from_directions", "from_edges", "from_rows"]

Array = NDArray[Any]


def from_edges(
    cls: type[Graph],
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None,
    n: int | None,
    directed: bool,
    combine: str,
    labels: Sequence[Any] | Array | None,
    name: str,
    keep_rows: bool,
    threads: int | None,
    progress: bool | Callable[[int, int], object] | None,
) -> Graph:
    directed = checks.as_flag(directed, "directed")
    keep_rows = checks.as_flag(keep_rows, "keep_rows")
    given = {"sources": sources, "targets": targets, "weights": weights}
    sources, targets, weights = in_one_order(given).values()
    tails = checks.as_ids(sources, "sources")
    heads = checks.as_ids(targets, "targets")
    if len(tails) != len(heads):
        raise GraphError(f"sources and targets differ in length: {len(tails)} and {len(heads)}")
    values = checks.as_weights(weights, "weights")
    if values is not None and values.ndim == 0:
        values = np.full(len(tails), values)
    if values is not None:
        checks.require_one_each(values, len(tails))
    if not isinstance(combine, str) or combine not in ("min", "max", "sum"):
        raise GraphError(f"combine must be 'min', 'max' or 'sum', not {combine!r}")
    if n is None:
        n = 1 + max(int(tails.max(initial=-1)), int(heads.max(initial=-1)))
    n = checks.as_vertex_count(n)
    kept = None if labels is None else as_labels(labels, n)
    with reporter(progress, "building a graph") as report:
        csr, available = canonical_csr(
            n, tails, heads, values, not directed, combine, threads, report
        )
    rows = None
    if keep_rows:
        needed = 2 * checks.id_dtype(n).itemsize * len(tails)
        _require_rows(csr, needed + (0 if values is None else values.nbytes), available)
        ends = checks.kept_ids(tails, sources, n), checks.kept_ids(heads, targets, n)
        made = EdgeRows(*ends, not directed, combine=combine, index=index_digest(sources))
        rows = _rows(csr, made, values, weights)
    return cls(csr, directed, kept, name, rows=rows)


def _require_rows(csr: CSR, needed: int, available: int) -> None:
    """Raise if there is no memory for the rows besides the arcs."""
    needed += sum(array.nbytes for array in csr if array is not None)
    if needed > available:
        raise checks.over_budget(
            needed, available, "a graph that keeps its rows", Text("pass ", Code("keep_rows=False"))
        )


def from_directions(
    cls: type[Graph],
    sources: Array,
    targets: Array,
    weights: Array | None,
    n: int | None,
    direction: Array,
    labels: Any,
    name: str = "",
    keep_rows: bool = True,
    threads: int | None = None,
) -> Graph:
    """Return the graph of edges with a direction each: 1 ahead, -1 back, 0 both.

    The graph is undirected if all edges go both ways, directed otherwise.
    """
    for value, directed in ((1, True), (0, False)):
        if (direction == value).all():
            return cls.from_edges(
                sources, targets, weights, n, directed, labels=labels, name=name,
                keep_rows=keep_rows, threads=threads,
            )  # fmt: skip
    n = 1 + int(max(sources.max(), targets.max())) if n is None else n
    empty = cls.from_edges([], [], n=n, labels=labels, name=name)
    ends = checks.kept_ids(sources, sources, n), checks.kept_ids(targets, targets, n)
    made = from_rows(empty, EdgeRows(*ends, False, direction=direction), weights)
    return made if keep_rows else made._derived(made.csr, rows=None)


def from_rows(like: Graph, rows: EdgeRows, weights: Array | None) -> Graph:
    """Return the graph of these rows with other weights, one per row; all else like ``like``."""
    tails, heads, entries = rows.arcs()
    values = weights if weights is None or entries is None else weights[entries]
    csr, _ = canonical_csr(like.n, tails, heads, values, rows.undirected, rows.combine, None, None)
    directed = not rows.undirected
    return like._derived(csr, directed=directed, rows=_rows(csr, rows, weights, weights))


def _rows(csr: CSR, rows: EdgeRows, weights: Array | None, given: ArrayLike | None) -> EdgeRows:
    """Return the rows, with their weights if an arc could come from several of them."""
    if weights is None or rows.count_entries() == len(csr.neighbors):
        return rows.with_weights(None)
    return rows.with_weights(checks.own(weights, given))


def canonical_csr(
    n: int,
    tails: Array,
    heads: Array,
    weights: Array | None,
    symmetric: bool,
    combine: str,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> tuple[CSR, int]:
    """Return the canonical form of checked arcs, and the memory that was available for it."""
    wide = n > checks.MOST_INT32_VERTICES and tails.dtype == np.int32
    if wide or tails.dtype != heads.dtype:
        tails, heads = tails.astype(np.int64), heads.astype(np.int64)
    if combine == "sum" and weights is not None:
        weights = checks.as_summable(weights)
    available = checks.memory_for(_most_build_bytes(n, tails, weights, symmetric))
    try:
        csr = _native.build_csr(
            n,
            tails,
            heads,
            weights,
            symmetric=symmetric,
            combine=combine,
            available=available,
            threads=threads_for(len(tails), as_threads(threads)),
            progress=progress,
        )
    except _native.BadArc as bad:
        raise checks.explain_bad_arc(bad, n, tails, heads, weights) from None
    except _native.MemoryNeeded as needed:
        raise checks.over_budget(
            needed.args[0], available, f"a graph of {n:,} vertices",
            "if few vertices have arcs, renumber them to 0 .. n - 1",
            Text("make it by ", Code("kleene.Graph.from_table"), ", which renumbers them"),
        ) from None  # fmt: skip
    if combine == "sum":
        checks.require_finite(csr[2])
    return CSR(*map(adopt, csr)), available


def _most_build_bytes(n: int, tails: Array, weights: Array | None, symmetric: bool) -> int:
    """Return more than the native core can take to build the CSR form; it computes how much."""
    per_arc = 36 if weights is None else 60
    return 8 * (n + 1) + per_arc * len(tails) * (2 if symmetric else 1)


def from_csr(
    cls: type[Graph],
    offsets: ArrayLike,
    neighbors: ArrayLike,
    weights: ArrayLike | None,
    directed: bool,
    labels: Sequence[Any] | Array | None,
    name: str,
) -> Graph:
    directed = checks.as_flag(directed, "directed")
    neighbors, weights = in_one_order({"neighbors": neighbors, "weights": weights}).values()
    starts = checks.as_ids(offsets, "offsets")
    ends = checks.as_ids(neighbors, "neighbors")
    values = checks.as_weights(weights, "weights")
    n = len(starts) - 1
    checks.require_memory(
        9 * len(starts) + ends.nbytes + (0 if values is None else values.nbytes),
        f"a graph of {n:,} vertices",
        "make a smaller graph",
    )
    starts = checks.own(starts.astype(np.int64, copy=False), offsets)  # check what is kept
    if n < 0 or starts[0] != 0 or starts[-1] != len(ends):
        found = "empty" if n < 0 else f"{starts[0]} .. {starts[-1]}"
        raise GraphError(
            f"offsets must run from 0 to the number of arcs, {len(ends)}, but are {found}"
        )
    decreases = np.flatnonzero(starts[1:] < starts[:-1])
    if len(decreases):
        at = int(decreases[0])
        raise GraphError(
            f"offsets must not decrease, but offsets[{at}] = {starts[at]} and "
            f"offsets[{at + 1}] = {starts[at + 1]}"
        )
    if values is not None:
        checks.require_one_each(values, len(ends))
    if ends.dtype == np.int64 and n <= checks.MOST_INT32_VERTICES:
        if len(ends) and (ends.min() < 0 or ends.max() >= n):
            at = int(np.flatnonzero((ends < 0) | (ends >= n))[0])
            raise checks.explain_bad_arc(_native.BadArc("target", at), n, None, ends, values)
        ends = ends.astype(np.int32)
    else:
        ends = checks.own(ends, neighbors)
    if values is not None:
        values = checks.own(values, weights)
    csr = CSR(starts, ends, values)
    try:
        canonical = _native.is_canonical(starts, ends, values, threads_for(len(ends)))
    except _native.BadArc as bad:
        raise checks.explain_bad_arc(bad, n, None, ends, values) from None
    if canonical:
        kept = None if labels is None else as_labels(labels, n)
        graph = cls(CSR(*map(adopt, csr)), labels=kept, name=name)
    else:
        checks.require_memory(
            16 * n + ends.nbytes, f"sorting the arcs of {n:,} vertices", "make a smaller graph"
        )
        coo = csr_to_coo(csr)
        graph = cls.from_edges(
            coo.sources, coo.targets, values, n=n, labels=labels, name=name, keep_rows=False
        )
    if directed:
        return graph
    if not graph.stats.symmetric:
        raise GraphError(
            Code("directed=False"),
            ", but some arc has no reverse arc of the same weight; omit ",
            Code("directed=False"),
            ", or use symmetrise()",
        )
    return graph._derived(graph.csr, directed=False)
