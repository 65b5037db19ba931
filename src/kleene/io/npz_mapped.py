"""``.npz`` archives whose arrays can be mapped: stored as they are, at multiples of 64 bytes.

A mapped array costs no memory of its own, and processes that map the same file share it. The
archive is an ordinary one otherwise: NumPy loads it, and so do programs that open zip files.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.system.npy_header import LONGEST_HEADER, NpyHeader

__all__ = [
    "ENCRYPTED",
    "as_written",
    "begin_of_member",
    "is_stored",
    "map_member",
    "write_aligned",
]

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
