"""Dense matrices in NumPy's ``.npy``: entry (i, j) is the weight of the arc from i to j.

Infinity (the largest integer of an integer type) means "no arc"; see ``Graph.from_dense``. Arrays
are never unpickled, and the size in the header is checked against the size of the file.
"""

from __future__ import annotations

import io
import math
import re
import struct
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import FormatError, GraphError
from kleene.graph import Graph
from kleene.io.format import Format
from kleene.io.sink import Sink
from kleene.io.source import Source

__all__ = ["LONGEST_HEADER", "NPY", "NpyHeader", "require_characters"]

_MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 16  # bytes of a file that its header must be in

#: The header of an array of numbers as NumPy writes it, after magic and length.
_PLAIN = re.compile(
    rb"\{'descr': '([^'\\]+)', 'fortran_order': (True|False), "
    rb"'shape': \(((?:(?:0|[1-9][0-9]*), )*(?:(?:0|[1-9][0-9]*),?)?)\), \} *\n"
)
_LENGTHS = {b"\x01\x00": "<H", b"\x02\x00": "<I"}  # by version


class NpyHeader(NamedTuple):
    """What the header of an ``.npy`` file says, and the bytes that it takes itself."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    length: int

    @classmethod
    def parse(cls, head: bytes, size: int) -> NpyHeader:
        """Return the header at the beginning of a file of so many bytes.

        Raises ValueError, saying what was found and what was expected: numbers or strings, as many
        as the file has.
        """
        try:
            header = cls._plain(head) or cls._any(head)
        except Exception as error:  # a damaged header makes NumPy raise many types
            raise ValueError(
                "found a damaged header, expected the header of an .npy file"
            ) from error
        shape, _, dtype, _ = header
        if dtype.hasobject:
            raise ValueError(
                "found Python objects, expected numbers (Kleene never unpickles objects)"
            )
        if dtype.kind == "V" or (dtype.itemsize == 0 and header.items):
            raise ValueError(f"found items of {dtype}, expected numbers")
        found = size - header.length
        if any(extent < 0 for extent in shape) or header.items * dtype.itemsize != found:
            raise ValueError(f"found {found:,} bytes of data, expected {shape} of {dtype}")
        return header

    @classmethod
    def _plain(cls, head: bytes) -> NpyHeader | None:
        """Return a header that is as NumPy writes it, else None.

        NumPy parses headers by ``ast``, which before Python 3.13 fails now and then where several
        threads do that (python/cpython#106905).
        """
        kind = _LENGTHS.get(head[6:8])
        if kind is None or not head.startswith(_MAGIC):
            return None
        begin = 8 + struct.calcsize(kind)
        end = begin + struct.unpack_from(kind, head.ljust(begin, b"\0"), 8)[0]
        found = _PLAIN.fullmatch(head, begin, end)
        if found is None or end > len(head):
            return None
        descr, order, shape = found.groups()
        extents = tuple(map(int, shape.decode().replace(",", " ").split()))
        if len(extents) == 1 and not shape.endswith(b","):  # (3) is not a tuple
            return None
        return cls(extents, order == b"True", np.dtype(descr.decode("latin1")), end)

    @classmethod
    def _any(cls, head: bytes) -> NpyHeader:
        """Return a header as NumPy reads it."""
        file = io.BytesIO(head[:LONGEST_HEADER])
        readers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        version = np.lib.format.read_magic(file)
        shape, fortran_order, dtype = readers[version[0]](file)
        return cls(shape, fortran_order, dtype, file.tell())

    def arrange(self, items: NDArray[Any]) -> NDArray[Any]:
        """Return the items, which are flat as in the file, in the shape."""
        require_characters(items)
        return items.reshape(self.shape, order="F" if self.fortran_order else "C")

    @property
    def items(self) -> int:
        """How many items the shape has."""
        return math.prod(self.shape)


def require_characters(items: NDArray[Any]) -> None:
    """Raise ValueError for strings of numbers that are no characters: NumPy fails to use them."""
    if items.dtype.kind == "U" and items.nbytes:
        numbers = items.view(np.dtype(np.uint32).newbyteorder(items.dtype.byteorder))
        if numbers.max() > sys.maxunicode:
            raise ValueError("characters that are not Unicode")


def read(source: Source, *, null_value: Any = None, directed: bool = True) -> Graph:
    try:
        header = NpyHeader.parse(source.head(LONGEST_HEADER), source.size)
        if len(header.shape) != 2 or header.shape[0] != header.shape[1]:
            raise GraphError(f"the matrix must be square, but has shape {header.shape}")
        matrix = header.arrange(source.read(header.dtype, header.items, header.length))
        graph = Graph.from_dense(matrix, null_value)
    except FormatError:
        raise
    except (ValueError, TypeError) as error:
        source.fail(str(error))
    graph = graph if directed else graph.symmetrise()
    return graph._derived(graph.csr, name=source.stem)


def write(graph: Graph, sink: Sink) -> None:
    if graph.weights is not None and np.any(graph.coo.sources == graph.neighbors):
        raise GraphError(
            "an .npy matrix has a zero diagonal and cannot hold negative self-loops; use .npz"
        )
    matrix = graph.dense
    np.lib.format.write_array_header_1_0(
        sink.file, np.lib.format.header_data_from_array_1_0(matrix)
    )
    sink.write(matrix.reshape(-1).view(np.uint8).data)


NPY = Format(
    "npy",
    "NumPy .npy",
    (".npy",),
    read,
    write,
    claims=lambda head: head.startswith(_MAGIC),
    numbered_from=0,
)
