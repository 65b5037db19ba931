"""Make the town of the examples: crossings.csv and streets.csv, and streets.gpkg by GeoPandas.

An invented town of 18 x 18 crossings beside the point 0° N, 0° E, with a river, four bridges, a
ring road and one-way streets in the centre. Streets have bends; WKT in the last column. The
GeoPackage has the same streets without the names of crossings: there they meet where lines end.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

SIDE, SPACING = 18, 0.0016  # crossings a side; degrees between them, about 178 m
METRES = 111_320  # in a degree
RIVER = 9  # flows between this row and the next
BRIDGES = (2, 7, 11, 16)
RING = 3  # rows and columns from the border


def name(row: int, column: int) -> str:
    """Return what the crossing is called: a letter and a number."""
    return f"{chr(ord('A') + row)}{column + 1}"


def main() -> None:
    """Write the files beside this program."""
    rng = np.random.default_rng(5)
    folder = Path(__file__).parent
    grid = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), -1).astype(float)
    grid[RIVER + 1 :, :, 1] += 0.8  # the river's width
    grid[..., 1] += 0.5 * np.sin(grid[..., 0] / 4)
    at = (grid + rng.uniform(-0.22, 0.22, grid.shape)) * SPACING
    streets = []
    for row in range(SIDE):
        for column in range(SIDE):
            for step, (r, c) in enumerate(((row, column + 1), (row + 1, column))):
                if r == SIDE or c == SIDE:
                    continue
                on_ring = (row in (RING, SIDE - 1 - RING)) if step == 0 else (
                    column in (RING, SIDE - 1 - RING)
                )  # fmt: skip
                bridge = step == 1 and row == RIVER
                if (bridge and column not in BRIDGES) or (
                    not bridge and not on_ring and rng.random() < 0.09
                ):
                    continue
                a, b = at[row, column], at[r, c]
                side = np.array([a[1] - b[1], b[0] - a[0]]) * rng.uniform(-0.12, 0.12)
                line = np.array([a, a + (b - a) / 3 + side, b - (b - a) / 3 + side, b])
                metres = float(np.hypot(*np.diff(line, axis=0).T).sum() * METRES)
                centre = 5 <= row <= 12 and 5 <= column <= 12
                oneway = "no"
                if centre and not bridge and rng.random() < 0.6:
                    oneway = "yes" if (row if step == 0 else column) % 2 else "-1"
                speed = 60 if on_ring else 30
                streets.append(
                    [name(row, column), name(r, c), round(metres), round(0.06 * metres / speed, 2),
                     oneway, "ring" if on_ring else "bridge" if bridge else "street",
                     "LINESTRING (" + ", ".join(f"{x:.5f} {y:.5f}" for x, y in line) + ")"]
                )  # fmt: skip
    used = sorted({end for street in streets for end in street[:2]})
    places = {name(r, c): at[r, c] for r in range(SIDE) for c in range(SIDE)}
    write(folder / "crossings.csv", ["id", "x", "y"],
          [[one, f"{places[one][0]:.5f}", f"{places[one][1]:.5f}"] for one in used])  # fmt: skip
    head = ["source", "target", "metres", "minutes", "oneway", "kind", "geometry"]
    write(folder / "streets.csv", head, streets)
    import geopandas  # only for this file

    table = [dict(zip(head[2:6], street[2:6], strict=True)) for street in streets]
    lines = geopandas.GeoSeries.from_wkt([street[6] for street in streets], crs="EPSG:4326")
    made = geopandas.GeoDataFrame(table, geometry=lines)
    made.to_file(folder / "streets.gpkg", layer="streets", SPATIAL_INDEX="NO")


def write(path: Path, head: list[str], rows: list[list[object]]) -> None:
    """Write a table."""
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
