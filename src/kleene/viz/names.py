"""Where the names of vertices go: each to the side where it covers least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kleene.viz.shapes import Text, text_width

__all__ = ["Name", "place_names"]

Name = tuple[str, NDArray[np.float64], float, str, float]  # text, place, radius, colour, size

#: Directions from the vertex in the order they are tried, and the anchor of the text there.
_SIDES = (
    (1, 0, "start"), (-1, 0, "end"), (0, -1, "middle"), (0, 1, "middle"),
    (0.7, -0.7, "start"), (-0.7, -0.7, "end"), (0.7, 0.7, "start"), (-0.7, 0.7, "end"),
)  # fmt: skip


def place_names(
    names: Sequence[Name], points: NDArray[np.float64], width: float, halo: str
) -> Iterator[Text]:
    """Yield the names, each clear of these points and of the names before it if it can be."""
    taken = np.empty((0, 4))
    for text, (x, y), radius, colour, size in names:
        wide, away = text_width(text, size), radius + 5
        best, least = None, np.inf
        for order, (right, down, anchor) in enumerate(_SIDES):
            at = x + right * away
            left = at - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            base = y + down * (away + 0.3 * size) + 0.35 * size
            box = np.array([left, base - 0.8 * size, left + wide, base + 0.2 * size])
            outside = max(0.0, -left) + max(0.0, left + wide - width)
            cost = 9 * _overlaps(box, taken) + _covered(box, points) + outside + 0.1 * order
            if cost < least:
                best, least = (at, base, anchor, box), cost
        assert best is not None
        at, base, anchor, box = best
        taken = np.vstack([taken, box])
        yield Text(round(at, 1), round(base, 1), text, size, colour, anchor, bold=True, halo=halo)


def _overlaps(box: NDArray[np.float64], others: NDArray[np.float64]) -> int:
    left, top, right, bottom = others.T
    apart = (left > box[2]) | (right < box[0]) | (top > box[3]) | (bottom < box[1])
    return int(np.count_nonzero(~apart))


def _covered(box: NDArray[np.float64], points: NDArray[np.float64]) -> int:
    x, y = points.T
    return int(np.count_nonzero((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])))
