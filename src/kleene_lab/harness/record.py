"""Records: measurements, one JSON object a line, so that files can be appended and joined.

A line has a ``kind``:

``run``     the head of one run: where and with what it was measured. Its other lines name its id.
``point``   one measured point: see `Point`.
``skip``    a point, or a whole experiment, that was not measured, and why.
``check``   a group of checks that ran, with how many passed and failed.
``same``    two digests of kernels that compile to the same instructions; of no run.

Unknown kinds and fields are ignored, and so is a last line that a crash cut off: files of a newer
version can be read, and a run resumes where it stopped. Fields that are None or
empty are not written. Times are seconds, sizes bytes, rates operations a second.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from kleene.errors import FormatError

__all__ = [
    "SCHEMA", "Check", "Line", "Point", "Record", "Run", "SameKernels", "Skip", "read", "write",
]  # fmt: skip

#: Grows when older versions would misread a field.
SCHEMA = 1

_DIGITS = 4


@dataclass(frozen=True)
class Run:
    """The head of one run."""

    kind: ClassVar[str] = "run"
    id: str  # short and random; all lines of the run have it
    began: str  # "2026-11-15T16:00:00Z"
    machine: dict[str, Any]  # see `kleene_lab.harness.environment`
    kleene: str  # version
    kernels: str  # digest of all CUDA kernels, as the compiler is given them
    options: dict[str, Any] = field(default_factory=dict)  # of the command
    schema: int = SCHEMA

    @property
    def place(self) -> str:
        """Return the machine's name for people: its GPU if it has one, else its processor."""
        gpu = self.machine.get("gpu") or {}
        return str(gpu.get("name") or self.machine.get("processor", "unknown"))


@dataclass(frozen=True)
class Point:
    """One point: a series of an experiment at one x, measured on one machine.

    ``seconds`` are whole calls after a warm-up, from arrays on the host to arrays on the host.
    ``compute`` is the part of each that is the algorithm, without copies: on a GPU by its clock.
    """

    kind: ClassVar[str] = "point"
    run: str
    experiment: str
    series: str  # what is compared: a method, a library
    x: float
    panel: str = ""  # which chart of the experiment, where it has several
    device: str = "cpu"  # "cpu", "cuda" or "emulated"
    threads: int | None = None  # of a CPU
    method: str = ""
    dtype: str = ""
    n: int | None = None
    m: int | None = None
    seconds: tuple[float, ...] = ()
    compute: tuple[float, ...] = ()
    cold: float | None = None  # the first call: kernels loaded, forms derived, memory fresh
    copy_in: float | None = None  # medians
    copy_out: float | None = None
    peak: int | None = None  # of host memory, beyond what was taken before the call
    device_peak: int | None = None  # of the GPU's memory
    work: float | None = None  # operations of one call
    unit: str = ""  # of the work: "relaxations", "arcs", ...
    ceiling: float | None = None  # operations a second that the machine could do
    checked: str = ""  # how the answer was checked before anything was timed
    facts: dict[str, Any] = field(default_factory=dict)  # whatever else the experiment records

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of a point that is measured again."""
        return (self.experiment, self.panel, self.series, self.device, self.x)

    @property
    def times(self) -> tuple[float, ...]:
        """The seconds of the algorithm, or of whole calls where that is not known."""
        return self.compute or self.seconds

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def rate(self) -> float | None:
        """Operations a second."""
        return None if self.work is None else self.work / max(self.median, 1e-12)


@dataclass(frozen=True)
class Skip:
    """What was not measured, and why; ``series`` and ``x`` are None for a whole experiment."""

    kind: ClassVar[str] = "skip"
    run: str
    experiment: str
    why: str
    panel: str = ""
    series: str | None = None
    x: float | None = None
    failed: bool = False  # an error, not a decision


@dataclass(frozen=True)
class Check:
    """Checks that ran besides those of timed answers."""

    kind: ClassVar[str] = "check"
    run: str
    name: str
    passed: int
    failed: int
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class SameKernels:
    """Two digests of the same kernels: their PTX is equal.

    ``tests/cuda/kernel_digests.py --compare CHECKOUT --record FILE`` compares it and writes this.
    """

    kind: ClassVar[str] = "same"
    old: str
    new: str
    on: str  # a date, "2026-11-19"
    variants: int  # how many were compared, all of either side
    ptx: dict[str, list[str]]  # compilers with their versions, and the targets: ["sm_90"]


Line = Run | Point | Skip | Check | SameKernels
_KINDS: dict[str, type[Line]] = {kind.kind: kind for kind in (Run, Point, Skip, Check, SameKernels)}


@dataclass
class Record:
    """All lines of some files."""

    runs: dict[str, Run] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    same: list[SameKernels] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Add a line."""
        match line:
            case Run():
                self.runs[line.id] = line
            case Point():
                self.points.append(line)
            case Skip():
                self.skips.append(line)
            case Check():
                self.checks.append(line)
            case SameKernels():
                self.same.append(line)

    def kernels_like(self, digest: str) -> set[str]:
        """Return a digest and all others that lines of the record say are of the same kernels."""
        found = {digest}
        for _ in self.same:  # a chain is no longer than that
            found.update(*({s.old, s.new} for s in self.same if {s.old, s.new} & found))
        return found

    def latest(self) -> Self:
        """Return a record with the latest measurement of each point on each machine.

        Skips of points that were measured later are dropped.
        """
        began = {run.id: (run.began, place(run)) for run in self.runs.values()}
        ordered = sorted(self.points, key=lambda point: began[point.run][0])
        points = {(began[p.run][1], *p.key): p for p in ordered}
        skips = {}
        for skip in sorted(self.skips, key=lambda skip: began[skip.run][0]):
            where = (began[skip.run][1], skip.experiment, skip.panel, skip.series, skip.x)
            skips[where] = skip
        measured = {(where, e, panel, series, x) for where, e, panel, series, _, x in points}
        kept = [skip for where, skip in skips.items() if where not in measured]
        checks = {(began[c.run][1], c.name): c for c in self.checks}
        return type(self)(
            dict(self.runs), list(points.values()), kept, list(checks.values()), list(self.same)
        )


