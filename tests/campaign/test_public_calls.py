"""The calls that the campaign interrupts, makes from many threads, and repeats for hours."""

from __future__ import annotations

import inspect
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kleene as kl
from _kleene_networkx import get_info
from kleene.backends.cuda.tuning import transfers
from kleene.interop import networkx
from kleene.io.files import FORMATS
from torture import interrupts, public_calls, threads
from torture.public_calls import Call


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Call]:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")  # all_calls sets both, for the process
    monkeypatch.setattr(transfers, "PINNED_LEAST", 16)
    return {call.name: call for call in public_calls.all_calls(tmp_path)}


def _public_functions() -> dict[str, Any]:
    """Return what the campaign must call, by name."""
    owners: dict[str, tuple[Any, Iterable[str]]] = {
        "kl": (kl, kl.__all__),
        "kl.generate": (kl.generate, kl.generate.__all__),
        "kl.csgraph": (kl.csgraph, kl.csgraph.__all__),
        "NetworkX": (networkx, get_info()["functions"]),
        "PreparedGraph": (kl.PreparedGraph, dir(kl.PreparedGraph)),
        "Graph": (kl.Graph, [name for name in dir(kl.Graph) if name.startswith(("from_", "to_"))]),
        "Result": (kl.Result, [name for name in dir(kl.Result) if name.startswith("to_")]),
    }
    found = {
        f"{owner}.{name}": inspect.unwrap(getattr(value, "__func__", value))
        for owner, (holder, names) in owners.items()
        for name in names
        if not name.startswith("_") and callable(value := getattr(holder, name))
    }
    ours = {name: f for name, f in found.items() if f.__module__.startswith("kleene.")}
    return {name: function for name, function in ours.items() if inspect.isfunction(function)}


def test_every_public_function_is_called(calls: dict[str, Call]) -> None:
    """A function that is missing there is neither interrupted nor called from several threads."""
    wanted = {function.__code__: name for name, function in _public_functions().items()}
    assert len(wanted) > 150

    def entered(frame: FrameType, event: str, _: Any) -> None:
        wanted.pop(frame.f_code, None)

    sys.setprofile(entered)
    try:
        for call in calls.values():
            call.do()
    finally:
        sys.setprofile(None)
    assert sorted(wanted.values()) == []


def test_every_format_is_read(calls: dict[str, Call]) -> None:
    text = " ".join(calls)
    assert [name for name in FORMATS if f"read {name}" not in text] == []


def test_calls_from_threads_have_the_answers_of_one(calls: dict[str, Call]) -> None:
    some = [calls[name] for name in ("load_prepared", "labels", "prepared path", "read g.npz")]
    right = {call.name: call.do() for call in some}
    for number in range(2 * len(some)):
        made, failures = threads.make_round(some, right, number, 1)
        assert made > 0
        assert failures == []


def test_stores_that_are_interrupted_have_blocks_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of one block is a plain file without a ledger, and the next call refuses it."""
    monkeypatch.setenv("KLEENE_PIECE_SECONDS", "1")  # which is changed for the process
    stores = interrupts.measured_stores(tmp_path)
    assert {path.suffix for path, _ in stores} == {".npy", ".zarr"}
    for _, case in stores:
        assert case.call.do() == case.right == case.call.do()


def test_an_interrupt_comes_at_the_place_that_was_chosen() -> None:
    before = signal.getsignal(signal.SIGALRM)
    interrupter = interrupts.Interrupter()
    signal.signal(signal.SIGALRM, before)

    def do() -> str:
        return "".join(["a", "b"]).upper()

    steps = interrupter.steps(do)
    assert steps > 2
    for step in range(1, steps + 1):
        interrupter.came = 0.0
        try:
            interrupter.at_step(do, step)
        except KeyboardInterrupt:
            assert interrupter.came > 0.0
    interrupter.came = 0.0
    assert interrupter.at_step(do, steps + 10) == "AB"
    assert interrupter.came == 0.0


@pytest.mark.parametrize(("slower", "late"), [(1, True), (1.5, True), (3, False)])
def test_a_call_that_ends_late_fails_unless_the_machine_is_as_much_slower(
    slower: float, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGALRM)
    interrupter = interrupts.Interrupter()
    signal.signal(signal.SIGALRM, before)
    monkeypatch.setattr(interrupts, "_work", lambda: 0.25)
    watched = interrupts.Watched(tmp_path, interrupter)
    monkeypatch.setattr(interrupts, "_work", lambda: 0.25 * slower)

    def interrupted() -> None:
        interrupter.came = time.monotonic() - 2.0
        raise KeyboardInterrupt

    watched.interrupt("a call", interrupted, None)
    assert watched.failures == (["a call: ends 2.0 s after Ctrl-C"] if late else [])
