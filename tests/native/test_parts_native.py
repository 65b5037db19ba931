"""The native steps of searches on one part of a graph, beside plain Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene import _native

SLOT_TYPES = [np.int32, np.int64]


class Part(NamedTuple):
    """Rows of own vertices; slots from ``rows`` on are vertices of other parts."""

    rows: int
    slots: int
    offsets: Any
    heads: Any
    lengths: Any

    def arcs(self, row: int) -> list[tuple[int, Any]]:
        own = slice(self.offsets[row], self.offsets[row + 1])
        return list(zip(self.heads[own].tolist(), self.lengths[own].tolist(), strict=True))


@st.composite
def parts(draw: st.DrawFn) -> Part:
    random = np.random.default_rng(draw(st.integers(0, 9999)))
    rows, others = draw(st.integers(0, 8)), draw(st.integers(0, 6))
    degrees = random.integers(0, 5, rows) if rows + others else np.zeros(rows, int)
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    heads = random.integers(0, max(1, rows + others), offsets[-1])
    return Part(rows, rows + others, offsets, heads, random.integers(0, 5, offsets[-1]))


@given(parts(), st.data(), st.sampled_from(SLOT_TYPES))
def test_push(part: Part, data: st.DataObject, slot: Any) -> None:
    visited = np.array(data.draw(st.lists(st.booleans(), min_size=part.slots, max_size=part.slots)))
    visited = visited.astype(np.uint8)
    frontier = data.draw(st.lists(st.integers(0, part.rows - 1), unique=True)) if part.rows else []
    seen, wanted = visited.copy(), []
    for tail in frontier:
        for head, _ in part.arcs(tail):
            if not seen[head]:
                seen[head] = 1
                wanted.append((head, tail))
    heads, tails = _native.part_bfs_push(
        part.offsets, part.heads.astype(slot), np.array(frontier, dtype=slot), visited
    )
    assert heads.dtype == tails.dtype == slot
    assert list(zip(heads.tolist(), tails.tolist(), strict=True)) == wanted
    np.testing.assert_array_equal(visited, seen)


@given(parts(), st.data(), st.sampled_from(SLOT_TYPES))
def test_pull(part: Part, data: st.DataObject, slot: Any) -> None:
    flags = st.lists(st.booleans(), min_size=part.slots, max_size=part.slots)
    visited = np.array(data.draw(flags), dtype=np.uint8)
    frontier = np.array(data.draw(flags), dtype=np.uint8)
    seen, wanted = visited.copy(), []
    for head in range(part.rows):
        tails = [tail for tail, _ in part.arcs(head) if frontier[tail]]
        if not visited[head] and tails:
            seen[head] = 1
            wanted.append((head, tails[0]))
    heads, tails_found = _native.part_bfs_pull(
        part.offsets, part.heads.astype(slot), frontier, visited
    )
    assert list(zip(heads.tolist(), tails_found.tolist(), strict=True)) == wanted
    np.testing.assert_array_equal(visited, seen)


@given(
    parts(), st.data(), st.sampled_from([(np.int32,) * 2, (np.int32, np.int64), (np.int64,) * 2]),
    st.sampled_from([np.int32, np.int64, np.float32, np.float64]), st.booleans(),
)  # fmt: skip
def test_settle(
    part: Part, data: st.DataObject, ids: tuple[Any, Any], value: Any, unit: bool
) -> None:
    slot, link = ids
    none = np.iinfo(value).max if np.dtype(value).kind == "i" else np.inf
    distances = st.lists(st.integers(0, 12), min_size=part.slots, max_size=part.slots)
    values = np.array(data.draw(distances), dtype=value)
    values[np.array(data.draw(distances), dtype=int) > 6] = none
    pending = [v for v in range(part.rows) if values[v] != none and data.draw(st.booleans())]
    queued = np.zeros(part.slots, dtype=np.uint8)
    queued[pending] = 1
    bound, first = data.draw(st.integers(0, 14)), 100
    links = np.full(part.slots, -1, dtype=link)

    best, waiting, fell = values.tolist(), set(pending), set()
    while near := {v for v in waiting if best[v] <= bound}:
        waiting -= near
        for tail in near:
            for head, length in part.arcs(tail):
                through = best[tail] + (1 if unit else length)
                if through < best[head]:
                    best[head] = through
                    (waiting if head < part.rows else fell).add(head)
    before = values.copy()
    left, fallen = _native.part_sssp_settle(
        part.offsets, part.heads.astype(slot), None if unit else part.lengths.astype(value),
        np.array(pending, dtype=slot), np.array([bound], dtype=value), values, links, first, queued,
    )  # fmt: skip
    assert values.tolist() == best
    assert left.dtype == fallen.dtype == slot
    assert sorted(left.tolist()) == sorted(waiting)
    assert sorted(fallen.tolist()) == sorted(fell)
    assert set(np.flatnonzero(queued)) == waiting | fell
    np.testing.assert_array_equal(links >= 0, values < before)
    for at in np.flatnonzero(values < before).tolist():
        tail = int(links[at]) - first
        lengths = [1 if unit else length for head, length in part.arcs(tail) if head == at]
        assert any(best[tail] + length == best[at] for length in lengths)


def test_wrong_types_are_refused() -> None:
    offsets, heads, flags = np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.uint8)
    with pytest.raises(TypeError):
        _native.part_bfs_push(offsets, heads, np.zeros(1, np.int64), flags)
    with pytest.raises(TypeError):
        _native.part_bfs_pull(offsets, np.zeros(2, np.int32), flags, flags)
    with pytest.raises(TypeError):
        _native.part_sssp_settle(
            offsets, heads, None, heads, np.zeros(1), np.zeros(1, np.float32), heads.copy(), 0,
            flags,
        )  # fmt: skip
