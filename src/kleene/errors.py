"""Every error that Kleene raises on purpose.

``KleeneError`` is at the root, so ``except kleene.KleeneError`` catches them all; where Python has
a fitting built-in class, the error is one of those too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "ClusterError",
    "DeviceError",
    "FormatError",
    "GraphError",
    "GraphWarning",
    "KernelError",
    "KleeneError",
    "MemoryBudgetError",
    "NegativeCycleError",
    "PathOverflowError",
    "RequestError",
    "StorageError",
    "StoreError",
    "VerificationError",
]


class KleeneError(Exception):
    """Root of all errors that Kleene raises on purpose."""


class GraphError(KleeneError, ValueError):
    """The data given cannot be a graph, or this graph does not admit what was asked."""


class PathOverflowError(GraphError, OverflowError):
    """Path lengths may exceed what is safe in the widest type there is; nothing was computed."""


class FormatError(KleeneError, ValueError):
    """A file is not what its format requires; the message starts with ``file:line:``."""


class RequestError(KleeneError, ValueError):
    """An argument of a call is wrong, or its arguments contradict each other."""


class NegativeCycleError(KleeneError):
    """The graph has a cycle of negative length, so some distances have no lower bound.

    Attributes
    ----------
    cycle : list
        The vertices of one such cycle, in order, by label where the graph has labels; the last has
        an arc back to the first.
    """

    def __init__(self, cycle: Sequence[Any]) -> None:
        self.cycle = [v.item() if hasattr(v, "item") else v for v in cycle]
        shown = [str(v) for v in self.cycle[:10]]
        if len(self.cycle) > 10:
            shown.append(f"... ({len(self.cycle)} vertices)")
        super().__init__(
            f"the graph has a negative cycle: {' -> '.join([*shown, str(self.cycle[0])])}. "
            "Shortest paths through it have no lower bound; the error's .cycle lists its vertices"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cycle,)


class ClusterError(KleeneError, RuntimeError):
    """A cluster does not answer, or work failed on a worker, which the message names."""


class DeviceError(KleeneError, RuntimeError):
    """The device asked for is not there or cannot do what was asked."""


class KernelError(DeviceError):
    """A kernel, or the loop that launches it, broke a rule that the emulator checks."""


class MemoryBudgetError(KleeneError, MemoryError):
    """The answer would not fit in memory, or the system gave no more; nothing of it is kept.

    Attributes
    ----------
    problem : str
        What needs how much, and how much there is.
    advice : tuple of str
        What makes it fit, in keywords that the call has: ``"predecessors=False"``.
    """

    def __init__(self, problem: str, advice: Sequence[str] = ()) -> None:
        self.problem, self.advice = problem, tuple(advice)
        fit = f"; what makes it fit: {', or '.join(self.advice)}" if self.advice else ""
        super().__init__(problem + fit)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.advice)


class StorageError(KleeneError, OSError):
    """A file could not be written: the disk is full, say. Nothing is left under its name."""


class StoreError(KleeneError, ValueError):
    """A store, or its ledger, belongs to another call, is in use, or is damaged."""


class GraphWarning(UserWarning):
    """The input can be read in two ways; the message says which was taken, and names the other."""


class VerificationError(KleeneError, AssertionError):
    """``verify()`` found that a result is wrong."""
