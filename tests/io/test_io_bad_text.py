"""Text files and options that are wrong: the line, what was found, and what was expected."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from test_io_text import read

import kleene as kl

# ---- bad files --------------------------------------------------------------------------------

MTX = "%%MatrixMarket matrix coordinate real general\n"
BAD = [
    ("dimacs", "c x\n", 2, "found the end of the file, expected the header 'p sp"),
    ("dimacs", "c x\na 1 2 3\n", 2, "found 'a 1 2 3', expected the header 'p sp"),
    ("dimacs", "p sp -1 2\n", 1, "found 'p sp -1 2', expected the header"),
    ("dimacs", "p sp 2 3\na 1 2 3\n", 1, "found 1 arcs, expected 3 as declared on this line"),
    ("dimacs", "p sp 2 1\na 1 2 3\na 2 1 3\n", 1, "found 2 arcs, expected 1"),
    (
        "dimacs",
        "p sp 2 1\n\n\na 1 3 3\n",
        4,
        "found '3' in 'a 1 3 3', expected a vertex from 1 to 2",
    ),
    ("dimacs", "p sp 2 1\na 0 1 3\n", 2, "found '0' in 'a 0 1 3', expected a vertex from 1 to 2"),
    ("dimacs", "p sp 2 1\na 1 2\n", 2, "found the end of the line in 'a 1 2', expected a number"),
    (
        "dimacs",
        "p sp 2 1\na 1 2 3 4\n",
        2,
        "found '4' in 'a 1 2 3 4', expected the end of the line",
    ),
    ("dimacs", "p sp 2 1\nb 1 2 3\n", 2, "expected a line that begins with 'a'"),
    ("dimacs", "p sp 2 1\nab 1 2 3\n", 2, "found 'ab' in 'ab 1 2 3', expected a line that begins"),
    ("dimacs", "p sp 2 1\na 1 2 nan\n", 2, "found 'nan' in 'a 1 2 nan', expected a weight other"),
    ("dimacs", "p sp 2 1\na 1 2 -inf\n", 2, "expected a weight other than NaN and -inf"),
    ("dimacs", "p sp 2 1\na 1 2 1e999\n", 2, "expected a weight that fits float64"),
    ("dimacs", f"p sp 2 1\na 1 2 1{'0' * 400}e-50\n", 2, "expected a weight that fits float64"),
    ("dimacs", "p sp 2 1\na 1 2 1e99999999999999999999\n", 2, "a weight that fits float64"),
    ("dimacs", "p sp 2 1\na 1 2 3x\n", 2, "found '3x' in 'a 1 2 3x', expected a number"),
    ("dimacs", "p sp 2 1\na 1 2 +-3\n", 2, "found '+-3'"),
    ("dimacs", "p sp 2 1\na 1 99999999999999999999 3\n", 2, "expected a vertex from 1 to 2"),
    ("dimacs", "p sp 2 1\na 1 2\x00 3\n", 2, r"found '2\x00' in 'a 1 2\x00 3', expected a whole"),
    ("dimacs", "p sp 100000000000000000 1\n", 1, "found 0 arcs, expected 1"),
    ("dimacs", "p sp 9 100000000000000000\na 1 2 3\n", 1, "found 1 arcs, expected 10000000000000"),
    ("dimacs", "p sp 0 1\na 1 1 1\n", 2, "expected no arcs in a file that declares no vertices"),
    ("matrix_market", "%%MatrixMarket matrix\n", 1, "expected '%%MatrixMarket matrix coordinate|"),
    ("matrix_market", MTX.replace("real", "complex"), 1, "found 'complex', expected real weights"),
    ("matrix_market", MTX.replace("general", "hermitian"), 1, "found 'hermitian', expected"),
    ("matrix_market", MTX.replace("general", "skew-symmetric"), 1, "both triangles"),
    (
        "matrix_market",
        MTX + "%\n2 3 1\n1 1 1\n",
        3,
        "found 2 rows and 3 columns, expected a squa",
    ),
    ("matrix_market", MTX + "2 2\n", 2, "found '2 2', expected the sizes: '<rows> <columns> <en"),
    ("matrix_market", MTX, 2, "found the end of the file, expected the sizes"),
    ("matrix_market", MTX + "2 2 2\n1 1 1\n", 2, "found 1 entries, expected 2"),
    ("matrix_market", MTX + "2 2 1\n1 1\n", 3, "found the end of the line in '1 1', expected a n"),
    (
        "matrix_market",
        MTX.replace("real", "integer") + "2 2 1\n1 2 1.5\n",
        3,
        "found '1.5' in '1 2 1.5', expected a whole number for the weight",
    ),
    (
        "matrix_market",
        MTX.replace("coordinate", "array") + "1000000000 1000000000\n1\n",
        2,
        "found 1 entries, expected 1000000000000000000 for 1000000000 rows",
    ),
    ("edge_list", "0\n", 1, "found '0', expected two columns: a source and a target"),
    ("edge_list", "0 1\n1\n", 2, "found the end of the line in '1', expected a whole number"),
    ("edge_list", "0 1\n# ok\n1 x\n", 3, "found 'x' in '1 x', expected a whole number"),
    ("edge_list", "0 1\n1 2 3\n", 2, "found '3' in '1 2 3', expected the end of the line"),
    ("edge_list", "0,1,2\n1,,3\n", 2, "found nothing in '1,,3', expected a whole number"),
    ("edge_list", 'a,b\n"c,d\n', 2, "expected the quote to be closed on the same line"),
    ("edge_list", "0,1,2\n1 2,3\n", 2, "found '1 2' in '1 2,3', expected a whole number"),
    ("edge_list", "a,b\n,c\n", 2, "expected a name for the vertex"),
    ("edge_list", "0 99999999999999999999\n", 1, "expected a vertex number that fits int64"),
    ("metis", "2\n1\n", 1, "found '2', expected the header '<vertices> <edges>"),
    ("metis", "2 1\n2\n", 3, "found the end of the file, expected a line for each of 2 vertices"),
    ("metis", "2 1\n2\n1\n1\n", 4, "found '1', expected the end of the file behind vertex 2"),
    ("metis", "2 1\n2\n3\n", 3, "found '3', expected a vertex from 1 to 2"),
    ("metis", "2 5\n2\n1\n", 1, "found 2 neighbours, expected 10, two for each of the 5 edges"),
    ("metis", "3 1\n%\n2 3\n%\n\n\n", 3, "found edge 1 - 2, expected it on the line of vertex 2"),
    (
        "metis",
        "2 1 1\n2 7\n1 8\n",
        2,
        "found weight 7 for edge 1 - 2, expected the same weight as on",
    ),
    ("metis", "2 1 1\n2\n1 8\n", 2, "found the end of the line in '2', expected a number"),
    ("metis", "100000000000000000 0\n\n", 3, "expected a line for each of 100000000000000000"),
]


@pytest.mark.parametrize(("format", "contents", "line", "message"), BAD)
def test_bad_lines(grain: int, format: str, contents: str, line: int, message: str) -> None:
    with pytest.raises(kl.FormatError) as caught:
        read(contents, format)
    assert str(caught.value).startswith(f"<stream>:{line}: ")
    assert message in str(caught.value)


def test_the_first_bad_line_is_named(grain: int) -> None:
    lines = [f"{i} {i + 1} {i}" for i in range(500)]
    lines[123], lines[124], lines[400] = "1 2 0.5", "1 x 3", "y"
    for _ in range(5):
        with pytest.raises(kl.FormatError, match=r"<stream>:125: found 'x' in '1 x 3'"):
            read("\n".join(lines), "edge_list")


def test_long_and_unprintable_lines_are_shortened() -> None:
    with pytest.raises(kl.FormatError) as caught:
        read("0 1\n" + "\x1b[31m" + "x" * 10_000 + "\n", "edge_list")
    assert "found '\\x1b[31mxxx" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_names_that_are_not_utf8() -> None:
    with pytest.raises(kl.FormatError, match=r"<stream>:2: found '\\xff\\xfe', expected a name in"):
        read(b"a b\n\xff\xfe c\n", "edge_list")


def test_too_many_vertices_for_memory() -> None:
    for contents in ("\np sp 100000000000000000 0\n", MTX + f"{10**17} {10**17} 0\n"):
        with pytest.raises(kl.MemoryBudgetError, match=r"<stream>:2: a graph .* correct the li"):
            read(contents)
    with pytest.raises(kl.MemoryBudgetError, match="vertices"):
        read("0 1000000000000000\n", "edge_list", relabel=False)


def test_damaged_gzip() -> None:
    whole = gzip.compress(b"0 1\n1 2\n" * 1000)
    assert read(whole).m == 2
    assert read(gzip.compress(b"0 1\n") + gzip.compress(b"1 2\n") + b"\0\0").m == 2
    with pytest.raises(kl.FormatError, match="found the end of the file inside the gzip data"):
        read(whole[: len(whole) // 2])
    with pytest.raises(kl.FormatError, match="found damaged gzip data"):
        read(whole[:-8] + bytes(8))
    with pytest.raises(kl.FormatError, match="found other data after the gzip data"):
        read(whole + b"0 1\n")
    with pytest.raises(kl.FormatError, match="found an empty file"):
        read(gzip.compress(b""))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["a"]}, "columns must give"),
        ({"columns": ["from", "nope"]}, "no column 'nope'; the columns are"),
        ({"columns": [0, -1]}, "columns are names or numbers from 0"),
        ({"columns": [1, 1]}, "must be distinct"),
        ({"columns": ["a", "b"], "header": False}, "needs a header line"),
        ({"weight": "to"}, "column 'to' was taken as the target and cannot be the weight"),
        ({"columns": ["to", "from"], "weight": "to"}, "was taken as the source"),
        ({"separator": "::"}, "a single ASCII character"),
        ({"separator": "é"}, "a single ASCII character"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_invalid_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.RequestError, match=message):
        read("from to\n0 1\n", "edge_list", **options)


def test_names_of_columns_are_printable_in_messages() -> None:
    with pytest.raises(kl.RequestError, match=r"no column 'via'; the columns are from, to\\x00$"):
        read("from,to\0\n0,1\n", "edge_list", columns=["from", "via"])


@pytest.mark.parametrize("options", [{"columns": [0, 10**9]}, {"weighted": True}])
def test_missing_columns(options: dict[str, Any]) -> None:
    with pytest.raises(kl.FormatError, match=r"<stream>:2: found '0 1', expected at least \d+ col"):
        read("# two columns\n0 1\n", "edge_list", **options)


def test_ctrl_c_and_progress_errors_propagate() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read("0 1\n", progress=stop)
