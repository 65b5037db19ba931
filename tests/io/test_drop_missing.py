"""Rows without a value for an end or the weight: refused with their number, or dropped, counted."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import kleene

import kleene as kl

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

#: Rows 1, 2 and 4 lack a source, a weight and a target.
NAMES: dict[str, list[Any]] = {
    "source": ["a", None, "b", "b", "c"],
    "target": ["b", "c", "c", "c", None],
    "km": [1.5, 2.0, None, 4.0, 5.0],
    "note": [None, "x", "y", None, "z"],
}
SAID = "3 of 5 rows have no value in 'source', 'target' or 'km', "
ADVICE = "; pass drop_missing=True to leave them out, or fill them in"


def parquet(table: dict[str, Any]) -> io.BytesIO:
    file = io.BytesIO()
    pq.write_table(pa.table(table), file)
    file.seek(0)
    return file


def csv(table: dict[str, Any]) -> io.BytesIO:
    return io.BytesIO(pd.DataFrame(table).to_csv(index=False).encode())


def in_objects(table: dict[str, Any]) -> Any:
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in table.items()})


def nullable(table: dict[str, Any]) -> Any:
    return pd.DataFrame(table).convert_dtypes()


DOORS: dict[str, Callable[..., kl.Graph]] = {
    "dict": lambda table, **how: kl.Graph.from_table(table, **how),
    "pandas": lambda table, **how: kl.Graph.from_table(pd.DataFrame(table), **how),
    "pandas, objects": lambda table, **how: kl.Graph.from_table(in_objects(table), **how),
    "pandas, nullable": lambda table, **how: kl.Graph.from_table(nullable(table), **how),
    "Polars": lambda table, **how: kl.Graph.from_table(pl.DataFrame(table), **how),
    "Arrow": lambda table, **how: kl.Graph.from_table(pa.table(table), **how),
    "any": lambda table, **how: kl.Graph.from_any(pl.DataFrame(table), **how),
    "Parquet": lambda table, **how: kl.read(parquet(table), **how),
    "CSV": lambda table, **how: kl.read(csv(table), "edge_list", **how),
}


@pytest.mark.parametrize("door", DOORS)
def test_rows_without_a_value_are_refused_with_their_number(door: str) -> None:
    first = "the first of them line 3" if door == "CSV" else "the first of them row 1"
    with pytest.raises((kl.GraphError, kl.FormatError)) as raised:
        DOORS[door](NAMES, weight="km")
    assert str(raised.value).endswith(SAID + first + ADVICE)


@pytest.mark.parametrize("door", DOORS)
def test_rows_without_a_value_are_dropped_and_counted_once(door: str) -> None:
    with pytest.warns(kl.GraphWarning) as said:
        g = DOORS[door](NAMES, weight="km", drop_missing=True)
    assert [str(each.message).partition(" rows: ")[2].startswith(SAID) for each in said] == [True]
    assert list(g.labels) == ["a", "b", "c"]
    assert g.weights.tolist() == [1.5, 4.0]
    assert g.rows.numbers.tolist() == [0, 3]
    assert g.reweight(rows=[1, 2, 3, 4, 5]).weights.tolist() == [1, 4]  # by the whole table


@pytest.mark.parametrize("door", DOORS)
def test_of_columns_that_make_no_arc_nothing_is_asked(door: str) -> None:
    table = {**NAMES, "source": list("aabbc"), "target": list("bccca"), "km": [1, 2, 3, 4, 5]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = DOORS[door](table, weight="km", drop_missing=True)
    assert (g.m, g.rows.numbers, g.rows.count) == (4, None, 5)


@pytest.mark.parametrize("door", DOORS)
def test_numbers_with_missing_ones_among_them_stay_whole(door: str) -> None:
    table = {"source": [1, 2, None], "target": [2, 3, 1], "weight": [7, 8, 9]}
    if door == "CSV":  # pandas writes 1.0 and 2.0
        table["source"] = ["1", "2", None]
    with pytest.warns(kl.GraphWarning, match="1 of 3 rows has no value in 'source', "):
        g = DOORS[door](table, drop_missing=True)
    assert g.labels.tolist() == [1, 2, 3]
    assert g.weights.tolist() == [7, 8]


@pytest.mark.parametrize("door", DOORS)
def test_directions_belong_to_the_rows_that_are_left(door: str) -> None:
    table = {"source": ["a", None, "b"], "target": ["b", "a", "c"], "oneway": ["yes", "yes", "no"]}
    with pytest.warns(kl.GraphWarning):
        g = DOORS[door](table, directed="oneway", drop_missing=True)
    assert (g.m, g.rows.numbers.tolist()) == (3, [0, 2])


@pytest.mark.parametrize("door", ["pandas", "Parquet", "CSV"])
def test_a_flag_is_asked_for(door: str) -> None:
    with pytest.raises(kl.RequestError, match="drop_missing must be True or False"):
        DOORS[door](NAMES, weight="km", drop_missing="yes")


# ---- text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rows", "count", "first"),
    [
        (b"a,b,1\nb,,2\nc,a,3\n", [0, 2], 3, "column 1, line 2"),
        (b",b,1\nb,c,2\nc,a,3", [1, 2], 3, "column 0, line 1"),
        (b"# x\ns,t,w\r\n1,2,3\r\n# c\r\n\r\n2,,3\r\n3,4,5", [0, 2], 3, "'t', line 6"),
        (b"1 2 1\n2 3 nan\n3 1 N/A\n", [0], 3, "column 2, the first of them line 2"),
        (b"a\tb\t1\n\t\t\nb\tc\t2\n", [0, 2], 3, "column 0, line 2"),
        (b'"a, b",b,1\nb,c,""\n"x ""y""",a,"null"\n', [0], 3, "column 2, the first of them line 2"),
        (b"1;NA\n2;3\n;1\n", [1], 3, "column 0 or column 1, the first of them line 1"),
        (b"source,target,w\n,2,3\n1,2,3\n", [1], 2, "'source', line 2"),  # numbers, not names
    ],
)  # fmt: skip
def test_empty_fields_of_text(text: bytes, rows: list[int], count: int, first: str) -> None:
    with pytest.warns(kl.GraphWarning, match=f"no value in {first}$"):
        g = kl.read(io.BytesIO(text), "edge_list", drop_missing=True)
    assert (g.rows.numbers.tolist(), g.rows.count) == (rows, count)
    with pytest.raises(kl.FormatError):
        kl.read(io.BytesIO(text), "edge_list")


