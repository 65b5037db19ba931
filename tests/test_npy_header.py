"""Headers of ``.npy`` files: those that NumPy writes, and those of other programs."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest

from kleene.io.npy import NpyHeader


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros((2, 3), ">i4", order="F"), np.array(3.0), np.array(["ab"]),
     np.zeros((0, 4), "?"), np.zeros((2,) * 20, "u1"), np.zeros(1, "M8[s]")],
    ids=lambda array: f"{array.dtype.str} {array.ndim}",
)  # fmt: skip
def test_headers_are_read_without_a_compiler(
    array: np.ndarray[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What NumPy writes is not parsed by ast, which threads disturb (python/cpython#106905)."""
    file = io.BytesIO()
    np.save(file, array)
    contents = file.getvalue()
    numpys = NpyHeader._any(contents)
    assert numpys.length == len(contents) - array.nbytes
    monkeypatch.setattr(np.lib.format, "read_array_header_1_0", pytest.fail)
    assert NpyHeader.parse(contents, len(contents)) == numpys


@pytest.mark.parametrize(
    "fields",
    [
        "{'shape': (2, 2), 'fortran_order': False, 'descr': '<f8'}",
        '{"descr":"<f8","fortran_order":False,"shape":(2,2)}',
    ],
)
def test_headers_of_other_writers(fields: str) -> None:
    text = fields.encode().ljust(117) + b"\n"
    contents = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(32)
    assert NpyHeader._plain(contents) is None
    assert NpyHeader.parse(contents, len(contents)).shape == (2, 2)


@pytest.mark.parametrize("shape", ["(3)", "(03,)", "(3,,)", "(-1,)", "(,)", "3"])
def test_shapes_that_are_none(shape: str) -> None:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode() + b"\n"
    contents = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(24)
    assert NpyHeader._plain(contents) is None
    with pytest.raises(ValueError, match="found"):
        NpyHeader.parse(contents, len(contents))
