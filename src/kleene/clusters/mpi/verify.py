"""Proof of a distributed result, in O(part) memory and a fixed number of exchanges.

The facts are those of ``kleene.proofs.paths``, for sums of non-negative weights:

1. the source holds 0 and has no predecessor;
2. no arc improves anything: distance(u) + weight(u, v) is never less than distance(v);
3. every reached vertex but the source has an arc from its predecessor that is *tight*, with
   distance(u) + weight(u, v) equal to distance(v), and predecessors lead to the source. Where tight
   arcs make distances larger, they do; arcs of weight zero could go round, so then all chains are
   followed at once, by doubling. Without predecessors, any tight arc will do that makes distances
   larger, or that comes from a vertex for which this is known.

A rank has the arcs of its own vertices. So the ranks first fetch the values of their ghosts from
the owners; then each looks at its arcs, and reports the vertices that it found attained to their
owners. Sums of floats are compared bit for bit: searches add along paths from the source, and so
does this.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed, guarded
from kleene.clusters.mpi.arcs import order_by_owner
from kleene.clusters.mpi.graph import DistributedGraph
from kleene.clusters.mpi.result import DistributedResult
from kleene.errors import RequestError, VerificationError
from kleene.proofs.paths import Proof

__all__ = ["verify"]

Array = NDArray[Any]

_CHUNK = 1 << 18  # arcs looked at together


def verify(result: DistributedResult) -> Proof:
    """Prove that distances and predecessors are right, or raise on all ranks; collective.

    Parameters
    ----------
    result : DistributedResult
        What ``kleene.distributed.bfs`` or ``sssp`` returned.

    Returns
    -------
    Proof
        The arcs that were looked at, and the time.

    Raises
    ------
    VerificationError
        The result is wrong; the message names a vertex.

    Examples
    --------
    >>> import kleene as kl
    >>> alone = kl.distributed.Communicator()
    >>> g = kl.distributed.rmat(8, seed=1, weights=(1, 9), comm=alone)
    >>> kl.distributed.verify(kl.distributed.sssp(g, 0)).rows
    1
    """
    with guarded(result.graph.communicator, "verify"):
        return _verify(result)


def _verify(result: DistributedResult) -> Proof:
    began = time.perf_counter()
    graph, comm = result.graph, result.graph.communicator
    agreed(comm, lambda: _check_fields(result))
    distances = np.concatenate([result.distances, _fetch(graph, graph.ghosts, result.distances)])
    links = _links(result)
    slots, flat = agreed(comm, lambda: _check_arcs(result, distances, links))
    attained = _report(graph, slots)
    if any(comm.gather_all(len(flat) > 0)):
        if links is None:
            attained = _spread(graph, attained, flat)
        else:
            _follow(result)
    agreed(comm, lambda: _check_attained(result, attained))
    kind = "exact" if result.distances.dtype.kind == "i" else f"exact in {result.distances.dtype}"
    return Proof(1, 1, graph.m, kind, time.perf_counter() - began)


# ---- values of other ranks ----------------------------------------------------------------------


def _fetch(graph: DistributedGraph, vertices: Array, values: Array) -> Array:
    """Return the values of any vertices, of which each rank has those of its own; collective."""
    comm, partition = graph.communicator, graph.partition
    order, stops = order_by_owner(partition.owner(vertices), partition)
    asked = comm.exchange(np.split(vertices.astype(np.int64)[order], stops[:-1]))
    answers = comm.exchange([values[positions - graph.first] for positions in asked])
    found = np.empty(len(vertices), values.dtype)
    found[order] = np.concatenate(answers)
    return found


def _report(graph: DistributedGraph, attained: Array) -> Array:
    """Return which own vertices some rank found attained; collective."""
    comm, partition, own = graph.communicator, graph.partition, graph.part_size
    away = graph.ghosts[attained[own:]].astype(np.int64)
    mine = attained[:own].copy()
    order, stops = order_by_owner(partition.owner(away), partition)
    for found in comm.exchange(np.split(away[order], stops[:-1])):
        mine[found - graph.first] = True
    return mine


def _links(result: DistributedResult) -> Array | None:
    """Return the predecessors of all slots."""
    if result.predecessors is None:
        return None
    graph = result.graph
    own = result.predecessors.astype(np.int64)
    return np.concatenate([own, _fetch(graph, graph.ghosts, own)])


# ---- fact 1 and the fields ----------------------------------------------------------------------


def _check_fields(result: DistributedResult) -> None:
    graph, distances, links = result.graph, result.distances, result.predecessors
    own = graph.part_size
    for name, held in (("distances", distances), ("predecessors", links)):
        if held is not None and len(held) != own:
            _fail(f"a rank of {own} vertices has {len(held)} {name}")
    reached = result.reached
    wrong = reached & ~(distances >= 0)  # NaN too
    if wrong.any():
        v = int(wrong.argmax())
        _fail(f"vertex {graph.first + v} holds {distances[v]}, but no distance is negative")
    if graph.weights is not None and result.problem != "bfs" and not (graph.weights >= 0).all():
        raise RequestError(
            "ranks cannot verify results on graphs with negative weights",
            advice=["verify them in one process"],
        )
    if links is not None:
        expected = reached.copy()
        if graph.first <= result.source < graph.stop:
            expected[result.source - graph.first] = False
        odd = (links != -1) != expected
        if odd.any():
            v = int(odd.argmax())
            state = "reached" if reached[v] else "not reached"
            _fail(f"vertex {graph.first + v} is {state} and has predecessor {links[v]}")
    if graph.first <= result.source < graph.stop and distances[result.source - graph.first] != 0:
        held = distances[result.source - graph.first]
        _fail(f"the source holds {held}, expected 0")


# ---- facts 2 and 3 ------------------------------------------------------------------------------


def _pieces(result: DistributedResult) -> Iterator[tuple[Array, Array, Array]]:
    """Yield tails, as own positions, slots and weights of the arcs, some at a time."""
    graph = result.graph
    by_hops = graph.weights is None or result.problem == "bfs"
    one = np.ones(1, result.distances.dtype)
    for begin in range(0, len(graph.slots), _CHUNK):
        end = min(begin + _CHUNK, len(graph.slots))
        rows = np.arange(
            np.searchsorted(graph.offsets, begin, "right") - 1,
            np.searchsorted(graph.offsets, end, "left"),
        )
        cuts = np.clip(graph.offsets[rows[0] : rows[-1] + 2], begin, end)
        weights = one if by_hops else graph.weights[begin:end]  # type: ignore[index]
        yield np.repeat(rows, np.diff(cuts)), graph.slots[begin:end], weights


def _check_arcs(
    result: DistributedResult, distances: Array, links: Array | None
) -> tuple[Array, Array]:
    """Check fact 2; return which slots are attained, and the arcs of weight zero that matter.

    With predecessors, these are among the arcs that attain; without, they may attain: pairs of tail
    and slot.
    """
    graph, dtype = result.graph, distances.dtype
    attained = np.zeros(len(distances), dtype=bool)
    if graph.first <= result.source < graph.stop:
        attained[result.source - graph.first] = True
    flat = [np.empty((0, 2), dtype=np.int64)]
    for tails, slots, weights in _pieces(result):
        held, tail = distances[slots], distances[tails]
        leads, known = tail != result.no_path, held != result.no_path
        with np.errstate(over="ignore"):
            offers = tail + weights.astype(dtype)
        # untestable (assignment removed): a sum that wraps is refused for another arc
        offers[offers < tail] = np.iinfo(dtype).max if dtype.kind == "i" else np.inf
        better = leads & (~known | (offers < held))
        if better.any():
            i = int(better.argmax())
            u, v = graph.first + int(tails[i]), _vertex(graph, int(slots[i]))
            _fail(f"vertex {v} holds {held[i]}, but the arc {u} -> {v} offers {offers[i]}")
        tight = leads & known & (offers == held)
        if links is not None:
            tight &= links[slots] == tails + graph.first
        level = tight & (tail == held)
        if level.any():
            flat.append(np.stack([tails[level], slots[level]], axis=1))
        attained[slots[tight if links is not None else tight & ~level]] = True
    return attained, np.concatenate(flat)


def _spread(graph: DistributedGraph, attained: Array, flat: Array) -> Array:
    """Return which own vertices are attained, also over arcs of weight zero from those that are."""
    comm, own = graph.communicator, graph.part_size
    sent = np.zeros(own + len(graph.ghosts), dtype=bool)
    while True:
        found = flat[attained[flat[:, 0]], 1]
        fresh = np.zeros_like(sent)
        fresh[found] = True
        fresh &= ~sent
        sent |= fresh
        if not any(comm.gather_all(bool(fresh.any()))):
            return attained
        attained = attained | _report(graph, fresh)


def _check_attained(result: DistributedResult, attained: Array) -> None:
    missing = result.reached & ~attained
    if missing.any():
        v = int(missing.argmax())
        name = f"vertex {result.graph.first + v} holds {result.distances[v]}"
        if result.predecessors is not None:
            _fail(f"{name}, but no arc from its predecessor {result.predecessors[v]} gives that")
        _fail(f"{name}, but no path attains that")


def _follow(result: DistributedResult) -> None:
    """Follow all chains of predecessors at once, doubling the stride; they end at the source."""
    graph, comm = result.graph, result.graph.communicator
    assert result.predecessors is not None
    ancestors = result.predecessors.astype(np.int64)
    has = ancestors >= 0
    ancestors[~has] = np.arange(graph.first, graph.stop)[~has]
    for _ in range(graph.n.bit_length()):
        ancestors = _fetch(graph, ancestors, ancestors)
        if not any(comm.gather_all(bool((ancestors[has] != result.source).any()))):
            return

    def fail() -> None:
        lost = has & (ancestors != result.source)
        if lost.any():
            v = graph.first + int(lost.argmax())
            _fail(f"the predecessors of vertex {v} never lead to the source")

    agreed(comm, fail)


def _vertex(graph: DistributedGraph, slot: int) -> int:
    own = graph.part_size
    return graph.first + slot if slot < own else int(graph.ghosts[slot - own])


def _fail(what: str) -> NoReturn:
    raise VerificationError(what)
