"""How much traffic goes along each arc, through each vertex, and on each row of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import LoadsTask
from kleene.engine.call import Timings
from kleene.errors import Code, GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.forms import adopt
from kleene.measures.loads_proof import add_up, cost, verify_loads
from kleene.planning.plan import Plan
from kleene.proofs.paths import Proof
from kleene.results.files import save_geojson, to_degrees
from kleene.results.long_table import LongTable
from kleene.results.route import plain
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.cached_property import cached_property
from kleene.system.formatting import counted

__all__ = ["Demand", "Loads", "Unassigned"]

Array = NDArray[Any]


class Demand(NamedTuple):
    """Trips that have a volume; vertices by position."""

    positions: Array  # in what the user gave
    origins: Array
    destinations: Array
    volumes: Array  # float64

    def some(self, which: Any) -> Demand:
        """Return some of the trips."""
        return Demand(*(array[which] for array in self))


@dataclass(frozen=True, eq=False)
class Unassigned:
    """Trips that have no path, or none within the limit.

    Attributes
    ----------
    positions : array of int
        Where they are in the demand: rows of a table or entries of arrays, from 0; in a matrix
        with n columns, the row times n plus the column.
    origins, destinations : array
        Their ends, labels where the graph has labels.
    volumes : array of float64
        Their volumes.
    """

    positions: Array
    origins: Array
    destinations: Array
    volumes: Array

    @property
    def total(self) -> float:
        """The sum of the volumes."""
        return float(self.volumes.sum())

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"Unassigned({counted(len(self), 'trip')}, volume {self.total:g})"


class Loads(LongTable):
    """The volume on each arc when all trips of a demand take shortest paths.

    As a table (``loads.to_frame()``, ``loads.save("flows.parquet")``) it has a row for each arc:
    source, target, flow, and for a graph from a table the row that the arc comes from. For maps
    (``loads.save("flows.geojson")``) it has a line for each row.

    Attributes
    ----------
    graph : Graph
        The graph.
    arcs : array of float64
        What goes along each arc, in the order of :attr:`Graph.coo`.
    split : bool
        Whether volumes are split equally over all shortest paths.
    hops : bool
        Whether paths are those of the fewest arcs.
    plan : Plan
        What ran, and why.
    stats : Timings
        How many seconds it took.

    Examples
    --------
    >>> import kleene as kl
    >>> flows = kl.loads(kl.generate.path(4), ([0, 3], [2, 1], [5, 2]))
    >>> flows
    Loads(volume 7 on 4 of 6 arcs, most 5 from 0 to 1)
    >>> flows.vertices.tolist()
    [5.0, 7.0, 7.0, 2.0]
    >>> flows.to_frame()
       source  target  flow
    0       0       1   5.0
    1       1       0   0.0
    2       1       2   5.0
    3       2       1   2.0
    4       2       3   0.0
    5       3       2   2.0
    """

    graph: Graph
    arcs: Array
    split: bool
    hops: bool
    plan: Plan
    stats: Timings

    def __init__(
        self,
        task: LoadsTask,
        positions: Array,
        arcs: Array,
        assigned: Array,
        plan: Plan,
        stats: Timings,
    ) -> None:
        self.graph, self.split, self.hops = task.graph, task.split, task.hops
        self.plan, self.stats = plan, stats
        self.arcs = adopt(arcs)
        self._task = task
        self._positions, self._assigned = positions, assigned

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.arcs, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.arcs)

    # ---- by vertex, by row ----------------------------------------------------------------

    @cached_property
    def vertices(self) -> Array:
        """The volume through each vertex, by position: float64.

        Trips count where they pass, where they begin and where they end, once each. Trips from a
        vertex to itself go nowhere and do not count.
        """
        into = add_up(self.graph.neighbors, self.arcs, self.graph.n)
        through: Array = adopt(into + self._ends(self._task.origins))
        return through

    @property
    def rows(self) -> Array:
        """The volume on each row of the table that the graph was made from, in both directions.

        Of parallel rows the lightest has all of it, the first of them. A row that no arc comes from
        has 0.
        """
        both: Array = adopt(self.along + self.against)
        return both

    @cached_property
    def along(self) -> Array:
        """The volume on each table row from its source to its target."""
        return self._by_row(against=False)

    @cached_property
    def against(self) -> Array:
        """The volume on each table row from its target to its source."""
        return self._by_row(against=True)

    def _by_row(self, against: bool) -> Array:
        table = self.graph.rows
        if table is None:
            raise RequestError(
                "this graph does not know the rows of a table: make it with Graph.from_table, or "
                "Graph.from_edges(..., keep_rows=True)"
            )
        rows = self.graph.arc_rows
        used = (rows.rows >= 0) & (rows.against == against)
        flows: Array = adopt(add_up(rows.rows[used], self.arcs[used], table.count))
        return flows

    # ---- sums -----------------------------------------------------------------------------

    @property
    def volume(self) -> float:
        """The sum of the volumes that were assigned to paths."""
        return float(self._task.volumes[self._assigned].sum())

    @property
    def total_cost(self) -> float:
        """The sum of volume times length over all trips, such as vehicle-kilometres.

        Of hops, it is the number of arcs that is multiplied.
        """
        return cost(self._task, self.arcs)

    @cached_property
    def unassigned(self) -> Unassigned:
        """The trips that have no path, or none within the limit."""
        which = np.flatnonzero(~self._assigned)
        task = self._task
        origins = self.graph.label(task.origins[which])
        destinations = self.graph.label(task.destinations[which])
        return Unassigned(self._positions[which], origins, destinations, task.volumes[which])

    def top(self, count: int = 10) -> list[tuple[Any, Any, float]]:
        """Return the arcs that carry most, as (source, target, flow), the largest first.

        Of equal ones the first in the order of the graph comes first.

        Parameters
        ----------
        count : int
            How many at most.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.loads(kl.generate.path(4), ([0, 3], [2, 1], [5, 2])).top(2)
        [(0, 1, 5.0), (1, 2, 5.0)]
        """
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 0:
            raise RequestError(Code("count"), f" must be a number of arcs, not {count!r}")
        best = np.argsort(-self.arcs, kind="stable")[:count]
        tails, heads = (self.graph.label(end[best]).tolist() for end in self.graph.coo[:2])
        return list(zip(tails, heads, self.arcs[best].tolist(), strict=True))

    # ---- proof, tables --------------------------------------------------------------------

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Check the flows by plain searches of their own, or raise VerificationError.

        Over the whole answer, what enters a vertex and begins there must leave it or end there.
        Then the trips of some origins are loaded by themselves. Together they must have the cost
        that a plain search in Python finds, and so lie on shortest paths; with ``split``, flows
        must be the same on every arc. No arc of the answer may carry less than they do.

        Parameters
        ----------
        sample : int, optional
            How many origins to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.

        Returns
        -------
        Proof
            What was checked.

        Raises
        ------
        VerificationError
            At the first fault.

        Examples
        --------
        >>> import kleene as kl
        >>> print(kl.loads(kl.generate.path(4), ([0, 3], [2, 1], [5, 2])).verify())
        proved: all 2 sources, 6 arcs each, flow conserved at every vertex, in ... s
        """
        return verify_loads(self, sample, seed)

    def to_geojson(self) -> dict[str, Any]:
        """Return the flows as a GeoJSON FeatureCollection (RFC 7946), a plain dict.

        It has a Feature for each row of the table that the graph was made from, along its geometry
        if it has one, with what flows along it and against it; of a graph without a table for each
        arc. Coordinates are converted as those of :meth:`Route.to_geojson`.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], directed=False)
        >>> g = g.with_positions([(9, 48), (9, 49), (8, 49)])
        >>> collection = kl.loads(g, ([0, 2], [2, 1], [5, 2])).to_geojson()
        >>> collection["features"][1]["properties"]
        {'row': 1, 'along': 5.0, 'against': 2.0, 'flow': 7.0, 'source': 1, 'target': 2}
        """
        convert, positions, table = to_degrees(self.graph), self.graph.positions, self.graph.rows
        if positions is None:
            raise GraphError(
                "the graph has no positions: give its vertices coordinates with ",
                Code("graph.with_positions(xy)"),
            )
        columns: dict[str, Array] = {}
        if table is None:
            tails, heads, _ = self.graph.coo
            columns["flow"] = self.arcs
        else:
            tails, heads = table.sources, table.targets
            if table.flipped:
                tails, heads = heads, tails
            row = np.arange(table.count) if table.numbers is None else table.numbers
            columns["row"] = row
            columns |= {name: getattr(self, name)[row] for name in ("rows", "along", "against")}
            columns["flow"] = columns.pop("rows")
        columns["source"], columns["target"] = (self.graph.label(end) for end in (tails, heads))
        straight = np.stack([positions[tails], positions[heads]], axis=1)
        features = []
        for at, values in enumerate(
            zip(*(each.tolist() for each in columns.values()), strict=True)
        ):
            line = straight[at]
            if table is not None and table.lines is not None:
                first, last = table.lines.offsets[row[at] : row[at] + 2]
                line = table.lines.coordinates[first:last] if last > first else line
            geometry = {"type": "LineString", "coordinates": convert(line).tolist()}
            properties = dict(zip(columns, map(plain, values), strict=True))
            features.append({"type": "Feature", "geometry": geometry, "properties": properties})
        return {"type": "FeatureCollection", "features": features}

    def save(self, path: str | Path) -> None:
        """Write a file; it is replaced only when it is complete.

        Parameters
        ----------
        path : str or Path
            The name. ``.geojson`` holds :meth:`to_geojson`; ``.csv``, ``.tsv``, ``.json`` (a list
            of objects) and ``.parquet`` the table of :meth:`to_frame`.

        Examples
        --------
        >>> import kleene as kl, json, tempfile
        >>> from pathlib import Path
        >>> g = kl.Graph.from_edges([0], [1]).with_positions([(9, 48), (9, 49)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.loads(g, ([0], [1], [5])).save(f"{folder}/flows.geojson")
        ...     json.loads(Path(folder, "flows.geojson").read_text())["type"]
        'FeatureCollection'
        """
        if isinstance(path, (str, Path)) and Path(path).suffix.lower() == ".geojson":
            save_geojson(self.to_geojson(), path)
        else:
            super().save(path)

    def _ends(self, vertices: Array) -> Array:
        """Return the volume of trips that begin, or end, at each vertex."""
        task = self._task
        moved = self._assigned & (task.origins != task.destinations)
        return add_up(vertices[moved], task.volumes[moved], self.graph.n)

    def _blocks(self) -> Iterator[Block]:
        tails, heads, _ = self.graph.coo
        rows = self.graph.arc_rows if self.graph.rows is not None else None
        for first in range(0, max(1, len(self)), BLOCK):
            part = slice(first, first + BLOCK)
            block = {
                "source": label_column(self.graph, tails[part]),
                "target": label_column(self.graph, heads[part]),
                "flow": self.arcs[part],
            }
            if rows is not None:
                numbers = rows.rows[part]
                block["row"] = np.ma.MaskedArray(numbers, numbers < 0)
                block["against"] = rows.against[part]
            yield block

    def __repr__(self) -> str:
        lost = f", {self.unassigned.total:g} without a path" if len(self.unassigned) else ""
        best = "".join(f", most {flow:.6g} from {s!r} to {t!r}" for s, t, flow in self.top(1))
        return (
            f"Loads(volume {self.volume:.6g} on {np.count_nonzero(self.arcs):,} of "
            f"{counted(len(self), 'arc')}{lost}{best})"
        )
