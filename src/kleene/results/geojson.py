"""GeoJSON (RFC 7946): longitude and latitude in degrees, WGS 84, and no other coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError

__all__ = ["require_degrees"]

_MOST = np.array([360.0, 90.0])  # east of the antimeridian, some count on


def require_degrees(positions: NDArray[Any]) -> None:
    """Raise GraphError for positions that cannot be longitude and latitude.

    On a map they would lie in the sea: programs that read GeoJSON assume degrees.
    """
    if len(positions) and (np.abs(positions) > _MOST).any():
        x, y = positions[(np.abs(positions) > _MOST).any(axis=1).argmax()].tolist()
        raise GraphError(
            f"GeoJSON holds longitude and latitude in degrees, and a position is ({x:.6g}, "
            f"{y:.6g}): convert the positions to EPSG:4326 before, as pyproj's Transformer does, "
            "or save a table, .csv or .parquet"
        )
