"""Parquet: a table with one arc per row, read and written with PyArrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, KleeneError, RequestError, message_of
from kleene.graph import Graph
from kleene.graph.checks import as_ids, as_weights, require_memory
from kleene.graph.convert import no_such_weight
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.labels import NAME_BYTES, ids_from_numbers
from kleene.graph.weight_names import NumbersLeft, choose_weight, is_number_type
from kleene.io.build import build_graph, directions_of, weight_options
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["PARQUET", "is_parquet", "read_columns"]

Array = NDArray[Any]
#: The wanted columns, from the names of all and whether one of them holds numbers.
Choose = Callable[[list[str], Callable[[int], bool]], list[str]]
Coded = tuple[Array, list[Any]]  # a code for each row, and what the codes stand for

_DIRECTED = b"kleene.directed"  # key of the table's metadata
_GEO = "; for a table of lines, use kl.Graph.from_geopandas(geopandas.read_parquet(path))"
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


def is_parquet(source: Source) -> bool:
    """Return whether this is a Parquet file, by its first bytes."""
    return source.head(4) == b"PAR1"


def read(
    source: Source,
    *,
    directed: bool | str | None = None,
    weight: str | None = "auto",
    weighted: bool | None = None,
    relabel: bool = True,
    columns: Sequence[str] | None = None,
    keep_rows: bool = True,
) -> Graph:
    if columns is not None and len(columns) not in (2, 3):
        raise RequestError(
            Code("columns"), " must name the source, the target and optionally the weight"
        )
    weight, weighted = weight_options(weight, weighted, columns)
    oneway = [directed] if isinstance(directed, str) else []
    left: NumbersLeft | None = None

    def choose(titles: list[str], holds_numbers: Callable[[int], bool]) -> list[str]:
        nonlocal left
        wanted = list(columns or ("source", "target"))
        if len(wanted) == 2 and weight is not None:
            if weight not in titles:
                raise no_such_weight(weight, "column", titles)
            wanted.append(weight)
        elif len(wanted) == 2 and weighted is not False and {*wanted, *oneway} <= {*titles}:
            ends = [titles.index(name) for name in wanted]
            directions = titles.index(oneway[0]) if oneway else None
            chosen = choose_weight(titles, ends, directions, holds_numbers)
            if chosen.at is not None:
                wanted.append(titles[chosen.at])
            elif weighted:
                wanted.append("weight")  # which the file lacks
            elif chosen.others:
                left = NumbersLeft([titles[i] for i in chosen.others])
        return wanted + oneway

    table = _read_table(source, choose, len(oneway))
    arrays, kinds = table.arrays, table.kinds
    direction: bool | Array
    if isinstance(directed, str):
        *arrays, (codes, words) = arrays
        direction = directions_of(source, codes, words, directed)
    elif directed is None:
        direction = table.metadata.get(_DIRECTED) != b"false"
    else:
        direction = directed
    ends, weights = arrays[:2], arrays[2] if len(arrays) == 3 else None
    if kinds[2 : len(arrays)] == ["name"]:
        source.fail("the weights must hold real numbers, not strings")
    try:
        sources, targets, labels, n = _ids(ends, relabel)
        weights = as_weights(weights, f"column {table.titles[-1]!r}")
    except GraphError as error:
        source.fail(message_of(error))
    return build_graph(
        source, sources, targets, weights, n, direction, labels=labels, keep_rows=keep_rows,
        left=left,
    )  # fmt: skip


def read_columns(source: Source, choose: Callable[[list[str]], list[str]]) -> list[Any]:
    """Return columns of a table: arrays of numbers, or lists of names."""
    table = _read_table(source, lambda titles, _: choose(titles))
    return [
        column if isinstance(column, np.ndarray) else [column[1][i] for i in column[0].tolist()]
        for column in table.arrays
    ]


class _Table(NamedTuple):
    """Columns: an array of numbers, or codes and names."""

    titles: list[str]
    kinds: list[str]
    arrays: list[Any]
    metadata: Mapping[bytes, bytes]


def _read_table(source: Source, choose: Choose, words: int = 0) -> _Table:
    """Read the chosen columns; the last ``words`` hold words or flags, some of them missing."""
    arrow, parquet = _pyarrow()
    try:
        with source.open() as content:
            file = parquet.ParquetFile(arrow.PythonFile(content, "r"))
            titles = file.schema_arrow.names
            wanted = choose(titles, lambda at: is_number_type(file.schema_arrow.field(at).type))
            for title in wanted:
                if title not in titles:
                    advice = _GEO if b"geo" in (file.schema_arrow.metadata or {}) else ""
                    source.fail(
                        f"found the columns {', '.join(titles)}, expected {title!r}{advice}"
                    )
                if (count := titles.count(title)) > 1:
                    source.fail(f"found {count} columns {title!r}, expected one")
            kinds = [_kind(source, arrow, file.schema_arrow, title) for title in wanted]
            names = [title for title, kind in zip(wanted, kinds, strict=True) if kind == "name"]
            _require_memory(source, file, names)
            if names:  # each name once, however often it occurs
                file = parquet.ParquetFile(arrow.PythonFile(content, "r"), read_dictionary=names)
            table = file.read(columns=wanted, use_threads=source.threads != 1)
            table.validate(full=True)  # or codes of a damaged file could have no name
            metadata = file.schema_arrow.metadata or {}
        table = table.unify_dictionaries().combine_chunks()
        arrays = []
        for at, (title, kind) in enumerate(zip(wanted, kinds, strict=True)):
            column = table[title]
            if at >= len(wanted) - words:
                arrays.append(_coded_words(column))
                continue
            if column.null_count:
                source.fail(f"found {column.null_count} nulls in {title!r}, expected none")
            named = kind == "name"
            arrays.append(_coded_names(source, column) if named else as_numpy(column, title))
    except KleeneError:
        raise
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # of the system, not of the file
        reason = " ".join(str(error).split())
        source.fail(f"PyArrow cannot read the file ({reason}); expected a Parquet file")
    return _Table(wanted, kinds, arrays, metadata)


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


def _coded_words(column: Any) -> Coded:
    """Return the code of the word or flag in each row, and the words; a missing one is None."""
    whole = column.combine_chunks()
    coded = whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
    words = coded.dictionary.to_pylist()
    return coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False), [*words, None]


def _ids(ends: list[Any], relabel: bool) -> tuple[Array, Array, Any, int | None]:
    """Return (sources, targets, labels, n)."""
    if all(isinstance(end, np.ndarray) for end in ends):
        sources, targets = (
            as_ids(end if len(end) else [], f"column {name!r}")  # an empty one has no type
            for end, name in zip(ends, ("source", "target"), strict=True)
        )
        return ids_from_numbers(sources, targets) if relabel else (sources, targets, None, None)
    coded = [_coded_numbers(end) if isinstance(end, np.ndarray) else end for end in ends]
    sources, targets, labels = _ids_from_codes(coded[0], coded[1])
    return sources, targets, labels, len(labels)


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