def place(run: Run) -> tuple[str, ...]:
    """Return the identity of a machine: processor, cores and GPU."""
    machine = run.machine
    return (str(machine.get("processor")), str(machine.get("cores")), run.place)


# ---- files --------------------------------------------------------------------------------------


def read(*paths: str | Path) -> Record:
    """Read records, as if they were one file."""
    record = Record()
    for path in paths:
        for number, line in _lines(Path(path)):
            made = _parsed(line, f"{path}:{number}")
            if made is not None:
                record.add(made)
    others: list[Point | Skip | Check] = [*record.points, *record.skips, *record.checks]
    for other in others:
        if other.run not in record.runs:
            raise FormatError(
                f"{', '.join(map(str, paths))}: a {other.kind} names the run {other.run!r}, and no "
                "line of kind 'run' has that id; was the file cut at its beginning?"
            )
    return record


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    # Not splitlines: a string may hold other characters that end lines for it.
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            parsed = json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines):
                return  # was being written when the program stopped
            raise FormatError(f"{path}:{number}: not a line of JSON: {error.msg}") from None
        if not isinstance(parsed, dict) or "kind" not in parsed:
            raise FormatError(f"{path}:{number}: not a line of a record: it has no 'kind'")
        yield number, parsed


def _parsed(line: dict[str, Any], where: str) -> Line | None:
    kind = _KINDS.get(line["kind"])
    if kind is None:
        return None
    if kind is Run and line.get("schema", SCHEMA) > SCHEMA:
        raise FormatError(f"{where}: written by a newer Kleene (schema {line['schema']})")
    known = {f.name: line[f.name] for f in fields(kind) if f.name in line}
    known |= {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    missing = [f.name for f in fields(kind) if _required(f) and f.name not in known]
    if missing:
        raise FormatError(f"{where}: a {kind.kind} without {', '.join(missing)}")
    return kind(**known)


def _required(f: Any) -> bool:
    return f.default is MISSING and f.default_factory is MISSING


def as_text(line: Line) -> str:
    """Return a line of a file, without the newline."""
    written: dict[str, Any] = {"kind": line.kind}
    for f in fields(line):
        value = getattr(line, f.name)
        if _required(f) or not (value is None or value is False or value in ("", (), {})):
            written[f.name] = _short(value)
    return json.dumps(written, separators=(",", ":"), ensure_ascii=False)


def _short(value: Any) -> Any:
    """Round to significant digits."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.{_DIGITS}g}")
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    return value


def append(file: TextIO, line: Line) -> None:
    """Write a line and flush it to disk."""
    file.write(as_text(line) + "\n")
    file.flush()
    os.fsync(file.fileno())


def mend(path: Path) -> None:
    """Remove a last line that was cut off."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        whole = file.read()
        file.truncate(whole.rfind(b"\n") + 1)


def write(path: str | Path, lines: Iterable[Line]) -> None:
    """Write a whole file."""
    from kleene.calls.programs import atomic_path

    with atomic_path(Path(path)) as beside:
        text = "".join(as_text(line) + "\n" for line in lines)
        Path(beside).write_text(text, encoding="utf-8")
