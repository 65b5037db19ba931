"""Pieces of split sources: memory of each device, errors, interrupts, progress, timings."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from split_devices import FOUR, SOURCES, all_take_a_piece, town

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.engine import devices, pieces
from kleene.engine.devices import share_pieces
from kleene.engine.pieces import Piece, shrinking
from kleene.errors import KernelError

pytest.importorskip("kleene._emulator")


def split_rows(names: list[str], total: int, work: Any, every: bool = True) -> list[Any]:
    """Let devices work on slices of so many rows; return what each did."""

    def on_slice(device: str, piece: Piece, report: Any) -> None:
        work(device, slice(piece.first, piece.stop), report)

    return share_pieces(names, shrinking(total, len(names)), on_slice, every=every)


@pytest.fixture(autouse=True)
def four_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "4")
    monkeypatch.setattr(pieces, "_LEAST", 2)  # several pieces for each device


# ---- memory -------------------------------------------------------------------------------------


def test_memory_of_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each device keeps within its budget, whatever the others take; nothing stays behind."""
    g = kl.generate.uniform(300, 2000, weights=(1, 9), seed=2)
    opened = [open_device(name) for name in FOUR]
    before = [device.allocated for device in opened]
    for device in opened:
        device.peak = device.allocated
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "900K")
    all_take_a_piece(4, monkeypatch)
    found = kl.apsp(g, method="batched", device="emulated")
    assert found.distances.tolist() == kl.apsp(g, device="cpu").distances.tolist()
    for device, used in zip(opened, before, strict=True):
        assert used < device.peak <= 900 * 2**10
        assert device.allocated == used
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "9K")
    with pytest.raises(kl.MemoryBudgetError, match="needs"):
        kl.apsp(g, method="batched", device="emulated")


def test_a_device_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others do its work, unless it was asked for."""
    all_take_a_piece(4, monkeypatch)
    full = open_device("emulated:1")
    held = full.empty(full.free_memory(), np.uint8, "all of it")
    g = town()
    found = kl.sssp(g, sources=SOURCES, method="batched", device="emulated")
    assert found.distances.tolist() == kl.sssp(g, sources=SOURCES, device="cpu").distances.tolist()
    assert "0 rows by emulated:1" in found.plan.reasons[-1]
    all_take_a_piece(2, monkeypatch)
    with pytest.raises(kl.MemoryBudgetError, match="emulated:1"):
        kl.sssp(g, sources=SOURCES, method="batched", device="emulated", devices=[0, 1])
    del held


# ---- errors, interrupts, progress, timings ------------------------------------------------------


def test_negative_cycles() -> None:
    table = {
        "source": list("abcdef"), "target": list("bcaede"), "weight": [1, 1, -3, 1, 1, 1],
    }  # fmt: skip
    g = kl.Graph.from_table(table)
    with pytest.raises(kl.NegativeCycleError) as caught:
        kl.sssp(g, sources=list("ddeab"), method="bellman_ford", device="emulated")
    assert sorted(caught.value.cycle) == list("abc")
    found = kl.sssp(g, sources=list("deff"), method="bellman_ford", device="emulated")
    assert found.distances.shape == (4, 6)


def test_an_error_on_one_device() -> None:
    """It is raised once, after the others have stopped; the next call works."""
    stopped: list[str] = []
    all_run = threading.Barrier(4)

    def work(device: str, rows: slice, report: Any) -> None:
        all_run.wait(10)
        if device == "emulated:2":
            raise KernelError("it broke")
        try:
            for _ in range(10_000):  # until the error stops it
                report(0, 1)
                time.sleep(0.001)
        except BaseException:
            stopped.append(device)
            raise

    with pytest.raises(KernelError, match="it broke"):
        split_rows(FOUR, 1000, work)
    assert sorted(stopped) == [FOUR[0], FOUR[1], FOUR[3]]
    assert not [t for t in threading.enumerate() if t.name.startswith("kleene-device")]
    with pytest.raises(ZeroDivisionError):
        split_rows(FOUR, 7, lambda device, rows, report: 1 // 0)


def test_more_devices_than_rows() -> None:
    done: list[int] = []
    split_rows(FOUR, 2, lambda device, rows, report: done.extend(range(2)[rows]))
    assert sorted(done) == [0, 1]


@pytest.mark.parametrize("least", [1, 3, 1024])
def test_pieces_cover_all_rows(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_LEAST", least)
    done: list[int] = []
    for total in (1, 4, 5, 97):
        done.clear()
        shares = split_rows(
            FOUR[:3], total, lambda device, rows, report: done.extend(range(100)[rows])
        )
        assert sorted(done) == list(range(total))
        assert sum(share.rows for share in shares) == total


def test_a_device_that_gives_up_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that have nothing left to do wait for the piece of one that may fail."""
    monkeypatch.setattr(devices, "_WAIT", 0.01)
    all_take_a_piece(4, monkeypatch)

    def work(device: str, rows: slice, report: Any) -> None:
        if device == "emulated:0":
            time.sleep(0.2)  # the others are done by then
            raise kl.MemoryBudgetError("no memory")

    shares = split_rows(FOUR, 8, work, every=False)
    assert sum(share.rows for share in shares) == 8
    assert shares[0].rows == 0
    all_take_a_piece(1, monkeypatch)
    with pytest.raises(kl.MemoryBudgetError):
        split_rows(FOUR[:1], 8, work, every=False)


def test_progress_is_summed() -> None:
    seen: list[tuple[int, int]] = []
    threads: set[int] = set()

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        threads.add(threading.get_ident())

    kl.apsp(town(), method="batched", device="emulated", progress=progress)
    assert seen[-1] == (40, 40)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert threads == {threading.get_ident()}

    def fails(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kl.apsp(town(), method="batched", device="emulated", progress=fails)


def test_timings_are_merged() -> None:
    stats = kl.bfs(town(), sources=SOURCES, method="frontier", device="emulated").stats
    assert 0 < stats.copy_in < stats.total
    assert 0 < stats.compute < stats.total


INTERRUPTED = """
import os, signal, threading, time
import kleene as kl
g = kl.generate.uniform(3000, 40_000, weights=(1, 9), seed=1)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    kl.sssp(g, sources=range(3000), method="near_far", device="emulated")
except KeyboardInterrupt:
    print("interrupted", [t.name for t in threading.enumerate() if "device" in t.name])
"""


def test_ctrl_c() -> None:
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        timeout=600,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted []\n", "")


def test_devices_that_all_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is left out in silence, whoever gives up first."""
    for _ in range(20):
        all_take_a_piece(4, monkeypatch)
        both = threading.Barrier(4, timeout=30)

        def work(device: str, rows: slice, report: Any, both: Any = both) -> None:
            both.wait()
            raise kl.MemoryBudgetError("no memory")

        with pytest.raises(kl.MemoryBudgetError):
            split_rows(FOUR, 8, work, every=False)
