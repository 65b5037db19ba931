"""How the command line reads tables: headers, columns, separators, one-way streets."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import document, kleene

STREETS = "street,from,to,km,minutes,oneway\nA,x,y,1.5,9,yes\nB,y,z,2.5,3,no\nC,x,z,7.0,1,-1\n"


@pytest.fixture
def streets(tmp_path: Path) -> Path:
    path = tmp_path / "streets.csv"
    path.write_text(STREETS)
    return path


def distance(*arguments: object) -> float | None:
    result = document("sssp", *arguments)
    (pair,) = result["pairs"]
    found: float | None = pair["distance"]
    return found


def test_columns_by_name_and_number(streets: Path) -> None:
    assert distance(streets, "x", "-t", "z", "--columns", "from,to,km") == 4.0
    assert distance(streets, "x", "-t", "z", "--columns", "from, to, minutes") == 1
    assert distance(streets, "x", "-t", "z", "--columns", "1,2,3", "--header") == 4.0
    refused = kleene("info", streets, "--columns", "from,to")
    assert refused.exit_code == 3
    assert "'km' and 'minutes' may be the weights: say which, --weight km" in refused.stderr
    options = ("--columns", "from", "--columns", "to", "--columns", "km")
    assert distance(streets, "x", "-t", "z", *options) == 4.0


def test_the_weight_by_name(streets: Path) -> None:
    assert distance(streets, "x", "-t", "z", "--weight", "minutes") == 1
    assert distance(streets, "x", "-t", "z", "--weight", "km") == 4.0
    result = kleene("info", streets, "--weight", "hours")
    assert result.exit_code != 0
    assert "hours" in result.stderr


def test_one_way_streets(streets: Path) -> None:
    options = ("--weight", "km", "--oneway", "oneway")
    assert distance(streets, "z", "-t", "y", *options) == 2.5  # both ways
    assert distance(streets, "x", "-t", "z", *options) == 4.0  # C leads from z to x
    assert distance(streets, "z", "-t", "x", *options) == 7.0
    assert distance(streets, "y", "-t", "x", *options) == 9.5  # not against A
    result = kleene("sssp", streets, "x", *options, "--undirected")
    assert result.exit_code == 2
    assert "--oneway" in result.stderr


def test_undirected(streets: Path) -> None:
    assert distance(streets, "z", "-t", "x", "--weight", "km", "--undirected") == 4.0


def test_separator_and_header(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("x|y|3\ny|z|4\n")
    assert distance(path, "x", "-t", "z", "--separator", "|", "--format", "edge_list") == 7
    path.write_text("x\ty\t3\ny\tz\t4\n")
    for name in ("tab", r"\t", "\t"):
        assert distance(path, "x", "-t", "z", "--separator", name, "--format", "edge_list") == 7
    path.write_text("source,target\nsource,x\n")
    assert document("info", path, "--no-header")["vertices"] == 3
    assert document("info", path, "--header")["vertices"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--columns", "from,nowhere"), "no column 'nowhere'"),
        (("--columns", "from"), "columns must give"),
        (("--separator", "||"), "separator must be a single"),
    ],
)
def test_mistakes(options: tuple[str, ...], message: str, streets: Path) -> None:
    result = kleene("info", streets, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_options_of_tables_are_refused_for_other_formats(tmp_path: Path) -> None:
    (tmp_path / "g.gr").write_text("p sp 2 1\na 1 2 3\n")
    result = kleene("info", tmp_path / "g.gr", "--columns", "a,b")
    assert result.exit_code == 2
    assert "columns" in result.stderr
