"""What flows through the engine: a call, pieces of it, their parts, and what takes them.

A *sink* takes what is computed. It stays with the caller; its *writer* goes to where the pieces are
computed, gives the memory for their rows and makes receipts of them. Only receipts travel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.planning.ask import Ask
from kleene.planning.plan import Plan
from kleene.system.formatting import counted
from kleene.system.html import card

if TYPE_CHECKING:
    from kleene.backends.common.walks import Walks
    from kleene.backends.task import Progress as Report
    from kleene.engine.pieces import Piece
    from kleene.engine.planned import Planned
    from kleene.graph import Graph
    from kleene.registry.method import PartForm

__all__ = [
    "Call",
    "Computation",
    "GraphForm",
    "Out",
    "Outcome",
    "Pairs",
    "Part",
    "Progress",
    "Sink",
    "Timings",
    "Writer",
]

Array = NDArray[Any]
Progress = bool | Callable[[int, int], object] | None
Out = Array | str | Path | None
Pairs = tuple[Array, Array]  # the origins and the destinations, by position


class GraphForm(Protocol):
    """What a graph is instead of its arcs, and answers calls by: a prepared graph, say.

    Users hold such objects, and so the names that the engine uses begin with an underscore.
    """

    @property
    def graph(self) -> Any:
        """What the call is about: its vertices have names."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the path values."""

    def _answers(self, ask: Ask) -> tuple[PartForm, ...]:
        """Return what its parts may be in an answer to a call; if none, arcs are searched."""

    def _plan(self, ask: Ask, entries: int) -> Plan:
        """Return the plan of an answer with so many values."""

    def _compute(self, call: Call, plan: Plan, memory: Array | None, report: Any) -> Part:
        """Return rows of the sources, in the memory if it is given, or what its pairs ask for."""

    def _packed(self) -> tuple[dict[str, Any], Callable[[str], Any]]:
        """Return arrays for a file that other processes map, and the function that opens it."""


@dataclass(eq=False)  # not frozen, which takes a microsecond more
class Computation:
    """What a call computes that is not rows: the nearest facilities, say. It can be pickled.

    Pieces of its call are runs of the sources, whatever these are to it.
    """

    hops: bool  # arcs are counted: the graph needs no weights
    sink: str  # what it is in the table of what goes with what

    #: Whether it follows from rows of distances, which a prepared graph has.
    by_rows = False

    def plan(self, call: Call) -> Planned:
        """Return the plan for the sources of a call."""
        raise NotImplementedError

    def compute(self, call: Call, plan: Plan, report: Report | None) -> Any:
        """Return what comes of the sources of a call."""
        raise NotImplementedError

    def prove(self, call: Call, plan: Plan, found: Any) -> None:
        """Raise VerificationError if what was computed on a worker is wrong.

        Where nothing is done here, the proof is left to the result, which searches by itself.
        """


class Call(NamedTuple):
    """One call, its arguments checked: the request, which a plan is made from, and the data."""

    ask: Ask
    graph: Graph
    sources: Array
    targets: Array | None
    limit: float | None
    progress: Progress
    out: Out
    single: bool  # one source: arrays of the result have one dimension
    reverse: bool = False  # paths lead to the sources
    pairs: tuple[Array, ...] | None = None  # instead of sources and targets; trips have volumes
    form: GraphForm | None = None  # of the graph, which may have what is asked for
    on: Any = None  # a Dask cluster whose workers compute the rows
    by_form: bool = False  # the form was asked: ``out`` is for the values of the targets alone
    computes: Computation | None = None  # instead of rows

    @property
    def rows(self) -> int:
        """How many sources there are, or pairs: pieces are runs of these."""
        return len(self.sources if self.pairs is None else self.pairs[0])

    def some(self, spans: Sequence[slice]) -> Call:
        """Return the call for some of its sources, or of its pairs."""
        if spans[0].stop - spans[0].start == self.rows:
            return self

        def of(whole: Array) -> Array:
            parts = [whole[span] for span in spans]
            return parts[0] if len(parts) == 1 else np.concatenate(parts)

        if self.pairs is None:
            return self._replace(sources=of(self.sources))
        return self._replace(pairs=tuple(map(of, self.pairs)))

    @property
    def hops(self) -> bool:
        """Whether arcs are counted."""
        counted = self.computes is not None and self.computes.hops
        return counted or self.ask.what.problem == "bfs"

    @property
    def as_block(self) -> bool:
        """Whether a form of the graph is asked for the values of the targets alone."""
        return self.targets is not None and (self.out is None or self.by_form)

    def bare(self, ask: Ask) -> Call:
        """Return the call as it travels to processes that have the graph."""
        return self._replace(ask=ask, graph=None, form=None, on=None, out=None, progress=None)  # type: ignore[arg-type]


