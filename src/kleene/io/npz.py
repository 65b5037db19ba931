"""NumPy's ``.npz``: Kleene's native format, and SciPy's format for sparse matrices.

Kleene's format holds the CSR arrays, whether the graph is directed, its labels, positions and the
system that they are in, table rows and name. SciPy's is what ``scipy.sparse.save_npz`` writes, in
any sparse format. Nothing is unpickled, and the sizes of the archive's members are checked before
they are decompressed.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.errors import Code, FormatError, GraphError, KleeneError, RequestError, message_of
from kleene.graph import Graph
from kleene.graph.checks import as_ids, as_weights, id_dtype, require_memory
from kleene.graph.forms import adopt
from kleene.graph.rows import EdgeRows, Lines
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.system.machine import threads_for
from kleene.system.npy_header import LONGEST_HEADER, NpyHeader
from kleene.system.threads import for_each

__all__ = [
    "DAMAGE",
    "ENCRYPTED",
    "NPZ",
    "ROW_ENTRIES",
    "TAG",
    "as_written",
    "begin_of_member",
    "direction_and_name",
    "entries_of_rows",
    "graph_entries",
    "is_stored",
    "map_member",
    "raise_error_of_system",
    "read_mapped",
    "read_npz_arrays",
    "require_written_by_numpy",
    "rows_of_entries",
    "text_of_entry",
    "write_aligned",
]


# ---- The table rows of a graph in Kleene's ``.npz`` ---------------------------------------------
# Their ends, directions, weights and geometry.
#
# Entries begin with ``rows_`` and are there only if the graph has them. They are checked for what
# calls rely on: positions of vertices, lengths, and increasing offsets.

Arrays = dict[str, NDArray[Any]]

_COLUMNS = ("sources", "targets", "direction", "weights", "numbers", "closed")
_FACTS = ("undirected", "flipped", "count", "combine")
_LATER_FACTS = ("by_arc", "index")  # files may lack them
_LINES = ("line_offsets", "line_coordinates")
ROW_ENTRIES = tuple(f"rows_{name}" for name in (*_COLUMNS, *_FACTS, *_LATER_FACTS, *_LINES))


def entries_of_rows(rows: EdgeRows | None) -> dict[str, Any]:
    """Return the entries that hold these rows; None for what they do not have."""
    if rows is None:
        return {}
    lines = rows.lines or Lines(None, None)  # type: ignore[arg-type]
    named = {name: getattr(rows, name) for name in (*_COLUMNS, *_FACTS, *_LATER_FACTS)}
    named.update(zip(_LINES, lines, strict=True))
    return {f"rows_{name}": value for name, value in named.items()}


def rows_of_entries(arrays: Arrays, n: int) -> EdgeRows | None:
    """Return the rows that these entries hold, for a graph of ``n`` vertices, or None."""
    names = (*_COLUMNS, *_FACTS, *_LATER_FACTS, *_LINES)
    held = {name: arrays.get(f"rows_{name}") for name in names}
    if held["sources"] is None:
        return None
    require_memory(  # copies in other types
        sum(array.nbytes for array in held.values() if array is not None),
        "the rows of the graph",
        "use a machine with more memory",
    )
    facts = [held[name] for name in _FACTS]
    if any(fact is None or fact.ndim for fact in facts):
        raise GraphError("the table rows lack an entry")
    undirected, flipped, count, combine = (fact.item() for fact in facts)  # type: ignore[union-attr]
    if combine not in ("min", "max", "sum") or not isinstance(count, int) or count < 0:
        raise GraphError(f"the table rows are {count!r}, combined by {combine!r}")
    sources = _integers(held["sources"], n, None, "sources")
    rows = EdgeRows(
        sources,
        _integers(held["targets"], n, len(sources), "targets"),
        bool(undirected),
        _direction(held["direction"], len(sources)),
        _weights(held["weights"], len(sources)),
        combine,
        None
        if held["numbers"] is None
        else _integers(held["numbers"], count, len(sources), "numbers").astype(np.int64),
        count,
        flipped=bool(flipped),
        closed=_closed(held["closed"], len(sources)),
        by_arc=bool(_later_fact(held["by_arc"], "b") or False),
        index=_later_fact(held["index"], "i"),
    )
    if held["numbers"] is None and count != len(sources):
        raise GraphError(f"the table has {count} rows, but {len(sources)} are stored")
    return _with_lines(rows, held["line_offsets"], held["line_coordinates"])


def _integers(array: Any, below: int, length: int | None, name: str) -> NDArray[Any]:
    values = as_ids([] if array is None else array, f"the rows' {name}")
    _require_length(values, length, name)
    if len(values) and (values.min() < 0 or values.max() >= below):
        raise GraphError(f"the rows' {name} must be from 0 to {below - 1}")
    kept: NDArray[Any] = adopt(values.astype(id_dtype(below), copy=False))
    return kept


def _require_length(values: NDArray[Any], length: int | None, name: str) -> None:
    if length is not None and values.shape != (length,):
        raise GraphError(f"the rows' {name} have shape {values.shape}, not ({length},)")


def _direction(array: Any, length: int) -> Any:
    if array is None:
        return None
    _require_length(array, length, "direction")
    if array.dtype != np.int8 or not np.isin(array, (-1, 0, 1)).all():
        raise GraphError("the rows' direction must be -1, 0 or 1")
    return adopt(array)


def _closed(array: Any, length: int) -> Any:
    if array is None:
        return None
    _require_length(array, length, "closed")
    if array.dtype != bool:
        raise GraphError("the rows' closed must be true or false")
    return adopt(array)


def _later_fact(array: Any, kind: str) -> Any:
    if array is None:
        return None
    if array.ndim or array.dtype.kind != kind:
        raise GraphError("the table rows have an entry of another type")
    return array.item()


def _weights(array: Any, length: int) -> Any:
    values = as_weights(array, "the rows' weights")
    if values is not None:
        _require_length(values, length, "weights")
        if np.isnan(values).any():
            raise GraphError("the rows' weights hold NaN")
    return None if values is None else adopt(values)


def _with_lines(rows: EdgeRows, offsets: Any, coordinates: Any) -> EdgeRows:
    if offsets is None or coordinates is None:
        return rows
    starts = as_ids(offsets, "the rows' line_offsets")
    places = as_weights(coordinates, "the rows' line_coordinates")
    assert places is not None
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise GraphError("the rows' line_coordinates must be pairs of numbers")
    if not len(starts) or (starts[1:] < starts[:-1]).any():
        raise GraphError("the rows' line_offsets must not decrease")
    return rows.with_lines(Lines(starts.astype(np.int64), places.astype(np.float64)))


# ---- ``.npz`` archives whose arrays can be mapped -----------------------------------------------
# Stored as they are, at multiples of 64 bytes.
#
# A mapped array costs no memory of its own, and processes that map the same file share it. The
# archive is an ordinary one otherwise: NumPy loads it, and so do programs that open zip files.

_ALIGNMENT = 64  # bytes; headers of .npy are a multiple of it
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # signature, lengths of name and extra field
_SIGNATURE = b"PK\x03\x04"
_EXTRA_HEADER = struct.Struct("<HH")
_PADDING_ID = 0xD935  # of an extra field that only aligns, as in Android's packages
_SIZES_BYTES = 20  # of the extra field that zipfile adds for sizes of 64 bits
ENCRYPTED = 1  # a flag of a member


def as_written(file: IO[bytes]) -> Any:
    """Return what an archive may be written to: of a device, which is at no position, its writes.

    ``/dev/null`` is always at byte 0, and archives tell by the position how long they are.
    """
    try:
        is_device = stat.S_ISCHR(os.fstat(file.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # in memory
        is_device = False
    return SimpleNamespace(read=None, write=file.write, flush=file.flush) if is_device else file


def write_aligned(file: IO[bytes], arrays: Mapping[str, ArrayLike]) -> None:
    """Write an ``.npz`` archive of arrays that can be mapped; the same arrays give the same bytes.

    Parameters
    ----------
    file : binary file
    arrays : mapping
        Arrays by name, without objects.
    """
    archive = zipfile.ZipFile(as_written(file), "w", zipfile.ZIP_STORED)
    try:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # of 1980: no time of writing
            assert archive.fp is not None
            begin = archive.fp.tell() + _LOCAL_HEADER.size + len(member.filename)
            padding = -(begin + _EXTRA_HEADER.size + _SIZES_BYTES) % _ALIGNMENT
            member.extra = _EXTRA_HEADER.pack(_PADDING_ID, padding) + bytes(padding)
            with archive.open(member, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
        archive.close()
    except BaseException:  # Ctrl-C, say: a file that will be removed is not finished
        archive.fp = None
        raise


def begin_of_member(
    member: zipfile.ZipInfo, size: int, bytes_of: Callable[[int, int], bytes]
) -> int:
    """Return the byte at which the data of a stored member of an archive begins.

    ``bytes_of`` returns bytes of the archive, which has ``size`` of them. Raises ValueError for a
    member that is not where the archive's directory says.
    """
    header_end = member.header_offset + _LOCAL_HEADER.size
    if member.header_offset < 0 or header_end > size:
        raise ValueError("a member begins beyond the end")
    signature, name, extra = _LOCAL_HEADER.unpack(bytes_of(member.header_offset, header_end))
    begin: int = header_end + name + extra
    end = begin + member.file_size
    if signature != _SIGNATURE or end > size or member.file_size != member.compress_size:
        raise ValueError("a member is not where the directory says")
    return begin


def is_stored(member: zipfile.ZipInfo) -> bool:
    """Return whether the data of a member is in the archive as it is."""
    return member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & ENCRYPTED


def map_member(content: NDArray[np.uint8], member: zipfile.ZipInfo) -> NDArray[Any] | None:
    """Return the array of a member as a part of the archive's content, or None.

    None is for members that must be read: compressed ones, and those that are not aligned. Raises
    ValueError for a damaged member; its checksum is compared.
    """
    if not is_stored(member):
        return None
    begin = begin_of_member(member, len(content), lambda begin, end: content[begin:end].tobytes())
    data = content[begin : begin + member.file_size]
    header = NpyHeader.parse(data[:LONGEST_HEADER].tobytes(), len(data))
    if zlib.crc32(data.data) != member.CRC:
        raise ValueError(f"bad checksum of {member.filename!r}")
    if not header.items:
        return np.empty(header.shape, header.dtype)
    items: NDArray[Any] = np.frombuffer(data, header.dtype, header.items, header.length)
    return header.arrange(items) if items.flags.aligned else None


# ---- Kleene's and SciPy's files -----------------------------------------------------------------

TAG = "kleene.graph"
_VERSION = 1
_INDEX_ENTRIES = {  # the index arrays of SciPy's formats
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
_ENTRIES = {
    *("format", "shape", "data", *(name for names in _INDEX_ENTRIES.values() for name in names)),
    *("version", "directed", "name", "offsets", "neighbors", "weights", "labels"),
    *("positions", "crs", *ROW_ENTRIES),
}
DAMAGE = (  # what zipfile raises for damaged archives
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    UnicodeDecodeError,
    ValueError,
)
_CHUNK = 1 << 20  # bytes decompressed at a time
_CONVERSION = 64  # bytes per entry that SciPy takes to convert a matrix to coordinates
_LABEL_BYTES = 120  # of a string as a label, besides its characters: the object, a list, a set


def read(source: Source, *, directed: bool | None = None) -> Graph:
    return _read(source, directed, mapped=False)


def read_mapped(source: Source) -> Graph:
    """Return the graph in a file, its arrays mapped where that is possible."""
    return _read(source, None, mapped=True)


def _read(source: Source, directed: bool | None, mapped: bool) -> Graph:
    try:
        arrays = read_npz_arrays(source, _ENTRIES, mapped=mapped)
        if text_of_entry(arrays.get("format")) == TAG:
            graph = _from_kleene(source, arrays, directed)
        else:
            graph = _from_scipy(source, arrays)
            if directed is False:
                graph = graph.symmetrise()
            graph = graph._derived(graph.csr, name=source.stem)
    except (MemoryError, FormatError):
        raise
    except (KleeneError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        source.fail(message_of(error) or type(error).__name__)
    return graph


def read_npz_arrays(
    source: Source,
    names: Collection[str],
    most: int | None = None,
    *,
    mapped: bool = False,
) -> Arrays:
    """Return those of the named arrays that an ``.npz`` file holds.

    Nothing is unpickled, and nothing is allocated before it is known to fit in memory, or in
    ``most`` bytes for each array. Entries with other names are not read. With ``mapped``, arrays
    are read-only memory of the file where they can be.

    Raises
    ------
    FormatError
        The archive is damaged, or holds something else than arrays of numbers and strings.
    MemoryBudgetError
        The arrays do not fit in memory.
    """
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members = {}
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in members:
                    source.fail(f"found two entries {name!r}, expected one")
                if name in names:
                    members[name] = member
                    if most is not None and member.file_size > most + LONGEST_HEADER:
                        source.fail(f"found {member.file_size:,} bytes of {name!r}, too many")
                    require_written_by_numpy(source, member)
            arrays = _mapped_members(source, members) if mapped else {}
            left = {name: member for name, member in members.items() if name not in arrays}
            require_memory(
                sum(member.file_size for member in left.values()),
                f"decompressing {source.name}",
                "the file may be damaged or malicious",
            )
            read = {name: _read_member(source, archive, member) for name, member in left.items()}
            return arrays | read
    except KleeneError:
        raise
    except DAMAGE as error:
        raise_error_of_system(error)
        kind = "a .kp" if source.suffix == ".kp" else "an .npz"
        source.fail(f"found a damaged archive ({error}), expected {kind} file")


def require_written_by_numpy(source: Source, member: zipfile.ZipInfo) -> None:
    """Raise FormatError for a member that is encrypted, or compressed in an unusual way."""
    name = member.filename.removesuffix(".npy")
    if member.flag_bits & ENCRYPTED:
        source.fail(f"found {name!r} encrypted, expected an archive without a password")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        source.fail(f"found {name!r} in a compression that NumPy does not write")


def raise_error_of_system(damage: Exception) -> None:
    """Raise the error that the system had while zipfile read, and that it takes for damage."""
    if isinstance(damage.__context__, OSError):
        raise damage.__context__ from None


def _mapped_members(source: Source, members: dict[str, zipfile.ZipInfo]) -> Arrays:
    """Return the arrays of those members that can be mapped."""
    content = source.mapped
    arrays: Arrays = {}

    def add(name: str) -> None:
        array = map_member(content, members[name])
        if array is not None:
            arrays[name] = array

    for_each(add, members, threads_for(source.size >> 3, source.threads))
    return arrays


def _read_member(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array in a member of an archive; its size was checked."""
    with archive.open(member) as file:
        head = file.read(LONGEST_HEADER)
        try:
            header = NpyHeader.parse(head, member.file_size)
        except ValueError as error:
            source.fail(f"{error} in the entry {member.filename!r}")
        items = np.empty(header.items, header.dtype)
        if not items.nbytes:
            return header.arrange(items)
        buffer = items.view(np.uint8)
        done = len(head) - header.length
        buffer[:done] = np.frombuffer(head, np.uint8, offset=header.length)
        while done < len(buffer):
            chunk = file.read(_CHUNK)
            if not chunk:
                source.fail(f"found the end of the entry {member.filename!r}, expected more data")
            buffer[done : done + len(chunk)] = np.frombuffer(chunk, np.uint8)
            done += len(chunk)
        file.read(1)  # at the end, zipfile compares the checksum
        return header.arrange(items)


