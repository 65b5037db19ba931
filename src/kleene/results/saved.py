"""Results in files: ``.npz`` archives of the arrays, and a head in JSON with all the rest.

A file may come from anywhere. Nothing is unpickled, no more is read than the graph can have, and
every field is checked before it is used; what the values are worth is for ``verify`` to say.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Answer
from kleene.errors import FormatError
from kleene.graph import Graph
from kleene.io.npz import read_npz_arrays
from kleene.io.source import Source, printable
from kleene.planning.plan import Plan
from kleene.registry import PATH_PROBLEMS, find
from kleene.results.claim import PathValues, check_claim
from kleene.results.timings import Timings
from kleene.system.atomic_file import atomic_path

__all__ = ["Saved", "load", "save"]

Array = NDArray[Any]

_FORMAT = "kleene result 1"
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


def save(path: str | Path, graph: Graph, saved: Saved) -> None:
    """Write a result to a file, beside it first."""
    head = {
        "format": _FORMAT,
        "graph": _fingerprint(graph),
        "plan": asdict(saved.plan),
        "stats": asdict(saved.stats),
        "limit": saved.limit,
        "single": saved.single,
        "reverse": saved.reverse,
    }
    arrays = {
        "values": saved.answer.values,
        "predecessors": saved.answer.predecessors,
        "horizons": saved.answer.horizons,
        "sources": saved.sources,
        "targets": saved.targets,
    }
    present: dict[str, Any] = {k: v for k, v in arrays.items() if v is not None}
    with atomic_path(path) as beside, beside.open("wb") as file:
        np.savez(file, head=json.dumps(head), **present)


def load(path: str | Path, graph: Graph) -> Saved:
    """Read a result of this graph, or raise FormatError with the first field that is wrong."""
    return _Reader(path, graph).read()


class _Reader:
    """Reads one file; its complaints name the file."""

    def __init__(self, path: str | Path, graph: Graph) -> None:
        self.path, self.graph = path, graph

    def fail(self, what: str) -> NoReturn:
        raise FormatError(printable(f"{self.path}: {what}")) from None

    def read(self) -> Saved:
        head, arrays = self.contents()
        plan, stats = self.plan(head), self.stats(head)
        if arrays["sources"].ndim != 1:
            self.fail(f"sources have shape {arrays['sources'].shape}, and should be a list")
        single = self.field(head, "single", "head")
        if not isinstance(single, bool) or (single and len(arrays["sources"]) != 1):
            self.fail(f"single is {single!r}, and does not go with {len(arrays['sources'])} rows")
        reverse = head.get("reverse", False)  # older files have no such field
        if not isinstance(reverse, bool):
            self.fail(f"reverse is {reverse!r}, and should be true or false")
        saved = Saved(
            plan,
            stats,
            Answer(arrays["values"], arrays.get("predecessors"), arrays.get("horizons")),
            arrays["sources"],
            arrays.get("targets"),
            self.field(head, "limit", "head"),
            single,
            reverse,
        )
        if plan.dtype != str(saved.answer.values.dtype):
            self.fail(f"plan.dtype is {plan.dtype!r}, and values are {saved.answer.values.dtype}")
        if plan.problem == "closure" and saved.limit is not None:
            self.fail(f"limit is {saved.limit!r}, and closures have none")
        check_claim(saved.claim(self.graph), self.fail)
        tree = saved.answer.predecessors
        if tree is not None and tree.size and not -1 <= tree.min() <= tree.max() < self.graph.n:
            self.fail(f"predecessors run from {tree.min()} to {tree.max()}, beyond the vertices")
        return saved

    # ---- the archive ------------------------------------------------------------------------

    def contents(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the head and the arrays: first the sources, then what has a row for each."""
        with Source(self.path) as source:
            text = read_npz_arrays(source, ("head",), most=_MOST_HEAD).get("head")
            if text is None:
                self.fail(_NO_RESULT)
            head = self.parsed(text)
            arrays = read_npz_arrays(source, ("sources", "targets"))
            if "sources" not in arrays:
                self.fail("sources are missing")
            most = 8 * arrays["sources"].size * self.graph.n
            rest = ("values", "predecessors", "horizons")
            arrays |= read_npz_arrays(source, rest, most=most)
            if "values" not in arrays:
                self.fail("values are missing")
        return head, arrays

    def parsed(self, text: Array) -> dict[str, Any]:
        """Return the head, if it is one of this format and of this graph."""
        try:
            head = json.loads(str(text))
        except (ValueError, RecursionError, SystemError):  # the last: not Unicode
            head = None
        if not isinstance(head, dict) or head.get("format") != _FORMAT:
            self.fail(_NO_RESULT)
        if self.field(head, "graph", "head") != _fingerprint(self.graph):
            self.fail(f"the result belongs to another graph than {self.graph!r}")
        return head

    # ---- the head ---------------------------------------------------------------------------

    def field(self, table: Any, name: str, where: str) -> Any:
        if not isinstance(table, dict) or name not in table:
            self.fail(f"{where} has no field {name!r}")
        return table[name]

    def plan(self, head: dict[str, Any]) -> Plan:
        table = self.field(head, "plan", "head")
        plan = {f.name: self.field(table, f.name, "plan") for f in fields(Plan)}
        for name in ("problem", "method", "device", "semiring", "dtype"):
            if not isinstance(plan[name], str):
                self.fail(f"plan.{name} is {plan[name]!r}, and should be a name")
        problem, semiring = plan["problem"], plan["semiring"]
        if problem not in PATH_PROBLEMS:
            self.fail(f"plan.problem is {problem!r}, and should be one of {list(PATH_PROBLEMS)}")
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
                self.fail(f"plan.{name} is {number!r}, and should be an integer from {least} on")
        if not isinstance(plan["streams"], bool):
            self.fail(f"plan.streams is {plan['streams']!r}, and should be true or false")
        reasons = plan["reasons"]
        if not isinstance(reasons, list) or not all(
            isinstance(reason, str) and reason.isprintable() for reason in reasons
        ):
            self.fail("plan.reasons should be a list of sentences")
        return Plan(**(plan | {"reasons": tuple(reasons)}))

    def stats(self, head: dict[str, Any]) -> Timings:
        table = self.field(head, "stats", "head")
        stats = {f.name: self.field(table, f.name, "stats") for f in fields(Timings)}
        for name, seconds in stats.items():
            if type(seconds) not in (int, float) or not 0 <= seconds < _MOST:
                self.fail(f"stats.{name} is {seconds!r}, and should be seconds")
        return Timings(**stats)


def _fingerprint(graph: Graph) -> list[int]:
    check = 0
    for array in graph.csr:
        if array is not None:
            check = zlib.crc32(np.ascontiguousarray(array).data, check)
    return [graph.n, graph.m, check]
