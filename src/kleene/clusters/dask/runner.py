"""Pieces of a call on a Dask cluster, run by run.

A call comes in pieces: blocks that a store records as one, or rows that fit in memory. A run is
some neighbouring pieces that take a second or two by what the runs before took; the first ones are
single pieces, and the last ones smaller, so that all workers end together. A run is one task with
an unused name. A few more of them than there are threads are with the scheduler at a time, the next
one follows when one is done, and what a run returns is small.

If a worker is lost, Dask computes its runs again. An error that may be one of the worker (no
memory, a failed proof, anything unexpected) is tried twice more, elsewhere if there is a choice;
one of the call itself ends it. A worker without the graph hands its run back, and the graph is sent
there.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from kleene.clusters.dask.client import (
    LOOK,
    POLL,
    RESUMED,
    Workers,
    asking,
    import_dask,
    scheduler_lost,
    task_failed,
)
from kleene.clusters.dask.graphs import SharedGraph, find_graph, send_graph
from kleene.engine.call import Call, Outcome, Part, Timings
from kleene.engine.pieces import Piece
from kleene.errors import (
    ClusterError,
    DeviceError,
    GraphError,
    KleeneError,
    MemoryBudgetError,
    NegativeCycleError,
    RequestError,
    StorageError,
)
from kleene.planning.plan import Plan
from kleene.results.pairs import PairsResult
from kleene.results.result import Result
from kleene.system.formatting import format_bytes

__all__ = ["RUN_SECONDS", "RunWork", "run_pieces", "verify_part"]

#: Seconds that a run should take, and the last ones.
RUN_SECONDS, _LAST = 2.0, 0.25

#: Runs for each thread of the cluster that are with the scheduler, and how often one is tried
#: again after an error.
_AHEAD, _RETRIES = 2, 2

#: Errors of the call, which another worker would raise as well.
_OF_THE_CALL = (NegativeCycleError, GraphError, RequestError, DeviceError, StorageError)


class RunWork(Protocol):
    """What a run does on a worker; it is sent by pickle."""

    memory: int  # bytes that it takes, beside the graph

    def __call__(self, graph: Any) -> Any:
        """Compute its pieces, and return something small."""
        ...


class _Done(NamedTuple):
    seconds: float
    value: Any


class _NoGraph(NamedTuple):
    worker: str
    identity: str  # a worker that is started again may have the same address


#: What comes of a run.
RunOutcome = _Done | _NoGraph | KleeneError


class _RunError(KleeneError):
    """An error on a worker: which one, and what it said."""

    def __init__(self, worker: str, error: BaseException) -> None:
        super().__init__(f"worker {worker}: {error}")
        self.worker, self.error = worker, error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.worker, self.error)


# ---- on a worker --------------------------------------------------------------------------------


def compute_run(shared: SharedGraph, work: RunWork) -> RunOutcome:
    """Compute a run on this worker; return an error of the call, which is not tried again."""
    worker = import_dask().get_worker()
    try:
        limit = worker.memory_manager.memory_limit
        if limit and work.memory > limit:
            raise MemoryBudgetError(
                f"it needs {format_bytes(work.memory)}, and the worker may take "
                f"{format_bytes(limit)}",
                advice=["workers with a higher memory limit"],
                needed=work.memory,
                available=limit,
            )
        graph = find_graph(shared, worker)
        if graph is None:
            return _NoGraph(worker.address, worker.id)
        began = time.perf_counter()
        value = work(graph)
    except _OF_THE_CALL as error:
        return error
    except Exception as error:
        raise _RunError(worker.address, error) from error
    return _Done(time.perf_counter() - began, value)


# ---- on the client ------------------------------------------------------------------------------


def run_pieces(
    client: Any,
    shared: SharedGraph,
    what: str,
    pieces: Sequence[Piece],
    make_work: Callable[[Sequence[Any]], RunWork],
    apart: bool = False,
) -> Generator[tuple[list[Any], Any], None, None]:
    """Yield the pieces of each run and what it returned, in the order in which they are done.

    Parameters
    ----------
    client : dask.distributed.Client
    shared : SharedGraph
        The graph that all runs are about.
    what : str
        What the rows are, for names that people understand: ``"apsp rows"``.
    pieces : sequence of Piece
        What is to be done, in order.
    make_work : function
        Returns the work of some neighbouring pieces.
    apart : bool
        Whether every piece is a run of its own: what pieces return is large.
    """
    runs = _Runs(pieces, apart)
    flight = _Flight(client, shared, what, make_work)
    sent: set[_NoGraph] = set()
    try:
        while runs.left or flight.tasks:
            while runs.left and flight.has_room():
                flight.start(runs.take(flight.threads))
            run, outcome = flight.next_done()
            if isinstance(outcome, _NoGraph):
                runs.put_back(run)
                if outcome not in sent:  # else another run that it had already
                    send_graph(client, shared, [outcome.worker])
                    sent.add(outcome)
            elif isinstance(outcome, KleeneError):
                raise outcome
            else:
                runs.learn(run, outcome.seconds)
                yield run, outcome.value
    finally:
        flight.cancel()


def _rows(run: Sequence[Piece]) -> str:
    return f"{run[0].first}-{run[-1].stop - 1}"


class _Runs:
    """The pieces that are left, and how many make a run."""

    def __init__(self, pieces: Sequence[Piece], apart: bool = False) -> None:
        self._pieces, self._apart = deque(pieces), apart
        self._left = sum(piece.stop - piece.first for piece in pieces)
        self._seconds = math.inf  # for a row

    @property
    def left(self) -> bool:
        """Whether there are pieces."""
        return bool(self._pieces)

    def take(self, threads: int) -> list[Piece]:
        """Return the pieces of the next run."""
        share = self._seconds * self._left / (2 * max(1, threads))
        seconds = min(RUN_SECONDS, max(_LAST, share))
        run = [self._pieces.popleft()]
        rows = run[0].stop - run[0].first
        while self._pieces and self._pieces[0].first == run[-1].stop and not self._apart:
            more = self._pieces[0].stop - self._pieces[0].first
            if (rows + more) * self._seconds > seconds:
                break
            run.append(self._pieces.popleft())
            rows += more
        self._left -= rows
        return run

    def put_back(self, run: list[Piece]) -> None:
        """Take the pieces of a run back that was not done."""
        self._pieces.extendleft(reversed(run))
        self._left += run[-1].stop - run[0].first

    def learn(self, run: list[Piece], seconds: float) -> None:
        """Improve the estimate: runs so far and the last one count alike."""
        per_row = max(seconds / max(1, run[-1].stop - run[0].first), 1e-9)
        first = math.isinf(self._seconds)
        self._seconds = per_row if first else (self._seconds + per_row) / 2


class _Flight:
    """The runs that are with the scheduler."""

    def __init__(
        self, client: Any, shared: SharedGraph, what: str, make_work: Callable[..., RunWork]
    ) -> None:
        self._client, self._shared, self._what = client, shared, what
        self._make_work = make_work
        self._token = secrets.token_hex(4)  # no other call has tasks of these names
        self._started = 0
        self._done = import_dask().as_completed(loop=client.loop, raise_errors=False)
        self._workers = Workers(client)
        self.threads = 0
        self.tasks: dict[Any, list[Any]] = {}

    def has_room(self) -> bool:
        """Whether another run should start; at least one, for clusters that grow on demand."""
        self.threads = sum(self._workers.threads().values())
        return len(self.tasks) < max(1, _AHEAD * self.threads)

    def start(self, run: list[Any]) -> None:
        """Send a run to the scheduler."""
        self._started += 1
        work = self._make_work(run)
        with asking(f"{self._what} {_rows(run)} cannot be sent"):
            future = self._client.submit(
                compute_run,
                self._shared,
                work,
                key=f"{self._what}-{_rows(run)}-{self._token}-{self._started}",
                pure=False,
                retries=_RETRIES,
            )
        self.tasks[future] = run
        self._done.add(future)

    def next_done(self) -> tuple[list[Any], RunOutcome]:
        """Wait for a run; return its pieces and what came of it."""
        while not self._done.has_ready():
            self._workers.threads()  # raises when all are gone for good
            time.sleep(POLL)
        future = next(self._done)
        run = self.tasks.pop(future)
        return run, _outcome(future, f"{self._what} {_rows(run)}", self._workers)

    def cancel(self) -> None:
        """Take back what is not done."""
        if self.tasks:
            with suppress(Exception):  # the cluster is gone
                self._client.cancel(list(self.tasks), force=True)
            self.tasks.clear()


def _outcome(future: Any, name: str, workers: Workers) -> RunOutcome:
    """Return what came of a run, or raise one error that names it and its worker.

    What a run returned is gone if its worker is lost before the client has it: then Dask runs it
    again, and there may be no worker for a while.
    """
    while future.status in ("finished", "lost", "pending"):
        try:
            outcome: RunOutcome = future.result(timeout=LOOK)
            return outcome
        except TimeoutError:
            workers.threads()  # raises when all are gone for good
        except Exception as error:
            if future.status == "error":  # when it was run again
                break
            raise ClusterError(f"{name}: its result is lost ({error}); {RESUMED}") from error
    if future.status != "error":
        raise scheduler_lost(name)
    failed = future.exception()
    if not isinstance(failed, _RunError):  # of Dask itself: it cannot unpickle, say
        raise task_failed(name, failed) from failed
    place, cause = f"{name}, on worker {failed.worker}", failed.error
    if isinstance(cause, MemoryBudgetError):
        raise MemoryBudgetError(
            f"{place}: ", cause.problem, advice=[text for _, text in cause.advice],
            needed=cause.needed, available=cause.available,
        ) from None  # fmt: skip
    raise task_failed(place, cause) from cause


# ---- the proof of a row, on a worker, which has the graph ----------------------------------------


def verify_part(call: Call, plan: Plan, part: Part, limit: int | float | None, seed: int) -> None:
    """Raise VerificationError if a row that ``seed`` chooses is wrong, or what was computed."""
    if call.computes is not None:
        call.computes.prove(call, plan, part.answer)
        return
    made = Outcome(part, plan, Timings(), limit)
    result = Result._of(call, made) if call.pairs is None else PairsResult._of_pairs(call, made)
    result.verify(sample=1, seed=seed)
