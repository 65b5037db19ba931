"""The error that both SciPy's users and ours catch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import scipy.sparse.csgraph

from kleene import errors

__all__ = ["NegativeCycleError", "renamed_cycles"]


class NegativeCycleError(errors.NegativeCycleError, scipy.sparse.csgraph.NegativeCycleError):  # type: ignore[misc]
    """The graph has a cycle of negative length; an error of SciPy's kind and of Kleene's.

    Attributes
    ----------
    cycle : list of int
        The vertices of one such cycle, in order; the last has an arc back to the first.
    """

    def __init__(self, message: str = "", cycle: Sequence[int] = ()) -> None:
        Exception.__init__(self, message)
        self.cycle = [int(v) for v in cycle]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.cycle)


@contextmanager
def renamed_cycles(message: str = "Negative cycle detected on node {0}") -> Iterator[None]:
    """Turn Kleene's error into the one above; {0} is the first vertex of the cycle, {1} are all."""
    try:
        yield
    except errors.NegativeCycleError as error:
        nodes = f"[{' '.join(map(str, sorted(error.cycle)))}]"
        shown = message.format(error.cycle[0], nodes)
        raise NegativeCycleError(f"{shown}: {error}", error.cycle) from None
