"""Comparison of records: changes are reported, noise is not, and few repeats claim nothing."""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from lab_samples import CPU, GPU, everything, point, record_of, repeats
from typer.testing import CliRunner

from kleene.cli.main import app
from kleene.errors import RequestError
from kleene_lab.harness.record import Record, write
from kleene_lab.report.compare import compare


def verdicts(before: list[float], after: list[float], **rest: Any) -> str:
    a, b = (record_of(point("a", 1, *times)) for times in (before, after))
    (change,) = compare(a, b, **rest).changes
    return change.verdict


# ---- one point ----------------------------------------------------------------------------------


def test_a_clear_change_is_reported() -> None:
    slow, fast = [1.0, 1.01, 0.99, 1.02, 1.0], [0.5, 0.51, 0.49, 0.5, 0.505]
    assert verdicts(slow, fast) == "faster"
    assert verdicts(fast, slow) == "slower"
    assert verdicts(slow, slow) == "the same"


def test_a_change_below_the_floor_is_not() -> None:
    times = [1.0, 1.0001, 0.9999, 1.0, 1.0]
    slower = [1.03 * t for t in times]
    assert verdicts(times, slower) == "the same"
    assert verdicts(times, slower, floor=0.01) == "slower"


def test_a_change_within_the_spread_is_not() -> None:
    wide = [0.6, 0.8, 1.0, 1.3, 1.7]
    assert verdicts(wide, [1.2 * t for t in wide]) == "the same"


@pytest.mark.parametrize("few", [1, 2])
def test_few_repeats_claim_nothing(few: int) -> None:
    many = [1.0] * 9
    assert verdicts([9.0] * few, many) == "too few repeats to tell"
    assert verdicts(many, [9.0] * few) == "too few repeats to tell"


def test_three_repeats_suffice_for_a_large_change() -> None:
    assert verdicts([1.0, 1.01, 1.02], [2.0, 2.02, 2.01]) == "slower"
    assert verdicts([1.0, 1.5, 2.2], [1.6, 1.0, 3.0]) == "the same"


def test_one_slow_repeat_is_no_change() -> None:
    assert verdicts([1.0, 1.01, 0.99, 1.0, 1.0], [1.0, 1.01, 1.0, 0.99, 4.0]) == "the same"


# ---- many points --------------------------------------------------------------------------------

Noise = Callable[[random.Random], float]
NOISES: dict[str, Noise] = {
    "quiet": lambda rng: rng.gauss(0, 0.01),
    "loud": lambda rng: rng.gauss(0, 0.3),
    "with outliers": lambda rng: rng.gauss(0, 0.02) + (rng.random() < 0.1) * rng.expovariate(1),
    "two speeds": lambda rng: rng.choice([0.0, 0.1]) + rng.gauss(0, 0.005),
}


def many(rng: random.Random, noise: Noise, count: int, shift: dict[int, float]) -> Record:
    return record_of(
        *(
            point("s", x, *(shift.get(x, 1.0) * math.exp(noise(rng)) for _ in range(count)))
            for x in range(300)
        )
    )


@pytest.mark.parametrize("count", [3, 5, 11])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_of_the_same_times_nearly_nothing_is_reported(noise: Noise, count: int) -> None:
    rng = random.Random(count)
    texts = 0
    for _ in range(5):
        before, after = (many(rng, noise, count, {}) for _ in range(2))
        texts += sum(change.significant for change in compare(before, after).changes)
    assert texts <= 3  # of 1500


@pytest.mark.parametrize("count", [3, 7])
def test_of_many_points_those_that_changed_are_found(count: int) -> None:
    rng = random.Random(7)
    shift = {x: 2.0 if x % 2 else 0.5 for x in range(0, 300, 30)} | {15: 1.5}
    before, after = (many(rng, NOISES["quiet"], count, s) for s in ({}, shift))
    results = compare(before, after)
    texts = {change.x: change.verdict for change in results.changes if change.significant}
    assert texts == {x: "slower" if factor > 1 else "faster" for x, factor in shift.items()}
    # What is reported comes first, and the greatest change at the top.
    assert [change.significant for change in results.changes[:11]] == [True] * 11
    sizes = [abs(math.log(change.ratio)) for change in results.changes[:11]]
    assert sizes == sorted(sizes, reverse=True)


def test_experiments_in_one_number() -> None:
    rng = random.Random(5)
    times = {name: repeats(1.0, rng=rng) for name in ("a", "b", "c", "d")}
    before = record_of(
        *(point(s, 1, *t, experiment=(s in "ab" and "x") or "y") for s, t in times.items())
    )
    after = record_of(
        *(
            point(s, 1, *(f * t for t in times[s]), experiment=e)
            for s, f, e in (("a", 2, "x"), ("b", 8, "x"), ("c", 1, "y"), ("d", 1, "y"))
        )
    )
    one, two = compare(before, after).summaries
    assert (one.experiment, one.points, one.slower, one.faster) == ("x", 2, 2, 0)
    assert one.ratio == pytest.approx(4)
    assert (two.experiment, two.ratio) == ("y", pytest.approx(1))


# ---- which with which ---------------------------------------------------------------------------


def test_machines_are_compared_with_themselves() -> None:
    before = record_of(point("a", 1, 1.0), point("a", 1, 5.0, run="g"), point("b", 1, 1.0))
    later = replace(GPU, id="g2", began="2027-01-01T00:00:00Z", kernels="new", kleene="0.2.0")
    after = record_of(point("a", 1, 4.0, run="g2"), point("c", 1, 1.0, run="g2"), runs=(later,))
    results = compare(before, after)
    assert [(c.before, c.after, c.machines) for c in results.changes] == [
        (5, 4, ("NVIDIA H200", "NVIDIA H200"))
    ]
    assert results.same_machines
    assert (results.only_before, results.only_after) == (2, 1)
    assert "CUDA sources: abc before, new after" in results.notes
    assert "Kleene: 0.1.0 before, 0.2.0 after" in results.notes


