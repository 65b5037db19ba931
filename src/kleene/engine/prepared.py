"""A prepared graph as the engine sees it: a form of a graph that answers by climbs and sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends import devices
from kleene.backends.answer import Answer, LatePredecessors, RowSource, WholeRows
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.engine.call import Call, Part
from kleene.engine.searched_rows import SearchedRows
from kleene.engine.work import run_rows
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.device_choice import choose_devices
from kleene.planning.facts import graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import FEWER_ROWS, IN_A_FILE, Memory, Plan, refuse_memory
from kleene.prepared import files
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.known import DEVICES
from kleene.prepared.pairs import answer_by_climbs
from kleene.prepared.sweeps import PreparedRows
from kleene.registry import find
from kleene.registry.method import PartForm
from kleene.system.cached_property import cached_property
from kleene.system.suggestions import no_such

__all__ = ["PreparedForm", "prepared_form"]

Array = NDArray[Any]

#: Bytes of an answer that are there: to ask what is allowed takes as long as a climb.
_TINY = 2**10


class PreparedForm:
    """What answers come from: a graph, its elimination, and the weights of its pairs."""

    graph: Graph
    _elimination: Elimination
    _customization: Customization

    def __init__(
        self, graph: Graph, elimination: Elimination, customization: Customization
    ) -> None:
        self.graph, self._elimination, self._customization = graph, elimination, customization

    @property
    def semiring(self) -> str:
        """What "best path" means: ``"min_plus"`` is the shortest."""
        return self._customization.semiring

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the path values."""
        return self._customization.dtype

    @cached_property
    def no_path(self) -> Any:
        """The value in arrays that stands for "no path": infinity, or the largest integer."""
        return SEMIRINGS[self.semiring].zero(self.dtype)

    @property
    def _parts(self) -> tuple[Elimination, Customization]:
        return self._elimination, self._customization

    def _rows(self, reverse: bool, threads: int | None) -> PreparedRows:
        return PreparedRows(*self._parts, reverse, threads)

    def _require_lengths(self, what: str) -> None:
        if self.semiring != "min_plus":
            raise RequestError(
                f"{what} for lengths, and this graph is prepared for {self.semiring!r}: "
                "use customize(semiring='min_plus')"
            )

    # ---- what the engine asks ------------------------------------------------------------

    def _answers(self, ask: Ask) -> tuple[PartForm, ...]:
        """Return what the parts of an answer to a call may be: pairs climb on the CPU only.

        None is a search in the original graph: with a limit, by another method, on another
        device, in another type or semiring, or with predecessors that are the same in every run.
        """
        what, where = ask.what, ask.where
        has = (
            what.problem != "bfs"
            and where.method in ("auto", "prepared")
            and where.device in ("auto", *DEVICES)
            and what.semiring == self.semiring
            and (what.dtype is None or what.dtype == str(self.dtype))  # str takes 2 us
            and not (what.limited or what.deterministic or where.options)
        )
        if not has:
            return ()
        return ("rows", "block", "entries") if _device(ask) == "cpu" else ("rows", "block")

    def _plan(self, ask: Ask, entries: int) -> Plan:
        """Return the plan of an answer with so many values; raise if they do not fit in memory."""
        what, graph, dtype, machine = ask.what, self.graph, self.dtype, live_machine()
        needed = 0 if ask.output.given else entries * dtype.itemsize
        memory = Memory(needed, None) if needed < _TINY else Memory.of(needed, machine)
        if memory.short:
            fits = {"sources": FEWER_ROWS, "out": IN_A_FILE} if what.sources != 1 else {}
            refuse_memory(memory, ask, graph.n, fits)
        device, why_devices = _device(ask), ""
        names: tuple[str, ...] = ()
        row = None if device == "cpu" else find(what.problem, "prepared", device)
        if row is not None:
            names, why_devices = choose_devices(graph_facts(graph), ask, machine, device, row)
        return Plan(
            what.problem,
            "prepared",
            device,
            self.semiring,
            str(dtype),
            ask.where.threads or machine.cores,
            memory.needed,
            memory.available,
            (
                "prepared: the vertices were eliminated before, and a row is a climb and a sweep",
                f"{dtype}: the type of the prepared graph",
                *((why_devices,) if why_devices else ()),
            ),
            devices=names,
            form="prepared",
        )

    def _compute(self, call: Call, plan: Plan, memory: Array | None, report: Any) -> Part:
        """Return pairs by climbs, or rows by sweeps, of all vertices or the targets."""
        ask, sources = call.ask, call.sources
        paths, threads = ask.what.predecessors, ask.where.threads
        if call.pairs is not None:
            values, walks = answer_by_climbs(
                call.graph, self._parts, call.pairs, paths, threads, report
            )
            return Part(Answer(values[None], None), walks)
        targets = call.targets if call.as_block else None
        rows = self._rows(call.reverse, threads)
        source: RowSource = rows
        if not paths:  # the result lets go of the prepared graph
            source = SearchedRows(call.graph, plan.semiring, self.dtype, call.reverse)
        if ask.output.keep == "device":
            return Part(
                devices.sweep_on_device(
                    rows, plan.first_device, sources, targets, paths, source, report
                )
            )
        width = call.graph.n if targets is None else len(targets)
        values = np.empty((len(sources), width), self.dtype) if memory is None else memory
        if plan.device != "cpu":
            self._sweep(rows, call, plan, targets, values, report)
        elif targets is None:
            rows.values(sources, values, report)
        else:
            rows.matrix(sources, targets, values, report)
        if targets is not None:
            return Part(Answer(values, None, rest=WholeRows(sources, targets, source, paths)))
        return Part(Answer(values, LatePredecessors(sources, rows) if paths else None))

    def _sweep(
        self, rows: PreparedRows, call: Call, plan: Plan, targets: Array | None, values: Array,
        report: Any,
    ) -> None:  # fmt: skip
        """Fill rows of values by sweeps on the devices of a plan."""

        def fill(own: Task) -> Answer:
            devices.sweep(rows, own.device, own.sources, targets, own.out, own.progress)
            return Answer(own.out, None)

        task = Task(
            call.graph, SEMIRINGS[plan.semiring], call.sources, targets, None, False, self.dtype,
            plan.threads, report, values, plan.first_device,
        )  # fmt: skip
        run_rows(fill, plan, call, task)

    def _packed(self) -> tuple[dict[str, Any], Callable[[str], Any]]:
        """Return the arrays of a file, with the arcs and without labels, and what opens it."""
        bare = Graph(self.graph.csr, self.graph.directed)
        return files.prepared_entries(bare, *self._parts), _open


def prepared_form(
    graph: Graph, semiring: str, dtype: str, threads: int | None
) -> PreparedForm | None:
    """Return what a graph keeps of its preparation, made if need be.

    None where a cycle is negative, if only by rounding: searches say whether a source leads there.
    """
    parts = Preparation.of(graph).sure_parts(graph, semiring, np.dtype(dtype), threads=threads)
    return None if parts is None else PreparedForm(graph, *parts)


def _open(path: str) -> PreparedForm:
    """Return the prepared graph in a file, mapped."""
    graph, elimination, customization = files.load(path)
    Preparation.of(graph).keep(graph, elimination, customization)
    return PreparedForm(graph, elimination, customization)


def _device(ask: Ask) -> str:
    """Return where a prepared graph answers a call."""
    if ask.where.device == "auto":
        return "cpu" if ask.output.keep == "host" else "cuda"
    if ask.where.device not in DEVICES:
        raise RequestError(no_such("device", ask.where.device, ("auto", *DEVICES)), option="device")
    return ask.where.device