class Part(NamedTuple):
    """What came of some pieces: rows of an answer, or the values of pairs and their paths."""

    answer: Any  # an Answer, or what a computation returns
    walks: Walks | None = None


@dataclass(frozen=True)
class Timings:
    """Seconds spent on a call, and on its parts.

    On a GPU the parts are timed by its own clock; a search of a small graph, with its copies, by
    the host's. Where several GPUs share a call, a part is that of the GPU where it took longest.
    They may overlap, and what is left of the total is memory taken and given back, or spent on the
    host.
    """

    copy_in: float = 0.0  # to the GPU
    compute: float = 0.0
    copy_out: float = 0.0  # from the GPU
    total: float = 0.0  # from the first array touched to the answer

    def _repr_html_(self) -> str:
        parts = {"copies to the GPU": self.copy_in, "computing": self.compute}
        parts |= {"copies from the GPU": self.copy_out}
        facts = {name: f"{seconds:.3g} s" for name, seconds in parts.items() if seconds}
        return card("Timings", f"{self.total:.3g} s", facts)


class Outcome(NamedTuple):
    """What a call comes to: the answer of its sink, and what is said of it."""

    answer: Any
    plan: Plan
    stats: Timings
    limit: int | float | None  # in the type of the values


class Writer:
    """The half of a sink that goes to where pieces are computed; it can be pickled."""

    #: Whether a part is written while the next one is computed.
    behind = False

    #: Whether pieces come together where all rows cost no more than some.
    together = False

    #: Whether progress is the steps that the method reports, and not how many rows are done.
    tells_steps = False

    #: Whether each of several devices, and a task of a worker, computes a piece of its own, instead
    #: of rows of every piece, or of several: what is made of a piece is large.
    apart = False

    #: What pieces are runs of, in the names of tasks.
    unit = "rows"

    #: Whether a piece takes all threads of a worker, of which there are few pieces.
    alone = False

    def needs(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> int:
        """Return the bytes that a worker takes for some pieces, beside the graph."""
        rows = max(piece.stop - piece.first for piece in pieces)
        item = np.dtype(plan.dtype).itemsize + 4 * call.ask.what.predecessors
        return rows * (2 if self.behind else 1) * call.graph.n * item

    def share(self, pieces: Sequence[Piece], shared: Any) -> Writer:
        """Return what another process needs for some pieces; ``shared`` names the client's file."""
        return self

    def narrow(self, call: Call, pieces: Sequence[Piece], first: int) -> Call:
        """Return the call for some pieces; its sources, or pairs, begin with number ``first``."""
        return call.some([slice(piece.first - first, piece.stop - first) for piece in pieces])

    def memory(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> Array | None:
        """Return memory for the rows of these pieces; None: the method takes its own."""
        return None

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Any:
        """Take the rows of a piece from a part; return what the other half needs to know of it."""
        return part


class Sink:
    """Where an answer goes: what stays with the caller."""

    writer: Writer = Writer()

    #: A folder that all processes that compute see, if it writes to one.
    folder: Path | None = None

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return the pieces that are to be computed."""
        raise NotImplementedError

    def record(self, piece: Piece, receipt: Any) -> None:
        """Take the receipt of a piece."""
        raise NotImplementedError

    def finish(self) -> Any:
        """Return the answer."""
        raise NotImplementedError

    def ran(self, runs: int) -> str:
        """Return in words what workers ran: so many runs of pieces."""
        return counted(runs, "piece")

    def abandon(self, error: BaseException) -> None:
        """Keep what is recorded, and leave nothing else behind: this error ends the call."""
