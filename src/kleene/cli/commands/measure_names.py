"""The measures of ``kleene measure``: their names here, their calls in Python, what they tell."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

__all__ = ["MEASURES", "MeasureRow", "find_measure"]


class MeasureRow(NamedTuple):
    """A measure: the name of its call in ``kleene``, and a sentence."""

    call: str
    summary: str
    table: bool = True  # or one number
    follows_from: str = ""  # the measure of each vertex that proves it, if it has no proof itself
    prepared: bool = True  # whether a prepared graph can answer

    @property
    def function(self) -> Callable[..., Any]:
        """The call itself."""
        import kleene

        found: Callable[..., Any] = getattr(kleene, self.call)
        return found

    @property
    def keywords(self) -> frozenset[str]:
        """The keywords that the call takes."""
        return frozenset(inspect.signature(self.function).parameters)


def _number(call: str, summary: str, follows_from: str) -> MeasureRow:
    return MeasureRow(call, summary, table=False, follows_from=follows_from)


MEASURES = {
    "betweenness": MeasureRow(
        "betweenness", "the share of all shortest paths through each vertex", prepared=False
    ),
    "closeness": MeasureRow("closeness", "how near each vertex is to the others"),
    "harmonic": MeasureRow("harmonic", "the sum of 1/distance to each vertex"),
    "eccentricity": MeasureRow("eccentricity", "how far the farthest vertex is from each"),
    "diameter": _number("diameter", "the largest eccentricity", "eccentricity"),
    "radius": _number("radius", "the smallest eccentricity", "eccentricity"),
    "center": MeasureRow(
        "center", "the vertices of the smallest eccentricity", follows_from="eccentricity"
    ),
    "periphery": MeasureRow(
        "periphery", "the vertices of the largest eccentricity", follows_from="eccentricity"
    ),
    "histogram": MeasureRow("distance_histogram", "how many pairs have each distance"),
    "efficiency": _number("efficiency", "the mean of 1/distance over all pairs", "harmonic"),
    "wiener": _number("wiener_index", "the sum of the distances of all pairs", "closeness"),
    "path-counts": MeasureRow(
        "path_counts", "how many shortest paths lead from a source", prepared=False
    ),
}


def find_measure(name: str) -> MeasureRow:
    """Return the row of a name, or raise with the names that there are."""
    from kleene.errors import RequestError

    if name not in MEASURES:
        near = get_close_matches(name, MEASURES, 1)
        meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(MEASURES)}"
        raise RequestError(f"no measure {name!r}{meant}")
    return MEASURES[name]
