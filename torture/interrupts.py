"""Every public call is interrupted, on the main thread: it ends at once and leaves nothing behind.

An interrupt comes in one of two ways. A timer sends a signal at a random moment, often inside
native code. Or KeyboardInterrupt is raised at the k-th place where Python may run a signal handler
(after a call into C, at the start of a function), for a random k: so a gap of a microsecond between
"taken" and "so it must be given back" is met as often as a wait of seconds.

The call must end within a second by KeyboardInterrupt and nothing else; on a busy machine, where
some work takes longer than before, within as much longer. No descriptor, no thread and no temporary
file may be left; another thread then makes the same call, which finds any lock that is left, and
its answer is compared. A store that was interrupted is finished by the same call, which keeps every
line of its ledger. A watchdog ends a process that hangs, with the stacks of its threads.
"""

from __future__ import annotations

import _thread
import argparse
import faulthandler
import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from torture.campaign import Budget, Outcome
from torture.processes import HANG, run_processes
from torture.public_calls import Call, all_calls

__all__ = ["Interrupter", "run"]

PROMISED = 1.0  # seconds from an interrupt to the end of the call, on a machine that is not busy
PATIENCE = 3.0  # seconds until threads that end have ended
STORE_SHARE = 0.2  # of the cases


def run(budget: Budget) -> Outcome:
    """Interrupt calls in every process."""
    return run_processes("torture.interrupts", budget)


# ---- interrupts ---------------------------------------------------------------------------------


class Interrupter:
    """Interrupts a call once; knows when it did."""

    def __init__(self) -> None:
        self.armed = False
        self.came = 0.0  # when
        self.swallowed = 0  # by Python, in a destructor
        signal.signal(signal.SIGALRM, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        if self.armed:
            self.armed = False
            self.came = time.monotonic()
            raise KeyboardInterrupt

    def steps(self, do: Callable[[], Any]) -> int:
        """Return how many places a call has where a handler may run."""
        count = 0

        def step(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event in ("call", "c_return")

        sys.setprofile(step)
        try:
            do()
        finally:
            sys.setprofile(None)
        return count

    def at_step(self, do: Callable[[], Any], last: int) -> Any:
        """Make a call that is interrupted at its last place of so many."""
        left = last

        def step(frame: Any, event: str, argument: Any) -> None:
            nonlocal left
            if event in ("call", "c_return"):
                left -= 1
                if left == 0 and self.armed:
                    sys.setprofile(None)
                    self.armed = False
                    self.came = time.monotonic()
                    raise KeyboardInterrupt

        try:
            self.armed = True
            sys.setprofile(step)
            return do()
        finally:
            sys.setprofile(None)
            self.armed = False

    def after(self, do: Callable[[], Any], seconds: float) -> Any:
        """Make a call that a signal interrupts after so many seconds."""
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return do()
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)


# ---- what is left -------------------------------------------------------------------------------


def _descriptors() -> Counter[str]:
    found = Counter[str]()
    for name in os.listdir("/proc/self/fd"):
        try:
            found[os.readlink(f"/proc/self/fd/{name}")] += 1
        except OSError:  # that of the list itself
            continue
    return found


def _work() -> float:
    """Return how long some work takes now: by how much a busy machine is slower."""
    began = time.monotonic()
    sum(range(1_000_000))
    return time.monotonic() - began


@dataclass
class Watched:
    """A process, its calls, and what there was before one of them was interrupted."""

    folder: Path
    interrupter: Interrupter
    failures: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._asked: SimpleQueue[Callable[[], Any]] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=self._answer, daemon=True).start()
        self.in_a_thread(lambda: None)
        self._threads = _thread._count()
        self.descriptors = _descriptors()
        self._work = min(_work() for _ in range(9))

    def _answer(self) -> None:
        while True:
            try:
                answer = self._asked.get()()
            except BaseException as error:
                answer = error
            self._answers.put(answer)

    def in_a_thread(self, do: Callable[[], Any]) -> Any:
        """Make a call on the other thread; return its answer, or its error."""
        self._asked.put(do)
        try:
            return self._answers.get(timeout=HANG)
        except Empty:
            faulthandler.dump_traceback()
            print("a thread waits for ever: is a lock left?", file=sys.stderr, flush=True)
            os._exit(3)

    def interrupt(self, name: str, interrupted: Callable[[], Any], right: Any) -> bool:
        """Make a call that is interrupted, and look at what is left; False if it was too late."""
        self.interrupter.came = 0.0
        ended = False
        faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            answer = interrupted()
            self.expect(name, answer, right)
        except KeyboardInterrupt:
            ended = True
        except BaseException:
            self.fail(name, f"Ctrl-C gives {_in_one_line()}")
        if self.interrupter.came:
            seconds = time.monotonic() - self.interrupter.came
            self.counts["later than 0.1 s"] += seconds > 0.1
            if seconds > PROMISED and seconds > PROMISED * max(1.0, _work() / self._work):
                self.fail(name, f"ends {seconds:.1f} s after Ctrl-C")
            self.counts["interrupted" if ended else "swallowed by Python"] += 1
        self._look(name)
        faulthandler.cancel_dump_traceback_later()
        return ended

    def _look(self, name: str) -> None:
        left = _descriptors() - self.descriptors
        until = time.monotonic() + PATIENCE
        while (left or _thread._count() > self._threads) and time.monotonic() < until:
            gc.collect()  # what a cycle holds, or a traceback
            time.sleep(0.001)
            left = _descriptors() - self.descriptors
        if left:
            self.fail(name, f"descriptors are left: {dict(left)}")
            self.descriptors += left
        if _thread._count() > self._threads:
            self.fail(name, "a thread is left")
            faulthandler.dump_traceback()
            self._threads = _thread._count()
        for file in self.folder.rglob(".kleene-*"):
            self.fail(name, f"a temporary file is left: {file.name}")
            file.unlink()

    def expect(self, name: str, answer: Any, right: Any) -> None:
        """Compare an answer."""
        if isinstance(answer, BaseException):
            self.fail(name, f"afterwards: {type(answer).__name__}: {answer}")
        elif answer != right:
            self.fail(name, f"{str(answer)[:80]} is not {str(right)[:80]}")

    def fail(self, name: str, what: str) -> None:
        """Report a failure."""
        self.failures.append(f"{name}: {what}")


