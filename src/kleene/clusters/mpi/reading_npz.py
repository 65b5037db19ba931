"""``.npz`` in parts: each rank reads the rows of its vertices from the members of the archive.

A member that is stored as it is, as ``kl.write`` writes it, is read by offsets, and the ranks put
the checksum of the whole together from those of their pieces. A compressed member has no offsets:
every rank decompresses all of it and keeps its range.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed
from kleene.clusters.mpi.arcs import PartArcs, check_offsets, tails_of_rows
from kleene.clusters.mpi.collective import require_part_memory
from kleene.clusters.mpi.communicator import Communicator
from kleene.clusters.mpi.partition import Partition
from kleene.errors import KleeneError
from kleene.graph.checks import as_ids, as_weights
from kleene.io.npz import (
    DAMAGE,
    TAG,
    begin_of_member,
    direction_and_name,
    is_stored,
    raise_error_of_system,
    read_npz_arrays,
    require_written_by_numpy,
    text_of_entry,
)
from kleene.io.source import Source
from kleene.system.npy_header import LONGEST_HEADER, NpyHeader, require_characters

__all__ = ["crc_of_pieces", "piece_crc", "read_npz"]

# ---- the CRC-32 of a file whose pieces are read by different ranks -------------------------------
# A CRC is the remainder of the bytes, as a polynomial over GF(2), by a fixed one of degree 32. So
# the CRC of two pieces in a row is that of the first, times x to the bits of the second, plus that
# of the second. Polynomials are written as zlib does, the coefficient of x^0 in the highest bit.

_POLYNOMIAL = 0xEDB88320
_ONE, _BYTE = 1 << 31, 1 << 23  # x^0 and x^8


def piece_crc(*arrays: NDArray) -> tuple[int, int]:  # type: ignore[type-arg]
    """Return the CRC-32 and the bytes of contiguous arrays in a row."""
    crc = size = 0
    for array in arrays:
        if array.nbytes:
            crc = zlib.crc32(array.data.cast("B"), crc)
        size += array.nbytes
    return crc, size


def crc_of_pieces(pieces: Iterable[tuple[int, int]]) -> int:
    """Return the CRC-32 of pieces in a row, each given by its CRC-32 and its bytes."""
    whole = 0
    for crc, size in pieces:
        whole = _product(whole, _power(_BYTE, size)) ^ crc
    return whole


def _power(base: int, exponent: int) -> int:
    result = _ONE
    while exponent:
        if exponent & 1:
            result = _product(result, base)
        base = _product(base, base)
        exponent >>= 1
    return result


def _product(a: int, b: int) -> int:
    """Return the product of two polynomials, modulo that of the CRC."""
    result = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            result ^= b
        b = b >> 1 ^ (_POLYNOMIAL if b & 1 else 0)
    return result


Array = NDArray[Any]
T = TypeVar("T")

_CHUNK = 1 << 20  # bytes decompressed at a time
_SMALL = 1 << 20  # bytes of an entry that every rank reads
_FACTS = ("format", "version", "directed", "name", "shape")
_NAMES = {  # of offsets, neighbours and weights
    TAG: ("offsets", "neighbors", "weights"),
    "csr": ("indptr", "indices", "data"),
}


class _Rows:
    """The arrays of a graph's rows in an archive, of which this rank reads its range."""

    def __init__(self, comm: Communicator, source: Source, archive: zipfile.ZipFile) -> None:
        self.comm, self.source, self.archive = comm, source, archive
        self.members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}

    def header(self, name: str) -> NpyHeader:
        """Return the header of a member, which is a list of numbers or strings."""
        if name not in self.members:
            held = ", ".join(sorted(self.members))
            self.source.fail(f"found the entries {held}, expected {name!r}")
        member = self.members[name]
        require_written_by_numpy(self.source, member)
        with self.archive.open(member) as file:
            head = file.read(LONGEST_HEADER)
        header = NpyHeader.parse(head, member.file_size)
        if len(header.shape) != 1:
            self.source.fail(f"found {name!r} of shape {header.shape}, expected a list")
        return header

    def read(self, name: str, first: int, stop: int, until: int) -> Array:
        """Return the items ``[first, until)``; ranks check the sum of all their ``[first, stop)``.

        The ranges up to ``stop`` follow each other from rank to rank, and cover all items.
        """
        member = self.members[name]
        items, piece = self.step(lambda: self._read_here(name, first, stop, until))
        if is_stored(member):
            pieces = self.comm.gather_all(piece)
            self.step(lambda: self._compare(member, crc_of_pieces(pieces)))
        return items

    def step(self, work: Callable[[], T]) -> T:
        """Do something on all ranks; damage that any of them finds is an error on all."""
        return _step(self.comm, self.source, work)

    def _compare(self, member: zipfile.ZipInfo, crc: int) -> None:
        if crc != member.CRC:
            self.source.fail(f"bad checksum of the entry {member.filename!r}")

    def _read_here(
        self, name: str, first: int, stop: int, until: int
    ) -> tuple[Array, tuple[int, int]]:
        header, member = self.header(name), self.members[name]
        self.source.require_buffer((until - first) * header.dtype.itemsize)
        if not is_stored(member):
            return self._decompressed(member, header, first, until), (0, 0)
        begin = begin_of_member(member, self.source.size, self._bytes)
        at = begin + header.length + first * header.dtype.itemsize
        items = self.source.read(header.dtype, until - first, at)
        require_characters(items)
        head = self._bytes(begin, begin + header.length) if self.comm.rank == 0 else b""
        return items, piece_crc(np.frombuffer(head, np.uint8), items[: stop - first])

    def _bytes(self, begin: int, end: int) -> bytes:
        return self.source.read(np.dtype(np.uint8), end - begin, begin).tobytes()

    def _decompressed(
        self, member: zipfile.ZipInfo, header: NpyHeader, first: int, until: int
    ) -> Array:
        """Return some items of a compressed member; zipfile compares the checksum at its end."""
        items = np.empty(until - first, header.dtype)
        buffer = items.view(np.uint8) if items.nbytes else np.empty(0, np.uint8)
        at = -header.length - first * header.dtype.itemsize  # of the chunk, in the buffer
        with self.archive.open(member) as file:
            while chunk := file.read(_CHUNK):
                begin, end = max(at, 0), min(at + len(chunk), len(buffer))
                if begin < end:
                    buffer[begin:end] = np.frombuffer(chunk[begin - at : end - at], np.uint8)
                at += len(chunk)
        if at < len(buffer):
            self.source.fail(f"found the end of the entry {member.filename!r}, expected more data")
        require_characters(items)
        return items


