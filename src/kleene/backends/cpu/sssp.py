"""Shortest paths from single sources on the CPU; the algorithms are in ``native/core/sssp``."""

from __future__ import annotations

from kleene.backends.answer import Answer
from kleene.backends.common.native_sssp import search
from kleene.backends.task import Task

__all__ = ["bellman_ford", "delta_stepping", "dijkstra", "llp"]


def dijkstra(task: Task) -> Answer:
    """Settle vertices in order of distance; one core a source."""
    return search("dijkstra", task)


def delta_stepping(task: Task) -> Answer:
    """Settle buckets of near distances on all cores; many sources a vector lane each."""
    return search("delta_stepping", task)


def bellman_ford(task: Task) -> Answer:
    """Relax the arcs of the vertices that changed, round after round; find negative cycles."""
    return search("bellman_ford", task)


def llp(task: Task) -> Answer:
    """Raise lower bounds until they equal the best paths found, by incoming arcs."""
    return search("llp", task)
