"""Traffic loads: all trips of a demand on their shortest paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kleene.backends.common.limits import as_limit
from kleene.backends.task import LoadsAnswer, LoadsTask
from kleene.calls.arguments import Progress, Vertices, as_prepared, as_vertices, make_ask
from kleene.calls.execution import runner_for
from kleene.engine.call import Call, Computation
from kleene.engine.planned import Planned, plan_value
from kleene.engine.prepared import PreparedForm
from kleene.engine.solve import solve
from kleene.engine.sums import Sums, SumsWriter
from kleene.engine.work import run_method
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import FILL_IN, as_flag, require_unmasked
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.rows import in_one_order
from kleene.graph.tables import column, column_names, is_table
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.measures.loads import Demand, Loads
from kleene.measures.zero_cycles import refuse_zero_cycles
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.backends.task import Progress as Report
    from kleene.calls.prepared_graph import PreparedGraph
    from kleene.engine.pieces import Piece

__all__ = [
    "as_demand",
    "loads",
    "loads_between",
]

#: Work of a trip in a prepared graph, in the units of ``threads_for``: some microseconds.
_CLIMB = 2**10


def loads(
    graph: Graph | PreparedGraph,
    demand: Any,
    *,
    origin: str = "origin",
    destination: str = "destination",
    volume: str | None = "auto",
    split: bool = False,
    hops: bool = False,
    limit: float | None = None,
    on: Any = None,
    method: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    progress: Progress = None,
) -> Loads:
    """Return the volume on each arc when all trips of a demand take shortest paths.

    This is all-or-nothing assignment: every trip goes on one shortest path, or with ``split``
    equally on all of them, whatever else goes there. Trips with the same origin share a search, and
    no distances are kept: memory is that of the graph, of the demand, and for each thread of one
    search and the sums of the arcs. A prepared graph needs microseconds for a trip.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph. Weights must not be negative; a prepared graph may have negative ones.
    demand : table, list of trips, tuple of three arrays, or matrix
        The trips. A table has a column of origins, one of destinations and one of volumes; it is a
        pandas, Polars or Arrow table or a dict of columns. A trip in a list is a tuple (origin,
        destination, volume), or (origin, destination) for a volume of 1; a tuple of arrays is
        (origins, destinations, volumes). A matrix, of NumPy or SciPy, has a row and a column for
        each vertex, in the order of the graph. Volumes are non-negative numbers.
    origin, destination : str
        The columns of the two ends, in a table.
    volume : str or None
        The column of the volumes; with None, every row is one trip. "auto" takes "volume", or None
        if there are no columns but those of the two ends.
    split : bool
        Whether to split each volume over all shortest paths, each path getting the same share.
        Paths have the same length if integers are equal, or float64 sums, added arc by arc from
        the origin. Arcs of weight zero must not form a cycle.
    hops : bool
        Count arcs instead of adding weights.
    limit : number, optional
        The length, or the number of hops, beyond which a path does not count.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers take some of the trips each.
    method : {"auto", "searches", "prepared", "plain"}
        How: one of ``kl.methods("loads")``. ``"prepared"`` takes neither ``split`` nor ``limit``.
    device : {"auto", "cpu", "reference"}
        Where to compute.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    Loads
        ``arcs``, ``vertices``, and for a graph from a table ``rows``; ``unassigned`` are trips
        without a path. Flows are sums of floats: whole numbers are exact below 2^53, others depend
        on the number of threads, and on a cluster, by rounding.

    Raises
    ------
    RequestError
        A volume is negative, a weight is negative, a matrix does not fit the graph, or zero weights
        form a cycle and ``split`` is asked for.
    GraphError
        A vertex is not in the graph, or a column not in the table.

    See Also
    --------
    PreparedGraph.paths : The paths themselves, of many pairs.

    Examples
    --------
    >>> import kleene as kl
    >>> streets = {
    ...     "source": ["a", "b", "a", "c"], "target": ["b", "d", "c", "d"], "weight": [1, 1, 1, 2]
    ... }
    >>> g = kl.Graph.from_table(streets, directed=False)
    >>> trips = {"origin": ["a", "d"], "destination": ["d", "b"], "volume": [10, 4]}
    >>> flows = kl.loads(g, trips)
    >>> flows.rows.tolist(), flows.total_cost
    ([10.0, 14.0, 0.0, 0.0], 24.0)
    >>> kl.loads(g, trips, hops=True, split=True).rows.tolist()
    [5.0, 9.0, 5.0, 5.0]
    >>> kl.loads(g, [("a", "d", 10), ("d", "b", 4)]).rows.tolist()
    [10.0, 14.0, 0.0, 0.0]
    """
    hops, split = as_flag(hops, "hops"), as_flag(split, "split")
    graph, form = _opened(graph, hops)
    trips = as_demand(graph, demand, origin, destination, volume)
    ask = _ask(len(trips.volumes), split, limit, method, device, threads)
    ask, by_destination = _with_roots(graph_facts(graph, hops), ask, trips)
    asked = _Asked(hops, "flows", split, limit, by_destination)
    call = Call(
        ask, graph, np.empty(0, graph.id_dtype), None, None, progress, None, False,
        pairs=trips[1:], form=form, on=on, computes=asked,
    )  # fmt: skip
    made = asked.plan(call)
    if split and not hops:
        refuse_zero_cycles(graph)
    task = asked.task(call, made.plan)
    order: Any = slice(None)
    if on is not None:  # trips with the same root come together, in a piece or in two
        order = np.argsort(trips.destinations if by_destination else trips.origins, kind="stable")
        call = call._replace(pairs=trips.some(order)[1:])
    (arcs, found), plan, stats, _ = solve(call, _Flows(), made, runner_for(call))
    assigned = np.empty_like(found)
    assigned[order] = found
    return Loads(task, trips.positions, arcs, assigned, plan, stats)


@dataclass(eq=False)
class _Asked(Computation):
    """How trips go; they are the pairs of their call, with volumes."""

    split: bool
    limit: float | None
    by_destination: bool

    by_rows = True

    def plan(self, call: Call) -> Planned:
        """Plan searches or climbs."""
        return Planned(_plan(call.graph, call.ask, self.hops, call.form is not None))

    def task(self, call: Call, plan: Plan, report: Report | None = None) -> LoadsTask:
        """Return what a method is given."""
        graph, ask, dtype, form = call.graph, call.ask, np.dtype(plan.dtype), call.form
        wide = np.dtype(np.float64) if dtype.kind == "f" else dtype  # of searches
        assert call.pairs is not None
        climbs = call.rows * _CLIMB if plan.method == "prepared" else 0
        work = max(climbs, (ask.what.sources or 0) * (graph.n + graph.m))
        origins, destinations, volumes = call.pairs
        return LoadsTask(
            graph, origins, destinations, volumes, self.split, self.hops,
            as_limit(self.limit, graph, wide, self.hops), dtype, self.by_destination,
            threads_for(work, ask.where.threads), report,
            form._parts if isinstance(form, PreparedForm) else None,
        )  # fmt: skip

    def compute(self, call: Call, plan: Plan, report: Report | None) -> LoadsAnswer:
        """Return the flows of all arcs, and which trips have a path."""
        found: LoadsAnswer = run_method(plan, self.task(call, plan, report))
        return found


class _Flows(Sums):
    """Flows of runs of trips, which are added; which of them have a path follows one another."""

    def __init__(self) -> None:
        super().__init__(_added)
        self.writer = _FlowsWriter()


def _added(total: LoadsAnswer, part: LoadsAnswer) -> LoadsAnswer:
    assigned = np.concatenate([total.assigned, part.assigned])
    return LoadsAnswer(total.arcs + part.arcs, assigned)


class _FlowsWriter(SumsWriter):
    """The flows of some trips, as they are."""

    unit = "trips"

    def needs(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> int:
        """Return the bytes of the flows; the plan of a worker says what a search takes."""
        return 8 * call.graph.m


def loads_between(
    graph: Graph | PreparedGraph,
    sources: Vertices | None = None,
    *,
    limit: float | None = None,
    hops: bool = False,
    split: bool = False,
    method: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    on: Any = None,
    progress: Progress = None,
) -> Plan:
    """Plan trips from each of some vertices to each: ``explain`` can do without a demand.

    ``on`` and ``progress`` make no difference to the plan of loads.
    """
    hops, split = as_flag(hops, "hops"), as_flag(split, "split")
    graph, parts = _opened(graph, hops)
    zones = graph.n if sources is None else len(as_vertices(graph, sources, "sources"))
    ask = _ask(zones**2, split, limit, method, device, threads).but(sources=zones)
    return _plan(graph, ask, hops, parts is not None)


def _opened(graph: Graph | PreparedGraph, hops: bool) -> tuple[Graph, PreparedForm | None]:
    """Return the graph, and the prepared graph if that has the lengths, else None."""
    if isinstance(graph, Graph):
        return graph, None
    prepared = as_prepared(graph)
    prepared._require_lengths("loads are")
    own = prepared.graph
    return own, None if hops and own.weights is not None else prepared


def _ask(trips: int, split: bool, limit: Any, method: str, device: str, threads: int | None) -> Ask:
    ask = make_ask(
        "loads", predecessors=False, limited=limit is not None, method=method, device=device,
        threads=threads,
    )  # fmt: skip
    return ask.but(trips=trips, split=split)


def _plan(graph: Graph, ask: Ask, hops: bool, prepared: bool) -> Plan:
    """Plan a call, or refuse what no method does."""
    if not hops:
        warn_of_numbers_left(graph)
    facts = graph_facts(graph, hops)
    searched = ask.what.split or ask.what.limited
    if searched and ask.where.method == "prepared":
        what = Code("split=True") if ask.what.split else Text("a ", Code("limit"))
        raise RequestError(
            "method 'prepared' does not take ", what, advice=["leave the method to 'auto'"]
        )
    if prepared and not searched and ask.where.method == ask.where.device == "auto":
        ask = ask.but(method="prepared")
    plain = ask.where.device == "reference" or ask.where.method in ("prepared", "plain")
    if facts.min_weight < 0 and (ask.what.split or not plain):
        raise RequestError(
            f"loads needs non-negative weights, and the smallest is {facts.min_weight:g}; ",
            Code("kl.loads(kl.prepare(graph), ...)"),
            " takes negative weights, without ",
            Code("limit="),
            " and ",
            Code("split="),
        )
    return plan_value(facts, ask, graph, hops)


def _with_roots(facts: Facts, ask: Ask, trips: Demand) -> tuple[Ask, bool]:
    """Count the roots of searches, and say whether they are the destinations.

    Not where floats added from the other end could make another answer: of ties, or at a limit.
    """
    origins, destinations = (
        int(np.count_nonzero(np.bincount(ends, minlength=1)))
        for ends in (trips.origins, trips.destinations)
    )
    exact = facts.weight_dtype is None or np.dtype(facts.weight_dtype).kind == "i"
    other_end = exact or not (ask.what.split or ask.what.limited)
    by_destination = destinations < origins and other_end and facts.min_weight >= 0
    return ask.but(sources=destinations if by_destination else origins), by_destination


# ---- Demand between vertices, as users have it: a table, trips, three arrays, or a matrix -------

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
                f"{len(volumes):,} volumes: give the same number of each"
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
            f"demand is a matrix of {rows:,} x {columns:,}, but the graph has {graph.n:,} "
            "vertices: a matrix needs one row and one column per vertex, in the order of the graph"
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
            "demand is a list, so each trip in it must be a tuple (origin, destination, volume); "
            "for columns pass a tuple of three: (origins, destinations, volumes)"
        )
    if len(demand) != 3:
        raise RequestError(
            Code("demand"),
            " must be a tuple of three arrays (origins, destinations, volumes), but has "
            f"{len(demand)} entries",
            advice=["pass trips in a list: [(origin, destination, volume), ...]"],
        )
    names = ("origins", "destinations", "volumes")
    for name, values in zip(names, demand, strict=True):
        if isinstance(values, (str, bytes)) or not np.iterable(values):
            raise RequestError(f"the {name} of demand must be an array, not {values!r}")
        if isinstance(values, tuple):
            raise RequestError(
                f"the {name} of demand are a tuple: pass an array or a list",
                advice=["pass trips in a list: [(origin, destination, volume), ...]"],
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
                f"demand has no column 'volume'; it has {', '.join(map(repr, others))}: pass ",
                Code("volume='...'"),
                " for the column of volumes, or ",
                Code("volume=None"),
                " for one trip per row",
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
        raise RequestError(f"the volumes of demand must be real numbers, not {array.dtype}")


def _check_volumes(volumes: Array, positions: Array, columns: int | None) -> None:
    """Refuse volumes that are negative or not numbers; a matrix has so many columns."""
    wrong = ~np.isfinite(volumes) | (volumes < 0)
    if wrong.any():
        first, count = int(wrong.argmax()), int(wrong.sum())
        where = f"row {positions[first]}"
        if columns is not None:
            where = "row {}, column {}".format(*divmod(int(positions[first]), columns))
        raise RequestError(
            f"volumes of demand must be finite and non-negative, but that of {where} is "
            f"{volumes[first]:g}: leave out {count:,} such trip{'s' * (count != 1)}"
        )
    with np.errstate(over="ignore"):
        total = volumes.sum()
    if not np.isfinite(total):
        raise RequestError("the volumes of demand add up to more than a float64 holds")
