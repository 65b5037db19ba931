"""Calls where the system starts fewer threads than asked for, and at the interpreter's exit."""

from __future__ import annotations

import _thread
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import pytest

from kleene.system import threads
from kleene.system.threads import ThreadPool, for_each

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits memory by RLIMIT_AS")

#: So much address space does each new thread need for its stack.
STACK = 2**30

#: Solves with every method of the CPU, and on the emulated device, with room for some stacks.
SOLVE = """
    import resource, sys
    from pathlib import Path
    import numpy as np
    import kleene as kl
    from kleene.registry import PATH_PROBLEMS

    g = kl.generate.uniform(20_000, 160_000, weights=(1, 9), seed=1)
    small = kl.generate.uniform(300, 2400, weights=(1, 9), seed=1)
    sources = list(range(70))

    def solve(row, threads):
        if row.name == "prepared":  # which the larger graph does not suit
            return getattr(kl, row.problem)(
                small, sources=sources, method=row.name, threads=threads, device="cpu"
            )
        if row.problem == "bfs":
            return kl.bfs(g, 0, method=row.name, threads=threads, device="cpu")
        if row.problem == "sssp":
            return kl.sssp(g, 0, method=row.name, threads=threads, device="cpu")
        return getattr(kl, row.problem)(small, method=row.name, threads=threads, device="cpu")

    rows = [row for row in kl.methods(device="cpu") if row.problem in PATH_PROBLEMS]
    right = [solve(row, 1).distances for row in rows]
    many = kl.bfs(g, sources=sources, threads=1).distances
    vector = kl.spmv(g, np.ones(g.n), threads=1)
    kl.apsp(small, device="emulated")
    {limit}
    for row, answer in zip(rows, right):
        assert np.array_equal(solve(row, 8).distances, answer), row
    assert np.array_equal(kl.bfs(g, sources=sources, threads=8).distances, many)
    assert np.array_equal(kl.spmv(g, np.ones(g.n), threads=8), vector)
    again = kl.Graph.from_edges(*g.coo[:2], g.weights, threads=8)
    assert again.m == g.m
    kl.sssp(g, 0).verify()
    kl.apsp(small, device="emulated").verify()
    print("solved")
"""


