"""Saving results: .npz (everything), .npy (distances), .csv and .tsv (a table)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from kleene.cli.summaries import value_name

if TYPE_CHECKING:
    from kleene import Result

__all__ = ["check_suffix", "save"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def check_suffix(out: str | None) -> None:
    """Raise for an unknown suffix, before any work is done."""
    from kleene.errors import RequestError

    if out is not None and Path(out).suffix not in (".npz", ".npy", *_SEPARATORS):
        raise RequestError(
            f"{out}: unknown suffix; use .npz (to load and verify), .npy (distances), .csv or .tsv"
        )


def save(result: Result, out: str) -> None:
    """Write the result in the format of the suffix; the file is replaced atomically."""
    from kleene.system.atomic_file import atomic_array, atomic_path

    if Path(out).suffix == ".npz":
        result.save(out)
    elif Path(out).suffix == ".npy":
        values = result.to_numpy()
        with atomic_array(out, values.shape, values.dtype) as mapped:
            mapped[...] = values
    else:
        with atomic_path(out) as temporary:
            _write_table(result, temporary, _SEPARATORS[Path(out).suffix])


def _write_table(result: Result, path: Path, separator: str) -> None:
    """Write a line per pair with a path: source, target, distance, predecessor."""
    import numpy as np

    graph = result.graph
    values, reached = np.atleast_2d(result.to_numpy()), np.atleast_2d(result.reached)
    predecessors = None if result.predecessors is None else np.atleast_2d(result.predecessors)
    names = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
    targets = np.arange(graph.n) if result.targets is None else result.targets
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        header = ["source", "target", value_name(result), "predecessor"]
        writer.writerow(header if predecessors is not None else header[:-1])
        for row, source in enumerate(result.sources.tolist()):
            columns = np.flatnonzero(reached[row])
            ends = targets[columns]
            cells = [
                [names[source]] * len(ends),
                [names[end] for end in ends.tolist()],
                values[row, columns].tolist(),
            ]
            if predecessors is not None:
                previous = predecessors[row, ends].tolist()
                cells.append(["" if v == -1 else names[v] for v in previous])
            writer.writerows(zip(*cells, strict=True))
