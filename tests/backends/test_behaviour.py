"""How calls behave beside others: in forked processes, among threads, when interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from test_methods import label, solve

import kleene as kl
from kleene.registry import PATH_PROBLEMS, Method
from kleene.system.machine import cores

TASKS = Path("/proc/self/task")
linux = pytest.mark.skipif(not TASKS.exists(), reason="counts threads and pages under /proc")


@cache
def sparse(n: int) -> kl.Graph:
    return kl.generate.uniform(n, 16 * n, seed=1, weights=(1, 255))


@cache
def matrix(n: int) -> kl.Graph:
    g = kl.generate.uniform(n, 3 * n, seed=1, weights=(0.0, 1.0))
    return g.reweight(arcs=g.weights.astype(np.float32))  # type: ignore[union-attr]


#: For each, a call whose answer has n times n numbers, and whose time grows with n^2 or n^3.
CALLS: dict[str, Callable[..., kl.Result]] = {
    "bfs": lambda n, **o: kl.bfs(sparse(n), sources=range(n), method="queue", **o),
    "sssp": lambda n, **o: kl.sssp(sparse(n), sources=range(n), **o),
    "apsp-sparse": lambda n, **o: kl.apsp(sparse(n), method="batched", **o),
    "apsp-dense": lambda n, **o: kl.apsp(matrix(n), method="tiled", **o),
    "closure": lambda n, **o: kl.closure(matrix(n), "max_min", method="tiled", **o),
    "closure-paths": lambda n, **o: kl.closure(
        matrix(n), "boolean", method="tiled", predecessors=True, **o
    ),
}
named = pytest.mark.parametrize("name", CALLS)


@pytest.mark.parametrize(
    "row", [row for row in kl.methods(device="cpu") if row.problem in PATH_PROBLEMS], ids=label
)
def test_values_do_not_depend_on_threads(row: Method) -> None:
    """Fractions in single precision, so that a sum in another order would show."""
    g = matrix(300)
    for semiring in row.semirings:
        answers = [solve(row, g, semiring, threads=t).distances for t in (1, 2, 3, 8)]
        for other in answers[1:]:
            assert np.array_equal(answers[0], other), semiring


# ---- threads ------------------------------------------------------------------------------------


def extra_threads(call: Callable[[], object]) -> int:
    """Return the most threads that this process had more than before, while the call ran."""
    before = set(os.listdir(TASKS))
    seen, done = 0, threading.Event()

    def watch() -> None:
        nonlocal seen
        known = before | {str(threading.get_native_id())}
        while not done.is_set():
            seen = max(seen, len(set(os.listdir(TASKS)) - known))
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        call()
    finally:
        done.set()
        watcher.join()
    return seen


def end_waiting_threads() -> None:
    """End the threads that wait for the next call: a fork does."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def soon(true: Callable[[set[str]], bool], seconds: float = 5) -> bool:
    """Return whether this becomes true of the threads of this process before so long.

    A thread that has ended may be listed for another moment.
    """
    until = time.monotonic() + seconds
    while not true(set(os.listdir(TASKS))) and time.monotonic() < until:
        time.sleep(0.01)
    return true(set(os.listdir(TASKS)))


@linux
@named
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # NumPy may have threads
def test_no_more_threads_than_asked_for(name: str) -> None:
    assert (np.ones((300, 300)) @ np.ones((300, 300))).all()  # NumPy's own threads, if it has any
    end_waiting_threads()
    left = set(os.listdir(TASKS))
    assert extra_threads(lambda: CALLS[name](400, threads=1)) == 0
    # One of the three is the caller.
    assert 1 <= extra_threads(lambda: CALLS[name](1000, threads=3)) <= 2
    assert soon(lambda tasks: len(tasks - left) <= cores())
    end_waiting_threads()
    assert soon(lambda tasks: tasks == left)
    assert extra_threads(lambda: CALLS[name](400)) <= cores() - 1


@linux
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # NumPy may have threads
def test_threads_wait_for_the_next_call_and_then_end() -> None:
    end_waiting_threads()
    left = set(os.listdir(TASKS))
    CALLS["sssp"](1000, threads=2)
    waiting = set(os.listdir(TASKS)) - left
    assert len(waiting) == 1
    assert extra_threads(lambda: CALLS["sssp"](1000, threads=2)) == 0
    assert soon(lambda tasks: tasks - left == waiting, 1)
    assert soon(lambda tasks: tasks == left, 30)


@linux
def test_a_process_on_one_core_starts_no_threads() -> None:
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from test_behaviour import CALLS, extra_threads\n"
        "print([extra_threads(lambda: call(300)) for call in CALLS.values()])"
    )
    done = subprocess.run(
        [sys.executable, *(["-S"] if sys.flags.no_site else []), "-c", script],
        env=os.environ
        | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str([0] * len(CALLS))


@named
def test_other_python_threads_go_on(name: str) -> None:
    """The GIL is released: a thread that wakes every millisecond does so during the call."""
    ticks, done = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    other = threading.Thread(target=tick)
    other.start()
    try:
        at, began = ticks, time.thread_time()  # what else runs does not count
        CALLS[name](1300, threads=1)
        woken, taken = ticks - at, time.thread_time() - began
    finally:
        done.set()
        other.join()
    # A call that held the GIL would still let go of it every 50 ms, to look for signals.
    assert woken > 2 * taken / 0.05, f"{woken} ticks in {taken:.2f} s"


# ---- processes ----------------------------------------------------------------------------------


def answers(_: int = 0) -> list[int]:
    return [zlib.crc32(call(200, threads=3).distances.tobytes()) for call in CALLS.values()]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # NumPy may have threads
@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_in_processes_started_after_threads_were_used(start: str) -> None:
    mine = answers()
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map_async(answers, range(4), chunksize=1).get(60) == [mine] * 4
    assert answers() == mine


# ---- interruption -------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of memory that this process has in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@linux
@named
def test_interrupt_ends_a_call_and_frees_its_memory(name: str) -> None:
    n = 9000 if name.startswith("closure") else 6000  # an answer of 80 to 144 MB, in seconds
    g = (sparse if name in ("bfs", "sssp", "apsp-sparse") else matrix)(n)
    assert g.n == n
    CALLS[name](50)  # whatever is made at first use is made
    sent, finished = 0.0, False

    def interrupt() -> None:
        nonlocal sent
        sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def work() -> None:
        nonlocal finished
        CALLS[name](n)
        finished = True
        time.sleep(2)  # the signal is still to come, and must not hit the next test

    before, used = signal.signal(signal.SIGINT, signal.default_int_handler), resident()
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.process_time() - sent < 1.5 * cores()  # a second; what else runs does not count
        assert not finished
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert resident() - used < 2**25
