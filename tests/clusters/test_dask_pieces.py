"""Runs of pieces: how large they are, and what comes of errors, by a scheduler that is a fake."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

import kleene as kl
from kleene.clusters.dask import client, runner
from kleene.clusters.dask.client import Workers
from kleene.clusters.dask.graphs import SharedGraph
from kleene.clusters.dask.runner import _RunError, _Runs, run_pieces
from kleene.engine.pieces import Piece, split
from kleene.errors import Code

SHARED = SharedGraph("/tmp/nothing.kp", len)


# ---- sizes --------------------------------------------------------------------------------------


def sizes(runs: _Runs, threads: int, seconds_per_row: float) -> list[int]:
    found = []
    while runs.left:
        run = runs.take(threads)
        rows = run[-1].stop - run[0].first
        found.append(rows)
        runs.learn(run, rows * seconds_per_row)
    return found


def test_runs_take_a_second_or_two_and_the_last_ones_less() -> None:
    found = sizes(_Runs(split(10_000, 10)), 2, 0.01)
    assert sum(found) == 10_000
    assert found[0] == 10  # nothing is known
    assert found[1] == 200
    assert found[-1] <= 30
    assert sorted(found[1:], reverse=True) == found[1:]


def test_a_wrong_measurement_is_corrected() -> None:
    runs = _Runs(split(100_000, 10))
    runs.learn(runs.take(2), 1000.0)  # the first task on a busy machine
    assert set(sizes(runs, 2, 0.01)[20:100]) <= {190, 200}


def test_a_run_has_neighbouring_pieces_only() -> None:
    pieces = [piece for piece in split(100, 10) if piece.index not in (3, 4)]
    runs = _Runs(pieces)
    runs._seconds = 1e-3
    assert [p.first for p in runs.take(1)] == [0, 10, 20]
    run = runs.take(1)
    assert [p.first for p in run] == [50, 60, 70, 80, 90]
    assert not runs.left
    runs.put_back(run)
    assert runs.take(1) == run


def test_a_run_is_one_piece_where_these_return_much() -> None:
    runs = _Runs(split(30, 10), apart=True)
    runs.learn(runs.take(1), 1e-6)
    assert [len(runs.take(1)) for _ in range(2)] == [1, 1]
    assert not runs.left


def test_a_piece_is_never_cut() -> None:
    assert sizes(_Runs(split(30, 10)), 2, 100.0) == [10, 10, 10]


# ---- a fake scheduler ---------------------------------------------------------------------------


class Killed(Exception):
    allowed_failures, last_worker = 3, SimpleNamespace(address="tcp://lost")


class Future:
    def __init__(self, run: Callable[[], Any]) -> None:
        self._run = run
        self.status = "pending"
        self.lost = 0  # how often a result is waited for in vain

    def finish(self) -> None:
        try:
            self._value, self.status = pickle.loads(pickle.dumps(self._run())), "finished"
        except Exception as error:
            self._value, self.status = error, "error"
        if isinstance(self._value, BaseException) and self._value.args == ("cancelled",):
            self.status = "cancelled"

    def result(self, timeout: float) -> Any:
        if self.lost:
            self.status, self.lost = "lost", self.lost - 1
            raise TimeoutError
        return self._value

    def exception(self) -> Any:
        return self._value


class Scheduler:
    """Runs tasks when they are waited for, the last one first; says which worker runs the next."""

    loop = None

    def __init__(self, workers: Sequence[Any]) -> None:
        self.workers = list(workers)
        self.names: list[str] = []
        self.most = 0
        self.cancelled: list[Future] = []
        self.waiting: list[Future] = []

    def nthreads(self) -> dict[str, int]:
        return {worker.address: 1 for worker in self.workers}

    def submit(self, run: Any, *args: Any, key: str, pure: bool, retries: int) -> Future:
        assert (pure, retries) == (False, 2)
        assert key not in self.names
        self.names.append(key)
        pickle.dumps(args)
        future = Future(lambda: run(*args))
        self.waiting.append(future)
        self.most = max(self.most, len(self.waiting))
        return future

    def cancel(self, futures: list[Future], force: bool) -> None:
        self.cancelled += futures

    # of the module

    def as_completed(self, loop: Any, raise_errors: bool) -> Scheduler:
        return self

    def add(self, future: Future) -> None:
        assert future is self.waiting[-1]

    def has_ready(self) -> bool:
        return True

    def __next__(self) -> Future:
        future = self.waiting.pop()
        self.running = self.workers[len(self.names) % len(self.workers)]
        future.finish()
        return future

    def get_worker(self) -> Any:
        return self.running

    KilledWorker = Killed


def worker(number: int, memory: int = 2**30) -> Any:
    return SimpleNamespace(
        address=f"tcp://worker-{number}",
        id=f"worker {number}",
        local_directory=f"/nowhere/{number}",
        memory_manager=SimpleNamespace(memory_limit=memory),
    )


class Double:
    """Work that returns twice the rows that it has."""

    memory = 1000

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces

    def __call__(self, graph: Any) -> list[int]:
        assert graph == "graph"
        return [2 * row for piece in self.pieces for row in range(piece.first, piece.stop)]


class Failing(Double):
    error: Exception = ValueError("no reason")

    def __call__(self, graph: Any) -> list[int]:
        raise self.error


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def start(
        workers: int = 2, work: Any = Double, missing: int = 0, memory: int = 2**30
    ) -> tuple[Scheduler, list[str], list[int]]:
        scheduler = Scheduler([worker(i, memory) for i in range(workers)])
        sent: list[str] = []
        asked: list[str] = []  # a worker has begun some runs before it has the graph

        def find(shared: SharedGraph, worker: Any) -> Any:
            lacks = worker.address in [f"tcp://worker-{i}" for i in range(missing)]
            asked.append(worker.address)
            unsent = worker.address not in sent or asked.count(worker.address) < 3
            return None if lacks and unsent else "graph"

        for module in (client, runner):
            monkeypatch.setattr(module, "import_dask", lambda: scheduler)
        monkeypatch.setattr(runner, "find_graph", find)
        monkeypatch.setattr(runner, "send_graph", lambda c, s, names: sent.extend(names))
        found: list[int] = []
        pieces = split(500, 5)
        with closing(run_pieces(scheduler, SHARED, "test rows", pieces, work)) as runs:
            for _, rows in runs:
                found += rows
        return scheduler, sent, found

    return start


def test_every_row_is_done_once(fake: Any) -> None:
    scheduler, sent, found = fake()
    assert sorted(found) == list(range(0, 1000, 2))
    assert not sent
    assert not scheduler.cancelled
    assert 2 < scheduler.most <= 4  # two for each thread
    assert scheduler.names[0].startswith("test rows-0-")
    key_split = pytest.importorskip("dask.utils").key_split
    assert {key_split(name) for name in scheduler.names} == {"test rows"}


def test_a_worker_without_the_graph_gets_it_once(fake: Any) -> None:
    _, sent, found = fake(workers=3, missing=2)
    assert sorted(found) == list(range(0, 1000, 2))
    assert sorted(sent) == ["tcp://worker-0", "tcp://worker-1"]


def test_a_cluster_without_workers_gets_a_run_to_grow_on(fake: Any) -> None:
    scheduler = Scheduler([])
    flight = runner._Flight.__new__(runner._Flight)
    flight.__dict__.update(_workers=Workers(scheduler), tasks={}, threads=0)
    assert flight.has_room()
    flight.tasks["one"] = []
    assert not flight.has_room()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time that passes by sleeping, and by looking at it."""
    held = SimpleNamespace(now=0.0)

    def sleep(seconds: float) -> None:
        held.now += seconds

    def monotonic() -> float:
        held.now += 0.4
        return held.now

    for module in (client, runner):
        clock = SimpleNamespace(monotonic=monotonic, sleep=sleep, perf_counter=time.perf_counter)
        monkeypatch.setattr(module, "time", clock)
    return held