def _in_one_line() -> str:
    return " | ".join(traceback.format_exc().strip().splitlines()[-5:])


# ---- calls --------------------------------------------------------------------------------------


@dataclass
class Case:
    """A call, its answer, and how long it is."""

    call: Call
    right: Any
    seconds: float
    steps: int


def _measured(call: Call, interrupter: Interrupter) -> Case:
    right = call.do()
    began = time.monotonic()
    call.do()
    seconds = time.monotonic() - began
    return Case(call, right, seconds, interrupter.steps(call.do))


def _interrupted(case: Case, chance: random.Random, interrupter: Interrupter) -> Callable[[], Any]:
    """Return a call that is interrupted in one of the two ways."""
    if chance.random() < 0.5:
        seconds = chance.uniform(0, 1.1 * case.seconds) + 1e-6
        return lambda: interrupter.after(case.call.do, seconds)
    last = chance.randint(1, max(1, case.steps))
    return lambda: interrupter.at_step(case.call.do, last)


def _call_case(watched: Watched, case: Case, chance: random.Random) -> None:
    call = case.call
    watched.interrupt(call.name, _interrupted(case, chance, watched.interrupter), case.right)
    watched.expect(call.name, watched.in_a_thread(call.do), case.right)


# ---- stores -------------------------------------------------------------------------------------


