"""Weak and strong components: ``native/core/components``."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import ComponentsTask

__all__ = ["afforest", "forward_backward"]

Array = NDArray[Any]


def afforest(task: ComponentsTask) -> tuple[Array, Array]:
    """Return the weak component of each vertex, and the sizes."""
    g = task.graph
    return _native.weak_components(g.offsets, g.neighbors, not g.directed, task.threads)


def forward_backward(task: ComponentsTask) -> tuple[Array, Array]:
    """Return the strong component of each vertex, and the sizes."""
    g = task.graph
    if not g.directed:  # every arc leads back
        return afforest(task)
    if task.threads == 1:  # depth first, which needs no incoming arcs
        return _native.strong_components(g.offsets, g.neighbors, None, None, 1)
    offsets, neighbors, _ = g.csc
    return _native.strong_components(g.offsets, g.neighbors, offsets, neighbors, task.threads)
