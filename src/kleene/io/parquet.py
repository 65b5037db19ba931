"""Parquet: a table with one arc per row, read and written with PyArrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, KleeneError, RequestError
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.graph.labels import NAME_BYTES
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["PARQUET"]

Array = NDArray[Any]
Coded = tuple[Array, list[Any]]  # a code for each row, and what the codes stand for

_DIRECTED = b"kleene.directed"  # key of the table's metadata
_ROW_BYTES = 128  # bound on the memory of a row until the graph is built from it


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
        with source.open() as content:
            file = parquet.ParquetFile(arrow.PythonFile(content, "r"))
            wanted = _column_names(source, file.schema_arrow.names, columns, weighted)
            kinds = [_kind(source, arrow, file.schema_arrow, title) for title in wanted]
            names = [title for title, kind in zip(wanted, kinds, strict=True) if kind == "name"]
            _require_memory(source, file, names)
            if names:  # each name once, however often it occurs
                file = parquet.ParquetFile(arrow.PythonFile(content, "r"), read_dictionary=names)
            table = file.read(columns=wanted, use_threads=source.threads != 1)
            metadata = file.schema_arrow.metadata or {}
        for title in wanted:
            if table[title].null_count:
                source.fail(f"found {table[title].null_count} nulls in {title!r}, expected none")
        table = table.unify_dictionaries().combine_chunks()
        arrays = [
            _coded_names(source, table[title]) if kind == "name" else table[title].to_numpy()
            for title, kind in zip(wanted, kinds, strict=True)
        ]
    except (KleeneError, MemoryError):
        raise
    except Exception as error:  # PyArrow raises many types for damaged files
        reason = " ".join(str(error).split())
        source.fail(f"PyArrow cannot read the file ({reason}); expected a Parquet file")
    del table
    if directed is None:
        directed = metadata.get(_DIRECTED) != b"false"
    try:
        graph = _graph(arrays, kinds, directed, relabel)
    except GraphError as error:
        source.fail(str(error))
    return Graph(graph.csr, graph.directed, graph.labels, source.stem)


def _kind(source: Source, arrow: Any, schema: Any, title: str) -> str:
    """Return "number" or "name", by the type of a column."""
    kind = schema.field(title).type
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
    types = arrow.types
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)  # null: empty
    if any(check(kind) for check in numbers):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind):
        return "name"
    source.fail(f"found the type {kind} in {title!r}, expected numbers or strings")


def _require_memory(source: Source, file: Any, names: list[str]) -> None:
    """Raise if the columns would not fit in memory; a file of a few bytes may have 1e9 rows."""
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    rows = max(file.metadata.num_rows, sum(group.num_rows for group in groups))
    # Of all columns: for some damaged files, PyArrow ends the process when asked about one.
    encoded = sum(max(0, group.total_byte_size) for group in groups) if names else 0
    require_memory(
        _ROW_BYTES * rows + 2 * encoded,
        f"reading {rows:,} rows of {source.name}",
        "use a machine with more memory",
    )


def _coded_names(source: Source, column: Any) -> Coded:
    """Return the code of the name in each row, and the names."""
    chunks = column.chunks
    if not chunks:
        return np.empty(0, np.int32), []
    names = chunks[0].dictionary  # the same in all chunks
    require_memory(
        2 * NAME_BYTES * len(names) + 4 * names.nbytes,
        f"the {len(names):,} names in {source.name}",
        "use a machine with more memory",
    )
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    return codes, names.to_pylist()


def _graph(arrays: list[Any], kinds: list[str], directed: bool, relabel: bool) -> Graph:
    ends, weights = arrays[:2], arrays[2] if len(arrays) == 3 else None
    if kinds[2:] == ["name"]:
        raise GraphError("the weights must hold real numbers, not strings")
    if kinds[:2] == ["number", "number"]:
        table = dict(zip(("source", "target", "weight"), arrays, strict=False))
        weight = None if weights is None else "weight"
        return Graph.from_table(table, "source", "target", weight, directed, relabel=relabel)
    coded = [_coded_numbers(end) if isinstance(end, np.ndarray) else end for end in ends]
    sources, targets, labels = _ids_from_codes(coded[0], coded[1])
    return Graph.from_edges(
        sources, targets, weights, len(labels), directed=directed, labels=labels
    )


def _coded_numbers(column: Array) -> Coded:
    """Return the code of the number in each row, and the numbers."""
    require_memory(
        2 * NAME_BYTES * len(column),
        f"numbering {len(column):,} rows of numbers and names",
        "use a machine with more memory",
    )
    numbers, codes = np.unique(column, return_inverse=True)
    return codes, numbers.tolist()


def _ids_from_codes(sources: Coded, targets: Coded) -> tuple[Array, Array, list[Any]]:
    """Return ids and labels of coded names, numbered in order of first appearance."""
    numbers: dict[Any, int] = {}
    codes = np.empty((len(sources[0]), 2), np.int64)
    for column, (rows, names) in enumerate((sources, targets)):
        known = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        codes[:, column] = known[rows] if len(rows) else 0
    appearances = codes.reshape(-1)
    first = np.full(len(numbers), len(appearances), np.int64)
    first[appearances[::-1]] = np.arange(len(appearances) - 1, -1, -1)  # the earliest is last
    order = np.argsort(first, kind="stable")
    order = order[first[order] < len(appearances)]  # a dictionary may hold names without rows
    ids = np.empty(len(numbers), np.int32 if len(numbers) < 2**31 else np.int64)
    ids[order] = np.arange(len(order))
    labels = list(numbers)
    return ids[codes[:, 0]], ids[codes[:, 1]], [labels[i] for i in order.tolist()]


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
