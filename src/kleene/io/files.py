"""``kleene.read`` and ``kleene.write``: choose the format of a file and call its module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import Code, FormatError, MemoryBudgetError, RequestError, Text
from kleene.graph import Graph
from kleene.graph.labels import unwritable_label
from kleene.io.dimacs import DIMACS
from kleene.io.edge_list import EDGE_LIST
from kleene.io.format import Format
from kleene.io.gap import GAP
from kleene.io.geojson import GEOJSON
from kleene.io.geopackage import GEOPACKAGE
from kleene.io.gml import GML
from kleene.io.graphml import GRAPHML
from kleene.io.matrix_market import MATRIX_MARKET
from kleene.io.metis import METIS
from kleene.io.npy import NPY
from kleene.io.npz import NPZ
from kleene.io.parquet import PARQUET
from kleene.io.positions import with_positions_from
from kleene.io.sink import Sink, open_binary
from kleene.io.source import PathOrFile, Progress, Source, require_path_or_file
from kleene.io.tntp import TNTP
from kleene.system.interrupts import interrupt_first
from kleene.system.machine import as_threads
from kleene.system.progress import reporter

__all__ = ["FORMATS", "detect_format", "read", "read_with_format", "write"]

#: Every format, by name.
FORMATS = {
    format.name: format
    for format in (
        *(DIMACS, MATRIX_MARKET, EDGE_LIST, METIS, GRAPHML, GML, TNTP, GEOJSON),
        *(GEOPACKAGE, GAP, NPZ, NPY, PARQUET),
    )
}

#: Suffixes of maps in other formats, which GeoPandas reads.
_OF_GEOPANDAS = (".shp", ".shz", ".fgb", ".gdb", ".kml", ".geoparquet", ".topojson", ".geojsonl")

_NUMBERS = re.compile(rb"(?:\xef\xbb\xbf)?\s*[+-]?\d+(?:[ \t]+|[ \t]*[,;][ \t]*)[+-]?\d+\b")


def read(
    path: PathOrFile,
    format: str | None = None,
    *,
    positions: PathOrFile | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> Graph:
    r"""Read a graph from a file.

    Vertices are called what the file calls them: by their names or numbers, which become the labels
    of the graph, unless they are 0 .. n - 1. So vertices of DIMACS, MatrixMarket, METIS and TNTP
    files are labelled 1 .. n.

    Parameters
    ----------
    path : str, path or binary file
        ``"-"`` is standard input. gzip is detected by content and decompressed.
    format : str, optional
        ``"dimacs"``, ``"matrix_market"``, ``"edge_list"``, ``"metis"``, ``"graphml"``, ``"gml"``,
        ``"tntp"``, ``"geojson"``, ``"geopackage"``, ``"gap"``, ``"npz"``, ``"npy"`` or
        ``"parquet"``. By default it is detected from the content, then from the suffix.
    positions : str, path or binary file, optional
        Another file, with the coordinates of the vertices: DIMACS ``.co``, TNTP's ``_node.tntp``,
        or a CSV or Parquet table with the columns id, x and y. GraphML, GML, GeoJSON, GeoPackage
        and Kleene's ``.npz`` hold them themselves.
    threads : int, optional
        Threads that parse text; all cores by default.
    progress : bool or callable, optional
        True shows a bar, in a notebook or terminal. A function is called with (done, total), in
        bytes of the file, while text is read.
    **options
        Options of the format; docs/formats.md lists them all.

        directed : bool or str
            Whether a line is an arc or an undirected edge. For edge lists, Parquet, GeoJSON and
            GeoPackage also the name of a column that says it for each line, such as
            OpenStreetMap's ``"oneway"``.
        weight : str or None
            For edge lists, Parquet, GraphML, GML, TNTP, GeoJSON and GeoPackage: the column or
            attribute that holds the weights; None for an unweighted graph. For the last two,
            ``"geometry"`` is the length of lines, in metres of longitude and latitude.
        weighted : bool
            False ignores weights; True requires them.
        labels : str
            For GraphML and GML: the attribute of nodes that names vertices; ``"id"`` for their ids.
        through : bool
            For TNTP: whether paths may pass zones.
        snap : float
            For GeoJSON and GeoPackage: ends of streets that are at most so far apart are one
            vertex, in metres of longitude and latitude.
        layer : str
            For GeoPackage: the table of streets, if there are several.
        relabel : bool
            For edge lists and Parquet. False takes integers as positions.
        keep_rows : bool
            For edge lists, Parquet, GeoJSON and GeoPackage. False saves the memory of
            ``graph.rows``.
        drop_missing : bool
            For edge lists and Parquet. Whether rows with a missing value (an empty field, null, NaN
            or NA) for an end or the weight are left out, with a warning that says how many; by
            default they are refused.
        names, columns, header, separator, comments
            For edge lists: whether vertices are names; the columns of source, target and weight,
            by name or number; whether the first line is a header; the column separator; the
            characters that start a comment.
        null_value : number
            For ``.npy`` and MatrixMarket arrays: the entry that means "no arc"; infinity if zeros
            are arcs of weight zero.

    Raises
    ------
    FormatError
        The file does not follow its format; the message begins with ``file:line:``.

    Examples
    --------
    >>> import io, kleene as kl
    >>> kl.read(io.BytesIO(b"# a triangle\n0 1 5\n1 2 3\n2 0 4\n"))
    Graph(3 vertices, 3 arcs, int32 weights 3 to 5, directed)
    >>> g = kl.read(io.BytesIO(b"ann,bob\nbob,cy\n"), "edge_list", directed=False)
    >>> g, g.index("cy")
    (Graph(3 vertices, 2 edges, unweighted, undirected, labelled 'ann', ..., 'cy'), 2)
    >>> kl.read(io.BytesIO(b"p sp 2 1\na 1 3 7\n"))
    Traceback (most recent call last):
        ...
    kleene.errors.FormatError: <stream>:2: found '3' in 'a 1 3 7', expected a vertex from 1 to 2
    """
    graph, _ = read_with_format(
        path, format, positions=positions, threads=threads, progress=progress, **options
    )
    return graph


def read_with_format(
    path: PathOrFile,
    format: str | None = None,
    *,
    positions: PathOrFile | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> tuple[Graph, str]:
    """Read a graph like :func:`read`; return it and the name of its format."""
    threads = as_threads(threads)
    chosen = None if format is None else _by_name(format)
    if chosen is not None:
        chosen.check_options(chosen.read, options)
    with (
        reporter(progress, f"reading {path}") as report,
        _memory_named(path),
        Source(path, threads, report) as source,
    ):
        if source.size == 0:
            source.fail("found an empty file, expected a graph")
        if chosen is None:
            chosen = detect_format(source)
            chosen.check_options(chosen.read, options)
        graph = chosen.read(source, **options)
    if positions is not None:
        names = chosen.name_in_tables(graph.label(np.arange(graph.n)))
        with _memory_named(positions):
            graph = with_positions_from(positions, graph, names, threads)
    return graph, chosen.name


@contextmanager
def _memory_named(path: PathOrFile) -> Iterator[None]:
    """Turn a MemoryError, which checks could not foresee, into an error that names the file."""
    try:
        yield
    except MemoryBudgetError:
        raise
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        raise MemoryBudgetError(
            f"reading {path}: out of memory{said}",
            advice=["use a machine with more memory", "raise the limit of the process"],
            lead="; ",
        ) from None


def write(
    graph: Graph,
    path: PathOrFile,
    format: str | None = None,
    *,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> None:
    """Write a graph to a file; the file is replaced only when it is complete.

    A format that numbers vertices (DIMACS, MatrixMarket, METIS, GAP, ``.npy``) takes graphs without
    labels, or with the labels 1 .. n; write ``graph.unlabelled()`` to drop others.

    Parameters
    ----------
    graph : Graph
    path : str, path or binary file
        ``"-"`` is standard output. A text format is compressed with gzip if the name ends in
        ``.gz``.
    format : str, optional
        The name of the format, as in :func:`read`; by default the suffix decides.
    threads : int, optional
        Threads that format text; all cores by default.
    progress : bool or callable, optional
        True shows a bar, in a notebook or terminal. A function is called with (done, total), in
        arcs or vertices, while text is written.
    **options
        ``separator`` and ``header`` for edge lists; ``compressed=True`` and ``rows=False``, which
        leaves out the table rows, for ``.npz``.

    Examples
    --------
    >>> import io, kleene as kl
    >>> file = io.BytesIO()
    >>> kl.write(kl.Graph.from_edges([0, 1], [1, 2], [0.5, 2]), file, "matrix_market")
    >>> print(file.getvalue().decode(), end="")
    %%MatrixMarket matrix coordinate real general
    3 3 2
    1 2 0.5
    2 3 2.0
    """
    if not isinstance(graph, Graph):
        raise RequestError(
            f"the first argument of write must be a Graph, not {type(graph).__name__}"
        )
    threads = as_threads(threads)
    require_path_or_file(path, "write")
    suffix, gzipped = _suffix(fspath(path) if isinstance(path, (str, PathLike)) else "")
    if format is not None:
        chosen = _by_name(format)
    else:
        named = _by_suffix(suffix)
        if named is None:
            what = f"unknown suffix {suffix!r}" if suffix else "the file name has no suffix"
            raise RequestError(
                f"{what}", advice=[f"rename the file or give the format. {_known()}"]
            )
        chosen = named
    if chosen.write is None:
        raise RequestError(
            f"Kleene reads {chosen.title} files but does not write them",
            advice=["write GraphML (.graphml)"],
        )
    if gzipped and not chosen.text:
        raise RequestError(
            f"{chosen.title} files are not compressed with gzip", advice=["omit .gz from the name"]
        )
    chosen.check_options(chosen.write, options)
    chosen.require_labels(graph)
    try:
        with (
            reporter(progress, f"writing {path}") as report,
            open_binary(path, gzipped) as file,
            interrupt_first(),
        ):
            chosen.write(graph, Sink(file, suffix, threads, report), **options)
    except UnicodeEncodeError as error:
        raise unwritable_label(error) from None


# ---- format detection -------------------------------------------------------------------------


def detect_format(source: Source, named: str | None = None) -> Format:
    """Return the format: the named one, or by signature, suffix, and the look of the content."""
    if named is not None:
        return _by_name(named)
    head = source.head()
    for format in FORMATS.values():
        if format.claims(head):
            return format
    known = _by_suffix(source.suffix)
    if known is not None:
        return known
    if head.startswith((b"#", b"%")) or _NUMBERS.match(head):
        return EDGE_LIST
    source.require_utf8()
    if source.suffix in _OF_GEOPANDAS:
        raise FormatError(
            f"{source.name}: Kleene reads maps as GeoJSON (.geojson) and GeoPackage (.gpkg)",
            advice=[
                Text(
                    "read others by GeoPandas: ",
                    Code(f"kl.Graph.from_geopandas(geopandas.read_file({source.name!r}))"),
                )
            ],
        )
    if source.suffix == ".json":
        raise FormatError(
            f"{source.name}: found JSON that is not GeoJSON",
            advice=["make a table with one row per edge, the names of its two ends and its length"],
        )
    raise FormatError(
        f"{source.name}: cannot detect the format. For an edge list, pass ",
        Code('format="edge_list"'),
        f". {_known()}",
    )


def _suffix(name: str) -> tuple[str, bool]:
    """Return the suffix of the format, and whether .gz follows it."""
    path = Path(name)
    gzipped = path.suffix.lower() == ".gz"
    return (Path(path.stem) if gzipped else path).suffix.lower(), gzipped


def _by_suffix(suffix: str) -> Format | None:
    return next((format for format in FORMATS.values() if suffix in format.suffixes), None)


def _by_name(name: str) -> Format:
    if not isinstance(name, str) or name not in FORMATS:
        raise RequestError(f"no format {name!r}. {_known()}")
    return FORMATS[name]


def _known() -> str:
    """Return the list of formats and their suffixes, for messages."""
    return "Formats: " + "; ".join(
        f"{format.name} ({' '.join(format.suffixes)})" for format in FORMATS.values()
    )
