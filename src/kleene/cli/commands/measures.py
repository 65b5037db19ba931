"""``kleene measure`` and ``loads``: sums over shortest paths, and traffic along arcs.

What a measure answers is a number or a table. A number, or a list of vertices, is proved by another
measure, of each vertex: that one is computed and verified, and what follows from it is compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kleene.cli.commands.measure_names import MEASURES, MeasureRow, find_measure
from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import line, number, table
from kleene.cli.summaries import present, proof_fields, show_more, show_proof
from kleene.cli.tables import PAGE, check_table, joined, save_table
from kleene.cli.vertices import read_demand

if TYPE_CHECKING:
    from kleene import Graph
    from kleene.planning.plan import Plan
    from kleene.proofs.paths import Proof
    from kleene.results.long_table import LongTable

__all__ = ["loads", "measure"]


# ---- measure -------------------------------------------------------------------------------------


@command(*(row.call for row in MEASURES.values()))
def measure(
    graph: Input,
    measure: str,
    *,
    call: Call,
    top: int | None = None,
    out: str | None = None,
    verify: bool = False,
    output: Output,
) -> None:
    """Measure a graph by its shortest paths, such as betweenness or diameter.

    Parameters
    ----------
    measure : MEASURE
        betweenness, closeness, harmonic, eccentricity, diameter, radius, center, periphery,
        histogram, efficiency, wiener or path-counts.
    sources : VERTEX
        Paths from these vertices only.
    targets : VERTEX
        Paths to these vertices only.
    top : N
        List N rows, the largest numbers first; bins, and vertices without numbers, in order.
    verify : bool
        Check a sample of the sources by a plain method.
    """
    name = measure
    if name not in MEASURES and (graph.file in MEASURES or Path(name).exists()):
        graph.file, name = name, graph.file  # the order of former versions
    row = find_measure(name)
    _check_answer(name, row, out, top)
    read, prepared = graph.open(call.threads)
    keywords = _keywords(name, row, read, call)
    if "progress" in row.keywords:
        keywords["progress"] = not output.quiet
    measured = prepared if row.prepared else read
    found = call.run(row.function, measured, **keywords)
    answer = describe_answer(name, read, found, keywords.get("edges", False))
    proof = None
    if verify and row.follows_from:
        of_each = call.run(find_measure(row.follows_from).function, measured, **keywords)
        proof = prove(name, found, of_each)
    elif verify:
        proof = found.verify()
    if out is not None:
        output = save_table(answer.table or answer.columns, out, output)
    rows = answer.listed(None if output.json and top is None else 20 if top is None else top)
    value = None if answer.value is None else number(answer.value)
    present(
        output,
        "measure",
        read,
        {
            "measure": name,
            "value": answer.value,
            **answer.estimate,
            "of": answer.count,
            "proof": proof_fields(proof),
            "out": out,
            "listed": len(rows),
            "rows": rows,
        },
        {name: value, answer.what: answer.summary, "error": answer.accuracy, "saved": out},
        lambda: _show_rows(answer, rows),
        ran=answer,
        proof=proof,
    )


def _show_rows(answer: MeasureAnswer, rows: list[dict[str, Any]]) -> None:
    """Print rows of the table, and say how many more there are."""
    if not rows:
        return
    line()
    columns = list(rows[0])
    quantities = [column for column in columns if column not in answer.vertices]
    table(columns, [list(each.values()) for each in rows], quantities=quantities)
    show_more(answer.count - len(rows), f"--top {answer.count}, or --out table.csv")


def _check_answer(name: str, row: MeasureRow, out: str | None, top: int | None) -> None:
    """Raise for what the answer of a measure does not have, before any work is done."""
    from kleene.errors import RequestError

    check_table(out)
    if not row.table and (out is not None or top is not None):
        option = "--top" if out is None else "--out"
        raise RequestError(f"{name} is one number: there is no table for {option}")


def _keywords(name: str, row: MeasureRow, graph: Graph, call: Call) -> dict[str, Any]:
    """Return the keywords of a call; raise for an option that the measure does not have."""
    from kleene.errors import Code, RequestError, Text

    given = call.keywords(graph)
    if "source" in row.keywords:
        sources = given.pop("sources", [])
        if len(sources) != 1:
            raise RequestError(f"{name} needs one source: kleene measure GRAPH {name} SOURCE")
        given["source"] = sources[0]
    refused = [
        Code(f"{key}={value if isinstance(value, bool) else ''}")  # --raw is normalized=False
        for key, value in sorted({**given, **call.place}.items())
        if key not in row.keywords and value != "auto"
    ]
    if refused:
        raise RequestError(f"{name} has no ", Text.joined(" and no ", refused))
    return {key: value for key, value in given.items() if key in row.keywords}


# ---- what measures answer ------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasureAnswer:
    """A number, or a table; columns are arrays of the same length."""

    name: str
    value: Any = None
    columns: dict[str, Any] = field(default_factory=dict)
    by: str | None = None  # the column that rows are listed by, the largest first
    found: Any = None  # what the call returned, where that is more than a number
    table: LongTable | None = None  # what can be saved
    vertices: tuple[str, ...] = ("vertex", "source", "target")  # columns that are no quantities

    @property
    def plan(self) -> Plan | None:
        """What ran, where the answer says it."""
        return getattr(self.found, "plan", None)

    @property
    def stats(self) -> Any:
        """How long it took, where the answer says it."""
        return getattr(self.found, "stats", None)

    @property
    def estimate(self) -> dict[str, Any]:
        """The error that was allowed, and the random paths that it took; None where exact."""
        return {each: getattr(self.found, each, None) for each in ("error", "paths")}

    @property
    def accuracy(self) -> str | None:
        """The estimate in a few words."""
        error, paths = self.estimate.values()
        return None if error is None else f"at most {error:g}, by {paths:,} random paths"

    @property
    def count(self) -> int:
        """The number of rows."""
        return max((len(column) for column in self.columns.values()), default=0)

    @property
    def what(self) -> str:
        """The name of the line that sums up the table."""
        return "rows" if self.by is None or self._is_huge else "mean"

    @property
    def _is_huge(self) -> bool:
        """Whether numbers are integers of any size."""
        return self.by is not None and self.columns[self.by].dtype == object

    @property
    def summary(self) -> str | None:
        """The table in a few words."""
        if not self.columns:
            return None
        if self.by is None or self._is_huge or not self.count:
            return f"{self.count:,}"
        of = "vertices" if "vertex" in self.columns else "edges"
        return f"{number(float(self.columns[self.by].mean()))} over {self.count:,} {of}"

    def listed(self, most: int | None) -> list[dict[str, Any]]:
        """Return the rows, at most so many, as Python values."""
        import numpy as np

        order = np.arange(self.count)
        if self.by is not None:
            order = np.argsort(-self.columns[self.by], kind="stable")
        chosen = [column[order[:most]].tolist() for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*chosen, strict=True)]


def describe_answer(name: str, graph: Graph, found: Any, edges: bool = False) -> MeasureAnswer:
    """Return what a measure found: a number, a number of each vertex or edge, or a list."""
    import numpy as np

    from kleene.measures.measure import Measure
    from kleene.results.long_table import LongTable

    if edges:
        columns = joined(found.edges._blocks())
        return MeasureAnswer(name, None, columns, found.name, found, found.edges)
    if isinstance(found, Measure):
        columns = {"vertex": graph.label(np.arange(graph.n)), found.name: found.values}
        return MeasureAnswer(name, None, columns, found.name, found, found)
    if isinstance(found, LongTable):
        return MeasureAnswer(name, columns=joined(found._blocks()), found=found, table=found)
    if np.ndim(found) == 1:
        return MeasureAnswer(name, columns={"vertex": np.asarray(found)})
    return MeasureAnswer(name, value=found)


# ---- proofs --------------------------------------------------------------------------------------

_TOLERANCE = 1e-9  # of sums of floats, added up in another order


def prove(name: str, found: Any, by_vertex: Any) -> Proof:
    """Verify the measure that a number or a list follows from, and compare.

    Parameters
    ----------
    name : str
        What was measured, as in ``kleene measure``.
    found : number or array
        The answer.
    by_vertex : Measure
        What it follows from.
    """
    import numpy as np

    from kleene.errors import VerificationError

    proof: Proof = by_vertex.verify()
    right = _FOLLOWS[name](by_vertex)
    if isinstance(right, float):
        same = math.isclose(found, right, rel_tol=_TOLERANCE)
    else:
        same = np.array_equal(found, right)
    if not same:
        raise VerificationError(
            f"{name} is {_short(found)}, expected {_short(right)}, which follows from the "
            f"{by_vertex.name} of each vertex"
        )
    return proof


def _short(found: Any) -> str:
    """Return a number, or the first of some vertices."""
    if not hasattr(found, "__len__"):
        return str(found)
    some = ", ".join(map(str, found[:3]))
    return f"{some} and {len(found) - 3:,} more" if len(found) > 3 else some or "nothing"


def _efficiency(harmonic: Any) -> float:
    n = harmonic.graph.n
    return math.fsum(harmonic.values) / (n * (n - 1)) if n > 1 else 0.0


def _wiener(closeness: Any) -> Any:
    if (closeness.reached != len(closeness) - 1).any():
        return math.inf
    totals = closeness.totals.tolist()
    if closeness.totals.dtype.kind == "f":
        return math.fsum(totals) / (1 if closeness.graph.directed else 2)
    return sum(totals) // (1 if closeness.graph.directed else 2)


_FOLLOWS: dict[str, Callable[[Any], Any]] = {
    "diameter": lambda eccentricity: eccentricity.diameter,
    "radius": lambda eccentricity: eccentricity.radius,
    "center": lambda eccentricity: eccentricity.center,
    "periphery": lambda eccentricity: eccentricity.periphery,
    "efficiency": _efficiency,
    "wiener": _wiener,
}


# ---- loads ---------------------------------------------------------------------------------------


@command("loads")
def loads(
    graph: Input,
    demand: str,
    *,
    call: Call,
    top: int = PAGE,
    verify: bool = False,
    out: str | None = None,
    output: Output,
) -> None:
    """Put the trips of a demand on their shortest paths.

    The answer is the flow along each arc. A prepared graph (`kleene prepare`) needs microseconds
    for a trip; any other is searched from each origin.

    Parameters
    ----------
    demand : DEMAND
        A text table of origin, destination and volume; without volumes, a trip a line.
    top : N
        List the N arcs that carry most.
    out : FILE
        Save the flows: .csv, .tsv, .json or .parquet by arc, .geojson by street, for a map; - for
        standard output.
    """
    import kleene as kl

    check_table(out, geojson=True)
    read, answering = graph.open(call.threads)
    trips, given = read_demand(read, demand), call.keywords(read)
    found = call.run(kl.loads, answering, trips, progress=not output.quiet, **given)
    proof = found.verify() if verify else None
    output = save_table(found, out, output)
    lost, rows = found.unassigned, found.top(top)
    count = f"{len(lost):,} trip{'s' * (len(lost) != 1)}"

    def more() -> None:
        show_proof(proof)
        if rows:
            line()
            table(["source", "target", "flow"], [list(row) for row in rows], quantities=["flow"])

    present(
        output,
        "loads",
        read,
        {
            "volume": found.volume,
            "total_cost": found.total_cost,
            "unassigned": {"trips": len(lost), "volume": lost.total},
            "proof": proof_fields(proof),
            "out": out,
            "arcs": [dict(zip(("source", "target", "flow"), row, strict=True)) for row in rows],
        },
        {
            "volume": number(found.volume),
            "without a path": f"{number(lost.total)}, in {count}" if len(lost) else None,
            "total cost": number(found.total_cost),
            "saved": out,
        },
        more,
        ran=found,
    )