def _entry(source: Source, arrays: Arrays, name: str, what: str) -> NDArray[Any]:
    """Return an entry of the archive, or raise the error that it is missing."""
    if name not in arrays:
        held = ", ".join(sorted(arrays))
        source.fail(f"found the entries {held}, expected {name!r} in {what}")
    return arrays[name]


def text_of_entry(entry: NDArray[Any] | None) -> str:
    """Return the string that an entry of an archive is; an empty one for anything else.

    It is taken out of the array, never printed: NumPy's printing leaves marks behind when Ctrl-C
    interrupts it, and prints other arrays as ``...`` afterwards.
    """
    text = None if entry is None or entry.ndim else entry.item()
    text = text.decode() if isinstance(text, bytes) else text
    return text if isinstance(text, str) else ""


def direction_and_name(source: Source, arrays: Arrays) -> tuple[bool, str]:
    """Return whether a Kleene graph is directed, and its name; raise for a newer version."""
    entries = ("version", "directed", "name")
    scalars = [_entry(source, arrays, name, "a Kleene graph") for name in entries]
    for scalar, name in zip(scalars, entries, strict=True):
        if scalar.ndim:
            source.fail(f"found {name!r} of shape {scalar.shape}, expected a scalar")
    version, directed, title = (scalar.item() for scalar in scalars)
    if int(version) > _VERSION:
        source.fail(f"found version {version}, expected at most {_VERSION}; upgrade Kleene")
    return bool(directed), str(title)


