"""One check for many methods: the first answer is verified, the others must equal it.

Integer distances have one right answer, so that equality with a verified one is a proof; and it
takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl

__all__ = ["SharedCheck"]


class SharedCheck:
    """Verified answers about one size after the other; those of the latest are kept."""

    def __init__(self, rows: int = 4) -> None:
        self._rows = rows  # that are verified, of an answer with more; all must be equal
        self._about: Hashable = None
        self._right: dict[tuple[Hashable, bytes], NDArray[Any]] = {}

    def about(self, key: Hashable, graph: Hashable = None) -> Callable[[kl.Result], str]:
        """Return a check of answers about one graph, or about one of several of a size."""
        return partial(self._check, key, graph)

    def _check(self, key: Hashable, graph: Hashable, result: kl.Result) -> str:
        if result.distances.dtype.kind not in "iu":
            raise TypeError("floats may be rounded in different ways: verify each answer")
        if key != self._about:
            self._about, self._right = key, {}
        question = (graph, result.sources.tobytes())
        right = self._right.get(question)
        if right is None:
            result.verify(sample=min(self._rows, len(result.sources)))
            self._right[question] = result.distances
        elif not np.array_equal(result.distances, right):
            raise AssertionError(f"{result!r} has other distances than a verified answer")
        return "equal to a verified answer"