def wait_for(workers: Workers) -> None:
    for _ in range(1000):
        workers.threads()


def test_workers_that_are_gone_for_good_end_the_wait(clock: SimpleNamespace) -> None:
    scheduler = Scheduler([])
    workers = Workers(scheduler)
    wait_for(workers)  # none was seen: the cluster may grow
    scheduler.workers = [worker(0)]
    clock.now += 5
    assert workers.threads() == {"tcp://worker-0": 1}
    scheduler.workers = []
    lost = clock.now
    with pytest.raises(kl.ClusterError, match="has had no worker for 60 s"):
        wait_for(workers)
    assert 60 <= clock.now - lost < 65
    with pytest.raises(kl.ClusterError, match="has had no worker"):
        wait_for(Workers(scheduler, known=True))


def test_a_result_that_is_lost_with_its_worker_is_awaited(clock: SimpleNamespace) -> None:
    scheduler = Scheduler([worker(0)])
    workers = Workers(scheduler)
    future = Future(lambda: 7)
    future.finish()
    future.lost = 5
    assert runner._outcome(future, "rows", workers) == 7
    assert future.lost == 0
    scheduler.workers, future.lost = [], 10_000
    with pytest.raises(kl.ClusterError, match="has had no worker"):
        runner._outcome(future, "rows", workers)


