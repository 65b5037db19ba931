"""NumPy's ``.npz``: Kleene's native format, and SciPy's format for sparse matrices.

Kleene's format holds the CSR arrays, whether the graph is directed, its labels and its name, so
nothing is lost. SciPy's is what ``scipy.sparse.save_npz`` writes, in any sparse format. Nothing is
unpickled, and the sizes of the archive's members are checked before they are decompressed.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, KleeneError, RequestError
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.io.format import Format
from kleene.io.npy import array_from_npy
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["NPZ"]

Arrays = dict[str, NDArray[Any]]

_TAG = "kleene.graph"
_VERSION = 1
_INDEX_ENTRIES = {  # the index arrays of SciPy's formats
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)  # what zipfile raises


def read(source: Source, *, directed: bool | None = None) -> Graph:
    try:
        arrays = _load_arrays(source)
        if str(arrays.get("format", "")) == _TAG:
            graph = _from_kleene(source, arrays, directed)
        else:
            graph = _from_scipy(source, arrays)
            if directed is False:
                graph = graph.symmetrise()
            graph = Graph(graph.csr, graph.directed, name=source.stem)
    except MemoryError:
        raise
    except (KleeneError, ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
        source.fail(str(error).removeprefix(f"{source.name}: ") or type(error).__name__)
    return graph


def _load_arrays(source: Source) -> Arrays:
    """Return the members of the archive, after a check that they fit in memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data.data)) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
            require_memory(
                sum(member.file_size for member in members),
                f"decompressing {source.name}",
                "the file may be damaged or malicious",
            )
            return {
                member.filename.removesuffix(".npy"): array_from_npy(
                    np.frombuffer(archive.read(member), np.uint8)
                )
                for member in members
            }
    except _DAMAGE as error:
        source.fail(f"found a damaged archive ({error}), expected an .npz file")


def _entry(source: Source, arrays: Arrays, name: str, what: str) -> NDArray[Any]:
    """Return an entry of the archive, or raise the error that it is missing."""
    if name not in arrays:
        held = ", ".join(sorted(arrays))
        source.fail(f"found the entries {held}, expected {name!r} in {what}")
    return arrays[name]


def _from_kleene(source: Source, arrays: Arrays, directed: bool | None) -> Graph:
    entries = ("version", "directed", "name", "offsets", "neighbors")
    *scalars, offsets, neighbors = (
        _entry(source, arrays, name, "a Kleene graph") for name in entries
    )
    for scalar, name in zip(scalars, entries, strict=False):
        if scalar.ndim:
            source.fail(f"found {name!r} of shape {scalar.shape}, expected a scalar")
    version, own_direction, title = (scalar.item() for scalar in scalars)
    if int(version) > _VERSION:
        source.fail(f"found version {version}, expected at most {_VERSION}; upgrade Kleene")
    if directed is not None:
        raise RequestError("directed= does not apply to Kleene's .npz files, which store it")
    labels = arrays.get("labels")
    return Graph.from_csr(
        offsets,
        neighbors,
        arrays.get("weights"),
        directed=bool(own_direction),
        labels=labels.tolist() if labels is not None and labels.dtype.kind == "U" else labels,
        name=str(title),
    )


def _from_scipy(source: Source, arrays: Arrays) -> Graph:
    import scipy.sparse

    kind = arrays.get("format")
    if kind is None or "shape" not in arrays:
        held = ", ".join(sorted(arrays)) or "nothing"
        source.fail(f"found {held}, expected a Kleene graph or a SciPy sparse matrix")
    form = kind.item().decode() if kind.dtype.kind == "S" else str(kind)
    if form not in _INDEX_ENTRIES:
        source.fail(
            f"found the sparse format {form!r}, expected one of {', '.join(_INDEX_ENTRIES)}"
        )
    what = f"a sparse matrix in {form} format"
    data, *indices = (
        _entry(source, arrays, name, what) for name in ("data", *_INDEX_ENTRIES[form])
    )
    shape = tuple(int(length) for length in arrays["shape"])
    parts = (data, tuple(indices)) if form == "coo" else (data, *indices)
    matrix = getattr(scipy.sparse, f"{form}_array")(parts, shape=shape)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return Graph.from_scipy(matrix)


def write(graph: Graph, sink: Sink, *, compressed: bool = False) -> None:
    arrays: dict[str, Any] = {
        "format": _TAG,
        "version": _VERSION,
        "directed": graph.directed,
        "name": graph.name,
        **graph.csr._asdict(),
        "labels": _storable(graph.labels),
    }
    save = np.savez_compressed if compressed else np.savez
    save(sink.file, **{name: array for name, array in arrays.items() if array is not None})


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
    "npz", "NumPy .npz", (".npz",), read, write, claims=lambda head: head.startswith(b"PK\x03\x04")
)
