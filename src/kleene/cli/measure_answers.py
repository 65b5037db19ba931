"""What measures answer, as one number or as the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene import Graph
    from kleene.planning.plan import Plan
    from kleene.results.long_table import LongTable

__all__ = ["MeasureAnswer", "describe_answer"]


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
    def seconds(self) -> float | None:
        """How long it took, where the answer says it."""
        stats = getattr(self.found, "stats", None)
        return None if stats is None else stats.total

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
        from kleene.cli.output import number

        if not self.columns:
            return None
        if self.by is None or self._is_huge or not self.count:
            return f"{self.count:,}"
        of = "vertices" if "vertex" in self.columns else "edges"
        return f"{number(float(self.columns[self.by].mean()))} over {self.count:,} {of}"

    def save(self, out: str) -> None:
        """Write the table."""
        from kleene.results.files import save_blocks

        if self.table is not None:
            self.table.save(out)
        else:
            save_blocks([self.columns], out)

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
        columns = _joined(found.edges._blocks())
        return MeasureAnswer(name, None, columns, found.name, found, found.edges)
    if isinstance(found, Measure):
        columns = {"vertex": graph.label(np.arange(graph.n)), found.name: found.values}
        return MeasureAnswer(name, None, columns, found.name, found, found)
    if isinstance(found, LongTable):
        return MeasureAnswer(name, columns=_joined(found._blocks()), found=found, table=found)
    if np.ndim(found) == 1:
        return MeasureAnswer(name, columns={"vertex": np.asarray(found)})
    return MeasureAnswer(name, value=found)


def _joined(blocks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the columns of a table that comes in blocks."""
    import numpy as np

    parts = list(blocks)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
