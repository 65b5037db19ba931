"""Processes that are killed, interrupted or limited while they write.

Every writer (each graph format, results, answers in files, records, drawings) and the commands of
``kleene`` run in forked children, over a file that is there already. A child ends by a signal at a
random moment, or at the k-th line of the module that replaces files (for every k in turn), or meets
a limit of file size, memory, open files or processor time. Then the file must be the old one or the
new one, whole; a child that was not killed must have said why; and after one more write to the
folder nothing else may be there.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from torture.campaign import Budget, Outcome
from torture.processes import HANG, run_processes
from torture.writers import SIGNALS, Writer, writers_of_files

__all__ = ["run"]

LIMITS = ("file size", "memory", "open files", "processor time")
OLD = b"what was there before\n" * 1000
WRITTEN, EXPLAINED, CRASHED = 0, 99, 98  # exit codes of a child
EXIT_CODES = (0, 2, 3, 5, 129, 130, 141, 143)  # of the command line


def run(budget: Budget) -> Outcome:
    """Run cases in several processes, each with its own seed."""
    return run_processes("torture.kill", budget)


# ---- one case -----------------------------------------------------------------------------------


class Campaign:
    """The cases of one process."""

    def __init__(self, seed: int, folder: Path) -> None:
        import kleene as kl

        self.random = random.Random(seed)
        self.seed = seed
        self.folder = folder
        self.cases = 0
        self.failures: list[str] = []
        self.endings: Counter[str] = Counter()
        self.tiny = kl.generate.path(3)
        self.writers = writers_of_files(folder)
        self.random.shuffle(self.writers)
        self.steps: dict[str, list[tuple[int, signal.Signals]]] = {}  # still to do, by writer

    def _learn(self, writer: Writer) -> None:
        """Run a writer without trouble: what it writes, how long it takes, how many lines."""
        with self._target(writer) as path:
            _import_what_it_needs(writer, path)
            began = time.monotonic()
            self._end(self._fork(writer, path), writer, "no trouble", path)
            writer.seconds = time.monotonic() - began
            writer.content = path.read_bytes()
            if writer.check is not None:
                writer.check(path)
            counted = path.parent.parent / "lines"
            if not writer.replaces:  # it refuses the file that is there
                path.unlink()
            self._end(self._fork(writer, path, lambda: _count_lines(counted)), writer, "-", path)
            writer.lines = int(counted.read_text())
            counted.unlink()

    @contextlib.contextmanager
    def _target(self, writer: Writer) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path = Path(folder, "inside", writer.file)
            path.parent.mkdir()
            if writer.replaces:
                path.write_bytes(OLD)
            Path(folder, "said").touch()
            yield path

    def _fork(self, writer: Writer, path: Path, prepare: Callable[[], object] | None = None) -> int:
        """Run a writer in a child; return its process id."""
        sys.stdout.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the writer starts
        child = os.fork()
        if child == 0:
            try:
                _child(writer, path, prepare)
            finally:
                os._exit(CRASHED)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return child

    def _end(self, child: int, writer: Writer, trouble: str, path: Path) -> str:
        """Wait for a child; return how it ended, and report an end that it should not have."""
        status = _wait(child, HANG)
        said = _said(path)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self._fail(writer, trouble, f"hangs for {HANG:.0f} s; {said}")
            return "hang"
        if os.WIFSIGNALED(status):
            ended = signal.Signals(os.WTERMSIG(status)).name
            if ended not in trouble and ended not in ("SIGXCPU", "SIGKILL"):
                self._fail(writer, trouble, f"died of {ended}; {said}")
            return "killed"
        code = os.WEXITSTATUS(status)
        right = EXIT_CODES if writer.command else (WRITTEN, EXPLAINED)
        # Python itself discards an interrupt that arrives in a destructor, and says so.
        traced = "Traceback" in said and not said.startswith("Exception ignored in")
        if code not in right or traced:
            self._fail(writer, trouble, f"exit code {code}; {said}")
        return "finished" if code == 0 else "refused"

    def _fail(self, writer: Writer, trouble: str, what: str) -> None:
        self.failures.append(f"seed {self.seed}: {writer.name}, {trouble}: {what}")

    def case(self, writer: Writer, trouble: str, prepare: Any = None, kill: Any = None) -> None:
        """Run one case and look at what it left."""
        self.cases += 1
        with self._target(writer) as path:
            child = self._fork(writer, path, prepare)
            if kill is not None:
                number, delay = kill
                time.sleep(delay)
                os.kill(child, number)
            ended = self._end(child, writer, trouble, path)
            self.endings[ended] += 1
            self._check_file(writer, trouble, path, ended)
            self._check_folder(writer, trouble, path)

    def _check_file(self, writer: Writer, trouble: str, path: Path, ended: str) -> None:
        content = path.read_bytes() if path.exists() else None
        if content == OLD:
            if ended == "finished":
                self._fail(writer, trouble, "finished, and the old file is still there")
            return
        try:
            if content is None and (writer.replaces or ended == "finished"):
                self._fail(writer, trouble, "the file is gone")
            elif content is None:
                return
            elif writer.check is not None:
                writer.check(path)
            elif content != writer.content:
                self._fail(writer, trouble, f"{len(content)} bytes that are no whole file")
        except Exception as error:
            self._fail(writer, trouble, f"no whole file: {type(error).__name__}: {error}")

    def _check_folder(self, writer: Writer, trouble: str, path: Path) -> None:
        import kleene as kl

        kl.write(self.tiny, path.parent / "next.gr")
        left = set(os.listdir(path.parent)) - {path.name, "next.gr"}
        if f"{path.name}.ledger" in left:  # with little memory, a store: its files stay
            left -= {name for name in left if name.startswith(f"{path.stem}.")}
        if left:
            self._fail(writer, trouble, f"left after the next write: {sorted(left)}")

    # ---- kinds of trouble -------------------------------------------------------------------

    def at_random(self, writer: Writer) -> None:
        """A signal at a random moment."""
        number = self.random.choice(SIGNALS)
        delay = self.random.uniform(0, 1.2) * writer.seconds
        self.case(writer, f"{number.name} after {delay:.4f} s", kill=(number, delay))

    def limited(self, writer: Writer) -> None:
        """A limit that is too low, or nearly so."""
        limit = self.random.choice(LIMITS)
        if limit == "memory" and writer.file.endswith(".parquet"):
            return  # PyArrow ends the process when it finds no memory
        amount = self.random.uniform(0, 1.1)
        if limit == "processor time" and self.random.random() < 0.9:  # takes a second
            limit = "file size"
        self.case(writer, f"{limit} x {amount:.3f}", lambda: _limit(limit, amount, writer))

    def at_line(self, writer: Writer) -> None:
        """A signal at the next line of the module that replaces files, in a random order."""
        if not self.steps.get(writer.name):
            lines = range(1, writer.lines + 1)
            self.steps[writer.name] = [(line, number) for line in lines for number in SIGNALS[:3]]
            self.random.shuffle(self.steps[writer.name])
        line, number = self.steps[writer.name].pop()
        self.case(writer, f"{number.name} at line {line}", lambda: _kill_at_line(line, number))

    def go(self, end: float) -> None:
        """Run cases until a time."""
        while True:
            for writer in self.writers:
                if not writer.lines:
                    self._learn(writer)
                for trouble in (self.at_random, self.limited, self.at_line):
                    if time.monotonic() > end:
                        return
                    trouble(writer)


def _import_what_it_needs(writer: Writer, path: Path) -> None:
    """Run a writer here, so that no child has to import."""
    if path.suffix == ".parquet":  # PyArrow starts threads, which a child would not have
        import pandas  # noqa: F401
        import pyarrow.parquet  # noqa: F401

        return
    usual = signal.getsignal(signal.SIGINT)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        writer.write(path)
    signal.signal(signal.SIGINT, usual)


def _wait(child: int, seconds: float) -> int | None:
    """Return the status of a child when it ends, None if it does not in time."""
    end = time.monotonic() + seconds
    pause = 0.0005
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    return None


def _said(path: Path) -> str:
    said = (path.parent.parent / "said").read_bytes()
    return said.decode(errors="replace").strip()[-600:].replace("\n", " | ")


# ---- in the child -------------------------------------------------------------------------------


def _child(writer: Writer, path: Path, prepare: Callable[[], object] | None) -> NoReturn:
    """Write, and exit with a code that says how it went."""
    code = CRASHED
    try:
        try:
            said = os.open(path.parent.parent / "said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            os.dup2(said, 1)
            os.dup2(said, 2)
            os.close(said)
            if prepare is not None:
                prepare()
            if not writer.command:  # that unblocks them itself
                signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            writer.write(path)
            code = WRITTEN
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else WRITTEN
        except BaseException as error:
            code = EXPLAINED if _is_explained(error) else CRASHED
            if code == CRASHED:
                os.write(2, traceback.format_exc()[-2000:].encode())
    finally:
        os._exit(code)


def _is_explained(error: BaseException) -> bool:
    """Return whether this is an error that a writer may raise under such trouble."""
    from kleene import KleeneError

    named = isinstance(error, OSError) and error.filename is not None
    return named or isinstance(error, (KleeneError, MemoryError, KeyboardInterrupt, ImportError))


def _limit(limit: str, amount: float, writer: Writer) -> None:
    if limit == "file size":
        number, value = resource.RLIMIT_FSIZE, int(amount * max(4096, len(writer.content)))
    elif limit == "memory":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        number, value = resource.RLIMIT_AS, pages * 4096 + int(amount * 64 * 2**20)
    elif limit == "open files":
        number, value = resource.RLIMIT_NOFILE, 3 + int(8 * amount)
    else:
        number, value = resource.RLIMIT_CPU, 1
        end = time.process_time() + 1 - amount * min(1.0, writer.seconds)
        while time.process_time() < end:
            pass
    resource.setrlimit(number, (value, resource.getrlimit(number)[1]))


def _trace_lines(act: Callable[[], None]) -> None:
    """Call ``act`` before each line of the module that replaces files."""
    from kleene.system import atomic_file

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != atomic_file.__file__:
            return None
        if event == "line":
            act()
        return trace

    sys.settrace(trace)


def _count_lines(file: Path) -> None:
    count = 0

    def act() -> None:
        nonlocal count
        count += 1
        file.write_text(str(count))

    _trace_lines(act)


def _kill_at_line(line: int, number: signal.Signals) -> None:
    left = line

    def act() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), number)

    _trace_lines(act)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kleene-kill-") as folder:
        campaign = Campaign(args.seed, Path(folder))
        campaign.go(began + args.seconds)
        print(
            json.dumps(
                {
                    "cases": campaign.cases,
                    "failures": campaign.failures,
                    "facts": dict(campaign.endings),
                }
            )
        )


if __name__ == "__main__":
    main()
