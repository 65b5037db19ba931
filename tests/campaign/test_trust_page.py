"""The page on trust says what the record says, and the record is kept whole."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from torture import record, report
from torture.campaign import Outcome
from torture.parts import BY_HAND, PARTS


def test_the_committed_page_is_the_generated_one() -> None:
    made = report.page(record.load())
    assert report.PAGE.read_text() == made, "run: python -m torture.report"


def test_every_part_has_two_rows() -> None:
    made = report.page({})
    for part in (*PARTS, *BY_HAND):
        assert made.count(f"| `{part.name}` |") == 2, part.name
        assert part.promise in made
    assert "{{" not in made


def test_a_run_shows_in_the_page(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    part = PARTS[0]
    record.keep(file, part, Outcome(12345, ["seed 1: a | b"], {"hours": 8}), 1, 7200.0)
    made = report.page(record.load(file))
    row = next(line for line in made.splitlines() if f"`{part.name}` | 12,345" in line)
    assert "| 1 | 2.0 h |" in row
    assert "hours: 8" in row
    assert f"- `{part.name}`: seed 1: a \\| b" in made
    assert "Nothing failed" not in made


def test_tables_have_as_many_cells_as_heads(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    for part in PARTS:
        record.keep(file, part, Outcome(1, [], {"text": "a | b\n<c>"}), None, 5)
    table = [line for line in report.page(record.load(file)).splitlines() if line[:1] == "|"]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table}
    assert widths == {4, 8}


def test_other_runs_are_entered_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "record.json"
    command = ["record", BY_HAND[0].name, "--cases", "7", "--fact", "a=b=c", "--record", str(file)]
    monkeypatch.setattr(sys, "argv", command)
    record.main()
    row = json.loads(file.read_text())[BY_HAND[0].name]
    assert (row["cases"], row["failures"], row["facts"]) == (7, [], {"a": "b=c"})
    monkeypatch.setattr(sys, "argv", [*command, "--fact", "nothing"])
    with pytest.raises(SystemExit):
        record.main()
    assert "NAME=VALUE" in capsys.readouterr().err