def test_runs_are_not_awaited_without_workers(
    clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Scheduler([worker(0)])
    for module in (client, runner):
        monkeypatch.setattr(module, "import_dask", lambda: scheduler)
    flight = runner._Flight(scheduler, SHARED, "rows", Double)
    assert flight.has_room()
    monkeypatch.setattr(scheduler, "has_ready", lambda: False, raising=False)
    scheduler.workers = []
    with pytest.raises(kl.ClusterError, match="has had no worker"):
        flight.next_done()


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (kl.RequestError("no such device"), kl.RequestError, "^no such device$"),
        (kl.NegativeCycleError([1, 2]), kl.NegativeCycleError, "1 -> 2 -> 1"),
        (kl.StorageError(28, "No space left", "d.npy"), kl.StorageError, "No space left"),
        (
            kl.MemoryBudgetError("it needs 3 GiB", advice=[Code("predecessors=False")]),
            kl.MemoryBudgetError,
            "test rows .*, on worker tcp://worker-.: it needs 3 GiB; .*: predecessors=False",
        ),
        (
            kl.VerificationError("row 3 is wrong"),
            kl.ClusterError,
            "test rows .*, on worker tcp://worker-.: VerificationError: row 3 is wrong; .* resumes",
        ),
        (ZeroDivisionError("by zero"), kl.ClusterError, "worker-.: ZeroDivisionError: by zero"),
        (Killed(), kl.ClusterError, "test rows .*: 4 workers ended .* tcp://lost; .* memory"),
        (ValueError("cancelled"), kl.ClusterError, "worker-.: ValueError: cancelled"),
    ],
)
def test_one_error_names_worker_and_run(
    fake: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type, message: str
) -> None:
    monkeypatch.setattr(Failing, "error", error)
    if isinstance(error, Killed):  # the scheduler's, not the worker's

        def killed(*_: Any) -> None:
            raise error

        monkeypatch.setattr(runner, "compute_run", killed)
    with pytest.raises(kind, match=message):
        fake(work=Failing)


def test_a_lost_scheduler_is_one_error(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "compute_run", lambda *_: ValueError("cancelled"))
    with pytest.raises(kl.ClusterError, match=r"test rows .*: the scheduler is lost.* resumes"):
        fake()


def test_a_worker_with_too_little_memory_is_named(fake: Any) -> None:
    with pytest.raises(kl.MemoryBudgetError, match=r"worker tcp://worker-.*1000 B.*999 B"):
        fake(memory=999)


def test_an_error_of_a_run_is_pickled() -> None:
    error = pickle.loads(pickle.dumps(_RunError("tcp://1", ValueError("why"))))
    assert (error.worker, str(error.error)) == ("tcp://1", "why")


# ---- the door -----------------------------------------------------------------------------------


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(client, "import_module", missing)
    with pytest.raises(kl.RequestError, match=r"kleene\[dask\]"):
        kl.reduce_distances(kl.generate.path(3), on="tcp://127.0.0.1:1")


def test_what_on_may_be() -> None:
    pytest.importorskip("dask.distributed")
    with pytest.raises(kl.RequestError, match=r"Client or the address of a scheduler.*not int"):
        kl.reduce_distances(kl.generate.path(3), on=8786)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"sources": [0, 1]}, "give out='d.zarr'.*targets.*reduce_distances"),
        ({"source": 0}, "one source is one search"),
        ({"sources": [0], "targets": [1], "keep": "device"}, "leave out keep"),
    ],
)
def test_what_a_cluster_does_not_do(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.RequestError, match=message):
        kl.sssp(kl.generate.path(3), **keywords, on="tcp://127.0.0.1:1")
