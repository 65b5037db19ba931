"""The calls that the campaign interrupts, makes from many threads, and repeats for hours."""

from __future__ import annotations

import inspect
import signal
from pathlib import Path

import pytest

import kleene as kl
from kleene.backends.cuda.tuning import transfers
from torture import interrupts, public_calls, threads


def test_every_public_function_is_called() -> None:
    """A function that is missing here is neither interrupted nor called from several threads."""
    text = Path(public_calls.__file__).read_text()
    functions = [name for name in kl.__all__ if inspect.isfunction(getattr(kl, name))]
    assert [name for name in functions if f"kl.{name}" not in text] == []


def test_calls_from_threads_have_the_answers_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")  # all_calls sets both, for the process
    monkeypatch.setattr(transfers, "PINNED_LEAST", 16)
    calls = {call.name: call for call in public_calls.all_calls(tmp_path)}
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
