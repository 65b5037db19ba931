"""The nearest facilities of some sources: ``native/core/prepared/nearest.hpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import Progress
from kleene.graph.no_path import no_path
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.pairs import CLIMB_WORK, climb_tree
from kleene.prepared.sweeps import reverse_values
from kleene.system.machine import threads_for

__all__ = ["limit_inside", "nearest"]

Array = NDArray[Any]


def limit_inside(limit: int | float | None, dtype: np.dtype[Any]) -> Array:
    """Return a limit, as an array of one, in the type that lengths are computed in.

    "No path" is beyond it: half the largest integer, or infinity.
    """
    most = np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max // 2 - 1
    return np.array([most if limit is None else min(limit, most)], dtype=dtype)


def nearest(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    facilities: Array,
    k: int,
    *,
    limit: int | float | None = None,
    reverse: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """Return the distances of each source from its k nearest facilities, and which these are.

    Distances are lengths, and not negative. They lead to the facilities, or from them with
    ``reverse``. Facilities at the same distance come in the order of their list; where there are
    fewer than k within the limit, "no path" and -1 follow.
    """
    c = reverse_values(customization) if reverse else customization
    shape = len(sources), min(k, len(facilities))
    found = np.empty(shape, dtype=c.up.dtype)
    owners = np.full(shape, -1, dtype=np.int32)
    _native.prepared_nearest(
        climb_tree(elimination), c.up, c.down, elimination.ranks[sources],
        elimination.ranks[facilities], limit_inside(limit, c.up.dtype), found, owners,
        threads_for(CLIMB_WORK * len(sources), threads), progress,
    )  # fmt: skip
    distances = np.full((len(sources), k), no_path(c.dtype), dtype=c.dtype)
    which = np.full((len(sources), k), -1, dtype=np.int32)
    has = owners >= 0
    distances[:, : shape[1]][has] = found[has]
    which[:, : shape[1]] = owners
    return distances, which
