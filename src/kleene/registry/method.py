"""What a row of the registry is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple

from kleene.registry.source_files import source_file
from kleene.system.machine import cores

__all__ = ["Method", "PartForm", "Size"]

#: What a part of an answer is: whole rows, rows at some targets only, entries of pairs, compressed
#: rows of what is near, sums over sources, or one value that has no parts.
PartForm = Literal["rows", "block", "entries", "sparse", "sums", "value"]


class Size(NamedTuple):
    """How large a call is: what a method's working memory depends on."""

    n: int
    m: int
    sources: int
    item: int  # bytes of one path value
    predecessors: bool
    threads: int = 1

    @classmethod
    def of(cls, facts: Any, ask: Any, item: int) -> Size:
        """Return the size of a request on a graph of these facts."""
        sources = facts.n if ask.what.sources is None else ask.what.sources
        threads = ask.where.threads or cores()
        return cls(facts.n, facts.m, sources, item, ask.what.predecessors, threads)


@dataclass(frozen=True)
class Method:
    """One row: a way to solve a problem on a device.

    ``cuts`` says whether some of the sources cost a part of what all cost; "never" is a method that
    closes a whole matrix, or whose answer has no parts.

    ``order`` says how floats are added. Methods that add "arc by arc", from the source on, give the
    same bits: each distance is the least such sum. An "own" order promises nothing.
    """

    problem: str
    name: str
    device: str
    summary: str
    origin: str
    entry: str  # "module:function", imported at first use
    workspace: Callable[[Size], int]
    negative: bool = True  # does it take negative weights?
    semirings: tuple[str, ...] = ("min_plus",)
    device_memory: Callable[[Size], int] | None = None  # bytes on the GPU, for those that use one
    options: tuple[str, ...] = ()  # numbers that its function takes besides the task
    streams: bool = False  # does it run with less there, streaming the matrix in pieces?
    answer: Callable[[Size], int] | None = None  # bytes of the answer, if not sources x n values
    in_place: str | None = None  # "module:function" for arrays that are on the device already
    rounds: str | None = None  # "module:function" for matrices in files: see backends/common/bands
    tiles: str | None = None  # "module:function" for tiles of workers: see backends/common/tiles
    unrecorded: bool = False  # no GPU has run its kernels yet: see variants.UNRECORDED
    makes: tuple[PartForm, ...] = ("rows",)
    cuts: Literal["rows", "never"] = "rows"
    order: Literal["arc by arc", "own"] = "own"
    bands: bool = False  # can devices share its matrix, a band of rows each?

    @property
    def splits(self) -> str:
        """What devices share: "sources", or "rows" of a matrix; nothing if one runs it all."""
        if self.bands:
            return "rows"
        parts = "rows" in self.makes or "sums" in self.makes
        return "sources" if parts and self.cuts != "never" else ""

    @property
    def needs(self) -> str:
        """What a graph must have for this method."""
        return "any weights" if self.negative else "no negative weights"

    @property
    def file(self) -> str:
        """The file of the algorithm: in the repository (``native/``), or in the package."""
        return source_file(self.entry)

    def load(self) -> Callable[..., Any]:
        """Import the function that runs this method: it takes a task, and the options by name."""
        return _load(self.entry)

    def load_in_place(self) -> Callable[..., Any]:
        """Import the function that works on an array where it is."""
        assert self.in_place is not None
        return _load(self.in_place)

    def load_rounds(self) -> Callable[..., Any]:
        """Import the function that opens the engine for a matrix in files."""
        assert self.rounds is not None
        return _load(self.rounds)

    def load_tiles(self) -> Callable[..., Any]:
        """Import the function that opens the engine for tiles of a matrix."""
        assert self.tiles is not None
        return _load(self.tiles)

    def __str__(self) -> str:
        return f"{self.problem} {self.name} on {self.device}: {self.summary} ({self.origin})"


@cache
def _load(entry: str) -> Callable[..., Any]:
    module, _, name = entry.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
