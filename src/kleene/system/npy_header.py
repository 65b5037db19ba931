"""Arrays in NumPy's ``.npy`` files: the header, and the data behind it.

A header is a magic number, the length of a text, and the text: a dictionary of Python with the
type, the order and the shape. NumPy parses it by ``ast``, which fails now and then where several
threads do that (python/cpython#106905: ``SystemError`` before 3.11.8), so that a whole file would
look damaged. Here regular expressions do, with the fields in any order; all modules that read or
write ``.npy`` files do it by this one.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LONGEST_HEADER",
    "MAGIC",
    "NpyHeader",
    "map_array",
    "read_array",
    "require_characters",
    "write_array",
    "write_header",
]

LONGEST_HEADER = 1 << 16  # bytes of a file that its header must be in

MAGIC = b"\x93NUMPY"
_LENGTHS = {b"\x01\x00": "<H", b"\x02\x00": "<I", b"\x03\x00": "<I"}  # by version
_LONGEST_PREFIX = 12  # bytes: magic, version and the longer length

_SPACE = rb"[ \t\r\n\f]*"
_EXTENT = rb"(?:0|[1-9][0-9]{0,18})L?" + _SPACE  # Python 2 wrote 3L
_SHAPE = b"(?:(?:%b,%b)+(?:%b)?)?" % (_EXTENT, _SPACE, _EXTENT)  # (3) is not a tuple
_VALUES = {
    "descr": rb"'[^'\\]*'|\"[^\"\\]*\"|\[[^{}]*\]",
    "fortran_order": b"True|False",
    "shape": rb"\(" + _SPACE + _SHAPE + rb"\)",
}
_FIELDS = b"|".join(
    b"(?:'%b'|\"%b\")%b:%b(?P<%b>%b)" % (name, name, _SPACE, _SPACE, name, value)
    for name, value in ((name.encode(), value) for name, value in _VALUES.items())
)
_FIELD = re.compile(_SPACE + b"(?:%b)" % _FIELDS + _SPACE + rb"(?:,|(?=\}))")
_BEGIN, _END = re.compile(_SPACE + rb"\{"), re.compile(_SPACE + rb"\}" + _SPACE)
#: Names of types that NumPy looks up; it parses others ("2i4", "(2,)i4", "i4,f4") as Python, and
#: warns of "a", which it does not write.
_TYPE_NAME = re.compile(r"[<>=|]?(?!a[0-9]*$)(?:\?|[A-Za-z][A-Za-z0-9_]*(?:\[[A-Za-z0-9/]+\])?)")


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
        header = cls._of(head)
        found = size - header.length
        if header.nbytes != found:
            raise ValueError(
                f"found {found:,} bytes of data, expected {header.shape} of {header.dtype}"
            )
        return header

    @classmethod
    def read(cls, file: IO[bytes]) -> NpyHeader:
        """Return the header at the place where a file is, which is then at the data.

        Raises ValueError as ``parse`` does.
        """
        head = file.read(_LONGEST_PREFIX)
        begin, end = _text_of(head)
        file.seek(begin - len(head), 1)
        return cls._of(head[:begin] + file.read(end - begin))

    @classmethod
    def _of(cls, head: bytes) -> NpyHeader:
        begin, end = _text_of(head)
        fields = _fields(head[begin:end]) if end <= len(head) else None
        if fields is None:
            raise _damaged()
        descr, order, shape = (fields[name] for name in _VALUES)
        extents = tuple(map(int, re.findall(rb"[0-9]+", shape)))
        dtype = _dtype(descr.decode("latin1"))
        header = cls(extents, order == b"True", dtype, end)
        if dtype.hasobject:
            raise ValueError(
                "found Python objects, expected numbers (Kleene never unpickles objects)"
            )
        if dtype.kind == "V" or (dtype.itemsize == 0 and header.items):
            raise ValueError(f"found items of {dtype}, expected numbers")
        return header

    def arrange(self, items: NDArray[Any]) -> NDArray[Any]:
        """Return the items, which are flat as in the file, in the shape."""
        require_characters(items)
        return items.reshape(self.shape, order="F" if self.fortran_order else "C")

    @property
    def items(self) -> int:
        """How many items the shape has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes of data follow."""
        return self.items * self.dtype.itemsize


def read_array(file: IO[bytes]) -> NDArray[Any]:
    """Return the array at the place where a file on the disk is, which is then behind it.

    Raises ValueError if there is none, or not all of it.
    """
    header = NpyHeader.read(file)
    data = file.read(header.nbytes)  # not by fromfile, see write_array
    if len(data) < header.nbytes:
        raise ValueError(
            f"found {len(data):,} bytes of data, expected {header.shape} of {header.dtype}"
        )
    items: NDArray[Any] = np.empty(header.items, header.dtype)
    if data:
        items[:] = np.frombuffer(data, header.dtype)
    return header.arrange(items)


def map_array(file: IO[bytes]) -> NDArray[Any]:
    """Return the array at the place where a file on the disk is, mapped; it is behind it then.

    Raises ValueError if there is none, or not all of it.
    """
    header = NpyHeader.read(file)
    begin = file.tell()
    items: NDArray[Any] = np.empty(0, header.dtype)
    if header.items:  # there is something to map
        items = np.memmap(file, header.dtype, "r", begin, (header.items,))
    file.seek(begin + header.nbytes)
    return header.arrange(items)


def write_array(file: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array of numbers as a part of a file on the disk, row by row.

    NumPy's own functions ask whether the file is a path; where Ctrl-C comes then, they take it for
    one, and raise a TypeError instead.
    """
    write_header(file, array.dtype, array.shape)
    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def write_header(file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Write the header of an array whose rows come next; its length is a multiple of 64 bytes."""
    descr = np.lib.format.dtype_to_descr(dtype)
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, fields)


def require_characters(items: NDArray[Any]) -> None:
    """Raise ValueError for strings of numbers that are not characters: NumPy fails to use them."""
    if items.dtype.kind == "U" and items.nbytes:
        numbers = items.view(np.dtype(np.uint32).newbyteorder(items.dtype.byteorder))
        if numbers.max() > sys.maxunicode:
            raise ValueError("characters that are not Unicode")


def _damaged() -> ValueError:
    return ValueError("found a damaged header, expected the header of an .npy file")


def _text_of(head: bytes) -> tuple[int, int]:
    """Return where the text of a header begins and ends."""
    length = _LENGTHS.get(head[6:8])
    begin = 0 if length is None else 8 + struct.calcsize(length)
    if length is None or not head.startswith(MAGIC) or len(head) < begin:
        raise _damaged()
    end = begin + struct.unpack_from(length, head, 8)[0]
    if end > LONGEST_HEADER:
        raise _damaged()
    return begin, end


def _fields(text: bytes) -> dict[str, bytes] | None:
    """Return the texts of the three fields, or None where there are others."""
    found: list[tuple[str, bytes]] = []
    begin = _BEGIN.match(text)
    at = 0 if begin is None else begin.end()
    while begin is not None and (field := _FIELD.match(text, at)):
        at, name = field.end(), str(field.lastgroup)
        found.append((name, field[name]))
    whole = len(found) == len(dict(found)) == len(_VALUES) and _END.fullmatch(text, at)
    return dict(found) if whole else None


def _dtype(descr: str) -> np.dtype[Any]:
    """Return the type that a header names."""
    if descr.startswith("["):
        raise ValueError(
            "found Python objects, expected numbers (Kleene never unpickles objects)"
            if re.search(r"""['"][|]?O""", descr)
            else f"found items of {descr}, expected numbers"
        )
    name = descr[1:-1]
    try:
        if _TYPE_NAME.fullmatch(name):
            return np.dtype(name)
    except (TypeError, ValueError):
        pass
    raise _damaged()
