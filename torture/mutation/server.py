"""A pytest plugin that runs tests against mutants, each in a process forked from this one.

The tests are imported and collected once. A recorded run of each then says which mutants it
executes and how long it takes; a mutant is run against the tests that execute it, those first
that are quick and have killed mutants of the same file. What is chosen in a forked process is
chosen in the programs that it starts, too, by the environment.

KLEENE_MUTATION_TASK names a JSON file with the fields of `Task`. Its `results` get a line of JSON
for each mutant, and one for the recorded run.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

__all__ = ["Task"]

_MEMORY = 16 << 30  # bytes of address space: a mutant may ask for any amount


@dataclass(frozen=True)
class Task:
    """What to run, and for how long."""

    mutants: list[tuple[int, str]]  # numbers and files, in the order to run them
    count: int  # the largest number of a mutant
    native: str | None  # the mutated module
    digest: str  # of all mutated sources
    jobs: int
    seconds: float  # until no new mutant is started
    seconds_recording: float  # tests that are not recorded by then are left out
    seconds_each: float  # of tests for one mutant, as recorded
    results: str
    recorded: str  # keeps what the tests execute, for the next time


def pytest_sessionstart() -> None:
    """Examples that fail are not shrunk: one failure is enough."""
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("mutation", settings.get_profile("kleene"), phases=phases)
    settings.load_profile("mutation")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    task = Task(**json.loads(Path(os.environ["KLEENE_MUTATION_TASK"]).read_text()))
    server = _Server(task, session.items)
    try:
        server.run()
    finally:
        server.results.close()
        shutil.rmtree(server.folder, ignore_errors=True)
    return True


@dataclass
class _Test:
    item: pytest.Item
    seconds: float  # of processors
    executed: frozenset[int]


@dataclass
class _Child:
    """A process that runs tests one after another, and says which one before each."""

    pid: int
    pipe: int
    number: int
    tests: list[_Test]
    began: float = field(default_factory=time.monotonic)
    at: int = 0
    since: float = field(default_factory=time.monotonic)
    computed: float = 0.0  # seconds of processors before the test
    timed_out: bool = False

    def hangs(self) -> bool:
        """Does the test compute many times as long as it should, or wait for ever?"""
        should = self.tests[self.at].seconds
        if _computed(self.pid) - self.computed > 3 + 8 * should:
            return True
        waiting = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        return time.monotonic() - self.since > waiting * (8 + 8 * should)


class _Server:
    def __init__(self, task: Task, items: list[pytest.Item]) -> None:
        self.task, self.items = task, items
        self.began = time.monotonic()
        self.folder = Path(tempfile.mkdtemp(prefix="kleene-mutants-"))
        self.chosen = _Chosen(task)
        self.results = open(task.results, "a", buffering=1)  # noqa: SIM115
        self.kills: dict[str, Counter[str]] = defaultdict(Counter)  # tests, by mutated file
        self.any_kills: Counter[str] = Counter()

    def run(self) -> None:
        tests = self.recorded_tests()
        seconds = time.monotonic() - self.began
        self.say(tests=len(tests), left_out=self.left_out, seconds=round(seconds, 1))
        covering: dict[int, list[_Test]] = defaultdict(list)
        for test in tests:
            for number in test.executed:
                covering[number].append(test)
        running: dict[int, _Child] = {}
        waiting = iter(self.task.mutants)
        while running or waiting:
            while waiting and len(running) < self.task.jobs:
                mutant = next(waiting, None)
                if mutant is None or time.monotonic() - self.began > self.task.seconds:
                    waiting = iter(())  # type: ignore[assignment]
                    break
                number, file = mutant
                if not covering[number]:
                    self.say(number=number, verdict="not executed")
                    continue
                child = self.start(number, self.ordered(covering[number], file))
                running[child.pipe] = child
            if not running:
                break
            self.attend(running)
            if time.monotonic() - self.began > self.task.seconds + 5:
                self.give_up(running)
                break

    def say(self, **fields: Any) -> None:
        self.results.write(json.dumps(fields) + "\n")

    # ---- the recorded run -----------------------------------------------------------------------

    def recorded_tests(self) -> list[_Test]:
        """Run each test once on the unchanged program; those that fail are of no use."""
        path = Path(self.task.recorded)
        kept = json.loads(path.read_text()) if path.exists() else {}
        keys = {item.nodeid: self.key(item) for item in self.items}
        missing = [item for item in self.items if keys[item.nodeid] not in kept]
        shares = [missing[at :: self.task.jobs] for at in range(min(self.task.jobs, len(missing)))]
        files = [self.folder / f"recorded-{at}" for at in range(len(shares))]
        children = [
            self.forked(partial(self.record, share, file))
            for share, file in zip(shares, files, strict=True)
        ]
        for pid in children:
            os.waitpid(pid, 0)
        for file in files:
            for line in file.read_text().splitlines():
                nodeid, seconds, executed = json.loads(line)
                kept[keys[nodeid]] = [seconds, executed]
        path.write_text(json.dumps(kept))
        found = [(item, kept.get(keys[item.nodeid])) for item in self.items]
        self.left_out = sum(row is None for _, row in found)
        return [_Test(item, row[0], frozenset(row[1])) for item, row in found if row and row[1]]

    def key(self, item: pytest.Item) -> str:
        text = item.path.read_bytes() + self.task.digest.encode() + item.nodeid.encode()
        return hashlib.sha256(text).hexdigest()[:24]

    def record(self, items: list[pytest.Item], path: Path) -> None:
        with path.open("w", buffering=1) as file:
            for item, following in zip(items, [*items[1:], None], strict=True):
                if time.monotonic() - self.began > self.task.seconds_recording:
                    return
                with self.chosen.recording() as executed:
                    began = _processor_seconds()
                    passed = _passes(item, following)
                    seconds = _processor_seconds() - began
                numbers = executed() if passed else []
                file.write(json.dumps([item.nodeid, round(seconds, 3), numbers]) + "\n")

    # ---- mutants --------------------------------------------------------------------------------

    def ordered(self, tests: list[_Test], file: str) -> list[_Test]:
        """Return the tests by their chance to kill in the least time, as many as there is time."""

        def worth(test: _Test) -> float:
            name = test.item.nodeid
            kills = self.kills[file][name] + 0.1 * self.any_kills[name]
            return (0.2 + kills) / (0.02 + test.seconds)

        chosen, seconds = [], 0.0
        for test in sorted(tests, key=worth, reverse=True):
            if not chosen or seconds + test.seconds <= self.task.seconds_each:
                chosen.append(test)
                seconds += test.seconds
        return chosen

    def start(self, number: int, tests: list[_Test]) -> _Child:
        reading, writing = os.pipe()
        os.set_inheritable(reading, False)

        def work() -> None:
            os.close(reading)
            self.chosen.choose(number)
            for at, (test, following) in enumerate(zip(tests, [*tests[1:], None], strict=True)):
                os.write(writing, f"{at}\n".encode())
                if not _passes(test.item, following.item if following else None):
                    os._exit(1)

        pid = self.forked(work)
        os.close(writing)
        return _Child(pid, reading, number, tests)

    def attend(self, running: dict[int, _Child]) -> None:
        """Wait a while for children to say where they are, or to end."""
        ready, _, _ = select.select(list(running), [], [], 0.2)
        for pipe in ready:
            child = running[pipe]
            if said := os.read(pipe, 1 << 16):
                child.at, child.since = int(said.split()[-1]), time.monotonic()
                child.computed = _computed(child.pid)
                continue
            self.finish(running.pop(pipe))
        for child in running.values():
            if not child.timed_out and child.hangs():
                child.timed_out = True
                _kill_group(child.pid)

    def give_up(self, running: dict[int, _Child]) -> None:
        """End what is still running: nothing is known of these mutants."""
        for child in running.values():
            _kill_group(child.pid)
            os.waitpid(child.pid, 0)

    def finish(self, child: _Child) -> None:
        os.close(child.pipe)
        _kill_group(child.pid)  # what the tests have started, and not ended
        _, status = os.waitpid(child.pid, 0)
        shutil.rmtree(self.folder / f"of-{child.pid}", ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        by = child.tests[child.at].item.nodeid
        if child.timed_out:
            verdict = "hung"
        elif code < 0:
            verdict = "crashed"
        else:
            verdict = "survived" if code == 0 else "killed"
        fields: dict[str, Any] = {"tests": len(child.tests)}
        if verdict != "survived":
            file = dict(self.task.mutants)[child.number]
            self.kills[file][by] += 1
            self.any_kills[by] += 1
            fields = {"by": by}
        seconds = round(time.monotonic() - child.began, 2)
        self.say(number=child.number, verdict=verdict, seconds=seconds, **fields)

    # ---- processes ------------------------------------------------------------------------------

    def forked(self, work: Callable[[], None]) -> int:
        """Return the id of a process, leader of its group, that works, says nothing and ends."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads wait for work
            pid = os.fork()
        if pid:
            return pid
        code = 3
        try:
            os.setpgid(0, 0)
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(nothing, descriptor)
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            factory = self.items[0].config._tmp_path_factory  # type: ignore[attr-defined]
            factory._basetemp = self.folder / f"of-{os.getpid()}"
            factory._basetemp.mkdir()
            work()
            code = 0
        finally:
            os._exit(code)


