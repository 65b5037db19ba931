"""Where names of vertices and numbers of arcs go: each to the place where it covers least."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kleene.viz.shapes import Text, text_width

__all__ = ["Name", "place_names", "place_numbers", "text_boxes"]

Array = NDArray[np.float64]
Name = tuple[str, NDArray[np.float64], float, str, float]  # text, place, radius, colour, size

#: Directions from the vertex in the order they are tried, and the anchor of the text there.
_SIDES = (
    (1, 0, "start"), (-1, 0, "end"), (0, -1, "middle"), (0, 1, "middle"),
    (0.7, -0.7, "start"), (-0.7, -0.7, "end"), (0.7, 0.7, "start"), (-0.7, 0.7, "end"),
)  # fmt: skip


#: Where along a line its number may stand, in the order they are tried.
_ALONG = (0.5, 0.4, 0.6, 0.3, 0.7)


def place_names(names: Sequence[Name], points: Array, width: float, halo: str) -> Iterator[Text]:
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


def place_numbers(
    numbers: Iterable[tuple[str, Array]], taken: Array, colour: str, halo: str
) -> Iterator[Text]:
    """Yield a number at each line, where it is clear of these boxes and of the numbers before it.

    It is left out where there is no room.
    """
    size = 12.0
    for text, line in numbers:
        steps = np.hypot(*np.diff(line, axis=0).T)
        along = np.append(0.0, np.cumsum(steps))
        wide = text_width(text, size)
        for part in _ALONG:
            x, y = (float(np.interp(part * along[-1], along, line[:, axis])) for axis in (0, 1))
            box = np.array([x - wide / 2, y - 6, x + wide / 2, y + 6])
            if not _overlaps(box, taken):
                taken = np.vstack([taken, box])
                yield Text(round(x, 1), round(y + 4, 1), text, size, colour, "middle", halo=halo)
                break


def text_boxes(texts: Iterable[Text]) -> Array:
    """Return the left, top, right and bottom of each text.

    >>> text_boxes([Text(10, 20, "Rome", 10, "#000000")]).tolist()
    [[10.0, 12.0, 34.8, 22.0]]
    """
    boxes = [np.empty((0, 4))]
    for text in texts:
        wide = text_width(text.content, text.size)
        left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
        boxes.append(
            np.array([[left, text.y - 0.8 * text.size, left + wide, text.y + 0.2 * text.size]])
        )
    return np.vstack(boxes)


def _overlaps(box: Array, others: Array) -> int:
    left, top, right, bottom = others.T
    apart = (left > box[2]) | (right < box[0]) | (top > box[3]) | (bottom < box[1])
    return int(np.count_nonzero(~apart))


def _covered(box: Array, points: Array) -> int:
    x, y = points.T
    return int(np.count_nonzero((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])))
