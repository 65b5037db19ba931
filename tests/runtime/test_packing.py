"""Arguments are packed by the sizes of parameters and the types of arguments."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from kleene.backends.cuda.runtime.interface import Array
from kleene.backends.cuda.runtime.structs import Parameters, Struct, StructType

ARRAY = Array.new(2**40 + 256, (3,), np.float32, None)
PAIR = StructType("Pair", [("first", "i4", 0), ("second", "f8", 0)])


def packed(layout: list[tuple[int, int]], *args: Any) -> list[bytes]:
    """Return the bytes that a launch finds for each argument."""
    parameters = Parameters("kernel k", layout)
    parameters.pack(args)
    pointers = (ctypes.c_void_p * len(layout)).from_address(parameters.address)
    return [ctypes.string_at(pointers[i] or 0, size) for i, (_, size) in enumerate(layout)]


@pytest.mark.parametrize(
    ("size", "value", "form"),
    [
        (8, ARRAY, struct.pack("Q", ARRAY.address)),
        (8, None, bytes(8)),
        (1, True, b"\x01"),
        (4, True, struct.pack("i", 1)),
        (1, 255, b"\xff"),
        (2, -2, struct.pack("h", -2)),
        (4, -2, struct.pack("i", -2)),
        (4, 2**32 - 2, struct.pack("I", 2**32 - 2)),
        (8, 2**64 - 1, struct.pack("Q", 2**64 - 1)),
        (4, 0.1, struct.pack("f", 0.1)),
        (8, 0.1, struct.pack("d", 0.1)),
        (4, float("inf"), struct.pack("f", float("inf"))),
        (4, np.float32(0.1), struct.pack("f", 0.1)),
        (8, np.float64(0.1), struct.pack("d", 0.1)),
        (2, np.uint16(65535), b"\xff\xff"),
        (8, np.int64(-5), struct.pack("q", -5)),
        (1, np.True_, b"\x01"),
    ],
)
def test_values(size: int, value: Any, form: bytes) -> None:
    assert packed([(0, size)], value) == [form]


@pytest.mark.parametrize(
    ("size", "value"),
    [
        (4, ARRAY),
        (4, None),
        (2, 0.5),
        (4, np.float64(0.5)),
        (8, np.int32(1)),
        (4, "1"),
        (3, 1),
        (4, 2**32),
        (8, -(2**63) - 1),
        (8, PAIR.pack(first=1, second=2.0)),
    ],
)
def test_what_does_not_fit(size: int, value: Any) -> None:
    with pytest.raises(TypeError, match="argument 1 of kernel k has"):
        packed([(0, 8), (8, size)], None, value)


def test_a_struct_between_numbers() -> None:
    pair: Struct = PAIR.pack(first=7, second=0.5)
    layout = [(0, 1), (8, 16), (24, 4), (28, 4)]
    parameters = Parameters("kernel k", layout)
    for first in (7, 8):  # the buffer is used again
        pair.update(first=first)
        parameters.pack((True, pair, 5, 0.25))
        whole = ctypes.string_at(ctypes.c_void_p.from_address(parameters.address).value or 0, 32)
        assert whole == struct.pack("=?7xi4xdif", True, first, 0.5, 5, 0.25)


def test_the_number_of_arguments() -> None:
    with pytest.raises(TypeError, match="kernel k takes 2 arguments, not 1"):
        packed([(0, 8), (8, 8)], None)
    Parameters("kernel k", []).pack(())
