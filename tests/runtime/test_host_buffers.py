"""Page-locked memory of answers: used again, never while it is in use, and bounded."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime.cuda_memory import DeviceMemory, PinnedMemory
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.runtime.emulated_memory import EmulatedMemory
from kleene.backends.cuda.runtime.host_buffers import (
    PinnedPool,
    _Lease,
    answer_buffer,
    pinned_buffer,
    pinned_pool,
)
from kleene.backends.cuda.tuning import transfers


@pytest.fixture(autouse=True)
def small_answers_are_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PINNED_LEAST", 0)
    monkeypatch.setattr(transfers, "OVERLAP_LEAST", 0)


@pytest.fixture
def device() -> Any:
    """A device with a pool of its own."""
    return EmulatedDevice()


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def test_a_block_is_used_again_when_its_arrays_are_gone(device: Any) -> None:
    first = answer_buffer(device, (3, 5), np.int32)
    array, view = first.array, first.array[1]
    assert type(array) is np.ndarray
    assert array.flags.c_contiguous
    assert array.flags.writeable
    where = address(array)
    del first, array
    assert address(answer_buffer(device, (3, 5), np.int32).array) != where, "a view is alive"
    pool = pinned_pool(device)
    del view
    assert pool.idle_bytes == pool.bytes == 120
    assert {address(answer_buffer(device, (15,), np.float32).array) for _ in range(3)} <= {
        where,
        where,
    } | {address(answer_buffer(device, (15,), np.float32).array)}
    assert pool.bytes == 120, "nothing new was locked"


def test_all_that_is_locked_is_bounded(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PINNED_CAP", 1000)
    pool = pinned_pool(device)
    kept = [answer_buffer(device, (100,), np.int32) for _ in range(5)]
    assert [buffer.lease is not None for buffer in kept] == [True, True, False, False, False]
    assert pool.bytes == 800
    kept[0].array[...] = 7
    del kept[1:]
    assert (pool.bytes, pool.idle_bytes) == (800, 400)
    other = answer_buffer(device, (150,), np.int32)  # the idle block makes room
    assert other.lease is not None
    assert (pool.bytes, pool.idle_bytes) == (1000, 0)
    assert (kept[0].array == 7).all()
    staging = pinned_buffer(device, 500)
    assert staging.lease is None
    assert staging.target.nbytes == 500


def test_what_is_kept_for_later_is_bounded(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PINNED_IDLE", 1000)
    pool = pinned_pool(device)
    buffers = [answer_buffer(device, (size,), np.uint8) for size in (300, 400, 500)]
    assert pool.bytes == 1200
    while buffers:
        buffers.pop(0)
    assert (pool.bytes, pool.idle_bytes) == (900, 900), "the oldest was freed"
    pool.clear()
    assert (pool.bytes, pool.idle_bytes) == (0, 0)


def test_large_answers_and_their_own_memory_are_left_alone(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "PINNED_MOST", 99)
    assert answer_buffer(device, (25,), np.int32).lease is None
    own = np.empty(10, np.int32)
    assert answer_buffer(device, (10,), np.int32, own).array is own
    assert answer_buffer(device, (0, 7), np.int32).array.shape == (0, 7)
    assert pinned_pool(device).bytes == 0


def test_memory_that_cannot_be_locked(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: EmulatedDevice, shape: Any, dtype: Any) -> Any:
        raise kl.DeviceError("a limit")

    monkeypatch.setattr(EmulatedDevice, "pinned", refuse)
    assert answer_buffer(device, (9,), np.int32).lease is None
    assert pinned_pool(device).bytes == 0


def test_blocks_come_back_within_a_call(device: Any) -> None:
    """A garbage collection may free an array while the pool is locked."""
    pool = pinned_pool(device)
    buffer: Any = answer_buffer(device, (10,), np.uint8)
    with pool.lock:
        del buffer
    assert pool.idle_bytes == 0, "not yet seen"
    block = pool.take(device, 10)
    assert block is not None
    assert pool.bytes == 10


def test_an_interrupted_call_loses_no_count(device: Any) -> None:
    pool = PinnedPool()
    block = pool.take(device, 10)
    del block  # before it had a lease
    assert pool.take(device, 20) is not None
    assert pool.bytes == 0 or pool.bytes == 20
    pool.clear()
    assert pool.bytes == 0


def test_many_threads(device: Any) -> None:
    pool = pinned_pool(device)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        held: list[Any] = []
        for step in range(300):
            array = answer_buffer(device, (int(rng.integers(1, 5)) * 100,), np.int64).array
            array[...] = seed * 1000 + step
            held.append((array, seed * 1000 + step))
            if len(held) > 5:
                kept, value = held.pop(int(rng.integers(6)))
                assert (kept == value).all(), "no other thread had its memory"

    failures: list[BaseException] = []

    def guarded(seed: int) -> None:
        try:
            work(seed)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    gc.collect()
    pool.clear()
    assert (pool.bytes, pool.idle_bytes) == (0, 0)


# ---- answers of calls ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["0", "2", "9"])
@pytest.mark.parametrize("placed", [True, False])
def test_results_do_not_share_memory(
    seed: str, placed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", seed)
    g = kl.generate.grid(9, 9, seed=1, weights=(1, 5))
    there = g.to("emulated") if placed else g
    results = [solve(there, v, device="emulated") for v in range(5) for solve in (kl.bfs, kl.sssp)]
    results += [kl.apsp(there, method="batched", device="emulated")]
    results += [kl.sssp(there, sources=[4, 2, 6], device="emulated")]
    for result in results:
        assert type(result.distances) is np.ndarray
        result.verify()
    pool = pinned_pool(open_device("emulated"))
    before = pool.bytes
    for _ in range(20):
        kl.bfs(there, 0, device="emulated")
    assert pool.bytes <= before + 2 * 4 * 81, "blocks are used again"
    for result in results:
        result.verify()


def test_the_first_copy_of_a_kept_answer_is_pinned() -> None:
    found = kl.bfs(kl.generate.grid(9, 9), 0, device="emulated", keep="device")
    pool = pinned_pool(open_device("emulated"))
    values = found.distances
    assert pool.bytes - pool.idle_bytes >= values.nbytes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_can_call() -> None:
    """Also if a thread of the parent had locked the pool at that moment."""
    program = """
        import os, threading, kleene as kl
        from kleene.backends.cuda.runtime.device import open_device
        from kleene.backends.cuda.runtime.host_buffers import pinned_pool
        from kleene.backends.cuda.tuning import transfers
        transfers.PINNED_LEAST = 0
        g = kl.generate.grid(5, 5)
        right = kl.bfs(g, 0, device="emulated").distances.copy()
        pool = pinned_pool(open_device("emulated"))
        pool.lock.acquire()
        child = os.fork()
        if child == 0:
            same = (kl.bfs(g, 0, device="emulated").distances == right).all()
            os._exit(0 if same else 1)
        print(os.waitpid(child, 0)[1])
    """
    code = textwrap.dedent(program)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=600
    )
    assert ended.stdout.strip() == "0", ended.stderr


def test_an_object_that_ctrl_c_leaves_half_made_goes_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python calls the destructor also where the first line of __init__ was not run."""
    lost: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    for half in (EmulatedMemory, DeviceMemory, PinnedMemory, _Lease):
        made = half.__new__(half)  # type: ignore[call-overload]
        del made
    gc.collect()
    assert lost == []
