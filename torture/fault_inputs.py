"""What calls that faults are put into share: graphs, arrays, and how a call is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl
from kleene.graph.core import Graph

__all__ = ["Call", "Case", "circle", "edges", "heavy", "matrix", "on", "small", "sparse", "tiny"]

Call = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A call: ``prepare`` makes its arguments, in a folder of its own, and returns the call."""

    name: str
    prepare: Callable[[Path], Call]
    final: str | None = None  # the file that it writes
    replaces: bool = True  # a file that is there; answers by ``out=`` refuse it
    device: str = "cpu"
    leaves: tuple[str, ...] = ()  # files that may stay after a fault, for the next call


def sparse() -> Graph:
    """Return a graph with enough arcs for a team of threads."""
    return kl.generate.uniform(900, 14_000, weights=(1, 8), seed=1, threads=1)


def small(n: int = 150) -> Graph:
    return kl.generate.uniform(n, 8 * n, weights=(1, 8), seed=2, threads=1)


def heavy(n: int = 150) -> Graph:
    """Return a graph whose longest path might need 64 bits."""
    return kl.generate.uniform(n, 8 * n, weights=(1, 2**24), seed=2, threads=1)


def tiny() -> Graph:
    return kl.generate.uniform(40, 160, weights=(1, 8), seed=3, threads=1)


def matrix(n: int = 60) -> np.ndarray[Any, Any]:
    return np.random.default_rng(4).random((n, n))


def circle() -> tuple[Any, ...]:
    """Return an answer whose predecessors run in a circle, and its arcs."""
    g = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 1, 3, 2], [1.0, 0.0, 0.0, 0.0, 0.0], n=4)
    values, predecessors = np.array([[0.0, 1, 1, 1]]), np.array([[-1, 2, 3, 2]], np.int32)
    return np.zeros(1, np.int32), values, predecessors, g.csr, g.csc


def edges() -> tuple[Any, Any, Any]:
    random = np.random.default_rng(6)
    return (*random.integers(0, 500, (2, 9000)), random.random(9000))


def on(make: Callable[[], Any], call: Callable[[Any], Any]) -> Callable[[Path], Call]:
    """Return a preparation: the call gets a new object each time."""

    def prepare(_: Path) -> Call:
        made = make()
        return lambda: call(made)

    return prepare
