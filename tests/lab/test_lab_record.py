"""Records: what is written is read again, and what cannot be read says where and why."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_samples import CPU, GPU, point, record_of

from kleene.errors import FormatError
from kleene_lab.harness.record import Check, Point, Run, SameKernels, Skip, as_text, read, write

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
#: Numbers that survive being rounded to the digits of a file.
numbers = st.integers(1, 9999).flatmap(
    lambda digits: st.integers(-9, 6).map(lambda power: float(f"{digits}e{power}"))
)
facts = st.dictionaries(words, words | numbers | st.booleans(), max_size=3)
times = st.lists(numbers, max_size=4).map(tuple)
maybe = st.none() | numbers


def of(kind: type, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **given)


runs = of(Run, id=st.just("r"), began=words, machine=facts, kleene=words, kernels=words,
          options=facts, schema=st.just(1))  # fmt: skip
points = of(
    Point, run=st.just("r"), experiment=words, series=words, x=numbers, panel=words,
    device=st.sampled_from(["cpu", "cuda", "emulated"]),
    threads=st.none() | st.integers(1, 99), method=words, dtype=words, n=st.none() | st.integers(1),
    m=st.none() | st.integers(1), seconds=times, compute=times, cold=maybe, copy_in=maybe,
    copy_out=maybe, peak=st.none() | st.integers(0), device_peak=st.none() | st.integers(0),
    work=maybe, unit=words, ceiling=maybe, checked=words, facts=facts,
)  # fmt: skip
skips = of(
    Skip, run=st.just("r"), experiment=words, why=words, panel=words,
    series=st.none() | words.filter(bool),
    x=maybe, failed=st.booleans(),
)  # fmt: skip
checks = of(Check, run=st.just("r"), name=words, passed=st.integers(0), failed=st.integers(0),
            details=st.lists(words, max_size=3).map(tuple))  # fmt: skip
sames = of(SameKernels, old=words, new=words, on=words, variants=st.integers(0),
           ptx=st.dictionaries(words, st.lists(words, max_size=2)))  # fmt: skip


@given(runs, st.lists(points | skips | checks | sames, max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, run: Run, others: list[Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.jsonl"
    write(path, [run, *others])
    record = read(path)
    assert list(record.runs.values()) == [run]
    assert [*record.points, *record.skips, *record.checks, *record.same] == sorted(
        others, key=lambda line: (Point, Skip, Check, SameKernels).index(type(line))
    )


def test_empty_fields_take_no_room() -> None:
    line = as_text(point("tiled", 512.0, 0.012345678))
    assert line == (
        '{"kind":"point","run":"c","experiment":"by-size","series":"tiled","x":512,'
        '"device":"cpu","seconds":[0.01235]}'
    )


def test_files_are_joined_as_if_they_were_one(tmp_path: Path) -> None:
    write(tmp_path / "1", [CPU, point("a", 1, 1.0)])
    write(tmp_path / "2", [GPU, point("a", 1, 2.0, run="g"), point("b", 1, 3.0)])
    record = read(tmp_path / "1", tmp_path / "2")
    assert set(record.runs) == {"c", "g"}
    assert [p.seconds for p in record.points] == [(1.0,), (2.0,), (3.0,)]


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, [CPU, point("a", 1, 1.0), point("a", 2, 1.0)])
    path.write_text(path.read_text()[:-9])
    assert [p.x for p in read(path).points] == [1]


def test_unknown_kinds_and_fields_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, [CPU])
    with path.open("a") as file:
        file.write('{"kind":"weather","run":"nowhere","rain":true}\n\n')
        file.write(as_text(point("a", 1, 1.0))[:-1] + ',"mood":"good"}\n')
    assert read(path).points == [point("a", 1, 1.0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{oops}", r"r\.jsonl:2: not a line of JSON"),
        ("[1]", r"r\.jsonl:2: not a line of a record: it has no 'kind'"),
        ('{"x":1}', r"r\.jsonl:2: not a line of a record"),
        ('{"kind":"point","run":"c","x":1}', r"r\.jsonl:2: a point without experiment, series"),
        ('{"kind":"run","id":"n","schema":99}', r"r\.jsonl:2: written by a newer Kleene"),
        ('{"kind":"skip","run":"lost","experiment":"e","why":"w"}', r"names the run 'lost'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_where(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(f"{as_text(CPU)}\n{line}\n{as_text(point('a', 1, 1.0))}\n")
    with pytest.raises(FormatError, match=message):
        read(path)


# ---- the latest ---------------------------------------------------------------------------------


def test_a_point_that_was_measured_again_stands_once() -> None:
    later = dataclasses.replace(CPU, id="c2", began="2026-12-01T10:00:00Z")
    record = record_of(
        point("a", 1, 9.0, run="c2"),
        point("a", 1, 1.0),
        point("a", 1, 2.0, run="g"),
        point("a", 1, 3.0, device="emulated"),
        runs=(GPU, CPU, later),
    )
    kept = {(p.run, p.device): p.seconds for p in record.latest().points}
    assert kept == {("c2", "cpu"): (9.0,), ("g", "cpu"): (2.0,), ("c", "emulated"): (3.0,)}


def test_what_was_skipped_and_measured_later_is_no_longer_reported() -> None:
    later = dataclasses.replace(CPU, id="c2", began="2026-12-01T10:00:00Z")
    record = record_of(
        Skip("c", "by-size", "no time", series="a", x=1.0),
        Skip("c", "by-size", "no time", series="a", x=2.0),
        Skip("c2", "by-size", "no memory", series="a", x=2.0),
        Check("c", "all", 1, 1),
        Check("c2", "all", 2, 0),
        point("a", 1, 1.0, run="c2"),
        runs=(CPU, later),
    ).latest()
    assert [(skip.x, skip.why) for skip in record.skips] == [(2.0, "no memory")]
    assert [check.passed for check in record.checks] == [2]
