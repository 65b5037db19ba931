"""Errors on the command line: one line on standard error, and an exit code."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runner import TOWNS, kleene

import kleene as kl
from kleene.cli.commands.graphs import write_and_show
from kleene.cli.options import Output
from kleene.system.machine import Machine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with valid and invalid files."""
    texts = {"bad.gr": "p sp 2 1\na 1 9 1\n", "cycle.csv": "a,b,1\nb,a,-2\n", "towns.csv": TOWNS}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    kl.write(kl.generate.path(400_000), tmp_path / "large.npz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "message", "arguments"),
    [
        (2, "no vertex 'zoe': vertices are labelled 'ann', ..., 'eve'", "sssp towns.csv -s zoe"),
        (2, "did you mean 'ann'?", "sssp towns.csv Ann"),
        (2, "did you mean 'dee'?", "path towns.csv ann de"),
        (2, "sssp needs a source", "sssp towns.csv"),
        (2, "no method 'magic'", "sssp towns.csv -s ann --method magic"),
        (2, "no format", "info towns.csv --format magic"),
        (2, "unknown suffix", "sssp towns.csv -s ann --out result.txt"),
        (2, "standard output needs --to", "convert towns.csv -"),
        (2, "no problem 'tsp'", "explain towns.csv tsp"),
        (2, "no semiring", "closure towns.csv --semiring magic"),
        (2, "no vertex '999999999999", f"sssp towns.csv -s {'9' * 5000}"),
        (3, "<stdin>: found no rows", "sssp large.npz -s -"),
        (2, "no vertex '--1'", "sssp large.npz -s --1"),
        (2, "no vertex '\u0663'", "sssp large.npz -s \u0663"),
        (2, "no vertex 9999999999999999999", "sssp large.npz -s 9999999999999999999"),
        (
            3,
            "undirected graphs only; use --undirected, or another format",
            "convert towns.csv t.graph --unlabelled",
        ),
        (3, "No such file", "info nowhere.gr"),
        (3, "bad.gr:2: found '9'", "info bad.gr"),
        (3, "not a result saved by Kleene", "verify towns.csv large.npz"),
        (
            2,
            "there is no directory nowhere; make it first",
            "sssp towns.csv -s ann -o nowhere/result.npz",
        ),
        (3, "directory", "info ."),
        (4, "the graph has a negative cycle: ", "sssp cycle.csv -s a"),
        (5, "GiB are available", "apsp large.npz"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    code: int, message: str, arguments: str, folder: Path
) -> None:
    result = kleene(*arguments.split())
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("kleene: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


#: Calls with a file, @, that they read or write.
FILES = [
    "info @", "bfs @ ann", "bfs towns.csv ann --positions @", "bfs towns.csv --pairs @",
    "sssp towns.csv ann -o @", "sssp towns.csv ann -o @ --resume", "sssp towns.csv ann --turns @",
    "sssp towns.csv ann --target bob -o @", "apsp towns.csv -o @", "closure towns.csv -o @",
    "matrix towns.csv --sources @", "matrix towns.csv --sources towns.csv -o @",
    "path towns.csv ann bob -o @", "k-shortest towns.csv ann bob -o @", "loads towns.csv @",
    "nearest towns.csv --facilities @", "nearest towns.csv ann -o @", "components towns.csv -o @",
    "components towns.csv --largest @", "measure betweenness towns.csv -o @", "prepare @ -o x.kp",
    "prepare towns.csv -o @", "convert @ x.npz", "convert towns.csv @",
    "convert towns.csv @ --to npz", "draw towns.csv -o @", "verify @ x.npz", "verify towns.csv @",
    "explain @ apsp", "generate path @ --n 5", "generate complete @ --n 5", "store info @",
    "store verify @", "lab report @ -o x.html", "lab compare @ @",
]  # fmt: skip


@pytest.mark.parametrize("arguments", FILES)
def test_names_that_are_no_files_are_mistakes(
    arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "towns.csv").write_text(TOWNS)
    monkeypatch.chdir(tmp_path)
    for name in (".", "/", "..", ""):
        result = kleene(*(name if word == "@" else word for word in arguments.split()))
        assert isinstance(result.exception, SystemExit), (name, result.exception)
        assert result.exit_code in (2, 3), (name, result.output)
        assert result.stdout == ""
        usage = result.stderr.startswith("Usage: ")
        assert usage or result.stderr.count("\n") == 1, (name, result.stderr)
        assert "standard output" not in result.stderr, name


@pytest.mark.parametrize("arguments", ["bfs", "no-such-command", "info --no-such-option", "info"])
def test_invalid_usage_is_code_2(arguments: str) -> None:
    result = kleene(*arguments.split())
    assert result.exit_code == 2
    assert "Usage: " in result.output


def test_an_unavailable_device_is_code_6(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Machine(cores=1, memory=None, simd="none", devices=("reference",))
    monkeypatch.setattr("kleene.planning.plan.live_machine", lambda: plain)
    result = kleene("bfs", "towns.csv", "-s", "ann", "--device", "cuda")
    assert result.exit_code == 6
    assert "kleene doctor" in result.stderr


def test_binary_formats_are_not_for_terminals(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO()))
    graph, output = kl.read("towns.csv"), Output()
    with pytest.raises(kl.RequestError, match="gap is a binary"):
        write_and_show(graph, "convert", "-", "gap", None, output)
    write_and_show(graph, "convert", "-", "edge_list", None, output)


def test_unknown_format(folder: Path) -> None:
    result = kleene("sssp", "-", "-s", "ann", stdin=TOWNS)
    assert result.exit_code == 3
    assert "--format edge_list" in result.stderr


def test_a_negative_cycle_is_reported_by_label(folder: Path) -> None:
    told = kleene("sssp", "cycle.csv", "-s", "a").stderr
    assert "a -> b -> a" in told or "b -> a -> b" in told
    ring = "".join(f"v{i},v{(i + 1) % 40},{-1 if i else 2}\n" for i in range(40))
    (folder / "ring.csv").write_text(ring)
    told = kleene("sssp", "ring.csv", "-s", "v0").stderr
    assert "... (40 vertices)" in told
    assert len(told) < 200


def test_internal_errors_are_not_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(kl.io, "read_with_format", fail)
    assert isinstance(kleene("info", "towns.csv").exception, ZeroDivisionError)


def test_integer_labels_come_before_ids(tmp_path: Path) -> None:
    (tmp_path / "far.csv").write_text("100,7,2\n7,5,2\n")
    told = json.loads(kleene("path", tmp_path / "far.csv", "100", "5", "--json").stdout)
    assert [step["vertex"] for step in told["path"]] == [100, 7, 5]
    error = kleene("path", tmp_path / "far.csv", "0", "5").stderr
    assert "vertices are labelled 5 to 100; for vertices by position use --unlabelled" in error
    assert kleene("path", tmp_path / "far.csv", "x", "5").exit_code == 2


def test_a_label_may_contain_commas(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text('"a,b",c,2\na,b,3\n')
    assert [s["source"] for s in _sources(tmp_path, "a,b")] == ["a,b"]
    assert [s["source"] for s in _sources(tmp_path, "a, c")] == ["a", "c"]


def _sources(folder: Path, text: str) -> list[dict[str, Any]]:
    told = kleene("apsp", folder / "g.csv", "-s", text, "--top", 99, "--json").stdout
    pairs = json.loads(told)["pairs"]
    return [pair for pair in pairs if pair["source"] == pair["target"]]


def vertex_parser(graph: kl.Graph) -> Callable[[str], int]:
    from kleene.cli.vertices import parse_vertex

    return lambda text: parse_vertex(graph, text)


def test_vertices_without_labels_are_ids() -> None:
    find = vertex_parser(kl.Graph.from_edges([0], [1]))
    assert find("1") == 1
    for wrong in ("2", "-1", "x", "1.0", ""):
        with pytest.raises(kl.RequestError, match="0 to 1"):
            find(wrong)
    with pytest.raises(kl.RequestError, match="the graph is empty"):
        vertex_parser(kl.Graph.from_edges([], []))("0")


def test_the_output_says_how_a_file_numbers_its_vertices(tmp_path: Path) -> None:
    (tmp_path / "g.gr").write_text("p sp 3 2\na 1 2 5\na 2 3 6\n")
    page = kleene("sssp", tmp_path / "g.gr", "1").output
    assert "3 vertices, 2 arcs, int32 weights, labelled 1 to 3" in page
    assert (
        "3 vertices, 2 arcs, int32 weights\n"
        in kleene("sssp", tmp_path / "g.gr", "0", "--unlabelled").output
    )
    assert "labelled 1 to 3" in kleene("sssp", tmp_path / "g.gr", "0").stderr