def run(program: str, **fields: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program with large stacks; fail if it hangs."""
    text = textwrap.dedent(program).format(**fields)
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_STACK, ({STACK}, {STACK}))"
    start = (
        f"{limit}; import os, sys; os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
    )
    return subprocess.run(
        [sys.executable, "-c", start, text], capture_output=True, text=True, timeout=600
    )


def room_for(stacks: float) -> str:
    """Return statements that leave address space for so many stacks."""
    return (
        "used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize(); "
        f"most = used + int({stacks} * {STACK}); "
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))"
    )


@linux
@pytest.mark.parametrize("stacks", [0.9, 2.9])
def test_teams_are_smaller_where_the_system_starts_fewer_threads(stacks: float) -> None:
    done = run(SOLVE, limit=room_for(stacks))
    assert (done.returncode, done.stdout) == (0, "solved\n"), done.stderr


@linux
def test_a_cooperative_launch_without_threads_is_refused() -> None:
    """The emulated device runs each block of such a launch on a thread of its own."""
    call = """
    {limit}
    try:
        kl.bfs(g, 0, device="emulated")
    except kl.DeviceError as error:
        assert "needs a thread for each of its" in str(error), error
    else:
        raise AssertionError("started")
    """
    done = run(SOLVE.split("    def solve")[0] + call, limit=room_for(0.9))
    assert done.returncode == 0, done.stderr


# ---- between calls ------------------------------------------------------------------------------

#: A call leaves a thread behind; the statements of a test follow.
AFTER = """
    import os, sys, warnings
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy as np
    import kleene as kl

    g = kl.generate.grid(300, 300, seed=1, weights=(1, 9))
    right = kl.sssp(g, 0, threads=2, device="cpu").distances
    assert len(os.listdir("/proc/self/task")) > 1
    {then}
"""


def _after_call(then: str) -> str:
    return textwrap.dedent(AFTER).replace("{then}", textwrap.dedent(then))


@linux
def test_a_fork_finds_no_threads_and_both_processes_go_on() -> None:
    """Python 3.12 warns of a fork beside threads, and would count those that wait."""
    then = """
    warnings.simplefilter("error")
    child = os.fork()
    answers = [kl.sssp(g, 0, threads=t, device="cpu").distances for t in (2, 3)]
    same = all(np.array_equal(answer, right) for answer in answers)
    if child == 0: os._exit(0 if same else 1)
    assert same and os.waitpid(child, 0)[1] == 0
    print("same", flush=True)
    """
    done = run(_after_call(then))
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr


@linux
def test_threads_that_wait_do_not_keep_a_process() -> None:
    done = run(_after_call("sys.exit(7)"))
    assert done.returncode == 7, done.stderr


# ---- Python threads -----------------------------------------------------------------------------


def ended(before: int) -> bool:
    """Return whether there are only the Python threads of before, once others have ended."""
    until = time.monotonic() + 10
    while _thread._count() > before and time.monotonic() < until:
        time.sleep(0.001)
    return _thread._count() <= before


@pytest.fixture(params=[0, 1, 2])
def few_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the system start so many threads only; return how many there are now."""
    left = [None] * request.param

    def start(function: Callable[..., None], args: tuple[Any, ...]) -> int:
        if not left:
            raise RuntimeError("can't start new thread")
        left.pop()
        return _thread.start_new_thread(function, args)

    monkeypatch.setattr(threads, "start_new_thread", start)
    return _thread._count()


def test_all_items_are_done(few_threads: int) -> None:
    done: list[int] = []
    for_each(done.append, range(100), 4)
    assert sorted(done) == list(range(100))
    assert ended(few_threads)


def test_the_first_error_ends_the_loop(few_threads: int) -> None:
    done: list[int] = []

    def work(item: int) -> None:
        if item == 3:
            raise ValueError("no")
        done.append(item)

    with pytest.raises(ValueError, match="no"):
        for_each(work, range(100_000), 4)
    assert len(done) < 100_000
    assert ended(few_threads)


def test_a_pool_returns_results_and_errors(few_threads: int) -> None:
    def divide(a: int, b: int) -> float:
        return a / b

    with ThreadPool(3) as pool:
        futures = [pool.submit(divide, 6, b) for b in (1, 2, 0, 3)]
    assert all(future.done() for future in futures)
    assert [futures[i].result() for i in (0, 1, 3)] == [6, 3, 2]
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            futures[2].result()
    assert ended(few_threads)


@pytest.mark.parametrize("ctrl_c", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_is_not_kept_in_a_future(
    ctrl_c: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(function: Callable[..., None], args: tuple[Any, ...]) -> int:
        raise RuntimeError("can't start new thread")

    def work() -> None:
        raise ctrl_c()

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    with pytest.raises(BaseException) as raised, ThreadPool(2) as pool:
        pool.submit(work)
    assert raised.type is ctrl_c


# ---- Ctrl-C --------------------------------------------------------------------------------------

#: Ctrl-C at the k-th moment at which Python may run a signal handler, for k = 1, 2, ...
AT_EVERY_MOMENT = """
    import _thread, faulthandler, sys, time
    from kleene.system.threads import ThreadPool, for_each

    faulthandler.dump_traceback_later(100, exit=True)
    written = []

    def write(item):
        time.sleep(0.0002)
        written.append(item)

    def pooled():
        with ThreadPool(2) as pool:
            futures = [pool.submit(write, item) for item in range(3)]
            futures[0].result()

    def all_items():
        for_each(write, range(8), 3)

    def interrupted(call, k):
        moments = 0

        def count(frame, event, argument):
            nonlocal moments
            moments += event in ("call", "c_return")
            if moments == k:
                moments += 1
                sys.setprofile(None)
                raise KeyboardInterrupt

        try:
            sys.setprofile(count)
            call()
            sys.setprofile(None)
            return False
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(None)

    sys.unraisablehook = lambda _: None  # Python's own, for Ctrl-C in a __del__
    for call in (pooled, all_items):
        k = 1
        while interrupted(call, k):
            k += 1
            until = time.monotonic() + 1
            while _thread._count() and time.monotonic() < until:
                time.sleep(0.0002)
            assert _thread._count() == 0, (call, k)
        assert k > 20, (call, k)
    written.clear()
    all_items()
    assert sorted(written) == list(range(8))
    print("no thread is left")
"""


def test_ctrl_c_at_any_moment_leaves_no_thread_and_no_lock() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AT_EVERY_MOMENT)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout) == (0, "no thread is left\n"), done.stderr


# ---- the end of the interpreter -----------------------------------------------------------------


EXIT = """
    import threading
    import kleene as kl

    g = kl.generate.uniform(20_000, 100_000, weights=(1, 9), seed=1)
    small = kl.generate.uniform(60, 300, weights=(1, 9), seed=2)
    entered = threading.Event()

    def work():
        while True:
            {call}
            entered.set()

    threading.Thread(target=work, daemon=True).start()
    assert entered.wait(60)
"""


@pytest.mark.parametrize(
    "call",
    [
        "kl.sssp(g, 0, threads=1)",
        "kl.sssp(g, 0, threads=2)",
        "kl.bfs(g, 0, threads=2)",
        "kl.apsp(small, threads=2, progress=lambda *_: None)",
        "kl.apsp(small, device='emulated')",
        "kl.bfs(small, 0, device='emulated')",
    ],
)
def test_a_daemon_thread_inside_a_call_does_not_abort_the_exit(call: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(EXIT).format(call=call)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
