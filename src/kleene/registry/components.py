"""Rows for the weak and strong components of a graph."""

from __future__ import annotations

from kleene.registry.method import Method, Size

__all__ = ["ROWS"]


def _answer(size: Size) -> int:
    """A number for each vertex, and a size for each component."""
    return 16 * size.n


def _weak_workspace(size: Size) -> int:
    """Numbers in two orders."""
    return 24 * size.n


def _strong_workspace(size: Size) -> int:
    """The same, two searches, the stacks of a depth-first search, and the incoming arcs."""
    return 80 * size.n + 16 * size.m


ROWS = (
    Method(
        "weak_components",
        "afforest",
        "cpu",
        "union-find on all cores; the largest component skips most of its arcs",
        "Sutton 2018",
        "kleene.backends.cpu.components:afforest",
        _weak_workspace,
        answer=_answer,
        makes=("value",),
        cuts="never",
    ),
    Method(
        "strong_components",
        "forward_backward",
        "cpu",
        "searches both ways from a vertex of many arcs, then depth first; all cores, then one",
        "Fleischer 2000, Tarjan 1972",
        "kleene.backends.cpu.components:forward_backward",
        _strong_workspace,
        answer=_answer,
        makes=("value",),
        cuts="never",
    ),
)
