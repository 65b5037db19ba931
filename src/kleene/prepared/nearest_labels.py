"""The nearest facilities of every vertex of an eliminated graph: ``nearest_labels.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import Progress
from kleene.graph.no_path import no_path
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.machine import threads_for

__all__ = ["nearest_labels"]

Array = NDArray[Any]


def nearest_labels(
    elimination: Elimination,
    customization: Customization,
    facilities: Array,
    k: int,
    *,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """Return the distances of every vertex from its k nearest facilities, and which these are.

    Lengths are integers and not negative. Facilities at the same distance come in the order of
    their list; where there are fewer than k, "no path" and -1 follow.
    """
    compute = customization.up.dtype
    most = np.iinfo(compute).max
    distances = np.empty((elimination.n, k), dtype=compute)
    which = np.empty((elimination.n, k), dtype=np.int32)
    _native.prepared_nearest_labels(
        elimination.offsets,
        elimination.heads,
        elimination.parents,
        elimination.sizes,
        *elimination.lower,
        customization.up,
        customization.down,
        elimination.ranks[facilities],
        most if limit is None else min(limit, most),
        distances,
        which,
        threads_for(k * elimination.arcs, threads),
        progress,
    )
    which = which[elimination.ranks]
    values = distances[elimination.ranks].astype(customization.dtype, copy=False)
    values[which < 0] = no_path(customization.dtype)
    return values, which
