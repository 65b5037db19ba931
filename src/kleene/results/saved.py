"""Results in files: ``.npz`` archives of the arrays, and a head in JSON with all the rest.

A file may come from anywhere. Nothing is unpickled, no more is read than the graph can have, and
every field is checked before it is used; what the values are worth is for ``verify`` to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer, WholeRows
from kleene.backends.common.walks import Walks
from kleene.backends.semiring import SEMIRINGS
from kleene.engine.call import Timings
from kleene.engine.searched_rows import SearchedRows
from kleene.errors import FormatError
from kleene.graph import Graph
from kleene.graph.fingerprint import fingerprint
from kleene.io.npz import read_npz_arrays, text_of_entry
from kleene.io.source import Source, printable
from kleene.planning.plan import Plan
from kleene.proofs.claim import PathValues, check_claim
from kleene.proofs.pairs import PairValues, check_pairs
from kleene.registry import PATH_PROBLEMS, find
from kleene.system.atomic_file import atomic_path

__all__ = ["Saved", "SavedPairs", "load", "save", "save_pairs"]

Array = NDArray[Any]

_FORMAT = "kleene result 1"
_MATRIX_FORMAT = "kleene matrix 1"  # values of the targets alone
_PAIRS_FORMAT = "kleene pairs 1"
_FORMATS = (_FORMAT, _MATRIX_FORMAT, _PAIRS_FORMAT)
_NO_RESULT = "not a result saved by Kleene"
_MOST_HEAD = 1 << 20  # bytes; no head has more
_MOST = 2**63  # no count of bytes or threads is larger


@dataclass(frozen=True)
class Saved:
    """What a file holds of a result: all but its graph."""

    plan: Plan
    stats: Timings
    answer: Answer
    sources: Array
    targets: Array | None
    limit: int | float | None
    single: bool
    reverse: bool = False  # paths lead to the sources

    def claim(self, graph: Graph) -> PathValues:
        """Return what the result claims about a graph."""
        return PathValues(
            graph.transpose() if self.reverse else graph,
            SEMIRINGS[self.plan.semiring],
            self.sources,
            self.answer.values,
            self.answer.predecessors,
            self.answer.horizons,
            hops=self.plan.problem == "bfs",
            targets=self.targets,
            limit=self.limit,
            reverse=self.reverse,
        )


@dataclass(frozen=True)
class SavedPairs:
    """What a file holds of a result for pairs: all but its graph."""

    plan: Plan
    stats: Timings
    pairs: tuple[Array, Array]
    values: Array
    walks: Walks | None
    limit: int | float | None
    by_target: bool


def save(path: str | Path, graph: Graph, saved: Saved) -> None:
    """Write a result to a file, beside it first.

    Of a call with targets, their values alone are written: paths to them are searched again.
    """
    head = {"limit": saved.limit, "single": saved.single, "reverse": saved.reverse}
    ends = {"sources": saved.sources, "targets": saved.targets}
    answer = saved.answer
    if saved.targets is not None:
        values = answer.at(slice(None), saved.targets)
        head["paths"] = answer.has_paths
        _write(path, _MATRIX_FORMAT, graph, saved, head, {"values": values, **ends})
        return
    arrays = {
        "values": answer.whole_values,
        "predecessors": answer.whole_predecessors,
        "horizons": answer.horizons,
    }
    _write(path, _FORMAT, graph, saved, head, arrays | ends)


def save_pairs(path: str | Path, graph: Graph, saved: SavedPairs) -> None:
    """Write a result for pairs to a file, beside it first."""
    head = {"limit": saved.limit, "by_target": saved.by_target}
    vertices, offsets = (None, None) if saved.walks is None else saved.walks
    sources, targets = saved.pairs
    arrays = {
        "values": saved.values,
        "sources": sources,
        "targets": targets,
        "vertices": vertices,
        "offsets": offsets,
    }
    _write(path, _PAIRS_FORMAT, graph, saved, head, arrays)


def _write(
    path: str | Path,
    kind: str,
    graph: Graph,
    saved: Saved | SavedPairs,
    head: dict[str, Any],
    arrays: Mapping[str, Array | None],
) -> None:
    head = {
        "format": kind,
        "graph": fingerprint(graph),
        "plan": asdict(saved.plan),
        "stats": asdict(saved.stats),
        **head,
    }
    present: dict[str, Any] = {k: v for k, v in arrays.items() if v is not None}
    with atomic_path(path) as beside, beside.open("wb") as file:
        np.savez(file, head=json.dumps(head), **present)


def load(path: str | Path, graph: Graph) -> Saved | SavedPairs:
    """Read a result of this graph, or raise FormatError with the first field that is wrong."""
    return _Reader(path, graph).read()


class _Reader:
    """Reads one file; its complaints name the file."""

    def __init__(self, path: str | Path, graph: Graph) -> None:
        self.path, self.graph = path, graph

    def fail(self, what: str) -> NoReturn:
        raise FormatError(printable(f"{self.path}: {what}")) from None

    def read(self) -> Saved | SavedPairs:
        with Source(self.path) as source:
            head = self.parsed(read_npz_arrays(source, ("head",), most=_MOST_HEAD).get("head"))
            plan, stats = self.plan(head), self.stats(head)
            arrays = read_npz_arrays(source, ("sources", "targets"))
            if "sources" not in arrays:
                self.fail("sources are missing")
            if head["format"] == _PAIRS_FORMAT:
                return self.pairs(source, head, plan, stats, arrays)
            names: tuple[str, ...] = ("values", "predecessors", "horizons")
            columns = self.graph.n
            if head["format"] == _MATRIX_FORMAT:
                columns, names = self.field(arrays, "targets", "archive").size, ("values",)
            arrays |= self.values(source, names, 8 * arrays["sources"].size * columns)
        return self.rows(head, plan, stats, arrays)

    def values(self, source: Source, names: tuple[str, ...], most: int) -> dict[str, Array]:
        """Return arrays of up to ``most`` bytes each; values must be there."""
        arrays = read_npz_arrays(source, names, most=most)
        if "values" not in arrays:
            self.fail("values are missing")
        return arrays

    # ---- rows of values ---------------------------------------------------------------------

    def rows(
        self, head: dict[str, Any], plan: Plan, stats: Timings, arrays: dict[str, Array]
    ) -> Saved:
        if arrays["sources"].ndim != 1:
            self.fail(f"sources have shape {arrays['sources'].shape}, expected a list")
        single = self.field(head, "single", "head")
        if not isinstance(single, bool) or (single and len(arrays["sources"]) != 1):
            self.fail(f"single is {single!r}, but there are {len(arrays['sources'])} rows")
        reverse = head.get("reverse", False)  # older files have no such field
        if not isinstance(reverse, bool):
            self.fail(f"reverse is {reverse!r}, expected true or false")
        answer = Answer(arrays["values"], arrays.get("predecessors"), arrays.get("horizons"))
        matrix = answer.values if head["format"] == _MATRIX_FORMAT else None
        if matrix is not None:  # a row of values of this type must be one that a call could compute
            none = np.broadcast_to(
                np.zeros(1, matrix.dtype), (arrays["sources"].size, self.graph.n)
            )
            answer = Answer(none, None)
        saved = Saved(
            plan,
            stats,
            answer,
            arrays["sources"],
            arrays.get("targets"),
            self.field(head, "limit", "head"),
            single,
            reverse,
        )
        if plan.dtype != str(answer.values.dtype):
            self.fail(f"plan.dtype is {plan.dtype!r}, but values are {answer.values.dtype}")
        if plan.problem == "closure" and saved.limit is not None:
            self.fail(f"limit is {saved.limit!r}, but closures take none")
        check_claim(saved.claim(self.graph), self.fail)
        if matrix is not None:
            paths = head.get("paths", True)  # older files have no such field
            if not isinstance(paths, bool):
                self.fail(f"paths is {paths!r}, expected true or false")
            return replace(saved, answer=self.matrix(saved, matrix, paths))
        tree = answer.predecessors
        if tree is not None and tree.size and not -1 <= tree.min() <= tree.max() < self.graph.n:
            self.fail(f"predecessors run from {tree.min()} to {tree.max()}, beyond the vertices")
        return saved

    def matrix(self, saved: Saved, values: Array, paths: bool) -> Answer:
        """Return values of the targets; whole rows and paths come from searches, if need be."""
        sources, targets = saved.sources, saved.targets
        assert targets is not None
        if values.shape != (len(sources), len(targets)):
            self.fail(f"values have shape {values.shape}, not {(len(sources), len(targets))}")
        rows = SearchedRows(
            self.graph, saved.plan.semiring, values.dtype, saved.reverse,
            saved.plan.problem == "bfs", saved.limit,
        )  # fmt: skip
        return Answer(values, None, rest=WholeRows(sources, targets, rows, paths))

    # ---- pairs ------------------------------------------------------------------------------

    def pairs(
        self,
        source: Source,
        head: dict[str, Any],
        plan: Plan,
        stats: Timings,
        arrays: dict[str, Array],
    ) -> SavedPairs:
        count = arrays["sources"].size
        arrays |= self.values(source, ("values", "offsets"), 8 * (count + 1))
        walks = None
        if "offsets" in arrays:
            offsets = arrays["offsets"]
            good = offsets.dtype == np.int64 and offsets.shape == (count + 1,) and offsets[0] == 0
            if not good or (np.diff(offsets) < 0).any() or (np.diff(offsets) > self.graph.n).any():
                self.fail("offsets should rise from 0, by a path of each pair")
            arrays |= read_npz_arrays(source, ("vertices",), most=8 * int(offsets[-1]))
            walks = self.field(arrays, "vertices", "archive"), offsets
        by_target = self.field(head, "by_target", "head")
        if not isinstance(by_target, bool):
            self.fail(f"by_target is {by_target!r}, expected true or false")
        ends = arrays["sources"], self.field(arrays, "targets", "archive")
        limit = self.field(head, "limit", "head")
        claim = PairValues(
            self.graph, plan.problem == "bfs", *ends, arrays["values"], walks, limit, by_target
        )
        if plan.problem == "closure" or plan.semiring != "min_plus":
            self.fail(f"plan.problem is {plan.problem!r}, which takes no pairs")
        if plan.dtype != str(claim.values.dtype):
            self.fail(f"plan.dtype is {plan.dtype!r}, but values are {claim.values.dtype}")
        check_pairs(claim, self.fail)
        return SavedPairs(plan, stats, ends, claim.values, walks, limit, by_target)

    # ---- the head ---------------------------------------------------------------------------

    def parsed(self, text: Array | None) -> dict[str, Any]:
        """Return the head, if there is one, of this format and of this graph."""
        try:
            head = json.loads(text_of_entry(text))
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict) or head.get("format") not in _FORMATS:
            self.fail(_NO_RESULT)
        if self.field(head, "graph", "head") != fingerprint(self.graph):
            self.fail(f"the result belongs to another graph, not to {self.graph!r}")
        return head

    def field(self, table: Any, name: str, where: str) -> Any:
        if not isinstance(table, dict) or name not in table:
            self.fail(f"{where} has no field {name!r}")
        return table[name]

    def plan(self, head: dict[str, Any]) -> Plan:
        table = self.field(head, "plan", "head")
        if isinstance(table, dict):  # older files have no such fields
            table = {"devices": [], "form": "arcs", **table}
        plan = {f.name: self.field(table, f.name, "plan") for f in fields(Plan)}
        for name in ("problem", "method", "device", "semiring", "dtype", "form"):
            if not isinstance(plan[name], str):
                self.fail(f"plan.{name} is {plan[name]!r}, expected a name")
        problem, semiring = plan["problem"], plan["semiring"]
        if problem not in PATH_PROBLEMS:
            self.fail(f"plan.problem is {problem!r}, expected one of {list(PATH_PROBLEMS)}")
        row = find(problem, plan["method"], plan["device"])
        if row is None:
            where = f"{plan['method']!r} on {plan['device']!r}"
            self.fail(f"plan.method is {where}, which does not solve {problem}")
        if semiring not in row.semirings:
            self.fail(f"plan.semiring is {semiring!r}, which {problem} by {row.name} does not take")
        for name, least in (("threads", 1), ("memory", 0), ("available", 0), ("device_memory", 0)):
            number = plan[name]
            missing = number is None and name == "available"
            if not missing and not (type(number) is int and least <= number < _MOST):
                self.fail(f"plan.{name} is {number!r}, expected an integer >= {least}")
        if not isinstance(plan["streams"], bool):
            self.fail(f"plan.streams is {plan['streams']!r}, expected true or false")
        for name, what in (("reasons", "sentences"), ("devices", "names")):
            texts = plan[name]
            if not isinstance(texts, list) or not all(
                isinstance(text, str) and text.isprintable() for text in texts
            ):
                self.fail(f"plan.{name} should be a list of {what}")
            plan[name] = tuple(texts)
        return Plan(**plan)

    def stats(self, head: dict[str, Any]) -> Timings:
        table = self.field(head, "stats", "head")
        stats = {f.name: self.field(table, f.name, "stats") for f in fields(Timings)}
        for name, seconds in stats.items():
            if type(seconds) not in (int, float) or not 0 <= seconds < _MOST:
                self.fail(f"stats.{name} is {seconds!r}, expected seconds")
        return Timings(**stats)
