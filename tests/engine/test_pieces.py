"""Pieces cover all rows once, take some seconds, and fit in a part of the memory."""

from __future__ import annotations

import pytest

from kleene.engine.pieces import choose_block_rows, split


def test_pieces_cover_all_rows_once() -> None:
    for rows_, block in ((0, 5), (1, 5), (23, 5), (25, 5), (3, 1)):
        pieces = split(rows_, block)
        assert [row for p in pieces for row in range(p.first, p.stop)] == list(range(rows_))
        assert [p.index for p in pieces] == list(range(len(pieces)))


@pytest.mark.parametrize(
    ("rows_", "row_bytes", "seconds", "memory", "wanted"),
    [
        (100, 10, 0.1, 2**33, 104),  # all in one
        (100_000, 10, 1000.0, 2**33, 192),  # 250 rows take 2.5 s
        (100_000, 2**23, 1.0, 2**33, 32),  # a part of the memory holds 32 rows
        (100_000, 2**40, 1.0, 2**33, 1),  # a row at least
        (100, 10, 1e9, 2**33, 1),
        (0, 10, 0.0, 2**33, 1),
    ],
)
def test_sizes_of_pieces(
    rows_: int, row_bytes: int, seconds: float, memory: int, wanted: int
) -> None:
    assert choose_block_rows(rows_, row_bytes, seconds, memory) == wanted