class _Chosen:
    """The chosen mutant, and which ones run, in the native module and in Python."""

    def __init__(self, task: Task) -> None:
        import kleene_mutants

        self.python = kleene_mutants
        self.native = ctypes.CDLL(task.native) if task.native else None
        self.executed = ctypes.create_string_buffer(task.count + 2)

    def choose(self, number: int) -> None:
        os.environ["KLEENE_MUTANT"] = str(number)
        self.python.number = number
        if self.native is not None:
            self.native.kleene_choose_mutant(number)

    def recording(self) -> _Recording:
        return _Recording(self)


class _Recording:
    def __init__(self, chosen: _Chosen) -> None:
        self.chosen = chosen

    def __enter__(self) -> Callable[[], list[int]]:
        self.chosen.python.executed = set()
        ctypes.memset(self.chosen.executed, 0, len(self.chosen.executed))
        if self.chosen.native is not None:
            self.chosen.native.kleene_record_mutants(self.chosen.executed)
        return self.numbers

    def numbers(self) -> list[int]:
        native = [at for at, seen in enumerate(self.chosen.executed.raw) if seen]
        return native + sorted(self.chosen.python.executed or ())

    def __exit__(self, *_: object) -> None:
        if self.chosen.native is not None:
            self.chosen.native.kleene_record_mutants(None)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    try:
        reports = runtestprotocol(item, log=False, nextitem=following)
    except BaseException:  # what pytest passes on: an interrupt, an exit
        return False
    return not any(report.failed for report in reports)


def _processor_seconds() -> float:
    """Return the time that this process and what it has started have computed."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _computed(pid: int) -> float:
    """Return the time that another process has computed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
