"""The declaration of an experiment: a question, points to measure, findings.

An experiment is a declaration. The runner (`kleene_lab.harness.runner`) measures its points, the
report (`kleene_lab.report`) draws them; neither knows any experiment by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene_lab.harness.environment import Environment
    from kleene_lab.harness.measurements import Measurements
    from kleene_lab.harness.trial import Trial

__all__ = ["Axis", "Document", "Experiment", "Plan", "Published", "Skipped"]


class Skipped(Exception):
    """Raised by an experiment or a trial that cannot run here, with the reason."""


@dataclass(frozen=True)
class Axis:
    """The x axis of the charts."""

    name: str  # "vertices"
    log: bool = True
    labels: tuple[str, ...] = ()  # names for x = 0, 1, 2 ..., where x is not a number


@dataclass(frozen=True)
class Document:
    """The published document that an experiment reproduces."""

    authors: str  # "Padamata and Raveendran"
    title: str
    year: str  # "" where it does not say


@dataclass(frozen=True)
class Published:
    """A series of published numbers."""

    series: str  # "one core, 2011"
    x: tuple[float, ...]
    y: tuple[float, ...]  # seconds
    machine: str  # "NVIDIA Tesla M2090"
    panel: str = ""


@dataclass(frozen=True)
class Plan:
    """A point to measure."""

    series: str
    x: float
    trial: Callable[[], Trial]  # makes what is timed; is not timed itself
    panel: str = ""
    device: str = "cpu"
    threads: int | None = None
    guess: float = 0.0  # seconds of a call, for the first of a series; the others are extrapolated
    setup: float = 0.0  # seconds to make the trial and to check the answer, about
    #: What a call's time depends on, where that is not x: 2**x, say; 0 if other points
    #: say nothing about it.
    size: float | None = None
    #: Of the graph: times of graphs of other families say nothing about this point.
    family: str = ""
    growth: float = 8.0  # how much longer a call may take on an input of twice the size, at most


@dataclass(frozen=True)
class Experiment:
    """A question that measurements answer."""

    id: str  # "apsp-by-size"; never changes
    title: str
    question: str  # one sentence
    x: Axis
    plans: Callable[[Environment], Iterable[Plan]]  # in the order in which they are measured
    findings: Callable[[Measurements], Iterable[str]]  # sentences about one machine
    suites: tuple[str, ...]  # "documents", "ours", "peers", "gpu", "gap": what a user may select
    document: Document | None = None
    published: tuple[Published, ...] = ()
    #: Or "rate" (operations a second), "share" (rate over ceiling), or "speedup" (times as fast as
    #: the first point of the series).
    y: str = "seconds"
    quantity: str = "compute"  # or "seconds": whether charts show the algorithm or whole calls
    budget: float = 60.0  # seconds that it may take, unless the user gives more
    patience: float = 5.0  # seconds that one call may take
    kind: str = "lines"  # or "bars": x is a name, not a number
    notes: str = ""  # what a reader must know: what is timed, what differs from the document
    columns: tuple[tuple[str, Callable[[Any], str]], ...] = ()  # more columns of the table
    baseline: str = ""  # the series that others are compared with; "": the slowest of them
    headline: Callable[[Measurements], str | None] | None = None  # for the first page; one sentence
