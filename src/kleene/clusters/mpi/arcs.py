"""Arcs on their way to the ranks that own them, and the numbering of their heads there.

An arc belongs to the owner of its tail. Its head may be anywhere: rank r numbers all heads of its
arcs in *slots*. Slots 0 .. k - 1 are its own k vertices by position; behind them come the *ghosts*,
the vertices of other ranks that its arcs lead to, sorted. So whatever a search keeps for the heads
of a rank's arcs (visited, best distance so far) is an array of slots, as large as the part and not
as the graph, and ghosts of the same owner are neighbours in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene._native import BadArc
from kleene.clusters.mpi.agreement import agreed, raise_together
from kleene.clusters.mpi.communicator import Communicator
from kleene.clusters.mpi.partition import Partition
from kleene.errors import GraphError
from kleene.graph import checks
from kleene.graph.checks import id_dtype
from kleene.graph.weight_names import NumbersLeft
from kleene.io.source import Source

__all__ = [
    "OwnArcs", "PartArcs", "check_offsets", "number_heads", "order_by_owner", "send_arcs",
    "tails_of_rows",
]  # fmt: skip

Array = NDArray[Any]


class OwnArcs(NamedTuple):
    """Arcs in any order, on the rank that owns their tails."""

    tails: Array  # positions in the part
    heads: Array  # vertices of the graph
    weights: Array | None


def send_arcs(
    communicator: Communicator,
    partition: Partition,
    tails: ArrayLike,
    heads: ArrayLike,
    weights: ArrayLike | None = None,
    directed: bool = True,
) -> OwnArcs:
    """Send arcs to the owners of their tails; collective.

    Parameters
    ----------
    communicator : Communicator
        The ranks.
    partition : Partition
        Who owns which vertices.
    tails, heads : sequences of int
        The arcs that this rank brings, anyone's; other ranks bring others, or none.
    weights : sequence of numbers, optional
        Their weights. All ranks that bring arcs have some, or none has.
    directed : bool
        Whether each is one arc; False enters it in both directions.

    Returns
    -------
    OwnArcs
        The arcs that this rank owns, in the order of the ranks they came from.
    """
    arcs = agreed(communicator, lambda: _checked(communicator, partition.n, tails, heads, weights))
    dtype = _weight_dtype(communicator, arcs)
    fields: list[tuple[str, Any]] = [
        ("tail", partition.position_dtype),
        ("head", checks.id_dtype(partition.n)),
    ]
    if dtype is not None:
        fields.append(("weight", dtype))
    tails, heads, values = arcs
    if not directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        values = None if values is None else np.concatenate([values, values])
    owners = partition.owner(tails)
    order, stops = order_by_owner(owners, partition)
    records = np.empty(len(tails), dtype=fields)
    records["tail"] = (tails - partition.bounds[owners])[order]
    records["head"] = heads[order]
    if dtype is not None and values is not None:
        records["weight"] = values[order]
    received = communicator.exchange(np.split(records, stops[:-1]))
    own = {name: np.concatenate([part[name] for part in received]) for name, _ in fields}
    return OwnArcs(own["tail"], own["head"], own.get("weight"))


def number_heads(partition: Partition, rank: int, heads: Array) -> tuple[Array, Array]:
    """Return the slot of each head, and the ghosts.

    Owner by owner, so that the tables for the numbering are as large as a part.
    """
    order, stops = order_by_owner(partition.owner(heads), partition)
    slots = np.empty(len(heads), dtype=np.int64)
    ghosts: list[Array] = []
    first, stop = partition.range(rank)
    count = stop - first
    for owner, entries in enumerate(np.split(order, stops[:-1])):
        positions = heads[entries] - partition.bounds[owner]
        if owner == rank:
            slots[entries] = positions
            continue
        present = np.zeros(int(partition.sizes[owner]), dtype=bool)
        present[positions] = True
        found = np.flatnonzero(present)
        numbers = np.cumsum(present, dtype=np.int64)
        slots[entries] = count + numbers[positions] - 1
        ghosts.append(found + partition.bounds[owner])
        count += len(found)
    joined = np.concatenate([*ghosts, np.empty(0, dtype=np.int64)])
    return slots.astype(checks.id_dtype(count)), joined.astype(checks.id_dtype(partition.n))


def order_by_owner(owners: Array, partition: Partition) -> tuple[Array, Array]:
    """Return the order that puts owner after owner, and where each one's entries stop."""
    small = owners.astype(np.min_scalar_type(partition.ranks))  # of 16 bits: a radix sort
    counts = np.bincount(small, minlength=partition.ranks)
    return np.argsort(small, kind="stable"), np.cumsum(counts)


