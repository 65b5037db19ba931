"""A graph and four emulated devices, for the tests of split sources."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.engine import devices

FOUR = [f"emulated:{i}" for i in range(4)]
SOURCES = [5, 0, 17, 5, 39, 2, 8, 21, 30, 11, 12]


def all_take_a_piece(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many devices wait for each other when they have their first piece."""
    barrier = threading.Barrier(count, timeout=30)

    def opened(name: str) -> Any:
        barrier.wait()
        return open_device(name)

    monkeypatch.setattr(devices, "open_device", opened)


def town(weighted: bool = True, negative: bool = False) -> kl.Graph:
    """Return a graph with a part that not every source reaches, and ties."""
    rng = np.random.default_rng(3)
    s, t = rng.integers(0, 36, (2, 130))
    s, t = np.append(s, [37, 38, 39]), np.append(t, [38, 39, 37])
    if not weighted:
        return kl.Graph.from_edges(s, t, n=40)
    weights = rng.integers(0, 5, len(s))
    if negative:
        heights = rng.integers(0, 9, 40)
        weights = weights + heights[t] - heights[s]
    return kl.Graph.from_edges(s, t, weights, n=40)
