"""NumPy's ``.npz``: Kleene's own way to keep a graph whole, and SciPy's for sparse matrices.

Ours holds the CSR arrays, whether the graph is directed, its labels and its name; nothing is lost.
SciPy's is what ``scipy.sparse.save_npz`` writes, in any of its formats. Nothing is unpickled, and
the archive's members are measured before they are unpacked.
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
_PLACES = {  # the entries that say where the data are, in SciPy's forms
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)  # what zipfile raises


def read(source: Source, *, directed: bool | None = None) -> Graph:
    try:
        arrays = _unpacked(source)
        if str(arrays.get("format", "")) == _TAG:
            graph = _from_ours(source, arrays, directed)
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


def _unpacked(source: Source) -> Arrays:
    """Return the members of the archive, once they are known to fit in memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data.data)) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
            require_memory(
                sum(member.file_size for member in members),
                f"unpacking {source.name}",
                "is it what it should be? It may be packed to mislead",
            )
            return {
                member.filename.removesuffix(".npy"): array_from_npy(
                    np.frombuffer(archive.read(member), np.uint8)
                )
                for member in members
            }
    except _DAMAGE as error:
        source.fail(f"found a damaged archive ({error}), expected that of an .npz file")


def _entry(source: Source, arrays: Arrays, name: str, what: str) -> NDArray[Any]:
    """Return an entry of the archive, or say which one is missing."""
    if name not in arrays:
        held = ", ".join(sorted(arrays))
        source.fail(f"found the entries {held}, expected {name!r} in {what}")
    return arrays[name]


def _from_ours(source: Source, arrays: Arrays, directed: bool | None) -> Graph:
    entries = ("version", "directed", "name", "offsets", "neighbors")
    *scalars, offsets, neighbors = (
        _entry(source, arrays, name, "a graph of Kleene's") for name in entries
    )
    for scalar, name in zip(scalars, entries, strict=False):
        if scalar.ndim:
            source.fail(f"found {name!r} of shape {scalar.shape}, expected one value")
    version, own_direction, title = (scalar.item() for scalar in scalars)
    if int(version) > _VERSION:
        source.fail(f"found version {version}, expected at most {_VERSION}: update Kleene")
    if directed is not None:
        raise RequestError("a graph in Kleene's .npz knows itself whether it is directed")
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
        source.fail(f"found {held}, expected a graph of Kleene's or a sparse matrix of SciPy's")
    form = kind.item().decode() if kind.dtype.kind == "S" else str(kind)
    if form not in _PLACES:
        source.fail(f"found the form {form!r}, expected one of {', '.join(_PLACES)}")
    what = f"a sparse matrix of the form {form}"
    data, *places = (_entry(source, arrays, name, what) for name in ("data", *_PLACES[form]))
    shape = tuple(int(length) for length in arrays["shape"])
    parts = (data, tuple(places)) if form == "coo" else (data, *places)
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
                "not end in a NUL character"
            )
    return np.array(labels.tolist(), dtype=np.str_)


NPZ = Format(
    "npz", "NumPy .npz", (".npz",), read, write, claims=lambda head: head.startswith(b"PK\x03\x04")
)
