"""The GAP Benchmark Suite, a program of its own: where it is, how it runs, what it prints.

Its programs ``bfs``, ``sssp`` and ``bc`` (betweenness) read a graph from a file, search it some
times, and print the seconds of each trial. https://github.com/sbeamer/gapbs
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kleene_lab.harness.experiment import Skipped

__all__ = ["VARIABLE", "Program", "Searches", "best_delta", "programs", "read_output"]

#: The environment variable that names the folder of the programs.
VARIABLE = "KLEENE_GAP"

_TRIALS = 3  # trials each time that a program is started; the first ones warm it up
_WORSE = 2  # steps of delta that are not faster, before the search for the best ends
_MOST_DELTA = 2**30  # the largest power of 4 that GAP takes


@dataclass(frozen=True)
class Searches:
    """What one start of a program printed."""

    seconds: tuple[float, ...]  # of each trial
    reached: int | None  # vertices, by the last search; None for betweenness
    verified: bool | None  # by the program's own serial search; None if that was not asked for


def read_output(text: str) -> Searches:
    """Read what ``bfs -a``, ``sssp -a`` or ``bc`` printed."""
    seconds = tuple(float(found) for found in re.findall(r"^Trial Time:\s+(\S+)$", text, re.M))
    reached = re.search(r"^\w+ Tree (?:has|reaches) (\d+) nodes", text, re.M)
    if not seconds:
        raise ValueError(f"GAP printed no time: {text[-200:]!r}")
    verdicts = re.findall(r"^Verification:\s+(PASS|FAIL)$", text, re.M)
    verified = all(verdict == "PASS" for verdict in verdicts) if verdicts else None
    return Searches(seconds, None if reached is None else int(reached[1]), verified)


def programs(*names: str) -> Path:
    """Return the folder of these programs; raises Skipped where one is missing."""
    how = (
        f"set {VARIABLE} to the folder of its programs (git clone "
        f"https://github.com/sbeamer/gapbs && make -C gapbs {' '.join(names)})"
    )
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise Skipped(f"the GAP Benchmark Suite is not installed; {how}")
    missing = [name for name in names if not os.access(Path(folder, name), os.X_OK)]
    if missing:
        raise Skipped(f"no program {missing[0]} in {VARIABLE}={folder}; {how}")
    return Path(folder)


class Program:
    """A program on one graph, with options; the first trials verify themselves."""

    def __init__(self, name: str, file: Path, threads: int, *options: str) -> None:
        self.delta: int | None = None  # of `sssp`; its own default is 1
        self._command = [str(programs(name) / name), "-f", str(file), *options]
        self._threads = threads
        self._verified = False

    def run(self) -> Searches:
        """Start the program once, and read what it prints."""
        searches = self._run(self.delta, verify=not self._verified)
        self._verified = True
        return searches

    def tune(self, start: int) -> None:
        """Choose the delta of `sssp`; begins near ``start``."""
        power = 4 ** max(0, (start.bit_length() - 1) // 2)
        self.delta = best_delta(lambda delta: min(self._run(delta).seconds), power)

    def _run(self, delta: int | None, verify: bool = False) -> Searches:
        command = [*self._command, "-n", str(_TRIALS)]
        command += [] if delta is None else ["-d", str(delta)]
        command += ["-v"] if verify else []
        environment = {**os.environ, "OMP_NUM_THREADS": str(self._threads)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed: {(done.stderr or done.stdout)[-200:]}")
        return read_output(done.stdout)


def best_delta(time: Callable[[int], float], start: int) -> int:
    """Return the fastest delta: from the start by factors of 4, up and down, past small bumps.

    >>> best_delta(lambda delta: abs(delta - 16) + 1, 1024)
    16
    """
    times = {start: time(start)}
    for up in (True, False):
        delta, worse = start, 0
        while worse < _WORSE and 0 < (delta := delta * 4 if up else delta // 4) <= _MOST_DELTA:
            best = min(times.values())
            times[delta] = time(delta)
            worse = 0 if times[delta] < best else worse + 1
    return min(times, key=lambda delta: times[delta])
