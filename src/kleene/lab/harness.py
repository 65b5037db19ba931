"""One way to measure: checked before it is timed, warmed up, in turns, with everything told.

Contestants at one point take turns, so that all see the same machine. The first call of each is
its cold one; its answer is checked, and so is the last that was timed.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kleene.backends.cuda.runtime.device import Device
from kleene.lab.trial import Trial
from kleene.results.result import Timings

__all__ = ["Measured", "measure", "peak_of"]

#: Seconds that a short call is repeated before it counts. Another library has just had the caches,
#: and its idle threads may still spin.
WARM_UP = 0.02


@dataclass
class Measured:
    """Times of one trial."""

    cold: float
    checked: str
    peak: int | None
    device_peak: int | None
    seconds: list[float] = field(default_factory=list)
    parts: list[Timings] = field(default_factory=list)
    answer: Any = None

    @property
    def compute(self) -> tuple[float, ...]:
        """Seconds of the algorithm in each call, where they are known."""
        return tuple(part.compute for part in self.parts)

    def median(self, part: str) -> float | None:
        """Return the median of a part of the calls, where it is known."""
        values = [getattr(timings, part) for timings in self.parts]
        return statistics.median(values) if values else None


def measure(
    trials: Mapping[str, Trial],
    budget: float,
    device: Device | None = None,
    failed: Callable[[str, Exception], object] | None = None,
) -> dict[str, Measured]:
    """Measure some trials in turns; each may take so many seconds, and runs once at least.

    An error goes to ``failed``, if that is given, and the trial drops out.
    """
    found: dict[str, Measured] = {}

    @contextmanager
    def guarded(name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if failed is None:
                raise
            found.pop(name, None)
            failed(name, error)

    for name, trial in trials.items():
        with guarded(name):
            found[name] = _first(trial, device)
    gc.collect()
    for turn in range(max((trial.repeats for trial in trials.values()), default=0)):
        for name, measured in list(found.items()):
            trial = trials[name]
            spent = measured.cold + sum(measured.seconds)  # a call that is too long counts at once
            if turn < trial.repeats and spent < budget:
                with guarded(name):
                    _again(trial, measured)
    for name, measured in list(found.items()):
        with guarded(name):
            _finish(trials[name], measured)
    return found


def _first(trial: Trial, device: Device | None) -> Measured:
    if device is not None:
        device.synchronize()
        device.peak = device.allocated
    before = _start_peak()
    began = time.perf_counter()
    answer = trial.run()
    cold = time.perf_counter() - began
    peak = peak_of(before)
    device_peak = None if device is None else device.peak
    return Measured(cold, trial.check(answer), peak, device_peak, answer=answer)


def _again(trial: Trial, measured: Measured) -> None:
    """Time one call; if it was short, one more after as many as it takes to be warm.

    That one is chosen beforehand: the call during which the warm-up ends is likely to be one that
    something interrupted.
    """
    measured.answer = None  # its memory goes before the next is taken
    start = began = time.perf_counter()
    answer = trial.run()
    ended = time.perf_counter()
    if ended - start < WARM_UP:
        while time.perf_counter() - start < WARM_UP:
            del answer
            answer = trial.run()
        del answer
        began = time.perf_counter()
        answer = trial.run()
        ended = time.perf_counter()
    measured.seconds.append(ended - began)
    part = trial.parts(answer)
    if part is not None:
        measured.parts.append(part)
    measured.answer = answer


def _finish(trial: Trial, measured: Measured) -> None:
    if measured.seconds:
        measured.checked = trial.check(measured.answer)
    else:  # there was no time for another call: the first must do
        measured.seconds = [measured.cold]
        measured.parts = [part for part in (trial.parts(measured.answer),) if part is not None]
    measured.answer = None


# ---- memory -------------------------------------------------------------------------------------

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _start_peak() -> int | None:
    """Let the kernel forget the most memory this process had; returns what it has now, in bytes."""
    with suppress(OSError):
        _CLEAR.write_text("5")
        return _status("VmRSS")
    return None


def peak_of(before: int | None) -> int | None:
    """Return by how many bytes memory has been above what there was, at most; None: unknown."""
    if before is None:
        return None
    most = _status("VmHWM")
    return None if most is None else max(0, most - before)


def _status(name: str) -> int | None:
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return None
