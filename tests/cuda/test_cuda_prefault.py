"""Output arrays are prefaulted while the device works."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime import host_buffers
from kleene.backends.cuda.tuning import transfers


def test_every_page_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PREFAULT_LEAST", 2**15)
    monkeypatch.setattr(transfers, "PREFAULT_PIECE", 2**13)
    values = np.full((3, 10_000), 7, np.int32)
    small = np.full(5, 7, np.int8)
    with host_buffers.prefault(2, values[1], None, small):
        pass
    assert (values[[0, 2]] == 7).all(), "other rows are unchanged"
    pages = values[1].view(np.uint8)[:: transfers.PAGE]
    assert (pages == 0).all()
    assert small[0] == 0


def test_small_arrays_are_left_alone() -> None:
    before = threading.active_count()
    values = np.full(100, 7)
    with host_buffers.prefault(2, values):
        assert threading.active_count() == before
    assert (values == 7).all()


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
def test_answers_are_right_with_it(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PREFAULT_LEAST", 1)
    monkeypatch.setattr(transfers, "PINNED_MOST", 0)
    g = kl.generate.grid(9, 9, seed=1, weights=(1, 5))
    result = getattr(kl, problem)(g, sources=[0, 40], device="emulated")
    result.verify()
