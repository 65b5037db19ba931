"""Completion in the shell: values of options, through the machinery that a shell uses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.cli import completion
from kleene.cli.commands.measure_names import MEASURES
from kleene.cli.main import app

SCRIPT = "import sys, _kleene_cli; sys.argv[0] = 'kleene'; _kleene_cli.main()"


def shell(line: str) -> dict[str, str]:
    """Return the environment in which bash asks what to offer after this line."""
    last = len(line.split(" ")) - 1
    return {"_KLEENE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(last)}


def completed(line: str) -> list[str]:
    """Return what bash would offer."""
    done = CliRunner().invoke(app, env=shell(line), prog_name="kleene")
    assert (done.exit_code, done.stderr) == (0, "")
    return str(done.stdout).splitlines()


def run(script: str, **environment: str) -> str:
    """Run a program that completes, as the shell does; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def names(problem: str, device: str | None = None) -> set[str]:
    return {row.name for row in kl.methods(problem, device)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kleene sssp g.gr --method ", names("sssp") | {"auto"}),
        ("kleene path g.gr --device reference --method ", names("sssp", "reference") | {"auto"}),
        ("kleene path g.gr --hops --method ", names("bfs") | {"auto"}),
        ("kleene explain g.gr apsp --method bat", {"batched"}),
        ("kleene closure g.gr --semiring ", set(SEMIRINGS)),
        ("kleene bfs g.gr --device ", {"auto", "cuda", "cpu", "emulated", "reference"}),
        ("kleene methods --device ", {"cuda", "cpu", "emulated", "reference"}),
        ("kleene sssp g.gr --method dij", {"dijkstra"}),
        ("kleene info g --format m", {"matrix_market", "metis"}),
        ("kleene convert a b --to d", {"dimacs"}),
        ("kleene explain g.gr b", {"bfs"}),
        ("kleene gen", {"generate"}),
        ("kleene generate small", {"small-world"}),
        ("kleene lab run apsp-by-si", {"apsp-by-size"}),
        ("kleene lab run --suite pe", {"peers"}),
        ("kleene sssp g.gr --no-p", {"--no-predecessors"}),
        ("kleene measure g.gr ", set(MEASURES)),
        ("kleene measure betweenness g.gr --method ", names("betweenness") | {"auto"}),
        ("kleene measure diameter g.gr --unreachable ", {"error", "ignore"}),
    ],
)
def test_values_are_completed(line: str, expected: set[str]) -> None:
    assert set(completed(line)) == expected


def test_the_program_completes() -> None:
    assert run(SCRIPT, **shell("kleene closure g.gr --semiring max_m")).split() == ["max_min"]


@pytest.mark.parametrize(
    "line", ["kleene sssp g --method ", "kleene info g --format ", "kleene lab run "]
)
def test_completion_is_light(line: str) -> None:
    """A person waits for it: nothing large may be imported for values."""
    script = f"""
import atexit, sys
heavy = ("scipy", "rich.console", "matplotlib", "pandas", "pyarrow", "altair", "networkx")
atexit.register(lambda: print(*("heavy:" + m for m in heavy if m in sys.modules), sep="\\n"))
{SCRIPT}"""
    offered = run(script, **shell(line))
    assert len(offered.split()) > 3
    assert "heavy:" not in offered


def test_tables_of_values_are_those_of_the_library() -> None:
    assert {name for name, _ in completion.semirings()} == set(SEMIRINGS)
    assert {name for name, _ in completion.formats()} == set(kl.io.FORMATS)


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_script_for_the_shell_asks_the_program(name: str) -> None:
    environment = {"_KLEENE_COMPLETE": f"source_{name}"}
    done = CliRunner().invoke(app, env=environment, prog_name="kleene")
    assert done.exit_code == 0
    assert f"_KLEENE_COMPLETE=complete_{name}" in done.stdout