def test_other_machines_are_compared_if_there_is_no_choice() -> None:
    ours, theirs = (
        record_of(point("a", 1, 1.0), runs=(CPU,)),
        record_of(point("a", 1, 2.0, run="g"), runs=(GPU,)),
    )
    results = compare(ours, theirs)
    assert not results.same_machines
    assert results.changes[0].machines == ("EPYC", "NVIDIA H200")
    assert results.notes == ["different machines: EPYC before, NVIDIA H200 after"]
    third = replace(CPU, id="t", machine={"processor": "Xeon Phi"})
    two = record_of(point("a", 1, 1.0, run="t"), point("a", 1, 2.0, run="g"), runs=(third, GPU))
    with pytest.raises(RequestError, match="no machine in common"):
        compare(ours, two)
    assert compare(ours, Record()).changes == []


def test_whole_calls_are_compared_where_one_side_knows_no_more() -> None:
    before = record_of(point("a", 1, 3.0, compute=(1.0,)))
    after = record_of(point("a", 1, 3.3))
    assert compare(before, after).changes[0].ratio == pytest.approx(1.1)


def test_a_busy_machine_and_a_drift_of_everything_are_reported() -> None:
    busy = replace(CPU, machine=CPU.machine | {"load": 3.5})
    before = record_of(*(point("a", x, 1.0) for x in range(9)), runs=(CPU,))
    after = record_of(*(point("a", x, 1.6) for x in range(9)), runs=(busy,))
    texts = compare(before, after).notes
    assert texts[0] == "EPYC was busy after: a load of 3.5 on 2 cores"
    assert texts[1].startswith("EPYC: the median of all 9 ratios is 1.60; if only a part")
    assert compare(before, before).notes == []


def test_the_floor_must_make_sense() -> None:
    with pytest.raises(RequestError, match="floor"):
        compare(Record(), Record(), -1)


# ---- the command line ---------------------------------------------------------------------------


def kleene(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rng = random.Random(2)
    for name, factor in (("a", 1.0), ("b", 0.25)):
        fast = [point("fast", x, *repeats(factor * x, rng=rng)) for x in (1, 2, 4)]
        same = [point("same", x, *repeats(x, rng=rng)) for x in (1, 2, 4)]
        write(tmp_path / f"{name}.jsonl", [CPU, *fast, *same, point("once", 1, 1.0)])
    return tmp_path / "a.jsonl", tmp_path / "b.jsonl"


def test_compare_for_people(files: tuple[Path, Path]) -> None:
    shown = kleene("lab", "compare", *files).stdout
    assert (
        "7 points in both: 3 faster, 0 slower, 3 the same, 1 with too few repeats to tell" in shown
    )
    assert "by-size, fast, cpu, 4" in shown
    assert "by-size, same, cpu" not in shown
    assert "by-size, same, cpu" in kleene("lab", "compare", *files, "--all").stdout
    assert kleene("lab", "compare", *files, "-q").stdout == ""


def test_compare_for_programs(files: tuple[Path, Path]) -> None:
    document = json.loads(kleene("lab", "compare", *files, "--json").stdout)
    assert document["command"] == "lab compare"
    assert document["changes"][0]["verdict"] == "faster"
    assert document["changes"][0]["ratio"] == pytest.approx(0.25, rel=0.1)
    assert document["experiments"][0]["points"] == 7
    assert {change["chance"] for change in document["changes"]} >= {None}


def test_compare_of_what_is_not_there(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert kleene("lab", "compare", files[0], tmp_path / "no.jsonl").exit_code == 3
    write(tmp_path / "c.jsonl", [GPU, point("a", 1, 1.0, run="g")])
    result = kleene("lab", "compare", files[0], tmp_path / "c.jsonl")
    assert result.exit_code == 0
    assert "no point in common" in result.stdout


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Record:
    """Put declarations of ours where those of the lab are, and return their record."""
    record, experiments = everything()
    module = ModuleType("kleene_lab.experiments")
    module.__dict__["EXPERIMENTS"] = experiments
    monkeypatch.setitem(sys.modules, "kleene_lab.experiments", module)
    return record


def test_report(declared: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [*declared.runs.values(), *declared.points, *declared.skips, *declared.checks]
    write("kleene-lab.jsonl", lines)
    assert "points" in kleene("lab", "report").stdout
    assert "What is by-size?" in Path("kleene-lab.html").read_text()
    result = kleene("lab", "report", "kleene-lab.jsonl", "-o", "p.html", "--figures", "f", "--json")
    document = json.loads(result.stdout)
    assert document["command"] == "lab report"
    assert document["page"] == "p.html"
    assert {Path(path).name for path in document["figures"]} == {
        "by-size.svg", "panels.svg", "peers.svg",
    }  # fmt: skip
    assert all(Path(path).exists() for path in document["figures"])


def test_report_of_a_wrong_request(
    declared: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert kleene("lab", "report").exit_code == 3  # no kleene-lab.jsonl
    assert kleene("lab", "report", "--format", "png").exit_code == 2
    write("kleene-lab.jsonl", [CPU, *(point("a", n, 1.0) for n in (1, 2))])
    assert kleene("lab", "report", "--figures", "f", "--format", "xyz").exit_code == 2
