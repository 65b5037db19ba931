"""Parquet: a table with one arc per row, read and written with PyArrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import FormatError, GraphError, KleeneError, RequestError
from kleene.graph import Graph
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["PARQUET"]

_DIRECTED = b"kleene.directed"  # key of the table's metadata


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise KleeneError(
            "Parquet files need PyArrow, which is not installed: pip install pyarrow"
        ) from error
    return pyarrow, pyarrow.parquet


def read(
    source: Source,
    *,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = True,
    columns: Sequence[str] | None = None,
) -> Graph:
    if columns is not None and len(columns) not in (2, 3):
        raise RequestError("columns must name the source, the target and optionally the weight")
    arrow, parquet = _pyarrow()
    try:
        file = parquet.ParquetFile(arrow.BufferReader(arrow.py_buffer(source.data)))
        wanted = _column_names(source, file.schema_arrow.names, columns, weighted)
        table = file.read(columns=wanted)
        for title in wanted:
            if table[title].null_count:
                source.fail(f"found {table[title].null_count} nulls in {title!r}, expected none")
        if directed is None:
            directed = (file.schema_arrow.metadata or {}).get(_DIRECTED) != b"false"
        weight = wanted[2] if len(wanted) == 3 else None
        graph = Graph.from_table(table, wanted[0], wanted[1], weight, directed, relabel=relabel)
    except (FormatError, MemoryError):
        raise
    except GraphError as error:
        source.fail(str(error))
    except (arrow.ArrowException, OSError, ValueError, TypeError) as error:  # PyArrow's
        reason = " ".join(str(error).split())
        source.fail(f"PyArrow cannot read the file ({reason}); expected a Parquet file")
    return Graph(graph.csr, graph.directed, graph.labels, source.stem)


def _column_names(
    source: Source, titles: list[str], columns: Sequence[str] | None, weighted: bool | None
) -> list[str]:
    """Return the names of the columns source, target and, if there is one, weight."""
    wanted = list(columns or ("source", "target", "weight"))
    if weighted is False or (columns is None and weighted is None and "weight" not in titles):
        wanted = wanted[:2]
    for title in wanted:
        if title not in titles:
            source.fail(f"found the columns {', '.join(titles)}, expected {title!r}")
    return wanted


def write(graph: Graph, sink: Sink) -> None:
    arrow, parquet = _pyarrow()
    sources, targets, weights = graph.coo
    if not graph.directed:
        once = sources <= targets
        sources, targets = sources[once], targets[once]
        weights = None if weights is None else weights[once]
    if graph.labels is not None:
        sources, targets = graph.labels[sources], graph.labels[targets]
        if graph.labels.dtype == object and not all(isinstance(x, str) for x in graph.labels):
            raise GraphError("Parquet files hold integer or string labels only")
    columns = {"source": sources, "target": targets}
    if weights is not None:
        columns["weight"] = weights
    table = arrow.table({title: np.asarray(column) for title, column in columns.items()})
    directed = b"true" if graph.directed else b"false"
    parquet.write_table(table.replace_schema_metadata({_DIRECTED: directed}), sink.file)


PARQUET = Format(
    "parquet",
    "Parquet",
    (".parquet", ".pq"),
    read,
    write,
    claims=lambda head: head.startswith(b"PAR1"),
)
