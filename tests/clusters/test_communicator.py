"""Collectives of any size, their counts, and the fake ranks that test them."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fake_communicator import Aborted, Deadlock, Mismatch, run_ranks
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.clusters.mpi import launch
from kleene.clusters.mpi.agreement import agreed, guarded
from kleene.clusters.mpi.arcs import number_heads
from kleene.distributed import Communicator, MpiCommunicator, Partition

RECORD = np.dtype([("vertex", np.int32), ("distance", np.float64)])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 5), st.integers(0, 99), st.sampled_from([1, 7, 64, 2**30]),
    st.sampled_from([np.dtype(np.uint8), np.dtype(np.int64), RECORD]),
)  # fmt: skip
def test_exchange_in_rounds(ranks: int, seed: int, limit: int, dtype: np.dtype[Any]) -> None:
    """What arrives is what was sent, in as many rounds as the limit makes."""
    counts = np.random.default_rng(seed).integers(0, 20, (ranks, ranks))
    counts[np.random.default_rng(seed + 1).random((ranks, ranks)) < 0.3] = 0

    def content(sender: int, receiver: int) -> Any:
        random = np.random.default_rng([sender, receiver])
        size = counts[sender, receiver] * dtype.itemsize
        return random.integers(0, 100, size, dtype=np.uint8).view(dtype)

    def work(communicator: Communicator) -> Any:
        own = communicator.rank
        parts = communicator.exchange([content(own, to) for to in range(ranks)])
        assert all(part.dtype == dtype for part in parts)
        for sender, part in enumerate(parts):
            assert part.tobytes() == content(sender, own).tobytes()
        shared = communicator.gather_arrays(content(own, 0), counts[:, 0])
        for sender, part in enumerate(shared):
            assert part.tobytes() == content(sender, 0).tobytes()
        return communicator.traffic

    share = max(1, limit // (ranks * dtype.itemsize))
    rounds = -(-counts.max() // share) + -(-counts[:, 0].max() // share)
    for own, traffic in enumerate(run_ranks(ranks, work, seed, limit)):
        others = [to for to in range(ranks) if to != own]
        to_others = [counts[own, to] for to in others] + [counts[own, 0]] * len(others)
        assert traffic.messages == sum(1 for count in to_others if count)
        assert traffic.bytes == sum(to_others) * dtype.itemsize
        assert traffic.collectives == 1 + rounds


def test_no_call_of_mpi_is_larger_than_the_limit() -> None:
    sizes: list[int] = []

    def work(communicator: Communicator) -> None:
        comm = communicator._comm
        real = comm.Alltoallv

        def counted(sent: Any, received: Any) -> None:
            sizes.extend([len(sent[0]), len(received[0])])
            real(sent, received)

        comm.Alltoallv = counted
        communicator.exchange([np.arange(100 * communicator.rank)] * 3)

    run_ranks(3, work, 0, round_bytes=1000)
    assert 900 < max(sizes) <= 1000


def test_reductions() -> None:
    def work(communicator: Communicator) -> Any:
        rank = communicator.rank
        pair = communicator.reduce(np.array([rank, -rank]), "sum")
        low = communicator.reduce(np.float32(rank + 0.5), "min")
        return pair.tolist(), low, communicator.reduce(rank, "max"), communicator.gather_all(rank)

    assert run_ranks(4, work, 3) == [([6, -6], 0.5, 3, [0, 1, 2, 3])] * 4


def test_one_process_needs_no_mpi() -> None:
    alone = Communicator()
    assert [part.tolist() for part in alone.exchange([np.arange(3)])] == [[0, 1, 2]]
    assert [part.tolist() for part in alone.gather_arrays(np.arange(2), [2])] == [[0, 1]]
    assert (alone.reduce(2.5, "max"), alone.gather_all("x")) == (2.5, ["x"])
    alone.barrier()
    assert (alone.messages, alone.bytes_sent) == (0, 0)
    with pytest.raises(SystemExit):
        alone.abort("no reason")


def test_without_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mpi4py", None)
    with pytest.raises(kl.RequestError, match=r"kleene\[mpi\]"):
        MpiCommunicator()


# ---- errors --------------------------------------------------------------------------------------


def test_an_error_of_one_rank_is_raised_by_all() -> None:
    def check(communicator: Communicator) -> int:
        if communicator.rank == 2:
            raise kl.NegativeCycleError([1, 2])
        return communicator.rank

    def work(communicator: Communicator) -> list[int]:
        with pytest.raises(kl.NegativeCycleError) as error, guarded(communicator, "a test"):
            agreed(communicator, lambda: check(communicator))
        return list(error.value.cycle)

    assert run_ranks(4, work) == [[1, 2]] * 4


def test_an_error_that_cannot_be_pickled_is_raised_by_all() -> None:
    class Local(Exception):
        pass

    def check(communicator: Communicator) -> None:
        if communicator.rank == 1:
            raise Local("odd")

    def work(communicator: Communicator) -> str:
        with pytest.raises(Exception, match="odd") as error:
            agreed(communicator, lambda: check(communicator))
        return type(error.value).__name__

    assert run_ranks(2, work) == ["RuntimeError", "Local"]


def test_an_error_outside_checks_ends_the_job(capsys: pytest.CaptureFixture[str]) -> None:
    def work(communicator: Communicator) -> None:
        with guarded(communicator, "a test"):
            communicator.barrier()
            if communicator.rank == 1:
                raise ZeroDivisionError("by nought")
            communicator.barrier()

    with pytest.raises(Aborted):
        run_ranks(3, work)
    error = capsys.readouterr().err
    assert error.startswith(
        "kleene: rank 1 of 3 failed in a test: ZeroDivisionError: by nought (test_communicator.py:"
    )
    assert error.count("\n") == 1
    with pytest.raises(ZeroDivisionError), guarded(Communicator(), "a job of one rank"):
        raise ZeroDivisionError


# ---- the fake ranks ------------------------------------------------------------------------------


def test_a_deadlock_says_where_every_rank_waits() -> None:
    def work(communicator: Communicator) -> None:
        communicator.barrier()
        if communicator.rank == 1:
            return
        communicator.gather_all(0)

    with pytest.raises(Deadlock) as error:
        run_ranks(3, work)
    assert "rank 1 has ended" in str(error.value)
    assert "rank 2 waits in allgather (collective 1, test_communicator.py:" in str(error.value)
    assert str(error.value).count("for ranks [1]") == 2


def test_an_error_that_others_wait_for_is_reported() -> None:
    def work(communicator: Communicator) -> None:
        if communicator.rank == 1:
            raise ZeroDivisionError
        communicator.barrier()

    with pytest.raises(ZeroDivisionError):
        run_ranks(3, work)


def test_collectives_that_do_not_match_are_noticed() -> None:
    def other_call(communicator: Communicator) -> None:
        communicator.reduce(0, "sum") if communicator.rank else communicator.gather_all(0)

    def other_count(communicator: Communicator) -> None:
        communicator.gather_arrays(np.arange(communicator.rank), [1, 1])

    with pytest.raises(Mismatch, match=r"is in (allgather|Allgather)"):
        run_ranks(2, other_call)
    with pytest.raises(Mismatch, match=r"Allgatherv: rank . expects"):
        run_ranks(2, other_count)


def test_schedules_differ_by_their_seed() -> None:
    """Ranks do come several collectives apart."""

    def orders(seed: int) -> tuple[tuple[int, int], ...]:
        seen: list[tuple[int, int]] = []

        def work(communicator: Communicator) -> None:
            for step in range(4):
                seen.append((communicator.rank, step))
                communicator.exchange([np.empty(0)] * 3)

        run_ranks(3, work, seed)
        return tuple(seen)

    assert orders(1) == orders(1)
    assert len({orders(seed) for seed in range(10)}) > 5


# ---- partitions ----------------------------------------------------------------------------------


@given(st.integers(0, 50), st.integers(1, 9))
def test_even_partitions(n: int, ranks: int) -> None:
    partition = Partition.even(n, ranks)
    assert (partition.n, partition.ranks) == (n, ranks)
    assert partition.sizes.max() - partition.sizes.min() <= 1
    for rank in range(ranks):
        first, stop = partition.range(rank)
        assert (partition.owner(np.arange(first, stop)) == rank).all()


def test_partitions_of_many_vertices() -> None:
    partition = Partition.even(2**33, 3)
    assert partition.position_dtype == np.int64
    narrow = Partition.even(2**33, 8)
    assert narrow.position_dtype == np.int32
    assert narrow.vertices(np.array([5], dtype=np.int32), 7).tolist() == [7 * 2**30 + 5]
    assert partition != narrow
    assert narrow == Partition(narrow.bounds)
    assert len({narrow, Partition(narrow.bounds)}) == 1
    for wrong in ([0], [1, 2], [0, 2, 1], [[0, 1]]):
        with pytest.raises(kl.GraphError, match="bounds"):
            Partition(wrong)


@given(st.lists(st.integers(0, 19), max_size=40), st.integers(0, 3))
def test_slots_of_heads(heads: list[int], rank: int) -> None:
    partition = Partition([0, 5, 5, 12, 20])
    first, stop = partition.range(rank)
    slots, ghosts = number_heads(partition, rank, np.array(heads, dtype=np.int32))
    assert ghosts.tolist() == sorted({v for v in heads if not first <= v < stop})
    vertices = [*range(first, stop), *ghosts.tolist()]
    assert [vertices[slot] for slot in slots.tolist()] == heads


@pytest.mark.parametrize("make", [os.pipe, socket.socketpair])
def test_a_rank_is_heard_before_it_ends_the_job(
    make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left in the pipe to mpiexec when the job is aborted is lost."""
    read, written = (end if isinstance(end, int) else end.detach() for end in make())
    heard: list[bytes] = []

    def listen() -> None:
        time.sleep(0.1)
        heard.append(os.read(read, 1000))

    class Aborts:
        def Get_rank(self) -> int:  # noqa: N802
            return 1

        def Get_size(self) -> int:  # noqa: N802
            return 3

        def Abort(self, code: int) -> None:  # noqa: N802
            raise SystemExit(list(heard))

    launcher = threading.Thread(target=listen)
    with open(written, "w") as stderr, open(read, "rb"):
        monkeypatch.setattr(sys, "stderr", stderr)
        launcher.start()
        with pytest.raises(SystemExit) as ended:
            Communicator(Aborts()).abort("rank 1 of 3 failed")
        launcher.join()
    assert ended.value.code == [b"kleene: rank 1 of 3 failed; the job ends\n"]


def test_a_launcher_that_does_not_read_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "PATIENCE", 0.05)
    read, written = os.pipe()
    with open(read, "rb") as launcher:
        with open(written, "w") as stderr:
            monkeypatch.setattr(sys, "stderr", stderr)
            began = time.monotonic()
            launch.deliver("first")
            assert time.monotonic() - began >= 0.05
        launch.deliver("closed")
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        launch.deliver("no file")
        assert launcher.read() == b"first\n"