def _from_kleene(source: Source, arrays: Arrays, directed: bool | None) -> Graph:
    own_direction, title = direction_and_name(source, arrays)
    offsets, neighbors = (
        _entry(source, arrays, name, "a Kleene graph") for name in ("offsets", "neighbors")
    )
    if directed is not None:
        raise RequestError(
            Code("directed="), " does not apply to Kleene's .npz files, which store it"
        )
    labels = arrays.get("labels")
    if labels is not None and labels.dtype.kind == "U":
        require_memory(
            labels.size * (labels.itemsize + _LABEL_BYTES),
            f"the labels of {source.name}",
            "use a machine with more memory",
        )
    graph = Graph.from_csr(
        adopt(offsets),
        adopt(neighbors),
        adopt(arrays.get("weights")),
        directed=own_direction,
        labels=labels.tolist() if labels is not None and labels.dtype.kind == "U" else labels,
        name=title,
    )
    graph = graph._derived(graph.csr, rows=rows_of_entries(arrays, graph.n))
    crs = text_of_entry(arrays.get("crs")) or None
    return graph.with_positions(arrays["positions"], crs) if "positions" in arrays else graph


def _from_scipy(source: Source, arrays: Arrays) -> Graph:
    import scipy.sparse

    kind = arrays.get("format")
    if kind is None or "shape" not in arrays:
        source.fail(
            "found no entries 'format' and 'shape', expected a Kleene graph or a SciPy sparse "
            "matrix"
        )
    form = text_of_entry(kind)
    if form not in _INDEX_ENTRIES:
        source.fail(
            f"found the sparse format {form!r}, expected one of {', '.join(_INDEX_ENTRIES)}"
        )
    what = f"a sparse matrix in {form} format"
    data, *indices = (
        _entry(source, arrays, name, what) for name in ("data", *_INDEX_ENTRIES[form])
    )
    for name, index in zip(_INDEX_ENTRIES[form], indices, strict=True):
        if index.size and index.dtype.kind not in "iu":
            source.fail(f"found {name!r} of type {index.dtype}, expected integers")
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1] or shape[0] < 0:
        source.fail(f"found the shape {shape.tolist()}, expected that of a square matrix")
    n = int(shape[0])
    if form == "bsr" and (data.ndim != 3 or 0 in data.shape[1:]):
        source.fail(f"found blocks of shape {data.shape[1:]}, expected rows and columns")
    require_memory(  # what SciPy takes to convert the matrix
        _CONVERSION * data.size + 24 * (n + 1),
        f"a sparse matrix of {n:,} rows",
        "check the shape that the file declares, or use a machine with more memory",
    )
    parts = (data, tuple(indices)) if form == "coo" else (data, *indices)
    matrix = getattr(scipy.sparse, f"{form}_array")(parts, shape=(n, n))
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return Graph.from_scipy(matrix)


