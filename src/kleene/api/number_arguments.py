"""Numbers among the arguments: counts, and how many vertices to draw; checked once."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError
from kleene.graph import Graph

__all__ = ["as_count", "sample_vertices"]


def as_count(value: Any, name: str) -> int:
    """Return a whole number from 1 on."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if not 1 <= count < 2**62:
        raise RequestError(Code(name), f" must be a whole number from 1 on, not {value!r}")
    return count


def sample_vertices(
    graph: Graph, samples: Any, sources: Any, chance: np.random.Generator
) -> NDArray[Any]:
    """Return the positions of random vertices, in order: so many, or all if there are fewer.

    They are instead of ``sources``, which must not be given.
    """
    if sources is not None:
        raise RequestError("give either ", Code("sources="), " or ", Code("samples="), ", not both")
    count = min(as_count(samples, "samples"), graph.n)
    return np.sort(chance.choice(graph.n, count, replace=False)).astype(graph.id_dtype)
