"""Features of map files, GeoJSON and GeoPackage: lines, which are streets, and columns of them.

A reader adds a feature at a time: its lines go into one array of coordinates, and of its properties
those that may be the weight or the direction are kept. ``graph/streets.py`` makes the graph.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, Text, message_of
from kleene.graph import Graph
from kleene.graph.checks import as_weights, require_memory
from kleene.graph.derive import as_directions
from kleene.graph.earth import BEYOND_DEGREES
from kleene.graph.labels import is_missing
from kleene.graph.rows import Lines
from kleene.graph.streets import (
    LinesOfFeatures,
    as_snap,
    graph_of_lines,
    street_weight,
    warn_of_directions,
)
from kleene.graph.weight_names import GEOMETRY, UNWEIGHTED, is_weight_name
from kleene.io.build import weight_options
from kleene.io.source import Source

__all__ = ["Features"]

Array = NDArray[Any]

_LINE_BYTES = 400  # bound on the memory that a line takes while the graph is built, besides points
_POINT_BYTES = 100


class Features:
    """The features of a file, while it is read."""

    def __init__(
        self,
        source: Source,
        weight: str | None,
        weighted: bool | None,
        directed: bool | str | None,
        snap: float,
        keep_rows: bool,
    ) -> None:
        name, weighted = weight_options(weight, weighted)
        self._weight = None if weighted is False else name or "auto"
        self._source, self._directed, self._keep_rows = source, directed, keep_rows
        self._snap = as_snap(snap)
        self._names: dict[str, None] = {}  # of all properties
        self._columns: dict[str, list[Any]] = {}  # that are kept
        self._points = array("d")
        self._sizes, self._features = array("q"), array("q")  # points and feature of each line
        self._others: Counter[str] = Counter()
        self._count = 0

    def wants(self, name: str) -> bool:
        """Return whether a property is kept: it may be the weight, or is the direction."""
        if name == self._directed:
            return True
        return is_weight_name(name) if self._weight == "auto" else name == self._weight

    def add(self, lines: Iterable[Array], kind: str, properties: Mapping[str, Any]) -> None:
        """Add a feature: the points of its lines, in shape (points, 2), and what it is else."""
        if not properties.keys() <= self._names.keys():
            for name in properties:
                if name not in self._names and self.wants(name):
                    self._columns[name] = [None] * self._count
            self._names.update(dict.fromkeys(properties))
        for name, column in self._columns.items():
            column.append(properties.get(name))
        before = len(self._sizes)
        for points in lines:
            if len(points):
                self._points.frombytes(points.tobytes())
                self._sizes.append(len(points))
                self._features.append(self._count)
        if len(self._sizes) == before:
            self._others[kind] += 1
        self._count += 1

    @property
    def beyond_degrees(self) -> bool:
        """Whether some points cannot be longitude and latitude."""
        return bool((np.abs(self._all_points()) > BEYOND_DEGREES).any())

    def _all_points(self) -> Array:
        return np.asarray(self._points).reshape(-1, 2)

    def graph(self, crs: str | None) -> Graph:
        """Return the graph of all features."""
        require_memory(
            _LINE_BYTES * len(self._sizes) + _POINT_BYTES * len(self._points),
            f"the graph of {len(self._sizes):,} lines in {self._source.name}",
            "use a machine with more memory",
        )
        offsets = np.append(0, np.cumsum(np.asarray(self._sizes), dtype=np.int64))
        points = self._all_points()
        self._require_lines(points, offsets)
        found = LinesOfFeatures(
            Lines(offsets, points), np.asarray(self._features), self._count, self._others
        )
        try:
            return graph_of_lines(
                Graph, found, self._weights(found), self._directions(), crs, self._snap,
                self._source.stem, self._keep_rows, self._source.threads,
            )  # fmt: skip
        except GraphError as error:
            self._source.fail(message_of(error))

    def _require_lines(self, points: Array, offsets: Array) -> None:
        """Raise for a line of one point, and for points that are nowhere."""
        short = np.flatnonzero(np.diff(offsets) < 2)
        if len(short):
            feature = self._features[short[0]]
            self._source.fail(f"found a line of one point in feature {feature}, expected two")
        finite = np.isfinite(points).all(axis=1)
        if not finite.all():
            at = int(np.argmin(finite))
            feature = self._features[int(np.searchsorted(offsets, at, side="right")) - 1]
            self._source.fail(
                f"found the point {tuple(points[at].tolist())} in feature {feature}, expected "
                "finite coordinates"
            )

    def _weights(self, found: LinesOfFeatures) -> Any:
        """Return the weight of each feature, or of lines by their geometry, or None."""
        name = street_weight(self._weight, list(self._names))
        if name in (None, GEOMETRY):
            return name
        values = self._columns[name]
        streets = np.unique(found.features)
        given = [values[street] for street in streets]
        lacking = [
            street for street, value in zip(streets, given, strict=True) if is_missing(value)
        ]
        if lacking:
            self._source.fail(
                Text(
                    f"found no {name!r} in feature {lacking[0]}, which "
                    f"{len(streets) - len(lacking):,} of {len(streets):,} streets have, expected "
                    "it in all; pass ",
                    Code(f"weight={GEOMETRY!r}"),
                    " for the lengths of lines, or ",
                    UNWEIGHTED,
                )
            )
        known = as_weights(given, f"column {name!r}")
        assert known is not None
        if known.dtype == np.int64 and (known == known.astype(np.int32)).all():
            known = known.astype(np.int32)
        weights = np.zeros(found.total, known.dtype)
        weights[streets] = known
        return weights

    def _directions(self) -> bool | Array:
        """Return the direction of each feature, or of all."""
        if self._directed is None:
            warn_of_directions(list(self._names))
        if not isinstance(self._directed, str):
            return bool(self._directed)
        if self._directed not in self._columns:
            has = ", ".join(map(repr, self._names)) or "none"
            raise GraphError(f"no column {self._directed!r} for the directions: there are {has}")
        column = self._columns[self._directed]
        return as_directions(np.fromiter(column, object, len(column)), self._directed)
