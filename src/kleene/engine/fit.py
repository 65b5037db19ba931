"""Which sinks and runners can be combined: tables, and what a refusal says.

A call names its sink by what it returns and where that goes, and its runner by where it is
computed. What is not refused here is right, and tested.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kleene.engine.call import Call
from kleene.errors import Code, RequestError, Text

__all__ = [
    "NOT_BOTH", "REFUSED", "RUNNERS", "SINKS", "Refusal", "require_fit", "runner_of", "sink_of",
]  # fmt: skip

#: Where an answer goes: one row, whole rows or the values of targets in memory, memory of the
#: caller, a device, a store, or the values and paths of pairs; numbers of each row; sums over
#: sources, exact or estimated within an error; flows of trips; the nearest facility of each vertex,
#: or the k best.
SINKS = (
    "row", "rows", "array", "device", "block", "store", "pairs", "numbers", "sums", "estimate",
    "flows", "nearest", "best",
)  # fmt: skip

#: Where rows are computed: in this process, on several devices of it, or on workers.
RUNNERS = ("here", "devices", "cluster")


class Refusal(NamedTuple):
    """Why two things cannot be combined, and what to do instead."""

    problem: str
    option: str
    advice: tuple[str, ...]

    @property
    def error(self) -> RequestError:
        """The error of a call that asks for both."""
        return RequestError(self.problem, option=self.option, advice=self.advice, lead=": ")


_OUT_SEEN = Text("give ", Code("out='d.zarr'"), " in a folder that all of them see")
_NO_KEEP, _NO_DEVICES, _NO_ON = (
    Text("leave out ", Code(name)) for name in ("keep", "devices=", "on=")
)
_SAMPLES = Text("take ", Code("samples="), " instead of ", Code("error="))

#: What a call cannot have.
REFUSED = {
    ("row", "cluster"): Refusal(
        "one source is one search", "on", (_NO_ON, Text("give ", Code("sources=[...]")))
    ),
    ("rows", "cluster"): Refusal(
        "workers write rows to a store, never through this process",
        "out",
        (
            _OUT_SEEN,
            Text(Code("targets=[...]"), " for a small answer"),
            Text("use ", Code("kleene.reduce_distances"), " for sums and maxima"),
        ),
    ),
    ("array", "cluster"): Refusal(
        Text("with ", Code("on="), ", out is the name of a store"), "out", (Code("out='d.zarr'"),)
    ),
    ("device", "devices"): Refusal(  # but a matrix: see ``_GATHERED``
        Text(Code("keep='device'"), " leaves the answer on one device"),
        "keep",
        (Text("name one of them in ", Code("devices")), _NO_KEEP),
    ),
    ("device", "cluster"): Refusal(
        Text(Code("on="), " leaves nothing on a device"), "on", (_NO_KEEP,)
    ),
    ("estimate", "devices"): Refusal(
        "paths of random pairs are searched on the CPU", "devices", (_NO_DEVICES, _SAMPLES)
    ),
    ("estimate", "cluster"): Refusal(
        "an error is kept to by one process", "on", (_NO_ON, _SAMPLES)
    ),
    ("best", "devices"): Refusal(
        "several facilities of each vertex are found on the CPU",
        "devices",
        (_NO_DEVICES, Text("take ", Code("k=1"))),
    ),
}

#: What one call cannot ask for together, wherever it is computed: two places for its answer, or
#: some columns of a matrix that workers close in tiles.
NOT_BOTH = {
    ("pairs", "device"): Refusal(
        "the paths of pairs are collected on the host",
        "keep",
        (Text("leave out ", Code("keep='device'")),),
    ),
    ("out", "device"): Refusal(
        Text(
            Code("out"),
            " stores the distances in host memory, ",
            Code("keep='device'"),
            " leaves them on the GPU",
        ),
        "out",
        ("leave out one of them",),
    ),
    ("block", "tiles"): Refusal(
        "tiles stay with the workers, which write rows to a store", "out", (_OUT_SEEN,)
    ),
}

#: Problems whose matrix several devices share, and gather on the first of them.
_GATHERED = ("apsp", "closure")


def sink_of(call: Call) -> str:
    """Return where the answer of a call goes."""
    if call.computes is not None:
        return call.computes.sink
    if call.pairs is not None:
        return "pairs"
    if call.single and call.on is not None:
        return "row"
    if call.ask.output.keep != "host":
        return "device"
    if call.out is not None:
        return "store" if isinstance(call.out, (str, Path)) else "array"
    if call.targets is not None:
        return "block"
    return "row" if call.single else "rows"


def runner_of(call: Call) -> str:
    """Return where a call is computed."""
    if call.on is not None:
        return "cluster"
    return "devices" if len(call.ask.where.devices) > 1 else "here"


def require_fit(call: Call) -> None:
    """Refuse a call whose sink and runner cannot be combined, or that names two sinks."""
    sink, runner = sink_of(call), runner_of(call)
    why = REFUSED.get((sink, runner))
    if call.ask.output.keep == "device":
        if (sink, runner) == ("device", "devices") and call.ask.what.problem in _GATHERED:
            why = None
        if call.pairs is not None or call.out is not None:
            why = NOT_BOTH["pairs" if call.pairs is not None else "out", "device"]
    if why is not None:
        raise why.error