def graph_entries(graph: Graph, rows: bool = True) -> dict[str, Any]:
    """Return the entries of a file that hold a graph, with or without its table rows."""
    entries: dict[str, Any] = {
        "format": TAG,
        "version": _VERSION,
        "directed": graph.directed,
        "name": graph.name,
        **graph.csr._asdict(),
        "labels": _storable(graph.labels),
        "positions": graph.positions,
        "crs": graph.crs if graph.positions is not None else None,
        **entries_of_rows(graph.rows if rows else None),
    }
    return {name: entry for name, entry in entries.items() if entry is not None}


def write(graph: Graph, sink: Sink, *, compressed: bool = False, rows: bool = True) -> None:
    save = np.savez_compressed if compressed else np.savez
    save(as_written(sink.file), **graph_entries(graph, rows))


def _storable(labels: NDArray[Any] | None) -> NDArray[Any] | None:
    if labels is None or labels.dtype.kind in "iu":
        return labels
    for label in labels:
        if not isinstance(label, str) or label.endswith("\0"):
            raise GraphError(
                f"label {label!r} cannot be written: labels must be integers, or strings that do "
                "not end with a NUL character"
            )
    return np.array(labels.tolist(), dtype=np.str_)


NPZ = Format(
    "npz",
    "NumPy .npz",
    (".npz",),
    read,
    write,
    claims=lambda head: head.startswith(b"PK\x03\x04"),
    wide_labels=True,
)
