"""Ranks as threads of one process, under a schedule that follows from a seed.

``FakeComm`` has those methods of an mpi4py communicator that Kleene calls. One rank runs at a
time. It runs until it waits for messages; then the schedule goes on, by its seed, with any step
that is possible: it delivers one of the messages under way, whichever, or lets a rank run whose
messages are all there. So ranks may be several collectives apart, as they may under MPI, and a run
can be repeated.

What goes wrong is reported with the place in the program where each rank stands: collectives that
do not match, counts that do not, and a deadlock (nothing is under way, no rank can run, and not all
have ended).
"""

# ruff: noqa: N802  (the names of MPI)
from __future__ import annotations

import pickle
import random
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kleene.clusters.mpi.communicator import Communicator

__all__ = ["Aborted", "Deadlock", "Mismatch", "run_ranks"]


_OWN_NAME = Path(__file__).name


class Deadlock(AssertionError):
    """No rank can go on."""


class Mismatch(AssertionError):
    """Ranks met in different collectives, or with different counts."""


class Aborted(BaseException):
    """A rank called MPI_Abort."""


def run_ranks(
    size: int, work: Callable[[Communicator], Any], seed: int = 0, round_bytes: int = 2**30
) -> list[Any]:
    """Return ``work(communicator)`` of every rank; raise what a rank raised first."""
    world = _World(size, seed)
    threads = [
        threading.Thread(target=world.run, args=(rank, work, round_bytes), daemon=True)
        for rank in range(size)
    ]
    for thread in threads:
        thread.start()
    world.schedule()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    if world.failure is not None:
        raise world.failure
    return world.answers


