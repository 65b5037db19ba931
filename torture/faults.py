"""Faults: the k-th allocation fails, for k = 1, 2, ... until the call succeeds, as LAGraph tests.

Likewise threads that do not start, and files that cannot be written, synchronised, mapped,
extended, renamed or read; and memory of the emulated device. After each fault: an error of the
documented kind or the right answer, the same call again succeeds, no block leaked, no temporary
file left, and under the final name the old file or the whole new one.

A library that stands in front of the C library's functions makes the calls fail
(``faults.cpp``), in a process of its own (``fault_process``), so that a crash or a hang is one
failure of many.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from torture.campaign import Budget, Outcome

__all__ = ["run"]

_HERE = Path(__file__).parent
_SHORT = 300  # seconds; a run of less tries some of many allocations
_FEW = 12


def run(budget: Budget) -> Outcome:
    """Put faults into all cases, in an order that the seed chooses, until the time is over."""
    if sys.platform != "linux":
        return Outcome(0, [], {"skipped": "the library needs glibc"})
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "faults.so")
        compile_library(library)
        lines, error = start(library, {"list": True}, 600)
        if error is not None:
            return Outcome(0, [f"without any fault: {error}"])
        listed = dict(lines)
        work = [(name, kind) for name, kinds in listed["cases"] for kind in kinds]
        failures = [f"no case calls kleene._native.{name}" for name in listed["missing"]]
        random.Random(budget.seed).shuffle(work)
        parts = [work[i :: budget.jobs] for i in range(budget.jobs)]
        with ThreadPoolExecutor(budget.jobs) as pool:
            done = list(pool.map(lambda part: run_part(library, part, budget), parts))
    attempts: Counter[str] = Counter()
    finished = 0
    for lines, crashes in done:
        failures += crashes
        for _, _, kind, _, tried, wrong in (line for line in lines if line[0] == "done"):
            attempts[kind] += tried
            finished += 1
            failures += wrong
    facts = {"calls": f"{finished} of {len(work)}", **dict(sorted(attempts.items()))}
    return Outcome(sum(attempts.values()), failures, facts)


def compile_library(path: Path) -> None:
    """Compile the library with the system's compiler."""
    compiler = os.environ.get("CXX", "c++")
    options = ["-std=c++20", "-O1", "-g", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-o", path, _HERE / "faults.cpp", "-ldl"], check=True)


def run_part(
    library: Path, work: list[tuple[str, str]], budget: Budget
) -> tuple[list[Any], list[str]]:
    """Run a part of the work in one process; in another one after a crash."""
    lines: list[Any] = []
    crashes: list[str] = []
    while work and budget.left() > 1:
        most = _FEW if budget.seconds < _SHORT else 10**9
        orders = {"cases": work, "seconds": budget.left(), "most": most, "seed": budget.seed}
        new, error = start(library, orders, budget.left() + 300)
        lines += new
        if error is None:
            break
        last = next((line[1] for line in reversed(new) if line[0] == "try"), "start")
        crashes.append(f"{last}: {error}")
        tried = {(line[1], line[2]) for line in new if line[0] == "done"}
        left = [item for item in work if item not in tried]
        work = [item for item in left if not last.startswith(f"{item[0]}: {item[1]}")]
        if len(work) == len(left):
            break
    return lines, crashes


def start(library: Path, orders: dict[str, Any], seconds: float) -> tuple[list[Any], str | None]:
    """Run the process; return its lines, and how it ended if not well."""
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-m", "torture.fault_process"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(orders),
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
            cwd=_HERE.parent,
        )
    except subprocess.TimeoutExpired as late:
        return _lines(late.stdout), "timeout"
    lines = _lines(done.stdout)
    if done.returncode == 0:
        return lines, None
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines, f"exit {done.returncode}: {' | '.join(said)[:900]}"


def _lines(text: str | bytes | None) -> list[Any]:
    text = text.decode() if isinstance(text, bytes) else text or ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("]")]
