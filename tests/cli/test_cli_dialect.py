"""One dialect: options of every command from its call, lists, names, and standard output."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from cli_runner import TOWNS, document, kleene

import kleene as kl
from kleene.cli.main import app

#: Parameters that no option has: what a command passes on itself, and what only programs need.
PYTHON_ONLY = {
    *("graph", "source", "progress", "keep", "order", "demand", "origin", "destination", "volume"),
    *("kind", "what", "path", "positions", "row", "route", "minus"),
}
CALLS = {
    **{name: name for name in ("bfs", "sssp", "apsp", "closure", "within", "prepare", "loads")},
    **{"nearest": "nearest", "isochrones": "isochrones", "k-shortest": "k_shortest"},
    **{"components": "components", "draw": "draw"},
}
#: What a command leaves out on purpose.
LEFT_OUT = {
    "k-shortest": {"target", "pairs"},
}


@pytest.fixture
def towns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "towns.csv").write_text(TOWNS)
    return tmp_path / "towns.csv"


def names_of(command: str) -> set[str]:
    """Return all names of the options of a command."""
    group: Any = typer.main.get_command(app)
    return {name for one in group.get_command(None, command).params for name in one.opts}


# ---- options are those of the calls -------------------------------------------------------------


@pytest.mark.parametrize("command", CALLS)
def test_every_parameter_of_the_call_is_an_option(command: str) -> None:
    parameters = set(inspect.signature(getattr(kl, CALLS[command])).parameters)
    wanted = parameters - PYTHON_ONLY - LEFT_OUT.get(command, set())
    assert {f"--{name.replace('_', '-')}" for name in wanted} <= names_of(command)


def test_defaults_and_help_are_those_of_the_call() -> None:
    said = " ".join(kleene("nearest", "--help").output.split())
    assert "--k, -k" not in said
    assert "How many facilities to find for each vertex. [default: 1]" in said
    assert "--predecessors / --no-predecessors" in kleene("sssp", "--help").output


def test_help_speaks_of_no_python() -> None:
    group: Any = typer.main.get_command(app)
    commands = [group.get_command(None, name) for name in group.list_commands(None)]
    for command in list(commands):
        names = command.list_commands(None) if hasattr(command, "list_commands") else ()
        commands += [command.get_command(None, name) for name in names]
    assert len(commands) > 40
    for command in commands:
        for one in command.params:
            told = f"{command.name} {one.name}: {one.help}"
            assert one.help, told
            assert not re.search(r"True|False|None|``|:\w+:`|kl\.", told), told


def test_former_names_work_and_are_not_shown(towns: Path) -> None:
    assert "--sample " not in kleene("measure", "--help").output
    for now, before, *call in (
        ("--samples", "--sample", "measure", towns, "closeness"),
        ("--sources", "--source", "sssp", towns),
        ("--targets", "--target", "sssp", towns, "ann"),
        ("--facilities", "--facility", "nearest", towns),
    ):
        value = "2" if now == "--samples" else "dee"
        found, right = (document(*call, name, value) for name in (before, now))
        assert without_times(found) == without_times(right)
        assert f"{before} " not in kleene(call[0], "--help").output


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in ("seconds", "plan")}


def test_the_order_of_former_versions(towns: Path) -> None:
    now, before = document("measure", towns, "closeness"), document("measure", "closeness", towns)
    assert without_times(now) == without_times(before)
    kleene("sssp", towns, "ann", "-o", "r.npz")
    kleene("apsp", towns, "-o", "r.zarr")
    for result in ("r.npz", "r.zarr"):
        for files in ((towns, result), (result, towns)):
            assert document("verify", *files)["proof"]["tolerance"] == "exact"


# ---- lists --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sources", [("ann", "eve"), ("-s", "ann,eve"), ("-s", "ann", "-s", "eve"), ("-s", "two.txt")]
)
@pytest.mark.parametrize("command", ["sssp", "bfs", "matrix", "within --limit 9", "apsp"])
def test_lists_of_vertices(towns: Path, command: str, sources: tuple[str, ...]) -> None:
    Path("two.txt").write_text("ann\neve\n")
    name, *options = command.split()
    assert document(name, towns, *options, *sources)["sources"] == 2


def test_lists_of_numbers_and_names(towns: Path) -> None:
    places = "id,x,y\nann,0,0\nbob,4,0\ncy,4,3\ndee,5,3\neve,0,2\n"
    Path("places.csv").write_text(places)
    for limits in (("--limits", "5,8"), ("--limit", "5", "--limit", "8")):
        found = document("isochrones", towns, "ann", *limits, "--positions", "places.csv")
        assert [zone["limit"] for zone in found["limits"]] == [5, 8]
    blocked = ("--method", "blocked", "--options", "block=48")
    assert document("apsp", towns, *blocked)["plan"]["method"] == "blocked"
    bins = document("measure", towns, "histogram", "--bins", "0,5,10")
    assert [row["pairs"] for row in bins["rows"]] == [5, 4]
    failed = kleene("isochrones", towns, "ann", "--limits", "5,x")
    assert (failed.exit_code, "--limits: 'x' is not a number" in failed.stderr) == (2, True)


def test_vertices_from_standard_input(towns: Path) -> None:
    found = kleene("sssp", towns, "-s", "-", "--json", stdin="ann\neve\n")
    assert json.loads(found.stdout)["sources"] == 2


def test_a_vertex_comes_before_a_file_of_its_name(towns: Path) -> None:
    Path("ann").write_text("eve\n")
    assert document("sssp", towns, "ann")["farthest"]["source"] == "ann"


# ---- standard output ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        *("sssp @ ann", "bfs @ ann", "apsp @", "closure @ ann", "matrix @ ann", "within @ -k 2"),
        *("nearest @ dee", "components @", "measure @ closeness", "measure @ betweenness --edges"),
        *(
            "measure @ periphery --unreachable ignore",
            "loads @ trips.csv",
            "path @ ann dee",
            "k-shortest @ ann dee",
        ),
        *("sssp @ --pairs trips.csv", "isochrones @ ann --limits 5,9 --positions places.csv"),
    ],
)
def test_tables_on_standard_output(towns: Path, arguments: str) -> None:
    Path("trips.csv").write_text("ann,dee\neve,cy\n")
    Path("places.csv").write_text("id,x,y\nann,0,0\nbob,4,0\ncy,4,3\ndee,5,3\neve,0,2\n")
    call = [str(towns) if word == "@" else word for word in arguments.split()]
    table, lines = kleene(*call, "-o", "-"), kleene(*call, "-o", "-", "--json")
    assert (table.exit_code, lines.exit_code) == (0, 0), table.output + lines.output
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    objects = [json.loads(line) for line in lines.stdout.splitlines()]
    assert len(rows) == len(objects) > 0
    assert [list(row) for row in rows] == [list(one) for one in objects]
    if Path(call[0]).name not in ("path", "k-shortest", "isochrones"):
        saved = kleene(*call, "-o", "saved.csv", "-q")
        assert saved.exit_code == 0
        assert table.stdout == Path("saved.csv").read_text()


def test_graphs_on_standard_output(towns: Path) -> None:
    for call in (("convert", towns), ("generate", "cycle", "--n", 3)):
        told = kleene(*call, "-o", "-", "--to", "edge_list")
        assert kl.read(io.BytesIO(told.stdout.encode()), "edge_list").n in (3, 5)
        assert kleene(*call, "-o", "-").exit_code == 2
        for files in ((), ("a.npz", "-o", "b.npz")):
            assert "name one file to write" in kleene(*call, *files).stderr
        assert kleene(*call, "-o", "c.npz", "-q").exit_code == 0
        assert kl.read("c.npz").m > 0
