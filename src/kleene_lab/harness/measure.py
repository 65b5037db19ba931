"""The harness: answers are checked before they are timed; trials are warmed up and take turns.

Trials of one point take turns, so that all see the same state of the machine. The first call of
each is the cold one; its answer is checked, and so is the last that was timed.
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

from kleene.calls.programs import device_memory, reset_device_peak
from kleene_lab.harness.trial import Parts, Trial

__all__ = ["Measured", "measure", "peak_of"]

#: Seconds that a short call is repeated before it is timed: another library has used the caches,
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
    parts: list[Parts] = field(default_factory=list)
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
    device: str | None = None,
    failed: Callable[[str, Exception], object] | None = None,
) -> dict[str, Measured]:
    """Measure some trials in turns; each may take so many seconds, and runs once at least.

    An error goes to ``failed``, if that is given, and the trial drops out.
    """
    results: dict[str, Measured] = {}

    @contextmanager
    def guarded(name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if failed is None:
                raise
            results.pop(name, None)
            failed(name, error)

    for name, trial in trials.items():
        with guarded(name):
            results[name] = _first(trial, device)
    gc.collect()
    for turn in range(max((trial.repeats for trial in trials.values()), default=0)):
        for name, measured in list(results.items()):
            trial = trials[name]
            spent = measured.cold + sum(measured.seconds)  # the cold call counts
            if turn < trial.repeats and spent < budget:
                with guarded(name):
                    _again(trial, measured)
    for name, measured in list(results.items()):
        with guarded(name):
            _finish(trials[name], measured)
    return results


def _first(trial: Trial, device: str | None) -> Measured:
    if device is not None:
        reset_device_peak(device)
    before = _start_peak()
    began = time.perf_counter()
    answer = trial.run()
    cold = _seconds(trial, answer, time.perf_counter() - began)
    peak = peak_of(before) if trial.timed is None else None
    device_peak = None if device is None else device_memory(device).peak
    return Measured(cold, trial.check(answer), peak, device_peak, answer=answer)


def _seconds(trial: Trial, answer: Any, passed: float) -> float:
    return passed if trial.timed is None else trial.timed(answer)


def _again(trial: Trial, measured: Measured) -> None:
    """Time one call; if it was short, one more after as many as it takes to be warm.

    That one is chosen beforehand: the call during which the warm-up ends is likely to be one that
    something interrupted.
    """
    measured.answer = None  # frees its memory first
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
    measured.seconds.append(_seconds(trial, answer, ended - began))
    part = trial.parts(answer)
    if part is not None:
        measured.parts.append(part)
    measured.answer = answer


def _finish(trial: Trial, measured: Measured) -> None:
    if measured.seconds:
        measured.checked = trial.check(measured.answer)
    else:  # no time for another call: the first counts
        measured.seconds = [measured.cold]
        measured.parts = [part for part in (trial.parts(measured.answer),) if part is not None]
    measured.answer = None


# ---- memory -------------------------------------------------------------------------------------

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _start_peak() -> int | None:
    """Reset the peak of this process's memory; return the bytes it has now."""
    with suppress(OSError):
        _CLEAR.write_text("5")
        return _status("VmRSS")
    return None


def peak_of(before: int | None) -> int | None:
    """Return the peak in bytes above what there was before; None where unknown."""
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