class _World:
    """The state of all ranks; a rank touches it while it has its turn."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.random = size, random.Random(seed)
        self.turns = [threading.Semaphore(0) for _ in range(size)]
        self.done = threading.Semaphore(0)  # the running rank waits or has ended
        self.waits: list[tuple[str, int, str] | None] = [("start", -1, "")] * size
        self.under_way: list[tuple[int, int, int, tuple[str, Any]]] = []
        self.boxes: list[dict[tuple[int, int], tuple[str, Any]]] = [{} for _ in range(size)]
        self.arrived: list[Counter[int]] = [Counter() for _ in range(size)]
        self.answers: list[Any] = [None] * size
        self.ended: list[str] = [""] * size  # how a rank ended
        self.failure: BaseException | None = None

    def run(self, rank: int, work: Callable[[Communicator], Any], round_bytes: int) -> None:
        self.turns[rank].acquire()
        try:
            if self.failure is None:
                self.answers[rank] = work(Communicator(FakeComm(self, rank), round_bytes))
            self.ended[rank] = "has ended"
        except BaseException as error:
            self.ended[rank] = f"has ended by {type(error).__name__}: {error}"
            self.failure = self.failure or error
        self.done.release()

    def schedule(self) -> None:
        while not all(self.ended):
            ready = [r for r in range(self.size) if not self.ended[r] and self.is_ready(r)]
            if self.failure is not None:  # wake all: whoever waits raises
                ready = [r for r in range(self.size) if not self.ended[r]]
            elif not ready and not self.under_way:
                self.failure = Deadlock("; ".join(map(self.where, range(self.size))))
                continue
            step = self.random.randrange(len(ready) + len(self.under_way))
            if step < len(ready):
                self.turns[ready[step]].release()
                self.done.acquire()
            else:
                at = step - len(ready)
                self.under_way[at], self.under_way[-1] = self.under_way[-1], self.under_way[at]
                self.deliver(*self.under_way.pop())

    def is_ready(self, rank: int) -> bool:
        waits = self.waits[rank]
        assert waits is not None
        return waits[1] < 0 or self.arrived[rank][waits[1]] == self.size

    def deliver(self, sender: int, receiver: int, at: int, message: tuple[str, Any]) -> None:
        self.boxes[receiver][sender, at] = message
        self.arrived[receiver][at] += 1

    def where(self, rank: int) -> str:
        waits = self.waits[rank]
        if self.ended[rank] or waits is None:
            return f"rank {rank} {self.ended[rank] or 'runs'}"
        name, at, place = waits
        absent = [r for r in range(self.size) if (r, at) not in self.boxes[rank]]
        return f"rank {rank} waits in {name} (collective {at}, {place}) for ranks {absent}"


class FakeComm:
    """One rank's side of the collectives."""

    def __init__(self, world: _World, rank: int) -> None:
        self._world, self._rank, self._calls = world, rank, 0

    def Get_rank(self) -> int:
        return self._rank

    def Get_size(self) -> int:
        return self._world.size

    def Barrier(self) -> None:
        self._meet("Barrier", [None] * self._world.size)

    def allgather(self, item: Any) -> list[Any]:
        return [pickle.loads(sent) for sent in self._meet_all("allgather", pickle.dumps(item))]

    def Allgather(self, sent: Any, received: Any) -> None:
        parts = self._meet_all("Allgather", sent.tobytes())
        self._receive_rows(parts, received, "Allgather")

    def Alltoall(self, sent: Any, received: Any) -> None:
        parts = self._meet("Alltoall", [row.tobytes() for row in sent])
        self._receive_rows(parts, received, "Alltoall")

    def Alltoallv(self, sent: Any, received: Any) -> None:
        data, places = sent
        parts = self._meet(
            "Alltoallv", [data[d : d + c].tobytes() for c, d in zip(*places, strict=True)]
        )
        self._receive(parts, received, "Alltoallv")

    def Allgatherv(self, sent: Any, received: Any) -> None:
        self._receive(self._meet_all("Allgatherv", sent.tobytes()), received, "Allgatherv")

    def Abort(self, code: int) -> None:
        raise Aborted(f"rank {self._rank} ended the job with {code}")

    def _receive_rows(self, parts: list[bytes], received: Any, name: str) -> None:
        rows = received.reshape(len(parts), -1).view(np.uint8)
        for row, part in zip(rows, parts, strict=True):
            self._fill(row, part, name)

    def _receive(self, parts: list[bytes], received: Any, name: str) -> None:
        data, places = received
        assert data.dtype == np.uint8
        for part, count, at in zip(parts, *places, strict=True):
            assert count < 2**31
            assert at < 2**31
            self._fill(data[at : at + count], part, name)

    def _fill(self, into: Any, part: bytes, name: str) -> None:
        if len(into) != len(part):
            raise Mismatch(f"{name}: rank {self._rank} expects {len(into)} bytes, not {len(part)}")
        into[...] = np.frombuffer(part, dtype=np.uint8)

    def _meet_all(self, name: str, item: bytes) -> list[Any]:
        return self._meet(name, [item] * self._world.size)

    def _meet(self, name: str, items: list[Any]) -> list[Any]:
        """Send an item to every rank, wait for theirs, and return them."""
        world, rank, at = self._world, self._rank, self._calls
        self._calls += 1
        world.under_way += [(rank, to, at, (name, item)) for to, item in enumerate(items)]
        world.waits[rank] = (name, at, _place())
        world.done.release()
        world.turns[rank].acquire()
        if world.failure is not None:
            raise Aborted(f"rank {rank} was ended")
        arrived = [world.boxes[rank].pop((sender, at)) for sender in range(world.size)]
        others = {sender: sent[0] for sender, sent in enumerate(arrived) if sent[0] != name}
        if others:
            raise Mismatch(f"rank {rank} is in {name} ({_place()}), other ranks are in {others}")
        world.waits[rank] = None
        return [item for _, item in arrived]


def _place() -> str:
    """Return where Kleene called, outside the communicators."""
    for frame, line in traceback.walk_stack(None):
        name = Path(frame.f_code.co_filename).name
        if name not in ("communicator.py", _OWN_NAME):
            return f"{name}:{line}"
    raise AssertionError("called from nowhere")
