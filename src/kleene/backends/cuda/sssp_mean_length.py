"""The mean length of arcs, from which searches choose how far a bucket reaches."""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.tuning import sssp as tuning
from kleene.backends.task import Task

__all__ = ["mean_length"]


def mean_length(task: Task) -> float:
    """Return the mean length of some arcs; 1 if it is no positive number."""
    weights = task.graph.weights
    if weights is None or len(weights) == 0:
        return 1.0
    step = max(1, len(weights) // tuning.SAMPLED_ARCS)
    with np.errstate(over="ignore"):
        mean = float(np.mean(weights[::step], dtype=np.float64))
    return mean if 0 < mean < np.inf else 1.0