def _stores(folder: Path) -> list[tuple[Path, Call]]:
    """Return calls that write a store of many blocks, and its name."""
    import kleene as kl

    graph = kl.generate.grid(14, 14, weights=(1, 9), seed=1)
    ready, some = kl.prepare(graph), range(90, 106)
    calls: dict[str, Callable[[str], Any]] = {
        "rows.npy": lambda out: kl.apsp(
            graph, sources=some, method="batched", predecessors=False, out=out
        ),
        "paths.npy": lambda out: kl.apsp(graph, sources=some, method="batched", out=out),
        "targets.npy": lambda out: kl.sssp(graph, sources=range(99), targets=[5, 9], out=out),
        "rows.zarr": lambda out: kl.apsp(
            graph, sources=some, method="batched", predecessors=False, out=out
        ),
        "prepared.npy": lambda out: ready.trees(range(99), out=out),
    }

    def answer(name: str) -> Callable[[], Any]:
        path = str(folder / name)
        return lambda: calls[name](path).distances.tolist()

    return [(folder / name, Call(f"out={name}", answer(name), 1)) for name in calls]


def measured_stores(folder: Path) -> list[tuple[Path, Case]]:
    """Return the calls that write stores, each made once: its ledger must have some blocks."""
    os.environ["KLEENE_PIECE_SECONDS"] = "3e-6"  # a plain file of one block could not be resumed
    found = []
    for path, call in _stores(folder):
        case = Case(call, call.do(), 0.05, 20_000)
        if len(_lines(path)) < 4:
            raise AssertionError(f"{path.name} has no blocks to be resumed")
        found.append((path, case))
        _remove(path)
    return found


def _remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.stem}.*"):
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()


def _lines(path: Path) -> list[str]:
    ledger = path.with_name(f"{path.name}.ledger")
    return ledger.read_text().splitlines() if ledger.exists() else []


def _store_case(watched: Watched, path: Path, case: Case, chance: random.Random) -> None:
    """Interrupt a call until it is done; what was recorded once stays recorded."""
    recorded: list[str] = []
    name = case.call.name
    for _ in range(chance.randint(1, 4)):
        interrupted = _interrupted(case, chance, watched.interrupter)
        watched.interrupt(name, interrupted, case.right)
        lines = _lines(path)[1:]  # those of blocks: without any, the store goes and begins anew
        if lines[: len(recorded)] != recorded:
            watched.fail(name, f"lines of the ledger are lost: {len(recorded)}, then {len(lines)}")
        recorded = lines
        watched.counts["stores resumed"] += len(lines) > 0
    watched.expect(name, watched.in_a_thread(case.call.do), case.right)
    if _lines(path)[1:][: len(recorded)] != recorded:
        watched.fail(name, "rows that were recorded are computed again")
    _remove(path)


# ---- the process --------------------------------------------------------------------------------


def interrupt(seconds: float, seed: int, folder: Path) -> Outcome:
    """Interrupt calls as long as the seconds last."""
    import zarr

    zarr.config.set({"threading.max_workers": 1})  # or its threads become more now and then
    began = time.monotonic()
    chance = random.Random(seed)
    interrupter = Interrupter()
    cases = [_measured(call, interrupter) for call in all_calls(folder)]
    stores = measured_stores(folder)
    watched = Watched(folder, interrupter)

    def ignored(lost: Any) -> None:
        whose = getattr(lost.object, "__module__", None) or ""
        if lost.exc_type is not KeyboardInterrupt and whose.startswith("kleene"):
            watched.fail("a destructor", f"{lost.exc_type.__name__}: {lost.exc_value}")

    sys.unraisablehook = ignored  # Python's own objects may be half made
    left = chance.sample(cases, len(cases))  # each at least once, if there is time
    end = max(began + seconds, time.monotonic() + seconds / 2)  # also where imports take long
    while time.monotonic() < end:
        if chance.random() < STORE_SHARE:
            _store_case(watched, *chance.choice(stores), chance)
        else:
            _call_case(watched, left.pop() if left else chance.choice(cases), chance)
    failures = [f"seed {seed}: {failure}" for failure in watched.failures[:20]]
    return Outcome(watched.counts["interrupted"], failures, dict(watched.counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kleene-interrupts-") as folder:
        tempfile.tempdir = folder
        outcome = interrupt(args.seconds, args.seed, Path(folder))
    print(json.dumps(vars(outcome)))


if __name__ == "__main__":
    main()