def read_npz(comm: Communicator, source: Source) -> PartArcs:
    """Return the arcs of this rank's vertices, of a Kleene graph or a SciPy CSR matrix."""
    facts = agreed(comm, lambda: read_npz_arrays(source, _FACTS, _SMALL))
    with ExitStack() as opened:
        file = opened.enter_context(source.open())
        archive = _step(comm, source, lambda: opened.enter_context(zipfile.ZipFile(file)))
        return _read_rows(_Rows(comm, source, archive), facts)


def _step(comm: Communicator, source: Source, work: Callable[[], T]) -> T:
    def intact() -> T:
        try:
            return work()
        except KleeneError:
            raise
        except DAMAGE as error:
            raise_error_of_system(error)
            source.fail(f"found a damaged archive ({error}), expected an .npz file")

    return agreed(comm, intact)


def _read_rows(rows: _Rows, facts: dict[str, Array]) -> PartArcs:
    comm, source = rows.comm, rows.source
    form, names, n, arcs = rows.step(lambda: _sizes(rows, facts))
    partition = Partition.even(n, comm.size)
    first, stop = partition.range(comm.rank)
    # One offset more than vertices: the last rank's checksum has it.
    last = comm.rank == comm.size - 1
    offsets = rows.read(names[0], first, stop + last, stop + 1)
    offsets = rows.step(lambda: _as_offsets(source, offsets, first, n, arcs))
    begin, end = offsets[0].item(), offsets[-1].item()
    require_part_memory(comm, n, end - begin, f"a part of {source.name}", "use more machines")
    heads = rows.read(names[1], begin, end, end)
    weights = rows.read(names[2], begin, end, end) if names[2] in rows.members else None
    labels = rows.read("labels", first, stop, stop) if _has_labels(rows, form) else None
    return rows.step(
        lambda: _part(source, form, facts, n, (tails_of_rows(offsets), heads, weights), labels),
    )


def _sizes(rows: _Rows, facts: dict[str, Array]) -> tuple[str, tuple[str, str, str], int, int]:
    """Return the form of the rows, the names of their arrays, and the vertices and arcs."""
    source = rows.source
    form = text_of_entry(facts.get("format"))
    if form not in _NAMES:
        source.fail(
            f"found the format {form!r}, expected a Kleene graph or SciPy's csr; other matrices "
            "are read by one process: convert the file by `kleene convert`"
        )
    names = _NAMES[form]
    vertices, arcs = rows.header(names[0]).items - 1, rows.header(names[1]).items
    if names[2] in rows.members and rows.header(names[2]).items != arcs:
        source.fail(f"found {rows.header(names[2]).items:,} weights, expected {arcs:,}")
    if form == "csr" and "shape" not in facts:
        source.fail("found no entry 'shape', expected a Kleene graph or a SciPy sparse matrix")
    if vertices < 0 or (form == "csr" and facts["shape"].tolist() != [vertices] * 2):
        source.fail(f"found {vertices + 1:,} offsets, expected one more than rows of a square")
    if _has_labels(rows, form) and rows.header("labels").items != vertices:
        source.fail(f"found {rows.header('labels').items:,} labels, expected {vertices:,}")
    return form, names, vertices, arcs


def _has_labels(rows: _Rows, form: str) -> bool:
    return form == TAG and "labels" in rows.members


def _as_offsets(source: Source, offsets: Array, first: int, n: int, arcs: int) -> Array:
    offsets = as_ids(offsets, "offsets").astype(np.int64, copy=False)
    check_offsets(source, offsets, first, n, arcs)
    return offsets


def _part(
    source: Source,
    form: str,
    facts: dict[str, Array],
    n: int,
    arcs: tuple[Array, Array, Array | None],
    labels: Array | None,
) -> PartArcs:
    tails, heads, weights = arcs
    heads = as_ids(heads, "neighbors")
    if form == "csr" and weights is not None and weights.dtype == bool:
        tails, heads, weights = tails[weights], heads[weights], None  # as Graph.from_scipy does
    directed, name = direction_and_name(source, facts) if form == TAG else (True, source.stem)
    return PartArcs(n, tails, heads, as_weights(weights, "weights"), directed, True, labels, name)
