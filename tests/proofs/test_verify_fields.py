"""Fields that no answer has are refused by the proof itself, however the claim came to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.errors import VerificationError
from kleene.proofs.pairs import PairValues, verify_pairs

CHAIN = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, 3, 4])
CHANGED = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.1, 0.2, 0.3])


def claim_of(g: kl.Graph, pairs: list[tuple[int, int]], **options: Any) -> PairValues:
    r: Any = kl.sssp(g, pairs=pairs, **options)
    return PairValues(
        r.graph, False, r._sources, r._targets, r.distances, r._stored_walks, r._limit,
        r._by_target,
    )  # fmt: skip


PAIRS = claim_of(CHAIN, [(0, 2), (0, 3), (1, 0)], limit=20)
ENDS, WALKS = np.array([0, 0, 9]), PAIRS.walks
assert WALKS is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"origins": ENDS}, "sources hold 9"),
        ({"destinations": ENDS}, "targets hold 9"),
        ({"destinations": np.array([2, -1, 0])}, "targets hold -1"),
        ({"destinations": np.array([2, 3])}, "3 sources, but targets or values differ"),
        ({"origins": np.array([0, 0])}, "2 sources, but targets or values differ"),
        ({"values": PAIRS.values[:2]}, "3 sources, but targets or values differ"),
        ({"values": PAIRS.values[:, None]}, "3 sources, but targets or values differ"),
        ({"values": PAIRS.values.astype(np.int8)}, "values are int8"),
        ({"limit": -1}, "limit is -1"),
        ({"walks": (WALKS[0] + 2, WALKS[1])}, "vertices hold 4"),
        ({"walks": (WALKS[0][:-1], WALKS[1])}, "6 vertices of paths, expected 7"),
    ],
)
def test_fields_of_pairs(changes: dict[str, Any], message: str) -> None:
    verify_pairs(PAIRS)
    with pytest.raises(VerificationError, match=message):
        verify_pairs(replace(PAIRS, **changes))


def test_no_pairs_are_proved() -> None:
    none = claim_of(CHAIN, [])
    assert verify_pairs(none).rows == 0
