"""Completion in the shell: values of options, through the machinery that a shell uses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.cli import completion

SCRIPT = "import sys, _kleene_cli; sys.argv[0] = 'kleene'; _kleene_cli.main()"


def completed(line: str, script: str = SCRIPT) -> list[str]:
    """Return what bash would offer after this line."""
    words = line.split(" ")
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ
        | {
            "_KLEENE_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


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
    ],
)
def test_values_are_completed(line: str, expected: set[str]) -> None:
    assert set(completed(line)) == expected


def test_completion_is_light() -> None:
    """A person waits for it: nothing large may be imported for values."""
    script = f"""
import atexit, sys
heavy = ("scipy", "rich.console", "matplotlib", "pandas", "pyarrow", "altair")
atexit.register(lambda: print(*("heavy:" + m for m in heavy if m in sys.modules), sep="\\n"))
{SCRIPT}"""
    for line in ("kleene sssp g --method ", "kleene info g --format ", "kleene lab run "):
        assert not [word for word in completed(line, script) if word.startswith("heavy")], line


def test_tables_of_values_are_those_of_the_library() -> None:
    assert {name for name, _ in completion.semirings()} == set(SEMIRINGS)
    assert {name for name, _ in completion.formats()} == set(kl.io.FORMATS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_the_shell_names_the_program(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"_KLEENE_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "_KLEENE_COMPLETE" in done.stdout
