"""The command line in process, for its tests."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from kleene.cli.main import app

__all__ = ["TOWNS", "document", "kleene", "lines"]

TOWNS = "ann,bob,4\nann,cy,9\nbob,cy,3\ncy,dee,1\neve,ann,2\n"


def kleene(*arguments: object, stdin: str | None = None) -> Any:
    """Run a command."""
    return CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)


def document(*arguments: object) -> dict[str, Any]:
    """Run a command that succeeds, and return its JSON."""
    result = kleene(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["command"] == arguments[0]
    return found


def lines(*arguments: object) -> list[str]:
    """Run a command that succeeds, and return its lines with single spaces."""
    result = kleene(*arguments)
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.output.splitlines()]
