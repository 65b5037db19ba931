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
    incoming = g.csc[:2] if task.threads > 1 else (None, None)
    return _native.strong_components(g.offsets, g.neighbors, *incoming, task.threads)
