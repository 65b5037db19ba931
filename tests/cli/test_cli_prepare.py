"""``kleene prepare`` and ``kleene matrix``; other commands on a ``.kp`` in place of a graph."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import TOWNS, document, kleene, lines

import kleene as kl
from kleene.system.machine import this_machine


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text(TOWNS)
    return path


@pytest.fixture
def prepared(towns: Path) -> Path:
    document("prepare", towns, "-o", towns.with_suffix(".kp"))
    return towns.with_suffix(".kp")


def without(found: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a document without what differs between runs and methods."""
    return {key: value for key, value in found.items() if key not in ("plan", "seconds", *names)}


# ---- prepare ------------------------------------------------------------------------------------


def test_prepare_writes_what_python_does(towns: Path, tmp_path: Path) -> None:
    out = tmp_path / "towns.kp"
    found = document("prepare", towns, "-o", out, "--threads", 1)
    assert (found["semiring"], found["dtype"], found["out"]) == ("min_plus", "int32", str(out))
    assert found["file_bytes"] == out.stat().st_size
    assert found["graph"]["vertices"] == 5
    p = kl.load_prepared(out)
    assert found["pairs"] == p._elimination.arcs
    assert p.distance("eve", "dee") == 10
    assert p.graph.labels.tolist() == kl.read(towns).labels.tolist()


def test_prepare_prints_a_summary(towns: Path, tmp_path: Path) -> None:
    page = lines("prepare", towns, "-o", tmp_path / "a.kp")
    assert page[0].startswith("towns: 5 vertices, 5 arcs")
    assert "prepared for min_plus, int32 values" in page
    assert "joined 5 pairs, 1 triangle, in a tree 2 deep" in page
    assert any(row.startswith("time order ") for row in page)
    assert any(row.startswith(f"saved {tmp_path / 'a.kp'}, ") for row in page)
    assert kleene("prepare", towns, "-o", tmp_path / "b.kp", "-q").output == ""


