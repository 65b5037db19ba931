"""Texts at their borders: the ends of buffers, lines and fields, and numbers of every length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fences import fenced
from numpy.typing import NDArray

from kleene import _native

Array = NDArray[Any]


def parse(text: bytes | Array, **options: Any) -> list[Any]:
    """Return sources, targets, weights, the characters of names and where each begins."""
    if isinstance(text, bytes):
        text = np.frombuffer(text, np.uint8)
    layout = {
        "begin": 0, "line": 1, "grain": 1 << 20, "separator": " ", "comments": "#", "tag": "",
        "source": 0, "target": 1, "weight": -1, "exact": True, "kind": "any", "low": -(2**63),
        "high": 2**63 - 1, "base": 0, "names": False, "threads": 1, "progress": None,
    }  # fmt: skip
    parts = _native.parse_arcs(text, **(layout | options))
    return [None if part is None else part.tolist() for part in parts]


def fault(text: bytes | Array, **options: Any) -> tuple[Any, ...]:
    """Return line, begin, end and what was expected."""
    with pytest.raises(_native.BadLine) as caught:
        parse(text, **options)
    return caught.value.args


# ---- the ends of a buffer ---------------------------------------------------------------------


@pytest.mark.parametrize("digits", range(1, 20))
@pytest.mark.parametrize("end", [b"\n", b""])
def test_nothing_beyond_a_text_is_read(digits: int, end: bytes) -> None:
    number = int("1234567890123456789"[:digits])
    line = b"0 %d" % number + end
    for at_the_end in (True, False):
        text = fenced(np.frombuffer(line, np.uint8), at_the_end=at_the_end)
        assert parse(text)[:2] == [[0], [number]]
        assert parse(text, target=-1, weight=1)[2] == [number]


@pytest.mark.parametrize("comment", [b"% one\n", b"% one\n  ", b"% one\n%", b" \t", b"\r"])
def test_nothing_beyond_comments_is_read(comment: bytes) -> None:
    text = fenced(np.frombuffer(comment, np.uint8))
    place = _native.skip_comments(text, begin=0, line=1, comments="%")
    assert place == (len(comment), 1 + comment.count(b"\n"))


# ---- faults -----------------------------------------------------------------------------------

NUMBER = "a whole number for the vertex"


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        (b"0 1\nx 1", {}, (2, 4, 5, NUMBER)),  # in a last line without an end
        (b"0 1\n1 yz", {}, (2, 6, 8, NUMBER)),
        (b"0 1\n1", {}, (2, 5, 5, NUMBER)),
        (b'"x" 1\n', {}, (1, 0, 3, NUMBER)),
        (b'"x 1\n', {}, (1, 0, 4, NUMBER)),  # a quote that is not closed
        (b"0 1 x \t \n", {}, (1, 4, 5, "the end of the line")),
        (b"0 1 x\n", {}, (1, 4, 5, "the end of the line")),
        (b"0,y \t,1\n", {"separator": ","}, (1, 2, 3, NUMBER)),
        (b"2 1\n", {"low": 1, "high": 1}, (1, 0, 1, "a vertex from 1 to 1")),
        (b"2 1\n", {"low": 1, "high": 2, "base": 1}, None),
        (b"1 1\n", {"low": 1, "high": 0}, (1, 0, 1, "no arcs in a file that declares no vertices")),
        (b"a, ,1\n", {"separator": ",", "names": True}, (1, 3, 3, "a name for the vertex")),
    ],
)
def test_what_a_fault_covers(text: bytes, options: dict[str, Any], wanted: Any) -> None:
    if wanted is None:
        parse(text, **options)
    else:
        assert fault(text, **options) == wanted


def test_whole_weights_that_no_integer_holds() -> None:
    options = {"weight": 2, "kind": "integer"}
    assert fault(b"0 1 99999999999999999999\n", **options)[3] == "a weight that fits int64"
    assert fault(b"0 1 9.5\n", **options)[3] == "a whole number for the weight"
    assert parse(b"0 1 -9223372036854775808\n", **options)[2] == [-(2**63)]


@pytest.mark.parametrize(
    ("weight", "tiny"),
    [
        ("0.9" + "0" * 1000 + "e500", False),
        ("0." + "0" * 999 + "9e500", True),
        ("1" + "0" * 400, False),
        ("0." + "0" * 400 + "1", True),
        ("9" * 400 + "e-10", False),
        ("9e400", False),
        ("9e-400", True),
    ],
)
def test_weights_that_no_double_holds(weight: str, tiny: bool) -> None:
    """What stands behind the number is not its exponent."""
    text = f"0 1 {weight} -900\n0 1 2 3\n".encode()
    options = {"weight": 2, "exact": False}
    if tiny:
        assert parse(text, **options)[2] == [0.0, 2.0]
    else:
        at = (1, 4, 4 + len(weight), "a weight that fits float64")
        assert fault(text, **options) == at


# ---- columns ----------------------------------------------------------------------------------


def test_every_order_of_columns() -> None:
    for names in (False, True):
        for at in ((0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0), (0, 2, 1), (2, 0, 1)):
            line = [b""] * 3
            for column, field in zip(at, (b"3", b"4", b"7"), strict=True):
                line[column] = field
            text = b" ".join(line) + b"\n"
            places = dict(zip(("source", "target", "weight"), at, strict=True))
            sources, targets, weights, characters, _ = parse(text * 2, names=names, **places)
            if names:  # of one character each, numbered as they appear
                sources = [int(chr(characters[v])) for v in sources]
                targets = [int(chr(characters[v])) for v in targets]
            assert (sources, targets, weights) == ([3, 3], [4, 4], [7, 7])


def test_names_end_before_the_blanks_behind_them() -> None:
    _, _, _, characters, starts = parse(b"a b \t,c\nd,e  \n", separator=",", names=True)
    assert bytes(characters) == b"a bcde"
    assert starts == [0, 3, 4, 5, 6]


def test_rows_have_narrow_ids() -> None:
    text = np.frombuffer(b"2\n1 3\n2\n", np.uint8)
    rows = _native.parse_rows(
        text, begin=0, line=1, grain=3, n=3, skipped=0, weighted=False, comments="%", threads=1,
        progress=None,
    )  # fmt: skip
    assert rows[1].dtype == np.int32
    assert rows[0].tolist() == [0, 1, 3, 4]
    assert rows[1].tolist() == [1, 0, 2, 1]


# ---- written ----------------------------------------------------------------------------------


def written(weights: Any = None, directions: str = "all") -> str:
    """Write the arcs 0 0, 0 1, 1 0, 1 1."""
    offsets, neighbors = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    pieces = _native.write_arcs(
        offsets, neighbors, weights, begin=0, end=4, base=0, numbers=None, characters=None,
        starts=None, prefix="", separator=" ", constant="", directions=directions, threads=1,
    )  # fmt: skip
    return b"".join(piece.tobytes() for piece in pieces).decode()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_written_as_floats(dtype: Any) -> None:
    lines = written(np.array([10, -19, 0, 2.5], dtype)).splitlines()
    assert [line.split()[2] for line in lines] == ["10.0", "-19.0", "0.0", "2.5"]


def test_loops_are_written_in_every_direction() -> None:
    assert written() == "0 0\n0 1\n1 0\n1 1\n"
    assert written(directions="upward") == "0 0\n0 1\n1 1\n"
    assert written(directions="downward") == "0 0\n1 0\n1 1\n"
