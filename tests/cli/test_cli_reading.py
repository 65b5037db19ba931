"""How the command line reads tables: headers, columns, separators, one-way streets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runner import document, kleene, lines

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


# ---- maps ---------------------------------------------------------------------------------------

TOWN = Path(__file__).parents[2] / "examples" / "data" / "streets.gpkg"


def test_streets_of_a_map(tmp_path: Path) -> None:
    found = document("info", TOWN, "--oneway", "oneway", "--weight", "geometry")
    assert (found["format"], found["vertices"], found["crs"]) == ("geopackage", 324, "EPSG:4326")
    assert (found["directed"], found["joined_ends"]) == (True, None)
    minutes, metres = (
        document("path", TOWN, 6, 300, "--undirected", "--weight", name)["distance"]
        for name in ("minutes", "geometry")
    )
    assert 5 < minutes < 10 < 1000 < metres
    route = tmp_path / "route.geojson"
    kleene("path", TOWN, 6, 300, "--undirected", "-o", route)
    again = document("info", route)  # a line of many points: one street
    assert (again["format"], again["vertices"]) == ("geojson", 2)


def test_ends_that_nearly_meet(tmp_path: Path) -> None:
    drawn = [[[9, 48], [9, 49]], [[9, 49.00001], [9, 50]]]
    path = tmp_path / "streets.geojson"
    features = [{"type": "LineString", "coordinates": line} for line in drawn]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert document("info", path)["vertices"] == 4
    assert document("info", path, "--snap", "2")["joined_ends"] == 1
    assert "joined ends 1, up to 1.11 apart" in lines("info", path, "--snap", 2)
    assert "joined ends 0" in lines("info", path, "--snap", 1)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--snap", "-1"], 2, "--snap must be a number from 0 on"),
        (["--layer", "roads"], 2, "no layer 'roads': "),
        (["--weight", "toll"], 3, "no column 'toll' for the weights"),
        (["--weight", "kind"], 3, "column 'kind' holds text"),
    ],
)
def test_advice_on_maps(options: list[str], code: int, says: str) -> None:
    refused = kleene("info", TOWN, "--undirected", *options)
    assert (refused.exit_code, says in refused.stderr) == (code, True), refused.stderr


@pytest.mark.filterwarnings("default::kleene.GraphWarning")
def test_a_column_of_directions_that_was_not_named() -> None:
    said = kleene("info", TOWN).stderr
    assert "warning: the streets have a column 'oneway'" in said
    assert "pass --oneway oneway, or --undirected if that is meant" in said
