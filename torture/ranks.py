"""Kill -9 of MPI jobs: at any step of any rank, and of mpiexec at any moment.

A job reads a graph in parts, searches and writes a store. It must end, all of its processes, and
the store must then be absent or whole under its name. The same command again must give the bytes of
a job that was left alone.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torture.campaign import Budget, Outcome

__all__ = ["run"]

_PATIENCE = 60.0  # seconds for a job to end
_PROGRAM = Path(__file__).with_name("ranks_program.py")


class Job(NamedTuple):
    """A command for some ranks, what it writes when it is left alone, and how long it takes."""

    ranks: int
    command: list[str]  # without the output
    suffix: str
    files: dict[str, bytes]
    steps: list[int]  # of each rank
    seconds: float


def run(budget: Budget) -> Outcome:
    mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    if mpiexec is None:
        return Outcome(0, [], {"skipped": "no mpiexec beside this Python"})
    chosen = random.Random(budget.seed)
    failures: list[str] = []
    ends: Counter[str] = Counter()
    kinds = 8 if budget.seconds > 120 else 2  # each is first run alone
    with tempfile.TemporaryDirectory(prefix="kleene-ranks-") as name:
        folder = Path(name)
        jobs: dict[int, Job] = {}
        while budget.left() > 0 and not failures:
            kind = chosen.randrange(kinds)
            if kind not in jobs:
                jobs[kind] = _prepare(mpiexec, folder, kind, failures)
            if not failures:
                ends[_case(mpiexec, folder, jobs[kind], chosen, kind, failures)] += 1
    return Outcome(ends.total(), failures, {"kills": ends.total(), **ends})


def _prepare(mpiexec: str, folder: Path, kind: int, failures: list[str]) -> Job:
    """Run a job of a kind alone, and compare it with one process."""
    import kleene as kl

    ranks, problem = 2 + kind % 3, ("bfs", "sssp")[kind % 2]
    suffix = ".zarr" if kind in (1, 7) else ".npy"
    graph = kl.generate.rmat(11, 8, seed=kind, weights=(0, 99))
    file = folder / f"g{kind}.{('npz', 'txt')[kind // 4]}"
    kl.write(graph, file)
    command = [problem, str(file), str(int(graph.neighbors[0])), "-q"]
    out = folder / f"alone{kind}{suffix}"
    began = time.monotonic()
    done = _start(mpiexec, ranks, (-1, 0), command, out)
    said = done.communicate()[0]
    seconds = time.monotonic() - began
    if done.returncode:
        failures.append(f"kind {kind}: left alone, the job ends with {done.returncode}: {said}")
        return Job(ranks, command, suffix, {}, [1] * ranks, seconds)
    steps = [int(Path(f"{out}.steps{rank}").read_text()) for rank in range(ranks)]
    if suffix == ".npy":
        read = kl.read(file)
        expected = getattr(kl, problem)(read, int(command[2])).distances
        if not np.array_equal(np.load(out), expected):
            failures.append(f"kind {kind}: left alone, the job is wrong")
    return Job(ranks, command, suffix, _files(out), steps, seconds)


def _case(
    mpiexec: str, folder: Path, job: Job, chosen: random.Random, kind: int, failures: list[str]
) -> str:
    """Kill one job, and run it again; return what was killed."""
    out = folder / f"d{job.suffix}"
    victim = chosen.randrange(job.ranks)
    step = chosen.randint(1, job.steps[victim])
    moment = chosen.uniform(0, 1.1 * job.seconds)
    whole = chosen.random() < 0.2
    what = f"mpiexec after {moment:.2f} s" if whole else f"rank {victim} at step {step}"
    where = f"kind {kind}, {job.ranks} ranks, {what}"
    process = _start(mpiexec, job.ranks, (-1, 0) if whole else (victim, step), job.command, out)
    if whole:
        time.sleep(moment)
        process.kill()
    try:
        process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        failures.append(f"{where}: the job does not end")
    if not _all_gone(out):
        failures.append(f"{where}: processes are left")
    if out.exists() and _files(out) != job.files:
        failures.append(f"{where}: a half-written result has the final name")
    again = _start(mpiexec, job.ranks, (-1, 0), [*job.command, "--resume"], out)
    said = again.communicate(timeout=_PATIENCE)[0]
    if again.returncode or _files(out) != job.files:
        failures.append(f"{where}: again, it ends with {again.returncode}, other bytes: {said}")
    left = [path.name for path in folder.iterdir() if "partial" in path.name]
    if left:
        failures.append(f"{where}: {', '.join(left)} is left")
    for path in folder.glob("d.*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return "mpiexec" if whole else "a rank"


def _start(
    mpiexec: str, ranks: int, death: tuple[int, int], command: list[str], out: Path
) -> subprocess.Popen[Any]:
    program = [sys.executable, str(_PROGRAM), *map(str, death), *command, "-o", str(out)]
    return subprocess.Popen(
        [mpiexec, "-n", str(ranks), *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _files(out: Path) -> dict[str, bytes]:
    """Return the bytes of the files of a store, without its ledger, by their names behind it."""
    found = [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]
    links = out.with_suffix(".predecessors.npy")
    named = {str(path)[len(str(out)) :]: path.read_bytes() for path in sorted(found)}
    return named | ({"predecessors": links.read_bytes()} if links.exists() else {})


def _all_gone(out: Path, seconds: float = 10.0) -> bool:
    """Return whether no process writes this output, after a while; those left are ended."""
    end = time.monotonic() + seconds
    while found := _processes(str(out)):
        if time.monotonic() > end:
            for process in found:
                os.kill(process, signal.SIGKILL)
            return False
        time.sleep(0.05)
    return True


def _processes(argument: str) -> list[int]:
    """Return the processes that have this argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in arguments:
            found.append(int(folder.name))
    return found
