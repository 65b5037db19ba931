"""``Loads.verify``: spoiled answers are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.measures.loads import Loads


def spoiled(found: Loads, arcs: Any) -> Loads:
    return Loads(
        found._task, found._positions, np.asarray(arcs), found._assigned, found.plan, found.stats
    )


@pytest.mark.parametrize("split", [False, True])
def test_spoiled_answers_are_refused(split: bool) -> None:
    g = kl.Graph.from_edges([0, 0, 1, 2, 0], [1, 2, 3, 3, 3], [1, 1, 1, 1, 5])
    found = kl.loads(g, ([0], [3], [6]), split=split)
    found.verify()
    for arcs in (
        [6, 0, 0, 5, 0],  # flow is lost
        [0, 0, 6, 0, 0],  # on a longer path
        [-1, 7, 0, -1, 7],  # against an arc
        [math.nan] * 5,
        np.roll(found.arcs, 1),
    ):
        with pytest.raises(kl.VerificationError):
            spoiled(found, np.array(arcs, dtype=float)).verify()
    if split:
        with pytest.raises(kl.VerificationError):
            spoiled(found, [6.0, 0.0, 0.0, 6.0, 0.0]).verify()
    else:
        wrong = found._assigned.copy()
        wrong[:] = False
        with pytest.raises(kl.VerificationError):
            Loads(
                found._task, found._positions, np.zeros(5), wrong, found.plan, found.stats
            ).verify()
    with pytest.raises(kl.RequestError, match="sample"):
        found.verify(sample=0)
    with pytest.raises(kl.RequestError, match="count"):
        found.top(-1)
