"""What the experiments of five documents share: titles, the methods that run, and the check."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Document
from kleene_lab.harness.measurements import Measurements, times_as

__all__ = [
    "ALL", "BLOCKED", "CHAPTER", "CS205", "GPU", "GPU_GRAPHS", "ONE", "SSSP", "Entrant",
    "SharedCheck", "ahead_of", "as_fast", "best_of", "entrants", "last",
]  # fmt: skip

GPU_GRAPHS = Document("Padamata and Raveendran", "Graph algorithms on GPUs", "")
CHAPTER = Document("Programming Massively Parallel Processors", "Chapter 15: graph traversal", "")
SSSP = Document(
    "Periasubbramaniam and Denlinger", "Parallel GPU based shortest path in graph algorithms", ""
)
CS205 = Document("Ross, Pan and Burbank", "CS205 homework 2, group problem", "")
BLOCKED = Document("Zuccato and Lena", "Blocked all-pairs shortest paths", "")


# ---- methods on one core, on all cores, and on the GPU -------------------------------------------


ONE, ALL, GPU = "one core", "all cores", "GPU"

#: Steps, such as relaxations, that the emulator does in a second; it is there to try programs.
_EMULATED = 5e6

_NOISE = 0.05  # a ratio that is nearer to 1 says nothing


@dataclass(frozen=True)
class Entrant:
    """A method on a device."""

    series: str  # "tiled, all cores"
    method: str
    device: str
    threads: int | None

    def guess(self, steps: float) -> float:
        """Return the seconds that the first call will take, about; 0 on real devices."""
        return steps / _EMULATED if self.device == "emulated" else 0.0


def entrants(environment: Environment, listed: Iterable[tuple[str, str, str]]) -> Iterator[Entrant]:
    """Yield those of (label, method, place) that this machine can run."""
    for label, method, place in listed:
        series = f"{label}, {place}"
        if place == ONE:
            yield Entrant(series, method, "cpu", 1)
        elif place == ALL and environment.cores > 1:
            yield Entrant(series, method, "cpu", None)
        elif place == GPU and environment.gpu is not None:
            yield Entrant(series, method, environment.gpu, None)


# ---- for sentences ------------------------------------------------------------------------------


def as_fast(ratio: float) -> str:
    """Return a comparison of speeds as text.

    >>> as_fast(3.14159), as_fast(0.01), as_fast(1.02)
    ('3.1 times as fast as', '100 times as slow as', 'about as fast as')
    """
    if abs(ratio - 1) < _NOISE:
        return "about as fast as"
    return f"{times_as(ratio)} as fast as" if ratio > 1 else f"{times_as(1 / ratio)} as slow as"


def ahead_of(other: str, ratios: Sequence[tuple[float, float]]) -> str:
    """Return where one series is faster than another, given x and speedups by rising x.

    >>> ahead_of("a queue", [(8, 2.0), (9, 0.5), (10, 1.2), (11, 3.0)])
    'is ahead of a queue from 10 on'
    >>> ahead_of("a queue", [(8, 2.0), (9, 0.5)]), ahead_of("a queue", [(8, 2.0)])
    ('does not stay ahead of a queue', 'is always ahead of a queue')
    """
    begin = None
    for x, ratio in reversed(ratios):
        if ratio <= 1:
            break
        begin = x
    if begin is None:
        ever = any(ratio > 1 for _, ratio in ratios)
        return f"does not stay ahead of {other}" if ever else f"is never ahead of {other}"
    if begin == ratios[0][0]:
        return f"is always ahead of {other}"
    return f"is ahead of {other} from {begin:g} on"


def best_of(results: Measurements, label: str, places: tuple[str, ...] = (GPU, ALL, ONE)) -> str:
    """Return the series of a method in the first of these places where it was measured."""
    named = [f"{label}, {place}" for place in places]
    return next((name for name in named if name in results.series), named[-1])


def last(
    results: Measurements, slow: str, fast: str, panel: str | None = None
) -> Iterator[tuple[float, float]]:
    """Yield the largest x at which both were measured, and the speedup there; or nothing."""
    yield from list(results.speedups(slow, fast, panel))[-1:]


# ---- one check for many methods ------------------------------------------------------------------
# The first answer is verified, the others must equal it. Integer distances have one right answer,
# so that equality with a verified one is a proof; and it takes a fraction of the time.


class SharedCheck:
    """Verified answers about one size after the other; those of the latest are kept."""

    def __init__(self, rows: int = 4) -> None:
        self._rows = rows  # that are verified, of an answer with more; all must be equal
        self._about: Hashable = None
        self._right: dict[tuple[Hashable, bytes], NDArray[Any]] = {}

    def about(self, key: Hashable, graph: Hashable = None) -> Callable[[kl.Result], str]:
        """Return a check of answers about one graph, or about one of several of a size."""
        return partial(self._check, key, graph)

    def _check(self, key: Hashable, graph: Hashable, result: kl.Result) -> str:
        if result.distances.dtype.kind not in "iu":
            raise TypeError("floats may be rounded in different ways: verify each answer")
        if key != self._about:
            self._about, self._right = key, {}
        question = (graph, result.sources.tobytes())
        right = self._right.get(question)
        if right is None:
            result.verify(sample=min(self._rows, len(result.sources)))
            self._right[question] = result.distances
        elif not np.array_equal(result.distances, right):
            raise AssertionError(f"{result!r} has other distances than a verified answer")
        return "equal to a verified answer"