def test_prepare_takes_the_options_of_readers(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("from,to,km,minutes\na,b,4,9\nb,c,1,2\n")
    out = tmp_path / "s.kp"
    document("prepare", tmp_path / "s.csv", "--weight", "minutes", "--undirected", "-o", out)
    assert kl.load_prepared(out).distance("c", "a") == 11


def test_prepare_for_other_semirings(towns: Path, tmp_path: Path) -> None:
    out = tmp_path / "wide.kp"
    assert document("prepare", towns, "--semiring", "max_min", "-o", out)["semiring"] == "max_min"
    wide = document("closure", out, "ann", "--semiring", "max_min")
    plain = document("closure", towns, "ann", "--semiring", "max_min")
    assert without(wide) == without(plain)
    assert wide["plan"]["method"] == "prepared"


def test_explain_says_what_preparing_would_take(towns: Path) -> None:
    found = document("explain", towns, "prepare")
    assert found["plan"]["problem"] == "prepare"
    assert not list(towns.parent.glob("*.kp"))


def test_what_prepare_refuses(towns: Path, tmp_path: Path) -> None:
    cases = [
        (("prepare", towns), 2, "--out"),
        (("prepare", towns, "-o", tmp_path / "a.npz"), 2, "a prepared graph is saved as .kp"),
        (("prepare", towns, "-o", tmp_path / "none" / "a.kp"), 2, "there is no directory"),
        (("prepare", towns, "-o", tmp_path / "a.kp", "--semiring", "min"), 2, "no semiring"),
        (("prepare", tmp_path / "none.csv", "-o", tmp_path / "a.kp"), 3, "No such file"),
    ]
    for arguments, code, message in cases:
        result = kleene(*arguments)
        assert (result.exit_code, result.stdout) == (code, ""), arguments
        assert message in result.stderr
    (tmp_path / "cycle.csv").write_text("a,b,1\nb,a,-2\n")
    result = kleene("prepare", tmp_path / "cycle.csv", "-o", tmp_path / "a.kp")
    assert result.exit_code == 4
    assert not list(tmp_path.glob("*.kp"))


@pytest.mark.skipif(os.name != "posix", reason="needs signals and named pipes")
def test_preparing_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C ends it with one line, and leaves no file."""
    pipe = tmp_path / "graph"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "kleene.cli.main", "prepare", str(pipe), "--format", "dimacs"]
    with subprocess.Popen(
        [*command, "-o", str(tmp_path / "g.kp")], stderr=subprocess.PIPE, text=True
    ) as process:
        with pipe.open("wb") as file:  # opens when the process reads
            kl.write(kl.generate.grid(300, 300, weights=(1, 9), seed=1), file, "dimacs")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert (process.returncode, said) == (130, "kleene: interrupted\n")
    assert list(tmp_path.iterdir()) == [pipe]


# ---- a .kp in place of a graph ------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("path", "eve", "dee"),
        ("sssp", "ann"),
        ("sssp", "-s", "ann,eve", "-t", "dee,cy"),
        ("sssp", "cy", "--reverse"),
        ("apsp", "--top", "9"),
        ("matrix", "-s", "ann,eve", "-t", "cy,dee"),
        ("nearest", "dee", "ann", "-v", "eve,bob"),
        ("within", "eve", "--limit", "6"),
        ("bfs", "ann"),
        ("closure", "ann", "--semiring", "boolean"),
        ("components",),
        ("k-shortest", "ann", "dee", "-k", "2"),
    ],
)
def test_the_answer_is_that_of_the_graph(
    towns: Path, prepared: Path, arguments: tuple[str, ...]
) -> None:
    command, *rest = arguments
    found, right = document(command, prepared, *rest), document(command, towns, *rest)
    of_all = ("served", "of", "facilities") if command == "nearest" else ()  # or of those named
    assert without(found, *of_all) == without(right, *of_all)


@pytest.mark.parametrize(
    "arguments",
    [("path", "eve", "dee"), ("sssp", "ann"), ("matrix", "-s", "ann,eve"), ("apsp",)],
)
def test_the_prepared_graph_answers(prepared: Path, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    assert document(command, prepared, *rest)["plan"]["method"] == "prepared"


@pytest.fixture
def wide(towns: Path) -> Path:
    out = towns.with_name("wide.kp")
    document("prepare", towns, "-o", out, "--semiring", "max_min")
    return out


def test_closure_is_for_what_was_prepared(towns: Path, prepared: Path, wide: Path) -> None:
    found, right = document("closure", wide), document("closure", towns, "--semiring", "max_min")
    assert found["semiring"] == "max_min"
    assert without(found) == without(right)
    assert document("closure", prepared)["semiring"] == "min_plus"
    assert document("closure", wide, "--semiring", "boolean")["semiring"] == "boolean"
    assert document("closure", towns)["semiring"] == "boolean"


@pytest.mark.parametrize("semiring", [(), ("--semiring", "boolean"), ("--semiring", "max_min")])
def test_explain_agrees_with_the_calls(
    towns: Path, prepared: Path, wide: Path, semiring: tuple[str, ...]
) -> None:
    names = ("problem", "method", "device", "semiring", "dtype")
    calls = [("closure", *semiring), ("sssp", "ann"), ("apsp",), ("bfs", "ann")]
    for file in (towns, prepared, wide):
        for problem, *rest in calls:
            plan = document("explain", file, problem, *rest)["plan"]
            ran = document(problem, file, *rest)["plan"]
            assert [plan[name] for name in names] == [ran[name] for name in names]


def test_explain_says_what_was_prepared(wide: Path) -> None:
    plan = document("explain", wide, "prepare")["plan"]
    assert plan["semiring"] == "max_min"
    assert "read from a file" in plan["reasons"]


def test_lengths_of_a_graph_prepared_for_widths(towns: Path, prepared: Path, wide: Path) -> None:
    """They are searched, and the page says so."""
    commands = [
        ("path", "eve", "dee"),
        ("matrix", "-s", "ann,eve", "-t", "cy,dee"),
        ("sssp", "ann"),
        ("sssp", "-s", "ann,eve", "-t", "cy"),
        ("apsp",),
        ("within", "ann", "--limit", "7"),
        ("nearest", "ann"),
        ("nearest", "ann", "-v", "eve"),
    ]
    for command, *rest in commands:
        of_all = ("served", "of", "facilities") if command == "nearest" else ()
        found, right = (document(command, file, *rest) for file in (wide, towns))
        assert without(found, *of_all) == without(right, *of_all)
    note = "prepared for max_min, not for lengths: the graph was searched"
    for command, *rest in commands:
        assert note in lines(command, wide, *rest)
        for file in (towns, prepared):
            assert not any("searched" in row for row in lines(command, file, *rest))
    others = [
        ("path", "eve", "dee", "--hops"),
        ("within", "ann", "--limit", "2", "--hops"),
        ("nearest", "ann", "--hops"),
        ("bfs", "ann"),
        ("closure",),
    ]
    for command, *rest in others:
        assert note not in lines(command, wide, *rest)


@pytest.mark.skipif("cuda" in this_machine().devices, reason="there is a GPU")
def test_nearest_of_some_vertices_on_a_device(prepared: Path) -> None:
    for some in ((), ("-v", "eve")):
        result = kleene("nearest", prepared, "ann", *some, "--device", "cuda")
        assert result.exit_code != 0, "there is none"
        assert "cuda" in result.stderr
    there = document("nearest", prepared, "ann", "-v", "eve", "--device", "cpu")
    assert there["plan"]["method"] == "prepared"


def test_results_of_a_kp_are_verified(prepared: Path, towns: Path, tmp_path: Path) -> None:
    found = document("sssp", prepared, "eve", "--verify", "-o", tmp_path / "r.npz")
    assert found["proof"]["rows"] == 1
    assert document("verify", towns, tmp_path / "r.npz")["proof"]["rows"] == 1
    assert document("verify", prepared, tmp_path / "r.npz")["proof"]["rows"] == 1


def test_info_of_a_prepared_graph(prepared: Path, towns: Path) -> None:
    found, plain = document("info", prepared), document("info", towns)
    assert found["format"] == "kp"
    assert found["prepared"]["semiring"] == "min_plus"
    assert plain["prepared"] is None
    names = ("prepared", "format", "file")
    assert without(found, *names) == without(plain, *names)
    assert "prepared for min_plus, int32 values" in lines("info", prepared)


def test_vertices_by_position(prepared: Path) -> None:
    found = document("path", prepared, 0, 3, "--unlabelled")
    assert [step["vertex"] for step in found["path"]] == [0, 1, 2, 3]
    assert found["plan"]["method"] == "prepared"


def test_positions_of_another_file(prepared: Path, tmp_path: Path) -> None:
    (tmp_path / "xy.csv").write_text("id,x,y\nann,0,0\nbob,1,0\ncy,1,1\ndee,2,1\neve,0,1\n")
    out = tmp_path / "p.geojson"
    document("path", prepared, "ann", "dee", "--positions", tmp_path / "xy.csv", "-o", out)
    assert json.loads(out.read_text())["geometry"]["coordinates"][-1] == [2, 1]


def test_weights_are_those_of_preparing(prepared: Path) -> None:
    for option in (("--weight", "km"), ("--directed",), ("--format", "gml")):
        result = kleene("sssp", prepared, "ann", *option)
        assert result.exit_code in (2, 3)
        assert result.stdout == ""


def test_a_damaged_kp(prepared: Path) -> None:
    contents = bytearray(prepared.read_bytes())
    contents[contents.rindex(b"\x93NUMPY") + 128] ^= 1  # behind the header of the last array
    prepared.write_bytes(contents)
    result = kleene("path", prepared, "ann", "dee")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"kleene: {prepared}: found a damaged archive")
    assert len(result.stderr.splitlines()) == 1


def test_a_graph_with_the_name_of_a_kp(towns: Path) -> None:
    other = towns.rename(towns.with_name("towns.kp"))
    result = kleene("sssp", other, "ann")
    assert result.exit_code == 3
    assert "towns.kp: " in result.stderr


# ---- matrix -------------------------------------------------------------------------------------


def test_a_matrix_of_lists_and_files(towns: Path, tmp_path: Path) -> None:
    (tmp_path / "from.txt").write_text("ann\neve\n")
    (tmp_path / "to.txt").write_text("vertex\ndee\nbob\ncy\n")
    found = document("matrix", towns, "--sources", tmp_path / "from.txt", "-s", "bob",
                     "--targets", tmp_path / "to.txt")  # fmt: skip
    assert found["rows"] == ["ann", "eve", "bob"]
    assert found["columns"] == ["dee", "bob", "cy"]
    assert found["distances"] == [[8, 4, 7], [10, 6, 9], [4, 0, 3]]
    assert (found["sources"], found["targets"], found["reached"], found["of"]) == (3, 3, 9, 9)
    assert found["farthest"] == {"source": "eve", "target": "dee", "distance": 10}


def test_targets_are_the_sources_by_default(towns: Path) -> None:
    found = document("matrix", towns, "-s", "ann,dee")
    assert found["distances"] == [[0, 8], [None, 0]]
    back = document("matrix", towns, "-s", "ann,dee", "--reverse")
    assert back["distances"] == [[0, None], [8, 0]]


@pytest.mark.parametrize("kind", ["towns.csv", "towns.kp"])
def test_matrices_in_files(prepared: Path, kind: str) -> None:
    file = prepared.with_name(kind)
    for suffix in (".npy", ".csv", ".parquet", ".npz"):
        out = prepared.with_name(f"m{suffix}")
        found = document("matrix", file, "-s", "ann,eve", "-t", "cy,dee", "-o", out, "--verify")
        assert (found["out"], found["proof"]["rows"]) == (str(out), 2)
        assert "distances" not in found
    assert np.load(prepared.with_name("m.npy")).tolist() == [[7, 8], [9, 10]]
    with prepared.with_name("m.csv").open(newline="") as table:
        assert [row["distance"] for row in csv.DictReader(table)] == ["7", "8", "9", "10"]
    assert kl.Result.load(prepared.with_name("m.npz"), kl.read(file)).distances.sum() == 34


def test_the_page_of_a_matrix(towns: Path, tmp_path: Path) -> None:
    assert "matrix 1 source, 1 target" in lines("matrix", towns, "-s", "ann", "-t", "cy")
    page = lines("matrix", towns, "-s", "ann,eve", "-t", "cy,ann")
    assert "matrix 2 sources, 2 targets" in page
    assert page[-3:] == ["source cy ann", "ann 7 0", "eve 9 2"]
    kl.write(kl.generate.grid(4, 4), tmp_path / "g.npz")
    page = lines("matrix", tmp_path / "g.npz", "-s", ",".join(map(str, range(16))))
    assert page[-1] == "and 176 more: --json, or --out matrix.npy"


def test_what_matrix_refuses(towns: Path) -> None:
    cases = [
        (("matrix", towns), 2, "matrix needs sources"),
        (("matrix", towns, "-s", "nowhere"), 2, "no vertex 'nowhere'"),
        (("matrix", towns, "-s", "ann", "-o", "m.gr"), 2, "unknown suffix"),
        (("matrix", towns, "--sources", towns.with_name("none.txt")), 3, "No such file"),
    ]
    for arguments, code, message in cases:
        result = kleene(*arguments)
        assert (result.exit_code, result.stdout) == (code, ""), arguments
        assert message in result.stderr
