"""``kleene generate``: commands made from the signatures of ``kleene.generate``."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kleene as kl
from kleene.cli.main import app

FAMILIES = [name for name in kl.generate.__all__ if inspect.isfunction(getattr(kl.generate, name))]


def generate(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["generate", *map(str, arguments)])


def test_every_generator_has_a_command() -> None:
    output = CliRunner().invoke(app, ["generate", "--help"]).output
    for family in FAMILIES:
        assert f"  {family.replace('_', '-')} " in output


@pytest.mark.parametrize("family", FAMILIES)
def test_every_parameter_is_an_option_with_help(family: str) -> None:
    lines = " ".join(generate(family.replace("_", "-"), "--help").output.split())
    for name in inspect.signature(getattr(kl.generate, family)).parameters:
        if name != "progress":
            assert f"--{name.replace('_', '-')} " in lines
    assert "[default: 0]" in lines  # the seed


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("rmat --scale 5 --edge-factor 3 --seed 2", kl.generate.rmat(5, 3, seed=2)),
        ("rmat --scale 5 --no-relabel --undirected",
         kl.generate.rmat(5, relabel=False, directed=False)),
        ("path-plus --n 9", kl.generate.path_plus(9)),
        ("uniform --n 9 --m 20 --weights 1:255", kl.generate.uniform(9, 20, weights=(1, 255))),
        ("uniform --n 9 --m 20 --weights 0.5:1.0", kl.generate.uniform(9, 20, weights=(0.5, 1.0))),
        ("uniform --n 9 --m 20 --weights 0:1:float32",
         kl.generate.uniform(9, 20, weights=(0, 1, "float32"))),
        ("uniform --n 9 --m 20 --weights 7", kl.generate.uniform(9, 20, weights=7)),
        ("capped --n 9 --density 0.2 --max-degree 3", kl.generate.capped(9, 0.2, 3)),
        ("capped --n 9 --density 0.2 --max-degree 0.5", kl.generate.capped(9, 0.2, 0.5)),
        ("grid --rows 3 --columns 4 --diagonals", kl.generate.grid(3, 4, diagonals=True)),
    ],
)  # fmt: skip
def test_options_are_passed_as_parameters(
    arguments: str, expected: kl.Graph, tmp_path: Path
) -> None:
    out = tmp_path / "graph.npz"
    result = generate(*arguments.split(), out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["command"], told["out"]) == ("generate", str(out))
    assert told["graph"]["arcs"] == expected.m
    assert kl.read(out).equals(expected)


def test_text_output(tmp_path: Path) -> None:
    out = tmp_path / "ring.gr"
    assert "cycle(n=5), 5 vertices, 5 edges, unweighted" in generate("cycle", out, "--n", 5).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("uniform out.gr", "Missing option '--n'"),
        ("uniform out.gr --n five", "Invalid value for '--n'"),
        ("uniform out.gr --n 5 --m 6 --weights a:b", "'a' is not a number"),
        ("uniform out.gr --n 5 --m 6 --weights 1:2:3:4", "not LOW:HIGH"),
        ("uniform out.gr --n 5 --m 6 --weights 1:2:text", "kleene: "),
        ("capped out.gr --n 5 --density 0.5 --max-degree x", "'x' is not a number"),
        ("uniform out.gr --n -5 --m 6", "kleene: "),
        ("uniform out.nonsense --n 5 --m 6", "kleene: unknown suffix"),
        ("nonsense out.gr", "No such command"),
    ],
)
def test_mistakes(
    arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = generate(*arguments.split())
    assert result.exit_code == 2
    assert message in result.output
    assert not list(tmp_path.iterdir())
