"""Many calls from eight Python threads of one process, with forks, interrupts and cancelled calls.

All threads share some graphs and call everything on them, tiny calls mostly; every answer is
compared with the one that a single thread got before. The main thread is one of the eight, and is
interrupted by SIGINT at random moments; calls are cancelled by their progress function; children
are forked while all threads are busy, and must be able to call as well.

A run is a warm-up and then ten phases. Between phases nothing may be left: memory, threads, open
files, temporary files, children. What memory grows by is counted in pages of the process's own,
the median of the last three phases beside that of the first three; 1 % of the resident memory is
allowed. The allocator returns free memory: one arena, large blocks mapped, malloc_trim.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torture.campaign import Budget, Outcome
from torture.public_calls import Call, all_calls

__all__ = ["run"]

THREADS = 8
PHASES = 10
MOST_CALLS = 1_000_000
#: Of what is resident; a run of seconds may grow by more than that while the allocator settles: by
#: 0.3, 0.6 and 1.0 MiB of 94 in three runs of 18 s.
MOST_GROWTH, MOST_SETTLING = 0.01, 2 << 20
CHILD_SECONDS = 60  # for the few calls of a forked child
MEBIBYTE = 1 << 20

_ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "131072"}


def run(budget: Budget) -> Outcome:
    """Soak in a process of its own."""
    seconds = max(5.0, budget.left() - 5)
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="kleene-soak-") as folder:
        command = [sys.executable, "-X", "faulthandler", "-m", "torture.soak"]
        arguments = ["--seconds", str(seconds), "--seed", str(budget.seed)]
        try:
            ended = subprocess.run(
                [*command, *arguments],
                capture_output=True,
                text=True,
                cwd=root,
                env={**os.environ, **_ALLOCATOR, "TMPDIR": folder},
                timeout=2 * seconds + 120,
            )
        except subprocess.TimeoutExpired:
            return Outcome(0, [f"seed {budget.seed}: hangs after {2 * seconds + 120:.0f} s"])
    if ended.returncode != 0:
        last = " | ".join(ended.stderr.strip().splitlines()[-4:])
        return Outcome(0, [f"seed {budget.seed}: exit {ended.returncode}: {last}"])
    return Outcome(**json.loads(ended.stdout.splitlines()[-1]))


# ---- threads ------------------------------------------------------------------------------------


@dataclass
class Soak:
    """One run: the calls, what they should return, and what happened."""

    calls: list[Call]
    seed: int
    expected: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    guard: threading.Lock = field(default_factory=threading.Lock)
    armed: bool = False  # whether an interrupt may raise

    def once(self, call: Call) -> None:
        answer = call.do()
        if answer != self.expected[call.name]:
            self.failures.append(f"{call.name}: {answer!r} is not {self.expected[call.name]!r}")

    def phase(self, count: int, number: int) -> None:
        """Make so many calls from all threads."""
        share = count // THREADS
        others = [
            threading.Thread(target=self._work, args=(share, number * THREADS + i))
            for i in range(1, THREADS)
        ]
        over = threading.Event()
        interrupter = threading.Thread(target=self._interrupt, args=(over, number))
        for thread in (*others, interrupter):
            thread.start()
        self._work_interrupted(share, number * THREADS)
        over.set()
        for thread in (*others, interrupter):
            thread.join()

    def _work(self, count: int, seed: int) -> None:
        chance = random.Random(self.seed * 1009 + seed)
        weights = [call.often for call in self.calls]
        made = Counter[str]()
        for call in chance.choices(self.calls, weights, k=count):
            try:
                self.once(call)
            except Exception:
                self.failures.append(f"{call.name}: {_in_one_line()}")
            made[call.name] += 1
            if chance.random() < 1 / 2000:
                self._fork(chance)
                made["fork"] += 1
        self._add(made)

    def _work_interrupted(self, count: int, seed: int) -> None:
        """Work on the main thread, which is interrupted; count what was."""
        chance = random.Random(self.seed * 1009 + seed)
        weights = [call.often * (20 if call.interruptible else 1) for call in self.calls]
        made = Counter[str]()
        for call in chance.choices(self.calls, weights, k=count):
            try:
                self.armed = True
                self.once(call)
                self.armed = False
            except KeyboardInterrupt:
                made["interrupted"] += 1
            except Exception:
                self.armed = False
                self.failures.append(f"{call.name}, interrupted: {_in_one_line()}")
            made[call.name] += 1
        self._add(made)

    def _add(self, made: Counter[str]) -> None:
        with self.guard:
            self.counts.update(made)

    def on_signal(self, number: int, frame: Any) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt

    def _interrupt(self, over: threading.Event, seed: int) -> None:
        chance = random.Random(seed)
        main = threading.main_thread().ident
        while not over.wait(chance.uniform(0.001, 0.05)):
            signal.pthread_kill(main, signal.SIGINT)

    def _fork(self, chance: random.Random) -> None:
        """Make some calls in a child of this process, whose other threads are busy."""
        chosen = chance.sample(self.calls, 3)
        child = os.fork()
        if child == 0:
            faulthandler.register(signal.SIGALRM, all_threads=False, chain=True)
            signal.alarm(CHILD_SECONDS)  # ends the child if it hangs, and shows where
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                os._exit(0 if all(call.do() == self.expected[call.name] for call in chosen) else 1)
            except BaseException:
                os.write(2, traceback.format_exc().encode())
                os._exit(2)
        _, status = os.waitpid(child, 0)
        if status != 0:
            names = ", ".join(call.name for call in chosen)
            code = os.waitstatus_to_exitcode(status)
            what = "hangs" if code == -signal.SIGALRM else f"exit {code}"
            self.failures.append(f"a forked child: {what} in {names}")


def _in_one_line() -> str:
    return " | ".join(traceback.format_exc().strip().splitlines()[-3:])


# ---- what is left -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """What a process has, while nothing runs."""

    memory: int  # of its own
    resident: int  # with shared libraries
    threads: int
    descriptors: int
    files: int
    children: bool


def _left(folder: Path) -> Left:
    for file in (*folder.glob("saved-*"), *folder.glob("out-*")):
        file.unlink()  # of a call whose own cleaning up was interrupted
    gc.collect()
    if (child := os.fork()) == 0:  # ends threads that wait for the next call
        os._exit(0)
    os.waitpid(child, 0)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    rows = (line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    kibibytes = {name: int(size) for name, size, *_ in rows}
    try:
        os.waitpid(-1, os.WNOHANG)
        children = True
    except ChildProcessError:
        children = False
    return Left(
        1024 * kibibytes["Anonymous:"],
        1024 * kibibytes["Rss:"],
        sum(map(_is_ours, Path("/proc/self/task").iterdir())),
        len(os.listdir("/proc/self/fd")),
        sum(1 for _ in folder.rglob("*")),
        children,
    )


def _is_ours(thread: Path) -> bool:
    """Whether a thread of this process is none that PyArrow's allocator keeps for its own work."""
    return (thread / "comm").read_text().strip() != "jemalloc_bg_thd"


