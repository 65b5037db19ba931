"""Headers of ``.npy`` files: those that NumPy writes, and those of other programs."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kleene.system.npy_header import NpyHeader, map_array, read_array, write_array


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros((2, 3), ">i4", order="F"), np.array(3.0), np.array(["ab"]),
     np.zeros((0, 4), "?"), np.zeros((2,) * 20, "u1"), np.zeros(1, "M8[s]")],
    ids=lambda array: f"{array.dtype.str} {array.ndim}",
)  # fmt: skip
def test_what_numpy_writes(array: np.ndarray[Any, Any]) -> None:
    file = io.BytesIO()
    np.save(file, array)
    contents = file.getvalue()
    header = NpyHeader.parse(contents, len(contents))
    assert header == (array.shape, np.isfortran(array), array.dtype, len(contents) - array.nbytes)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    "fields",
    [
        "{'shape': (2, 2), 'fortran_order': False, 'descr': '<f8'}",
        '{"descr":"<f8","fortran_order":False,"shape":(2,2)}',
        "{ 'descr' : 'float64' ,\n'fortran_order': False,\t'shape': ( 2L , 2L , ) , }",
    ],
)
def test_headers_of_other_writers(fields: str, version: int) -> None:
    contents = written(fields, version) + bytes(32)
    header = NpyHeader.parse(contents, len(contents))
    assert header == ((2, 2), False, np.dtype("<f8"), len(contents) - 32)


def written(fields: str, version: int = 1) -> bytes:
    """Return a header with this text."""
    text = fields.encode().ljust(117) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text


@pytest.mark.parametrize("shape", ["(3)", "(03,)", "(3,,)", "(-1,)", "(,)", "3", "(1e3,)"])
def test_shapes_that_are_none(shape: str) -> None:
    contents = written(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}")
    with pytest.raises(ValueError, match="found a damaged header"):
        NpyHeader.parse(contents + bytes(24), len(contents) + 24)


@pytest.mark.parametrize(
    ("descr", "what"),
    [("'|O'", "Python objects"), ("[('a', '|O')]", "Python objects"), ("'|V8'", "items of"),
     ("[('a', '<i4')]", "items of"), ("'2i4'", "a damaged header"), ("'i4,i4'", "a damaged header"),
     ("'(2,)i4'", "a damaged header"), ("'<q9'", "a damaged header"), ("__import__", "a damaged")],
)  # fmt: skip
def test_types_that_are_none(descr: str, what: str) -> None:
    contents = written(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (0,), }}")
    with pytest.raises(ValueError, match=f"found {what}"):
        NpyHeader.parse(contents, len(contents))


@pytest.mark.parametrize(
    "fields",
    [
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()",
        "",
    ],
)
def test_fields_that_are_none(fields: str) -> None:
    contents = written(fields)
    with pytest.raises(ValueError, match="found a damaged header"):
        NpyHeader.parse(contents, len(contents))


def test_every_header_is_as_numpy_reads_it() -> None:
    """Of texts with a few other characters: all that are read are read as NumPy reads them."""
    random = Random(1)
    text = "{'descr': '<i4', 'fortran_order': True, 'shape': (12, 3), }"
    read = 0
    for _ in range(3_000):
        letters = list(text)
        for _ in range(random.randrange(3)):
            letters[random.randrange(len(letters))] = random.choice("{}(),:'\" 019<>fiuL-")
        contents = written("".join(letters))
        try:
            found = NpyHeader.parse(contents, len(contents))
        except ValueError as error:
            if "bytes of data" not in str(error):
                continue
            found = NpyHeader.read(io.BytesIO(contents))
        file = io.BytesIO(contents)
        assert np.lib.format.read_magic(file) == (1, 0)
        assert found[:3] == np.lib.format.read_array_header_1_0(file)
        assert found.length == file.tell()
        read += 1
    assert read > 500


def test_arrays_one_after_the_other(tmp_path: Path) -> None:
    arrays = [np.arange(3), np.zeros((2, 3), ">i4", order="F"), np.array(3.0), np.array(["ab"])]
    with open(tmp_path / "many", "wb") as file:
        for array in arrays:
            np.save(file, array)
    with open(tmp_path / "many", "rb") as file:
        for array in arrays:
            found = read_array(file)
            assert found.dtype == array.dtype
            assert np.array_equal(found, array)
        with pytest.raises(ValueError, match="found a damaged header"):
            read_array(file)
    whole = (tmp_path / "many").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:140])
    with (
        open(tmp_path / "cut", "rb") as file,
        pytest.raises(ValueError, match="found 12 bytes of data, expected \\(3,\\) of int64"),
    ):
        read_array(file)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5, dtype=np.int32), np.zeros(0, np.int64), np.array(True), np.array(2.5),
        np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(9)[::2], np.zeros((0, 3), np.float32),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_are_written_as_numpy_reads_them(
    array: np.ndarray[Any, Any], tmp_path: Path
) -> None:
    with open(tmp_path / "a.npy", "wb") as file:
        write_array(file, array)
    with open(tmp_path / "a.npy", "rb") as file:
        ours = read_array(file)
    with open(tmp_path / "a.npy", "rb") as file:
        mapped = map_array(file)
        assert file.read() == b""  # it is behind the array
    assert mapped.flags.aligned
    assert isinstance(mapped, np.memmap) == (array.size > 0)
    for found in (np.load(tmp_path / "a.npy"), ours, mapped):
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert np.array_equal(found, array)
