"""The CRC-32 of a file whose pieces are read by different ranks.

A CRC is the remainder of the bytes, as a polynomial over GF(2), by a fixed one of degree 32. So the
CRC of two pieces in a row is that of the first, times x to the bits of the second, plus that of the
second. Polynomials are written as zlib does, the coefficient of x^0 in the highest bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from numpy.typing import NDArray

__all__ = ["crc_of_pieces", "piece_crc"]

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