def _differences(first: Left, now: Left, number: int) -> list[str]:
    names = ("threads", "descriptors", "files")
    pairs = [(name, getattr(first, name), getattr(now, name)) for name in names]
    found = [f"phase {number}: {name} {a}, then {b}" for name, a, b in pairs if b > a]
    return found + ([f"phase {number}: a child is left"] if now.children else [])


def _warm_up(run: Soak, seconds: float) -> float:
    """Make more and more calls until the time is over; return how many a second can make."""
    began, count = time.monotonic(), 40 * THREADS
    for number in range(100):
        last = time.monotonic()
        run.phase(count, number)
        now = time.monotonic()
        rate = count / (now - last)
        if now - began + 2 * count / rate > seconds:
            break
        count *= 2
    return rate


def soak(seconds: float, seed: int) -> Outcome:
    """Return what came of as many calls as the seconds allow."""
    import pyarrow
    import zarr

    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork beside threads
    zarr.config.set({"threading.max_workers": 1})  # or its threads become more now and then
    pyarrow.set_cpu_count(1)  # likewise
    pyarrow.set_io_thread_count(1)
    folder = Path(tempfile.gettempdir())
    began = time.monotonic()
    run = Soak(all_calls(folder), seed)
    run.expected = {call.name: call.do() for call in run.calls}
    for number in range(200_000):  # names that come and go make Python's table of names grow once
        sys.intern(f"name-{number}")
    first = _left(folder)
    signal.signal(signal.SIGINT, run.on_signal)
    sys.setswitchinterval(0.0005)
    rate = _warm_up(run, seconds / 4)
    remaining = max(1.0, began + seconds - time.monotonic())
    count = int(min(rate * remaining, MOST_CALLS) / PHASES)
    run.counts.clear()
    memory = []
    save = next(call for call in run.calls if call.name == "save and load")
    for number in range(PHASES):
        run.phase(count, 1000 + number)
        run.once(save)  # removes what an interrupt within microseconds of creating a file left
        now = _left(folder)
        memory.append(now.memory)
        run.failures += _differences(first, now, number)
    grown = statistics.median(memory[-3:]) - statistics.median(memory[:3])
    per_call = statistics.linear_regression(range(PHASES), memory).slope / max(1, count)
    calls = run.counts.total() - run.counts["fork"] - run.counts["interrupted"]
    growth = (
        f"{grown / MEBIBYTE:+.2f} MiB of {now.resident / MEBIBYTE:.0f}, {per_call:+.1f} B a call"
    )
    if grown > max(MOST_GROWTH * now.resident, MOST_SETTLING):
        run.failures.append(f"memory grows in {calls:,} calls by {growth}")
    facts = {
        "threads": THREADS,
        "forks": run.counts["fork"],
        "interrupted": run.counts["interrupted"],
        "memory growth": growth,
    }
    return Outcome(calls, run.failures[:20], facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args()
    outcome = soak(args.seconds, args.seed)
    print(json.dumps(vars(outcome)))


if __name__ == "__main__":
    main()
