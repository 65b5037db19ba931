"""NumPy's ``.npz``: Kleene's native format, and SciPy's format for sparse matrices.

Kleene's format holds the CSR arrays, whether the graph is directed, its labels, positions, table
rows and name. SciPy's is what ``scipy.sparse.save_npz`` writes, in any sparse format. Nothing is
unpickled, and the sizes of the archive's members are checked before they are decompressed.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, FormatError, GraphError, KleeneError, RequestError, message_of
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.graph.frozen import adopt
from kleene.io.format import Format
from kleene.io.npz_mapped import ENCRYPTED, as_written, map_member
from kleene.io.npz_rows import ROW_ENTRIES, entries_of_rows, rows_of_entries
from kleene.io.sink import Sink
from kleene.io.source import Source
from kleene.system.machine import threads_for
from kleene.system.npy_header import LONGEST_HEADER, NpyHeader
from kleene.system.threads import for_each

__all__ = [
    "DAMAGE",
    "NPZ",
    "TAG",
    "direction_and_name",
    "graph_entries",
    "raise_error_of_system",
    "read_mapped",
    "read_npz_arrays",
    "require_written_by_numpy",
    "text_of_entry",
]

Arrays = dict[str, NDArray[Any]]

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
    *("positions", *ROW_ENTRIES),
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
    return graph.with_positions(arrays["positions"]) if "positions" in arrays else graph


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
