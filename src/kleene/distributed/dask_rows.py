"""Rows on a Dask cluster, piece by piece.

The rows of a call come in blocks: what a store records as one, or what fits in memory. A piece is a
run of neighbouring blocks that takes a second or two by what the pieces before took; the first ones
are single blocks, and the last ones smaller, so that all workers end together. A piece is one task
with an unused name. A few more of them than there are threads are with the scheduler at a time, the
next one follows when one is done, and what a piece returns is small.

Dask runs a piece again whose worker is lost. An error that may be one of the worker (no memory, a
failed proof, anything unexpected) is tried twice more, elsewhere if there is a choice; one of the
call itself ends it. A worker without the graph hands its piece back, and the graph is sent there.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from kleene.distributed.dask_client import (
    LOOK,
    POLL,
    RESUMED,
    Workers,
    asking,
    import_dask,
    scheduler_lost,
    task_failed,
)
from kleene.distributed.dask_graphs import SharedGraph, find_graph, send_graph
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
from kleene.system.formatting import format_bytes

__all__ = ["PIECE_SECONDS", "Work", "run_pieces"]

#: Seconds that a piece should take, and the last ones.
PIECE_SECONDS, _LAST = 2.0, 0.25

#: Pieces for each thread of the cluster that are with the scheduler, and how often one is tried
#: again after an error.
_AHEAD, _RETRIES = 2, 2

#: Errors of the call, which another worker would raise as well.
_OF_THE_CALL = (NegativeCycleError, GraphError, RequestError, DeviceError, StorageError)


class Work(Protocol):
    """What a piece does on a worker; it is sent by pickle."""

    memory: int  # bytes that it takes, beside the graph

    def __call__(self, graph: Any) -> Any:
        """Compute the rows of the piece, and return something small."""
        ...


class _Done(NamedTuple):
    seconds: float
    value: Any


class _NoGraph(NamedTuple):
    worker: str
    identity: str  # a worker that is started again may have the same address


#: What comes of a piece.
Outcome = _Done | _NoGraph | KleeneError


class _PieceError(KleeneError):
    """An error on a worker: which one, and what it said."""

    def __init__(self, worker: str, error: BaseException) -> None:
        super().__init__(f"worker {worker}: {error}")
        self.worker, self.error = worker, error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.worker, self.error)


# ---- on a worker --------------------------------------------------------------------------------


def run_piece(shared: SharedGraph, work: Work) -> Outcome:
    """Run a piece on this worker; return an error of the call, which is not tried again."""
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
        raise _PieceError(worker.address, error) from error
    return _Done(time.perf_counter() - began, value)


# ---- on the client ------------------------------------------------------------------------------


def run_pieces(
    client: Any,
    shared: SharedGraph,
    what: str,
    blocks: Sequence[Piece],
    make_work: Callable[[Sequence[Any]], Work],
    apart: bool = False,
) -> Generator[tuple[list[Any], Any], None, None]:
    """Yield the blocks of each piece and what it returned, in the order in which they are done.

    Parameters
    ----------
    client : dask.distributed.Client
    shared : SharedGraph
        The graph that all pieces are about.
    what : str
        What the rows are, for names that people understand: ``"apsp rows"``.
    blocks : sequence of Piece
        What is to be done, in order.
    make_work : function
        Returns the work of some neighbouring blocks.
    apart : bool
        Whether every block is a piece of its own: what blocks return is large.
    """
    pieces = _Pieces(blocks, apart)
    flight = _Flight(client, shared, what, make_work)
    sent: set[_NoGraph] = set()
    try:
        while pieces.left or flight.tasks:
            while pieces.left and flight.has_room():
                flight.start(pieces.take(flight.threads))
            piece, outcome = flight.next_done()
            if isinstance(outcome, _NoGraph):
                pieces.put_back(piece)
                if outcome not in sent:  # else another piece that it had already
                    send_graph(client, shared, [outcome.worker])
                    sent.add(outcome)
            elif isinstance(outcome, KleeneError):
                raise outcome
            else:
                pieces.learn(piece, outcome.seconds)
                yield piece, outcome.value
    finally:
        flight.cancel()


def _rows(piece: Sequence[Piece]) -> str:
    return f"{piece[0].first}-{piece[-1].stop - 1}"


class _Pieces:
    """The blocks that are left, and how many make a piece."""

    def __init__(self, blocks: Sequence[Piece], apart: bool = False) -> None:
        self._blocks, self._apart = deque(blocks), apart
        self._left = sum(block.stop - block.first for block in blocks)
        self._seconds = math.inf  # for a row

    @property
    def left(self) -> bool:
        """Whether there are blocks."""
        return bool(self._blocks)

    def take(self, threads: int) -> list[Piece]:
        """Return the blocks of the next piece."""
        share = self._seconds * self._left / (2 * max(1, threads))
        seconds = min(PIECE_SECONDS, max(_LAST, share))
        piece = [self._blocks.popleft()]
        rows = piece[0].stop - piece[0].first
        while self._blocks and self._blocks[0].first == piece[-1].stop and not self._apart:
            more = self._blocks[0].stop - self._blocks[0].first
            if (rows + more) * self._seconds > seconds:
                break
            piece.append(self._blocks.popleft())
            rows += more
        self._left -= rows
        return piece

    def put_back(self, piece: list[Piece]) -> None:
        """Take the blocks of a piece back that was not done."""
        self._blocks.extendleft(reversed(piece))
        self._left += piece[-1].stop - piece[0].first

    def learn(self, piece: list[Piece], seconds: float) -> None:
        """Improve the estimate: pieces so far and the last one count alike."""
        per_row = max(seconds / max(1, piece[-1].stop - piece[0].first), 1e-9)
        first = math.isinf(self._seconds)
        self._seconds = per_row if first else (self._seconds + per_row) / 2


class _Flight:
    """The pieces that are with the scheduler."""

    def __init__(
        self, client: Any, shared: SharedGraph, what: str, make_work: Callable[..., Work]
    ) -> None:
        self._client, self._shared, self._what = client, shared, what
        self._make_work = make_work
        self._run = secrets.token_hex(4)  # no other call has tasks of these names
        self._started = 0
        self._done = import_dask().as_completed(loop=client.loop, raise_errors=False)
        self._workers = Workers(client)
        self.threads = 0
        self.tasks: dict[Any, list[Any]] = {}

    def has_room(self) -> bool:
        """Whether another piece should start; at least one, for clusters that grow on demand."""
        self.threads = sum(self._workers.threads().values())
        return len(self.tasks) < max(1, _AHEAD * self.threads)

    def start(self, piece: list[Any]) -> None:
        """Send a piece to the scheduler."""
        self._started += 1
        work = self._make_work(piece)
        with asking(f"{self._what} {_rows(piece)} cannot be sent"):
            future = self._client.submit(
                run_piece,
                self._shared,
                work,
                key=f"{self._what}-{_rows(piece)}-{self._run}-{self._started}",
                pure=False,
                retries=_RETRIES,
            )
        self.tasks[future] = piece
        self._done.add(future)

    def next_done(self) -> tuple[list[Any], Outcome]:
        """Wait for a piece; return its blocks and what came of it."""
        while not self._done.has_ready():
            self._workers.threads()  # raises when all are gone for good
            time.sleep(POLL)
        future = next(self._done)
        piece = self.tasks.pop(future)
        return piece, _outcome(future, f"{self._what} {_rows(piece)}", self._workers)

    def cancel(self) -> None:
        """Take back what is not done."""
        if self.tasks:
            with suppress(Exception):  # the cluster is gone
                self._client.cancel(list(self.tasks), force=True)
            self.tasks.clear()


def _outcome(future: Any, name: str, workers: Workers) -> Outcome:
    """Return what came of a piece, or raise one error that names it and its worker.

    What a piece returned is gone if its worker is lost before the client has it: then Dask runs it
    again, and there may be no worker for a while.
    """
    while future.status in ("finished", "lost", "pending"):
        try:
            outcome: Outcome = future.result(timeout=LOOK)
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
    if not isinstance(failed, _PieceError):  # of Dask itself: it cannot unpickle, say
        raise task_failed(name, failed) from failed
    place, cause = f"{name}, on worker {failed.worker}", failed.error
    if isinstance(cause, MemoryBudgetError):
        raise MemoryBudgetError(
            f"{place}: ", cause.problem, advice=[text for _, text in cause.advice],
            needed=cause.needed, available=cause.available,
        ) from None  # fmt: skip
    raise task_failed(place, cause) from cause