def _checked(communicator: Communicator, n: int, tails: Any, heads: Any, weights: Any) -> OwnArcs:
    """Return the arcs of this rank as arrays, or say what is wrong with them."""
    ends = checks.as_ids(tails, "tails"), checks.as_ids(heads, "heads")
    values = checks.as_weights(weights, "weights")
    if len(ends[0]) != len(ends[1]):
        raise GraphError(f"tails and heads differ in length: {len(ends[0])} and {len(ends[1])}")
    if values is not None and values.shape != ends[0].shape:
        raise GraphError(f"got {values.size} weights for {len(ends[0])} arcs")
    names = "source", "target"
    faults = [(name, (ids < 0) | (ids >= n)) for name, ids in zip(names, ends, strict=True)]
    if values is not None and values.dtype.kind == "f":
        faults.append(("weight", np.isnan(values) | np.isneginf(values)))
    for fault, wrong in faults:
        if wrong.any():
            bad = BadArc(fault, int(wrong.argmax()))
            error = checks.explain_bad_arc(bad, n, *ends, values)
            where = f"rank {communicator.rank}: " if communicator.size > 1 else ""
            raise GraphError(f"{where}{error}")
    return OwnArcs(*ends, values)


def _weight_dtype(communicator: Communicator, arcs: OwnArcs) -> np.dtype[Any] | None:
    """Return the type that holds the weights of all ranks; None if the graph has none."""
    own = (len(arcs.tails), None if arcs.weights is None else arcs.weights.dtype.str)
    said = communicator.gather_all(own)
    relevant = [name for count, name in said if count] or [name for _, name in said]
    if None in relevant and len(set(relevant)) > 1:
        error = GraphError("some ranks bring weights and others do not; all must, or none")
        raise_together(communicator, error)
    if None in relevant:
        return None
    return checks.weight_dtype(np.result_type(*relevant), "weights")


# ---- what a reader gives each rank: some arcs of a graph, not always those of its own vertices ---


class PartArcs(NamedTuple):
    """The arcs that a rank read.

    Attributes
    ----------
    n : int
        Vertices of the whole graph.
    tails, heads : array
        The ends of the arcs.
    weights : array or None
    directed : bool
    in_rows : bool
        Whether these are the rows of this rank's vertices: tails then count from the first of them,
        and both arcs of an undirected edge were read.
    labels : array or None
        The labels of the vertices of this rank's part, or None if vertices are their positions.
    name : str
    left : NumbersLeft or None
        The columns of numbers that might have been the weights, where there are none.
    """

    n: int
    tails: Array
    heads: Array
    weights: Array | None
    directed: bool
    in_rows: bool
    labels: Array | None = None
    name: str = ""
    left: NumbersLeft | None = None


def check_offsets(source: Source, offsets: Array, first: int, n: int, arcs: int) -> None:
    """Raise unless these are offsets of rows, from row ``first`` on, among ``arcs`` arcs."""
    rises = bool((offsets[1:] >= offsets[:-1]).all())
    inside = rises and offsets[0] >= 0 and offsets[-1] <= arcs
    starts = first > 0 or offsets[0] == 0
    ends = first + len(offsets) - 1 < n or offsets[-1] == arcs
    if not (inside and starts and ends):
        rows = f"rows {first:,} to {first + len(offsets) - 1:,}"
        source.fail(f"found wrong offsets of {rows}, expected them to rise from 0 to {arcs:,} arcs")


def tails_of_rows(offsets: Array) -> Array:
    """Return the row of every arc of some rows, counted from the first of them."""
    rows = len(offsets) - 1
    return np.repeat(np.arange(rows, dtype=id_dtype(rows)), np.diff(offsets))