def test_what_is_a_value_in_text() -> None:
    """A name may be called NA, or be empty in quotes; a line that is cut short is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = kl.read(io.BytesIO(b'de,NA,1\nNA,"",2\n'), "edge_list", drop_missing=True)
    assert list(g.labels) == ["de", "NA", ""]
    with pytest.raises(kl.FormatError, match=":2: found the end of the line in 'b,c'"):
        kl.read(io.BytesIO(b"a,b,1\nb,c\n,a,3\n"), "edge_list", drop_missing=True)


def test_an_error_about_another_line_says_nothing_of_missing_values() -> None:
    with pytest.raises(kl.FormatError) as raised:
        kl.read(io.BytesIO(b"a,b,1\nb,c,x\nc,,3\n"), "edge_list")
    assert raised.value.line == 2
    assert "drop_missing" not in str(raised.value)


def test_many_rows_are_dropped_where_threads_share_the_text() -> None:
    count = 200_000
    lines = [f"{i},{i + 1},{i % 7}" if i % 1000 else f"{i},,3" for i in range(count)]
    text = ("source,target,weight\n" + "\n".join(lines)).encode()
    with pytest.warns(kl.GraphWarning, match=r"200 of 200,000 rows .* the first of them line 2"):
        g = kl.read(io.BytesIO(text), "edge_list", drop_missing=True)
    assert np.array_equal(g.rows.numbers, np.flatnonzero(np.arange(count) % 1000))


def test_a_header_may_be_shorter_than_the_rows() -> None:
    text = b"ay\na,b,1,yes\nb,c,2,\ncca,,,-1\n"
    with pytest.raises(kl.FormatError, match="1 of 3 rows has no value in column 1, line 4"):
        kl.read(io.BytesIO(text), format="edge_list", separator=",", header=True)


# ---- the command line ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("always")  # the command line prints them
def test_the_command_line_drops_and_advises(tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("source,target,km\na,b,1\nb,,2\nb,c,3\n")
    refused = kleene("info", file)
    assert refused.exit_code == 3
    assert "in 'target', line 3; pass --drop-missing to leave them out, or" in refused.stderr
    taken = kleene("info", file, "--drop-missing")
    assert taken.exit_code == 0
    assert taken.stderr.count("1 of 3 rows has no value in 'target', line 3") == 1


def test_parts_of_a_file_drop_nothing(tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("a,b\nb,\n")
    alone = kl.distributed.Communicator()
    with pytest.raises(kl.RequestError, match="in parts does not take drop_missing"):
        kl.distributed.read(file, comm=alone, drop_missing=True)
