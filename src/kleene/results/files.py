"""Results in files, by the suffix of the name; a file appears whole or not at all."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.earth import BEYOND_DEGREES, DEGREES
from kleene.graph.labels import unwritable_label
from kleene.graph.positions import crs_of
from kleene.results.tables import BLOCK, Block, arrow_batches
from kleene.system.atomic_file import atomic_array, atomic_path

if TYPE_CHECKING:
    from kleene.results.result import Result

__all__ = [
    "check_suffix",
    "check_table_suffix",
    "save",
    "save_blocks",
    "save_geojson",
    "to_degrees",
]


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a file name; raise if results are not saved under such names."""
    return _known_suffix(
        path,
        (".npz", ".npy", *_TABLES),
        "a result is saved as .npz (to load and verify), .npy (the distances), or as a table: "
        ".csv, .tsv, .json or .parquet",
    )


def check_table_suffix(path: str | Path) -> str:
    """Return the suffix of a file name; raise if tables are not saved under such names."""
    return _known_suffix(path, tuple(_TABLES), "a table is saved as .csv, .tsv, .json or .parquet")


def _known_suffix(path: str | Path, known: tuple[str, ...], advice: str) -> str:
    if not isinstance(path, (str, Path)):
        raise RequestError(f"a file name must be a string or a Path, not {type(path).__name__}")
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        what = f"unknown suffix {suffix!r}" if suffix else "no suffix"
        raise RequestError(f"{path}: {what}; {advice}")
    return suffix


def save(result: Result, path: str | Path) -> None:
    """Write a result in the format that the name asks for."""
    suffix = check_suffix(path)
    if suffix == ".npz":
        result._save_npz(path)
    elif suffix == ".npy":
        _save_values(result.distances, path)
    else:
        save_blocks(result._blocks(), path)


def save_blocks(blocks: Iterable[Block], path: str | Path) -> None:
    """Write a table, which comes in blocks, in the format that the name asks for."""
    write = _TABLES[check_table_suffix(path)]
    try:
        with atomic_path(path) as beside:
            write(blocks, beside)
    except UnicodeEncodeError as error:
        raise unwritable_label(error) from None


def _save_values(values: NDArray[Any], path: str | Path) -> None:
    """Write the distances, some rows at a time."""
    with atomic_array(path, values.shape, values.dtype) as mapped:
        step = max(1, BLOCK // max(1, math.prod(values.shape[1:])))
        for row in range(0, len(values), step):
            mapped[row : row + step] = values[row : row + step]


class _Lines:
    """A file of lines that end in a line feed.

    The writer quotes a field that has a character of its line end: of both, to be read anywhere.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line[:-2] + "\n")


def _write_csv(blocks: Iterable[Block], path: Path, separator: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(_Lines(file), delimiter=separator, lineterminator="\r\n")
        for i, block in enumerate(blocks):
            if i == 0:
                writer.writerow(block)
            writer.writerows(_records(block))


def _write_tsv(blocks: Iterable[Block], path: Path) -> None:
    _write_csv(blocks, path, "\t")


def _write_json(blocks: Iterable[Block], path: Path) -> None:
    """Write a list of objects, one per line; an infinite number, which JSON lacks, is null."""
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
    with path.open("w", encoding="utf-8") as file:
        separator = "[\n"
        for block in blocks:
            finite = {name: _finite(column) for name, column in block.items()}
            for record in _records(finite):
                file.write(separator + encode(dict(zip(block, record, strict=True))))
                separator = ",\n"
        file.write("\n]\n" if separator == ",\n" else "[]\n")


def _finite(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column, in which numbers that are not finite are missing."""
    if column.dtype.kind != "f":
        return column
    return np.ma.MaskedArray(column, np.ma.getmaskarray(column) | ~np.isfinite(column))


def _records(block: Block) -> Iterable[tuple[Any, ...]]:
    """Return the rows of a block as Python values, None for missing ones."""
    return zip(*(np.ma.asarray(column).tolist() for column in block.values()), strict=True)


def _write_parquet(blocks: Iterable[Block], path: Path) -> None:
    batches = arrow_batches(blocks)
    first = next(batches)
    from pyarrow import parquet

    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


_TABLES: dict[str, Callable[[Iterable[Block], Path], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}


# ---- GeoJSON (RFC 7946) -------------------------------------------------------------------------
# Longitude and latitude in degrees, WGS 84, and no other coordinates.

Array = NDArray[Any]

_TABLE = "or save a table, .csv or .parquet"


def save_geojson(document: dict[str, Any], path: str | Path) -> None:
    """Write a document; the file is replaced when it is complete."""
    with atomic_path(path) as beside:
        text = json.dumps(document, ensure_ascii=False)
        beside.write_text(text + "\n", encoding="utf-8")


def to_degrees(graph: Graph) -> Callable[[Array], Array]:
    """Return the function from coordinates of a graph to longitude and latitude.

    It raises GraphError for coordinates that cannot be these: on a map they would lie in the sea,
    since programs that read GeoJSON assume degrees.
    """
    crs = crs_of(graph)
    return _checked if crs is None or crs.lower() in DEGREES else _from_crs(crs)


@cache
def _from_crs(crs: str) -> Callable[[Array], Array]:
    try:
        import pyproj  # an optional dependency
    except ImportError:
        raise GraphError(
            f"GeoJSON holds longitude and latitude in degrees, and the positions are in "
            f"{crs[:40]}: install pyproj, which converts them, {_TABLE}"
        ) from None
    try:
        transformer = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise GraphError(f"the positions are in {crs[:40]!r}, which pyproj refuses") from error
    return lambda points: _checked(np.column_stack(transformer.transform(*points.T)))


def _checked(points: Array) -> Array:
    if len(points) and (np.abs(points) > BEYOND_DEGREES).any():
        x, y = points[(np.abs(points) > BEYOND_DEGREES).any(axis=1).argmax()].tolist()
        raise GraphError(
            f"GeoJSON holds longitude and latitude in degrees, and a position is ({x:.6g}, "
            f"{y:.6g}): convert the positions to EPSG:4326 before, as pyproj's Transformer does, "
            f"{_TABLE}"
        )
    return points
