"""Demand between vertices, as users have it: a table, trips, three arrays, or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kleene.api.arguments import as_vertices
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.checks import FILL_IN, require_unmasked
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.table_index import in_one_order
from kleene.graph.tables import column, column_names, is_table
from kleene.measures.loads import Demand

__all__ = ["as_demand"]

Array = NDArray[Any]


def as_demand(graph: Graph, demand: Any, origin: Any, destination: Any, volume: Any) -> Demand:
    """Return the trips of a demand that have a volume, with vertices by position."""
    matrix = sp.issparse(demand) or (isinstance(demand, np.ndarray) and demand.ndim == 2)
    if matrix:
        positions, ends, volumes = _from_matrix(graph, demand)
    else:
        if isinstance(demand, (tuple, list)):
            columns = _from_sequence(demand)
        elif is_table(demand):
            columns = _from_table(demand, origin, destination, volume)
        else:
            raise RequestError(
                Code("demand"),
                " must be a table, a list of trips (origin, destination, volume), a tuple of "
                f"three arrays or a matrix, not {type(demand).__name__}",
            )
        volumes = _as_volumes(columns[2])
        if not len(columns[0]) == len(columns[1]) == len(volumes):
            raise RequestError(
                f"demand has {len(columns[0]):,} origins, {len(columns[1]):,} destinations and "
                f"{len(volumes):,} volumes: give as many of each"
            )
        names = ("the origins of demand", "the destinations of demand")
        ends = [as_vertices(graph, end, name) for end, name in zip(columns, names, strict=False)]
        positions = np.arange(len(volumes))
    _check_volumes(volumes, positions, graph.n if matrix else None)
    used = volumes > 0
    if not used.all():
        positions, volumes = positions[used], volumes[used]
        ends = [end[used] for end in ends]
    return Demand(positions, ends[0], ends[1], volumes)


def _from_matrix(graph: Graph, matrix: Any) -> tuple[Array, list[Array], Array]:
    """Return positions by rows, both ends and the volumes of a matrix."""
    if matrix.shape != (graph.n, graph.n):
        if matrix.ndim != 2:
            raise RequestError(
                Code("demand"),
                f" must be a square matrix, {graph.n:,} x {graph.n:,}, not an array of the "
                f"shape {matrix.shape}",
            )
        rows, columns = matrix.shape
        raise RequestError(
            f"demand is a matrix of {rows:,} x {columns:,}, and the graph has {graph.n:,} "
            "vertices: a matrix has a row and a column for each vertex, in the order of the graph"
        )
    if sp.issparse(matrix):
        entries = matrix.tocsr()
        counts, columns, volumes = np.diff(entries.indptr), entries.indices, entries.data
        origins = np.repeat(np.arange(graph.n, dtype=graph.id_dtype), counts)
        positions = origins * np.int64(graph.n) + columns
    else:
        require_unmasked(matrix, "demand", f"{FILL_IN}, 0 for no trip", RequestError)
        matrix = np.asarray(matrix)  # np.matrix keeps two dimensions where one is meant
        _require_numbers(matrix)
        positions = np.flatnonzero(matrix)
        counts = np.count_nonzero(matrix, axis=1)
        origins = np.repeat(np.arange(graph.n, dtype=graph.id_dtype), counts)
        columns = positions - origins * np.int64(graph.n)
        volumes = np.ravel(matrix)[positions]
    destinations = columns.astype(graph.id_dtype, copy=False)
    return positions, [origins, destinations], _as_volumes(volumes)


def _from_sequence(demand: Any) -> list[Any]:
    """Return three columns: trips are tuples in a list, and columns are arrays or lists.

    Three trips could be three columns as well, so that nothing is guessed from lengths.
    """
    if isinstance(demand, list) and all(isinstance(trip, tuple) for trip in demand):
        return _from_trips(demand)
    if isinstance(demand, list) and not all(hasattr(values, "__array__") for values in demand):
        raise RequestError(
            "demand is a list, and a trip in it must be a tuple (origin, destination, volume); for "
            "columns pass a tuple of three: (origins, destinations, volumes)"
        )
    if len(demand) != 3:
        raise RequestError(
            Code("demand"),
            " must be a tuple of three arrays (origins, destinations, volumes), and has "
            f"{len(demand)} entries; trips go in a list: [(origin, destination, volume), ...]",
        )
    names = ("origins", "destinations", "volumes")
    for name, values in zip(names, demand, strict=True):
        if isinstance(values, (str, bytes)) or not np.iterable(values):
            raise RequestError(f"the {name} of demand must be an array, not {values!r}")
        if isinstance(values, tuple):
            raise RequestError(
                f"the {name} of demand are a tuple: pass an array or a list; trips go in a list: "
                "[(origin, destination, volume), ...]"
            )
    given = in_one_order(dict(zip(names, demand, strict=True))).items()
    columns = (as_numpy(values, f"the {name} of demand") for name, values in given)
    return [v if isinstance(v, np.ndarray) else list(v) for v in columns]


def _from_trips(trips: list[Any]) -> list[Any]:
    """Return three columns of tuples; those of two vertices are one trip each."""
    for row, trip in enumerate(trips):
        if len(trip) not in (2, 3):
            raise RequestError(
                f"trip {row} of demand has {len(trip)} entries, not (origin, destination) or "
                "(origin, destination, volume)"
            )
    volumes = [trip[2] if len(trip) == 3 else 1 for trip in trips]
    return [[trip[0] for trip in trips], [trip[1] for trip in trips], volumes]


def _from_table(demand: Any, origin: Any, destination: Any, volume: Any) -> list[Any]:
    """Return three columns; without one of volumes, every row is one trip."""
    demand = in_one_order(demand)
    ends = [column(demand, origin), column(demand, destination)]
    if volume == "auto":
        names = column_names(demand)
        others = [name for name in names if name not in (origin, destination)]
        if others and "volume" not in others:
            raise RequestError(
                f"demand has no column 'volume', but {', '.join(map(repr, others))}: pass ",
                Code("volume='...'"),
                " for the one with the volumes, or ",
                Code("volume=None"),
                " for one trip a row",
            )
        volume = "volume" if others else None
    volumes = np.ones(len(ends[0])) if volume is None else column(demand, volume)
    return [*ends, volumes]


def _as_volumes(volumes: Any) -> Array:
    """Return volumes as float64."""
    require_unmasked(volumes, "the volumes of demand", error=RequestError)
    try:
        array = np.asarray(volumes)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise RequestError("the volumes of demand must be numbers, one for each trip")
    if not len(array):
        return np.empty(0)
    _require_numbers(array)
    return np.ascontiguousarray(array, dtype=np.float64)


def _require_numbers(array: Array) -> None:
    if array.dtype.kind not in "biuf":
        raise RequestError(
            f"the volumes of demand must be real numbers, and have the type {array.dtype}"
        )


def _check_volumes(volumes: Array, positions: Array, columns: int | None) -> None:
    """Refuse volumes that are no numbers from 0 on; a matrix has so many columns."""
    wrong = ~np.isfinite(volumes) | (volumes < 0)
    if wrong.any():
        first, count = int(wrong.argmax()), int(wrong.sum())
        where = f"row {positions[first]}"
        if columns is not None:
            where = "row {}, column {}".format(*divmod(int(positions[first]), columns))
        raise RequestError(
            f"volumes of demand must be finite and not negative, and that of {where} is "
            f"{volumes[first]:g}: leave out {count:,} such trip{'s' * (count != 1)}"
        )
    with np.errstate(over="ignore"):
        total = volumes.sum()
    if not np.isfinite(total):
        raise RequestError("the volumes of demand add up to more than a float64 holds")
